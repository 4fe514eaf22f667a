package backend

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// Screen turns what a program writes to a terminal into the text that a person
// would have read there: colours and titles are gone, lines drawn over and
// over stand once, in their last form. NUL is shown as \0, bytes that are no
// UTF-8 as U+FFFD. It holds a bounded number of lines, however long the output.
//
// Text reaches the sink in whole lines where lines are of a sane length.
type Screen struct {
	to io.Writer

	lines [][]byte // not yet out of reach; the last is the lowest
	row   int      // of the cursor in lines
	col   int      // of the cursor in characters; atEnd: after the last
	state escape
	args  []byte // of the control sequence on its way
	part  []byte // start of a character whose rest has not come
	rows  int    // how many lines stay within reach
}

// atEnd is the cursor position after the last character of a line, wherever
// that is: the usual one, for which nothing needs to be counted.
const atEnd = -1

const (
	screenRows = 48 // how far up a program may move to redraw
	longRun    = 8 << 10
	longLine   = 64 << 10 // after that many bytes a line is out of reach too
)

type escape byte

const (
	text    escape = iota
	esc            // after ESC
	csi            // ESC [ ...
	osc            // ESC ] and other strings, up to BEL or ESC \
	oscEsc         // ESC inside such a string
	charset        // ESC ( and one more byte
)

// NewScreen makes a Screen that passes what is settled to w.
func NewScreen(w io.Writer) *Screen {
	return &Screen{to: w, lines: make([][]byte, 1), col: atEnd, rows: screenRows}
}

// plain reports whether a byte is simply text or a line break.
func plain(c byte) bool { return c >= 0x20 && c != 0x7f || c == '\n' || c == '\t' }

// Write implements io.Writer; the error is the sink's.
func (s *Screen) Write(p []byte) (int, error) {
	n := len(p)
	if len(s.part) > 0 {
		p = append(s.part, p...)
		s.part = nil
	}
	if cut := partial(p); cut > 0 {
		s.part = bytes.Clone(p[len(p)-cut:])
		p = p[:len(p)-cut]
	}
	for len(p) > 0 {
		if s.state != text {
			s.control(p[0])
			p = p[1:]
			continue
		}
		end := 0
		for end < len(p) && plain(p[end]) {
			end++
		}
		if end > 0 {
			if err := s.run(p[:end]); err != nil {
				return n, err
			}
			p = p[end:]
			continue
		}
		s.single(p[0])
		p = p[1:]
	}
	return n, nil
}

// partial is the length of an unfinished character at the end of p.
func partial(p []byte) int {
	for i := 1; i <= min(3, len(p)); i++ {
		if c := p[len(p)-i]; utf8.RuneStart(c) {
			if c >= 0xC0 && !utf8.FullRune(p[len(p)-i:]) {
				return i
			}
			return 0
		}
	}
	return 0
}

// valid replaces each byte that is no UTF-8.
func valid(p []byte) []byte {
	if utf8.Valid(p) {
		return p
	}
	return []byte(string([]rune(string(p))))
}

// run takes text without controls but line breaks.
func (s *Screen) run(p []byte) error {
	p = valid(p)
	// A long run moves far more lines than are within reach: all but its end
	// can pass without being taken apart.
	if len(p) > longRun && s.col == atEnd && s.row == len(s.lines)-1 {
		if cut := bytes.LastIndexByte(p[:len(p)-longRun/2], '\n') + 1; cut > 0 {
			if err := s.settle(0); err != nil {
				return err
			}
			if err := s.send(p[:cut]); err != nil {
				return err
			}
			p = p[cut:]
		}
	}
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			return s.put(p)
		}
		if i > 0 {
			if err := s.put(p[:i]); err != nil {
				return err
			}
		}
		if err := s.newline(); err != nil {
			return err
		}
		p = p[i+1:]
	}
	return nil
}

func (s *Screen) newline() error {
	s.col = atEnd
	s.row++
	if s.row < len(s.lines) {
		s.col = 0 // moving down over lines that are there
		return nil
	}
	s.lines = append(s.lines, nil)
	if len(s.lines) > s.rows {
		return s.settle(s.rows / 2)
	}
	return nil
}

// settle sends the upper lines so that keep and the last one remain.
func (s *Screen) settle(keep int) error {
	n := len(s.lines) - 1 - keep
	if n <= 0 && keep > 0 {
		return nil
	}
	var b []byte
	for _, l := range s.lines[:max(n, 0)] {
		b = append(append(b, l...), '\n')
	}
	s.lines = append(s.lines[:0], s.lines[max(n, 0):]...)
	s.row = max(0, s.row-max(n, 0))
	if keep == 0 && len(s.lines[0]) > 0 {
		b = append(b, s.lines[0]...)
		s.lines[0] = nil
	}
	return s.send(b)
}

func (s *Screen) send(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	_, err := s.to.Write(b)
	return err
}

// put writes text of one line at the cursor.
func (s *Screen) put(p []byte) error {
	l := s.lines[s.row]
	if s.col == atEnd || s.col >= len(l) && s.col >= utf8.RuneCount(l) {
		for s.col != atEnd && s.col > utf8.RuneCount(l) {
			l = append(l, ' ')
		}
		s.lines[s.row] = append(l, p...)
		s.col = atEnd
		if len(s.lines[s.row]) > longLine && s.row == len(s.lines)-1 {
			return s.settle(0)
		}
		return nil
	}
	// Drawing over: count in characters.
	old, now := []rune(string(l)), []rune(string(p))
	end := s.col + len(now)
	if end > len(old) {
		old = old[:s.col]
		old = append(old, now...)
	} else {
		copy(old[s.col:], now)
	}
	s.lines[s.row] = []byte(string(old))
	s.col = end
	if end >= len(old) {
		s.col = atEnd
	}
	return nil
}

// single takes one control byte.
func (s *Screen) single(c byte) {
	switch c {
	case 0x1b:
		s.state = esc
	case '\r':
		s.col = 0
		if len(s.lines[s.row]) == 0 {
			s.col = atEnd
		}
	case '\b':
		if s.col == atEnd {
			s.col = utf8.RuneCount(s.lines[s.row])
		}
		s.col = max(0, s.col-1)
	case 0:
		_ = s.put([]byte(`\0`)) // within one line nothing is sent but by length; the next write tells
	}
}

// control takes a byte of a control sequence.
func (s *Screen) control(c byte) {
	switch s.state {
	case esc:
		switch c {
		case '[':
			s.state, s.args = csi, s.args[:0]
		case ']', 'P', '^', '_', 'X':
			s.state = osc
		case '(', ')', '*', '+', '#', '%', ' ':
			s.state = charset
		case 'M':
			s.row, s.state = max(0, s.row-1), text
		case 0x1b:
		default:
			s.state = text
		}
	case charset:
		s.state = text
	case osc:
		switch c {
		case 0x07:
			s.state = text
		case 0x1b:
			s.state = oscEsc
		}
	case oscEsc:
		s.state = osc
		if c == '\\' {
			s.state = text
		}
	case csi:
		switch {
		case c >= 0x40 && c <= 0x7e:
			s.state = text
			s.command(c)
		case c == 0x1b:
			s.state = esc
		case c < 0x20: // broken off: the control counts, the sequence does not
			s.state = text
			if c == '\n' {
				_ = s.newline() // as above
			} else {
				s.single(c)
			}
		case len(s.args) < 32:
			s.args = append(s.args, c)
		}
	}
}

// command carries out a control sequence that moves or erases.
func (s *Screen) command(c byte) {
	n := 0
	for _, d := range s.args {
		if d < '0' || d > '9' {
			break
		}
		n = min(n*10+int(d-'0'), 1<<16)
	}
	if len(s.args) > 0 && (s.args[0] == '?' || s.args[0] == '>') {
		return // modes
	}
	many := max(n, 1)
	here := func() int {
		if s.col == atEnd {
			return utf8.RuneCount(s.lines[s.row])
		}
		return s.col
	}
	move := func(rows int) {
		col := here()
		s.row = min(max(0, s.row+rows), len(s.lines)-1)
		s.col = col
	}
	switch c {
	case 'A':
		move(-many)
	case 'B':
		move(many)
	case 'E':
		move(many)
		s.col = 0
	case 'F':
		move(-many)
		s.col = 0
	case 'C':
		s.col = min(here()+many, 1000)
	case 'D':
		s.col = max(0, here()-many)
	case 'G', '`':
		s.col = min(many-1, 1000)
	case 'K':
		s.erase(n, here())
	case 'P': // delete characters
		if r, col := []rune(string(s.lines[s.row])), here(); col < len(r) {
			s.lines[s.row] = []byte(string(append(r[:col:col], r[min(len(r), col+many):]...)))
			s.col = col
		}
	case 'J':
		s.erase(n, here())
		if n == 0 {
			for i := s.row + 1; i < len(s.lines); i++ {
				s.lines[i] = nil
			}
			s.lines = s.lines[:s.row+1]
		}
	}
}

func (s *Screen) erase(how, col int) {
	r := []rune(string(s.lines[s.row]))
	switch {
	case how == 1:
		for i := range min(col+1, len(r)) {
			r[i] = ' '
		}
	case how == 2:
		r = r[:0]
	case col < len(r):
		r = r[:col]
	}
	s.lines[s.row] = []byte(string(r))
	s.col = col
	if col >= len(r) && how != 2 {
		s.col = atEnd
		if col > len(r) {
			s.col = col
		}
	}
}

// Pending is the text of the lines that are still within reach of a redraw.
func (s *Screen) Pending() string {
	return string(bytes.Join(s.lines, []byte("\n")))
}

// Close sends what is left.
func (s *Screen) Close() error {
	if len(s.part) > 0 {
		p := valid(s.part)
		s.part = nil
		if s.state == text {
			if err := s.put(p); err != nil {
				return err
			}
		}
	}
	s.row = len(s.lines) - 1
	return s.settle(0)
}
