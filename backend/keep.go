package backend

import (
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Keep holds the beginning and the end of a text of any length, and writes the
// whole into a file once it is longer than that. The memory it takes depends
// on the limit only, and a file that grows without end is cut.
type Keep struct {
	Limit    int   // characters; what is shown of a longer text is 40% head, 60% tail
	MaxBytes int64 // of the file; 0: MaxKept
	// File makes the file for the whole; nil: there is none.
	File func() (SpillFile, error)

	head  []byte
	heads int // characters in head
	tail  []byte
	tails int
	total int
	file  SpillFile
	bytes int64 // in the file
	cut   bool  // the file does not hold all of it
	err   error
	shut  bool
}

// MaxKept is how much of one output a file takes: "yes" fills a disk in minutes.
const MaxKept = 256 << 20

// SpillFile is a file being written. Its name holds nothing, or all of it:
// it appears by Commit.
type SpillFile interface {
	io.Writer
	Commit() (name string, err error)
	Discard()
}

// Spiller makes files for output that is too long to show, readable in the
// environment until it is cleaned up.
type Spiller interface {
	Spill(name string) (SpillFile, error)
}

var _ io.Writer = (*Keep)(nil)

func (k *Keep) headLimit() int { return k.Limit * 2 / 5 }
func (k *Keep) tailLimit() int { return k.Limit - k.headLimit() }

// Write takes text that ends on a character boundary. It never fails: a file
// that cannot be written is told by Close.
func (k *Keep) Write(p []byte) (int, error) {
	n := utf8.RuneCount(p)
	k.total += n
	k.spill(p)
	rest := p
	if k.heads < k.Limit {
		cut := runeOffset(rest, k.Limit-k.heads)
		k.head = append(k.head, rest[:cut]...)
		k.heads += utf8.RuneCount(rest[:cut])
		rest = rest[cut:]
	}
	if len(rest) > 0 {
		k.tail = append(k.tail, rest...)
		k.tails += utf8.RuneCount(rest)
		if most := k.tailLimit(); k.tails > 2*most {
			cut := runeOffset(k.tail, k.tails-most)
			k.tail = append(k.tail[:0], k.tail[cut:]...)
			k.tails = most
		}
	}
	return len(p), nil
}

// spill writes to the file, which begins once the text is too long to show.
func (k *Keep) spill(p []byte) {
	if k.File == nil || k.err != nil || k.total <= k.Limit {
		return
	}
	if k.file == nil {
		if k.file, k.err = k.File(); k.err != nil {
			return
		}
		k.keep(k.head)
	}
	k.keep(p)
}

// keep adds to the file as much as it may take, in whole characters.
func (k *Keep) keep(p []byte) {
	most := k.MaxBytes
	if most == 0 {
		most = MaxKept
	}
	if k.err != nil || k.cut {
		return
	}
	if room := most - k.bytes; int64(len(p)) > room {
		k.cut = true
		for p = p[:room]; len(p) > 0; p = p[:len(p)-1] {
			if r, size := utf8.DecodeLastRune(p); r != utf8.RuneError || size != 1 {
				break
			}
		}
	}
	n, err := k.file.Write(p)
	k.bytes += int64(n)
	if k.err = err; err != nil {
		k.file.Discard()
	}
}

// Cut is how much of the text the file holds, in bytes, if that is not all.
func (k *Keep) Cut() (bytes int64, cut bool) { return k.bytes, k.cut }

// runeOffset is the byte offset of character n.
func runeOffset(p []byte, n int) int {
	if n >= len(p) {
		return len(p)
	}
	off := 0
	for ; n > 0 && off < len(p); n-- {
		_, size := utf8.DecodeRune(p[off:])
		off += size
	}
	return off
}

// Text is what is shown: all of it, or head, a notice and tail.
func (k *Keep) Text() string {
	if k.total <= k.Limit {
		return string(k.head)
	}
	head := k.head[:runeOffset(k.head, k.headLimit())]
	// The tail may begin in what is still held as head.
	tail := k.tail
	if missing := k.tailLimit() - k.tails; missing > 0 {
		tail = append(append([]byte{}, k.head[runeOffset(k.head, k.heads-missing):]...), tail...)
	} else {
		tail = tail[runeOffset(tail, -missing):]
	}
	return fmt.Sprintf("%s\n\n... [OUTPUT TRUNCATED - %d chars omitted out of %d total] ...\n\n%s", head, k.total-k.Limit, k.total, tail)
}

// Total is the length of the whole in characters.
func (k *Keep) Total() int { return k.total }

// Close finishes the file and returns its name, or "" when there is none. The
// error says why the whole could not be kept.
func (k *Keep) Close() (name string, err error) {
	if k.shut {
		return "", errors.New("closed already")
	}
	k.shut = true
	if k.file == nil || k.err != nil {
		return "", k.err
	}
	return k.file.Commit()
}
