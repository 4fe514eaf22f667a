//go:build !windows

package hostshell

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/charmbracelet/x/xpty"
	"golang.org/x/sys/unix"

	"github.com/hermes-go/hermes/backend"
)

// gateFD is where a shell waits for the word to begin.
const gateFD = 18

// gate keeps a shell from running its script until it is opened, and for ever
// when this program dies before.
type gate struct{ r, w *os.File }

func newGate(wanted bool) (*gate, error) {
	if !wanted {
		return &gate{}, nil
	}
	r, w, err := os.Pipe()
	return &gate{r, w}, err
}

func (g *gate) before() string {
	if g.r == nil {
		return ""
	}
	fd := strconv.Itoa(gateFD)
	return "read -r _ <&" + fd + " || exit 125; exec " + fd + "<&-; "
}

func (g *gate) pass(cmd *exec.Cmd) {
	if g.r != nil {
		pass(cmd, gateFD, g.r)
	}
}

// pass hands a file to a command as the descriptor of that number.
func pass(cmd *exec.Cmd, fd int, f *os.File) {
	if n := fd - 3 + 1; len(cmd.ExtraFiles) < n {
		cmd.ExtraFiles = append(cmd.ExtraFiles, make([]*os.File, n-len(cmd.ExtraFiles))...)
	}
	cmd.ExtraFiles[fd-3] = f
}

func (g *gate) open() error {
	_, err := g.w.WriteString("go\n")
	return err
}

func (g *gate) close() {
	if g.r != nil {
		_ = errors.Join(g.r.Close(), g.w.Close()) // at worst the command does not begin
		g.r = nil
	}
}

// ourEnd opens the program's end of a terminal anew, in a way that reading
// from it can be stopped.
func ourEnd(pty xpty.Pty) (*os.File, error) {
	u, ok := pty.(*xpty.UnixPty)
	if !ok {
		return nil, xpty.ErrUnsupported
	}
	fd := -1
	var err error
	if ctlErr := u.Control(func(master uintptr) {
		if fd, err = unix.FcntlInt(master, unix.F_DUPFD_CLOEXEC, 0); err == nil {
			err = unix.SetNonblock(fd, true)
		}
	}); ctlErr != nil {
		return nil, ctlErr
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "terminal"), nil
}

func stopReading(end *os.File) {
	_ = end.SetReadDeadline(time.Now().Add(lateOutput)) // it was made so that it has deadlines
}

func controlling(a *syscall.SysProcAttr) { a.Setctty = true }

// endGroup ends a group whose leader is no child of ours, so that its end can
// only be looked for.
func endGroup(ctx context.Context, id backend.ProcessID) error {
	g := &group{id.PID}
	g.signal(syscall.SIGTERM)
	if !gone(ctx, id, termGrace) {
		g.signal(syscall.SIGKILL)
		if !gone(ctx, id, killGrace) {
			return errors.New("it does not end")
		}
	}
	g.signal(syscall.SIGKILL) // members that outlived their leader
	return nil
}

// looksEvery is how often the end of a process is looked for that cannot be
// waited for.
const looksEvery = 20 * time.Millisecond

func gone(ctx context.Context, id backend.ProcessID, limit time.Duration) bool {
	if done, ok := waitGone(ctx, id, limit); ok {
		return done
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(looksEvery)
	defer tick.Stop()
	for Alive(id) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return !Alive(id)
		}
	}
	return true
}
