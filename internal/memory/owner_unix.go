//go:build unix

package memory

import (
	"os"
	"syscall"
)

// keepOwner gives the new file the old one's owner, where we may.
func keepOwner(old, fresh string) {
	if info, err := os.Stat(old); err == nil {
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			_ = os.Chown(fresh, int(st.Uid), int(st.Gid)) // not ours to give: the mode still protects it
		}
	}
}
