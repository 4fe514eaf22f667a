package edit

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
)

// decodeLegacy fills in the content and remembers the lines that the encoder
// would write otherwise (several codes for one character, bytes that are none).
func (t *Text) decodeLegacy(data []byte, cs encoding.Encoding, partial bool) error {
	out, err := cs.NewDecoder().Bytes(data)
	if err != nil {
		return err
	}
	if partial {
		out = bytes.TrimSuffix(out, []byte(replacement))
	}
	t.Content = view8(out)
	if partial {
		return nil
	}
	back, err := cs.NewEncoder().Bytes(out)
	if err == nil && bytes.Equal(back, data) && !strings.Contains(t.Content, replacement) {
		return nil
	}
	return t.rememberOdd(data, cs)
}

// rememberOdd goes line by line. No supported multi-byte encoding uses 0x0A
// inside a character, so lines can be cut in the bytes; an encoding for which
// a cut line decodes otherwise than the whole is refused.
func (t *Text) rememberOdd(data []byte, cs encoding.Encoding) error {
	t.odd = make(map[string]string)
	dec := cs.NewDecoder()
	done := 0
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		text, err := dec.Bytes(line)
		if err != nil {
			return err
		}
		if done > len(t.Content) || !strings.HasPrefix(t.Content[done:], string(text)) {
			return encoding.ErrInvalidUTF8
		}
		s := t.Content[done : done+len(text)]
		done += len(s) + 1
		t.Damaged += strings.Count(s, replacement)
		if bytes.Equal(text, line) {
			continue
		}
		if was, ok := t.odd[s]; ok && was != string(line) {
			t.locked = errTwins
		}
		t.odd[s] = string(line)
	}
	return nil
}

// errTwins: after an edit nobody could tell which line had which bytes.
var errTwins = errors.New("two lines read the same but differ in their bytes: the file cannot be edited without changing one of them")

func (t Text) encodeLegacy(name string) ([]byte, error) {
	enc := charsetOf(name).NewEncoder()
	if t.odd == nil {
		out, err := enc.Bytes([]byte(t.Content))
		if err != nil {
			return nil, charError(t.Content, firstBad(t.Content, enc), name)
		}
		return out, nil
	}
	out := make([]byte, 0, len(t.Content))
	line := 0
	for text := range strings.SplitSeq(t.Content, "\n") {
		if line++; line > 1 {
			out = append(out, '\n')
		}
		if raw, ok := t.odd[text]; ok {
			out = append(out, raw...)
			continue
		}
		piece, err := enc.Bytes([]byte(text))
		bad := '\uFFFD'
		if err != nil {
			bad = firstBad(text, enc)
		} else if !strings.Contains(text, replacement) {
			out = append(out, piece...)
			continue
		}
		return nil, &CharError{Char: bad, Line: line, Encoding: name}
	}
	return out, nil
}

// firstBad finds the character at which an encoder stopped.
func firstBad(s string, enc *encoding.Encoder) rune {
	for _, r := range s {
		if r < utf8.RuneSelf {
			continue
		}
		if _, err := enc.String(string(r)); err != nil {
			return r
		}
	}
	return utf8.RuneError
}
