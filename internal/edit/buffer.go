package edit

import "strings"

// buffer is a file under a patch: its lines with their ends, and which of them
// this section has written.
type buffer struct {
	*lines
	ends  []eol
	fresh []bool
	style eol
}

func newBuffer(content string) *buffer {
	v := newView(content)
	b := &buffer{style: v.style}
	text := strings.Split(v.text, "\n")
	at := 0
	for i, l := range text {
		at += len(l)
		if i < len(text)-1 {
			b.ends = append(b.ends, v.endAt(at))
			at++
		}
	}
	if last := len(text) - 1; text[last] == "" {
		text = text[:last]
	} else {
		b.ends = append(b.ends, eolNone)
	}
	b.lines = newLines(text)
	return b
}

func (b *buffer) String() string {
	n := 0
	for _, l := range b.text {
		n += len(l) + 2
	}
	var w strings.Builder
	w.Grow(n)
	for i, l := range b.text {
		w.WriteString(l)
		w.WriteString(b.ends[i].String())
	}
	return w.String()
}

// apply carries out a hunk whose old lines stand at line at. It returns by how
// many lines the file grew.
func (b *buffer) apply(h *Hunk, at int) int {
	o, n := h.sides()
	k := len(o)
	merged := merge(b.text[at:at+k], o, h.ops(), n, false)
	atEnd := at+k == len(b.text)
	openEnd := atEnd && len(b.ends) > 0 && b.ends[len(b.ends)-1] == eolNone

	was := make([]eol, k, k+1)
	for i := range was {
		was[i] = b.solid(at + i)
	}
	if k == 0 {
		was = append(was, b.beside(at))
	}
	ends := chooseEnds(merged, was)
	text, fresh := make([]string, len(merged)), make([]bool, len(merged))
	kept := make([]bool, k)
	for _, op := range h.ops() {
		if op.kind == opKeep {
			kept[op.a] = true
		}
	}
	for i, l := range merged {
		text[i] = l.text
		fresh[i] = l.from < 0 || l.from < k && !kept[l.from]
	}
	if openEnd && at > 0 && k == 0 {
		b.ends[at-1] = b.beside(at)
	}
	b.splice(at, k, text)
	b.ends = replaceRange(b.ends, at, k, ends)
	b.fresh = replaceRange(b.fresh, at, k, fresh)
	if last := len(b.ends) - 1; atEnd && last >= 0 && len(merged) > 0 {
		switch {
		case h.newCut, openEnd && !h.oldCut:
			b.ends[last] = eolNone
		case h.oldCut:
			b.ends[last] = b.solid(last)
		}
	}
	return len(merged) - k
}

// solid is a line's end, or that of its neighbours where it has none.
func (b *buffer) solid(i int) eol {
	if b.ends[i] != eolNone {
		return b.ends[i]
	}
	return b.style
}

// beside is the end for a line put in at i.
func (b *buffer) beside(i int) eol {
	switch {
	case i > 0 && b.ends[i-1] != eolNone:
		return b.ends[i-1]
	case i < len(b.ends):
		return b.solid(i)
	}
	return b.style
}
