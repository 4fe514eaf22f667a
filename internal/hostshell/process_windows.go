//go:build windows

package hostshell

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/hermes-go/hermes/internal/shellstate"
)

// alwaysByFile: what builds the command line for programs of the MSYS family
// halves backslashes on the way.
const alwaysByFile = true

func shellNames() []string {
	git, err := exec.LookPath("git")
	if err != nil {
		git = ""
	}
	return windowsShells(git)
}

func usableShell(path string) bool { return !startsLinux(path) }

func toShell(shell, path string) string {
	if shellstate.IsPowerShell(shell) {
		return path
	}
	return toGitBash(path)
}

func fromShell(dir string) string { return filepath.Clean(fromGitBash(dir)) }

func withSanePath(vars []string) []string { return vars }

func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// group is a command with its children: a job, whose members end with it.
type group struct {
	id  int
	job windows.Handle
}

func groupOf(cmd *exec.Cmd) *group {
	g := &group{id: cmd.Process.Pid}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return g
	}
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(g.id))
	if err == nil {
		err = windows.AssignProcessToJobObject(job, h)
		_ = windows.CloseHandle(h) // only needed for the assignment
	}
	if err != nil {
		_ = windows.CloseHandle(job) // it holds nothing
		return g
	}
	g.job = job
	return g
}

func (g *group) release() {
	if g.job != 0 {
		_ = windows.CloseHandle(g.job) // the members live on
	}
}

func (g *group) end(gone, _ <-chan struct{}) {
	if g.job == 0 || windows.TerminateJobObject(g.job, 1) != nil {
		if p, err := os.FindProcess(g.id); err == nil {
			_ = p.Kill() // it may be gone already
		}
	}
	select {
	case <-gone:
	case <-time.After(killGrace):
	}
}

func (g *group) left() int {
	if g.job == 0 {
		return 0
	}
	var info struct {
		TotalUser, TotalKernel, PeriodUser, PeriodKernel int64
		PageFaults, Processes, Active, Terminated        uint32
	}
	const basicAccounting = 1
	err := windows.QueryInformationJobObject(g.job, basicAccounting, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	if err != nil || info.Active == 0 {
		return 0
	}
	return g.id
}

func codeOf(s *os.ProcessState) int { return s.ExitCode() }

func readReady(*os.File, io.Writer) bool { return false }
