package edit

import (
	"fmt"
	"strings"
)

// Names of the ways in which a hunk without old lines finds its place.
const (
	AfterHint  = "after_hint"
	LineNumber = "line_number"
	EndOfFile  = "end_of_file"
)

// placed is where a hunk goes, or why it cannot go anywhere.
type placed struct {
	status   Status
	at       int
	lines    []int // from 1
	strategy string
	message  string
}

func (p placed) describe() string {
	switch p.status {
	case StatusAmbiguous:
		return fmt.Sprintf("ambiguous: %s (%s)", p.message, listLines(p.lines, len(p.lines)))
	case StatusNoop:
		return fmt.Sprintf("noop: %s (line %d)", p.message, p.at+1)
	}
	return fmt.Sprintf("%s: %s", p.status, p.message)
}

// place finds the lines that a hunk means. drift is by how much the hunks
// before it moved what follows.
func (a *applier) place(b *buffer, h *Hunk, drift int) placed {
	o, n := h.sides()
	if len(o) == 0 {
		return b.placeAddition(h, drift)
	}
	for kind, name := range []string{keyExact: Exact, keyTrim: LineTrimmed, keySpace: WhitespaceNormal, keyPlain: UnicodeNormal} {
		kind := keyKind(kind)
		if at, ok := b.stated(h, o, kind, drift); ok {
			return placed{status: StatusOK, at: at, strategy: name}
		}
		if kind != keyExact && isBlank(strings.Join(o, "")) {
			continue
		}
		if at := b.find(o, kind, maxSpots); len(at) > 0 {
			return b.choose(h, at, len(o), drift, name)
		}
	}
	s := &search{doc: b.lines, budget: a.budget}
	defer func() { a.budget = s.budget }()
	if at, name := s.resembling(h, o); len(at) > 0 {
		return b.choose(h, at, len(o), drift, name)
	}
	if at := b.find(n, keyTrim, 1); len(at) > 0 && h.says() {
		return placed{status: StatusNoop, at: at[0], message: "already applied"}
	}
	p := placed{status: StatusNoMatch, message: "its lines are not in the file"}
	if !isBlank(o[0]) {
		if near := s.nearest(o); len(near) > 0 {
			p.message += fmt.Sprintf("; nearest is line %d", near[0].line+1)
			if d := s.firstDifference(o, near[0].line); d != "" {
				p.message += " (" + strings.ReplaceAll(d, "old_string", "the patch") + ")"
			}
		}
	}
	return p
}

// resembling runs the similarity strategies for a hunk.
func (s *search) resembling(h *Hunk, o []string) ([]int, string) {
	if len(o) < 2 || len(o) > len(s.doc.text) {
		return nil, ""
	}
	c := candidate{s: s, pat: o, keys: s.doc.hashes(keyPlain), want: s.doc.pattern(o, keyPlain), touched: make([]bool, len(o))}
	for _, op := range h.ops() {
		if op.kind == opDrop {
			c.touched[op.a] = true
		}
	}
	if at := c.anchored(); len(at) > 0 {
		return at, BlockAnchor
	}
	return c.inContext(), ContextAware
}

// stated checks the very place that the patch names.
func (b *buffer) stated(h *Hunk, o []string, kind keyKind, drift int) (int, bool) {
	if h.Line > 0 && b.standsAt(h.Line-1+drift, o, kind) {
		return h.Line - 1 + drift, true
	}
	if h.AtEnd && b.standsAt(len(b.text)-len(o), o, kind) {
		return len(b.text) - len(o), true
	}
	return 0, false
}

func (b *buffer) standsAt(at int, o []string, kind keyKind) bool {
	if at < 0 || at+len(o) > len(b.text) {
		return false
	}
	for i, l := range o {
		if keyOf(l, kind) != keyOf(b.text[at+i], kind) {
			return false
		}
	}
	return true
}

// choose picks one of several places by what the patch says about where: a
// line number, a hint, else what earlier hunks have not written.
func (b *buffer) choose(h *Hunk, at []int, k, drift int, name string) placed {
	if len(at) == 1 {
		return placed{status: StatusOK, at: at[0], strategy: name}
	}
	if h.Line > 0 {
		want := h.Line - 1 + drift
		best, tie := at[0], false
		for _, i := range at[1:] {
			di, db := abs(i-want), abs(best-want)
			if di <= db {
				tie = di == db
				best = i
			}
		}
		if !tie {
			return placed{status: StatusOK, at: best, strategy: name}
		}
	}
	if len(h.Hints) > 0 {
		if line, n := b.hint(h.Hints); n == 1 {
			for _, i := range at {
				if i >= line {
					return placed{status: StatusOK, at: i, strategy: name}
				}
			}
		}
	}
	var old []int
	for _, i := range at {
		written := false
		for j := i; j < i+k; j++ {
			written = written || b.fresh[j]
		}
		if !written {
			old = append(old, i)
		}
	}
	if len(old) == 1 {
		return placed{status: StatusOK, at: old[0], strategy: name}
	}
	p := placed{status: StatusAmbiguous, at: at[0], strategy: name, message: fmt.Sprintf("its lines stand in %d places, add context or an @@ hint", len(at))}
	for _, i := range at[:min(len(at), maxListed)] {
		p.lines = append(p.lines, i+1)
	}
	return p
}

func abs(n int) int { return max(n, -n) }

// placeAddition finds the place of a hunk that only adds.
func (b *buffer) placeAddition(h *Hunk, drift int) placed {
	switch {
	case h.Line > 0:
		return placed{status: StatusOK, at: min(max(h.Line-1+drift, 0), len(b.text)), strategy: LineNumber}
	case len(h.Hints) == 0 || h.AtEnd:
		return placed{status: StatusOK, at: len(b.text), strategy: EndOfFile}
	}
	line, n := b.hint(h.Hints)
	name := strings.Join(h.Hints, " @@ ")
	switch n {
	case 1:
		return placed{status: StatusOK, at: line + 1, strategy: AfterHint}
	case 0:
		return placed{status: StatusNoMatch, message: fmt.Sprintf("the hint %q is not in the file", name)}
	}
	p := placed{status: StatusAmbiguous, at: line, message: fmt.Sprintf("the hint %q stands in %d lines", name, n)}
	for i, l := range b.text {
		if strings.Contains(l, h.Hints[0]) && len(p.lines) < maxListed {
			p.lines = append(p.lines, i+1)
		}
	}
	return p
}

// hint finds the line that the hints lead to and in how many places the first
// stands; the others are the next of their kind below it.
func (b *buffer) hint(hints []string) (line, n int) {
	line, n = b.hintFrom(hints[0], 0)
	if n != 1 {
		return line, n
	}
	for _, h := range hints[1:] {
		next, n := b.hintFrom(h, line+1)
		if n == 0 {
			return line, 0
		}
		line = next
	}
	return line, 1
}

// hintFrom counts the lines that are the hint, else those that contain it,
// else those that do but for blanks and typography.
func (b *buffer) hintFrom(hint string, from int) (line, n int) {
	want := keyOf(hint, keyPlain)
	keys, key := b.hashes(keyPlain), b.hash(hint, keyPlain)
	tests := []func(i int) bool{
		func(i int) bool { return keys[i] == key && strings.TrimSpace(b.text[i]) == hint },
		func(i int) bool { return strings.Contains(b.text[i], hint) },
		func(i int) bool { return strings.Contains(keyOf(b.text[i], keyPlain), want) },
	}
	for _, test := range tests {
		for i := from; i < len(b.text); i++ {
			if test(i) {
				if n == 0 {
					line = i
				}
				n++
			}
		}
		if n > 0 {
			return line, n
		}
	}
	return 0, 0
}
