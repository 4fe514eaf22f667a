// Package chat holds what a conversation is made of: messages, content parts,
// tool calls and usage, in the JSON shape of OpenAI's chat format. Fields that
// the package does not know are kept raw and written back, since providers
// demand their own reasoning fields in the next request. It is not a wire: how
// a provider wants these values is decided in the providers, and nothing here
// talks to a network or a store.
package chat

import (
	"encoding/json"
	"strings"
)

// Role says who speaks in a message.
type Role string

// The roles that may travel on a wire.
const (
	System    Role = "system"
	Developer Role = "developer"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Finish reasons, normalised by the wires.
const (
	FinishStop      = "stop"
	FinishToolCalls = "tool_calls"
	FinishLength    = "length"
	FinishFilter    = "content_filter"
	FinishCut       = "cut" // the stream broke off after text had arrived
)

// Message is one entry of a conversation.
//
// ReasoningContent is a pointer because providers distinguish "absent" from
// "empty": DeepSeek and Kimi demand the field on every assistant turn.
type Message struct {
	Role       Role       `json:"role"`
	Content    Content    `json:"content"`
	Name       string     `json:"name,omitempty"` // the tool's name on role "tool"
	ToolCallID string     `json:"tool_call_id,omitempty"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`

	Reasoning           string          `json:"reasoning,omitempty"`
	ReasoningContent    *string         `json:"reasoning_content,omitempty"`
	ReasoningDetails    json.RawMessage `json:"reasoning_details,omitempty"`
	CodexReasoningItems json.RawMessage `json:"codex_reasoning_items,omitempty"`
	CodexMessageItems   json.RawMessage `json:"codex_message_items,omitempty"`
	FinishReason        string          `json:"finish_reason,omitempty"`

	Usage *Usage `json:"-"` // what the call that produced this message cost

	// Extra holds every field not named above, by its JSON name.
	Extra map[string]json.RawMessage `json:"-"`
}

// ToolCall is a model's request to run a tool. Arguments is the raw text as
// the model wrote it; it may be no JSON at all.
type ToolCall struct {
	ID       string                     `json:"id"`
	Type     string                     `json:"type"`
	Function FunctionCall               `json:"function"`
	Extra    map[string]json.RawMessage `json:"-"` // e.g. Gemini's thought signature under extra_content
}

// FunctionCall names a tool and its arguments as JSON text.
type FunctionCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// NewCall makes a function call of the usual type.
func NewCall(id, name, arguments string) ToolCall {
	return ToolCall{ID: id, Type: "function", Function: FunctionCall{Name: name, Arguments: arguments}}
}

// UserText makes a user message.
func UserText(text string) Message { return Message{Role: User, Content: Text(text)} }

// AssistantText makes an assistant message.
func AssistantText(text string) Message { return Message{Role: Assistant, Content: Text(text)} }

// ToolResult makes the answer to a tool call.
func ToolResult(callID, name, content string) Message {
	return Message{Role: Tool, ToolCallID: callID, Name: name, Content: Text(content)}
}

// Clone returns a copy that shares no slice or map with m, so that a request
// builder may change it. Raw JSON values are shared: nobody edits them in place.
func (m Message) Clone() Message {
	c := m
	c.Content.Parts = append([]Part(nil), m.Content.Parts...)
	c.ToolCalls = append([]ToolCall(nil), m.ToolCalls...)
	c.Extra = cloneRaw(m.Extra)
	for i := range c.ToolCalls {
		c.ToolCalls[i].Extra = cloneRaw(c.ToolCalls[i].Extra)
	}
	return c
}

func cloneRaw(in map[string]json.RawMessage) map[string]json.RawMessage {
	if in == nil {
		return nil
	}
	out := make(map[string]json.RawMessage, len(in))
	for k, v := range in {
		out[k] = v
	}
	return out
}

// Content is a message's text, or a list of parts when Parts is not nil.
type Content struct {
	Text  string
	Parts []Part
}

// Text makes plain content.
func Text(s string) Content { return Content{Text: s} }

// String returns all text of the content; images and other parts are left out.
func (c Content) String() string {
	if c.Parts == nil {
		return c.Text
	}
	var b strings.Builder
	for _, p := range c.Parts {
		if p.Type != "text" || p.Text == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

// Empty reports whether there is neither text nor any part.
func (c Content) Empty() bool { return c.Text == "" && len(c.Parts) == 0 }

// Part is one piece of multimodal content. Raw, when set, is the whole part as
// it arrived and wins over the fields when written.
type Part struct {
	Type     string
	Text     string
	ImageURL string // http(s) or data: URL, for type image_url
	Raw      json.RawMessage
}
