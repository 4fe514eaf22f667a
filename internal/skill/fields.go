package skill

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// get is the value of a key, the last one where it stands twice; nil without.
func get(n *yaml.Node, key string) *yaml.Node {
	if n == nil {
		return nil
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := len(n.Content) - 2; i >= 0; i -= 2 {
		if n.Content[i].Value == key {
			v := n.Content[i+1]
			if v.Kind == yaml.AliasNode {
				v = v.Alias
			}
			return v
		}
	}
	return nil
}

// text is a scalar as it is spelled: 1.10 stays 1.10 and yes stays yes.
func text(n *yaml.Node) (string, bool) {
	if n == nil || n.Kind != yaml.ScalarNode || n.Tag == "!!null" && n.Style == 0 {
		return "", false
	}
	return strings.TrimSpace(n.Value), true
}

// list reads a list, one value, or "a, b" and "[a, b]" written as text.
func list(n *yaml.Node) []string {
	if n == nil {
		return nil
	}
	var out []string
	add := func(s string) {
		if s = strings.Trim(strings.TrimSpace(s), `"'`); s != "" {
			out = append(out, strings.Clone(s)) // lists are kept, the text is not
		}
	}
	switch n.Kind {
	case yaml.SequenceNode:
		for _, c := range n.Content {
			if s, ok := text(c); ok {
				add(s)
			}
		}
	case yaml.ScalarNode:
		if s, ok := text(n); ok {
			for part := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"), ",") {
				add(part)
			}
		}
	}
	return out
}

// items is a list of entries, where one entry may stand without the list.
func items(n *yaml.Node) []*yaml.Node {
	if n == nil || n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	if n.Kind == yaml.SequenceNode {
		return n.Content
	}
	return []*yaml.Node{n}
}

// Scalar is the value of a top-level key that is one.
func (f *Front) Scalar(key string) string {
	n := get(f.top, key)
	s, ok := text(n)
	if !ok && n != nil && n.Tag != "!!null" {
		f.warn("%s is no text and was ignored", key)
	}
	return s
}

func (f *Front) warn(format string, args ...any) {
	f.Warnings = append(f.Warnings, fmt.Sprintf(format, args...))
}

// hermes is metadata.hermes, nil unless it is a mapping.
func (f *Front) hermes() *yaml.Node { return get(get(f.top, "metadata"), "hermes") }

// Tags and RelatedSkills stand below metadata.hermes, or at the top.
func (f *Front) either(key string) []string {
	if l := list(get(f.hermes(), key)); l != nil {
		return l
	}
	return list(get(f.top, key))
}

// Tags are the words under which a skill wants to be found.
func (f *Front) Tags() []string { return f.either("tags") }

// Related are the skills that go with it.
func (f *Front) Related() []string { return f.either("related_skills") }

func (f *Front) conditions() Conditions {
	h := f.hermes()
	return Conditions{
		RequiresTools: list(get(h, "requires_tools")), RequiresToolsets: list(get(h, "requires_toolsets")),
		FallbackTools: list(get(h, "fallback_for_tools")), FallbackToolsets: list(get(h, "fallback_for_toolsets")),
	}
}

// Metadata is the mapping under metadata as plain values, nil without one.
func (f *Front) Metadata() any {
	n := get(f.top, "metadata")
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	return plainValue(n)
}

// plainValue keeps scalars as they are spelled, but for booleans and numbers
// whose JSON form says the same.
func plainValue(n *yaml.Node) any {
	switch n.Kind {
	case yaml.AliasNode:
		return plainValue(n.Alias)
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			m[n.Content[i].Value] = plainValue(n.Content[i+1])
		}
		return m
	case yaml.SequenceNode:
		l := make([]any, len(n.Content))
		for i, c := range n.Content {
			l[i] = plainValue(c)
		}
		return l
	}
	switch {
	case n.Tag == "!!null":
		return nil
	case n.Tag == "!!bool" && (n.Value == "true" || n.Value == "false"):
		return n.Value == "true"
	}
	return n.Value
}

// Doc is one SKILL.md, read whole.
type Doc struct {
	Body string
	*Front
	Broken *Problem
	Odd    []string // about the file; see Said
}

// Said is all there is to say about how the file is written, that of the
// fields read so far included.
func (d *Doc) Said() []string { return slices.Concat(d.Odd, d.Front.Warnings) }

// Parse reads a SKILL.md. It never fails: what cannot be understood is said
// in Broken, and the body is there all the same.
func Parse(data []byte) Doc {
	t := split(data)
	d := Doc{Body: t.Body, Front: &Front{}, Odd: t.Warnings}
	none := func() Doc {
		d.Body, d.Odd = strings.TrimLeft(t.Whole, "\n"), append(t.Odd, noFront)
		return d
	}
	switch {
	case !t.Found:
		return none()
	case !t.Closed:
		d.Broken = &Problem{t.Line - 1, 1, "the front matter is not closed", "add a line with --- after it"}
		return d
	}
	front, problem := readFront(t.YAML, t.Line)
	if t.Late && (front == nil || get(front.top, "name") == nil && get(front.top, "description") == nil) {
		return none() // rules in a text, not front matter
	}
	if problem != nil {
		d.Broken = problem
		return d
	}
	d.Front = front
	return d
}

const noFront = "it has no front matter; its name is that of the directory"
