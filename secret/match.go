package secret

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strings"
)

// minSecret is the shortest value that is looked for as it stands: shorter ones
// would hit ordinary words.
const minSecret = 8

// A matcher finds any of many strings in one pass (Wu-Manber): it looks at the
// last three bytes of a window of eight and mostly moves on by several bytes.
type matcher struct {
	shift  []uint8
	bucket map[uint16][]pattern
}

type pattern struct {
	text    string
	encoded bool   // the core of a base64 form: the characters around it hold bits of it too
	of      string // the value that text is the beginning or the end of
}

const (
	window = minSecret
	block  = 3
)

func blockHash(a, b, c byte) uint16 { return (uint16(a)<<8 ^ uint16(b)<<4 ^ uint16(c)) & 0x7fff }

// newMatcher builds the search for the values and their encoded forms.
func newMatcher(values []string) *matcher {
	all := map[string]pattern{} // by text; raw forms win
	for _, v := range values {
		for _, f := range forms(v) {
			if old, seen := all[f.text]; !seen || old.encoded || old.of != "" {
				all[f.text] = f
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	m := &matcher{shift: make([]uint8, 1<<15), bucket: map[uint16][]pattern{}}
	for i := range m.shift {
		m.shift[i] = window - block + 1
	}
	for text, p := range all {
		for i := 0; i+block <= window; i++ {
			h := blockHash(text[i], text[i+1], text[i+2])
			m.shift[h] = min(m.shift[h], uint8(window-block-i))
			if i == window-block {
				m.bucket[h] = append(m.bucket[h], p)
			}
		}
	}
	for _, b := range m.bucket {
		slices.SortFunc(b, func(x, y pattern) int { return len(y.text) - len(x.text) })
	}
	return m
}

// find appends the places of all values in s.
func (m *matcher) find(s string, out []span) []span {
	if m == nil {
		return out
	}
	for end := window - 1; end < len(s); {
		h := blockHash(s[end-2], s[end-1], s[end])
		if n := m.shift[h]; n > 0 {
			end += int(n)
			continue
		}
		at := end - window + 1
		for _, p := range m.bucket[h] {
			if !strings.HasPrefix(s[at:], p.text) {
				continue
			}
			hit := span{at, at + len(p.text), "***"}
			switch {
			case p.encoded:
				hit = widen(s, hit)
			case p.of != "":
				hit = whole(s, hit, p.of)
			}
			out = append(out, hit)
			break
		}
		end++
	}
	return out
}

// widen takes in up to three more characters of a base64 run on either side.
func widen(s string, h span) span {
	for n := 0; n < 3 && h.from > 0 && base64Char(s[h.from-1]); n++ {
		h.from--
	}
	for n := 0; n < 3 && h.to < len(s) && base64Char(s[h.to]); n++ {
		h.to++
	}
	return h
}

// partSize is how much of a value gives it away where texts are cut.
const partSize = 12

// parts are the beginning and the end of a value, where they look like nothing
// else.
func parts(v string) (out []string) {
	if len(v) < partSize+4 {
		return nil
	}
	for _, p := range [...]string{v[:partSize], v[len(v)-partSize:]} {
		if strings.ContainsAny(p, "0123456789") && tokenLike(p) && !strings.Contains(p, "://") {
			out = append(out, p)
		}
	}
	return out
}

// whole takes in as much of the value as stands around its beginning or end.
func whole(s string, h span, of string) span {
	if s[h.from:h.to] == of[:partSize] {
		for n := partSize; n < len(of) && h.to < len(s) && s[h.to] == of[n]; n++ {
			h.to++
		}
		return h
	}
	for n := len(of) - partSize - 1; n >= 0 && h.from > 0 && s[h.from-1] == of[n]; n-- {
		h.from--
	}
	return h
}

func base64Char(c byte) bool {
	return alnum(c) || c == '+' || c == '/' || c == '-' || c == '_' || c == '='
}

// forms lists how a value may stand in text.
func forms(v string) []pattern {
	var out []pattern
	add := func(s string, encoded bool) {
		if len(s) >= minSecret {
			out = append(out, pattern{text: s, encoded: encoded})
		}
	}
	if len(v) < minSecret {
		return nil
	}
	literal := func(s string) { // as it is and in JSON, also as disguised looks for it
		if plainText(s) {
			add(s, false)
			return
		}
		all := []string{s}
		if j, err := json.Marshal(s); err == nil { // with < > & as \u003c ...
			text := string(j[1 : len(j)-1])
			all = append(all, text, strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(text))
		}
		for _, text := range all {
			add(text, false)
			add(squeeze(text, nil), false)
		}
	}
	literal(v)
	literal(strings.TrimSpace(v))
	for _, part := range parts(v) {
		out = append(out, pattern{text: part, of: v})
	}
	literal(reversed(v))
	literal(rot13(v))
	if !plainText(v) {
		literal(html.EscapeString(v))
		literal(strings.ReplaceAll(v, "'", `'\''`)) // in a shell's quotes
	}
	for _, line := range strings.FieldsFunc(v, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if len(line) >= 16 && len(line) < len(v) && !strings.HasPrefix(line, "-----") {
			add(line, false)
		}
	}
	for _, e := range []string{url.QueryEscape(v), url.PathEscape(v)} {
		add(e, false)
		add(lowerHex(e), false)
	}
	for _, prefix := range [...]string{"", "%", `\x`} {
		e := escaped(v, prefix)
		literal(e)
		literal(upperHex(e))
	}
	for shift := range 5 {
		add(base32Core(v, shift), true)
	}
	for shift := range 3 {
		core := base64Core(v, shift)
		add(core, true)
		add(url.QueryEscape(core), true)
		add(base64Core(base64.StdEncoding.EncodeToString([]byte(v)), shift), true) // twice
		add(strings.NewReplacer("+", "-", "/", "_").Replace(core), true)
	}
	return out
}

// base64Core is the part of the base64 of any text that holds v after shift
// bytes (modulo 3) which depends on v alone.
func base64Core(v string, shift int) string {
	enc := base64.RawStdEncoding.EncodeToString(append(make([]byte, shift), v...))
	first := (8*shift + 5) / 6       // first character fully inside v
	last := (8*shift + 8*len(v)) / 6 // one past the last
	return enc[first:min(last, len(enc))]
}

// plainText reports a text that JSON, HTML and shells write as it is.
func plainText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '\'' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}

// upperHex turns \x2f into \x2F.
func upperHex(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'f' {
			r -= 'a' - 'A'
		}
		return r
	}, s)
}

// lowerHex turns %2F into %2f.
func lowerHex(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(string(b[i+1:i+3])))
		}
	}
	return string(b)
}
