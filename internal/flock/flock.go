// Package flock keeps processes of one machine from changing the same thing at
// once, by a lock on a file that the kernel drops when its holder dies. It
// knows nothing of what the file stands for, and it is advisory: who does not
// ask for the lock is not held up. The original's locks are of the same kind.
package flock

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// ErrHeld says that somebody else has the lock.
var ErrHeld = errors.New("another process holds it")

// Lock is a lock that is held.
type Lock struct{ file *os.File }

// Try takes the lock of a file if it is free. One that is not there is made; a
// path that ends in a separator is a directory, which has to be there.
func Try(path string) (*Lock, error) {
	for {
		f, err := open(path)
		if err != nil {
			return nil, err
		}
		if l, err := taken(path, f, lock(f, false)); !errors.Is(err, errReplaced) {
			return l, err
		}
	}
}

// Acquire takes the lock, and waits for it until ctx ends.
func Acquire(ctx context.Context, path string) (*Lock, error) {
	l, err := Try(path)
	for errors.Is(err, ErrHeld) || errors.Is(err, errReplaced) {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("lock %s: %w (%w)", path, ErrHeld, context.Cause(ctx))
		}
		l, err = wait(ctx, path)
	}
	return l, err
}

// wait is Acquire for one file; ErrHeld says that ctx has ended.
func wait(ctx context.Context, path string) (*Lock, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	got := make(chan error)
	go func() {
		err := lock(f, true)
		select {
		case got <- err:
		case <-ctx.Done(): // nobody waits for it any more
			release(f)
		}
	}()
	select {
	case err := <-got:
		return taken(path, f, err)
	case <-ctx.Done():
		return nil, ErrHeld
	}
}

var errReplaced = errors.New("it was replaced meanwhile")

// taken makes sure that the file that was locked is still the one at the path:
// its last holder may have removed it.
func taken(path string, f *os.File, err error) (*Lock, error) {
	if err == nil {
		mine, err1 := f.Stat()
		there, err2 := os.Stat(path)
		switch {
		case err1 == nil && err2 == nil && os.SameFile(mine, there):
			return &Lock{f}, nil
		case err1 == nil && (err2 == nil || errors.Is(err2, os.ErrNotExist)):
			err = errReplaced
		default:
			err = errors.Join(err1, err2)
		}
	}
	release(f)
	return nil, &os.PathError{Op: "lock", Path: path, Err: err}
}

func open(path string) (*os.File, error) {
	if path != "" && os.IsPathSeparator(path[len(path)-1]) {
		return os.Open(path)
	}
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
}

// Release gives the lock back. The file stays.
func (l *Lock) Release() { release(l.file) }

// Remove gives the lock back and removes its file, where the system can remove
// a file that somebody may be opening.
func (l *Lock) Remove() {
	if removable {
		_ = os.Remove(l.file.Name()) // one that stays serves the next holder
	}
	release(l.file)
}

func release(f *os.File) {
	unlock(f)     // a child that is being started may still have the descriptor
	_ = f.Close() // nothing was written
}

// File is the file that is locked. A child that inherits it keeps the lock when
// this process is killed.
func (l *Lock) File() *os.File { return l.file }
