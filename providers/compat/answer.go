package compat

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/wire"
	"github.com/hermes-go/hermes/provider"
)

// Answer implements wire.Format.
func (f *format) Answer(_ *provider.Request, d *wire.Draft) wire.Answer {
	return &answer{d: d}
}

// answer reads one answer, streamed or whole: both have the same fields, under
// "delta" or "message".
type answer struct {
	d         *wire.Draft
	choice    bool // any choice came
	ended     bool // a finish reason or the end mark came
	content   *string
	details   details
	reasoning string // which field carries it; some services send both
}

type envelope struct {
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
	Groq    struct {
		Usage json.RawMessage `json:"usage"`
	} `json:"x_groq"`
}

type choice struct {
	Index   int                        `json:"index"`
	Delta   map[string]json.RawMessage `json:"delta"`
	Message map[string]json.RawMessage `json:"message"`
	Finish  json.RawMessage            `json:"finish_reason"`
	Usage   json.RawMessage            `json:"usage"`
}

// Event implements wire.Answer.
func (a *answer) Event(ev wire.Event) (bool, error) {
	data := bytes.TrimSpace(ev.Data)
	if bytes.Equal(data, []byte("[DONE]")) {
		a.ended = true
		return true, nil
	}
	if len(data) == 0 {
		return false, nil
	}
	return false, a.take(data)
}

// Whole implements wire.Answer.
func (a *answer) Whole(body []byte) error {
	a.ended = true
	return a.take(body)
}

func (a *answer) take(data []byte) error {
	var e envelope
	if err := json.Unmarshal(data, &e); err != nil {
		return wire.NoAnswer("the service answers with what is no JSON")
	}
	if !wire.IsNull(e.Error) {
		return &wire.Failure{Body: bytes.Clone(data)}
	}
	a.usage(e.Usage)
	a.usage(e.Groq.Usage)
	for i := range e.Choices {
		c := &e.Choices[i]
		if c.Index != 0 {
			continue
		}
		a.choice = true
		a.usage(c.Usage)
		a.delta(c.Delta)
		a.delta(c.Message)
		if reason := wire.TextOf(c.Finish); reason != "" {
			if reason == "error" { // OpenRouter: the model behind it broke off
				return &wire.Failure{Body: bytes.Clone(data)}
			}
			a.ended = true
			a.d.Finish = finish(reason)
		}
	}
	return nil
}

func (a *answer) delta(fields map[string]json.RawMessage) {
	for _, name := range [...]string{"reasoning_content", "reasoning", "thinking", "reasoning_text"} {
		a.think(name, fields[name])
	}
	a.details.add(fields["reasoning_details"])
	for name, raw := range fields {
		switch name {
		case "role", "reasoning_content", "reasoning", "thinking", "reasoning_text", "reasoning_details", "content", "tool_calls", "function_call", "name":
		default:
			a.unknown(name, raw)
		}
	}
	a.text(fields["content"])
	a.calls(fields["tool_calls"])
}

// think takes reasoning from the first field that has any. reasoning_content
// is also kept as it came, since its services want it back.
func (a *answer) think(name string, raw json.RawMessage) {
	if len(raw) == 0 {
		return
	}
	text := wire.TextOf(raw)
	if name == "reasoning_content" && raw[0] == '"' {
		if a.content == nil {
			a.content = new(string)
		}
		*a.content += text
	}
	if text == "" {
		return
	}
	if a.reasoning == "" {
		a.reasoning = name
	}
	if a.reasoning == name {
		a.d.Reasoning(text)
	}
}

// text takes content, which Mistral and some others send as a list of parts.
func (a *answer) text(raw json.RawMessage) {
	if wire.IsNull(raw) {
		return
	}
	if raw[0] == '"' {
		a.d.Text(wire.TextOf(raw))
		return
	}
	var parts []struct {
		Type     string          `json:"type"`
		Text     string          `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return
	}
	for _, p := range parts {
		if p.Type != "thinking" {
			a.d.Text(p.Text)
			continue
		}
		var inner []struct {
			Text string `json:"text"`
		}
		if json.Unmarshal(p.Thinking, &inner) == nil {
			for _, t := range inner {
				a.d.Reasoning(t.Text)
			}
		} else {
			a.d.Reasoning(wire.TextOf(p.Thinking))
		}
	}
}

func (a *answer) calls(raw json.RawMessage) {
	if wire.IsNull(raw) {
		return
	}
	var list []map[string]json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		var one map[string]json.RawMessage
		if json.Unmarshal(raw, &one) != nil {
			return
		}
		list = append(list, one)
	}
	for _, fields := range list {
		p := wire.Piece{Index: -1, ID: wire.TextOf(fields["id"])}
		var index *int
		if json.Unmarshal(fields["index"], &index) == nil && index != nil && *index >= 0 {
			p.Index = *index
		}
		fn := wire.Fields(fields["function"])
		p.Name = strings.TrimSpace(wire.TextOf(fn["name"]))
		switch args := fn["arguments"]; {
		case wire.IsNull(args):
		case args[0] == '"':
			p.Args = wire.TextOf(args)
		default: // a value instead of its text
			p.Args = string(args)
		}
		for name, v := range fields {
			switch name {
			case "id", "index", "function", "type":
			default:
				if !wire.IsNull(v) {
					if p.Extra == nil {
						p.Extra = map[string]json.RawMessage{}
					}
					p.Extra[name] = bytes.Clone(v)
				}
			}
		}
		a.d.Call(p)
	}
}

// unknown keeps fields that only their service understands: texts and lists
// arrive in pieces, of anything else the last one counts.
func (a *answer) unknown(name string, raw json.RawMessage) {
	if wire.IsNull(raw) {
		return
	}
	have := a.d.Extra.Extra[name]
	switch {
	case raw[0] == '"' && len(have) > 0 && have[0] == '"':
		if joined, err := wire.JSON(wire.TextOf(have) + wire.TextOf(raw)); err == nil {
			a.d.SetExtra(name, joined)
		}
	case raw[0] == '[' && len(have) > 0 && have[0] == '[':
		var x, y []json.RawMessage
		if json.Unmarshal(have, &x) == nil && json.Unmarshal(raw, &y) == nil {
			if joined, err := wire.JSON(append(x, y...)); err == nil {
				a.d.SetExtra(name, joined)
			}
		}
	case string(raw) == `""` || string(raw) == "[]":
	default:
		a.d.SetExtra(name, bytes.Clone(raw))
	}
}

func (a *answer) usage(raw json.RawMessage) {
	if wire.IsNull(raw) {
		return
	}
	var u struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		PromptMore struct {
			Cached int `json:"cached_tokens"`
			Write  int `json:"cache_write_tokens"`
		} `json:"prompt_tokens_details"`
		CompletionMore struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
		Read   int `json:"cache_read_input_tokens"`
		Create int `json:"cache_creation_input_tokens"`
		Hit    int `json:"prompt_cache_hit_tokens"`
		Cached int `json:"cached_tokens"`
	}
	if json.Unmarshal(raw, &u) != nil || u.Prompt == 0 && u.Completion == 0 {
		return
	}
	read := max(u.PromptMore.Cached, u.Read, u.Hit, u.Cached)
	write := max(u.PromptMore.Write, u.Create)
	a.d.Usage = chat.Usage{
		Input: max(0, u.Prompt-read-write), Output: u.Completion, CacheRead: read, CacheWrite: write, Reasoning: u.CompletionMore.Reasoning,
	}
}

func finish(reason string) string {
	switch strings.ToLower(reason) {
	case "length", "max_tokens", "model_length", "model_context_window_exceeded":
		return chat.FinishLength
	case "tool_calls", "function_call", "tool_use":
		return chat.FinishToolCalls
	case "content_filter", "safety", "sensitive", "refusal":
		return chat.FinishFilter
	}
	return chat.FinishStop
}

// End implements wire.Answer.
func (a *answer) End() (bool, error) {
	a.d.Extra.ReasoningContent = a.content
	a.d.Extra.ReasoningDetails = a.details.raw()
	if a.d.Silent() || a.reasoning == "" {
		a.d.Reasoning(a.details.text())
	}
	if a.ended && !a.choice {
		return true, wire.NoAnswer("the answer has no choices")
	}
	return a.ended, nil
}
