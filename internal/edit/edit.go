// Package edit finds and replaces text: it decodes a file's bytes, finds what
// a model meant through a chain of ever looser strategies, puts the
// replacement in with the indentation, line ends and characters of the place
// where it lands, applies V4A patches and unified diffs as a whole or not at
// all, and renders what changed. It is pure: it works on bytes and strings,
// opens no file, knows no tool and no backend, and keeps no state between
// calls; who calls it reads, writes and re-reads.
package edit

import "strings"

// The names of the strategies, in the order in which they are tried. The
// first that finds a place decides.
const (
	Exact               = "exact"
	LineTrimmed         = "line_trimmed"
	WhitespaceNormal    = "whitespace_normalized"
	IndentationFlexible = "indentation_flexible"
	EscapeNormal        = "escape_normalized"
	TrimmedBoundary     = "trimmed_boundary"
	UnicodeNormal       = "unicode_normalized"
	FenceStripped       = "fence_stripped"
	BlockAnchor         = "block_anchor"
	ContextAware        = "context_aware"
)

// Result is what Replace did.
type Result struct {
	Content  string
	Count    int
	Strategy string
	Spots    []Spot // one for each replacement, at most maxSpots
}

// Spot is one replacement: lines from 1, before and after.
type Spot struct {
	Line, Lines       int
	NewLine, NewLines int
}

const maxSpots = 1000

// Replace puts new in the place of old. Exactly one place must be found
// unless all is set; looser strategies than the exact one are tried in turn,
// and what they find is replaced in the file's own indentation, line ends and
// typographic characters. Bytes outside the replaced places are untouched.
//
// Errors: ErrEmpty, ErrSame, ErrNoEffect, *NotFoundError, *AmbiguousError,
// *EscapeError.
func Replace(content, old, new string, all bool) (Result, error) {
	v := newView(content)
	old, new = v.clean(old), v.clean(new)
	switch old {
	case "":
		return Result{}, ErrEmpty
	case new:
		return Result{}, ErrSame
	}
	s := newSearch(v, old, new)
	h, name, err := s.chain(all)
	if err != nil {
		return Result{}, err
	}
	if len(h.regions) == 0 {
		return Result{}, s.notFound()
	}
	if len(h.regions) > 1 && !all {
		return Result{}, s.ambiguous(h.regions, name)
	}
	res := s.apply(h, name)
	if res.Content == content {
		return Result{}, ErrNoEffect
	}
	return res, nil
}

// apply puts every region's replacement into the raw text in one pass.
func (s *search) apply(h hit, name string) Result {
	raw := s.v.raw
	res := Result{Count: len(h.regions), Strategy: name}
	var b strings.Builder
	// Enough for the usual case: nothing is copied twice for a large file.
	b.Grow(len(raw) + len(h.regions)*max(0, len(h.new)-len(h.old)) + len(h.new) + 64)
	last, line, seen, shift := 0, 1, 0, 0
	for _, r := range h.regions {
		text := s.render(r, h, name)
		from, to := s.v.offset(r.a), s.v.offset(r.b)
		b.WriteString(raw[last:from])
		b.WriteString(text)
		last = to
		if len(res.Spots) < maxSpots {
			line += strings.Count(s.v.text[seen:r.a], "\n")
			was := strings.Count(s.v.text[r.a:r.b], "\n")
			is := s.v.count(text)
			res.Spots = append(res.Spots, Spot{
				Line: line, Lines: was + 1, NewLine: line + shift, NewLines: is + 1,
			})
			shift += is - was
			line += was
			seen = r.b
		}
	}
	b.WriteString(raw[last:])
	res.Content = b.String()
	return res
}

// render makes the raw text that goes into one region.
func (s *search) render(r region, h hit, name string) string {
	if s.v.uniform() && (name == Exact || name == EscapeNormal) {
		return s.v.native(h.new)
	}
	m, o, n := strings.Split(s.v.text[r.a:r.b], "\n"), strings.Split(h.old, "\n"), strings.Split(h.new, "\n")
	if r.lines {
		o, n = alignTail(m, o, n)
	}
	var merged []mline
	if name == Exact || name == EscapeNormal {
		merged = verbatim(o, n)
	} else {
		merged = merge(m, o, lineOps(o, n), n, s.midLine(r))
	}
	return s.v.join(merged, r)
}

// midLine tells whether a region begins inside a line, so that its first line
// says nothing about indentation.
func (s *search) midLine(r region) bool {
	return r.a > 0 && s.v.text[r.a-1] != '\n'
}

// alignTail makes the old and new lines end as the matched ones do: a final
// newline that the file lacks is dropped from both, and new text that forgot
// the newline which the old text had gets it, since whole lines are replaced.
func alignTail(m, o, n []string) ([]string, []string) {
	last := func(l []string) bool { return len(l) > 1 && l[len(l)-1] == "" }
	switch {
	case len(o) == len(m)+1 && last(o):
		o = o[:len(o)-1]
		if last(n) {
			n = n[:len(n)-1]
		}
	case last(m) && last(o) && !last(n) && !(len(n) == 1 && n[0] == ""):
		n = append(n[:len(n):len(n)], "")
	}
	return o, n
}
