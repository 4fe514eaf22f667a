package hostshell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/shellstate"
)

const (
	termGrace  = time.Second            // between TERM and KILL
	killGrace  = 2 * time.Second        // for the kernel to end a killed process
	lateOutput = 100 * time.Millisecond // for output of helpers that end just after the shell
	readSize   = 64 << 10
)

// run is one command on its way.
type run struct {
	cancel context.CancelCauseFunc
	done   chan struct{}
}

func (e *Shell) Exec(ctx context.Context, c backend.Cmd) (backend.Exit, error) {
	if err := ctx.Err(); err != nil {
		return backend.Exit{}, err
	}
	r, ctx, err := e.enter(ctx)
	if err != nil {
		return backend.Exit{}, err
	}
	defer e.leave(r)
	pre, err := e.snapshot(ctx)
	if err != nil {
		return backend.Exit{}, err
	}
	dir, note, err := e.place(c.Dir)
	if err != nil {
		return backend.Exit{}, err
	}
	state, err := newStateFile()
	if err != nil {
		return backend.Exit{}, fmt.Errorf("start the command: %w", err)
	}
	defer state.close()

	gate, err := newGate(true)
	if err != nil {
		return backend.Exit{}, fmt.Errorf("start the command: %w", err)
	}
	defer gate.close()
	cmd, cleanup, err := e.command(gate.before()+shellstate.Wrap(e.shell, pre.Before(c.Script)+c.Script, state.place(e.shell)), dir, c.Env)
	if err != nil {
		return backend.Exit{}, err
	}
	defer cleanup()
	state.pass(cmd)
	gate.pass(cmd)
	exit, err := e.finish(ctx, cmd, gate, c)
	if err != nil {
		return exit, err
	}
	exit.Dir = dir
	if note != "" {
		exit.Notes = append(exit.Notes, note)
	}
	if b, err := state.read(); err == nil {
		e.remember(b, c, dir)
	}
	return exit, nil
}

func (e *Shell) enter(ctx context.Context) (*run, context.Context, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	r := &run{cancel: cancel, done: make(chan struct{})}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		cancel(errClosed)
		return nil, nil, errClosed
	}
	e.running[r] = struct{}{}
	return r, ctx, nil
}

func (e *Shell) leave(r *run) {
	e.mu.Lock()
	delete(e.running, r)
	e.mu.Unlock()
	close(r.done)
	r.cancel(nil)
}

// command prepares the shell process for a script.
func (e *Shell) command(script, dir string, extra []string) (*exec.Cmd, func(), error) {
	if strings.IndexByte(script, 0) >= 0 {
		return nil, nil, errors.New("start the command: it holds a NUL byte")
	}
	cleanup := func() {}
	file := alwaysByFile || len(script) > shellstate.MaxArg
	if file {
		name, err := scriptFile(e.shell, script)
		if err != nil {
			return nil, nil, fmt.Errorf("start the command: %w", err)
		}
		cleanup = func() { _ = os.Remove(name) } // a leftover is in the temporary directory
		script = name
	}
	a := shellstate.Args(e.shell, script, file)
	e.mu.Lock()
	e.late()
	vars := append(make([]string, 0, len(e.vars)+len(extra)+1), e.vars...)
	e.mu.Unlock()
	vars = append(append(vars, extra...), "PWD="+dir)
	cmd := &exec.Cmd{Path: e.shell, Args: a, Dir: dir, Env: vars}
	cmd.SysProcAttr = ownGroup()
	if e.o.Launch != nil {
		if err := e.o.Launch(cmd); err != nil {
			cleanup()
			return nil, nil, fmt.Errorf("start the command: %w", err)
		}
	}
	return cmd, cleanup, nil
}

// finish starts a command and sees it through. The gate opens once the command
// is sure to end with this program.
func (e *Shell) finish(ctx context.Context, cmd *exec.Cmd, gate *gate, c backend.Cmd) (backend.Exit, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return backend.Exit{}, fmt.Errorf("start the command: %w", err)
	}
	defer func() { _ = r.Close() }() // opened for reading
	cmd.Stdout, cmd.Stderr = w, w
	cmd.Stdin = c.Stdin
	cmd.WaitDelay = lateOutput // a stdin that is never read must not keep us
	err = cmd.Start()
	_ = w.Close() // the child has its own
	if err != nil {
		return backend.Exit{}, fmt.Errorf("start the command: %w", err)
	}
	g := groupOf(cmd)
	defer g.release()
	defer foreground.drop(g.id)
	if err := foreground.hold(e.shell, g.id); err != nil && e.o.Log != nil {
		e.o.Log.Warn("a command would survive this program", "err", err)
	}
	_ = gate.open() // when the shell is gone already, its end says more

	eof := make(chan struct{})
	go func() {
		defer close(eof)
		copyOutput(c.Output, r)
	}()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = cmd.Wait() // the state says how it ended
	}()

	reason := backend.Exited
	var limit <-chan time.Time
	if c.Timeout > 0 {
		t := time.NewTimer(c.Timeout)
		defer t.Stop()
		limit = t.C
	}
	select {
	case <-gone:
	case <-limit:
		reason = backend.TimedOut
	case <-ctx.Done():
		reason = backend.Interrupted
	}
	if reason != backend.Exited {
		g.end(gone, eof)
	}
	exit := backend.Exit{Reason: reason, Held: !drain(r, c.Output, eof)}
	switch reason {
	case backend.TimedOut:
		exit.Code = backend.CodeTimeout
	case backend.Interrupted:
		exit.Code = backend.CodeInterrupt
	default:
		exit.Code = codeOf(cmd.ProcessState)
		exit.Left = g.left()
	}
	return exit, nil
}

// copyOutput moves bytes until the end or a deadline. After the writer failed
// it goes on reading: a command must not stop because nobody listens.
func copyOutput(w io.Writer, r *os.File) {
	buf := make([]byte, readSize)
	for {
		n, err := r.Read(buf)
		if n > 0 && w != nil {
			if _, werr := w.Write(buf[:n]); werr != nil {
				w = nil
			}
		}
		if err != nil {
			return
		}
	}
}

// drain takes what the command has written by the time it ended. Whoever
// still holds the pipe gets a moment to finish, no more; the answer is false
// then.
func drain(r *os.File, w io.Writer, eof <-chan struct{}) bool {
	deadline := time.Now().Add(lateOutput)
	if r.SetReadDeadline(deadline) != nil {
		select { // no deadlines on this system's pipes
		case <-eof:
			return true
		case <-time.After(lateOutput):
			return false
		}
	}
	<-eof
	if time.Now().Before(deadline) {
		return true
	}
	// The deadline may have cut off a reader that was only slow.
	return readReady(r, w)
}

// remember keeps the state a command left. Of a command with a directory of
// its own, the directory does not count.
func (e *Shell) remember(report []byte, c backend.Cmd, ran string) {
	dir, exports, ok := shellstate.ParseState(report)
	if !ok {
		return
	}
	dir = fromShell(dir)
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.Dir == "" {
		if !filepath.IsAbs(dir) {
			dir = ran // it removed the directory it stood in
		}
		e.cwd = dir
	}
	if exports == e.dump {
		return
	}
	vars, ok := shellstate.ParseExports(exports)
	if !ok {
		return
	}
	e.dump = exports
	if len(c.Env) > 0 {
		vars, e.dump = shellstate.Without(vars, e.vars, c.Env), ""
	}
	e.vars = vars
}

// readFrom reads a file from its beginning, wherever it was written last.
func readFrom(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, info.Size())
	n, err := f.ReadAt(b, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b[:n], err
}
