//go:build !linux

package hostshell

import (
	"os"
	"os/exec"

	"github.com/hermes-go/hermes/internal/shellstate"
)

// stateFile is where a shell reports its state: a file for which only we know
// the name, as descriptors do not pass everywhere.
type stateFile struct{ f *os.File }

func newStateFile() (*stateFile, error) {
	f, err := os.CreateTemp("", "hermes-*.state")
	if err != nil {
		return nil, err
	}
	return &stateFile{f}, nil
}

func (s *stateFile) place(shell string) string {
	if shellstate.IsPowerShell(shell) {
		return s.f.Name()
	}
	return shellstate.Quote(toShell(shell, s.f.Name()))
}

func (s *stateFile) pass(*exec.Cmd) {}

func (s *stateFile) read() ([]byte, error) { return readFrom(s.f) }

func (s *stateFile) close() {
	_ = s.f.Close() // nothing is kept in it
	_ = os.Remove(s.f.Name())
}
