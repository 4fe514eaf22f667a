package edit

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

const replacement = "\uFFFD"

// Text is a decoded file. Change Content and Encode it: whatever was not
// changed comes back byte for byte, with its byte order mark and line ends.
// The zero Text is an empty UTF-8 file.
type Text struct {
	Content  string // line ends as in the file; no byte order mark
	Encoding string // canonical name; empty means utf-8
	BOM      bool
	Guessed  bool // the encoding was inferred from the bytes, not stated
	Damaged  int  // bytes that are no characters of the encoding; kept as they are

	locked error             // why it cannot be encoded, or nil
	marks  int               // genuine U+FFFD characters in the original
	odd    map[string]string // line to its bytes, where the encoder would write others
}

// Decode decides on bytes: a byte order mark, else valid UTF-8, else UTF-16
// by its zero bytes, else a guess that is marked as one. A name in enc
// overrides all of that. The data must not be changed afterwards.
//
// Errors: ErrBinary, *EncodingError.
func Decode(data []byte, enc string) (Text, error) { return decode(data, enc, false) }

// DecodePrefix is Decode for the beginning of a longer file: a character cut
// at the end of the data is left out. Such a Text cannot be encoded.
func DecodePrefix(data []byte, enc string) (Text, error) { return decode(data, enc, true) }

func decode(data []byte, enc string, partial bool) (Text, error) {
	t, err := decodeAs(data, enc, partial)
	if err != nil {
		return Text{}, err
	}
	if partial {
		t.locked = ErrPartial
	}
	t.marks = strings.Count(t.Content, replacement)
	return t, nil
}

func decodeAs(data []byte, enc string, partial bool) (Text, error) {
	if enc != "" {
		return decodeStated(data, enc, partial)
	}
	switch {
	case bytes.HasPrefix(data, utf8BOM):
		return decodeStated(data, "utf-8", partial)
	case bytes.HasPrefix(data, bomLE), bytes.HasPrefix(data, bomBE):
		t, err := decodeStated(data, "utf-16le", partial)
		if err != nil || strings.Contains(t.Content, "\x00") {
			return Text{}, ErrBinary
		}
		return t, nil
	}
	return guess(data, partial)
}

var (
	utf8BOM = []byte{0xEF, 0xBB, 0xBF}
	bomLE   = []byte{0xFF, 0xFE}
	bomBE   = []byte{0xFE, 0xFF}
)

func decodeStated(data []byte, enc string, partial bool) (Text, error) {
	name, ok := canonical(enc)
	if !ok {
		return Text{}, &EncodingError{Encoding: enc}
	}
	t := Text{Encoding: name}
	switch name {
	case "utf-8":
		data, t.BOM = bytes.CutPrefix(data, utf8BOM)
		if partial {
			data = trimUTF8(data)
		}
		t.Content = view8(data)
		t.Damaged = damage(t.Content)
		return t, nil
	case "utf-16le", "utf-16be":
		// The mark knows better than a name which end comes first.
		switch {
		case bytes.HasPrefix(data, bomLE):
			name, t.BOM = "utf-16le", true
		case bytes.HasPrefix(data, bomBE):
			name, t.BOM = "utf-16be", true
		}
		t.Encoding = name
		if t.BOM {
			data = data[2:]
		}
		content, ok := decode16(data, order(name), partial)
		if !ok {
			return Text{}, &EncodingError{Encoding: name, Known: true}
		}
		t.Content = content
		return t, nil
	}
	if err := t.decodeLegacy(data, charsetOf(name), partial); err != nil {
		return Text{}, &EncodingError{Encoding: name, Known: true}
	}
	return t, nil
}

// view8 shares the bytes instead of copying them: a 50 MB file is in memory
// once, not twice. Decode's contract forbids changing them.
func view8(data []byte) string { return unsafe.String(unsafe.SliceData(data), len(data)) }

// damage counts the bytes that are not UTF-8. They stay in the string, which
// Go allows, so that they come back as they were.
func damage(s string) int {
	if utf8.ValidString(s) {
		return 0
	}
	n := 0
	for i := 0; i < len(s); {
		r, w := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && w == 1 {
			n++
		}
		i += w
	}
	return n
}

// trimUTF8 leaves out a character cut at the end.
func trimUTF8(data []byte) []byte {
	for back := 1; back <= 3 && back <= len(data); back++ {
		c := data[len(data)-back]
		if utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(data[len(data)-back:]) {
				return data[:len(data)-back]
			}
			break
		}
	}
	return data
}

func order(name string) binary.ByteOrder {
	if name == "utf-16be" {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// decode16 refuses an odd length and lone surrogates: they would not come
// back as they were.
func decode16(data []byte, bo binary.ByteOrder, partial bool) (string, bool) {
	if len(data)%2 == 1 {
		if !partial {
			return "", false
		}
		data = data[:len(data)-1]
	}
	var b strings.Builder
	b.Grow(len(data) / 2)
	for i := 0; i < len(data); i += 2 {
		r := rune(bo.Uint16(data[i:]))
		if utf16.IsSurrogate(r) {
			if i+4 > len(data) {
				return b.String(), partial && r < 0xDC00
			}
			i += 2
			if r = utf16.DecodeRune(r, rune(bo.Uint16(data[i:]))); r == utf8.RuneError {
				return "", false
			}
		}
		b.WriteRune(r)
	}
	return b.String(), true
}

// Encode writes the content in the file's encoding. The result may share
// memory with Content: it must not be changed.
//
// Errors: *CharError for a character that the encoding cannot hold and for a
// U+FFFD that the file did not have, ErrPartial.
func (t Text) Encode() ([]byte, error) {
	if t.locked != nil {
		return nil, t.locked
	}
	name, ok := canonical(t.Encoding)
	if !ok && t.Encoding != "" {
		return nil, &EncodingError{Encoding: t.Encoding}
	}
	if t.odd == nil && strings.Count(t.Content, replacement) > t.marks {
		return nil, charError(t.Content, '\uFFFD', name)
	}
	switch name {
	case "utf-8", "":
		if t.BOM {
			return append(append(make([]byte, 0, len(t.Content)+3), utf8BOM...), t.Content...), nil
		}
		return unsafe.Slice(unsafe.StringData(t.Content), len(t.Content)), nil
	case "utf-16le", "utf-16be":
		return t.encode16(name)
	}
	return t.encodeLegacy(name)
}

func (t Text) encode16(name string) ([]byte, error) {
	bo := binary.ByteOrder(binary.LittleEndian)
	app := binary.LittleEndian.AppendUint16
	if name == "utf-16be" {
		bo, app = binary.BigEndian, binary.BigEndian.AppendUint16
	}
	out := make([]byte, 0, 2*len(t.Content)+2)
	if t.BOM {
		out = out[:2]
		bo.PutUint16(out, 0xFEFF)
	}
	for i, r := range t.Content {
		if r == utf8.RuneError && !strings.HasPrefix(t.Content[i:], replacement) {
			return nil, charError(t.Content, utf8.RuneError, name)
		}
		if r >= 0x10000 {
			a, b := utf16.EncodeRune(r)
			out = app(app(out, uint16(a)), uint16(b))
			continue
		}
		out = app(out, uint16(r))
	}
	return out, nil
}

func charError(s string, r rune, name string) error {
	if name == "" {
		name = "utf-8"
	}
	at := strings.IndexRune(s, r)
	return &CharError{Char: r, Line: 1 + strings.Count(s[:max(at, 0)], "\n"), Encoding: name}
}
