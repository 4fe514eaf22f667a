package skill

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

// Search orders skills by how well name, tags, category and description answer
// a query (BM25); those that share no word with it are left out. Equal
// scores keep the order they came in.
func Search(skills []*Skill, query string) []*Skill {
	terms := words(query)
	if len(terms) == 0 {
		return skills
	}
	docs := make([]map[string]float64, len(skills))
	in := map[string]int{}
	total := 0.0
	sizes := make([]float64, len(skills))
	for i, s := range skills {
		d := map[string]float64{}
		add := func(text string, weight float64) {
			for _, w := range words(text) {
				d[w] += weight
				sizes[i] += weight
			}
		}
		// A word of the name says more than one of the description.
		add(s.Name, 3)
		add(s.Category, 1.5)
		add(s.Description, 1)
		for _, tag := range s.Tags {
			add(tag, 1.5)
		}
		for w := range d {
			in[w]++
		}
		docs[i], total = d, total+sizes[i]
	}
	const k, b = 1.2, 0.75
	mean := total / float64(max(len(skills), 1))
	scores := map[*Skill]float64{}
	var hits []*Skill
	for i, s := range skills {
		score := 0.0
		for _, t := range terms {
			tf, n := docs[i][t], float64(in[t])
			if tf == 0 {
				// The beginning of a longer word counts a little.
				for w, f := range docs[i] {
					if len(t) >= 3 && strings.HasPrefix(w, t) {
						tf, n = max(tf, f/2), max(n, float64(in[w]))
					}
				}
			}
			if tf > 0 {
				idf := math.Log(1 + (float64(len(skills))-n+0.5)/(n+0.5))
				score += idf * tf * (k + 1) / (tf + k*(1-b+b*sizes[i]/mean))
			}
		}
		if score > 0 {
			scores[s] = score
			hits = append(hits, s)
		}
	}
	slices.SortStableFunc(hits, func(a, b *Skill) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return 0
	})
	return hits
}

// words cuts text into lower-case words; each ideograph is one.
func words(text string) []string {
	var out []string
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			w := b.String()
			if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
				w = w[:len(w)-1] // plurals
			}
			out = append(out, w)
			b.Reset()
		}
	}
	for _, r := range strings.ToLower(text) {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			flush()
			out = append(out, string(r))
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		default:
			flush()
		}
	}
	flush()
	return out
}
