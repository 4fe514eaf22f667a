package config

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// fill writes a collection's lines below a key that has no value, null, {} or
// [] so far.
func (s *source) fill(p spot, val *tree) (string, error) {
	colon, err := s.colon(p.key, p.indent, false)
	if err != nil {
		return "", err
	}
	text, at := s.text, s.nextLine(colon)
	cut := 0
	if !emptyNode(p.node) {
		end, err := s.end(p.node, p.indent, false)
		if err != nil {
			return "", err
		}
		at = s.nextLine(end)
		start := colon + 1 // with the blank before it
		if strings.TrimSpace(s.text[end:s.lineStop(end)]) == "" {
			end = s.lineStop(end)
		}
		text, cut = text[:start]+text[end:], end-start
	}
	l := s.layout()
	var b strings.Builder
	if col := p.key.Column - 1; val.kind == mapKind {
		l.block(&b, col+l.step, val)
	} else {
		l.block(&b, col+l.list, val)
	}
	t := *s
	t.text = text
	return t.insert(at-cut, b.String()), nil
}

// add writes a value below the deepest existing node.
func (s *source) add(path []spot, rest []string, val *tree) (string, error) {
	sub := nest(rest[1:], val)
	if len(path) == 0 {
		if s.root == nil || emptyNode(s.root) {
			var b strings.Builder
			s.layout().entry(&b, 0, rest[0], sub)
			return s.insert(len(s.text), b.String()), nil
		}
		path = []spot{{node: s.root, indent: -1}}
	}
	p := path[len(path)-1]
	n := p.node
	switch {
	case nullNode(n):
		return s.replaceNull(p, nest(rest, val))
	case blockCollection(n):
		end, err := s.end(n, p.indent, false)
		if err != nil {
			return "", err
		}
		var b strings.Builder
		if col := n.Column - 1; n.Kind == yaml.MappingNode {
			s.layout().entry(&b, col, rest[0], sub)
			at := s.afterComments(end, col)
			if at == len(s.text) && s.endsInBlock(n) {
				// A line break after an unfinished last line would become part
				// of that text: the new key goes first.
				first, err := s.start(n.Content[0])
				if err != nil || !s.ownLine(first) {
					return "", errSpan
				}
				at = s.lines[s.lineAt(first)]
			}
			return s.insert(at, b.String()), nil
		} else if rest[0] == "+" {
			s.layout().item(&b, col, sub)
			return s.insert(s.afterComments(end, col), b.String()), nil
		}
		return "", errSpan
	case n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode:
		return s.addFlow(p, rest, val, sub)
	}
	return "", errSpan
}

// endsInBlock reports whether the last line of the file is the unfinished one
// of a | or > text that ends n.
func (s *source) endsInBlock(n *yaml.Node) bool {
	for len(n.Content) > 0 {
		n = n.Content[len(n.Content)-1]
	}
	return n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 && !strings.HasSuffix(s.text, "\n") && !strings.HasSuffix(s.text, "\r")
}

func (s *source) replaceNull(p spot, val *tree) (string, error) {
	if p.key != nil && !p.flow {
		return s.fill(p, val)
	}
	return s.replace(p, val)
}

// afterComments is where a new line goes after an entry that ends at end:
// behind comments indented deeper than the new line, which belong to what
// stands above them.
func (s *source) afterComments(end, col int) int {
	at := s.nextLine(end)
	for i := s.lineAt(at); at < len(s.text) && i < len(s.lines); i++ {
		line := strings.TrimRight(s.lineText(i), " \t")
		if line == "" {
			continue
		}
		if in := indentOf(line); line[in] != '#' || in <= col {
			break
		}
		at = len(s.text)
		if i+1 < len(s.lines) {
			at = s.lines[i+1]
		}
	}
	return at
}

func (s *source) addFlow(p spot, rest []string, val, sub *tree) (string, error) {
	n := p.node
	if n.Kind == yaml.SequenceNode && rest[0] != "+" {
		return "", errSpan
	}
	if len(n.Content) == 0 && p.key != nil && !p.flow {
		return s.fill(p, nest(rest, val))
	}
	start, err := s.start(n)
	if err != nil {
		return "", err
	}
	end, err := s.end(n, p.indent, p.flow)
	if err != nil {
		return "", err
	}
	text := inline(sub, true, anyStyle)
	if n.Kind == yaml.MappingNode {
		text = quote(rest[0], true, anyStyle) + ": " + text
	}
	if len(n.Content) == 0 {
		open, _ := s.properties(start)
		return s.text[:open+1] + text + s.text[open+1:], nil
	}
	if s.text[end-1] != ']' && s.text[end-1] != '}' {
		return "", errSpan
	}
	at, err := s.lastEnd(n)
	if err != nil {
		return "", err
	}
	return s.text[:at] + ", " + text + s.text[at:], nil
}
