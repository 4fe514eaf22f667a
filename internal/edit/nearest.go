package edit

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

const (
	maxNear  = 3
	nearRows = 2 // lines of context
	maxShown = 200
)

// notFound gathers the places that come nearest to the old text.
func (s *search) notFound() error {
	e := &NotFoundError{}
	if len(s.v.text) > maxFuzzy || len(s.old) > maxFuzzy {
		e.Note = fmt.Sprintf("only exact matches are tried above %d MB", maxFuzzy>>20)
		return e
	}
	old, _ := s.bare()
	pat := strings.Split(old, "\n")
	if isBlank(pat[0]) {
		return e
	}
	for _, p := range s.nearest(pat) {
		e.Near = append(e.Near, Near{
			Line: p.line + 1, Similarity: p.first,
			Snippet: s.snippet(p.line, len(pat)),
			Diff:    s.firstDifference(pat, p.line),
		})
	}
	return e
}

type spot struct {
	line        int
	first, rank float64
}

// nearest ranks lines by how much they resemble the first line looked for and
// how many of the lines that follow are right. Letters are counted on every
// line; only the best are compared in earnest.
func (s *search) nearest(pat []string) []spot {
	doc := s.lines()
	keys, want := doc.hashes(keyPlain), doc.pattern(pat, keyPlain)
	first := clip(keyOf(pat[0], keySpace))
	hist := histogram(first)
	var top []spot // by rank, falling
	add := func(p spot, limit int) {
		i := sort.Search(len(top), func(i int) bool { return top[i].rank < p.rank })
		if i >= limit {
			return
		}
		if len(top) < limit {
			top = append(top, spot{})
		}
		copy(top[i+1:], top[i:])
		top[i] = p
	}
	const kept = 24
	for i, l := range doc.text {
		l = clip(strings.TrimSpace(l))
		if l == "" {
			continue
		}
		total := float64(len(l) + len(first))
		bound := 2 * float64(min(len(l), len(first))) / total
		if bound <= 0.3 || len(top) == kept && bound <= top[kept-1].rank {
			continue
		}
		if r := 2 * float64(common(hist, l)) / total; r > 0.3 {
			add(spot{line: i, rank: r}, kept)
		}
	}
	seen := map[int]bool{}
	lines := make([]int, 0, 2*kept)
	c := candidate{s: s, pat: pat, want: want, keys: keys}
	for _, i := range c.voted(8) {
		seen[i] = true
		lines = append(lines, i)
	}
	for _, p := range top {
		if !seen[p.line] {
			lines = append(lines, p.line)
		}
	}
	top = nil
	for _, i := range lines {
		p := spot{line: i, first: s.ratio(pat[0], doc.text[i])}
		same, n := 0, min(len(pat), len(keys)-i, 200)
		for j := range n {
			if keys[i+j] == want[j] {
				same++
			}
		}
		p.rank = p.first + float64(same)/float64(n)
		if p.first > 0.3 || 2*same >= n {
			add(p, kept)
		}
	}
	var out []spot
	for _, p := range top {
		clear := true
		for _, q := range out {
			clear = clear && (p.line < q.line-nearRows || p.line > q.line+nearRows)
		}
		if clear && len(out) < maxNear {
			out = append(out, p)
		}
	}
	return out
}

// snippet shows lines from 1 around a block, long blocks only at their beginning.
func (s *search) snippet(line, n int) string {
	doc := s.lines()
	var b strings.Builder
	to := min(len(doc.text), line+min(n, 12)+nearRows)
	if to == len(doc.text) && doc.text[to-1] == "" && to > line+1 {
		to-- // what follows the last newline is no line
	}
	for i := max(0, line-nearRows); i < to; i++ {
		text := doc.text[i]
		if len(text) > maxShown {
			text = cutRunes(text, maxShown) + "..."
		}
		fmt.Fprintf(&b, "%4d| %s\n", i+1, text)
	}
	return b.String()
}

func cutRunes(s string, n int) string {
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:min(n, len(s))]
}

// firstDifference names the first characters in which a place is not what was
// looked for, written so that blanks and look-alikes can be told apart.
func (s *search) firstDifference(pat []string, line int) string {
	doc := s.lines()
	for j, want := range pat {
		if line+j >= len(doc.text) {
			return fmt.Sprintf("the file ends after line %d", line+j)
		}
		have := doc.text[line+j]
		if want == have {
			continue
		}
		i := 0
		for i < min(len(want), len(have)) && want[i] == have[i] {
			i++
		}
		for i > 0 && (i < len(want) && !utf8.RuneStart(want[i]) || i < len(have) && !utf8.RuneStart(have[i])) {
			i--
		}
		return fmt.Sprintf("line %d, column %d: old_string has %s, the file has %s",
			line+j+1, utf8.RuneCountInString(have[:i])+1, visible(want[i:]), visible(have[i:]))
	}
	return ""
}

// visible quotes the beginning of a text and names a first character that a
// reader could mistake.
func visible(s string) string {
	if s == "" {
		return "the end of the line"
	}
	r, _ := utf8.DecodeRuneInString(s)
	out := fmt.Sprintf("%q", cutRunes(s, 24))
	if name := charName(r); name != "" {
		out += " (" + name + ")"
	} else if r >= 0x80 {
		out += fmt.Sprintf(" (U+%04X)", r)
	}
	return out
}

func charName(r rune) string {
	switch r {
	case ' ':
		return "space"
	case '\t':
		return "tab"
	case '\r':
		return "carriage return"
	case '\u00A0':
		return "no-break space U+00A0"
	case '\u200B':
		return "zero-width space U+200B"
	case '\uFEFF':
		return "byte order mark U+FEFF"
	case '\u2013':
		return "en dash U+2013"
	case '\u2014':
		return "em dash U+2014"
	case '\u2018', '\u2019':
		return fmt.Sprintf("curly single quote U+%04X", r)
	case '\u201C', '\u201D':
		return fmt.Sprintf("curly double quote U+%04X", r)
	case '\u2026':
		return "ellipsis U+2026"
	case '\u3000':
		return "wide space U+3000"
	}
	return ""
}
