package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// SplitPath cuts a dotted path into keys. List elements are written a.1.b or
// a[1].b; a key that itself holds a dot is written in quotes inside brackets,
// as in providers["my.host"].api_key, or with a backslash before the dot.
func SplitPath(path string) ([]string, error) {
	bad := func(why string) ([]string, error) { return nil, fmt.Errorf("key %q: %s", path, why) }
	var keys []string
	var key strings.Builder
	open := true // a key must follow: at the start and after a dot
	flush := func() error {
		if key.Len() == 0 {
			return errors.New("empty part")
		}
		keys = append(keys, key.String())
		key.Reset()
		return nil
	}
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '\\' && i+1 < len(path) && (path[i+1] == '.' || path[i+1] == '[' || path[i+1] == '\\'):
			i++
			key.WriteByte(path[i])
			open = true
		case c == '.':
			if key.Len() > 0 || open {
				if err := flush(); err != nil {
					return bad(err.Error())
				}
			}
			open = true
		case c == '[':
			if key.Len() > 0 {
				if err := flush(); err != nil {
					return bad(err.Error())
				}
			} else if open && len(keys) > 0 {
				return bad("empty part")
			}
			inner, n, err := bracket(path[i:])
			if err != nil {
				return bad(err.Error())
			}
			keys = append(keys, inner)
			i += n - 1
			open = false
		default:
			if !open && key.Len() == 0 {
				return bad("expected . or [ after ]")
			}
			key.WriteByte(c)
		}
	}
	if key.Len() > 0 || open {
		if err := flush(); err != nil {
			return bad(err.Error())
		}
	}
	return keys, nil
}

// bracket reads [12], [+], ["a.b"] or ['a.b'] at the start of s and returns
// its content and length.
func bracket(s string) (string, int, error) {
	if len(s) > 1 && (s[1] == '"' || s[1] == '\'') {
		end := strings.IndexByte(s[2:], s[1])
		if end < 0 || 2+end+1 >= len(s) || s[2+end+1] != ']' {
			return "", 0, errors.New("unclosed [\"")
		}
		if end == 0 {
			return "", 0, errors.New("empty part")
		}
		return s[2 : 2+end], end + 4, nil
	}
	end := strings.IndexByte(s, ']')
	if end < 0 {
		return "", 0, errors.New("unclosed [")
	}
	inner := s[1:end]
	if inner != "+" {
		if _, ok := index(inner); !ok {
			return "", 0, fmt.Errorf("[%s] is no list index", inner)
		}
	}
	return inner, end + 1, nil
}

// JoinPath is the inverse of SplitPath.
func JoinPath(keys []string) string {
	var b strings.Builder
	for i, k := range keys {
		if i > 0 {
			b.WriteByte('.')
		}
		for i := range len(k) {
			if strings.IndexByte(`\.[`, k[i]) >= 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(k[i])
		}
	}
	return b.String()
}

// index reads a list index: plain decimal digits without a leading zero.
func index(s string) (int, bool) {
	if s == "" || len(s) > 9 || (len(s) > 1 && s[0] == '0') {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}
