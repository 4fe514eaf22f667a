package markdown

import (
	"bytes"
	"strings"

	"github.com/hermes-go/hermes/internal/cells"
)

// Stream renders an answer while it arrives. What Take returns is final; Open
// is how the rest looks so far.
type Stream struct {
	o Options

	tail    []byte // the open block, and the line that is still being written
	scanned int    // bytes of tail whose lines were looked at
	taken   int    // bytes of the source that are rendered for good

	ready   []string
	any     bool // something was rendered
	gap     bool // an empty line is due before the next block
	inItems bool // the open block began as an item of a list
	blank   bool // the line before was empty
	fence   string
	nested  bool // the fence stands inside a list
}

// NewStream returns an empty stream.
func NewStream(o Options) *Stream { return &Stream{o: o} }

// Write adds a piece of the source.
func (s *Stream) Write(piece string) {
	s.tail = append(s.tail, piece...)
	for {
		n := bytes.IndexByte(s.tail[s.scanned:], '\n')
		if n < 0 {
			return
		}
		s.line(string(s.tail[s.scanned:s.scanned+n]), n+1)
	}
}

// Resize has what comes from now on fit another width.
func (s *Stream) Resize(width int) { s.o.Width = width }

// Take returns the lines that are finished since the last call.
func (s *Stream) Take() []string {
	lines := s.ready
	s.ready = nil
	return lines
}

// Taken is how many bytes of the source are finished.
func (s *Stream) Taken() int { return s.taken }

// largest is how much of an open block is rendered again and again; more of it
// is shown as text.
const largest = 16 << 10

// Open returns the unfinished block as it looks now: its last lines, at most
// so many.
func (s *Stream) Open(most int) []string {
	rest := string(s.tail)
	var lines []string
	switch {
	case rest == "":
		return nil
	case s.fence != "" && !s.nested:
		lines = []string{s.o.codeLine(cells.Clean(rest))}
	case len(rest) > largest:
		lines = cells.Lines(cells.Clean(strings.ToValidUTF8(rest[len(rest)-largest/4:], "")), s.o.Width)
	default:
		lines = render(rest, s.o)
	}
	if s.gap && len(lines) > 0 {
		lines = append([]string{""}, lines...)
	}
	return lines[max(len(lines)-most, 0):]
}

// Close finishes what is open: the answer is complete.
func (s *Stream) Close() {
	if rest := s.tail[s.scanned:]; len(rest) > 0 {
		s.line(string(rest), len(rest))
	}
	s.cut(len(s.tail))
	s.fence, s.blank, s.inItems = "", false, false
}

// Void forgets what is open.
func (s *Stream) Void() { s.tail, s.scanned = nil, 0 }

// line looks at one more whole line of n bytes.
func (s *Stream) line(text string, n int) {
	before := s.scanned
	s.scanned += n
	bare := strings.TrimLeft(text, " ")
	left := len(text) - len(bare)
	if s.fence != "" {
		s.inFence(text, bare)
		return
	}
	empty := blank(text)
	mark := fenceOf(bare)
	m, item := markerOf(text)
	item = item && left == 0
	switch {
	case empty:
		if !s.inItems {
			s.cut(s.scanned)
		}
	case item && (s.inItems || before > 0 && m.interrupts()):
		s.cutItem(before, s.blank && s.inItems)
	case s.inItems && s.blank && left == 0:
		s.cut(before)
	case mark != "" && left < 4 && !(s.inItems && left > 0):
		s.cut(before)
	}
	if s.scanned == n { // a block begins
		s.inItems = item
	}
	switch {
	case mark != "" && (left < 4 || s.inItems):
		s.fence, s.nested = mark, s.inItems && left > 0
		if !s.nested {
			s.inItems = false
			s.open(text)
		}
	case isHeading(text):
		s.cut(s.scanned)
	}
	s.blank = empty
}

// open begins code at the margin: from here on each line is final.
func (s *Stream) open(text string) {
	s.space()
	if s.o.fenced() {
		lang, _, _ := strings.Cut(strings.TrimLeft(strings.TrimSpace(text), "`~"), " ")
		s.ready = append(s.ready, s.o.paint("```"+cells.Clean(lang), faint))
	}
	s.drop(s.scanned)
}

func (s *Stream) inFence(text, bare string) {
	ends := closes(bare, s.fence)
	if s.nested {
		if ends {
			s.fence = ""
		}
		return
	}
	if ends {
		if s.o.fenced() {
			s.ready = append(s.ready, s.o.paint("```", faint))
		}
		s.fence, s.gap, s.blank, s.any = "", true, false, true
	} else {
		s.ready = append(s.ready, s.o.codeLine(cells.Clean(strings.TrimRight(text, "\r"))))
	}
	s.drop(s.scanned)
}

// cut renders the first n bytes of the tail for good.
func (s *Stream) cut(n int) {
	if n == 0 {
		return
	}
	lines := render(string(s.tail[:n]), s.o)
	if len(lines) > 0 {
		s.space()
		s.ready = append(s.ready, lines...)
		s.gap, s.any = true, true
	}
	s.drop(n)
}

// cutItem does the same before an item of a list: items stand close together
// unless they were written apart.
func (s *Stream) cutItem(n int, apart bool) {
	list := s.inItems
	s.cut(n)
	if list {
		s.gap = apart
	}
}

func (s *Stream) space() {
	if s.gap {
		s.ready = append(s.ready, "")
	}
	s.gap = false
}

func (s *Stream) drop(n int) {
	s.tail = s.tail[n:]
	s.scanned -= n
	s.taken += n
}
