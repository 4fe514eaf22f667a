package edit

import (
	"sort"
	"strings"
)

// eol is how a line ends.
type eol byte

const (
	eolNone eol = iota
	eolLF
	eolCRLF
	eolCR
)

func (e eol) String() string { return [...]string{"", "\n", "\r\n", "\r"}[e] }

// view shows a text with LF line ends only and knows the way back, so that
// matching never has to think of line ends and bytes outside a change never
// pass through a conversion. A carriage return that ends no line stays in the
// text; a file that has no LF at all ends its lines with CR.
type view struct {
	raw, text string
	cut       []int // offsets in text of the LFs before which a CR was dropped
	style     eol   // of most lines
	mixed     bool
}

func newView(raw string) *view {
	v := &view{raw: raw, text: raw, style: eolLF}
	if strings.IndexByte(raw, '\r') < 0 {
		return v
	}
	lf, pairs := strings.Count(raw, "\n"), strings.Count(raw, "\r\n")
	switch {
	case lf == 0:
		v.style = eolCR
		v.text = strings.ReplaceAll(raw, "\r", "\n")
	case pairs > 0:
		v.mixed = pairs < lf
		if pairs*2 >= lf {
			v.style = eolCRLF
		}
		v.cut = make([]int, 0, pairs)
		v.text = strings.ReplaceAll(raw, "\r\n", "\n")
		for i, dropped := 0, 0; ; dropped++ {
			j := strings.Index(raw[i:], "\r\n")
			if j < 0 {
				break
			}
			i += j
			v.cut = append(v.cut, i-dropped)
			i += 2
		}
	}
	return v
}

// clean gives an argument the view's line ends.
func (v *view) clean(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if v.style == eolCR {
		s = strings.ReplaceAll(s, "\r", "\n")
	}
	return s
}

// offset maps a boundary in the view to one in the raw text; before a line
// end it is before the whole of it.
func (v *view) offset(p int) int {
	return p + sort.SearchInts(v.cut, p)
}

func (v *view) uniform() bool { return !v.mixed }

// native gives a text of the view the file's only line end.
func (v *view) native(s string) string {
	if v.style == eolLF {
		return s
	}
	return strings.ReplaceAll(s, "\n", v.style.String())
}

// count counts line ends in raw text.
func (v *view) count(raw string) int {
	if v.style == eolCR {
		return strings.Count(raw, "\r")
	}
	return strings.Count(raw, "\n")
}

// endAt is the end of the line whose LF stands at p in the view.
func (v *view) endAt(p int) eol {
	if v.style == eolCR {
		return eolCR
	}
	if i := sort.SearchInts(v.cut, p); i < len(v.cut) && v.cut[i] == p {
		return eolCRLF
	}
	return eolLF
}

// join writes merged lines with the ends of the region they replace. The last
// one gets none: its end lies outside the region.
func (v *view) join(lines []mline, r region) string {
	var b strings.Builder
	if v.uniform() {
		end := v.style.String()
		for i, l := range lines {
			if i > 0 {
				b.WriteString(end)
			}
			b.WriteString(l.text)
		}
		return b.String()
	}
	var ends []eol
	for p := r.a; p < r.b; p++ {
		j := strings.IndexByte(v.text[p:r.b], '\n')
		if j < 0 {
			break
		}
		p += j
		ends = append(ends, v.endAt(p))
	}
	// The last line of the region ends outside of it; new lines that follow
	// it take that end.
	outer := v.style
	if j := strings.IndexByte(v.text[r.b:], '\n'); j >= 0 {
		outer = v.endAt(r.b + j)
	} else if len(ends) > 0 {
		outer = ends[len(ends)-1]
	}
	chosen := chooseEnds(lines, append(ends, outer))
	for i, l := range lines {
		b.WriteString(l.text)
		if i < len(lines)-1 {
			b.WriteString(chosen[i].String())
		}
	}
	return b.String()
}

// chooseEnds gives kept and rewritten lines their own end and added ones that
// of the line before, else of the one after.
func chooseEnds(lines []mline, ends []eol) []eol {
	out := make([]eol, len(lines))
	last := ends[0]
	for i, l := range lines {
		if l.from >= 0 && l.from < len(ends) {
			last = ends[l.from]
		}
		out[i] = last
	}
	return out
}
