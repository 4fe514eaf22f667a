package config

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"go.yaml.in/yaml/v3"
)

// spot is a node and where it hangs.
type spot struct {
	parent *yaml.Node
	key    *yaml.Node // nil for list elements
	node   *yaml.Node
	i      int  // index in parent.Content
	indent int  // column of the block collection around it, -1 for none
	flow   bool // inside brackets
}

// splice returns text with the value at keys set to val, or removed when val is
// nil. It changes the bytes of that value, or adds or removes its lines; the
// result is read again and must mean exactly that, or there is an error and no
// result. Text must not begin with a byte order mark.
func splice(text string, keys []string, val *tree) (string, error) {
	s, err := newSource(text)
	if err != nil {
		return "", err
	}
	want, _, err := parse([]byte(text))
	if err != nil {
		return "", err
	}
	if err := change(want, keys, val); err != nil {
		return "", err
	}
	path, rest, err := s.locate(keys)
	if err != nil {
		return "", err
	}
	var out string
	switch {
	case val == nil:
		out, err = s.remove(path)
	case len(rest) > 0:
		out, err = s.add(path, rest, val)
	default:
		out, err = s.replace(path[len(path)-1], val)
	}
	line := 1
	if len(path) > 0 {
		line = path[len(path)-1].node.Line
	}
	if errors.Is(err, errSpan) {
		return "", describe(JoinPath(keys), line)
	}
	if err != nil {
		return "", err
	}
	got, _, err := parse([]byte(out))
	if err != nil || !same(got, want) {
		return "", describe(JoinPath(keys), line)
	}
	return out, nil
}

// change makes the edit in the meaning of the file: what splice must arrive at.
func change(root *tree, keys []string, val *tree) error {
	t := root
	for i, k := range keys[:len(keys)-1] {
		next := t.find([]string{k})
		if next == nil {
			if t.kind == listKind && k != "+" {
				return outOfRange(keys[:i+1], len(t.list))
			}
			if val == nil {
				return ErrAbsent
			}
			next = nest(keys[i+1:], val)
			return attach(t, keys[:i+1], next)
		}
		switch next.kind {
		case mapKind, listKind:
		case nullKind:
			if val == nil {
				return ErrAbsent
			}
			*next = *nest(keys[i+1:], val)
			return nil
		default:
			return fmt.Errorf("config key %s is %s, not a section; unset it first", JoinPath(keys[:i+1]), next.kind)
		}
		t = next
	}
	return attach(t, keys, val)
}

// ErrAbsent says that a key to be removed is not in the file.
var ErrAbsent = errors.New("the file does not set this key")

func outOfRange(keys []string, n int) error {
	at, last := JoinPath(keys[:len(keys)-1]), keys[len(keys)-1]
	if _, ok := index(last); !ok {
		return fmt.Errorf("config key %s is a list of %d; name an element as %s[0], or %s[+] for a new one", at, n, at, at)
	}
	return fmt.Errorf("config key %s has %d elements, so there is no [%s]; [+] adds one", at, n, last)
}

// attach sets or removes the last of keys in t.
func attach(t *tree, keys []string, val *tree) error {
	k := keys[len(keys)-1]
	switch t.kind {
	case mapKind:
		if val != nil {
			t.put(k, val)
		} else if t.m[k] == nil {
			return ErrAbsent
		} else {
			t.drop(k)
		}
		return nil
	case listKind:
		if k == "+" && val != nil {
			t.list = append(t.list, val)
			return nil
		}
		i, ok := index(k)
		if !ok || i >= len(t.list) {
			return outOfRange(keys, len(t.list))
		}
		if val != nil {
			t.list[i] = val
		} else {
			t.list = append(t.list[:i:i], t.list[i+1:]...)
		}
		return nil
	}
	return fmt.Errorf("config key %s is %s, not a section; unset it first", JoinPath(keys[:len(keys)-1]), t.kind)
}

// nest wraps a value in maps, or a list for "+".
func nest(keys []string, val *tree) *tree {
	for i := len(keys) - 1; i >= 0; i-- {
		if keys[i] == "+" {
			val = &tree{kind: listKind, list: []*tree{val}}
			continue
		}
		m := newMap()
		m.put(keys[i], val)
		val = m
	}
	return val
}

// same compares meanings, spelling of scalars included.
func same(a, b *tree) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case nullKind:
		return true
	case boolKind, intKind:
		return a.val == b.val
	case floatKind:
		x, y := a.val.(float64), b.val.(float64)
		return x == y || math.IsNaN(x) && math.IsNaN(y)
	case textKind:
		return a.text == b.text
	case listKind:
		if len(a.list) != len(b.list) {
			return false
		}
		for i := range a.list {
			if !same(a.list[i], b.list[i]) {
				return false
			}
		}
		return true
	}
	if len(a.m) != len(b.m) {
		return false
	}
	for k, v := range a.m {
		if b.m[k] == nil || !same(v, b.m[k]) {
			return false
		}
	}
	return true
}

// locate follows keys through the nodes as far as they exist.
func (s *source) locate(keys []string) (path []spot, rest []string, err error) {
	cur := s.root
	indent, flow := -1, false
	for i, k := range keys {
		if cur == nil {
			return path, keys[i:], nil
		}
		if cur.Kind == yaml.AliasNode {
			return nil, nil, fmt.Errorf("config key %s (line %d) is shared by *%s with another place; edit the file by hand", JoinPath(keys[:i]), cur.Line, cur.Value)
		}
		at, key := -1, (*yaml.Node)(nil)
		switch cur.Kind {
		case yaml.MappingNode:
			for j := 0; j+1 < len(cur.Content); j += 2 {
				n := cur.Content[j]
				if n.Kind == yaml.AliasNode {
					n = n.Alias
				}
				if n.Kind == yaml.ScalarNode && n.Value == k && !isMerge(cur.Content[j]) {
					at, key = j+1, cur.Content[j] // the last one counts
				}
			}
		case yaml.SequenceNode:
			if j, ok := index(k); ok && j < len(cur.Content) {
				at = j
			}
		}
		if at < 0 {
			return path, keys[i:], nil
		}
		flow = flow || cur.Style&yaml.FlowStyle != 0
		if !flow {
			indent = cur.Column - 1
		}
		path = append(path, spot{parent: cur, key: key, node: cur.Content[at], i: at, indent: indent, flow: flow})
		cur = cur.Content[at]
	}
	return path, nil, nil
}

func (s *source) layout() layout {
	step, list := s.steps()
	return layout{step: step, list: list, nl: s.nl}
}

func emptyNode(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Anchor == "" &&
		n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) == 0
}

func nullNode(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode || n.Anchor != "" || n.Style != 0 {
		return false
	}
	k, _ := resolve(n.Value)
	return k == nullKind
}

func blockCollection(n *yaml.Node) bool {
	return (n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode) && n.Style&yaml.FlowStyle == 0
}

// replace writes a new value where one stands.
func (s *source) replace(p spot, val *tree) (string, error) {
	fill := (val.kind == mapKind && len(val.keys) > 0) || (val.kind == listKind && len(val.list) > 0)
	if emptyNode(p.node) {
		if fill && p.key != nil && !p.flow {
			return s.fill(p, val)
		}
		at, err := s.afterMark(p)
		if err != nil {
			return "", err
		}
		sep := " "
		if p.key != nil && s.text[at-1] != ':' { // {a} without a colon
			sep = ": "
		}
		return s.text[:at] + sep + inline(val, p.flow, anyStyle) + s.text[at:], nil
	}
	start, err := s.start(p.node)
	if err != nil {
		return "", err
	}
	end, err := s.end(p.node, p.indent, p.flow)
	if err != nil {
		return "", err
	}
	if blockCollection(p.node) && p.key != nil && s.ownLine(start) {
		from, to := s.lines[s.lineAt(start)], s.nextLine(end)
		if fill && (val.kind == mapKind) == (p.node.Kind == yaml.MappingNode) {
			var b strings.Builder
			s.layout().block(&b, p.node.Column-1, val)
			return s.text[:from] + s.lastLine(b.String(), to) + s.text[to:], nil
		}
		colon, err := s.colon(p.key, p.indent, p.flow)
		if err != nil {
			return "", err
		}
		return s.text[:colon+1] + " " + inline(val, p.flow, anyStyle) + s.text[colon+1:from] + s.text[to:], nil
	}
	if fill && p.key != nil && !p.flow && len(p.node.Content) == 0 && p.node.Kind != yaml.AliasNode && p.node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		return s.fill(p, val)
	}
	text := inline(val, p.flow, styleFor(p.node, val))
	if p.node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		// The header's comment moves behind the value.
		head := s.text[start:s.lineStop(start)]
		if i := strings.Index(head, " #"); i >= 0 {
			text += head[len(strings.TrimRight(head[:i], " \t")):]
		}
	}
	return s.text[:start] + text + s.text[end:], nil
}

func styleFor(n *yaml.Node, val *tree) style {
	if val.kind != textKind {
		return anyStyle
	}
	return styleOf(n)
}

// ownLine reports whether only blanks stand before at on its line.
func (s *source) ownLine(at int) bool {
	return strings.TrimLeft(s.text[s.lines[s.lineAt(at)]:at], " ") == ""
}

// lastLine drops the final line break of lines that end a file which has none.
func (s *source) lastLine(lines string, to int) string {
	if to == len(s.text) && to > 0 && s.text[to-1] != '\n' && s.text[to-1] != '\r' {
		return strings.TrimSuffix(lines, s.nl)
	}
	return lines
}

// insert puts whole lines at the offset of a line's beginning, or at the end.
func (s *source) insert(at int, lines string) string {
	if at == len(s.text) && at > 0 && s.text[at-1] != '\n' && s.text[at-1] != '\r' {
		return s.text + s.nl + strings.TrimSuffix(lines, s.nl)
	}
	return s.text[:at] + lines + s.text[at:]
}

// afterMark is the offset after the : or - of an empty value.
func (s *source) afterMark(p spot) (int, error) {
	if p.key != nil {
		if at, ok := s.emptyValue(p.key, p.node, p.indent, p.flow); ok {
			return at, nil
		}
		return 0, errSpan
	}
	at, err := s.start(p.node)
	if err != nil || at == 0 || s.text[at-1] != '-' {
		return 0, errSpan
	}
	return at, nil
}
