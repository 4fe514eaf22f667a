package secret

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// An assignment is one NAME=value of a .env file, with the places of its parts
// in the text, so that a change touches nothing else.
type assignment struct {
	name       string
	value      string // as written: quotes and escapes resolved, ${NAME} not
	literal    bool   // in single quotes: ${NAME} means itself
	line       int
	start, end int // the whole line or lines, line end included
	from, to   int // the value, quotes included
}

// parseEnv reads a whole .env file. It is the only reader of the syntax; the
// rules are those of python-dotenv, which wrote and read existing homes:
// single quotes know \\ and \', double quotes the usual escapes, both may span
// lines; an unquoted value ends before a # that follows white space; export is
// allowed. Lines that are neither are reported and skipped.
func parseEnv(src []byte) (all []assignment, problems []string) {
	pos, line := 0, 1
	if bytes.HasPrefix(src, []byte("\xef\xbb\xbf")) {
		pos = 3
	}
	for pos < len(src) {
		start := pos
		a, next, problem := parseLine(src, pos)
		if problem != "" {
			problems = append(problems, fmt.Sprintf("line %d: %s", line, problem))
		}
		if a.name != "" {
			a.line, a.start, a.end = line, start, next
			all = append(all, a)
		}
		line += bytes.Count(src[pos:next], []byte("\n"))
		pos = next
	}
	return all, problems
}

// lineEnd returns where the line's text ends and the next line begins.
func lineEnd(src []byte, pos int) (end, next int) {
	i := bytes.IndexAny(src[pos:], "\r\n")
	switch {
	case i < 0:
		return len(src), len(src)
	case src[pos+i] == '\r' && pos+i+1 < len(src) && src[pos+i+1] == '\n':
		return pos + i, pos + i + 2
	}
	return pos + i, pos + i + 1
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\v' || c == '\f' }

func skipBlank(src []byte, pos, end int) int {
	for pos < end && blank(src[pos]) {
		pos++
	}
	return pos
}

func parseLine(src []byte, pos int) (a assignment, next int, problem string) {
	end, next := lineEnd(src, pos)
	pos = skipBlank(src, pos, end)
	if pos == end || src[pos] == '#' {
		return a, next, ""
	}
	if rest, ok := bytes.CutPrefix(src[pos:end], []byte("export")); ok && len(rest) > 0 && blank(rest[0]) {
		pos = skipBlank(src, pos+len("export"), end)
	}
	nameAt := pos
	for pos < end && src[pos] != '=' && src[pos] != '#' && !blank(src[pos]) {
		pos++
	}
	name := string(src[nameAt:pos])
	pos = skipBlank(src, pos, end)
	if name == "" || pos == end || src[pos] != '=' {
		return a, next, "not of the form NAME=value, skipped"
	}
	pos++
	a.name = strings.Trim(name, "'\"")
	if a.name == "" {
		return a, next, "not of the form NAME=value, skipped"
	}
	equals := pos
	pos = skipBlank(src, pos, end)
	if pos < end && (src[pos] == '\'' || src[pos] == '"') {
		if value, to, ok := quoted(src, pos); ok {
			stop, after := lineEnd(src, to)
			if p := skipBlank(src, to, stop); p == stop || src[p] == '#' {
				a.value, a.literal = text(value), src[pos] == '\''
				a.from, a.to = pos, to
				return a, after, ""
			}
		}
		problem = "the quotes do not match, read as plain text"
	}
	// Without a blank before it a # belongs to the value.
	stop := end
	for i := pos; i < end; i++ {
		if src[i] == '#' && i > equals && blank(src[i-1]) {
			stop = i
			break
		}
	}
	for stop > pos && blank(src[stop-1]) {
		stop--
	}
	if stop <= pos { // nothing there: the place for a value is right after =
		pos, stop = equals, equals
	}
	a.value = text(src[pos:stop])
	a.from, a.to = pos, stop
	return a, next, problem
}

// quoted reads a quoted value at pos and returns the position after it.
func quoted(src []byte, pos int) (value []byte, to int, ok bool) {
	q := src[pos]
	for i := pos + 1; i < len(src); i++ {
		switch c := src[i]; {
		case c == q:
			return value, i + 1, true
		case c == '\\' && i+1 < len(src):
			i++
			if v, known := unescape(src[i], q); known {
				value = append(value, v)
			} else {
				value = append(value, '\\', src[i])
			}
		default:
			value = append(value, c)
		}
	}
	return nil, 0, false
}

func unescape(c, quote byte) (byte, bool) {
	switch {
	case c == '\\' || c == '\'':
		return c, true
	case quote == '\'':
		return 0, false
	}
	if i := strings.IndexByte(`"abfnrtv`, c); i >= 0 {
		return "\"\a\b\f\n\r\t\v"[i], true
	}
	return 0, false
}

// text decodes a value; a file that is not UTF-8 is taken for Latin-1.
func text(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	r := make([]rune, len(b))
	for i, c := range b {
		r[i] = rune(c)
	}
	return string(r)
}

// setEnv returns src with name set to value: the last assignment of the name is
// changed, a new one is added at the end.
func setEnv(src []byte, name, value string) ([]byte, error) {
	old, _ := parseEnv(src)
	at := -1
	for i, a := range old {
		if a.name == name {
			at = i
		}
	}
	if at >= 0 && old[at].value == value && (old[at].literal || !strings.Contains(value, "${")) {
		return src, nil
	}
	for _, form := range spellings(value) {
		var out []byte
		if at >= 0 {
			out = slices.Concat(src[:old[at].from], []byte(form), src[old[at].to:])
		} else {
			out = appendLine(src, name+"="+form)
		}
		if sameBut(old, out, name, value, at) {
			return out, nil
		}
	}
	return nil, fmt.Errorf("set %s: the lines around it cannot be changed without touching others; correct the quotes in the file first", name)
}

// spellings lists ways to write a value, plainest first: several readers of
// this file know no quotes.
func spellings(v string) []string {
	single := "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(v) + "'"
	double := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`).Replace(v) + `"`
	switch {
	case strings.Contains(v, "${"):
		return []string{single}
	case strings.Trim(v, plain) == "":
		return []string{v, single, double}
	case strings.ContainsAny(v, `'\`) && v[0] != '\'' && v[0] != '"': // the simple readers resolve no escapes
		return []string{v, double, single}
	case strings.Contains(v, "'"):
		return []string{double, single}
	}
	return []string{single, double}
}

// plain characters need quotes in no shell and in no reader.
const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@%+,=^-"

func lineBreak(src []byte) string {
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

func appendLine(src []byte, line string) []byte {
	nl := lineBreak(src)
	out := slices.Clone(src)
	if n := len(out); n > 0 && out[n-1] != '\n' && out[n-1] != '\r' && string(out) != "\xef\xbb\xbf" {
		out = append(out, nl...)
	}
	return append(out, line+nl...)
}

// unsetEnv removes every assignment of name.
func unsetEnv(src []byte, name string) ([]byte, bool, error) {
	old, _ := parseEnv(src)
	var out []byte
	last, found := 0, false
	for _, a := range old {
		if a.name == name {
			out = append(out, src[last:a.start]...)
			last, found = a.end, true
		}
	}
	if !found {
		return src, false, nil
	}
	out = append(out, src[last:]...)
	if !sameBut(slices.DeleteFunc(slices.Clone(old), func(a assignment) bool { return a.name == name }), out, "", "", -1) {
		return nil, false, fmt.Errorf("remove %s: the lines around it cannot be kept apart; correct the quotes in the file first", name)
	}
	return out, true, nil
}

// sameBut re-reads out and checks that it means what old meant except for name,
// whose assignment number at (or a new last one, for -1) now has value.
func sameBut(old []assignment, out []byte, name, value string, at int) bool {
	now, _ := parseEnv(out)
	want := slices.Clone(old)
	if name != "" && at < 0 {
		at = len(want)
		want = append(want, assignment{name: name})
	}
	if len(now) != len(want) {
		return false
	}
	for i := range want {
		if i == at {
			if now[i].name != name || now[i].value != value || (!now[i].literal && strings.Contains(value, "${")) {
				return false
			}
			continue
		}
		if now[i].name != want[i].name || now[i].value != want[i].value || now[i].literal != want[i].literal {
			return false
		}
	}
	return true
}

// resolveEnv turns the assignments into values: the last one of a name counts
// and ${NAME} means that name's value in the file, else in the process. Unset
// names stay as they stand, as in config.yaml; ${NAME:-text} is understood
// because python-dotenv does. A bare $ is a character like any other.
func resolveEnv(all []assignment, process map[string]string) map[string]string {
	last := make(map[string]assignment, len(all))
	for _, a := range all {
		last[a.name] = a
	}
	out := make(map[string]string, len(last))
	left := maxRefs
	var value func(name string, open []string) (string, bool)
	expand := func(s string, open []string) string {
		var b strings.Builder
		for {
			i := strings.Index(s, "${")
			end := -1
			if i >= 0 {
				end = strings.IndexByte(s[i:], '}')
			}
			if left--; end < 0 || left < 0 || b.Len() > maxValue {
				b.WriteString(s)
				return b.String()
			}
			name, def, hasDef := strings.Cut(s[i+2:i+end], ":-")
			b.WriteString(s[:i])
			if v, ok := value(name, open); ok && (v != "" || !hasDef) {
				b.WriteString(v)
			} else if hasDef {
				b.WriteString(def)
			} else {
				b.WriteString(s[i : i+end+1])
			}
			s = s[i+end+1:]
		}
	}
	value = func(name string, open []string) (string, bool) {
		if v, ok := out[name]; ok {
			return v, true
		}
		a, ok := last[name]
		if !ok || slices.Contains(open, name) {
			v, ok := process[name]
			return v, ok
		}
		v := a.value
		if !a.literal && strings.Contains(v, "${") {
			v = expand(v, append(open, name))
		}
		if len(open) == 0 {
			out[name] = v
		}
		return v, true
	}
	for _, name := range slices.Sorted(maps.Keys(last)) { // in order: circles must not depend on chance
		value(name, nil)
	}
	return out
}

// What references to references may grow to before the rest stays literal.
const (
	maxRefs  = 2_000
	maxValue = 64 << 10
)
