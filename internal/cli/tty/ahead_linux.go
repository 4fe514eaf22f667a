package tty

import (
	"os"

	"golang.org/x/sys/unix"
)

// typedAhead is how many bytes of whole lines wait to be read.
func typedAhead(in *os.File) int {
	n, err := unix.IoctlGetInt(int(in.Fd()), unix.TIOCINQ)
	if err != nil {
		return 0 // then such a line waits in the editor for one more Enter
	}
	return n
}
