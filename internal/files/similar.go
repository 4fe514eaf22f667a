package files

import (
	"cmp"
	"context"
	"io/fs"
	"slices"
	"strings"
)

// looked is how many entries of a directory are compared, at most.
const looked = 2000

// Similar lists up to five files beside a missing one whose names come near
// to it, best first, as the model would write them.
func (v *View) Similar(ctx context.Context, p Path) []string {
	dir := v.Dir(p.Abs)
	entries, err := v.FS.ReadDir(ctx, dir)
	if err != nil {
		return nil
	}
	type scored struct {
		name  string
		score int
	}
	want := v.Base(p.Abs)
	var found []scored
	for _, e := range entries[:min(len(entries), looked)] {
		if s := nameScore(want, e.Name()); s > 0 {
			found = append(found, scored{e.Name(), s})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	var out []string
	for _, f := range found[:min(len(found), 5)] {
		out = append(out, v.beside(p, f.name))
	}
	return out
}

// beside names a sibling in the way the model named the file.
func (v *View) beside(p Path, name string) string {
	if i := strings.LastIndexAny(p.Given, `/\`); i >= 0 && (v.posix() == (p.Given[i] == '/') || !v.posix()) {
		return p.Given[:i+1] + name
	}
	return name
}

// nameScore is the original's measure: equal but for case, same stem, one
// beginning or containing the other, same kind with many letters shared.
func nameScore(want, have string) int {
	a, b := strings.ToLower(want), strings.ToLower(have)
	sa, ea := stem(a)
	sb, eb := stem(b)
	switch {
	case a == b:
		return 100
	case sa == sb:
		return 90
	case strings.HasPrefix(b, a), strings.HasPrefix(a, b):
		return 70
	case strings.Contains(b, a):
		return 60
	case len(b) > 2 && strings.Contains(a, b):
		return 40
	case ea != "" && ea == eb && shared40(sa, sb):
		return 30
	}
	return 0
}

func stem(name string) (stem, ext string) {
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		return name[:i], name[i:]
	}
	return name, ""
}

// shared40 tells whether two names share 40 % of their distinct letters.
func shared40(a, b string) bool {
	set := map[rune]int{}
	for _, r := range a {
		set[r] |= 1
	}
	for _, r := range b {
		set[r] |= 2
	}
	both := 0
	for _, in := range set {
		if in == 3 {
			both++
		}
	}
	return both*10 >= len(set)*4
}

// NoParent names the first directory on the way to a path that does not
// exist, "" when its directory is there.
func (v *View) NoParent(ctx context.Context, p Path) string {
	missing := ""
	for dir := v.Dir(p.Abs); ; dir = v.Dir(dir) {
		if _, err := v.FS.Stat(ctx, dir); err == nil || dir == v.Dir(dir) {
			return missing
		}
		missing = dir
	}
}

// Kind says what a file is in a listing.
func Kind(e fs.DirEntry) string {
	switch t := e.Type(); {
	case t.IsDir():
		return "/"
	case t&fs.ModeSymlink != 0:
		return "@"
	case t.IsRegular():
		return ""
	}
	return "?"
}
