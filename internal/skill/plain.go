package skill

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// plainYAML reads the front matter that nearly all skills have: keys with one
// line of text, lists and mappings by indentation, short lists in brackets. A
// thousand of them are to be read in the blink of an eye, and the YAML library
// takes ten times as long. ok is false for anything else, which is then the
// library's; a fuzz test holds the two to one result.
func plainYAML(src string) (top *yaml.Node, ok bool) {
	p := plain{lines: strings.Split(strings.TrimSuffix(src, "\n"), "\n")}
	for _, row := range p.lines {
		if !printable(row) {
			return nil, false
		}
	}
	p.skip()
	top, ok = p.mapping(0, 0)
	return top, ok && p.at == len(p.lines)
}

type plain struct {
	lines []string
	at    int
}

const plainDepth = 8

// skip goes to the next line that is not blank.
func (p *plain) skip() {
	for p.at < len(p.lines) && strings.TrimLeft(p.lines[p.at], " ") == "" {
		p.at++
	}
}

func (p *plain) indent() int {
	if p.at == len(p.lines) {
		return -1
	}
	return indentOf(p.lines[p.at])
}

// mapping reads the keys at one indentation.
func (p *plain) mapping(indent, depth int) (*yaml.Node, bool) {
	m := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: p.at + 1}
	for p.indent() == indent {
		key, rest, ok := plainKey(p.lines[p.at][indent:])
		if !ok || depth > plainDepth {
			return nil, false
		}
		k := &yaml.Node{Kind: yaml.ScalarNode, Tag: tagOf(key), Value: key, Line: p.at + 1}
		p.at++
		value, ok := p.value(rest, indent, depth)
		if !ok {
			return nil, false
		}
		m.Content = append(m.Content, k, value)
	}
	return m, len(m.Content) > 0 && p.indent() < indent
}

// value is what stands behind a key: in its line, or below it.
func (p *plain) value(rest string, indent, depth int) (*yaml.Node, bool) {
	line := p.at
	p.skip()
	below := p.indent()
	if rest != "" {
		if below > indent { // the value goes on
			return nil, false
		}
		return plainValueOf(rest, line)
	}
	switch {
	case below >= indent && isItem(p.lines[p.at][below:]):
		return p.sequence(below, depth+1)
	case below > indent:
		return p.mapping(below, depth+1)
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: line}, true
}

func isItem(row string) bool { return strings.HasPrefix(row, "- ") }

// sequence reads the items at one indentation.
func (p *plain) sequence(indent, depth int) (*yaml.Node, bool) {
	s := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: p.at + 1}
	for p.indent() == indent && isItem(p.lines[p.at][indent:]) {
		rest := p.lines[p.at][indent+2:]
		if strings.HasPrefix(rest, " ") || depth > plainDepth {
			return nil, false
		}
		var item *yaml.Node
		var ok bool
		if _, _, isKey := plainKey(rest); isKey {
			p.lines[p.at] = strings.Repeat(" ", indent+2) + rest
			item, ok = p.mapping(indent+2, depth+1)
		} else {
			p.at++
			line := p.at
			p.skip()
			if p.indent() > indent {
				return nil, false
			}
			item, ok = plainValueOf(rest, line)
		}
		if !ok {
			return nil, false
		}
		s.Content = append(s.Content, item)
	}
	return s, len(s.Content) > 0
}

// plainKey takes "key: rest" apart.
func plainKey(row string) (key, rest string, ok bool) {
	n := 0
	for n < len(row) && (row[n] == '_' || row[n] == '-' && n > 0 || row[n] >= 'a' && row[n] <= 'z' || row[n] >= 'A' && row[n] <= 'Z' || row[n] >= '0' && row[n] <= '9' && n > 0) {
		n++
	}
	if n == 0 || n > 100 || n == len(row) || row[n] != ':' {
		return "", "", false
	}
	key, rest = row[:n], row[n+1:]
	if rest != "" && rest[0] != ' ' {
		return "", "", false
	}
	return key, strings.Trim(rest, " "), true
}

// plainValueOf reads text that stands in one line.
func plainValueOf(text string, line int) (*yaml.Node, bool) {
	text = strings.TrimRight(text, " ")
	if text == "" {
		return nil, false
	}
	if text[0] == '[' {
		return plainList(text, line)
	}
	return plainText(text, line, false)
}

func plainList(text string, line int) (*yaml.Node, bool) {
	inner, ok := strings.CutSuffix(text[1:], "]")
	if !ok || strings.ContainsAny(inner, "[]{}") {
		return nil, false
	}
	s := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle, Line: line}
	if strings.Trim(inner, " ") == "" {
		return s, true
	}
	for part := range strings.SplitSeq(inner, ",") {
		item, ok := plainText(strings.Trim(part, " "), line, true)
		if !ok {
			return nil, false
		}
		s.Content = append(s.Content, item)
	}
	return s, true
}

// plainText is a scalar, quoted or not. In a list its signs mean more.
func plainText(text string, line int, inList bool) (*yaml.Node, bool) {
	if text == "" {
		return nil, false
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Line: line}
	if q := text[0]; q == '"' || q == '\'' {
		if len(text) < 2 || text[len(text)-1] != q || strings.ContainsAny(text[1:len(text)-1], `\`+text[:1]) {
			return nil, false
		}
		n.Value, n.Style = text[1:len(text)-1], yaml.DoubleQuotedStyle
		if q == '\'' {
			n.Style = yaml.SingleQuotedStyle
		}
		return n, true
	}
	c := text[0]
	if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= utf8.RuneSelf || strings.IndexByte("/.($_~", c) >= 0) {
		return nil, false
	}
	if strings.Contains(text, ": ") || strings.Contains(text, " #") || text[len(text)-1] == ':' || inList && strings.ContainsAny(text, `:#"'?`) {
		return nil, false
	}
	n.Tag = tagOf(text)
	return n, true
}

// tagOf tells apart what is asked about: nothing, a truth, a text.
func tagOf(s string) string {
	switch s {
	case "~", "null", "Null", "NULL":
		return "!!null"
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return "!!bool"
	}
	return "!!str"
}

// printable says whether a line holds nothing that means more to YAML than it
// looks: tabs, control characters, line ends of Unicode.
func printable(row string) bool {
	for _, r := range row {
		switch {
		case r >= ' ' && r <= '~':
		case r < 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff, r == utf8.RuneError, r == 0xfffe, r == 0xffff:
			return false
		}
	}
	return true
}
