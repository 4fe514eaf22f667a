package edit

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// mline is one line of a replacement. from is the matched line that it keeps
// or rewrites (its line end goes with it), -1 for an added one.
type mline struct {
	text string
	from int
}

// verbatim takes the new lines as they are; only where they came from is
// worked out, for the line ends.
func verbatim(o, n []string) []mline {
	var out []mline
	for _, g := range groups(lineOps(o, n)) {
		for i, b := range g.add {
			from := -1
			if i < len(g.drop) {
				from = g.drop[i]
			}
			out = append(out, mline{n[b], from})
		}
		if g.keep.kind == opKeep && !g.end {
			out = append(out, mline{n[g.keep.b], g.keep.a})
		}
	}
	return out
}

// group is a run of dropped and added lines and the kept line that follows;
// end marks the last group, which has none.
type group struct {
	drop, add []int
	keep      op
	end       bool
}

func groups(ops []op) []group {
	var out []group
	var g group
	for _, o := range ops {
		switch o.kind {
		case opDrop:
			g.drop = append(g.drop, o.a)
		case opAdd:
			g.add = append(g.add, o.b)
		case opKeep:
			g.keep = o
			out = append(out, g)
			g = group{}
		}
	}
	g.end = true
	return append(out, g)
}

// merge carries a change that was written against o over to the matched lines
// m (as many as o): lines that the change keeps stay as the file has them,
// changed and added ones take the file's indentation, and words that a changed
// line keeps stay in the file's typography.
func merge(m, o []string, ops []op, n []string, midLine bool) []mline {
	ind := newIndents(m, o, midLine)
	var out []mline
	for _, g := range groups(ops) {
		pairs := pairUp(g, o, n)
		for i, b := range g.add {
			if midLine && len(out) == 0 {
				// The first line begins behind text that is not matched: it
				// carries no indentation of its own.
				out = append(out, mline{firstPart(m, o, n[b]), 0})
				continue
			}
			from, near := -1, g.near(i)
			if pairs[i] >= 0 {
				from = pairs[i]
				near = from
			}
			text := ind.apply(n[b], near)
			if from >= 0 {
				text = keepTypography(m[from], o[from], text)
			}
			out = append(out, mline{text, from})
		}
		if !g.end {
			out = append(out, mline{m[g.keep.a], g.keep.a})
		}
	}
	return out
}

// near is the old line that says most about the indentation of added line i.
func (g group) near(i int) int {
	switch {
	case len(g.drop) > 0:
		return g.drop[min(i, len(g.drop)-1)]
	case !g.end:
		return g.keep.a
	}
	return 1 << 30
}

// pairUp tells which dropped line each added line rewrites, or -1.
func pairUp(g group, o, n []string) []int {
	out := make([]int, len(g.add))
	if len(g.drop) == len(g.add) {
		copy(out, g.drop)
		return out
	}
	// Unequal numbers: by shared words, in order, each looking a few lines ahead.
	next := 0
	for i, b := range g.add {
		out[i] = -1
		best, bestScore := -1, 0.5
		for j := next; j < min(next+8, len(g.drop)); j++ {
			if s := overlap(o[g.drop[j]], n[b]); s > bestScore {
				best, bestScore = j, s
			}
		}
		if best >= 0 {
			out[i] = g.drop[best]
			next = best + 1
		}
	}
	return out
}

func firstPart(m, o []string, n string) string {
	oi, ni := indentOf(o[0]), indentOf(n)
	if strings.HasPrefix(ni, oi) {
		n = indentOf(m[0]) + n[len(oi):]
	}
	return keepTypography(m[0], o[0], n)
}

// keepTypography rewrites the words and signs of n that also stand in o as
// they stand in m, the line that was matched for o. Nothing happens when m and
// o differ in more than blanks and typography.
func keepTypography(m, o, n string) string {
	mt, ot := strings.TrimSpace(m), strings.TrimSpace(o)
	if mt == ot || len(m)+len(o)+len(n) > 1<<16 {
		return n
	}
	mk, ok := tokens(mt), tokens(ot)
	if len(mk) != len(ok) {
		return n
	}
	for i := range mk {
		if mk[i].key != ok[i].key {
			return n
		}
	}
	lead := indentOf(n)
	nk := tokens(n[len(lead):])
	raw := func(t []token) []string {
		out := make([]string, len(t))
		for i := range t {
			out[i] = t[i].raw
		}
		return out
	}
	var b strings.Builder
	b.WriteString(lead)
	for _, p := range lineOps(raw(ok), raw(nk)) {
		switch p.kind {
		case opKeep:
			b.WriteString(mk[p.a].raw)
		case opAdd:
			b.WriteString(nk[p.b].raw)
		case opDrop:
		}
	}
	return b.String()
}

type token struct{ raw, key string }

// tokens cuts a line into words, runs of blanks and runs of one sign; a run
// counts as one so that a dash and the two signs typed for it are one each.
func tokens(s string) []token {
	f := foldTypography(s)
	class := func(r rune) rune {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_':
			return 'a'
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}
	var out []token
	for i := 0; i < len(f.text); {
		r, w := utf8.DecodeRuneInString(f.text[i:])
		c, j := class(r), i+w
		// Quotes and brackets come one by one: two closing ones in a row may
		// be kept and dropped apart.
		for j < len(f.text) && (c == 'a' || c == ' ' || c == '-' || c == '.') {
			r, w := utf8.DecodeRuneInString(f.text[j:])
			if class(r) != c {
				break
			}
			j += w
		}
		a, ok1 := f.start(i)
		b, ok2 := f.end(j)
		if !ok1 || !ok2 {
			return nil
		}
		t := token{raw: s[a:b], key: f.text[i:j]}
		if c == ' ' {
			t.key = " "
		}
		out = append(out, t)
		i = j
	}
	return out
}

// overlap is the share of words that two lines have in common.
func overlap(a, b string) float64 {
	count := make(map[string]int)
	total, common := 0, 0
	for i, line := range []string{a, b} {
		for _, t := range tokens(cutRunes(strings.TrimSpace(line), 400)) {
			if t.key == " " {
				continue
			}
			total++
			if i == 0 {
				count[t.key]++
			} else if count[t.key] > 0 {
				count[t.key]--
				common++
			}
		}
	}
	return 2 * float64(common) / float64(max(total, 1))
}
