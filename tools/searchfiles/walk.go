package searchfiles

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/files"
)

// tree is the part of a file system that is searched.
type tree struct {
	fs     backend.FileSystem
	root   string
	hidden bool
	join   func(...string) string

	skipKernel bool // leave out what is made up by the kernel

	unreadable, large, kernel atomic.Int64
}

// ofKernel tells of places whose files the kernel makes up while they are read:
// there are endless ones among them, and such that wait for something to happen.
func ofKernel(dir string) bool {
	for _, d := range []string{"/proc", "/sys", "/dev"} {
		if dir == d || strings.HasPrefix(dir, d+"/") && !strings.HasPrefix(dir, "/dev/shm") {
			return true
		}
	}
	return false
}

// walk calls each for every file below the root, in the order of paths by
// their elements, until it returns false. Links are not followed.
func (t *tree) walk(ctx context.Context, each func(rel string, e fs.DirEntry) bool) error {
	above, _ := t.above(ctx)
	_, err := t.dir(ctx, "", above, each)
	return err
}

// base is the root as the paths of levels are written.
func (t *tree) base() string { return strings.Trim(filepath.ToSlash(t.root), "/") }

// above reads the ignore files over the root. When they leave out the root
// itself they do not count: somebody asked for it by name.
func (t *tree) above(ctx context.Context) (l *level, out bool) {
	base := t.base()
	if base == "" {
		return nil, false
	}
	parts := strings.Split(base, "/")
	for i := range parts {
		rel := strings.Join(parts[:i], "/")
		dir := "/" + rel
		if filepath.VolumeName(t.root) != "" {
			if i == 0 {
				continue // a drive lies in no directory
			}
			dir = rel + "/"
		}
		l = t.level(ctx, l, rel, dir, nil)
		if l.ignores(strings.Join(parts[:i+1], "/"), true) {
			return nil, true
		}
	}
	return l, false
}

// level reads the ignore files of a directory. Its entries, when they are
// known, save looking for files that are not there.
func (t *tree) level(ctx context.Context, up *level, rel, dir string, entries []fs.DirEntry) *level {
	l := &level{up: up, rel: rel}
	any := false
	look := func(name string) bool {
		if entries == nil {
			_, err := t.fs.Lstat(ctx, t.join(dir, name))
			return err == nil
		}
		for _, e := range entries { // sorted: those with a dot come early
			if e.Name() == name {
				return true
			}
			if e.Name() > name {
				return false
			}
		}
		return false
	}
	for i, name := range ignoreFiles {
		if look(name) {
			if data, err := t.read(ctx, t.join(dir, name)); err == nil {
				l.files[i] = parseRules(data)
				any = true
			}
		}
	}
	if l.git = look(".git"); l.git || any {
		return l
	}
	return up
}

func (t *tree) read(ctx context.Context, name string) ([]byte, error) {
	f, err := t.fs.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading
	return files.ReadAll(ctx, f, 0, 1<<20)
}

// dir walks one directory; more is false when each wants no more.
func (t *tree) dir(ctx context.Context, rel string, up *level, each func(string, fs.DirEntry) bool) (more bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	abs := t.join(t.root, rel)
	if t.skipKernel && ofKernel(abs) {
		t.kernel.Add(1)
		return true, nil
	}
	entries, err := t.fs.ReadDir(ctx, abs)
	if err != nil {
		if rel == "" {
			return false, err
		}
		if !errors.Is(err, fs.ErrNotExist) { // else: gone meanwhile
			t.unreadable.Add(1)
		}
		return true, nil
	}
	if len(entries) == 0 {
		return true, nil
	}
	base := t.base()
	at := func(rel string) string {
		if base == "" {
			return rel
		}
		return base + "/" + rel
	}
	here := base
	if rel != "" {
		here = at(rel)
	}
	l := t.level(ctx, up, here, abs, entries)
	for _, e := range entries {
		name := e.Name()
		if t.skips(name) {
			continue
		}
		sub := name
		if rel != "" {
			sub = rel + "/" + name
		}
		isDir := e.IsDir()
		if !isDir && !e.Type().IsRegular() || l.ignores(at(sub), isDir) {
			continue
		}
		if isDir {
			more, err := t.dir(ctx, sub, l, each)
			if err != nil || !more {
				return more, err
			}
			continue
		}
		if !each(sub, e) {
			return false, nil
		}
	}
	return true, nil
}

// skips tells of names that are left out whatever stands in ignore files.
func (t *tree) skips(name string) bool {
	return name[0] == '.' && (!t.hidden || name == ".git")
}

// skipsPath is skips for a whole path below the root.
func (t *tree) skipsPath(rel string) bool {
	for part := range strings.SplitSeq(rel, "/") {
		if part != "" && t.skips(part) {
			return true
		}
	}
	return false
}

// before is the order of walk.
func before(a, b string) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] != b[i] {
			switch {
			case a[i] == '/':
				return -1
			case b[i] == '/':
				return 1
			}
			return int(a[i]) - int(b[i])
		}
	}
	return len(a) - len(b)
}
