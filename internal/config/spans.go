package config

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// source is a file's text with its node tree. The library says where a node
// begins, in lines and characters; where it ends is found here.
type source struct {
	text  string
	lines []int // where each line begins
	root  *yaml.Node
	nl    string
}

var errSpan = errors.New("this part of the file is written in a way that cannot be changed by machine")

func newSource(text string) (*source, error) {
	root, err := parseNode([]byte(text))
	if err != nil {
		return nil, err
	}
	s := &source{text: text, root: root, nl: "\n", lines: []int{0}}
	for i := 0; i < len(text); {
		if n := breakLen(text[i:]); n > 0 {
			i += n
			s.lines = append(s.lines, i)
			continue
		}
		i++
	}
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		s.nl = "\r\n"
	}
	return s, nil
}

// breakLen is the length of the line break s begins with; YAML 1.1 knows more
// of them than others do.
func breakLen(s string) int {
	switch {
	case s == "":
		return 0
	case s[0] == '\n':
		return 1
	case s[0] == '\r':
		if len(s) > 1 && s[1] == '\n' {
			return 2
		}
		return 1
	case s[0] == 0xc2 && strings.HasPrefix(s, "\u0085"):
		return 2
	case s[0] == 0xe2 && (strings.HasPrefix(s, "\u2028") || strings.HasPrefix(s, "\u2029")):
		return 3
	}
	return 0
}

// start is the offset of a node, of its anchor or tag where it has one.
func (s *source) start(n *yaml.Node) (int, error) {
	if n.Line < 1 || n.Line > len(s.lines) {
		return 0, errSpan
	}
	at := s.lines[n.Line-1]
	for range n.Column - 1 {
		if at >= len(s.text) {
			return 0, errSpan
		}
		_, w := utf8.DecodeRuneInString(s.text[at:])
		at += w
	}
	return at, nil
}

// lineAt is the index of the line the offset lies in.
func (s *source) lineAt(at int) int {
	lo, hi := 0, len(s.lines)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; s.lines[mid] <= at {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// lineText returns a line without its break.
func (s *source) lineText(i int) string {
	end := len(s.text)
	if i+1 < len(s.lines) {
		end = s.lines[i+1]
	}
	t := s.text[s.lines[i]:end]
	for j := range t {
		if breakLen(t[j:]) > 0 {
			return t[:j]
		}
	}
	return t
}

// nextLine is the offset of the line after the one at lies in, or the end.
func (s *source) nextLine(at int) int {
	if i := s.lineAt(at); i+1 < len(s.lines) {
		return s.lines[i+1]
	}
	return len(s.text)
}

// lineStop is the end of the text of the line at lies in, before its break.
func (s *source) lineStop(at int) int {
	i := s.lineAt(at)
	return s.lines[i] + len(s.lineText(i))
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

func spaceOrBreak(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// end is the offset after a node's last character. indent is the column (from
// 0) of the block collection around it, -1 for none; flow says whether brackets
// are around it.
func (s *source) end(n *yaml.Node, indent int, flow bool) (int, error) {
	at, err := s.start(n)
	if err != nil {
		return 0, err
	}
	at, last := s.properties(at)
	switch n.Kind {
	case yaml.AliasNode:
		if at >= len(s.text) || s.text[at] != '*' {
			return 0, errSpan
		}
		for at < len(s.text) && !spaceOrBreak(s.text[at]) && strings.IndexByte(",]}", s.text[at]) < 0 {
			at++
		}
		return at, nil
	case yaml.ScalarNode:
		return s.scalarEnd(n, at, last, indent)
	}
	if at < len(s.text) && (s.text[at] == '[' || s.text[at] == '{') && n.Style&yaml.FlowStyle != 0 {
		return s.flowEnd(n, at)
	}
	if len(n.Content) == 0 {
		return 0, errSpan
	}
	tail := n.Content[len(n.Content)-1]
	col := n.Column - 1
	if n.Kind == yaml.MappingNode && tail.Kind == yaml.ScalarNode && tail.Value == "" {
		// Where an empty value is said to be depends on what follows.
		if e, ok := s.emptyValue(n.Content[len(n.Content)-2], tail, col, flow); ok {
			return e, nil
		}
	}
	return s.end(tail, col, flow)
}

// emptyValue is the end of "key:" without a value: right after the colon.
func (s *source) emptyValue(key, val *yaml.Node, indent int, flow bool) (int, bool) {
	if val.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) != 0 || val.Anchor != "" {
		return 0, false
	}
	colon, err := s.colon(key, indent, flow)
	if err != nil {
		if flow { // {a, b}: the key is all there is
			if e, err := s.end(key, indent, flow); err == nil {
				return e, true
			}
		}
		return 0, false
	}
	return colon + 1, true
}

// colon is the offset of the : after a key.
func (s *source) colon(key *yaml.Node, indent int, flow bool) (int, error) {
	at, err := s.end(key, indent, flow)
	if err != nil {
		return 0, err
	}
	for at < len(s.text) && (s.text[at] == ' ' || s.text[at] == '\t') {
		at++
	}
	if at >= len(s.text) || s.text[at] != ':' {
		return 0, errSpan
	}
	return at, nil
}

// properties skips anchors and tags. last is the end of the last of them, so
// that what is said about an empty value has an end too.
func (s *source) properties(at int) (next, last int) {
	last = at
	for at < len(s.text) && (s.text[at] == '&' || s.text[at] == '!') {
		for at < len(s.text) && !spaceOrBreak(s.text[at]) && strings.IndexByte(",]}", s.text[at]) < 0 {
			at++
		}
		last = at
		at = s.skipBlank(at)
	}
	return at, last
}

// skipBlank passes white space, line breaks and comments.
func (s *source) skipBlank(at int) int {
	for at < len(s.text) {
		switch {
		case spaceOrBreak(s.text[at]):
			at++
		case s.text[at] == '#' && (at == 0 || spaceOrBreak(s.text[at-1])):
			at = s.lineStop(at)
		default:
			return at
		}
	}
	return at
}

func (s *source) scalarEnd(n *yaml.Node, at, last, indent int) (int, error) {
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		for i := at + 1; i < len(s.text); i++ {
			switch s.text[i] {
			case '\\':
				i++
			case '"':
				return i + 1, nil
			}
		}
		return 0, errSpan
	case n.Style&yaml.SingleQuotedStyle != 0:
		for i := at + 1; i < len(s.text); i++ {
			if s.text[i] == '\'' {
				if i+1 < len(s.text) && s.text[i+1] == '\'' {
					i++
					continue
				}
				return i + 1, nil
			}
		}
		return 0, errSpan
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return s.blockEnd(at, indent)
	case n.Value == "":
		return last, nil
	}
	return s.plainEnd(n.Value, at)
}

// plainEnd follows a plain scalar's value through the text: line breaks in the
// text are spaces in the value, empty lines are its line breaks.
func (s *source) plainEnd(value string, at int) (int, error) {
	for i := 0; i < len(value); {
		if at >= len(s.text) {
			return 0, errSpan
		}
		breaks := 0
		to := at
		for to < len(s.text) {
			if n := breakLen(s.text[to:]); n > 0 {
				breaks++
				to += n
			} else if s.text[to] == ' ' || s.text[to] == '\t' {
				to++
			} else {
				break
			}
		}
		switch {
		case breaks == 0 && value[i] == s.text[at]:
			i++
			at++
		case breaks == 1 && value[i] == ' ':
			i++
			at = to
		case breaks > 1 && strings.HasPrefix(value[i:], strings.Repeat("\n", breaks-1)):
			i += breaks - 1
			at = to
		default:
			return 0, errSpan
		}
	}
	return at, nil
}

// blockEnd finds the end of a | or > scalar whose header is at at, before the
// last line break; with + the empty lines after it belong to it.
func (s *source) blockEnd(at, indent int) (int, error) {
	if at >= len(s.text) || (s.text[at] != '|' && s.text[at] != '>') {
		return 0, errSpan
	}
	head := s.lineAt(at)
	end := s.lineStop(at)
	header, _, _ := strings.Cut(s.text[at:end], "#")
	keep := strings.Contains(header, "+")
	content := -1
	if i := strings.IndexAny(header, "123456789"); i >= 0 {
		content = max(indent, 0) + int(header[i]-'0')
	}
	headEnd := at + len(strings.TrimRight(header, " \t"))
	for i := head + 1; i < len(s.lines); i++ {
		line := s.lineText(i)
		if strings.TrimLeft(line, " ") == "" {
			if keep && s.lines[i] < len(s.text) {
				end, headEnd = s.lines[i]+len(line), -1
			}
			continue
		}
		if content < 0 {
			content = max(indentOf(line), indent+1)
		}
		if indentOf(line) < content {
			break
		}
		end, headEnd = s.lines[i]+len(line), -1
	}
	if headEnd >= 0 { // no content at all
		return headEnd, nil
	}
	return end, nil
}

// flowEnd finds the bracket that closes the one at open.
func (s *source) flowEnd(n *yaml.Node, open int) (int, error) {
	at := open + 1
	if k := len(n.Content); k > 0 {
		var err error
		tail := n.Content[k-1]
		var ok bool
		if n.Kind == yaml.MappingNode && tail.Kind == yaml.ScalarNode && tail.Value == "" {
			at, ok = s.emptyValue(n.Content[k-2], tail, -1, true)
		}
		if !ok {
			if at, err = s.end(tail, -1, true); err != nil {
				return 0, err
			}
		}
	}
	at = s.skipBlank(at)
	if at < len(s.text) && s.text[at] == ',' {
		at = s.skipBlank(at + 1)
	}
	closing := byte(']')
	if s.text[open] == '{' {
		closing = '}'
	}
	if at >= len(s.text) || s.text[at] != closing {
		return 0, errSpan
	}
	return at + 1, nil
}

// step is how deep the file indents a map inside a map, and list how deep a
// list under its key.
func (s *source) steps() (step, list int) {
	step, list = 0, -1
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if n == nil || n.Style&yaml.FlowStyle != 0 || (step > 0 && list >= 0) {
			return
		}
		if n.Kind == yaml.MappingNode {
			for i := 1; i < len(n.Content); i += 2 {
				c := n.Content[i]
				if c.Style&yaml.FlowStyle == 0 && len(c.Content) > 0 && c.Line > n.Content[i-1].Line {
					switch d := c.Column - n.Column; {
					case c.Kind == yaml.MappingNode && step == 0 && d > 0 && d <= 8:
						step = d
					case c.Kind == yaml.SequenceNode && list < 0 && d >= 0 && d <= 8:
						list = d
					}
				}
			}
		}
		for _, c := range n.Content {
			walk(c)
		}
	}
	walk(s.root)
	if step == 0 {
		step = 2
	}
	if list < 0 {
		list = step
	}
	return step, list
}

func describe(key string, line int) error {
	return fmt.Errorf("config key %s (line %d): %w; edit the file by hand", key, line, errSpan)
}
