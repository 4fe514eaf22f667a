// Package cells measures and cuts text by the columns it takes on a terminal:
// graphemes, wide characters, emoji. It also takes out of text what would
// command the terminal instead of being shown. It knows no colours and no
// Markdown, and it writes nothing.
package cells

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Width is how many columns text takes.
func Width(text string) int { return displaywidth.String(text) }

// Graphemes yields the characters a person sees, each with its width. A line
// break is one of width 0.
func Graphemes(text string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		g := displaywidth.StringGraphemes(text)
		for g.Next() {
			if !yield(g.Value(), g.Width()) {
				return
			}
		}
	}
}

// Cut shortens text to at most width columns; what is cut leaves an ellipsis.
func Cut(text string, width int) string {
	if Width(text) <= width {
		return text
	}
	if width <= 0 {
		return ""
	}
	return displaywidth.TruncateString(text, width, "…")
}

// Range is a piece of a text by its bytes.
type Range struct{ Start, End int }

// Wrap parts text into lines of at most width columns, at spaces where it can
// and between wide characters; a word that is too long is cut. Spaces at a
// break belong to no line. A width below 1 keeps the lines there are.
func Wrap(text string, width int) []Range {
	w := wrapper{text: text, width: width}
	at := 0
	for g, n := range Graphemes(text) {
		w.add(at, g, n)
		at += len(g)
	}
	return append(w.lines, Range{w.start, max(w.solid, w.start)})
}

type wrapper struct {
	text  string
	width int
	lines []Range

	start int // of the line
	solid int // end of what is no space in it
	used  int // columns
	next  int // where the next line may start; 0: nowhere yet
	stop  int // where this line ends then
	wide  bool
}

// Characters that begin no line, and such that end none.
const (
	noStart = "、。，．！？：；）」』】〉》〕｝ー…!?,.:;)]}'\"’”"
	noEnd   = "（「『【〈《〔｛([{‘“"
)

func (w *wrapper) add(at int, g string, n int) {
	switch {
	case g == "\n" || g == "\r\n":
		w.lines = append(w.lines, Range{w.start, max(w.solid, w.start)})
		w.begin(at + len(g))
		return
	case g == " " || g == "\t":
		w.used += n
		w.next, w.stop, w.wide = at+len(g), w.solid, false
		return
	}
	if (n > 1 || w.wide) && at > w.start && at == w.solid && !strings.Contains(noStart, g) && !strings.HasSuffix(w.text[:at], lastOf(noEnd, w.text[:at])) {
		w.next, w.stop = at, w.solid
	}
	if w.width > 0 && w.used+n > w.width && at > w.start {
		if w.next > w.start {
			w.lines = append(w.lines, Range{w.start, max(w.stop, w.start)})
			w.begin(w.next)
			w.used = Width(w.text[w.start:at])
		}
		if w.used+n > w.width && at > w.start {
			w.lines = append(w.lines, Range{w.start, at})
			w.begin(at)
		}
	}
	w.used += n
	w.solid, w.wide = at+len(g), n > 1
}

func (w *wrapper) begin(at int) {
	w.start, w.solid, w.used, w.next, w.wide = at, at, 0, 0, false
}

// lastOf is the last character of text when set holds it, and otherwise
// something text does not end with.
func lastOf(set, text string) string {
	r, _ := utf8.DecodeLastRuneInString(text)
	if strings.ContainsRune(set, r) {
		return string(r)
	}
	return "\x00"
}

// Lines wraps text and returns its lines.
func Lines(text string, width int) []string {
	ranges := Wrap(text, width)
	out := make([]string, len(ranges))
	for i, r := range ranges {
		out[i] = text[r.Start:r.End]
	}
	return out
}

// Clean takes out of text what a terminal would obey: escape sequences,
// control characters and marks that turn the direction of what follows. Line
// breaks stay, a tab becomes spaces.
func Clean(text string) string {
	if !dirty(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == 0x1b:
			n = escape(text[i:])
		case r == 0x9b:
			n += control(text[i+n:])
		case r == '\t':
			b.WriteString("    ")
		case r == '\n':
			b.WriteByte('\n')
		case r == utf8.RuneError && n == 1:
			b.WriteRune(utf8.RuneError)
		case unicode.IsControl(r), turns(r):
		default:
			b.WriteString(text[i : i+n])
		}
		i += n
	}
	return b.String()
}

func dirty(text string) bool {
	for i, r := range text {
		if r < ' ' && r != '\n' || r >= 0x7f && (r < 0xa0 || turns(r) || r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD")) {
			return true
		}
	}
	return false
}

// turns are marks that change the direction of the text after them.
func turns(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }

// escape is the length of the sequence at the start of text.
func escape(text string) int {
	if len(text) < 2 {
		return len(text)
	}
	switch text[1] {
	case '[':
		return 2 + control(text[2:])
	case ']', 'P', '_', '^', 'X': // until BEL or ST
		for i := 2; i < len(text); i++ {
			if text[i] == 7 {
				return i + 1
			}
			if text[i] == 0x1b {
				return min(i+2, len(text))
			}
		}
		return len(text)
	case '\n':
		return 1
	}
	_, n := utf8.DecodeRuneInString(text[1:])
	return 1 + n
}

// control is the length of a control sequence after its introducer.
func control(text string) int {
	for i := range len(text) {
		if c := text[i]; c >= 0x40 && c <= 0x7e {
			return i + 1
		} else if c < 0x20 || c > 0x7e {
			return i
		}
	}
	return len(text)
}
