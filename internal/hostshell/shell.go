package hostshell

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/hermes-go/hermes/internal/shellstate"
)

// findShell looks for the shells of this system, the best first.
func findShell() (string, error) {
	return firstShell(shellNames(), usableShell, exec.LookPath)
}

func firstShell(names []string, usable func(string) bool, look func(string) (string, error)) (string, error) {
	for _, name := range names {
		if path, err := look(name); err == nil && usable(path) {
			return filepath.Abs(path)
		}
	}
	return "", errors.New("no shell found: install bash")
}

// scriptFile keeps a script in a file of its own, readable by nobody else.
func scriptFile(shell, script string) (string, error) {
	pattern, mark := "hermes-*.sh", ""
	if shellstate.IsPowerShell(shell) {
		pattern, mark = "hermes-*.ps1", "\ufeff" // without the mark, version 5 reads it in the system's code page
	}
	f, err := os.CreateTemp("", pattern)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(mark + script)
	if err := errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name()) // what matters is the error already there
		return "", err
	}
	return f.Name(), nil
}
