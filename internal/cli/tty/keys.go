package tty

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind is a kind of key.
type Kind int

// The kinds. Text is what was typed, Paste what was pasted at once, Control a
// letter held with Ctrl.
const (
	Text Kind = iota
	Paste
	Control
	Enter
	Tab
	Backspace
	Delete
	Escape
	Up
	Down
	Left
	Right
	Home
	End
	PageUp
	PageDown
)

// Key is one key, or some text typed in one go.
type Key struct {
	Kind             Kind
	Text             string
	Shift, Alt, Ctrl bool
}

// Decoder turns what a terminal sends into keys.
type Decoder struct {
	buf     []byte
	pasting bool
	paste   []byte
}

const pasteEnd = "\x1b[201~"

// Feed decodes some bytes. An unfinished sequence waits for more, or for Flush.
func (d *Decoder) Feed(b []byte) []Key {
	d.buf = append(d.buf, b...)
	return d.decode(false)
}

// Pending says whether something waits that a pause would make complete, such
// as a lone Escape.
func (d *Decoder) Pending() bool { return len(d.buf) > 0 && !d.pasting }

// Flush decodes what waits as it is: nothing came after it.
func (d *Decoder) Flush() []Key { return d.decode(true) }

func (d *Decoder) decode(final bool) []Key {
	var keys []Key
	for len(d.buf) > 0 {
		if d.pasting {
			if !d.takePaste(&keys) {
				return keys
			}
			continue
		}
		k, n, known := next(d.buf)
		if n == 0 {
			if !final {
				return keys
			}
			k, n, known = broken(d.buf)
		}
		if k.Kind == Paste && known {
			d.pasting = true
		} else if known {
			keys = join(keys, k)
		}
		d.buf = d.buf[n:]
	}
	d.buf = nil
	return keys
}

func (d *Decoder) takePaste(keys *[]Key) bool {
	i := bytes.Index(d.buf, []byte(pasteEnd))
	if i < 0 {
		keep := min(len(pasteEnd)-1, len(d.buf)) // its beginning may be there
		d.paste = append(d.paste, d.buf[:len(d.buf)-keep]...)
		d.buf = append([]byte(nil), d.buf[len(d.buf)-keep:]...)
		return false
	}
	text := string(append(d.paste, d.buf[:i]...))
	*keys = append(*keys, Key{Kind: Paste, Text: text})
	d.buf, d.paste, d.pasting = d.buf[i+len(pasteEnd):], nil, false
	return true
}

// join puts plain text typed in one go into one key.
func join(keys []Key, k Key) []Key {
	if n := len(keys) - 1; n >= 0 && k.Kind == Text && keys[n].Kind == Text && !k.Alt && !keys[n].Alt {
		keys[n].Text += k.Text
		return keys
	}
	return append(keys, k)
}

// next decodes one key of b. n is 0 when more bytes are needed; a sequence
// that means nothing here is not known.
func next(b []byte) (k Key, n int, known bool) {
	switch c := b[0]; {
	case c == 0x1b:
		return escaped(b)
	case c < 0x20 || c == 0x7f:
		return control(c), 1, true
	}
	if !utf8.FullRune(b) {
		return Key{}, 0, false
	}
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError && n == 1 {
		return Key{}, 1, false
	}
	return Key{Kind: Text, Text: string(b[:n])}, n, true
}

// broken is what an unfinished sequence was after all.
func broken(b []byte) (Key, int, bool) {
	if b[0] != 0x1b {
		return Key{}, 1, false
	}
	if len(b) == 2 && (b[1] == '[' || b[1] == 'O') {
		return Key{Kind: Text, Text: string(b[1:]), Alt: true}, 2, true
	}
	return Key{Kind: Escape}, 1, true
}

func control(c byte) Key {
	switch c {
	case '\r':
		return Key{Kind: Enter}
	case '\t':
		return Key{Kind: Tab}
	case 0x7f, 0x08:
		return Key{Kind: Backspace}
	case 0:
		return Key{Kind: Control, Text: " ", Ctrl: true}
	}
	return Key{Kind: Control, Text: strings.ToLower(string(rune(c + 0x40))), Ctrl: true}
}

func escaped(b []byte) (Key, int, bool) {
	if len(b) < 2 {
		return Key{}, 0, false
	}
	switch b[1] {
	case '[':
		return sequence(b)
	case 'O':
		if len(b) < 3 {
			return Key{}, 0, false
		}
		k, ok := letter(b[2])
		return Key{Kind: k}, 3, ok
	case 0x1b:
		return Key{Kind: Escape}, 1, true
	}
	k, n, known := next(b[1:])
	if n == 0 {
		return Key{}, 0, false
	}
	k.Alt = true
	return k, n + 1, known
}

// letter is the key whose sequence ends with c.
func letter(c byte) (Kind, bool) {
	switch c {
	case 'A':
		return Up, true
	case 'B':
		return Down, true
	case 'C':
		return Right, true
	case 'D':
		return Left, true
	case 'F':
		return End, true
	case 'H':
		return Home, true
	case 'M':
		return Enter, true
	}
	return Text, false
}

// number is the key of a sequence that ends with ~.
func number(n int) (Kind, bool) {
	switch n {
	case 1, 7:
		return Home, true
	case 3:
		return Delete, true
	case 4, 8:
		return End, true
	case 5:
		return PageUp, true
	case 6:
		return PageDown, true
	case 200:
		return Paste, true
	}
	return Text, false
}

const longest = 64

func sequence(b []byte) (Key, int, bool) {
	i := 2
	for i < len(b) && b[i] >= 0x20 && b[i] < 0x40 {
		i++
	}
	if i == len(b) {
		if i > longest {
			return Key{}, i, false
		}
		return Key{}, 0, false
	}
	if b[i] < 0x40 || b[i] > 0x7e {
		return Key{}, i, false // no sequence at all
	}
	var p [3]int
	for j, s := range strings.SplitN(string(b[2:i]), ";", len(p)) {
		s, _, _ = strings.Cut(s, ":")
		p[j], _ = strconv.Atoi(s) // what is no number counts as 0
	}
	k, known := Key{}, false
	switch b[i] {
	case '~':
		if p[0] == 27 { // xterm: modifier, then character
			return coded(p[2], p[1], i+1)
		}
		k.Kind, known = number(p[0])
	case 'u':
		return coded(p[0], p[1], i+1)
	case 'Z':
		return Key{Kind: Tab, Shift: true}, i + 1, true
	default:
		k.Kind, known = letter(b[i])
	}
	k.modify(p[1])
	return k, i + 1, known
}

func (k *Key) modify(m int) {
	if m > 0 {
		m--
		k.Shift, k.Alt, k.Ctrl = m&1 != 0, m&2 != 0, m&4 != 0
	}
}

// coded is a key that is sent as its character and its modifiers.
func coded(c, mod, n int) (Key, int, bool) {
	if c <= 0 || c > utf8.MaxRune {
		return Key{}, n, false
	}
	var k Key
	switch {
	case c == 27:
		k.Kind = Escape
	case c < 0x20 || c == 0x7f:
		k = control(byte(c))
	case c >= 0xe000 && c <= 0xf8ff: // keys that have no character
		return Key{}, n, false
	default:
		k = Key{Kind: Text, Text: string(rune(c))}
	}
	k.modify(mod)
	if k.Kind == Text && k.Ctrl {
		k.Kind = Control
	}
	return k, n, true
}
