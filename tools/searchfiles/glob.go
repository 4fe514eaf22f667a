package searchfiles

import (
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// glob decides about files by their path below the root.
type glob struct {
	pattern string
	whole   bool   // matches the path, not only its last element
	suffix  string // for "*.go" and the like: what the name ends with
}

// newGlob reads a pattern; one with a slash is about the path.
func newGlob(pattern string) (*glob, error) {
	p := strings.TrimPrefix(pattern, "./")
	if !doublestar.ValidatePattern(p) {
		return nil, fmt.Errorf("bad glob %q: close every [ and {, or write a backslash before them", pattern)
	}
	g := &glob{pattern: p, whole: strings.Contains(p, "/")}
	if rest, ok := strings.CutPrefix(p, "*"); ok && !g.whole && rest != "" && !strings.ContainsAny(rest, `*?[]{}\`) {
		g.suffix = rest
	}
	return g, nil
}

func (g *glob) match(rel string) bool {
	switch {
	case g == nil:
		return true
	case g.suffix != "":
		return strings.HasSuffix(rel, g.suffix)
	case g.whole:
		return doublestar.MatchUnvalidated(g.pattern, rel)
	}
	return doublestar.MatchUnvalidated(g.pattern, path.Base(rel))
}

func hasMeta(s string) bool { return strings.ContainsAny(s, `*?[{\`) }
