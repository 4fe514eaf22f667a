package store

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// rank orders candidates by how much of their text is about the query (BM25
// over the candidates alone: SQLite's own would read every message that holds
// one of the words). Equal ones stay newest first.
func rank(cands []*cand, e expr) {
	terms := make([]term, 0, 8)
	for _, g := range e {
		terms = append(terms, g.must...)
	}
	type count struct {
		tf  []float64
		len float64
	}
	counts := make([]count, len(cands))
	df := make([]float64, len(terms))
	total := 0.0
	for i, c := range cands {
		d := *c.doc
		if len(d.text) > rankBytes {
			d.text, d.cut = strings.ToValidUTF8(d.text[:rankBytes], ""), false
		}
		counts[i] = count{tf: make([]float64, len(terms)), len: float64(len(d.text) + 1)}
		total += counts[i].len
		for k, t := range terms {
			d.find(t, func(span) bool { counts[i].tf[k]++; return true })
			if counts[i].tf[k] > 0 {
				df[k]++
			}
		}
		if !c.doc.cut && len(d.text) == len(c.doc.text) {
			*c.doc = d // the work is not lost
		}
	}
	mean := total / float64(max(len(cands), 1))
	const k1, b = 1.2, 0.75
	for i, c := range cands {
		n := counts[i]
		for k := range terms {
			idf := math.Log(1 + (float64(len(cands))-df[k]+0.5)/(df[k]+0.5))
			c.score += idf * n.tf[k] * (k1 + 1) / (n.tf[k] + k1*(1-b+b*n.len/mean))
		}
	}
	slices.SortStableFunc(cands, func(x, y *cand) int { return cmp.Compare(y.score, x.score) })
}

// rankBytes is as much of a text as is looked at: a log of a megabyte is not
// more about a word than its first pages.
const rankBytes = 32 << 10
