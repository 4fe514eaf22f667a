package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// plainMessage drops the methods of Message, so that encoding/json does its
// usual work on the known fields.
type plainMessage Message

var messageFields = []string{
	"role", "content", "name", "tool_call_id", "tool_calls", "reasoning", "reasoning_content",
	"reasoning_details", "codex_reasoning_items", "codex_message_items", "finish_reason",
}

// MarshalJSON writes known fields first and then the unknown ones, sorted.
func (m Message) MarshalJSON() ([]byte, error) {
	b, err := encode(plainMessage(m))
	if err != nil {
		return nil, fmt.Errorf("encode message: %w", err)
	}
	return appendExtra(b, m.Extra)
}

// UnmarshalJSON keeps fields it does not know in Extra.
func (m *Message) UnmarshalJSON(b []byte) error {
	var p plainMessage
	if err := json.Unmarshal(b, &p); err != nil {
		return fmt.Errorf("decode message: %w", err)
	}
	extra, err := unknown(b, messageFields)
	if err != nil {
		return fmt.Errorf("decode message: %w", err)
	}
	p.Extra = extra
	*m = Message(p)
	return nil
}

type plainCall ToolCall

var callFields = []string{"id", "type", "function"}

// MarshalJSON writes known fields first and then the unknown ones, sorted.
func (c ToolCall) MarshalJSON() ([]byte, error) {
	if c.Type == "" {
		c.Type = "function"
	}
	b, err := encode(plainCall(c))
	if err != nil {
		return nil, fmt.Errorf("encode tool call: %w", err)
	}
	return appendExtra(b, c.Extra)
}

// UnmarshalJSON keeps fields it does not know in Extra. Arguments that arrive
// as a JSON value instead of text are taken as their own text.
func (c *ToolCall) UnmarshalJSON(b []byte) error {
	var p plainCall
	if err := json.Unmarshal(b, &p); err != nil {
		return fmt.Errorf("decode tool call: %w", err)
	}
	extra, err := unknown(b, callFields)
	if err != nil {
		return fmt.Errorf("decode tool call: %w", err)
	}
	p.Extra = extra
	*c = ToolCall(p)
	return nil
}

// UnmarshalJSON accepts arguments as text or as any JSON value.
func (f *FunctionCall) UnmarshalJSON(b []byte) error {
	var raw struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	f.Name = raw.Name
	f.Arguments = ""
	if len(raw.Arguments) == 0 || bytes.Equal(raw.Arguments, []byte("null")) {
		return nil
	}
	if raw.Arguments[0] == '"' {
		return json.Unmarshal(raw.Arguments, &f.Arguments)
	}
	f.Arguments = string(raw.Arguments)
	return nil
}

// MarshalJSON writes text, or a list when there are parts.
func (c Content) MarshalJSON() ([]byte, error) {
	if c.Parts == nil {
		return encode(c.Text)
	}
	return encode(c.Parts)
}

// UnmarshalJSON accepts text, null or a list of parts.
func (c *Content) UnmarshalJSON(b []byte) error {
	*c = Content{}
	b = bytes.TrimSpace(b)
	switch {
	case len(b) == 0 || bytes.Equal(b, []byte("null")):
		return nil
	case b[0] == '"':
		return json.Unmarshal(b, &c.Text)
	case b[0] == '[':
		c.Parts = []Part{}
		return json.Unmarshal(b, &c.Parts)
	default:
		return fmt.Errorf("content is neither text nor a list of parts")
	}
}

type imageURL struct {
	URL string `json:"url"`
}

// MarshalJSON writes the part as OpenAI's chat format has it.
func (p Part) MarshalJSON() ([]byte, error) {
	if p.Raw != nil {
		return p.Raw, nil
	}
	if p.Type == "image_url" {
		return encode(struct {
			Type     string   `json:"type"`
			ImageURL imageURL `json:"image_url"`
		}{p.Type, imageURL{p.ImageURL}})
	}
	return encode(struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{p.Type, p.Text})
}

// UnmarshalJSON accepts any part; one of an unknown shape is kept in Raw.
func (p *Part) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	*p = Part{Type: "text"}
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &p.Text)
	}
	var in struct {
		Type     string          `json:"type"`
		Text     string          `json:"text"`
		ImageURL json.RawMessage `json:"image_url"`
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return fmt.Errorf("decode content part: %w", err)
	}
	p.Type, p.Text = in.Type, in.Text
	if in.Type == "image_url" {
		var u imageURL
		if json.Unmarshal(in.ImageURL, &u) != nil {
			_ = json.Unmarshal(in.ImageURL, &u.URL) // some servers write the URL itself; Raw keeps whatever it was
		}
		p.ImageURL = u.URL
	}
	p.Raw = slices.Clone(b)
	return nil
}

// encode is json.Marshal without HTML escaping: what a model reads should be
// what was written.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

func appendExtra(obj []byte, extra map[string]json.RawMessage) ([]byte, error) {
	if len(extra) == 0 {
		return obj, nil
	}
	keys := make([]string, 0, len(extra))
	for k := range extra {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	out := obj[:len(obj)-1]
	for _, k := range keys {
		name, err := encode(k)
		if err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, name...), ':'), extra[k]...)
	}
	return append(out, '}'), nil
}

func unknown(obj []byte, known []string) (map[string]json.RawMessage, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(obj, &all); err != nil {
		return nil, err
	}
	for _, k := range known {
		delete(all, k)
	}
	if len(all) == 0 {
		return nil, nil
	}
	return all, nil
}
