//go:build unix

package tty

import (
	"os"
	"os/signal"
	"syscall"
)

func watchSize() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGWINCH)
	return c, func() { signal.Stop(c) }
}

func allowSequences(*os.File) {}

// Suspend stops the program until the shell lets it go on.
func (t *Terminal) Suspend() error {
	t.Cooked()
	if err := syscall.Kill(0, syscall.SIGTSTP); err != nil {
		return err
	}
	return t.Raw()
}
