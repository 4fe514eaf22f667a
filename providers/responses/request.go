package responses

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/wire"
	"github.com/hermes-go/hermes/provider"
)

type reasoning struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

// Build implements wire.Format.
func (f *format) Build(r *provider.Request, tools []wire.Tool, a wire.Adapted) (wire.Outgoing, error) {
	var b wire.Body
	b.Set("model", r.Model)
	if r.System != "" {
		b.Set("instructions", chat.ValidUTF8(r.System))
	}
	b.SetRaw("input", wire.List(f.input(r, a)))
	if len(tools) > 0 {
		b.SetRaw("tools", definitions(tools))
		b.Set("tool_choice", "auto")
		b.Set("parallel_tool_calls", true)
	}
	b.Set("store", false)
	if !a.NoStream {
		b.Set("stream", true)
	}
	f.options(&b, r, a)
	body, err := b.Payload()
	if err != nil {
		return wire.Outgoing{}, err
	}
	return wire.Outgoing{URL: address(f.e.BaseURL, "/responses"), Header: f.header(r.Options.SessionID), Body: body}, nil
}

func (f *format) options(b *wire.Body, r *provider.Request, a wire.Adapted) {
	o := &r.Options
	if o.MaxTokens > 0 && !f.codex() {
		b.Set("max_output_tokens", o.MaxTokens)
	}
	if o.Temperature != nil && !wire.Reasons(r.Model) && !a.NoTemperature {
		b.Set("temperature", *o.Temperature)
	}
	if f.reasons(r.Model) && !a.NoEffort {
		effort := o.Effort
		if effort == "minimal" {
			effort = "low"
		}
		if wire.Reasons(r.Model) { // Grok thinks as it likes
			b.Set("reasoning", reasoning{effort, "auto"})
		}
		b.Set("include", []string{"reasoning.encrypted_content"})
	}
	if o.SessionID != "" && !a.NoCache {
		b.Set("prompt_cache_key", o.SessionID)
	}
	b.Merge(o.Extra)
}

func (f *format) reasons(model string) bool {
	return wire.Reasons(model) || strings.HasPrefix(model, "grok-4")
}

func definitions(tools []wire.Tool) json.RawMessage {
	list := make([]json.RawMessage, len(tools))
	for i, t := range tools {
		b := wire.AppendField([]byte("{"), "type", "function")
		b = wire.AppendField(b, "name", t.Name)
		if t.About != "" {
			b = wire.AppendField(b, "description", t.About)
		}
		b = wire.AppendRaw(b, "strict", []byte("false"))
		list[i] = append(wire.AppendRaw(b, "parameters", t.Parameters), '}')
	}
	return wire.List(list)
}

func inputMessage(role string, content ...json.RawMessage) json.RawMessage {
	b := wire.AppendField([]byte("{"), "type", "message")
	b = wire.AppendField(b, "role", role)
	return append(wire.AppendRaw(b, "content", wire.List(content)), '}')
}

func functionCall(c chat.ToolCall) json.RawMessage {
	b := wire.AppendField([]byte("{"), "type", "function_call")
	b = wire.AppendField(b, "call_id", callID(c.ID))
	b = wire.AppendField(b, "name", c.Function.Name)
	return append(wire.AppendField(b, "arguments", wire.ArgumentText(c.Function.Arguments)), '}')
}

// functionOutput is a tool's result: text, or parts when there is an image.
func functionOutput(id string, c chat.Content) json.RawMessage {
	b := wire.AppendField([]byte("{"), "type", "function_call_output")
	b = wire.AppendField(b, "call_id", callID(id))
	if slices.ContainsFunc(c.Parts, func(p chat.Part) bool { return p.Type != "text" }) {
		return append(wire.AppendRaw(b, "output", wire.List(parts(c))), '}')
	}
	return append(wire.AppendField(b, "output", c.String()), '}')
}

// input writes the conversation as items.
func (f *format) input(r *provider.Request, a wire.Adapted) []json.RawMessage {
	items := make([]json.RawMessage, 0, len(r.Messages))
	for i := range r.Messages {
		m := r.Messages[i].Sanitize()
		switch m.Role {
		case chat.Tool:
			items = append(items, functionOutput(m.ToolCallID, m.Content))
		case chat.Assistant:
			if !a.NoThinking {
				items = append(items, replayed(m.CodexReasoningItems)...)
			}
			said := replayed(m.CodexMessageItems)
			if len(said) == 0 {
				if t := m.Content.String(); t != "" {
					said = append(said, inputMessage("assistant", wire.TextPart("output_text", t)))
				}
			}
			items = append(items, said...)
			for _, c := range m.ToolCalls {
				items = append(items, functionCall(c))
			}
		default:
			items = append(items, inputMessage("user", parts(m.Content)...))
		}
	}
	return items
}

// callID is the part of an id that names the call; the original stores it
// joined to the item's own id.
func callID(id string) string {
	call, _, _ := strings.Cut(id, "|")
	return call
}

// replayed are kept items without their ids: nothing is stored under them.
func replayed(raw json.RawMessage) []json.RawMessage {
	if wire.IsNull(raw) {
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var out []json.RawMessage
	for _, item := range list {
		fields := wire.Fields(item)
		if wire.TextOf(fields["type"]) == "reasoning" && wire.TextOf(fields["encrypted_content"]) == "" {
			continue // a summary alone says nothing to the model
		}
		delete(fields, "id")
		delete(fields, "status")
		var b wire.Body
		b.Merge(fields)
		if item, err := b.Bytes(); err == nil && len(fields) > 0 {
			out = append(out, item)
		}
	}
	return out
}

func parts(c chat.Content) []json.RawMessage {
	out := []json.RawMessage{}
	for _, p := range wire.Parts(c) {
		switch p.Type {
		case "text", "input_text", "output_text":
			out = append(out, wire.TextPart("input_text", p.Text))
		case "image_url":
			out = append(out, wire.Raw(map[string]string{"type": "input_image", "image_url": p.ImageURL, "detail": "auto"}))
		case "input_image", "input_file", "input_audio":
			if p.Raw != nil {
				out = append(out, p.Raw)
			}
		default:
			out = append(out, wire.TextPart("input_text", "("+p.Type+" that this model cannot take)"))
		}
	}
	if len(out) == 0 {
		out = append(out, wire.TextPart("input_text", "(empty message)"))
	}
	return out
}
