//go:build windows

package hostshell

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/charmbracelet/x/xpty"
	"golang.org/x/sys/windows"

	"github.com/hermes-go/hermes/backend"
)

// gate: a shell cannot be given a pipe by number here, so a command begins at
// once and is ended when it could not be written down.
type gate struct{}

func newGate(bool) (*gate, error)      { return &gate{}, nil }
func (g *gate) before() string         { return "" }
func (g *gate) pass(*exec.Cmd)         {}
func (g *gate) open() error            { return nil }
func (g *gate) close()                 {}
func controlling(*syscall.SysProcAttr) {}

// ourEnd: reading from a console ends when it is closed.
func ourEnd(pty xpty.Pty) (xpty.Pty, error) { return pty, nil }

func stopReading(end xpty.Pty) {
	<-time.After(lateOutput) // what the console still has to draw
	_ = end.Close()          // ends the reader; closing twice does no harm
}

func (g *group) kill() {
	if g.job != 0 {
		_ = windows.TerminateJobObject(g.job, 1) // it may be empty by now
	}
}

func startOf(pid int) string {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return ""
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var code uint32
	const stillActive = 259
	if windows.GetExitCodeProcess(h, &code) != nil || code != stillActive {
		return ""
	}
	var made, ended, kernel, user windows.Filetime
	if windows.GetProcessTimes(h, &made, &ended, &kernel, &user) != nil {
		return ""
	}
	return strconv.FormatInt(made.Nanoseconds(), 10)
}

func endGroup(_ context.Context, id backend.ProcessID) error {
	p, err := os.FindProcess(id.PID)
	if err != nil {
		return nil // it is gone
	}
	return p.Kill()
}
