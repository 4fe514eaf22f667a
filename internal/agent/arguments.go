package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// RepairArguments returns the arguments of a call as a JSON object. It mends
// what is only badly written (control characters in strings, trailing commas,
// closers too many, Python's literals, half a surrogate pair) and refuses
// everything whose end is missing, even a single brace: nobody can know what
// would have come before it, and running with half an argument is worse than
// asking again.
func RepairArguments(text string) (string, error) {
	text = strings.TrimSpace(text)
	if text == "" || text == "null" || text == "None" {
		return "{}", nil
	}
	fixed, err := objectText(text)
	if err != nil {
		m := mender{in: text}
		if err := m.run(); err != nil {
			return "", err
		}
		if fixed, err = objectText(string(m.out)); err != nil {
			return "", err
		}
	}
	return pairSurrogates(fixed), nil
}

// objectText accepts an object, or JSON text that holds one.
func objectText(text string) (string, error) {
	if !json.Valid([]byte(text)) {
		var v any
		return "", fmt.Errorf("not valid JSON: %w", json.Unmarshal([]byte(text), &v))
	}
	switch text[0] {
	case '{':
		return text, nil
	case '"':
		var inner string
		if err := json.Unmarshal([]byte(text), &inner); err != nil {
			return "", err
		}
		inner = strings.TrimSpace(inner)
		if inner == "" {
			return "{}", nil
		}
		if inner[0] == '{' && json.Valid([]byte(inner)) {
			return inner, nil
		}
	}
	return "", errors.New("not a JSON object")
}

// cutOff reports whether arguments look as if their end is missing.
func cutOff(text string) bool {
	text = strings.TrimSpace(text)
	return !strings.HasSuffix(text, "}") && !strings.HasSuffix(text, "]")
}

// mender copies JSON text and corrects slips of writing on the way.
type mender struct {
	in   string
	pos  int
	out  []byte
	open []byte // closers that are due
}

var errCut = errors.New("they break off in the middle")

func (m *mender) run() error {
	for m.pos < len(m.in) {
		c := m.in[m.pos]
		var err error
		switch c {
		case '"':
			err = m.text()
		case '{', '[':
			m.open = append(m.open, c+2) // '{'+2 == '}', '['+2 == ']'
			m.put(c)
		case '}', ']':
			err = m.closer(c)
		case ' ', '\t', '\n', '\r', ',', ':':
			m.put(c)
		default:
			err = m.word()
		}
		if err != nil {
			return err
		}
	}
	if len(m.open) > 0 {
		return errCut
	}
	return nil
}

func (m *mender) closer(c byte) error {
	n := len(m.open)
	switch {
	case n == 0: // one too many, at the end
		m.pos++
	case m.open[n-1] != c:
		return fmt.Errorf("not valid JSON: %q where %q is due", c, m.open[n-1])
	default:
		m.open = m.open[:n-1]
		m.dropComma()
		m.put(c)
	}
	return nil
}

// text copies a string, escaping raw control characters.
func (m *mender) text() error {
	m.put('"')
	for m.pos < len(m.in) {
		switch c := m.in[m.pos]; {
		case c == '"':
			m.put(c)
			return nil
		case c == '\\' && m.pos+1 < len(m.in):
			m.put(c)
			m.put(m.in[m.pos])
		case c < 0x20:
			m.out = fmt.Appendf(m.out, `\u%04x`, c)
			m.pos++
		default:
			m.put(c)
		}
	}
	return errCut
}

// word copies a number or literal; Python's literals become JSON's.
func (m *mender) word() error {
	w := m.in[m.pos:]
	if i := strings.IndexAny(w, " \t\n\r,:{}[]\""); i >= 0 {
		w = w[:i]
	}
	m.pos += len(w)
	switch w {
	case "True":
		w = "true"
	case "False":
		w = "false"
	case "None":
		w = "null"
	}
	if !json.Valid([]byte(w)) {
		return fmt.Errorf("not valid JSON: unexpected %.40q", w)
	}
	m.out = append(m.out, w...)
	return nil
}

// dropComma takes back a comma with nothing after it.
func (m *mender) dropComma() {
	kept := bytes.TrimRight(m.out, " \t\r\n")
	if bytes.HasSuffix(kept, []byte(",")) {
		m.out = kept[:len(kept)-1]
	}
}

// put copies the byte at the current place.
func (m *mender) put(c byte) {
	m.out = append(m.out, c)
	m.pos++
}

// pairSurrogates replaces escapes of half a UTF-16 pair in JSON text: Go reads
// them, but services whose parser is strict refuse the whole request.
func pairSurrogates(s string) string {
	var out strings.Builder
	copied := 0
	for i := strings.IndexByte(s, '\\'); i >= 0 && i < len(s); {
		if s[i] != '\\' {
			i++
			continue
		}
		switch r := unicodeEscape(s, i); {
		case r < 0:
			i += len(`\n`)
		case !utf16.IsSurrogate(r):
			i += len(`\u0000`)
		case utf16.DecodeRune(r, unicodeEscape(s, i+len(`\u0000`))) != unicode.ReplacementChar:
			i += len(`\u0000\u0000`)
		default:
			out.WriteString(s[copied:i])
			out.WriteString(`\ufffd`)
			i += len(`\u0000`)
			copied = i
		}
	}
	if copied == 0 {
		return s
	}
	out.WriteString(s[copied:])
	return out.String()
}

// unicodeEscape reads the \uXXXX at i; -1 when there is none.
func unicodeEscape(s string, i int) rune {
	if i+6 > len(s) || s[i] != '\\' || s[i+1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(s[i+2:i+6], 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}
