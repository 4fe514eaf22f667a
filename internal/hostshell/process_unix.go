//go:build !windows

package hostshell

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/hermes-go/hermes/internal/shellstate"
)

const alwaysByFile = false

func shellNames() []string {
	return []string{"bash", "/usr/bin/bash", "/bin/bash", "/usr/local/bin/bash", "sh", "/bin/sh"}
}

func usableShell(string) bool { return true }

func fromShell(dir string) string { return dir }

// withSanePath completes a PATH that lacks the system's own directories, as
// services tend to have.
func withSanePath(vars []string) []string {
	path := shellstate.Value(vars, "PATH")
	if strings.Contains(":"+path+":", ":/usr/bin:") {
		return vars
	}
	return append(vars, "PATH="+strings.TrimPrefix(path+":"+shellstate.SanePath, ":"))
}

// ownGroup puts a command into a session of its own: it can be signalled with
// all its children, and none of them can reach a person's terminal.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// group is a command with its children.
type group struct{ id int }

func groupOf(cmd *exec.Cmd) *group { return &group{cmd.Process.Pid} }

func (g *group) release() {}

func (g *group) signal(s syscall.Signal) bool { return syscall.Kill(-g.id, s) == nil }

// end asks the group to end, and ends it when it does not. It returns once
// the leader is gone and nothing of the group is left that could be waited
// for.
func (g *group) end(gone, eof <-chan struct{}) {
	g.signal(syscall.SIGTERM)
	g.signal(syscall.SIGCONT) // a stopped process cannot even die
	grace := time.NewTimer(termGrace)
	defer grace.Stop()
	select {
	case <-gone:
	case <-grace.C:
		g.kill()
		select {
		case <-gone:
		case <-time.After(killGrace): // stuck in the kernel: nothing more can be done
		}
		return
	}
	if !g.signal(0) {
		return
	}
	select { // children that are still saying goodbye
	case <-eof:
	case <-grace.C:
	}
	g.kill()
}

// kill ends the group and waits until that has happened, where it can be seen.
func (g *group) kill() {
	if g.signal(syscall.SIGKILL) {
		awaitGroup(g.id, killGrace)
	}
}

// left is the group's id while something of it still runs.
func (g *group) left() int {
	if g.signal(0) && groupLives(g.id) {
		return g.id
	}
	return 0
}

func codeOf(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

// readReady reads what is in the pipe now, and reports whether its end was
// reached. More than a pipe can hold is somebody else's, written meanwhile.
func readReady(r *os.File, w io.Writer) (ended bool) {
	const pipeSize = 1 << 20
	if r.SetReadDeadline(time.Time{}) != nil {
		return false
	}
	raw, err := r.SyscallConn()
	if err != nil {
		return false
	}
	buf := make([]byte, readSize)
	total := 0
	err = raw.Read(func(fd uintptr) bool {
		for total < pipeSize {
			n, err := syscall.Read(int(fd), buf)
			if n > 0 {
				total += n
				if w != nil {
					_, _ = w.Write(buf[:n]) // as in copyOutput: reading goes on
				}
				continue
			}
			ended = n == 0 && err == nil
			break
		}
		return true
	})
	return ended && err == nil
}
