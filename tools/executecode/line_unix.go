//go:build !windows

package executecode

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// here reaches a script on this machine: its pipes are ours too.
type here struct {
	dir string
	in  *os.File
}

// answerLimit is how long a script may take to read an answer.
const answerLimit = 30 * time.Second

func newHere(dir string) (*here, error) {
	name := filepath.Join(dir, "rpc")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		return nil, &os.PathError{Op: "mkfifo", Path: name, Err: err}
	}
	// Open for writing too, so that it does not end between two callers.
	f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return &here{dir, f}, nil
}

func (h *here) Read(p []byte) (int, error) { return h.in.Read(p) }

func (h *here) take(_ context.Context, file string) ([]byte, error) {
	name := filepath.Join(h.dir, file)
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _, _ = f.Close(), os.Remove(name) }() // it has been read, and its directory goes
	return readAll(f)
}

func (h *here) reply(_ context.Context, pipe string, text []byte) error {
	// Only a pipe, and only one that somebody reads.
	f, err := os.OpenFile(filepath.Join(h.dir, pipe), os.O_WRONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // the write tells
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return os.ErrInvalid
	}
	if err := f.SetWriteDeadline(time.Now().Add(answerLimit)); err != nil {
		return err
	}
	_, err = f.Write(text)
	return err
}

func (h *here) close() { _ = h.in.Close() } // nothing is kept in it
