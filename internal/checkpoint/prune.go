package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hermes-go/hermes/internal/flock"
)

const pruneMark = ".last_prune"

// tidy keeps a store within its number of snapshots at once, and begins a
// clean-up of all stores when one is due.
func (s *Store) tidy(r *repo) {
	if err := r.shorten(s.ctx, s.MaxSnapshots); err != nil && s.ctx.Err() == nil {
		s.sayOnce(fmt.Errorf("old checkpoints of %s were not removed: %w", r.tree, err), r.tree)
	}
	if !s.due() {
		return
	}
	s.wg.Go(func() {
		err := s.prune(s.ctx)
		if err == nil && s.ctx.Err() == nil {
			err = s.pruned()
		}
		if err != nil && s.ctx.Err() == nil {
			s.Say(fmt.Sprintf("old checkpoints were not cleaned up: %v", err))
		}
	})
}

// due reports whether it is time for a clean-up.
func (s *Store) due() bool {
	every := s.Interval
	if every <= 0 {
		every = 24 * time.Hour
	}
	info, err := os.Stat(filepath.Join(s.Dir, pruneMark))
	return err != nil || s.Now().Sub(info.ModTime()) >= every
}

// pruned notes that a clean-up went through to its end.
func (s *Store) pruned() error {
	path, now := filepath.Join(s.Dir, pruneMark), s.Now()
	if err := os.WriteFile(path, fmt.Appendf(nil, "%d", now.Unix()), 0o600); err != nil {
		return err
	}
	return os.Chtimes(path, now, now)
}

// shorten forgets all but the newest snapshots. Their files are removed by the
// next clean-up.
func (r *repo) shorten(ctx context.Context, keep int) error {
	out, err := r.run(ctx, nil, "rev-list", fmt.Sprintf("--max-count=%d", keep+1), "HEAD")
	all := strings.Fields(string(out))
	if err != nil || len(all) <= keep {
		return err
	}
	// Git's history ends at a commit that this file names.
	path := filepath.Join(r.dir, "shallow")
	if err := os.WriteFile(path+".tmp", []byte(all[keep-1]+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

// prune removes stores that are too old or whose tree is gone, where that is
// configured, and the files of forgotten snapshots.
func (s *Store) prune(ctx context.Context) error {
	list, err := os.ReadDir(s.Dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, d := range list {
		path := filepath.Join(s.Dir, d.Name())
		switch {
		case ctx.Err() != nil:
			return errors.Join(errs...)
		case strings.HasPrefix(d.Name(), ".new-"):
			if info, err := d.Info(); err == nil && s.Now().Sub(info.ModTime()) > time.Hour { // nobody makes it any more
				errs = append(errs, os.RemoveAll(path))
			}
		case d.IsDir():
			errs = append(errs, s.pruneOne(ctx, path))
		}
	}
	return errors.Join(errs...)
}

func (s *Store) pruneOne(ctx context.Context, dir string) error {
	b, err := os.ReadFile(filepath.Join(dir, "HERMES_WORKDIR"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // not ours
	}
	if err != nil {
		return err
	}
	tree := strings.TrimSpace(string(b))
	if s.AutoPrune && s.unwanted(dir, tree) {
		return s.drop(dir)
	}
	r, err := s.open(ctx, tree, false)
	if err != nil {
		return err
	}
	defer r.close()
	return r.clean(ctx)
}

// unwanted reports whether a whole store goes: its tree is gone, or nothing
// was saved for the time that snapshots are kept.
func (s *Store) unwanted(dir, tree string) bool {
	if _, err := os.Stat(filepath.Join(s.Dir, intentName+filepath.Base(dir)+".json")); err == nil {
		return false // a restore is to be finished
	}
	if _, err := os.Stat(tree); errors.Is(err, fs.ErrNotExist) && s.DeleteOrphans {
		return true
	}
	info, err := os.Stat(filepath.Join(dir, "index"))
	return err == nil && s.Retention > 0 && s.Now().Sub(info.ModTime()) > s.Retention
}

// drop removes a store as a whole: under another name first, so that a kill
// leaves nothing that looks like one.
func (s *Store) drop(dir string) error {
	lock, err := flock.Try(dir + ".lock")
	if errors.Is(err, flock.ErrHeld) {
		return nil // it is in use
	}
	if err != nil {
		return err
	}
	defer lock.Remove()
	gone, err := os.MkdirTemp(s.Dir, ".new-")
	if err != nil {
		return err
	}
	if err := os.Rename(dir, filepath.Join(gone, "store")); err != nil {
		return errors.Join(err, os.Remove(gone))
	}
	return os.RemoveAll(gone)
}

// clean removes the files of snapshots that are forgotten, and forgets more
// while the store is too large.
func (r *repo) clean(ctx context.Context) error {
	for {
		if err := r.gc(ctx); err != nil {
			return err
		}
		size, err := sizeOf(r.dir)
		if err != nil || size <= maxStore {
			return err
		}
		all, err := r.list(ctx)
		if err != nil || len(all) < 2 {
			return err
		}
		if err := r.shorten(ctx, (len(all)+1)/2); err != nil {
			return err
		}
	}
}

// gc may take longer than other work; it ends with the program.
func (r *repo) gc(ctx context.Context) error {
	return r.streamFor(ctx, r.dir, nil, io.Discard, "gc", "-q", "--prune=now")
}

func sizeOf(dir string) (size int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}
