package searchfiles

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"sync"

	"github.com/hermes-go/hermes/backend"
)

// content searches the lines of files.
func (s *searcher) content(ctx context.Context) (*result, error) {
	p, err := newPattern(s.in.Pattern)
	if err != nil {
		return nil, err
	}
	if s.in.Glob != "" {
		if s.glob, err = newGlob(s.in.Glob); err != nil {
			return nil, err
		}
	}
	if err := s.start(ctx, s.in.Path); err != nil {
		return nil, err
	}
	var all []found
	if s.info.IsDir() {
		all, err = s.below(ctx, p)
	} else {
		all, err = s.one(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	return s.report(all), nil
}

// one searches the file that was named itself.
func (s *searcher) one(ctx context.Context, p *pattern) ([]found, error) {
	if !s.info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "search", Path: s.root.Given, Err: backend.ErrIrregular}
	}
	if err := s.MayRead(s.root); err != nil {
		return nil, err
	}
	sc, err := s.scanner(p)
	if err != nil {
		return nil, err
	}
	type answer struct {
		f   found
		err error
	}
	got := make(chan answer, 1)
	go func() {
		f, err := sc.file(ctx, "")
		got <- answer{f, err}
	}()
	select {
	case a := <-got:
		if a.err != nil || a.f.count == 0 {
			return nil, s.ended(a.err)
		}
		return []found{a.f}, nil
	case <-ctx.Done(): // it hangs in the file
		return nil, s.ended(ctx.Err())
	}
}

// source gives the files to search in their order until each returns false.
type source func(ctx context.Context, each func(rel string) bool) error

func (s *searcher) below(ctx context.Context, p *pattern) ([]found, error) {
	var src source
	if s.root.Real != "/" && !ofKernel(s.root.Real) { // ripgrep would read what is none of a file system
		var err error
		if src, err = s.ripgrep(ctx, p); err != nil {
			return nil, s.ended(err)
		}
	}
	if src == nil {
		src = s.everything
	}
	return s.scanAll(ctx, p, src)
}

// everything is what the walk finds.
func (s *searcher) everything(ctx context.Context, each func(string) bool) error {
	s.tree.skipKernel = true
	return s.tree.walk(ctx, func(rel string, _ fs.DirEntry) bool {
		return !s.glob.match(rel) || each(rel)
	})
}

// batch is how many files go to a worker at once.
const batch = 16

// task is a batch on its way: the files, and what was found once done is closed.
type task struct {
	rels []string
	out  []found
	err  error
	done chan struct{}
}

// scanAll searches the files of a source on several goroutines. What comes
// back is in the order of the source, and ends soon after there is enough.
func (s *searcher) scanAll(ctx context.Context, p *pattern, src source) ([]found, error) {
	outer := ctx
	ctx, stop := context.WithCancel(outer)
	workers := max(2, runtime.GOMAXPROCS(0))
	work := make(chan *task, workers)
	order := make(chan *task, 4*workers) // bounds how far ahead anybody gets
	var wg sync.WaitGroup
	defer func() {
		stop()
		ended := make(chan struct{})
		go func() {
			wg.Wait()
			close(ended)
		}()
		select {
		case <-ended:
		case <-outer.Done(): // whoever hangs in a file is left behind
		}
	}()
	for range workers {
		sc, err := s.scanner(p)
		if err != nil {
			close(work)
			return nil, err
		}
		wg.Go(func() {
			for t := range work {
				sc.run(ctx, t)
			}
		})
	}
	var srcErr error
	wg.Go(func() {
		defer close(order)
		defer close(work)
		var rels []string
		send := func() bool {
			t := &task{rels: rels, done: make(chan struct{})}
			rels = nil
			select {
			case order <- t:
			case <-ctx.Done():
				return false
			}
			select {
			case work <- t:
				return true
			case <-ctx.Done(): // no worker comes back for it
				return false
			}
		}
		srcErr = src(ctx, func(rel string) bool {
			rels = append(rels, rel)
			return len(rels) < batch || send()
		})
		if len(rels) > 0 {
			send()
		}
	})
	var all []found
	have := 0
	for {
		var t *task
		more := false
		select {
		case t, more = <-order:
		case <-outer.Done():
			return all, s.ended(outer.Err())
		}
		if !more {
			return all, s.ended(srcErr)
		}
		select {
		case <-t.done:
		case <-outer.Done():
			return all, s.ended(outer.Err())
		}
		if t.err != nil {
			return all, s.ended(t.err)
		}
		for _, f := range t.out {
			all = append(all, f)
			have += s.weight(f)
		}
		if have >= s.need {
			return all, nil
		}
	}
}

// ended takes the end of the time for the end of the search: what was found by
// then is an answer, and says that it is not all.
func (s *searcher) ended(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		s.cut = true
		return nil
	}
	return err
}

// weight is how many results a file makes.
func (s *searcher) weight(f found) int {
	if s.in.Mode == "content" {
		return f.count
	}
	return 1
}

func (s *scanner) run(ctx context.Context, t *task) {
	defer close(t.done)
	for _, rel := range t.rels {
		if t.err = ctx.Err(); t.err != nil {
			return
		}
		var f found
		if f, t.err = s.file(ctx, rel); t.err != nil {
			return
		}
		if f.count > 0 {
			t.out = append(t.out, f)
		}
	}
}

// report cuts the page out of what was found.
func (s *searcher) report(all []found) *result {
	res := &result{}
	var more bool
	shown := 0
	switch s.in.Mode {
	case "files_only":
		part, m := page(s, all)
		for _, f := range part {
			res.Files = append(res.Files, s.shown(f.rel))
		}
		more, shown = m, len(part)
		res.TotalCount = min(len(all), s.need-1)
	case "count":
		part, m := page(s, all)
		res.Counts = map[string]int{}
		for _, f := range part {
			res.Counts[s.shown(f.rel)] = f.count
			res.TotalCount += f.count
		}
		more, shown = m, len(part)
	default:
		more, shown = s.lines(all, res)
	}
	s.finish(res, more, shown)
	return res
}

// lines takes the matching lines of the page, each with its context.
func (s *searcher) lines(all []found, res *result) (more bool, shown int) {
	n := 0 // matching lines so far
	for _, f := range all {
		from := len(res.Matches)
		var pending []match // context before a match that may not be shown
		for _, m := range f.matches {
			if m.Context {
				pending = append(pending, m)
				continue
			}
			if n++; n > s.in.Offset+*s.in.Limit {
				more = true
				break
			}
			if n > s.in.Offset {
				res.Matches = append(res.Matches, append(pending, m)...)
				shown++
			}
			pending = nil
		}
		if !more && len(res.Matches) > from {
			res.Matches = append(res.Matches, pending...)
		}
		if f.masked && len(res.Matches) > from {
			res.Redacted = true
		}
		if more {
			// What stands between the last match shown and the next belongs to
			// the first as far as its context reaches.
			res.Matches = append(res.Matches, s.after(res.Matches, f, from)...)
			break
		}
	}
	res.TotalCount = min(n, s.in.Offset+*s.in.Limit)
	return more, shown
}

// after is the context that follows the last match shown of a file.
func (s *searcher) after(shown []match, f found, from int) []match {
	if len(shown) == from {
		return nil
	}
	last := shown[len(shown)-1].Line
	var out []match
	for _, m := range f.matches {
		if m.Line > last && m.Line <= last+s.in.Context {
			if !m.Context {
				break
			}
			out = append(out, m)
		}
	}
	return out
}
