package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Body writes a JSON object field by field, in the order of the calls, so that
// equal requests are equal bytes.
type Body struct {
	fields []bodyField
	err    error
}

type bodyField struct {
	name  string
	value Payload
}

// Set writes a field, in place of an earlier one of the name.
func (b *Body) Set(name string, v any) {
	raw, err := JSON(v)
	if err != nil {
		if b.err == nil {
			b.err = fmt.Errorf("encode %s: %w", name, err)
		}
		return
	}
	b.SetRaw(name, raw)
}

// SetRaw writes a field whose value is JSON for certain; it is not looked at.
func (b *Body) SetRaw(name string, raw json.RawMessage) { b.SetPieces(name, Payload{raw}) }

// SetPieces is SetRaw for a value in pieces.
func (b *Body) SetPieces(name string, value Payload) {
	for i := range b.fields {
		if b.fields[i].name == name {
			b.fields[i].value = value
			return
		}
	}
	b.fields = append(b.fields, bodyField{name, value})
}

// Has reports whether a field was written.
func (b *Body) Has(name string) bool {
	return slices.ContainsFunc(b.fields, func(f bodyField) bool { return f.name == name })
}

// Drop takes a field out again.
func (b *Body) Drop(name string) {
	b.fields = slices.DeleteFunc(b.fields, func(f bodyField) bool { return f.name == name })
}

// Merge writes the fields that a request brings along, sorted by name. A null
// takes a field away.
func (b *Body) Merge(extra map[string]json.RawMessage) {
	for _, k := range slices.Sorted(maps.Keys(extra)) {
		if string(bytes.TrimSpace(extra[k])) == "null" {
			b.Drop(k)
			continue
		}
		b.Set(k, extra[k])
	}
}

// Bytes is the whole object.
func (b *Body) Bytes() ([]byte, error) {
	p, err := b.Payload()
	return p.Bytes(), err
}

// ownPiece is how long a value is from which on it is not copied.
const ownPiece = 1 << 10

// Payload is the whole object in pieces.
func (b *Body) Payload() (Payload, error) {
	if b.err != nil {
		return nil, b.err
	}
	var out Payload
	glue := append(make([]byte, 0, 256), '{')
	for i, f := range b.fields {
		if i > 0 {
			glue = append(glue, ',')
		}
		glue = append(AppendString(glue, f.name), ':')
		for _, piece := range f.value {
			if len(piece) < ownPiece {
				glue = append(glue, piece...)
				continue
			}
			out = append(out, glue, piece)
			glue = nil
		}
	}
	return append(out, append(glue, '}')), nil
}

// JSON encodes without escaping "<", ">" and "&": what a model reads should be
// what was written, and in fewer bytes.
func JSON(v any) (json.RawMessage, error) {
	switch v := v.(type) {
	case json.RawMessage:
		if !json.Valid(v) {
			return nil, fmt.Errorf("raw value is no JSON")
		}
		return v, nil
	case *Body:
		return v.Bytes()
	}
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// Fields reads an object's fields; nil when raw is none.
func Fields(raw json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// TextOf reads a JSON string; "" for anything else.
func TextOf(raw json.RawMessage) string {
	if len(raw) == 0 || raw[0] != '"' {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// IsNull reports whether a field is absent or null.
func IsNull(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null"
}

// Arguments is a call's argument text as a JSON object; what is none becomes
// an empty one, since services refuse a history with broken arguments.
func Arguments(text string) json.RawMessage {
	raw := bytes.TrimSpace([]byte(text))
	if len(raw) == 0 || raw[0] != '{' || !json.Valid(raw) {
		return json.RawMessage("{}")
	}
	return raw
}

// ArgumentText is a call's argument text as it stands when it is JSON, and an
// empty object when it is not.
func ArgumentText(text string) string {
	if !json.Valid([]byte(text)) {
		return "{}"
	}
	return text
}

// CacheControl is a cache breakpoint as Anthropic invented it and routers pass
// on.
type CacheControl struct {
	Type string `json:"type"`
	TTL  string `json:"ttl,omitempty"`
}

// Breakpoint makes one; five minutes are the default and are not written.
func Breakpoint(ttl string) CacheControl {
	c := CacheControl{Type: "ephemeral"}
	if ttl == "1h" {
		c.TTL = ttl
	}
	return c
}
