package markdown

import (
	"strings"

	"github.com/hermes-go/hermes/internal/cells"
)

// style is a set of marks.
type style uint8

const (
	bold style = 1 << iota
	italic
	faint
	under
	struck
	code
	heading
)

// span is text in one style.
type span struct {
	text  string
	style style
}

var codes = [...]string{"1", "3", "2", "4", "9", "36", "1;35"}

func (o Options) paint(text string, s style) string {
	if !o.Color || s == 0 || text == "" {
		return text
	}
	var b strings.Builder
	b.WriteString("\x1b[")
	for i, sep := 0, ""; i < len(codes); i++ {
		if s&(1<<i) != 0 {
			b.WriteString(sep + codes[i])
			sep = ";"
		}
	}
	b.WriteString("m" + text + "\x1b[0m")
	return b.String()
}

func (o Options) paintAll(line []span) string {
	var b strings.Builder
	for _, s := range line {
		b.WriteString(o.paint(s.text, s.style))
	}
	return b.String()
}

func plain(line []span) string {
	var b strings.Builder
	for _, s := range line {
		b.WriteString(s.text)
	}
	return b.String()
}

// wrap parts spans into lines of at most width columns.
func wrap(spans []span, width int) [][]span {
	ranges := cells.Wrap(plain(spans), width)
	lines := make([][]span, len(ranges))
	at, i := 0, 0 // where spans[i] begins in the whole text
	for n, r := range ranges {
		for i < len(spans) && at+len(spans[i].text) <= r.Start {
			at += len(spans[i].text)
			i++
		}
		for j, from := i, at; j < len(spans) && from < r.End; j++ {
			s := spans[j]
			lo, hi := max(r.Start-from, 0), min(r.End-from, len(s.text))
			if lo < hi {
				lines[n] = append(lines[n], span{s.text[lo:hi], s.style})
			}
			from += len(s.text)
		}
	}
	return lines
}
