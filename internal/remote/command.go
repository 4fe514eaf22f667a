//go:build !windows

package remote

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"github.com/charmbracelet/x/xpty"
)

// Command starts a program of this machine as the way to one elsewhere, as the
// programs of container systems are. cmd has its path, arguments and
// environment.
func Command(cmd *exec.Cmd, p Program) (Conn, error) {
	c := &command{cmd: cmd}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if p.Terminal {
		return c, c.onTerminal(p)
	}
	inR, inW, err1 := os.Pipe()
	outR, outW, err2 := os.Pipe()
	errR, errW, err3 := os.Pipe()
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, errW
	c.in, c.out, c.err = inW, outR, errR
	err := cmd.Start()
	_, _, _ = inR.Close(), outW.Close(), errW.Close() // the child has its own
	if err != nil {
		_ = c.Close() // nothing was begun
		return nil, err
	}
	return c, nil
}

func (c *command) onTerminal(p Program) error {
	pty, err := xpty.NewPty(p.Cols, p.Rows)
	if err != nil {
		return err
	}
	c.cmd.SysProcAttr.Setctty = true
	if err := pty.Start(c.cmd); err != nil {
		return errors.Join(err, pty.Close())
	}
	if u, ok := pty.(*xpty.UnixPty); ok {
		_ = u.Slave().Close() // so that its end is seen
	}
	c.in, c.out, c.err, c.pty = pty, pty, strings.NewReader(""), pty
	return nil
}

// command is the way that such a program is.
type command struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	out, err io.Reader
	pty      xpty.Pty
	once     sync.Once
	code     int
}

func (c *command) Write(p []byte) (int, error) { return c.in.Write(p) }
func (c *command) Out() io.Reader              { return c.out }
func (c *command) Err() io.Reader              { return c.err }

func (c *command) CloseWrite() error {
	if c.pty != nil {
		return nil // a terminal has no end of input but a character
	}
	return c.in.Close()
}

func (c *command) Wait() (int, error) {
	c.once.Do(func() {
		_ = xpty.WaitProcess(context.Background(), c.cmd) // the state says how it ended
		c.code = c.cmd.ProcessState.ExitCode()
	})
	if c.code < 0 {
		return 0, errors.New("the program that led there was killed")
	}
	return c.code, nil
}

func (c *command) Close() error {
	_ = c.in.Close() // it is given up
	for _, r := range []io.Reader{c.out, c.err} {
		if f, ok := r.(io.Closer); ok && c.pty == nil {
			_ = f.Close() // as above
		}
	}
	go func() { _, _ = c.Wait() }() // so that it does not stay as a zombie
	return nil
}
