// Package tty is the terminal as a conversation needs it: keys come in, an
// input line is edited, and a small live region at the end of the normal
// scrollback is drawn again while everything above it stays where it is. It
// asks the terminal nothing, switches to no other screen, and knows neither
// agents nor commands.
package tty

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"golang.org/x/term"
)

// Terminal is a terminal in raw mode.
type Terminal struct {
	in, out *os.File
	old     *term.State
	ahead   atomic.Int64 // bytes still to read that were typed before Raw

	input   chan []byte
	more    chan struct{}
	resized <-chan os.Signal
	stop    func()
}

const (
	begin = "\x1b[?2004h"          // pastes are marked
	end   = "\x1b[?2004l\x1b[?25h" // and the cursor is there
)

// Open puts the terminal into raw mode; Close must follow.
func Open(in, out *os.File) (*Terminal, error) {
	t := &Terminal{in: in, out: out, input: make(chan []byte), more: make(chan struct{}, 1)}
	if err := t.Raw(); err != nil {
		return nil, err
	}
	t.resized, t.stop = watchSize()
	t.more <- struct{}{}
	go t.read()
	return t, nil
}

// read hands over what is typed. It reads on only after More, so that another
// program can have the terminal in between.
func (t *Terminal) read() {
	for range t.more {
		b := make([]byte, 32<<10)
		n, err := t.in.Read(b)
		if n > 0 {
			t.entered(b[:n])
			t.input <- b[:n]
		}
		if err != nil {
			close(t.input)
			return
		}
	}
}

// entered makes the Enter key again of what the terminal had already turned
// into line ends, when lines were typed before it was taken over.
func (t *Terminal) entered(b []byte) {
	ahead := min(t.ahead.Load(), int64(len(b)))
	t.ahead.Add(-ahead)
	for i := range b[:ahead] {
		if b[i] == '\n' {
			b[i] = '\r'
		}
	}
}

// Input is what is typed; it is closed when the terminal is gone. Each piece
// is to be answered with More.
func (t *Terminal) Input() <-chan []byte { return t.input }

// More asks for the next piece of Input.
func (t *Terminal) More() { t.more <- struct{}{} }

// Resized says that the size has changed.
func (t *Terminal) Resized() <-chan os.Signal { return t.resized }

// Size is the terminal's size, with something usable when it is unknown.
func (t *Terminal) Size() (width, height int) {
	width, height, err := term.GetSize(int(t.out.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}

// Raw takes the terminal over, at first or after Cooked.
func (t *Terminal) Raw() error {
	t.ahead.Store(int64(typedAhead(t.in)))
	old, err := term.MakeRaw(int(t.in.Fd()))
	if err != nil {
		return fmt.Errorf("take over the terminal: %w", err)
	}
	t.old = old
	allowSequences(t.out)
	_, err = io.WriteString(t.out, begin)
	return err
}

// Cooked gives the terminal back as it was.
func (t *Terminal) Cooked() {
	_, _ = io.WriteString(t.out, end) // a terminal that is gone needs no mending
	_ = term.Restore(int(t.in.Fd()), t.old)
}

// Close gives the terminal back for good.
func (t *Terminal) Close() {
	t.stop()
	t.Cooked()
}
