package searchfiles

import (
	"bufio"
	"bytes"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// rules are the lines of one ignore file.
type rules struct {
	lines  []rule
	exact  map[string][]int // rules that are the name of a file
	suffix map[string][]int // "*.o": by what follows the star
	other  []int            // all the rest
}

type rule struct {
	glob    string
	negated bool // the file is kept after all
	dirOnly bool
	whole   bool // matches the path below the ignore file, not only the name
}

// verdict is what rules say about a file.
type verdict int

const (
	silent verdict = iota
	ignored
	kept
)

// parseRules reads the format of .gitignore. Lines that mean nothing are
// passed over, as git does.
func parseRules(data []byte) *rules {
	r := &rules{exact: map[string][]int{}, suffix: map[string][]int{}}
	sc := bufio.NewScanner(bytes.NewReader(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))
	for sc.Scan() {
		r.add(strings.TrimSuffix(sc.Text(), "\r"))
	}
	return r
}

func (r *rules) add(line string) {
	line = trimBlanks(line)
	if line == "" || line[0] == '#' {
		return
	}
	var one rule
	if line[0] == '!' {
		one.negated = true
		line = line[1:]
	}
	if rest, ok := strings.CutSuffix(line, "/"); ok {
		one.dirOnly = true
		line = rest
	}
	one.whole = strings.Contains(line, "/")
	one.glob = strings.TrimPrefix(line, "/")
	if one.glob == "" || !doublestar.ValidatePattern(one.glob) {
		return
	}
	if rest, ok := strings.CutPrefix(one.glob, "**/"); ok && !strings.Contains(rest, "/") {
		one.glob, one.whole = rest, false
	}
	if dir, ok := strings.CutSuffix(one.glob, "/**"); ok {
		one.glob = dir + "/**/*" // what lies below, not the directory itself
	}
	n := len(r.lines)
	r.lines = append(r.lines, one)
	switch rest, star := strings.CutPrefix(one.glob, "*"); {
	case !one.whole && !hasMeta(one.glob):
		r.exact[one.glob] = append(r.exact[one.glob], n)
	case !one.whole && star && strings.HasPrefix(rest, ".") && !hasMeta(rest) && strings.Count(rest, ".") == 1:
		r.suffix[rest] = append(r.suffix[rest], n)
	default:
		r.other = append(r.other, n)
	}
}

// trimBlanks drops blanks at the end unless a backslash keeps them.
func trimBlanks(s string) string {
	for strings.HasSuffix(s, " ") || strings.HasSuffix(s, "\t") {
		if strings.HasSuffix(s, `\ `) {
			break
		}
		s = s[:len(s)-1]
	}
	return s
}

// judge asks the rules about a path below their file; the last that matches
// decides.
func (r *rules) judge(rel string, dir bool) verdict {
	name := path.Base(rel)
	last := -1
	take := func(list []int) {
		for i := len(list) - 1; i >= 0 && list[i] > last; i-- {
			if !r.lines[list[i]].dirOnly || dir {
				last = list[i]
				return
			}
		}
	}
	take(r.exact[name])
	take(r.suffix[path.Ext(name)])
	for i := len(r.other) - 1; i >= 0 && r.other[i] > last; i-- {
		one := r.lines[r.other[i]]
		if one.dirOnly && !dir {
			continue
		}
		subject := name
		if one.whole {
			subject = rel
		}
		if doublestar.MatchUnvalidated(one.glob, subject) {
			last = r.other[i]
			break
		}
	}
	switch {
	case last < 0:
		return silent
	case r.lines[last].negated:
		return kept
	}
	return ignored
}

// level is what one directory says about the files below it, in the order in
// which it counts: .rgignore, .ignore, .gitignore.
type level struct {
	up    *level
	rel   string    // the path of the directory, as far as paths here go
	files [3]*rules // nil: there is none
	git   bool      // a repository begins here: what is above does not bind it
}

// ignoreFiles are the names of the three.
var ignoreFiles = [3]string{".rgignore", ".ignore", ".gitignore"}

// ignores tells whether a path is left out. Paths begin at the root of the
// file system, without the slash.
func (l *level) ignores(name string, dir bool) bool {
	var said [3]verdict
	for git := false; l != nil; l = l.up {
		rel := name
		if l.rel != "" {
			rel = name[len(l.rel)+1:]
		}
		for i, r := range l.files {
			if r == nil || said[i] != silent || i == 2 && git {
				continue
			}
			said[i] = r.judge(rel, dir)
		}
		git = git || l.git
	}
	for _, s := range said {
		if s != silent {
			return s == ignored
		}
	}
	return false
}
