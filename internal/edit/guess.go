package edit

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

const (
	sniffed   = 8000      // bytes looked at for signs of binary data
	scored    = 64 * 1024 // bytes on which encodings are compared
	plausible = 0.4       // below this score no encoding is offered
)

// guess decides on bytes without a byte order mark.
func guess(data []byte, partial bool) (Text, error) {
	body := data
	if partial {
		body = trimUTF8(data)
	}
	head := body[:min(len(body), sniffed)]
	zero := bytes.IndexByte(head, 0) >= 0
	if !zero && utf8.Valid(body) {
		if mostlyControl(head) {
			return Text{}, ErrBinary
		}
		return Text{Content: view8(body), Encoding: "utf-8"}, nil
	}
	if zero {
		if t, ok := guess16(data, partial); ok {
			return t, nil
		}
		return Text{}, ErrBinary
	}
	if mostlyControl(head) {
		return Text{}, ErrBinary
	}
	// A few stray bytes in a file that is UTF-8 everywhere else are damage,
	// not another encoding: the file stays readable and keeps them.
	if bad, good := damage(view8(body)), multibyte(body); good >= 4 && bad*10 <= good {
		return Text{Content: view8(body), Encoding: "utf-8", Guessed: true, Damaged: bad}, nil
	}
	return guessLegacy(data, partial)
}

// mostlyControl is the original's rule: more than 30 % control characters in
// the first 1000 bytes.
func mostlyControl(head []byte) bool {
	head = head[:min(len(head), 1000)]
	n := 0
	for _, c := range head {
		if c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != 0x1B || c == 0x7F {
			n++
		}
	}
	return n*10 > len(head)*3
}

func multibyte(data []byte) int {
	n := 0
	for len(data) > 0 {
		r, w := utf8.DecodeRune(data)
		if w > 1 && r != utf8.RuneError {
			n++
		}
		data = data[w:]
	}
	return n
}

// guess16 finds UTF-16 without a mark: the zero bytes of its ASCII characters
// all stand on one side, and what comes out is printable.
func guess16(data []byte, partial bool) (Text, bool) {
	var zeros [2]int
	for i, c := range data[:min(len(data), sniffed)] {
		if c == 0 {
			zeros[i%2]++
		}
	}
	name := "utf-16le"
	switch {
	case zeros[0] == 0:
	case zeros[1] == 0:
		name = "utf-16be"
	default:
		return Text{}, false
	}
	s, ok := decode16(data, order(name), partial)
	if !ok {
		return Text{}, false
	}
	for _, r := range s {
		if !unicode.IsPrint(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Cf, r) && r != 0x1B {
			return Text{}, false
		}
	}
	return Text{Content: s, Encoding: name, Guessed: true}, true
}

// guessLegacy takes the encoding in which the text looks most like text.
func guessLegacy(data []byte, partial bool) (Text, error) {
	sample := data[:min(len(data), scored)]
	if len(sample) < len(data) {
		// The cut may fall into a character: end at a line if there is one.
		if i := bytes.LastIndexByte(sample, '\n'); i > 0 {
			sample = sample[:i]
		}
	}
	cjk := cjkScores(sample)
	candidates := []struct {
		name  string
		score float64
	}{
		{"gb18030", cjk.gb},
		{"shift_jis", cjk.sjis},
		{"big5", cjk.big5},
		{"windows-1251", cyrillicScore(sample)},
		{"windows-1252", latinScore(sample)},
	}
	for range candidates {
		best := 0
		for i, c := range candidates {
			if c.score > candidates[best].score {
				best = i
			}
		}
		c := &candidates[best]
		if c.score < plausible {
			break
		}
		t, err := decodeStated(data, c.name, partial)
		if err == nil && t.Damaged == 0 && !bytes.Contains([]byte(t.Content), []byte(replacement)) {
			t.Guessed = true
			return t, nil
		}
		c.score = 0
	}
	return Text{}, &EncodingError{}
}

type cjkScore struct{ gb, sjis, big5 float64 }

// cjkScores walks the bytes once for each family. A pair of the range that
// holds a language's common characters counts full, a rare one little, and a
// byte that fits nowhere costs.
func cjkScores(data []byte) cjkScore {
	return cjkScore{
		gb: pairScore(data, func(a, b byte) float64 {
			switch {
			case b < 0x40 || b == 0x7F || a == 0x80 || a == 0xFF:
				return -1
			case b >= 0xA1 && a >= 0xB0 && a <= 0xD7:
				return 1
			case b >= 0xA1 && a >= 0xA1 && a <= 0xA3:
				return 0.8
			case b >= 0xA1 && a >= 0xD8 && a <= 0xF7:
				return 0.4
			}
			return 0.15
		}, nil),
		sjis: pairScore(data, func(a, b byte) float64 {
			switch {
			case b < 0x40 || b == 0x7F || b > 0xFC:
				return -1
			case a == 0x82 && b >= 0x9F && b <= 0xF1, a == 0x83 && b <= 0x96:
				return 1
			case a == 0x81 || a == 0x82:
				return 0.8
			case a >= 0x88 && a <= 0x97:
				return 0.8
			case a >= 0x98 && a <= 0x9F, a >= 0xE0 && a <= 0xEA:
				return 0.3
			}
			return -1
		}, func(a byte) (float64, bool) { return 0.15, a >= 0xA1 && a <= 0xDF }),
		big5: pairScore(data, func(a, b byte) float64 {
			switch {
			case b < 0x40 || b > 0x7E && b < 0xA1 || b == 0xFF:
				return -1
			case a >= 0xA4 && a <= 0xC6:
				return 0.95
			case a >= 0xA1 && a <= 0xA3:
				return 0.7
			case a >= 0xC9 && a <= 0xF9:
				return 0.3
			}
			return -1
		}, nil),
	}
}

func pairScore(data []byte, pair func(a, b byte) float64, single func(a byte) (float64, bool)) float64 {
	sum, n := 0.0, 0
	for i := 0; i < len(data); i++ {
		if data[i] < 0x80 {
			continue
		}
		n++
		if single != nil {
			if w, ok := single(data[i]); ok {
				sum += w
				continue
			}
		}
		if i+1 == len(data) {
			break
		}
		sum += pair(data[i], data[i+1])
		i++
	}
	return sum / float64(max(n, 1))
}

// cyrillicScore: letters run on, and capitals stand only at the start of a word.
func cyrillicScore(data []byte) float64 {
	sum, n := 0.0, 0
	for i, c := range data {
		if c < 0x80 {
			continue
		}
		n++
		after := i > 0 && data[i-1] >= 0xC0
		switch {
		case c >= 0xE0 || c == 0xB8:
			sum += 0.95
		case c >= 0xC0 && !after || c == 0xA8 && !after:
			sum += 0.9
		case c >= 0xC0 && data[i-1] < 0xE0:
			sum += 0.5
		case c < 0xC0 && c >= 0x84:
			sum += 0.3
		}
	}
	return sum / float64(max(n, 1))
}

// latinScore: accented letters stand alone among ASCII letters.
func latinScore(data []byte) float64 {
	sum, n := 0.0, 0
	high := func(i int) bool { return i >= 0 && i < len(data) && data[i] >= 0x80 }
	letter := func(i int) bool {
		return i >= 0 && i < len(data) && (data[i]|0x20 >= 'a' && data[i]|0x20 <= 'z')
	}
	for i, c := range data {
		if c < 0x80 {
			continue
		}
		n++
		alone := !high(i-1) && !high(i+1)
		switch {
		case c >= 0xC0 && alone && (letter(i-1) || letter(i+1)):
			sum++
		case c >= 0xC0 && alone:
			sum += 0.6
		case c < 0xC0 && alone: // quotes, dashes, signs
			sum += 0.7
		case c >= 0xC0 && (letter(i-1) || letter(i+1)):
			sum += 0.3
		}
	}
	return sum / float64(max(n, 1))
}
