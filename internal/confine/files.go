package confine

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/hermes-go/hermes/backend"
)

// Files reaches files through a confined helper process, so that the kernel
// and not a comparison of names says what is allowed. The helper is started at
// the first use, and anew when it has ended.
type Files struct {
	Policy  Policy
	Level   Level
	Env     []string // of the helper
	HomeDir string

	mu     sync.Mutex
	in     io.WriteCloser
	out    *bufio.Reader
	cmd    *exec.Cmd
	said   *bytes.Buffer
	run    int // which helper, as open files end with theirs
	closed bool
}

var _ backend.FileSystem = (*Files)(nil)

func (f *Files) start() error {
	if f.closed {
		return errors.New("the environment has been closed")
	}
	if f.cmd != nil {
		return nil
	}
	cmd := &exec.Cmd{Env: f.Env, Dir: "/"}
	if err := Wrap(cmd, f.Policy, f.Level); err != nil {
		return err
	}
	f.said = &bytes.Buffer{}
	cmd.Stderr = f.said
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the confined reader of files: %w", err)
	}
	f.in, f.out, f.cmd = in, bufio.NewReaderSize(out, 64<<10), cmd
	f.run++
	return nil
}

func (f *Files) stop() {
	if f.cmd == nil {
		return
	}
	_ = f.in.Close() // its end of input is its end
	_ = f.cmd.Wait() // how it ended is of no interest
	f.cmd, f.in = nil, nil
}

// Close ends the helper.
func (f *Files) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stop()
	f.closed = true
}

func (f *Files) ask(ctx context.Context, q request) (answer, error) {
	a, _, err := f.askRun(ctx, q, 0)
	return a, err
}

// askRun asks one helper in particular, unless run is 0.
func (f *Files) askRun(ctx context.Context, q request, run int) (a answer, which int, err error) {
	if err := ctx.Err(); err != nil {
		return a, 0, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if run != 0 && (run != f.run || f.cmd == nil) {
		return a, 0, errors.New("the confined reader of files has ended")
	}
	if err := f.start(); err != nil {
		return a, 0, err
	}
	if err = send(f.in, q); err == nil {
		err = receive(f.out, &a)
	}
	if err != nil {
		f.stop()
		return a, 0, fmt.Errorf("the confined reader of files has ended: %w %s", err, strings.TrimSpace(f.said.String()))
	}
	if a.Err != nil {
		return a, f.run, &fs.PathError{Op: q.Op, Path: q.Name, Err: a.Err}
	}
	return a, f.run, nil
}

func (f *Files) Open(ctx context.Context, name string) (backend.File, error) {
	a, run, err := f.askRun(ctx, request{Op: "open", Name: name}, 0)
	if err != nil {
		return nil, err
	}
	return &file{files: f, ctx: context.WithoutCancel(ctx), run: run, id: a.File, info: *a.Info, name: name}, nil
}

func (f *Files) Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	a, err := f.ask(ctx, request{Op: "stat", Name: name})
	if err != nil {
		return nil, err
	}
	return *a.Info, nil
}

func (f *Files) Lstat(ctx context.Context, name string) (fs.FileInfo, error) {
	a, err := f.ask(ctx, request{Op: "lstat", Name: name})
	if err != nil {
		return nil, err
	}
	return *a.Info, nil
}

func (f *Files) ReadDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	a, err := f.ask(ctx, request{Op: "list", Name: name})
	if err != nil {
		return nil, err
	}
	list := make([]fs.DirEntry, len(a.List))
	for i, d := range a.List {
		list[i] = d
	}
	return list, nil
}

func (f *Files) WriteFile(ctx context.Context, name string, data []byte, o backend.WriteOptions) error {
	_, err := f.ask(ctx, request{Op: "write", Name: name, Data: data, O: o})
	return err
}

func (f *Files) Mkdir(ctx context.Context, name string) error {
	_, err := f.ask(ctx, request{Op: "mkdir", Name: name})
	return err
}

func (f *Files) Remove(ctx context.Context, name string) error {
	_, err := f.ask(ctx, request{Op: "remove", Name: name})
	return err
}

func (f *Files) Rename(ctx context.Context, from, to string) error {
	_, err := f.ask(ctx, request{Op: "rename", Name: from, To: to})
	return err
}

func (f *Files) RealPath(ctx context.Context, name string) (string, error) {
	a, err := f.ask(ctx, request{Op: "real", Name: name})
	return a.Name, err
}

func (f *Files) Home(context.Context) (string, error) {
	if f.HomeDir == "" {
		return "", errors.New("the home directory is not known")
	}
	return f.HomeDir, nil
}

func (*Files) TempDir(context.Context) (string, error) { return os.TempDir(), nil }

// file is one that the helper has open.
type file struct {
	files *Files
	ctx   context.Context
	run   int
	id    int
	off   int64
	info  info
	name  string
}

// piece is what is asked for at most at once.
const piece = 1 << 20

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) {
		a, _, err := f.files.askRun(f.ctx, request{Op: "read", Name: f.name, File: f.id, Off: off + int64(n), Size: min(piece, len(p)-n)}, f.run)
		n += copy(p[n:], a.Data)
		if err != nil {
			return n, err
		}
		if a.EOF {
			if n == len(p) {
				return n, nil
			}
			return n, io.EOF
		}
	}
	return n, nil
}

func (f *file) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p[:min(len(p), piece)], f.off)
	f.off += int64(n)
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }

func (f *file) Close() error {
	_, _, err := f.files.askRun(f.ctx, request{Op: "close", File: f.id}, f.run)
	if f.files.gone(f.run) {
		return nil // it was opened for reading
	}
	return err
}

func (f *Files) gone(run int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cmd == nil || f.run != run
}
