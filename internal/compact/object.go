package compact

import (
	"encoding/json"
	"strings"
)

// object holds the members of a JSON object as they are written. Outputs are
// long and only a word of each is wanted, so that nothing is decoded but what
// is shown; text that is no object has no members.
type object map[string]string

func members(s string) object {
	out := object{}
	s = strings.TrimLeft(s, " \t\r\n")
	if !strings.HasPrefix(s, "{") {
		return out
	}
	s = s[1:]
	for {
		s = strings.TrimLeft(s, " \t\r\n,")
		n := textEnd(s)
		if n < 2 {
			return out
		}
		key := s[1 : n-1]
		s = strings.TrimLeft(s[n:], " \t\r\n")
		if !strings.HasPrefix(s, ":") {
			return out
		}
		s = strings.TrimLeft(s[1:], " \t\r\n")
		n = valueEnd(s)
		if n == 0 {
			return out
		}
		out[key] = s[:n]
		s = s[n:]
	}
}

// textEnd is the length of the JSON text that s begins with; 0: none.
func textEnd(s string) int {
	if len(s) == 0 || s[0] != '"' {
		return 0
	}
	for i := 1; ; {
		k := strings.IndexByte(s[i:], '"')
		if k < 0 {
			return 0
		}
		end := i + k
		back := end
		for back > i && s[back-1] == '\\' {
			back--
		}
		if (end-back)%2 == 0 {
			return end + 1
		}
		i = end + 1
	}
}

// valueEnd is the length of the JSON value that s begins with; 0: none.
func valueEnd(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			n := textEnd(s[i:])
			if n == 0 {
				return 0
			}
			i += n - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
		if depth == 0 && (s[i] == '"' || s[i] == '}' || s[i] == ']') {
			return i + 1
		}
	}
	return 0
}

// text is a scalar member as text; null, lists and objects are "".
func (o object) text(key string) string {
	raw := strings.TrimSpace(o[key])
	switch {
	case raw == "" || raw == "null" || raw[0] == '{' || raw[0] == '[':
		return ""
	case raw[0] != '"':
		return raw
	}
	var s string
	if json.Unmarshal([]byte(raw), &s) != nil {
		return ""
	}
	return s
}

// lines counts the lines of a text member without decoding it.
func (o object) lines(key string) int {
	raw := strings.TrimSpace(o[key])
	if len(raw) < 3 || raw[0] != '"' {
		return 0
	}
	raw = strings.TrimSuffix(raw[1:len(raw)-1], `\n`)
	return strings.Count(raw, `\n`) + 1
}
