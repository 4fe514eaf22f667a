package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// tree is one value of the file. The library's own decoding into any is not
// used: it reads YAML 1.2, loses the order of keys and the spelling of
// scalars ("1.10", "off"), which text settings must keep.
type tree struct {
	kind kind
	text string // scalars: as written, quotes resolved
	val  any    // bool, int64, float64 for those kinds
	keys []string
	m    map[string]*tree
	list []*tree
	line int
	env  bool // from the environment, not from the file
}

type kind uint8

const (
	nullKind kind = iota
	boolKind
	intKind
	floatKind
	textKind
	listKind
	mapKind
)

func (k kind) String() string {
	return [...]string{"nothing", "true/false", "a whole number", "a number", "text", "a list", "a map"}[k]
}

// maxValues bounds what aliases may multiply a file into.
const maxValues = 200_000

func newMap() *tree { return &tree{kind: mapKind, m: map[string]*tree{}} }

func textTree(s string) *tree { return &tree{kind: textKind, text: s} }

// parse reads a whole file. The notes are oddities that do not stop it.
func parse(src []byte) (root *tree, notes []Problem, err error) {
	n, err := parseNode(src)
	if err != nil {
		return nil, nil, err
	}
	if n == nil {
		return newMap(), nil, nil
	}
	b := builder{left: maxValues}
	root, err = b.build(n)
	if err != nil {
		return nil, nil, err
	}
	switch root.kind {
	case mapKind:
	case nullKind:
		root = newMap()
	default:
		return nil, nil, fmt.Errorf("line %d: the top level must be a map of keys, not %v", n.Line, root.kind)
	}
	return root, b.notes, nil
}

// parseNode returns the content of the only document, nil for an empty file.
func parseNode(src []byte) (n *yaml.Node, err error) {
	// The library has panicked on damaged input before; a config file must
	// never take the program down.
	defer func() {
		if r := recover(); r != nil {
			n, err = nil, fmt.Errorf("the YAML reader gave up: %v", r)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, yamlError(err)
	}
	switch err := dec.Decode(&more); {
	case err == nil:
		return nil, fmt.Errorf("line %d: a second document starts here; only one is allowed", more.Line)
	case !errors.Is(err, io.EOF):
		return nil, yamlError(err)
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

// yamlError drops the library's name from its message; the line stays.
func yamlError(err error) error { return errors.New(strings.TrimPrefix(err.Error(), "yaml: ")) }

type builder struct {
	left  int
	depth int
	notes []Problem
}

func (b *builder) build(n *yaml.Node) (*tree, error) {
	b.left--
	b.depth++
	defer func() { b.depth-- }()
	if b.left < 0 || b.depth > 200 {
		return nil, fmt.Errorf("line %d: the file grows beyond %d values or 200 levels; look for aliases inside aliases", n.Line, maxValues)
	}
	switch n.Kind {
	case yaml.AliasNode:
		return b.build(n.Alias)
	case yaml.ScalarNode:
		return scalarTree(n), nil
	case yaml.SequenceNode:
		t := &tree{kind: listKind, line: n.Line, list: make([]*tree, 0, len(n.Content))}
		for _, c := range n.Content {
			v, err := b.build(c)
			if err != nil {
				return nil, err
			}
			t.list = append(t.list, v)
		}
		return t, nil
	case yaml.MappingNode:
		t := newMap()
		t.line = n.Line
		var merged []*tree
		for i := 0; i+1 < len(n.Content); i += 2 {
			k, c := n.Content[i], n.Content[i+1]
			if k.Kind == yaml.AliasNode {
				k = k.Alias
			}
			if k.Kind != yaml.ScalarNode {
				return nil, fmt.Errorf("line %d: a key must be a single word or text", k.Line)
			}
			v, err := b.build(c)
			if err != nil {
				return nil, err
			}
			if isMerge(k) {
				if v.kind == listKind {
					merged = append(merged, v.list...)
				} else {
					merged = append(merged, v)
				}
				continue
			}
			if t.m[k.Value] != nil {
				b.notes = append(b.notes, Problem{
					Severity: Warning, Key: k.Value, Line: k.Line,
					Message: fmt.Sprintf("key %q stands twice in one map; the last one counts", k.Value), Hint: "remove one of them",
				})
			}
			t.put(k.Value, v)
		}
		for _, src := range merged { // earlier ones win, own keys over all
			if src.kind != mapKind {
				return nil, fmt.Errorf("line %d: << wants a map", n.Line)
			}
			for _, k := range src.keys {
				if t.m[k] == nil {
					t.put(k, src.m[k])
				}
			}
		}
		return t, nil
	}
	return nil, fmt.Errorf("line %d: unexpected YAML", n.Line)
}

func isMerge(k *yaml.Node) bool {
	return k.Value == "<<" && k.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0
}

func (t *tree) put(key string, v *tree) {
	if t.m[key] == nil {
		t.keys = append(t.keys, key)
	}
	t.m[key] = v
}

func (t *tree) drop(key string) {
	if t.m[key] == nil {
		return
	}
	delete(t.m, key)
	t.keys = slices.DeleteFunc(t.keys, func(k string) bool { return k == key })
}

// find follows keys; nil when there is nothing there.
func (t *tree) find(keys []string) *tree {
	for _, k := range keys {
		if t == nil {
			return nil
		}
		switch t.kind {
		case mapKind:
			t = t.m[k]
		case listKind:
			i, ok := index(k)
			if !ok || i >= len(t.list) {
				return nil
			}
			t = t.list[i]
		default:
			return nil
		}
	}
	return t
}

func (t *tree) whole() (int, bool) {
	if t == nil || t.kind != intKind {
		return 0, false
	}
	v, ok := t.val.(int64)
	return int(v), ok
}

// any is the value as plain Go data, freshly built.
func (t *tree) any() any {
	switch t.kind {
	case nullKind:
		return nil
	case boolKind, intKind, floatKind:
		if v, ok := t.val.(int64); ok {
			return int(v)
		}
		return t.val
	case textKind:
		return t.text
	case listKind:
		out := make([]any, len(t.list))
		for i, v := range t.list {
			out[i] = v.any()
		}
		return out
	}
	out := make(map[string]any, len(t.m))
	for k, v := range t.m {
		out[k] = v.any()
	}
	return out
}

// overlay merges maps as the original does: maps join, all else replaces.
func overlay(under, over *tree) *tree {
	if under.kind != mapKind || over.kind != mapKind {
		return over
	}
	out := newMap()
	out.line = over.line
	for _, k := range under.keys {
		out.put(k, under.m[k])
	}
	for _, k := range over.keys {
		v := over.m[k]
		if u := out.m[k]; u != nil {
			v = overlay(u, v)
		}
		out.put(k, v)
	}
	return out
}
