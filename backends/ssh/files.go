package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/pkg/sftp"

	"github.com/hermes-go/hermes/backend"
)

// files reads by SFTP, which takes any part of a file at once. What SFTP tells
// of a file has whole seconds only, so looking at files stays with the shell,
// and a server without SFTP is served by it altogether.
type files struct {
	backend.FileSystem
	machine *machine

	mu     sync.Mutex
	client *sftp.Client
	link   *link
	none   bool // the server has no SFTP
}

// sftp is the client, made at the first use and after a break; nil: there is none.
func (f *files) sftp(ctx context.Context) (*sftp.Client, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.none || f.client != nil && !f.link.broken() {
		return f.client, nil
	}
	l, err := f.machine.link(ctx)
	if err != nil {
		return nil, err
	}
	c, err := sftp.NewClient(l.client)
	if err != nil {
		f.machine.release(l)
		if l.broken() {
			return nil, fmt.Errorf("ssh to %s: %w", f.machine.target, err)
		}
		f.none = true
		return nil, nil
	}
	f.client, f.link = c, l
	return c, nil
}

func (f *files) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.client != nil {
		_ = f.client.Close() // it holds nothing
		f.machine.release(f.link)
		f.client = nil
	}
}

func (f *files) Open(ctx context.Context, name string) (backend.File, error) {
	info, err := f.Stat(ctx, name)
	if err != nil {
		return nil, err
	}
	c, err := f.sftp(ctx)
	if err != nil {
		return nil, err
	}
	if c == nil || !info.Mode().IsRegular() {
		return f.FileSystem.Open(ctx, name) // which says why a pipe is not opened
	}
	r, err := c.Open(name)
	if err != nil {
		return nil, err
	}
	return &file{r, info}, nil
}

// file is open by SFTP, with what the shell says of it.
type file struct {
	*sftp.File
	info fs.FileInfo
}

func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	if n == len(p) && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}
