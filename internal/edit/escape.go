package edit

import "strings"

// unescaped reads \n, \t and \r in the old text as what they stand for. The
// new text is read the same way when it has the same form; when it cannot be
// told whether its sequences are line breaks or part of a string, that is an
// error rather than a guess.
func (s *search) unescaped() (hit, error) {
	old := unescape(s.old)
	if old == s.old {
		return hit{}, nil
	}
	h := s.exact(old, s.new)
	if len(h.regions) == 0 || unescape(s.new) == s.new {
		return h, nil
	}
	if strings.Contains(s.new, "\n") != strings.Contains(s.old, "\n") || quoted(s.new) {
		return h, &EscapeError{Sequence: `\n`, Reason: "in new_string may mean a line break or the two characters"}
	}
	h.new = unescape(s.new)
	return h, nil
}

// unescape leaves a backslash that is itself escaped alone.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			if out, ok := map[byte]string{'n': "\n", 't': "\t", 'r': "\r", '\\': `\\`}[s[i+1]]; ok {
				b.WriteString(out)
				i++
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return strings.ReplaceAll(b.String(), "\r\n", "\n")
}

// quoted tells whether an escape sequence stands inside quotes.
func quoted(s string) bool {
	var open byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			if open != 0 && i+1 < len(s) && strings.IndexByte("ntr", s[i+1]) >= 0 {
				return true
			}
			i++
		case c == open:
			open = 0
		case open == 0 && (c == '"' || c == '\''):
			open = c
		}
	}
	return false
}

// drift refuses a match that was made by overlooking a backslash before a quote.
func (s *search) drift(h hit) error {
	for _, q := range []string{`\'`, `\"`} {
		if !strings.Contains(s.new, q) || !strings.Contains(s.old, q) {
			continue
		}
		for _, r := range h.regions {
			if !strings.Contains(s.v.text[r.a:r.b], q) {
				return &EscapeError{Sequence: q, Reason: "stands in both texts but not in the part of the file that they mean"}
			}
		}
	}
	return nil
}

// escapedOnce tells a text that only fails because its quotes carry
// backslashes from one that is not there at all.
func (s *search) escapedOnce() error {
	for _, q := range []string{`\'`, `\"`} {
		if !strings.Contains(s.new, q) || !strings.Contains(s.old, q) || strings.Contains(s.v.text, q) {
			continue
		}
		bare := strings.NewReplacer(`\'`, `'`, `\"`, `"`).Replace(s.old)
		if len(s.exact(bare, "").regions) > 0 || len(s.block(bare, "", keyPlain).regions) > 0 {
			return &EscapeError{Sequence: q, Reason: "stands in both texts but nowhere in the file"}
		}
	}
	return nil
}
