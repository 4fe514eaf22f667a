package secret

import (
	"encoding/base32"
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"
)

// disguised appends the places where s shows a secret in a form that spans
// lines or is interrupted: wrapped base64 and hex, characters with blanks
// between them, the dumps of xxd, hexdump and od, base64 of a text in which a
// secret can be recognised.
func disguised(m *matcher, s string, hits []span, shapes bool) []span {
	if m == nil && !shapes {
		return hits
	}
	if m != nil {
		if found := m.find(squeeze(s, nil), nil); len(found) > 0 {
			at := make([]int, len(s))
			squeeze(s, at)
			for _, h := range found {
				hits = append(hits, span{at[h.from], at[h.to-1] + 1, "***"})
			}
		}
	}
	if strings.Contains(s, "00000") { // an offset
		hits = dumps(m, s, hits, shapes)
	}
	if shapes {
		hits = inBase64(m, s, hits)
	}
	return hits
}

// squeeze drops blanks and line ends, also those written \n in JSON text, and
// the backslashes before quotes and the like; at, where given, receives each
// kept byte's place.
func squeeze(s string, at []int) string {
	b := make([]byte, len(s))
	n := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c <= ' ' {
			continue
		}
		if c == '\\' {
			if i+1 < len(s) && (s[i+1] == 'n' || s[i+1] == 'r' || s[i+1] == 't') {
				i++
			}
			continue
		}
		if at != nil {
			at[n] = i
		}
		b[n] = c
		n++
	}
	return string(b[:n])
}

// A dump collects the bytes that consecutive lines of a dump stand for.
type dump struct {
	bytes []byte
	lines []dumpLine
}

type dumpLine struct{ from, to, first int } // its place in the text, its first byte

// dumps finds secrets in what xxd, hexdump and od print, and masks the lines
// that show them.
func dumps(m *matcher, s string, hits []span, shapes bool) []span {
	var words, bytes dump // hexdump and od -x turn the bytes of a word round
	flush := func() {
		for _, d := range []*dump{&bytes, &words} {
			text := string(d.bytes)
			found := m.find(text, nil)
			if shapes {
				found, _ = scan(text, found)
			}
			for _, h := range found {
				for i, l := range d.lines {
					next := len(d.bytes)
					if i+1 < len(d.lines) {
						next = d.lines[i+1].first
					}
					if l.first < h.to && next > h.from {
						hits = append(hits, span{l.from, l.to, "***"})
					}
				}
			}
			d.bytes, d.lines = d.bytes[:0], d.lines[:0]
		}
	}
	for at := 0; at < len(s); {
		end, next := textLine(s, at)
		from, data, word := dumpedLine(s[at:end])
		if len(data) == 0 {
			flush()
		} else {
			bytes.lines = append(bytes.lines, dumpLine{at + from, end, len(bytes.bytes)})
			bytes.bytes = append(bytes.bytes, data...)
			if word {
				for i := 0; i+1 < len(data); i += 2 {
					data[i], data[i+1] = data[i+1], data[i]
				}
			}
			words.lines = append(words.lines, dumpLine{at + from, end, len(words.bytes)})
			words.bytes = append(words.bytes, data...)
		}
		at = next
	}
	flush()
	return hits
}

// textLine finds the end of the line at the place, in text as it is or in JSON.
// A quote ends a line too: the text of a JSON field begins there.
func textLine(s string, at int) (end, next int) {
	for i := at; i < len(s); i++ {
		switch s[i] {
		case '\n':
			return i, i + 1
		case '"':
			if i == at || s[at] < '0' || s[at] > 'f' { // not inside the text column of a dump
				return i, i + 1
			}
		case '\\':
			if i+1 < len(s) && s[i+1] == 'n' {
				return i, i + 2
			}
			i++
		}
	}
	return len(s), len(s)
}

// dumpedLine reads a line of a dump: an offset, then groups of hex digits, and
// perhaps the text. word: the groups are of two bytes, which may be swapped.
func dumpedLine(line string) (from int, data []byte, word bool) {
	i := 0
	for i < len(line) && hexDigit(line[i]) >= 0 {
		i++
	}
	if i < 6 || i > 16 || i >= len(line) {
		return 0, nil, false
	}
	word = true
	if line[i] == ':' {
		i, word = i+1, false
	}
	from = i
	for i < len(line) {
		blanks := 0
		for i < len(line) && line[i] == ' ' {
			i++
			blanks++
		}
		if blanks == 0 || blanks > 2 && len(data) > 0 || blanks == 2 && len(data) > 0 && len(data) != 8 {
			break
		}
		start := i
		for i < len(line) && hexDigit(line[i]) >= 0 {
			i++
		}
		if n := i - start; n == 0 || n%2 != 0 || i < len(line) && line[i] != ' ' {
			break
		} else if n != 4 {
			word = false
		}
		for ; start < i; start += 2 {
			data = append(data, byte(hexDigit(line[start])<<4|hexDigit(line[start+1])))
		}
	}
	return from, data, word
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

const (
	leastRun = 32      // of base64 that is worth decoding
	fullLine = 56      // a run this long may go on in the next line
	mostRun  = 1 << 20 // is decoded
)

// inBase64 decodes base64 that stands for text and looks into that.
func inBase64(m *matcher, s string, hits []span) []span {
	for i := 0; i+leastRun <= len(s); {
		j := i + leastRun - 1 // most runs are short: look from their end
		for j >= i && base64Char(s[j]) {
			j--
		}
		if j >= i {
			i = j + 1
			continue
		}
		from := i
		var run []byte
		for {
			start := i
			for i < len(s) && base64Char(s[i]) {
				i++
			}
			run = append(run, s[start:i]...)
			n := lineBreakLen(s[i:])
			if i-start < fullLine || n == 0 || i+n >= len(s) || !base64Char(s[i+n]) {
				break
			}
			i += n
		}
		if len(run) <= mostRun && shows(m, run) {
			hits = append(hits, span{from, i, "***"})
		}
	}
	return hits
}

func lineBreakLen(s string) int {
	for _, nl := range [...]string{"\n", "\r\n", `\n`, `\r\n`} {
		if strings.HasPrefix(s, nl) {
			return len(nl)
		}
	}
	return 0
}

// shows reports whether a run of base64 stands for a text with a secret in it.
func shows(m *matcher, run []byte) bool {
	for i, c := range run { // the URL's alphabet
		switch c {
		case '-':
			run[i] = '+'
		case '_':
			run[i] = '/'
		}
	}
	run = []byte(strings.TrimRight(string(run), "="))
	if len(run)%4 == 1 {
		run = run[:len(run)-1]
	}
	text := make([]byte, base64.RawStdEncoding.DecodedLen(len(run)))
	n, err := base64.RawStdEncoding.Decode(text, run)
	if err != nil || !utf8.Valid(text[:n]) || slices.Contains(text[:n], 0) {
		return false
	}
	found, _ := scan(string(text[:n]), m.find(string(text[:n]), nil))
	return len(found) > 0
}

// reversed is what rev makes of a line.
func reversed(s string) string {
	r := []rune(s)
	slices.Reverse(r)
	return string(r)
}

// rot13 is what tr a-zA-Z n-za-mN-ZA-M makes of a text.
func rot13(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return 'a' + (r-'a'+13)%26
		case r >= 'A' && r <= 'Z':
			return 'A' + (r-'A'+13)%26
		}
		return r
	}, s)
}

// escaped writes every byte as prefix and two hex digits, as %41 or \x41.
func escaped(s, prefix string) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for i := range len(s) {
		b.WriteString(prefix)
		b.WriteByte(digits[s[i]>>4])
		b.WriteByte(digits[s[i]&15])
	}
	return b.String()
}

// base32Core is base64Core for base32.
func base32Core(v string, shift int) string {
	enc := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(append(make([]byte, shift), v...))
	first := (8*shift + 4) / 5
	last := (8*shift + 8*len(v)) / 5
	return enc[first:min(last, len(enc))]
}
