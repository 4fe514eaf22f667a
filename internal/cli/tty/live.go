package tty

import (
	"fmt"
	"io"
	"strings"

	"github.com/hermes-go/hermes/internal/cells"
)

// Live draws a region of a few lines at the end of the scrollback. What is
// put above it is left to the terminal for good.
type Live struct {
	w    io.Writer
	size func() (width, height int)

	lines    []string // as they stand
	row, col int      // of the cursor in them
	width    int      // of the terminal when they were drawn
	height   int
}

// NewLive returns an empty region.
func NewLive(w io.Writer, size func() (width, height int)) *Live {
	return &Live{w: w, size: size}
}

// Draw puts lines above the region, then shows the region with the cursor in
// it. Of a region that has more lines than fit, the last ones are shown. Only
// what has changed is written.
func (l *Live) Draw(above, region []string, row, col int) error {
	width, height := l.size()
	if most := max(height-1, 1); len(region) > most {
		row -= len(region) - most
		region = region[len(region)-most:]
	}
	row = max(row, 0)
	fitted := make([]string, len(region))
	for i, line := range region {
		fitted[i] = fit(line, width)
	}
	var b strings.Builder
	b.WriteString("\x1b[?2026h\x1b[?25l")
	l.top(&b, width)
	if len(above) > 0 || width != l.width || height != l.height {
		b.WriteString("\x1b[J")
		l.lines = nil
		for _, line := range above {
			b.WriteString(line + "\r\n")
		}
	}
	l.paint(&b, fitted)
	if up := len(fitted) - 1 - row; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteByte('\r')
	if col > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", col)
	}
	b.WriteString("\x1b[?25h\x1b[?2026l")
	l.lines, l.row, l.col, l.width, l.height = fitted, row, col, width, height
	_, err := io.WriteString(l.w, b.String())
	return err
}

// top goes to the first line of the region. A terminal that became narrower
// has wrapped the lines since.
func (l *Live) top(b *strings.Builder, width int) {
	up := l.row
	if width != l.width && width > 0 {
		up = l.col / width
		for _, line := range l.lines[:min(l.row, len(l.lines))] {
			up += max((visible(line)+width-1)/width, 1)
		}
	}
	if up > 0 {
		fmt.Fprintf(b, "\x1b[%dA", up)
	}
	b.WriteByte('\r')
}

// paint writes the lines that differ, from the first line on.
func (l *Live) paint(b *strings.Builder, lines []string) {
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		if i >= len(l.lines) || l.lines[i] != line {
			b.WriteString(line + "\x1b[K")
		}
	}
	if len(l.lines) > len(lines) {
		b.WriteString("\r\n\x1b[J\x1b[1A")
	}
}

// Leave puts the last lines above and takes the region away.
func (l *Live) Leave(above []string) error {
	if err := l.Draw(above, []string{""}, 0, 0); err != nil {
		return err
	}
	l.lines, l.row, l.col = nil, 0, 0
	_, err := io.WriteString(l.w, "\r\x1b[J")
	return err
}

// Clear empties the screen.
func (l *Live) Clear() error {
	l.Forget()
	_, err := io.WriteString(l.w, "\x1b[2J\x1b[H")
	return err
}

// Forget has the next drawing begin where the cursor is: somebody else wrote.
func (l *Live) Forget() { l.lines, l.row, l.col = nil, 0, 0 }

func visible(line string) int { return cells.Width(cells.Clean(line)) }

// fit cuts a line that would wrap; the last column stays free.
func fit(line string, width int) string {
	if visible(line) < width {
		return line
	}
	return cells.Cut(cells.Clean(line), width-1)
}
