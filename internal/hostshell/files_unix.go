//go:build !windows

package hostshell

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFlags keep the opening of a pipe that nobody writes from waiting.
const openFlags = syscall.O_NONBLOCK

func writable(name string) bool { return unix.Access(name, unix.W_OK) == nil }

// sameOwner gives f the owner and group of old, or reports that it cannot.
func sameOwner(f *os.File, old fs.FileInfo) bool {
	want, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	info, err := f.Stat()
	if err != nil {
		return false
	}
	have, ok := info.Sys().(*syscall.Stat_t)
	if !ok || have.Uid == want.Uid && have.Gid == want.Gid {
		return true
	}
	return f.Chown(int(want.Uid), int(want.Gid)) == nil
}

func rename(from, to string) error { return os.Rename(from, to) }

// syncDir makes a rename outlast a power failure where the system can do that.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()  // some file systems refuse; the content itself is safe
		_ = d.Close() // opened for reading
	}
}

// mine reports whether a file belongs to this user.
func mine(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(s.Uid) == os.Getuid()
}
