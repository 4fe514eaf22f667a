package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/wire"
	"github.com/hermes-go/hermes/provider"
)

type textBlock struct {
	Type  string             `json:"type"`
	Text  string             `json:"text"`
	Cache *wire.CacheControl `json:"cache_control,omitempty"`
}

// Build implements wire.Format.
func (f *format) Build(r *provider.Request, tools []wire.Tool, a wire.Adapted) (wire.Outgoing, error) {
	var b wire.Body
	b.Set("model", r.Model)
	list := f.messages(r, a)
	if f.headless(list, r.Model) {
		a.NoBudget = true
	}
	b.Set("max_tokens", f.think(&b, r, a))
	cache := r.Options.CacheTTL
	if a.NoCache || !f.caches(r.Model) {
		cache = ""
	}
	if r.System != "" {
		block := textBlock{Type: "text", Text: chat.ValidUTF8(r.System)}
		if cache != "" {
			c := wire.Breakpoint(cache)
			block.Cache = &c
		}
		b.Set("system", []textBlock{block})
	}
	if len(tools) > 0 {
		b.SetRaw("tools", definitions(tools))
	}
	if cache != "" {
		breakpoints(list, cache)
	}
	b.SetRaw("messages", encode(list))
	if !a.NoStream {
		b.Set("stream", true)
	}
	b.Merge(r.Options.Extra)
	body, err := b.Payload()
	if err != nil {
		return wire.Outgoing{}, err
	}
	return wire.Outgoing{URL: address(f.e.BaseURL, "/messages"), Header: f.header(), Body: body}, nil
}

func definitions(tools []wire.Tool) json.RawMessage {
	list := make([]json.RawMessage, len(tools))
	for i, t := range tools {
		b := wire.AppendField([]byte("{"), "name", t.Name)
		if t.About != "" {
			b = wire.AppendField(b, "description", t.About)
		}
		list[i] = append(wire.AppendRaw(b, "input_schema", t.Parameters), '}')
	}
	return wire.List(list)
}

// encode joins blocks that are JSON already.
func encode(list []message) json.RawMessage {
	out := make([]json.RawMessage, len(list))
	for i, m := range list {
		b := wire.AppendField([]byte("{"), "role", m.Role)
		out[i] = append(wire.AppendRaw(b, "content", wire.List(m.Content)), '}')
	}
	return wire.List(out)
}

// caches reports whether the service keeps prompts at breakpoints.
func (f *format) caches(model string) bool {
	model = strings.ToLower(model)
	return f.own || strings.Contains(model, "claude") || strings.Contains(model, "minimax") || strings.Contains(model, "qwen")
}

// maxTokens is the limit that the format demands in every request.
func (f *format) maxTokens(r *provider.Request) int {
	n := r.Options.MaxTokens
	if n <= 0 {
		if n = provider.MaxOutput(r.Model); n <= 0 {
			n = 128_000
		}
	}
	return min(n, provider.ContextWindow(r.Model)-1)
}

// think writes what concerns thinking and temperature; the limit that it
// returns leaves room for an answer beside the thinking.
func (f *format) think(b *wire.Body, r *provider.Request, a wire.Adapted) (limit int) {
	o := &r.Options
	limit = f.maxTokens(r)
	model := strings.ReplaceAll(strings.ToLower(r.Model), ".", "-")
	newest := strings.Contains(model, "-4-7")
	adaptive := newest || strings.Contains(model, "-4-6")
	on := o.Effort != "" && o.Effort != "none" && !a.NoEffort && !strings.Contains(model, "haiku") && !strings.Contains(model, "claude-3-5") && !strings.Contains(model, "claude-3-opus")
	switch {
	case on && adaptive:
		b.Set("thinking", map[string]string{"type": "adaptive", "display": "summarized"})
		effort := o.Effort
		switch {
		case effort == "minimal":
			effort = "low"
		case effort == "xhigh" && !newest:
			effort = "max"
		}
		b.Set("output_config", map[string]string{"effort": effort})
	case on && !a.NoBudget:
		budget := map[string]int{"minimal": 4000, "low": 4000, "medium": 8000, "high": 16_000, "xhigh": 32_000}[o.Effort]
		if budget == 0 {
			budget = 8000
		}
		b.Set("thinking", struct {
			Type   string `json:"type"`
			Budget int    `json:"budget_tokens"`
		}{"enabled", budget})
		b.Set("temperature", 1)
		return max(limit, budget+4096)
	case o.Temperature != nil && !newest && !a.NoTemperature:
		b.Set("temperature", *o.Temperature)
	}
	return limit
}

// headless reports whether the turn goes on after tool results and its calls
// have no thinking before them: another model's, or with a signature that was
// refused. Claude with a thinking budget takes no such history.
func (f *format) headless(list []message, model string) bool {
	n := len(list)
	if n < 2 || list[n-2].Role != "assistant" || !f.own && !strings.Contains(strings.ToLower(model), "claude") {
		return false
	}
	var last, head struct{ Type string }
	if json.Unmarshal(list[n-1].Content[0], &last) != nil || json.Unmarshal(list[n-2].Content[0], &head) != nil {
		return false
	}
	return last.Type == "tool_result" && head.Type != "thinking" && head.Type != "redacted_thinking"
}

// breakpoints marks the ends of the last three messages; the system message
// has the fourth.
func breakpoints(list []message, ttl string) {
	c := wire.Breakpoint(ttl)
	for i := len(list) - 1; i >= 0 && i >= len(list)-3; i-- {
		blocks := list[i].Content
		for j := len(blocks) - 1; j >= 0; j-- {
			if markable(blocks[j]) {
				var b wire.Body
				b.Merge(wire.Fields(blocks[j]))
				b.Set("cache_control", c)
				if raw, err := b.Bytes(); err == nil {
					blocks[j] = raw
				}
				break
			}
		}
	}
}

// markable is false for thinking, which takes no breakpoint.
func markable(block json.RawMessage) bool {
	var t struct{ Type string }
	return json.Unmarshal(block, &t) == nil && t.Type != "thinking" && t.Type != "redacted_thinking"
}
