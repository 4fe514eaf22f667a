package compat

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/wire"
	"github.com/hermes-go/hermes/provider"
)

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// Build implements wire.Format.
func (f *format) Build(r *provider.Request, tools []wire.Tool, a wire.Adapted) (wire.Outgoing, error) {
	var b wire.Body
	b.Set("model", r.Model)
	messages, err := f.messages(r, a)
	if err != nil {
		return wire.Outgoing{}, err
	}
	b.SetPieces("messages", messages)
	if len(tools) > 0 {
		raw, err := f.tools.Of(tools, wire.SameTools, definitions)
		if err != nil {
			return wire.Outgoing{}, err
		}
		b.SetRaw("tools", raw)
	}
	if !a.NoStream {
		b.Set("stream", true)
		if !a.NoStreamUsage && !f.row.noStreamUsage {
			b.Set("stream_options", streamOptions{true})
		}
	}
	f.options(&b, r, a)
	body, err := b.Payload()
	if err != nil {
		return wire.Outgoing{}, err
	}
	return wire.Outgoing{URL: address(f.e.BaseURL, "/chat/completions"), Header: f.header(r), Body: body}, nil
}

func (f *format) options(b *wire.Body, r *provider.Request, a wire.Adapted) {
	o := &r.Options
	if n := f.maxTokens(r); n > 0 {
		name := "max_tokens"
		if f.row.max != "" {
			name = f.row.max
		}
		if a.OtherMax {
			name = map[bool]string{true: "max_completion_tokens", false: "max_tokens"}[name == "max_tokens"]
		}
		b.Set(name, n)
	}
	fixed := f.row.noTemperature || f.row.developer && wire.Reasons(r.Model) || a.NoTemperature
	if o.Temperature != nil && !fixed {
		b.Set("temperature", *o.Temperature)
	}
	if o.Effort != "" && f.row.effort != nil && !a.NoEffort {
		f.row.effort(b, r.Model, o.Effort)
	}
	if f.row.cacheKey && o.SessionID != "" && !a.NoCache {
		b.Set("prompt_cache_key", o.SessionID)
	}
	if f.row.body != "" {
		b.Merge(wire.Fields(json.RawMessage(f.row.body)))
	}
	b.Merge(o.Extra)
}

func (f *format) maxTokens(r *provider.Request) int {
	switch {
	case r.Options.MaxTokens > 0:
		return r.Options.MaxTokens
	case f.row.ceiling && claude(r.Model):
		return provider.MaxOutput(r.Model)
	}
	return f.row.maxDefault
}

func definitions(tools []wire.Tool) ([]byte, error) {
	size := 2
	for _, t := range tools {
		size += len(t.About) + len(t.Parameters) + 128
	}
	b := append(make([]byte, 0, size), '[')
	for i, t := range tools {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"type":"function","function":{`...)
		b = wire.AppendField(b, "name", t.Name)
		b = wire.AppendField(b, "description", t.About)
		if t.Parameters != nil {
			b = wire.AppendRaw(b, "parameters", t.Parameters)
		}
		b = append(b, "}}"...)
	}
	return append(b, ']'), nil
}

// messages writes the conversation as the service wants it, with cache
// breakpoints on the system message and the last three others.
func (f *format) messages(r *provider.Request, a wire.Adapted) (wire.Payload, error) {
	marked := map[int]bool{}
	mark := r.Options.CacheTTL != "" && f.row.cached != nil && f.row.cached(r.Model) && !a.NoCache
	if mark {
		marked = f.breakpoints(r.Messages)
	}
	first := []byte("[")
	if r.System != "" {
		m := system{role: chat.System, text: r.System}
		if f.row.developer && wire.Reasons(r.Model) && !a.NoDeveloper {
			m.role = chat.Developer
		}
		if mark {
			m.ttl = r.Options.CacheTTL
		}
		var err error
		if first, err = f.first.Of(m, func(a, b system) bool { return a == b }, system.encode); err != nil {
			return nil, err
		}
	}
	out := make([]byte, 0, size(r))
	for i := range r.Messages {
		m := f.message(r.Messages[i], r.Model, a)
		if marked[i] {
			m.Content = cached(m.Content, r.Options.CacheTTL)
		}
		if i > 0 || r.System != "" {
			out = append(out, ',')
		}
		var err error
		if out, err = appendMessage(out, &m); err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
	}
	return wire.Payload{first, append(out, ']')}, nil
}

// system is the first message, which is the same in many requests. With a ttl
// it ends in a cache breakpoint.
type system struct {
	role      chat.Role
	text, ttl string
}

func (s system) encode() ([]byte, error) {
	m := chat.Message{Role: s.role, Content: chat.Text(s.text)}
	if s.ttl != "" {
		m.Content = cached(m.Content, s.ttl)
	}
	return appendMessage([]byte("["), &m)
}

// size is about what the messages take.
func size(r *provider.Request) int {
	n := 64
	for i := range r.Messages {
		m := &r.Messages[i]
		n += len(m.Content.Text)*17/16 + len(m.ReasoningDetails) + 128
		for _, c := range m.ToolCalls {
			n += len(c.Function.Arguments)*9/8 + 128
		}
	}
	return n
}

// appendMessage encodes what message has left, field by field as chat.Message
// does, without its detours.
func appendMessage(b []byte, m *chat.Message) ([]byte, error) {
	b = append(b, '{')
	b = wire.AppendField(b, "role", string(m.Role))
	if m.Content.Parts == nil {
		b = wire.AppendField(b, "content", m.Content.Text)
	} else {
		raw, err := m.Content.MarshalJSON()
		if err != nil {
			return nil, err
		}
		b = wire.AppendRaw(b, "content", raw)
	}
	if m.Name != "" {
		b = wire.AppendField(b, "name", m.Name)
	}
	if m.ToolCallID != "" {
		b = wire.AppendField(b, "tool_call_id", m.ToolCallID)
	}
	if len(m.ToolCalls) > 0 {
		b = append(wire.AppendName(b, "tool_calls"), '[')
		for i := range m.ToolCalls {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendCall(b, &m.ToolCalls[i])
		}
		b = append(b, ']')
	}
	if m.ReasoningContent != nil {
		b = wire.AppendField(b, "reasoning_content", *m.ReasoningContent)
	}
	if len(m.ReasoningDetails) > 0 {
		b = wire.AppendRaw(b, "reasoning_details", m.ReasoningDetails)
	}
	return append(appendExtra(b, m.Extra), '}'), nil
}

func appendCall(b []byte, c *chat.ToolCall) []byte {
	b = append(b, '{')
	b = wire.AppendField(b, "id", c.ID)
	b = wire.AppendField(b, "type", "function")
	b = append(wire.AppendName(b, "function"), '{')
	b = wire.AppendField(b, "name", c.Function.Name)
	b = wire.AppendField(b, "arguments", c.Function.Arguments)
	b = append(b, '}')
	return append(appendExtra(b, c.Extra), '}')
}

func appendExtra(b []byte, extra map[string]json.RawMessage) []byte {
	if len(extra) == 0 {
		return b
	}
	for _, k := range slices.Sorted(maps.Keys(extra)) {
		b = wire.AppendRaw(b, k, extra[k])
	}
	return b
}

// message leaves of m what the service takes. m is a copy; what its slices
// and maps hold is the caller's and stays as it is.
func (f *format) message(m chat.Message, model string, a wire.Adapted) chat.Message {
	m = m.Sanitize()
	m.FinishReason, m.Reasoning = "", ""
	m.CodexReasoningItems, m.CodexMessageItems = nil, nil
	m.ReasoningDetails = f.details(m.ReasoningDetails, a)
	m.Extra = f.extra(m.Extra)
	if m.Role != chat.Assistant {
		m.ReasoningContent, m.ReasoningDetails, m.ToolCalls = nil, nil, nil
		if m.Role == chat.Tool && f.row.strict {
			m.Name = ""
		}
	} else {
		m.ReasoningContent = f.echo(m, model)
		m.ToolCalls = f.calls(m.ToolCalls, model)
	}
	if f.row.shortIDs && m.ToolCallID != "" {
		m.ToolCallID = shortID(m.ToolCallID)
	}
	return m
}

// echo is the reasoning_content to send back. Where it is demanded a space
// stands for what is not known; another service's reasoning is never passed
// off as this one's.
func (f *format) echo(m chat.Message, model string) *string {
	switch {
	case f.row.echo || demandsEcho(model) && !f.row.strict:
		if m.ReasoningContent == nil || *m.ReasoningContent == "" {
			space := " "
			return &space
		}
		return m.ReasoningContent
	case f.row.strict:
		return nil
	}
	return m.ReasoningContent
}

// details keeps the reasoning that came by this format: Anthropic's own blocks
// are kept in the same field by the other wire.
func (f *format) details(raw json.RawMessage, a wire.Adapted) json.RawMessage {
	if f.row.strict || a.NoThinking || wire.IsNull(raw) {
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	for _, d := range list {
		var e struct{ Type string }
		if json.Unmarshal(d, &e) != nil || !strings.HasPrefix(e.Type, "reasoning.") {
			return nil
		}
	}
	return raw
}

func (f *format) extra(in map[string]json.RawMessage) map[string]json.RawMessage {
	if len(in) == 0 || f.row.strict {
		return nil
	}
	out := withoutOurs(in)
	if !f.row.callExtra {
		delete(out, "extra_content") // a signature that only Gemini knows
	}
	return out
}

// withoutOurs drops what the program itself has written into a message.
func withoutOurs(in map[string]json.RawMessage) map[string]json.RawMessage {
	out := make(map[string]json.RawMessage, len(in))
	for k, v := range in {
		if !strings.HasPrefix(k, "_") && k != "call_id" && k != "response_item_id" && k != "index" {
			out[k] = v
		}
	}
	return out
}

func (f *format) calls(in []chat.ToolCall, _ string) []chat.ToolCall {
	if len(in) == 0 {
		return nil
	}
	out := make([]chat.ToolCall, len(in))
	for i, c := range in {
		if f.row.shortIDs {
			c.ID = shortID(c.ID)
		}
		c.Function.Arguments = wire.ArgumentText(c.Function.Arguments)
		if len(c.Extra) > 0 {
			keep := f.row.callExtra || !f.row.strict
			extra := c.Extra
			c.Extra = nil
			if keep {
				c.Extra = withoutOurs(extra)
			}
		}
		out[i] = c
	}
	return out
}

// shortID makes nine letters or digits of an id, the same for the same id.
func shortID(id string) string {
	if len(id) == 9 && !strings.ContainsFunc(id, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return id
	}
	return strings.TrimPrefix(wire.MakeID(id, "", 0, 0), "call_")[:9]
}

// breakpoints are the last three messages that can carry one.
func (f *format) breakpoints(messages []chat.Message) map[int]bool {
	marked := map[int]bool{}
	for i := len(messages) - 1; i >= 0 && len(marked) < 3; i-- {
		if m := &messages[i]; m.Role != chat.Tool && !m.Content.Empty() {
			marked[i] = true
		}
	}
	return marked
}

// cached marks the end of the content as worth keeping.
func cached(c chat.Content, ttl string) chat.Content {
	parts := append([]chat.Part(nil), c.Parts...)
	if c.Parts == nil {
		parts = []chat.Part{{Type: "text", Text: c.Text}}
	}
	at := len(parts) - 1
	for at >= 0 && parts[at].Type != "text" { // routers look for it in text only
		at--
	}
	if at < 0 {
		return c
	}
	last := &parts[at]
	raw, err := last.MarshalJSON()
	fields := wire.Fields(raw)
	if err != nil || fields == nil {
		return c
	}
	var b wire.Body
	b.Merge(fields)
	b.Set("cache_control", wire.Breakpoint(ttl))
	if raw, err := b.Bytes(); err == nil {
		last.Raw = raw
	}
	return chat.Content{Parts: parts}
}
