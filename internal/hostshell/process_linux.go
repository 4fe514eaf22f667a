package hostshell

import (
	"os"
	"os/exec"
	"strconv"

	"golang.org/x/sys/unix"
)

// stateFD is where a shell finds the state file: out of the way of the numbers
// that people use in scripts.
const stateFD = 19

// stateFile is where a shell reports its state: memory with a descriptor,
// which no other program sees and nothing has to clean up.
type stateFile struct{ f *os.File }

func newStateFile() (*stateFile, error) {
	fd, err := unix.MemfdCreate("hermes-state", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return &stateFile{os.NewFile(uintptr(fd), "state")}, nil
}

func (s *stateFile) place(string) string { return "&" + strconv.Itoa(stateFD) }

func (s *stateFile) pass(cmd *exec.Cmd) { pass(cmd, stateFD, s.f) }

func (s *stateFile) read() ([]byte, error) { return readFrom(s.f) }

func (s *stateFile) close() { _ = s.f.Close() } // nothing is kept in it
