package hostshell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/charmbracelet/x/xpty"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/shellstate"
)

var _ backend.Spawner = (*Shell)(nil)

// process is a command that runs beside others.
type process struct {
	id    backend.ProcessID
	cmd   *exec.Cmd
	group *group
	in    io.WriteCloser
	done  chan struct{}
	exit  backend.Exit

	killing chan struct{} // closed once Kill has begun
	once    sync.Once
}

var _ backend.Process = (*process)(nil)

// Spawn implements backend.Spawner.
func (e *Shell) Spawn(ctx context.Context, c backend.Cmd, o backend.SpawnOptions) (backend.Process, error) {
	pre, err := e.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	dir, note, err := e.place(c.Dir)
	if err != nil {
		return nil, err
	}
	gate, err := newGate(o.Ready != nil)
	if err != nil {
		return nil, fmt.Errorf("start the command: %w", err)
	}
	defer gate.close()
	extra := append([]string{"PYTHONUNBUFFERED=1"}, c.Env...)
	if o.PTY {
		extra = append(extra, "TERM=xterm-256color")
	}
	cmd, cleanup, err := e.command(gate.before()+shellstate.Unreported(e.shell, pre.Before(c.Script)+c.Script), dir, extra)
	if err != nil {
		return nil, err
	}
	gate.pass(cmd)
	p := &process{cmd: cmd, done: make(chan struct{}), killing: make(chan struct{})}
	p.exit.Dir = dir
	if note != "" {
		p.exit.Notes = []string{note}
	}
	var ended func() // reads the output to its end, once the process is gone
	switch {
	case o.PTY:
		ended, err = p.onTerminal(c, o)
	case o.File != "":
		ended, err = p.intoFile(o.File)
	default:
		ended, err = p.onPipes(c)
	}
	if err != nil {
		cleanup()
		return nil, fmt.Errorf("start the command: %w", err)
	}
	p.group = groupOf(cmd)
	p.id = backend.ProcessID{Kind: e.o.Kind, PID: cmd.Process.Pid, Start: startOf(cmd.Process.Pid)}
	go p.wait(ended, cleanup)
	if o.Ready != nil {
		if err = o.Ready(p.id); err == nil {
			err = gate.open()
		}
		if err != nil {
			gate.close()
			_ = p.Kill(context.WithoutCancel(ctx)) // it has not begun
			return nil, fmt.Errorf("start the command: %w", err)
		}
	}
	return p, nil
}

// wait sees the process through. What it left in its group still belongs to
// it, as long as it holds the output.
func (p *process) wait(ended, cleanup func()) {
	_ = xpty.WaitProcess(context.Background(), p.cmd) // the state says how it ended
	ended()
	cleanup()
	p.exit.Reason = backend.Exited
	p.exit.Code = codeOf(p.cmd.ProcessState)
	p.exit.Left = p.group.left()
	close(p.done)
}

func (p *process) onPipes(c backend.Cmd) (func(), error) {
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, inR.Close(), inW.Close())
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = inR, outW, outW
	err = p.cmd.Start()
	_, _ = inR.Close(), outW.Close() // the child has its own
	if err != nil {
		return nil, errors.Join(err, inW.Close(), outR.Close())
	}
	p.in = inW
	eof := make(chan struct{})
	go func() {
		defer close(eof)
		copyOutput(c.Output, outR)
	}()
	return func() {
		select {
		case <-eof:
		case <-p.lonely(): // only strangers hold the output
			p.exit.Held = !drain(outR, c.Output, eof)
		case <-p.killing:
			p.exit.Held = !drain(outR, c.Output, eof)
		}
		_, _ = inW.Close(), outR.Close() // nobody is at the other end
	}, nil
}

// lonely is closed at once when nothing of the group lives, else never: its
// members then hold the output, and their end is seen there.
func (p *process) lonely() <-chan struct{} {
	if p.group.left() != 0 {
		return nil
	}
	c := make(chan struct{})
	close(c)
	return c
}

func (p *process) intoFile(name string) (func(), error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	p.cmd.Stdout, p.cmd.Stderr = f, f
	err = p.cmd.Start()
	return func() {}, errors.Join(err, f.Close())
}

func (p *process) onTerminal(c backend.Cmd, o backend.SpawnOptions) (func(), error) {
	cols, rows := o.Cols, o.Rows
	if cols <= 0 || rows <= 0 {
		cols, rows = 120, 30
	}
	pty, err := xpty.NewPty(cols, rows)
	if err != nil {
		return nil, err
	}
	controlling(p.cmd.SysProcAttr)
	if err := pty.Start(p.cmd); err != nil {
		return nil, errors.Join(err, pty.Close())
	}
	end, err := ourEnd(pty)
	if err != nil {
		p.group = groupOf(p.cmd)
		p.group.kill()
		_ = xpty.WaitProcess(context.Background(), p.cmd) // it was killed
		return nil, errors.Join(err, pty.Close())
	}
	p.in = &terminalInput{end}
	eof := make(chan struct{})
	go func() {
		defer close(eof)
		buf := make([]byte, readSize)
		for {
			n, err := end.Read(buf)
			if n > 0 && c.Output != nil {
				_, _ = c.Output.Write(buf[:n]) // as in copyOutput: reading goes on
			}
			if err != nil {
				return
			}
		}
	}()
	return func() {
		// The other end stays open in this program too, so the end of the output
		// is never seen: what was written by now is all there is.
		stopReading(end)
		<-eof
		_, _ = end.Close(), pty.Close() // nobody is at the other end
	}, nil
}

// terminalInput ends input by the control character for it.
type terminalInput struct{ io.Writer }

func (t *terminalInput) Close() error {
	_, err := t.Write([]byte{4})
	return err
}

func (p *process) ID() backend.ProcessID { return p.id }

var errNoInput = errors.New("it takes no input")

func (p *process) Write(b []byte) (int, error) {
	if p.in == nil {
		return 0, errNoInput
	}
	return p.in.Write(b)
}

func (p *process) CloseInput() error {
	if p.in == nil {
		return errNoInput
	}
	return p.in.Close()
}

func (p *process) Kill(ctx context.Context) error {
	p.once.Do(func() {
		close(p.killing)
		p.group.end(p.done, p.done)
		if left := p.group.left(); left != 0 {
			p.group.kill()
		}
		p.group.release()
	})
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(killGrace):
		return errors.New("it does not end")
	}
}

func (p *process) Done() <-chan struct{} { return p.done }
func (p *process) Exit() backend.Exit    { return p.exit }

// Alive tells whether a process still runs.
func Alive(id backend.ProcessID) bool {
	return id.PID > 0 && id.Start != "" && startOf(id.PID) == id.Start
}

// End ends a process of an earlier run, with its group.
func End(ctx context.Context, id backend.ProcessID) error {
	if !Alive(id) {
		return nil
	}
	return endGroup(ctx, id)
}
