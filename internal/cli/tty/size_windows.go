package tty

import (
	"os"

	"golang.org/x/sys/windows"
)

// watchSize: Windows sends no signal; the size is looked up at each drawing.
func watchSize() (<-chan os.Signal, func()) { return nil, func() {} }

// allowSequences has an older console obey escape sequences.
func allowSequences(out *os.File) {
	h := windows.Handle(out.Fd())
	var mode uint32
	if windows.GetConsoleMode(h, &mode) == nil {
		_ = windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) // newer ones do anyway
	}
}

// Suspend does nothing: there is no job control.
func (t *Terminal) Suspend() error { return nil }
