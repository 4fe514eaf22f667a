package config

import (
	"go.yaml.in/yaml/v3"
)

// lastEnd is the end of the last element of a flow collection.
func (s *source) lastEnd(n *yaml.Node) (int, error) { return s.elementEnd(n, len(n.Content)-1) }

// elementEnd is the end of the value at Content[i] of a collection.
func (s *source) elementEnd(n *yaml.Node, i int) (int, error) {
	flow := n.Style&yaml.FlowStyle != 0
	indent := n.Column - 1
	if flow {
		indent = -1
	}
	v := n.Content[i]
	if n.Kind == yaml.MappingNode && emptyNode(v) {
		if at, ok := s.emptyValue(n.Content[i-1], v, indent, flow); ok {
			return at, nil
		}
		return 0, errSpan
	}
	return s.end(v, indent, flow)
}

// remove takes an entry or element out of its collection; a collection that
// loses its last one stays as {} or [].
func (s *source) remove(path []spot) (string, error) {
	p := path[len(path)-1]
	n := p.parent
	width := 1
	first := p.node
	if p.key != nil {
		width, first = 2, p.key
	}
	if n.Style&yaml.FlowStyle != 0 {
		return s.removeFlow(p, width)
	}
	if len(n.Content) == width && len(path) > 1 {
		hollow := newMap()
		if n.Kind == yaml.SequenceNode {
			hollow = &tree{kind: listKind}
		}
		return s.replace(path[len(path)-2], hollow)
	}
	start, err := s.start(first)
	if err != nil {
		return "", err
	}
	if p.key == nil {
		if start, err = s.dash(n, p.i); err != nil {
			return "", err
		}
	}
	end, err := s.elementEnd(n, p.i)
	if err != nil {
		return "", err
	}
	if s.ownLine(start) {
		return s.text[:s.lines[s.lineAt(start)]] + s.text[s.nextLine(end):], nil
	}
	// The first of several on the line of a dash: the second moves up.
	if p.i+1 >= len(n.Content) {
		return "", errSpan
	}
	var next int
	if p.key == nil {
		next, err = s.dash(n, p.i+1)
	} else {
		next, err = s.start(n.Content[p.i+1])
	}
	if err != nil {
		return "", err
	}
	return s.text[:start] + s.text[next:], nil
}

// dash is the offset of the - before element i of a block list.
func (s *source) dash(n *yaml.Node, i int) (int, error) {
	at, err := s.start(n)
	if err != nil {
		return 0, err
	}
	if i > 0 {
		if at, err = s.elementEnd(n, i-1); err != nil {
			return 0, err
		}
	}
	at, _ = s.properties(s.skipBlank(at))
	if at >= len(s.text) || s.text[at] != '-' {
		return 0, errSpan
	}
	return at, nil
}

func (s *source) removeFlow(p spot, width int) (string, error) {
	n := p.parent
	first := p.i - width + 1
	start, err := s.start(n.Content[first])
	if err != nil {
		return "", err
	}
	end, err := s.elementEnd(n, p.i)
	if err != nil {
		return "", err
	}
	switch {
	case first > 0: // with the comma before
		if start, err = s.elementEnd(n, first-1); err != nil {
			return "", err
		}
	case p.i+1 < len(n.Content): // with the comma after
		if end, err = s.start(n.Content[p.i+1]); err != nil {
			return "", err
		}
	default:
		if at := s.skipBlank(end); at < len(s.text) && s.text[at] == ',' {
			end = at + 1
		}
	}
	return s.text[:start] + s.text[end:], nil
}
