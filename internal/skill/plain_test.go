package skill

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// shape is what we ask of a tree.
func shape(n *yaml.Node) string {
	if n == nil {
		return "nil"
	}
	switch n.Kind {
	case yaml.MappingNode, yaml.SequenceNode:
		var parts []string
		for i, c := range n.Content {
			s := shape(c)
			if n.Kind == yaml.MappingNode && i%2 == 0 {
				s = fmt.Sprintf("%d:%s", c.Line, s)
			}
			parts = append(parts, s)
		}
		return map[yaml.Kind]string{yaml.MappingNode: "map", yaml.SequenceNode: "seq"}[n.Kind] + "(" + strings.Join(parts, " ") + ")"
	case yaml.ScalarNode:
		tag := n.Tag
		if tag != "!!null" && tag != "!!bool" {
			tag = "text"
		}
		return fmt.Sprintf("%s%q%t", tag, n.Value, n.Style == 0)
	}
	return fmt.Sprint("kind ", n.Kind)
}

var plainSeeds = []string{
	"name: a\ndescription: Does a thing, well; (really) it's /ok & fine.\n",
	"name: \"a\"\ndescription: 'b: c # d'\nplatforms: [linux, macos]\n\nmetadata:\n  hermes:\n    tags: [A, \"B c\", 'd']\n    requires_tools: []\n",
	"a:\n- b\n- c\nd:\n  - e: f\n    g: h\n  - i: j\nk:\nl: ~\nm: true\nn: 1.0\n",
	"a: \n  b: c\n\n  d: e\nf: g\n",
	"a: b\n  c\n", "a: b # c\n", "a: b: c\n", "a: [b, [c]]\n", "a: {b: c}\n", "a: |\n  b\n", "a: b\n a: c\n", "- a\n", "a: &b c\n", "a: b\nc\n", "a: 'b''c'\n", "a: \"b\\n\"\n",
	"a:\n  - b\n c: d\n", "a: [b, c: d]\n", "日本: x\n", "a: 日本\n", "a: \u2028b\n", "a:\n  - b: c\n  d: e\n", "a:\n  - - b\n", "a: [1, ~, yes]\n", "a: b\n---\nc: d\n", "a: ...\n", "a: b \n", "a-: b\n", "a:\n    b: c\n  d: e\n",
	"a: [b,c]\n", "a: [ b , c ]\n", "a: [b, ]\n", "a: <<\n", "null: a\ntrue: b\n", "a: 2026-01-01\n", "a: 0x1F\nb: .5\nc: .inf\n",
}

// FuzzPlainYAML: what is read without the library is what the library reads.
func FuzzPlainYAML(f *testing.F) {
	for _, s := range plainSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		got, ok := plainYAML(src)
		if !ok {
			return
		}
		want, err := parseYAML(src)
		if err != nil {
			t.Fatalf("%q: read as %s, but the library says %v", src, shape(got), err)
		}
		if shape(got) != shape(want) {
			t.Fatalf("%q: read as\n%s, the library has\n%s", src, shape(got), shape(want))
		}
	})
}

// What skills mostly look like needs no library.
func TestPlainYAML(t *testing.T) {
	t.Parallel()
	for i, s := range plainSeeds[:4] {
		if _, ok := plainYAML(s); !ok {
			t.Errorf("%d: %q is left to the library", i, s)
		}
	}
}
