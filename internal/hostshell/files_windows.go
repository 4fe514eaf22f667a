//go:build windows

package hostshell

import (
	"io/fs"
	"os"
)

const openFlags = 0

func writable(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().Perm()&0o200 != 0
}

func sameOwner(*os.File, fs.FileInfo) bool { return true }

func rename(from, to string) error { return os.Rename(from, to) }

func syncDir(string) {}

// mine: directories for temporary files are the user's own here.
func mine(fs.FileInfo) bool { return true }
