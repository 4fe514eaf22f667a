package edit

import (
	"sort"
	"strings"
)

// similarityBudget bounds the character comparisons of one Replace. When it is
// spent, lines are compared by the letters they hold, which is linear.
const similarityBudget = 3_000_000

// maxCompared is how much of a line takes part in similarity.
const maxCompared = 240

const maxCandidates = 16

// similar runs the two strategies that accept text which is not quite what was
// asked for. They never accept a change to a line that does not resemble what
// the model believed to stand there.
func (s *search) similar() (hit, string) {
	old, new := s.bare()
	pat := strings.Split(old, "\n")
	doc := s.lines()
	if len(pat) < 2 || len(pat) > len(doc.text) {
		return hit{}, ""
	}
	keys, want := doc.hashes(keyPlain), doc.pattern(pat, keyPlain)
	touched := touchedLines(pat, strings.Split(new, "\n"))
	c := candidate{s: s, pat: pat, want: want, keys: keys, touched: touched}
	h := hit{old: old, new: new}
	for _, i := range c.anchored() {
		h.regions = append(h.regions, s.lineRegion(i, len(pat), false))
	}
	if len(h.regions) > 0 {
		return h, BlockAnchor
	}
	for _, i := range c.inContext() {
		h.regions = append(h.regions, s.lineRegion(i, len(pat), false))
	}
	return h, ContextAware
}

// bare drops blank lines at both ends: anchors must be lines that say something.
func (s *search) bare() (string, string) {
	old, new := s.old, s.new
	for {
		line, rest, ok := strings.Cut(old, "\n")
		if !ok || !isBlank(line) {
			break
		}
		if first, more, ok := strings.Cut(new, "\n"); ok && isBlank(first) {
			new = more
		}
		old = rest
	}
	for {
		i := strings.LastIndexByte(old, '\n')
		if i < 0 || !isBlank(old[i+1:]) {
			break
		}
		old = old[:i]
		if j := strings.LastIndexByte(new, '\n'); j >= 0 && isBlank(new[j+1:]) {
			new = new[:j]
		}
	}
	return old, new
}

// touchedLines marks the old lines that the change drops or rewrites.
func touchedLines(o, n []string) []bool {
	out := make([]bool, len(o))
	for _, p := range lineOps(o, n) {
		if p.kind == opDrop {
			out[p.a] = true
		}
	}
	return out
}

// candidate scores windows of the text against the old lines.
type candidate struct {
	s       *search
	pat     []string
	want    []uint64
	keys    []uint64
	touched []bool
}

// score compares a window line by line, each line weighing what it is long.
// alike counts the lines of 0.80 and more, said those that are not blank.
func (c *candidate) score(at, from, to int, floor float64) (ratio float64, alike, said int, ok bool) {
	doc := c.s.doc
	sum, weight := 0.0, 0.0
	for j := from; j < to; j++ {
		if isBlank(c.pat[j]) && isBlank(doc.text[at+j]) {
			continue
		}
		r := 1.0
		if c.keys[at+j] != c.want[j] {
			r = c.s.ratio(c.pat[j], doc.text[at+j])
			if c.touched[j] && r < floor {
				return 0, 0, 0, false
			}
		}
		said++
		if r >= 0.8 {
			alike++
		}
		w := float64(1 + min(len(c.pat[j]), maxCompared))
		sum, weight = sum+r*w, weight+w
	}
	if weight == 0 {
		return 1, alike, said, true
	}
	return sum / weight, alike, said, true
}

// equal counts the lines of a window that are the same.
func (c *candidate) equal(at int) int {
	n := 0
	for j, w := range c.want {
		if c.keys[at+j] == w {
			n++
		}
	}
	return n
}

// anchored wants the first and the last line right and the middle similar.
func (c *candidate) anchored() []int {
	k := len(c.pat)
	var at []int
	for i := 0; i+k <= len(c.keys); i++ {
		if c.keys[i] == c.want[0] && c.keys[i+k-1] == c.want[k-1] {
			at = append(at, i)
		}
	}
	if len(at) == 0 || len(at) > max(maxCandidates, 2_000_000/k) {
		return nil // anchors that stand everywhere hold nothing
	}
	need := 0.5
	if len(at) > 1 {
		need = 0.7
	}
	at, tied := c.best(at)
	if tied {
		return nil
	}
	var out []int
	for _, i := range at {
		if r, _, _, ok := c.score(i, 1, k-1, 0.5); ok && r >= need {
			out = append(out, i)
		}
	}
	return apart(out, k)
}

// best keeps the windows with the most equal lines, in the order of the text;
// tied when that choice would be arbitrary.
func (c *candidate) best(at []int) (kept []int, tied bool) {
	if len(at) <= maxCandidates {
		return at, false
	}
	same := make(map[int]int, len(at))
	for _, i := range at {
		same[i] = c.equal(i)
	}
	sort.SliceStable(at, func(a, b int) bool { return same[at[a]] > same[at[b]] })
	tied = same[at[0]] == same[at[maxCandidates]]
	kept = at[:maxCandidates]
	sort.Ints(kept)
	return kept, tied
}

// inContext wants half of the lines alike at 0.80, and among them one that is
// right. Windows are found by the lines that occur once in the old text.
func (c *candidate) inContext() []int {
	k := len(c.pat)
	at := c.voted(maxCandidates)
	sort.Ints(at)
	var out []int
	for _, i := range at {
		_, alike, said, ok := c.score(i, 0, k, 0.8)
		if ok && said >= 2 && 2*alike >= said {
			out = append(out, i)
		}
	}
	return apart(out, k)
}

// voted returns the windows for which most lines speak, best first.
func (c *candidate) voted(limit int) []int {
	where := make(map[uint64]int, len(c.want))
	for j, w := range c.want {
		if isBlank(c.pat[j]) {
			continue
		}
		if _, twice := where[w]; twice {
			where[w] = -1
			continue
		}
		where[w] = j
	}
	votes := map[int]int{}
	for i, key := range c.keys {
		if j, ok := where[key]; ok && j >= 0 && i-j >= 0 && i-j+len(c.pat) <= len(c.keys) {
			votes[i-j]++
		}
	}
	at := make([]int, 0, len(votes))
	for i := range votes {
		at = append(at, i)
	}
	sort.Slice(at, func(a, b int) bool {
		if votes[at[a]] != votes[at[b]] {
			return votes[at[a]] > votes[at[b]]
		}
		return at[a] < at[b]
	})
	return at[:min(len(at), limit)]
}

// apart drops windows that overlap the one before.
func apart(at []int, k int) []int {
	var out []int
	for _, i := range at {
		if len(out) == 0 || i >= out[len(out)-1]+k {
			out = append(out, i)
		}
	}
	return out
}

// ratio is 2M/T as in Ratcliff and Obershelp, on trimmed lines cut to
// maxCompared. Unlike Python's difflib it takes common ends as matched first
// and has no rule against frequent characters.
func (s *search) ratio(a, b string) float64 {
	a, b = clip(keyOf(a, keySpace)), clip(keyOf(b, keySpace))
	if a == b {
		return 1
	}
	total := len(a) + len(b)
	if total == 0 {
		return 1
	}
	m := 0
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b, m = a[1:], b[1:], m+1
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b, m = a[:len(a)-1], b[:len(b)-1], m+1
	}
	return 2 * float64(m+s.matching(a, b)) / float64(total)
}

func clip(s string) string { return s[:min(len(s), maxCompared)] }

// matching sums the longest common pieces, left and right of each other.
func (s *search) matching(a, b string) int {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	if s.budget -= len(a) * len(b); s.budget < 0 {
		return common(histogram(a), b) / 2
	}
	var row [maxCompared + 1]int16
	best, ai, bi := 0, 0, 0
	for i := range len(a) {
		diag := int16(0)
		for j := range len(b) {
			up := row[j+1]
			if a[i] == b[j] {
				row[j+1] = diag + 1
				if int(diag)+1 > best {
					best, ai, bi = int(diag)+1, i, j
				}
			} else {
				row[j+1] = 0
			}
			diag = up
		}
	}
	if best == 0 {
		return 0
	}
	return best + s.matching(a[:ai-best+1], b[:bi-best+1]) + s.matching(a[ai+1:], b[bi+1:])
}

func histogram(s string) *[256]uint8 {
	var h [256]uint8
	for i := range len(s) {
		if h[s[i]] < 255 {
			h[s[i]]++
		}
	}
	return &h
}

// common counts the characters that both hold: never less than what matches.
func common(h *[256]uint8, b string) int {
	left := *h
	n := 0
	for i := range len(b) {
		if left[b[i]] > 0 {
			left[b[i]]--
			n++
		}
	}
	return n
}
