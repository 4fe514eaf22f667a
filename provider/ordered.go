package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// node is a JSON value that remembers the order of its fields: models read a
// schema from top to bottom, and the same schema must give the same bytes.
type node struct {
	kind   byte // '{', '[' or 0 for anything else
	fields []field
	items  []*node
	raw    json.RawMessage // of anything else
}

type field struct {
	name  string
	value *node
}

// maxDepth is far beyond what any tool needs and well below what a service's
// parser survives.
const maxDepth = 48

var errTooDeep = errors.New("it is nested too deeply")

func parseNode(raw []byte) (*node, error) {
	if !json.Valid(raw) {
		var v any
		return nil, fmt.Errorf("it is no JSON: %w", json.Unmarshal(raw, &v))
	}
	r := reader{text: raw}
	n := r.node(0)
	return n, r.err
}

// reader reads text that is known to be valid JSON, several times as fast as a
// decoder that hands out tokens.
type reader struct {
	text []byte
	at   int
	err  error
}

// next skips to the next character that means something.
func (r *reader) next() byte {
	for {
		switch c := r.text[r.at]; c {
		case ' ', '\n', '\r', '\t', ',', ':':
			r.at++
		default:
			return c
		}
	}
}

func (r *reader) node(depth int) *node {
	if depth > maxDepth {
		r.err = errTooDeep
	}
	if r.err != nil {
		return object()
	}
	switch c := r.next(); c {
	case '{':
		n := &node{kind: c}
		for r.at++; r.err == nil && r.next() != '}'; {
			name := (&node{raw: r.plain()}).text()
			n.set(name, r.node(depth+1))
		}
		r.at++
		return n
	case '[':
		n := &node{kind: c}
		for r.at++; r.err == nil && r.next() != ']'; {
			n.items = append(n.items, r.node(depth+1))
		}
		r.at++
		return n
	}
	return &node{raw: r.plain()}
}

// plain reads a value without parts. Text is written in one way only, however
// it was written here.
func (r *reader) plain() json.RawMessage {
	from := r.at
	if r.text[from] != '"' {
		for r.at < len(r.text) && strings.IndexByte(" \n\r\t,:]}", r.text[r.at]) < 0 {
			r.at++
		}
		return r.text[from:r.at:r.at]
	}
	same := true
	for r.at++; r.text[r.at] != '"'; r.at++ {
		switch c := r.text[r.at]; {
		case c == '\\':
			same = false
			r.at++
		case c >= utf8.RuneSelf:
			same = same && (c != 0xe2 || !bytes.HasPrefix(r.text[r.at:], []byte("\u2028")) && !bytes.HasPrefix(r.text[r.at:], []byte("\u2029")))
		}
	}
	r.at++
	raw := r.text[from:r.at:r.at]
	if same && utf8.Valid(raw) {
		return raw
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		r.err = fmt.Errorf("it is no JSON: %w", err)
	}
	return leaf(s).raw
}

// leaf makes a node of a plain value.
func leaf(v any) *node {
	if s, ok := v.(string); ok && !strings.ContainsFunc(s, escaped) {
		return &node{raw: json.RawMessage(`"` + s + `"`)}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return &node{raw: json.RawMessage("null")} // only for values that come from no JSON
	}
	return &node{raw: bytes.TrimSuffix(b.Bytes(), []byte("\n"))}
}

// escaped says whether a character may stand in JSON in another form.
func escaped(r rune) bool {
	return r < ' ' || r == '"' || r == '\\' || r == 0x7f || r >= 0x2028 && r <= 0x2029 || r == utf8.RuneError
}

func object(fields ...field) *node { return &node{kind: '{', fields: fields} }

func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	for _, f := range n.fields {
		if f.name == name {
			return f.value
		}
	}
	return nil
}

func (n *node) set(name string, v *node) {
	for i := range n.fields {
		if n.fields[i].name == name {
			n.fields[i].value = v
			return
		}
	}
	n.fields = append(n.fields, field{name, v})
}

func (n *node) drop(names ...string) {
	n.fields = slices.DeleteFunc(n.fields, func(f field) bool { return slices.Contains(names, f.name) })
}

func (n *node) isObject() bool { return n != nil && n.kind == '{' }

// text is the value of a string, "" for everything else.
func (n *node) text() string {
	if !n.isText() {
		return ""
	}
	if bytes.IndexByte(n.raw, '\\') < 0 {
		return string(n.raw[1 : len(n.raw)-1])
	}
	var s string
	if json.Unmarshal(n.raw, &s) != nil {
		return ""
	}
	return s
}

func (n *node) isText() bool { return n != nil && n.kind == 0 && len(n.raw) > 0 && n.raw[0] == '"' }

func (n *node) isNull() bool { return n == nil || n.kind == 0 && string(n.raw) == "null" }

func (n *node) bytes() []byte {
	var b bytes.Buffer
	n.write(&b)
	return b.Bytes()
}

func (n *node) write(b *bytes.Buffer) {
	switch n.kind {
	case '{':
		b.WriteByte('{')
		for i, f := range n.fields {
			if i > 0 {
				b.WriteByte(',')
			}
			if strings.ContainsFunc(f.name, escaped) {
				b.Write(leaf(f.name).raw)
			} else {
				b.WriteString(`"` + f.name + `"`)
			}
			b.WriteByte(':')
			f.value.write(b)
		}
		b.WriteByte('}')
	case '[':
		b.WriteByte('[')
		for i, v := range n.items {
			if i > 0 {
				b.WriteByte(',')
			}
			v.write(b)
		}
		b.WriteByte(']')
	default:
		b.Write(n.raw)
	}
}
