package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/wire"
	"github.com/hermes-go/hermes/provider"
)

// message is one turn of the format: roles alternate, and tool results are
// said by the user.
type message struct {
	Role    string
	Content []json.RawMessage
}

func toolUse(c chat.ToolCall) json.RawMessage {
	b := wire.AppendField([]byte("{"), "type", "tool_use")
	b = wire.AppendField(b, "id", cleanID(c.ID))
	b = wire.AppendField(b, "name", c.Function.Name)
	return append(wire.AppendRaw(b, "input", wire.Arguments(c.Function.Arguments)), '}')
}

func toolResult(id string, c chat.Content) json.RawMessage {
	b := wire.AppendField([]byte("{"), "type", "tool_result")
	b = wire.AppendField(b, "tool_use_id", cleanID(id))
	blocks := contentBlocks(c)
	switch {
	case len(blocks) == 0:
		b = wire.AppendField(b, "content", "(no output)")
	case c.Parts == nil:
		b = wire.AppendField(b, "content", c.Text)
	default:
		b = wire.AppendRaw(b, "content", wire.List(blocks))
	}
	return append(b, '}')
}

// messages writes the conversation. Calls without a result and results without
// a call are left out: the service refuses both.
func (f *format) messages(r *provider.Request, a wire.Adapted) []message {
	called, answered := wire.Called(r.Messages), wire.Answered(r.Messages)
	turn := lastQuestion(r.Messages)
	var list []message
	add := func(role string, blocks ...json.RawMessage) {
		if n := len(list); n > 0 && list[n-1].Role == role {
			list[n-1].Content = append(list[n-1].Content, blocks...)
			return
		}
		list = append(list, message{role, blocks})
	}
	for i := range r.Messages {
		m := r.Messages[i].Sanitize()
		switch m.Role {
		case chat.Tool:
			if _, ok := called[m.ToolCallID]; !ok {
				continue
			}
			add("user", toolResult(m.ToolCallID, m.Content))
		case chat.Assistant:
			blocks := f.thinking(&m, i > turn, a)
			blocks = append(blocks, contentBlocks(m.Content)...)
			for _, c := range m.ToolCalls {
				if answered[c.ID] {
					blocks = append(blocks, toolUse(c))
				}
			}
			if len(blocks) == 0 {
				blocks = append(blocks, text("(empty)"))
			}
			add("assistant", blocks...)
		default:
			blocks := contentBlocks(m.Content)
			if len(blocks) == 0 {
				blocks = append(blocks, text("(empty message)"))
			}
			add("user", blocks...)
		}
	}
	if len(list) == 0 || list[0].Role != "user" {
		list = append([]message{{"user", []json.RawMessage{text("(empty message)")}}}, list...)
	}
	return list
}

// lastQuestion is the place of the newest message that a person wrote. What
// the assistant said since is one turn, however many tools it used.
func lastQuestion(messages []chat.Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == chat.User {
			return i
		}
	}
	return -1
}

func text(s string) json.RawMessage { return wire.TextPart("text", s) }

// thinking replays the blocks of the turn that is going on. Anthropic demands
// its signed ones back and has no use for those of earlier turns; other
// services cannot check signatures; Kimi and DeepSeek want their own, which
// have none, always.
func (f *format) thinking(m *chat.Message, current bool, a wire.Adapted) []json.RawMessage {
	if wire.IsNull(m.ReasoningDetails) || a.NoThinking {
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(m.ReasoningDetails, &list) != nil {
		return nil
	}
	unsigned := strings.Contains(f.e.Host(), "kimi.com") || strings.Contains(f.e.Host(), "moonshot") || strings.Contains(f.e.Host(), "deepseek")
	var out []json.RawMessage
	for _, raw := range list {
		var b struct{ Type, Thinking, Signature string }
		if json.Unmarshal(raw, &b) != nil {
			continue
		}
		switch {
		case b.Type == "redacted_thinking" && f.own && current:
			out = append(out, raw)
		case b.Type != "thinking":
		case b.Signature != "" && f.own && current:
			out = append(out, raw)
		case b.Signature == "" && unsigned:
			out = append(out, raw)
		case b.Signature == "" && f.own && current && strings.TrimSpace(b.Thinking) != "":
			out = append(out, text(b.Thinking))
		}
	}
	return out
}

// contentBlocks translates parts; blank text is refused and left out.
func contentBlocks(c chat.Content) []json.RawMessage {
	var out []json.RawMessage
	for _, p := range wire.Parts(c) {
		switch p.Type {
		case "text", "input_text", "output_text":
			if strings.TrimSpace(p.Text) != "" {
				out = append(out, text(p.Text))
			}
		case "image_url":
			out = append(out, image(p.ImageURL))
		case "image", "document", "search_result": // the format's own, kept raw
			if p.Raw != nil {
				out = append(out, p.Raw)
			}
		default:
			out = append(out, text("("+p.Type+" that this model cannot take)"))
		}
	}
	return out
}

func image(url string) json.RawMessage {
	if mime, data, ok := wire.DataURL(url); ok {
		return wire.Raw(map[string]any{"type": "image", "source": map[string]string{"type": "base64", "media_type": mime, "data": data}})
	}
	return wire.Raw(map[string]any{"type": "image", "source": map[string]string{"type": "url", "url": url}})
}

// cleanID keeps what the service allows in an id.
func cleanID(id string) string {
	id = strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '_', r == '-':
			return r
		}
		return '_'
	}, id)
	if id == "" {
		return "call_0"
	}
	return id
}
