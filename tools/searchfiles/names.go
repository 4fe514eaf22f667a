package searchfiles

import (
	"cmp"
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

// names finds files by name, newest first.
func (s *searcher) names(ctx context.Context) (*result, error) {
	pattern := strings.TrimSpace(s.in.Pattern)
	dir := s.in.Path
	// A pattern that says where to look moves the root there.
	if strings.HasPrefix(pattern, "/") || strings.HasPrefix(pattern, "~/") || strings.HasPrefix(pattern, "../") {
		base, rest := doublestar.SplitPattern(pattern)
		if strings.HasPrefix(pattern, "../") {
			base = path.Join(s.in.Path, base)
		}
		dir, pattern = base, rest
	}
	g, err := newGlob(pattern)
	if err != nil {
		return nil, err
	}
	if s.in.Glob != "" {
		if s.glob, err = newGlob(s.in.Glob); err != nil {
			return nil, err
		}
	}
	if err := s.start(ctx, dir); err != nil {
		return nil, err
	}
	word := ""
	if !hasMeta(pattern) && !g.whole {
		word = pattern
	}
	type file struct {
		rel  string
		time time.Time
	}
	var ends, holds []file
	add := func(list *[]file, rel string, info func() (fs.FileInfo, error)) {
		if fi, err := info(); err == nil { // else: gone meanwhile
			*list = append(*list, file{rel, fi.ModTime()})
		}
	}
	each := func(rel string, e fs.DirEntry) bool {
		switch base := path.Base(rel); {
		case !s.glob.match(rel):
		case word == "" && g.match(rel), word != "" && strings.HasSuffix(base, word):
			add(&ends, rel, e.Info)
		case word != "" && strings.Contains(base, word):
			add(&holds, rel, e.Info)
		}
		return true
	}
	if !s.info.IsDir() {
		each(path.Base(s.Base(s.root.Real)), fs.FileInfoToDirEntry(s.info))
		if len(ends) > 0 {
			ends[0].rel = ""
		}
		holds = nil
	} else if err := s.ended(s.tree.walk(ctx, each)); err != nil {
		return nil, err
	}
	found := ends
	if len(found) == 0 {
		found = holds
	}
	slices.SortFunc(found, func(a, b file) int {
		if c := b.time.Compare(a.time); c != 0 {
			return c
		}
		return cmp.Compare(before(a.rel, b.rel), 0)
	})
	res := &result{TotalCount: len(found)}
	part, more := page(s, found)
	for _, f := range part {
		res.Files = append(res.Files, s.shown(f.rel))
	}
	s.finish(res, more, len(part))
	return res, nil
}
