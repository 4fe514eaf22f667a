package skill

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// maxFront bounds the front matter that is looked at.
const maxFront = 64 << 10

// parts are a SKILL.md cut into its two parts, with line feeds only.
type parts struct {
	YAML     string // the front matter, without its fences
	Body     string
	Line     int // of the first line of YAML in the file, from 1
	Whole    string
	Found    bool
	Closed   bool
	Late     bool     // other lines stand before it
	Indented bool     // the line that closes it is
	Warnings []string // with those of Odd
	Odd      []string // about the file as a whole
}

// split finds the front matter. It is as lenient as readers of such files
// have to be: a byte order mark, CRLF, blank lines and comments before the
// fence, blanks after it, a last fence without a line end.
func split(data []byte) parts {
	var t parts
	s := string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
		t.Odd = []string{"it is not valid UTF-8; the damaged characters were replaced"}
	}
	if strings.Contains(s, "\r") {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	}
	t.Body, t.Whole, t.Warnings = s, s, t.Odd
	rest, line := s, 1
	for {
		first, after, more := strings.Cut(rest, "\n")
		trimmed := strings.TrimSpace(first)
		if fence(first) && more {
			rest, line = after, line+1
			break
		}
		if !more || trimmed != "" && !strings.HasPrefix(trimmed, "<!--") && !strings.HasPrefix(trimmed, "#") {
			return t
		}
		rest, line = after, line+1
	}
	if t.Late = line > 2; t.Late {
		t.Warnings = append(t.Warnings, "lines stand before the front matter; it should be the first thing in the file")
	}
	t.Found, t.Line = true, line
	indented, after := -1, 0 // the first line that would close it, were it not indented
	for at := 0; at < len(rest) && at < maxFront; {
		end := strings.IndexByte(rest[at:], '\n')
		row, next := rest[at:], len(rest)
		if end >= 0 {
			row, next = rest[at:at+end], at+end+1
		}
		if fence(row) || strings.TrimRight(row, " \t") == "..." {
			t.YAML, t.Body, t.Closed = rest[:at], strings.TrimLeft(rest[next:], "\n"), true
			return t
		}
		if indented < 0 && strings.TrimSpace(row) == "---" {
			indented, after = at, next
		}
		at = next
	}
	if indented >= 0 {
		t.YAML, t.Body, t.Closed, t.Indented = rest[:indented], strings.TrimLeft(rest[after:], "\n"), true, true
		t.Warnings = append(t.Warnings, "the line --- after the front matter is indented")
	}
	return t
}

// fence says whether the line is --- and nothing else.
func fence(row string) bool {
	return strings.HasPrefix(row, "---") && strings.TrimRight(row[3:], " \t") == ""
}

// prose is the first line of a body that is no heading.
func prose(body string) string {
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return line
		}
	}
	return ""
}
