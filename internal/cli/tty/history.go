package tty

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Limits of the file: what is read of it, when it is made shorter, and what
// one entry may take.
const (
	mostRead    = 512 << 10
	tooLarge    = 1 << 20
	mostEntries = 1000
	mostEntry   = 16 << 10
)

// History is what was typed before, in a file that several programs append to.
// Its format is that of prompt_toolkit: a comment with the time, then every
// line of the entry after a plus sign.
type History struct {
	path string
	Keep func(text string) bool // whether it may be written down; nil: always

	entries []string
}

// OpenHistory reads the newest entries. Without a file the history is empty.
func OpenHistory(path string) (*History, error) {
	h := &History{path: path}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return h, fmt.Errorf("read history: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = f.Seek(max(size-mostRead, 0), io.SeekStart)
	}
	var b []byte
	if err == nil {
		b, err = io.ReadAll(io.LimitReader(f, 2*mostRead))
	}
	if err != nil {
		return h, fmt.Errorf("read history: %w", err)
	}
	h.entries = parseHistory(b, size > mostRead)
	if size > tooLarge {
		return h, h.shorten()
	}
	return h, nil
}

// parseHistory reads entries; the first of a piece from the middle is not whole.
func parseHistory(b []byte, middle bool) []string {
	var all []string
	var entry []string
	close := func() {
		if len(entry) > 0 {
			all = append(all, strings.Join(entry, "\n"))
		}
		entry = nil
	}
	for line := range strings.Lines(string(b)) {
		if text, ok := strings.CutPrefix(line, "+"); ok {
			if !middle {
				entry = append(entry, strings.ToValidUTF8(strings.TrimSuffix(text, "\n"), "\uFFFD"))
			}
			continue
		}
		middle = false
		close()
	}
	close()
	return all[max(len(all)-mostEntries, 0):]
}

func formatEntry(text string, at time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n# %s\n", at.Format("2006-01-02 15:04:05.000000"))
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString("+" + line + "\n")
	}
	return b.String()
}

// Add takes an entry up and writes it down.
func (h *History) Add(text string, at time.Time) error {
	text = strings.TrimSpace(text)
	if text == "" || len(h.entries) > 0 && h.entries[len(h.entries)-1] == text {
		return nil
	}
	h.entries = append(h.entries, text)
	if h.path == "" || len(text) > mostEntry || h.Keep != nil && !h.Keep(text) {
		return nil
	}
	f, err := os.OpenFile(h.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	_, err = f.WriteString(formatEntry(text, at)) // in one piece: others append too
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	return nil
}

// shorten writes the newest entries anew, beside the file.
func (h *History) shorten() error {
	var b bytes.Buffer
	for _, e := range h.entries {
		b.WriteString(formatEntry(e, time.Time{}))
	}
	f, err := os.CreateTemp(filepath.Dir(h.path), ".hermes_history-*")
	if err != nil {
		return fmt.Errorf("shorten history: %w", err)
	}
	_, err = f.Write(b.Bytes())
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), h.path)
	}
	if err != nil {
		return fmt.Errorf("shorten history: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// Entries lists the history, the oldest first.
func (h *History) Entries() []string { return slices.Clone(h.entries) }
