package skill

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Problem says where a front matter breaks, why, and how to mend it.
type Problem struct {
	Line, Column int
	Reason       string
	Fix          string
}

func (p *Problem) Error() string {
	s := fmt.Sprintf("%d:%d %s", p.Line, p.Column, p.Reason)
	if p.Fix != "" {
		s += "; " + p.Fix
	}
	return s
}

// Front is a front matter that was understood.
type Front struct {
	top      *yaml.Node // a mapping, or nil
	Warnings []string
}

// Caps against documents made to be expensive.
const (
	maxNodes = 10_000
	maxDepth = 64
)

// readFront understands YAML, and what people write for it. Each step is tried
// only when the one before failed: the text as it stands, with tabs and curly
// quotes made plain, with plain scalars quoted, and last line by line.
func readFront(src string, first int) (*Front, *Problem) {
	if top, ok := plainYAML(src); ok {
		return newFront(top, first)
	}
	top, err := parseYAML(src)
	if err == nil {
		return newFront(top, first)
	}
	problem := problemOf(err, src, first)
	said := "it is not valid YAML (" + strconv.Itoa(problem.Line) + ":" + strconv.Itoa(problem.Column) + " " + problem.Reason + ") and was read leniently"
	plain := plainer(src)
	for _, try := range []string{plain, quoteScalars(plain, false), quoteScalars(plain, true)} {
		if top, err := parseYAML(try); err == nil {
			f, p := newFront(top, first)
			if f != nil {
				f.Warnings = append([]string{said}, f.Warnings...)
			}
			return f, p
		}
	}
	top, bad := byLine(plain, first)
	if bad != nil {
		bad.Reason = problem.Reason
		return nil, bad
	}
	f, p := newFront(top, first)
	if f != nil {
		f.Warnings = append([]string{said}, f.Warnings...)
	}
	return f, p
}

func newFront(top *yaml.Node, first int) (*Front, *Problem) {
	f := &Front{}
	if top == nil || top.Kind != yaml.MappingNode {
		if top != nil && top.Tag != "!!null" {
			f.Warnings = append(f.Warnings, "the front matter is no mapping and was ignored")
		}
		return f, nil
	}
	nodes := 0
	if why := measure(top, 0, &nodes); why != "" {
		return nil, &Problem{first, 1, why, "make it smaller"}
	}
	f.top = top
	seen := map[string]bool{}
	for i := 0; i+1 < len(top.Content); i += 2 {
		key := top.Content[i].Value
		if seen[key] {
			f.Warnings = append(f.Warnings, fmt.Sprintf("line %d: %s stands twice; the last one counts", first+top.Content[i].Line-1, key))
		}
		seen[key] = true
	}
	return f, nil
}

// measure follows aliases as often as they are used, so that a small text
// cannot stand for a huge one.
func measure(n *yaml.Node, depth int, nodes *int) string {
	if *nodes++; *nodes > maxNodes {
		return fmt.Sprintf("the front matter has more than %d parts", maxNodes)
	}
	if depth > maxDepth {
		return fmt.Sprintf("the front matter is nested deeper than %d levels", maxDepth)
	}
	if n.Kind == yaml.AliasNode {
		return measure(n.Alias, depth+1, nodes)
	}
	for _, c := range n.Content {
		if why := measure(c, depth+1, nodes); why != "" {
			return why
		}
	}
	return ""
}

func parseYAML(src string) (top *yaml.Node, err error) {
	defer func() { // the decoder is known to panic on some broken input
		if v := recover(); v != nil {
			err = fmt.Errorf("yaml: %v", v)
		}
	}()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(src), &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

var errorLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`) })

// problemOf turns the decoder's error into a place in the file and advice.
func problemOf(err error, src string, first int) *Problem {
	p := &Problem{Line: first, Column: 1, Reason: strings.TrimPrefix(err.Error(), "yaml: ")}
	if m := errorLine().FindStringSubmatch(err.Error()); m != nil {
		if n, convErr := strconv.Atoi(m[1]); convErr == nil {
			p.Line = first + n - 1
		}
		p.Reason = m[2]
	}
	lines := strings.Split(src, "\n")
	// The decoder often names the line after, or the one before: look for what
	// is really odd near it.
	for _, at := range []int{p.Line - first, p.Line - first - 1, p.Line - first + 1} {
		if at < 0 || at >= len(lines) {
			continue
		}
		if col, fix := oddity(lines[at]); fix != "" {
			p.Line, p.Column, p.Fix = first+at, col, fix
			return p
		}
	}
	if p.Fix == "" {
		p.Fix = "put values with : # or quotes in them between double quotes"
	}
	return p
}

// oddity finds what people get wrong in one line and quotes the mended line.
func oddity(row string) (col int, fix string) {
	if i := strings.IndexByte(row, '\t'); i >= 0 && strings.TrimSpace(row[:i]) == "" {
		return i + 1, "use spaces instead of the tab"
	}
	key, value, ok := keyValue(row)
	if !ok || value == "" {
		return 0, ""
	}
	col = len(row) - len(strings.TrimLeft(row[strings.IndexByte(row, ':')+1:], " ")) + 1
	switch value[0] {
	case '[':
		if strings.Count(value, "[") > strings.Count(value, "]") {
			return col, fmt.Sprintf("write: %s: %q or close the list with ]", key, strings.TrimPrefix(value, "["))
		}
	case '{':
		if strings.Count(value, "{") > strings.Count(value, "}") {
			return col, "close the mapping with }"
		}
	case '"', '\'':
		if strings.Count(value, value[:1])%2 == 1 {
			return col, "close the quote"
		}
	case '|', '>':
	default:
		if needsQuotes(value) {
			return col, fmt.Sprintf("write: %s: %s", key, strconv.Quote(value))
		}
	}
	return 0, ""
}

// keyValue cuts "  - key: value"; the key is trimmed of indentation.
func keyValue(row string) (key, value string, ok bool) {
	trimmed := strings.TrimLeft(row, " ")
	trimmed = strings.TrimPrefix(trimmed, "- ")
	key, value, ok = strings.Cut(trimmed, ":")
	if !ok || key == "" || strings.ContainsAny(key, " \t\"'[]{}#,&*!|>%@`") {
		return "", "", false
	}
	if value != "" && value[0] != ' ' && value[0] != '\t' {
		return "", "", false
	}
	return key, strings.TrimSpace(value), true
}

// needsQuotes says whether a plain scalar is none for YAML.
func needsQuotes(v string) bool {
	return strings.Contains(v, ": ") || strings.HasSuffix(v, ":") || strings.Contains(v, " #") || strings.ContainsAny(v[:1], "@`%&*!?]},") || strings.HasPrefix(v, "- ")
}

// quoted says whether a value has a form of its own, which is left alone.
func quoted(v string) bool { return strings.ContainsAny(v[:1], "\"'[{|>") }

// plainer replaces tabs in indentation and curly quotes around values.
func plainer(src string) string {
	lines := strings.Split(src, "\n")
	for i, row := range lines {
		n := len(row) - len(strings.TrimLeft(row, " \t"))
		if strings.Contains(row[:n], "\t") {
			row = strings.ReplaceAll(row[:n], "\t", "  ") + row[n:]
		}
		if key, value, ok := keyValue(row); ok {
			for _, q := range [][2]string{{"“", "”"}, {"‘", "’"}} {
				if strings.HasPrefix(value, q[0]) && strings.HasSuffix(value, q[1]) && len(value) > len(q[0]) {
					head := row[:strings.Index(row, key)+len(key)]
					row = head + ": " + strconv.Quote(value[len(q[0]):len(value)-len(q[1])])
				}
			}
		}
		lines[i] = row
	}
	return strings.Join(lines, "\n")
}

// quoteScalars puts double quotes around plain values that are no plain
// scalars for YAML. Continuation lines of a top-level value are joined to it.
// Block scalars are left alone.
func quoteScalars(src string, nested bool) string {
	lines := strings.Split(src, "\n")
	var out []string
	for i := 0; i < len(lines); i++ {
		row := lines[i]
		key, value, ok := keyValue(row)
		top := !strings.HasPrefix(row, " ") && !strings.HasPrefix(row, "- ")
		if ok && value != "" && (value[0] == '|' || value[0] == '>') {
			indent := indentOf(row)
			out = append(out, row)
			for i+1 < len(lines) && (strings.TrimSpace(lines[i+1]) == "" || indentOf(lines[i+1]) > indent) {
				i++
				out = append(out, lines[i])
			}
			continue
		}
		if !ok || value == "" || quoted(value) || !top && !nested {
			out = append(out, row)
			continue
		}
		more := false
		if top {
			for i+1 < len(lines) && strings.HasPrefix(lines[i+1], " ") && strings.TrimSpace(lines[i+1]) != "" {
				i++
				value, more = value+" "+strings.TrimSpace(lines[i]), true
			}
		}
		if more || needsQuotes(value) {
			at := strings.Index(row, key)
			row = row[:at] + key + ": " + strconv.Quote(value)
		}
		out = append(out, row)
	}
	return strings.Join(out, "\n")
}

func indentOf(row string) int { return len(row) - len(strings.TrimLeft(row, " ")) }

// byLine is the last resort: top-level "key: rest of the line", each with what
// is indented below it. A list or quote that does not close is no value; the
// skill is broken then.
func byLine(src string, first int) (*yaml.Node, *Problem) {
	top := &yaml.Node{Kind: yaml.MappingNode}
	lines := strings.Split(src, "\n")
	for i := 0; i < len(lines); {
		row, at := lines[i], i
		i++
		for i < len(lines) && (strings.TrimSpace(lines[i]) == "" || strings.HasPrefix(lines[i], " ") || strings.HasPrefix(lines[i], "- ")) {
			i++
		}
		if strings.TrimSpace(row) == "" || strings.HasPrefix(row, "#") {
			continue
		}
		key, value, ok := keyValue(row)
		if !ok {
			fix := "write every line as key: value"
			if strings.HasPrefix(row, "<<<<<<<") {
				fix = "take out the marks of the merge, from <<<<<<< to >>>>>>>"
			}
			return nil, &Problem{first + at, 1, "", fix}
		}
		block := strings.Join(lines[at:i], "\n")
		if n, err := parseYAML(block); err == nil && n != nil && n.Kind == yaml.MappingNode {
			n.Content[0].Line = at + 1
			top.Content = append(top.Content, n.Content...)
			continue
		}
		if (value == "" || quoted(value)) && matters(key) {
			col, fix := oddity(row)
			return nil, &Problem{first + at, max(col, 1), "", orElse(fix, "mend what stands below "+key)}
		}
		for _, l := range lines[at+1 : i] {
			value += " " + strings.TrimSpace(l)
		}
		top.Content = append(top.Content,
			&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key, Line: at + 1},
			&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: strings.TrimSpace(value), Line: at + 1})
	}
	if len(top.Content) == 0 {
		return nil, &Problem{first, 1, "", "write every line as key: value"}
	}
	return top, nil
}

// matters says whether a skill could be mistaken without the key.
func matters(key string) bool {
	switch key {
	case "name", "description", "platforms", "metadata", "required_environment_variables", "required_credential_files":
		return true
	}
	return false
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
