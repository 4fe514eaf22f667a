package store

import "strings"

const snippetTokens = 40

// snippet cuts the stretch of text with the most different matches out and
// marks them with >>> and <<<. A letter of a script without spaces counts as a
// token of its own.
func (d *doc) snippet(e expr) string {
	d.prepare()
	type match struct {
		span
		term int
	}
	var found []match
	for _, g := range e {
		for k, t := range g.must {
			n := 0
			d.find(t, func(s span) bool {
				found = append(found, match{s, k})
				n++
				return n < 50
			})
		}
	}
	toks := d.tokens()
	if len(toks) == 0 {
		return clip(d.text, previewLen)
	}
	best, bestScore := 0, -1
	for _, m := range found {
		from := max(tokenAt(toks, m.start)-snippetTokens/4, 0)
		lo, hi := toks[from].start, toks[min(from+snippetTokens, len(toks))-1].end
		score, seen := 0, map[int]bool{}
		for _, o := range found {
			if o.start >= lo && o.end <= hi {
				score++
				if !seen[o.term] {
					seen[o.term] = true
					score += 100
				}
			}
		}
		if score > bestScore {
			best, bestScore = from, score
		}
	}
	last := min(best+snippetTokens, len(toks)) - 1
	lo, hi := toks[best].start, toks[last].end
	if best == 0 {
		lo = 0
	}
	if last == len(toks)-1 {
		hi = int32(len(d.folded))
	}
	hit := make([]bool, hi-lo)
	for _, m := range found {
		for i := max(m.start, lo); i < min(m.end, hi); i++ {
			hit[i-lo] = true
		}
	}
	var b strings.Builder
	if best > 0 {
		b.WriteString("...")
	}
	for i := lo; i < hi; {
		j := i + 1
		for j < hi && hit[j-lo] == hit[i-lo] {
			j++
		}
		from, to := d.source(span{i, j})
		if hit[i-lo] {
			b.WriteString(">>>" + d.text[from:to] + "<<<")
		} else {
			b.WriteString(d.text[from:to])
		}
		i = j
	}
	if last < len(toks)-1 {
		b.WriteString("...")
	}
	return strings.TrimSpace(b.String())
}

// tokens cuts words of scripts without spaces into letters.
func (d *doc) tokens() []span {
	var out []span
	for _, w := range d.words {
		cut := false
		for i, r := range d.folded[w.start:w.end] {
			if !unspaced(r) {
				break
			}
			cut = true
			at := w.start + int32(i)
			out = append(out, span{at, at + int32(len(string(r)))})
		}
		if !cut {
			out = append(out, w)
		}
	}
	return out
}

func tokenAt(toks []span, at int32) int {
	lo, hi := 0, len(toks)-1
	for lo < hi {
		mid := (lo + hi) / 2
		if toks[mid].end <= at {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
