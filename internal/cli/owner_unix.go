//go:build !windows

package cli

import (
	"fmt"
	"os"
	"syscall"
)

// ownedByOther says whose a directory is and how to go on, when it is another
// user's: containers are often started with a user that their volume is not of.
func ownedByOther(dir string) string {
	info, err := os.Stat(dir)
	if err != nil {
		return ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(st.Uid) == os.Geteuid() {
		return ""
	}
	return fmt.Sprintf("%s belongs to user %d, and this program runs as user %d: run it as user %d, or give the directory to this one: chown -R %d %s",
		dir, st.Uid, os.Geteuid(), st.Uid, os.Geteuid(), dir)
}
