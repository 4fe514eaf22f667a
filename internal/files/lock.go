package files

import (
	"context"
	"slices"
)

// lock is held by one writer of a path; it lives as long as somebody wants it.
type lock struct {
	held    chan struct{} // holds one token while locked
	wanting int
}

// Lock keeps other calls of this program from changing the same files. Paths
// are taken in one order, so that two patches never wait for each other.
func (v *View) Lock(ctx context.Context, paths ...string) (unlock func(), err error) {
	paths = slices.Clone(paths)
	slices.Sort(paths)
	paths = slices.Compact(paths)
	var have []string
	unlock = func() {
		for _, p := range have {
			v.shared.release(p, true)
		}
	}
	for _, p := range paths {
		l := v.shared.want(p)
		select {
		case l.held <- struct{}{}:
			have = append(have, p)
		case <-ctx.Done():
			v.shared.release(p, false)
			unlock()
			return nil, ctx.Err()
		}
	}
	return unlock, nil
}

func (s *shared) want(path string) *lock {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.locks[path]
	if l == nil {
		l = &lock{held: make(chan struct{}, 1)}
		s.locks[path] = l
	}
	l.wanting++
	return l
}

func (s *shared) release(path string, held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.locks[path]
	if held {
		<-l.held
	}
	if l.wanting--; l.wanting == 0 {
		delete(s.locks, path)
	}
}
