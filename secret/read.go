package secret

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// ErrIrregular says that what was to be read is no regular file.
var ErrIrregular = errors.New("not a regular file")

// ReadFile reads a file that a person is to write, as os.ReadFile does, and
// refuses with ErrIrregular what is none, after following links: reading a
// pipe may wait for ever. A link to the null device is an empty file.
func ReadFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, linkLoop(path, err)
	}
	defer func() { _ = f.Close() }() // opened for reading
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.Mode().IsRegular():
		return io.ReadAll(f)
	case isNull(info):
		return nil, nil
	}
	return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it is %s, %w", kindOf(info.Mode()), ErrIrregular)}
}

func isNull(info fs.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}

func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// linkLoop says in plain words what the system calls "too many levels".
func linkLoop(path string, err error) error {
	if errors.Is(err, syscall.ELOOP) {
		return &fs.PathError{Op: "read", Path: path, Err: errors.New("it is a loop of links")}
	}
	return err
}

// envWait is how long a .env that is a pipe may take: the programs that keep
// keys outside of files write it when it is read, and may ask a person first.
const envWait = 5 * time.Second

// readEnv reads a .env, which may be a pipe.
func readEnv(path string, wait time.Duration) ([]byte, error) {
	if info, err := os.Stat(path); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return ReadFile(path)
	}
	type answer struct {
		text []byte
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		text, err := os.ReadFile(path)
		got <- answer{text, err}
	}()
	limit := time.NewTimer(wait)
	defer limit.Stop()
	select {
	case a := <-got:
		return a.text, a.err
	case <-limit.C:
		endReading(path)
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it is a pipe, and nobody wrote it to its end within %v", wait)}
	}
}
