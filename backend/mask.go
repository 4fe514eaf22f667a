package backend

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// Masker passes text on in pieces from which secrets have been taken. Pieces
// end where no secret is cut in two, as far as the mask can tell.
type Masker struct {
	To   io.Writer
	Mask func(string) string

	Changed bool // something was taken out

	buf []byte
}

// maskSize is how much text is looked at together.
const maskSize = 64 << 10

// Write takes text; it is passed on later.
func (m *Masker) Write(p []byte) (int, error) {
	m.buf = append(m.buf, p...)
	if len(m.buf) < maskSize {
		return len(p), nil
	}
	text := string(m.buf)
	whole := m.Mask(text)
	if whole == text { // nothing in it; keep a little, as the start of what may come
		cut := m.cut(len(m.buf) - maskSize/16)
		_, err := m.To.Write(m.buf[:cut])
		m.buf = append(m.buf[:0], m.buf[cut:]...)
		return len(p), err
	}
	m.Changed = true
	for _, part := range []int{15, 14, 12, 8} {
		cut := m.cut(len(m.buf) * part / 16)
		head := m.Mask(text[:cut])
		if head+m.Mask(text[cut:]) == whole {
			_, err := io.WriteString(m.To, head)
			m.buf = append(m.buf[:0], m.buf[cut:]...)
			return len(p), err
		}
	}
	_, err := io.WriteString(m.To, whole) // secrets wherever one cuts
	m.buf = m.buf[:0]
	return len(p), err
}

// cut moves a place to the end of the line before it, else to a character's
// beginning.
func (m *Masker) cut(at int) int {
	if i := bytes.LastIndexByte(m.buf[:at], '\n'); i > at/2 {
		return i + 1
	}
	for at > 0 && !utf8.RuneStart(m.buf[at]) {
		at--
	}
	return at
}

// Close passes on the rest.
func (m *Masker) Close() error {
	if len(m.buf) == 0 {
		return nil
	}
	text := string(m.buf)
	masked := m.Mask(text)
	m.Changed = m.Changed || masked != text
	m.buf = nil
	_, err := io.WriteString(m.To, masked)
	return err
}
