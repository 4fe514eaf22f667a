package skill

import (
	"io/fs"
	"os/exec"
	"path/filepath"
)

// identity is equal for two paths of one file.
func identity(path string, _ fs.FileInfo) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

func syncDir(string) error { return nil }

func group(*exec.Cmd) {}
