package wire

import (
	"encoding/json"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string. Texts are most of a request, and
// this is several times as fast as an encoder that is asked for each.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				b = append(append(b, s[from:i]...), "\uFFFD"...)
				i++
				from = i
				continue
			}
			i += n
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, s[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		from = i
	}
	return append(append(b, s[from:]...), '"')
}

// AppendField appends a string field to an object that has been begun.
func AppendField(b []byte, name, value string) []byte {
	b = AppendName(b, name)
	return AppendString(b, value)
}

// AppendRaw appends a field whose value is JSON already.
func AppendRaw(b []byte, name string, value []byte) []byte {
	return append(AppendName(b, name), value...)
}

// AppendName appends a field's name, and a comma where one is needed.
func AppendName(b []byte, name string) []byte {
	if c := b[len(b)-1]; c != '{' && c != '[' {
		b = append(b, ',')
	}
	return append(AppendString(b, name), ':')
}

// List is a JSON array of values that are JSON already.
func List(items []json.RawMessage) json.RawMessage {
	size := 2
	for _, it := range items {
		size += len(it) + 1
	}
	b := append(make([]byte, 0, size), '[')
	for i, it := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, it...)
	}
	return append(b, ']')
}

// TextPart is a part of content with a type and a text.
func TextPart(kind, text string) json.RawMessage {
	b := make([]byte, 0, len(text)+len(text)/16+32)
	b = append(b, '{')
	b = AppendField(b, "type", kind)
	b = AppendField(b, "text", text)
	return append(b, '}')
}
