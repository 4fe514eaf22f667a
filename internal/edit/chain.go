package edit

import (
	"strings"
	"unicode"
)

// maxFuzzy is the size of text above which only the exact strategy is tried:
// the others make copies and tables of the whole text.
const maxFuzzy = 16 << 20

// region is a matched piece of the view; lines: it was matched as whole lines.
type region struct {
	a, b  int
	lines bool
}

// hit is what a strategy found: regions that do not overlap, in order, and the
// texts in the form in which the strategy read them.
type hit struct {
	regions  []region
	old, new string
}

// search is one Replace in progress. Tables are made when first needed.
type search struct {
	v        *view
	old, new string
	doc      *lines
	starts   []int // offset in the view of each line, and one past the end
	budget   int   // comparisons left for similarity
}

func newSearch(v *view, old, new string) *search {
	return &search{v: v, old: old, new: new, budget: similarityBudget}
}

func (s *search) lines() *lines {
	if s.doc == nil {
		text := strings.Split(s.v.text, "\n")
		s.starts = make([]int, len(text)+1)
		for i, l := range text {
			s.starts[i+1] = s.starts[i] + len(l) + 1
		}
		s.doc = newLines(text)
	}
	return s.doc
}

// chain tries the strategies in order; the first with a match decides.
func (s *search) chain(all bool) (hit, string, error) {
	if h := s.exact(s.old, s.new); len(h.regions) > 0 {
		return h, Exact, nil
	}
	if len(s.v.text) > maxFuzzy || len(s.old) > maxFuzzy || strings.TrimSpace(s.old) == "" {
		return hit{}, "", nil
	}
	h, name, err := s.loose()
	if err != nil || len(h.regions) == 0 {
		if h, ok := s.unfenced(); ok && err == nil {
			return h, FenceStripped, s.drift(h)
		}
	}
	if err == nil && len(h.regions) == 0 {
		h, name = s.similar()
		if len(h.regions) > 1 && all {
			// Places that merely resemble the text are never changed in bulk.
			return hit{}, "", s.ambiguous(h.regions, name)
		}
	}
	if err == nil && len(h.regions) == 0 {
		err = s.escapedOnce()
	}
	if err == nil && len(h.regions) > 0 {
		err = s.drift(h)
	}
	return h, name, err
}

// loose runs the strategies in which every character still has to be accounted for.
func (s *search) loose() (hit, string, error) {
	if h := s.block(s.old, s.new, keyTrim); len(h.regions) > 0 {
		return h, LineTrimmed, nil
	}
	if h := s.folded(foldSpace); len(h.regions) > 0 {
		return s.swallowBlanks(h), WhitespaceNormal, nil
	}
	if h := s.folded(foldIndent); len(h.regions) > 0 {
		return h, IndentationFlexible, nil
	}
	if h, err := s.unescaped(); err != nil || len(h.regions) > 0 {
		return h, EscapeNormal, err
	}
	if h := s.trimmed(); len(h.regions) > 0 {
		return h, TrimmedBoundary, nil
	}
	if h := s.folded(foldTypography); len(h.regions) > 0 {
		return h, UnicodeNormal, nil
	}
	if h := s.block(s.old, s.new, keyPlain); len(h.regions) > 0 {
		return h, UnicodeNormal, nil
	}
	return hit{}, "", nil
}

func (s *search) exact(old, new string) hit {
	h := hit{old: old, new: new}
	text := s.v.text
	for at := 0; old != ""; {
		i := strings.Index(text[at:], old)
		if i < 0 {
			break
		}
		at += i
		h.regions = append(h.regions, region{a: at, b: at + len(old)})
		at += len(old)
	}
	return h
}

// block compares whole lines by their key.
func (s *search) block(old, new string, kind keyKind) hit {
	text := strings.TrimSuffix(old, "\n")
	h := hit{old: old, new: new}
	if isBlank(text) {
		return h
	}
	pat := strings.Split(text, "\n")
	for _, i := range s.lines().find(pat, kind, 0) {
		h.regions = append(h.regions, s.lineRegion(i, len(pat), len(text) < len(old)))
	}
	return h
}

// lineRegion covers n lines from line i; withEnd: also the last one's newline.
func (s *search) lineRegion(i, n int, withEnd bool) region {
	r := region{s.starts[i], s.starts[i+n] - 1, true}
	if withEnd && r.b < len(s.v.text) {
		r.b++
	}
	return r
}

// folded looks for the folded old text in the folded text.
func (s *search) folded(fold func(string) *folded) hit {
	h := hit{old: s.old, new: s.new}
	pat, text := fold(s.old), fold(s.v.text)
	if pat.text == "" || strings.TrimSpace(pat.text) == "" || len(pat.edits)+len(text.edits) == 0 {
		return h
	}
	for at := 0; ; {
		i := strings.Index(text.text[at:], pat.text)
		if i < 0 {
			return h
		}
		at += i
		a, ok1 := text.start(at)
		b, ok2 := text.end(at + len(pat.text))
		if !ok1 || !ok2 {
			at++
			continue
		}
		at += len(pat.text)
		h.regions = append(h.regions, s.widen(region{a: a, b: b}))
	}
}

// widen takes in the indentation before a region when the old text begins with
// one, so that the replacement's own indentation has something to stand for.
func (s *search) widen(r region) region {
	if indentOf(s.old) == "" {
		return r
	}
	a := r.a
	for a > 0 && blank(s.v.text[a-1]) {
		a--
	}
	if a == 0 || s.v.text[a-1] == '\n' {
		r.a = a
	}
	return r
}

// swallowBlanks takes in blanks that stand between a match and its line's end.
func (s *search) swallowBlanks(h hit) hit {
	for i, r := range h.regions {
		b := r.b
		for b < len(s.v.text) && blank(s.v.text[b]) {
			b++
		}
		if b == len(s.v.text) || s.v.text[b] == '\n' {
			h.regions[i].b = b
		}
	}
	return h
}

// trimmed drops blank lines and blanks at both ends of the old text, and the
// same ones of the new, and looks for the rest: exactly, then by lines.
func (s *search) trimmed() hit {
	old := strings.TrimSpace(s.old)
	if old == s.old {
		return hit{}
	}
	new := trimLike(s.new, s.old, old)
	if h := s.whole(s.exact(old, new)); len(h.regions) > 0 {
		return h
	}
	// Whole lines keep their first line's indentation, to be translated.
	lead := strings.Index(s.old, old)
	lead = 1 + strings.LastIndexByte(s.old[:lead], '\n')
	tail := len(strings.TrimRightFunc(s.old, unicode.IsSpace))
	old, new = s.old[lead:tail], s.new
	if strings.HasPrefix(new, s.old[:lead]) {
		new = new[lead:]
	}
	new = strings.TrimSuffix(new, s.old[tail:])
	return s.block(old, new, keySpace)
}

// whole drops matches that begin or end inside a word: the blanks that were
// trimmed said that the word ends there.
func (s *search) whole(h hit) hit {
	word := func(at int) bool {
		if at < 0 || at >= len(s.v.text) {
			return false
		}
		c := s.v.text[at]
		return c == '_' || c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
	}
	kept := h.regions[:0]
	for _, r := range h.regions {
		if word(r.a-1) && word(r.a) || word(r.b-1) && word(r.b) {
			continue
		}
		kept = append(kept, r)
	}
	h.regions = kept
	return h
}

// trimLike takes from s at both ends what was taken from full to get core.
func trimLike(s, full, core string) string {
	i := strings.Index(full, core)
	lead, tail := full[:i], full[i+len(core):]
	s = strings.TrimPrefix(s, lead)
	return strings.TrimSuffix(s, tail)
}

// unfenced removes a Markdown fence that was sent along with the text.
func (s *search) unfenced() (hit, bool) {
	old, ok := inFence(s.old)
	if !ok {
		return hit{}, false
	}
	new := s.new
	if inner, ok := inFence(new); ok {
		new = inner
	}
	if h := s.exact(old, new); len(h.regions) > 0 {
		return h, true
	}
	h := s.block(old, new, keyPlain)
	return h, len(h.regions) > 0
}

func inFence(s string) (string, bool) {
	t := strings.TrimSpace(s)
	first, rest, ok := strings.Cut(t, "\n")
	if !ok || !strings.HasPrefix(first, "```") || !strings.HasSuffix(rest, "\n```") {
		return "", false
	}
	rest = strings.TrimSuffix(rest, "\n```")
	return rest, strings.TrimSpace(rest) != ""
}

func (s *search) ambiguous(regions []region, name string) error {
	e := &AmbiguousError{Strategy: name, Count: len(regions)}
	line, seen := 1, 0
	for _, r := range regions[:min(len(regions), maxListed)] {
		line += strings.Count(s.v.text[seen:r.a], "\n")
		seen = r.a
		e.Lines = append(e.Lines, line)
	}
	return e
}
