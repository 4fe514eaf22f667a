//go:build unix

package secret

import (
	"os"
	"syscall"
)

// openFlags keep the opening of a pipe that nobody writes from waiting.
const openFlags = syscall.O_NONBLOCK

// endReading shows a reader that waits for somebody to write a pipe its end.
func endReading(path string) {
	if f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
		_ = f.Close() // nothing was written
	}
}

// keepOwner gives the new file the old one's owner and group where this user
// may; for anyone but root that is the group at most.
func keepOwner(from, to string) {
	st, err := os.Stat(from)
	if err != nil {
		return
	}
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		if os.Chown(to, int(s.Uid), int(s.Gid)) != nil {
			_ = os.Chown(to, -1, int(s.Gid))
		}
	}
}
