package edit

import (
	"errors"
	"fmt"
	"strings"
)

// Errors of Replace.
var (
	ErrEmpty    = errors.New("old_string is empty: give the text to replace, or write the whole file")
	ErrSame     = errors.New("old_string and new_string are the same: nothing to do")
	ErrNoEffect = errors.New("the file already reads as new_string says: nothing to do")
)

// Errors of Decode and Encode.
var (
	ErrBinary  = errors.New("binary data, not text")
	ErrPartial = errors.New("only the beginning of the file was decoded: it cannot be written back")
)

// AmbiguousError says that the old text stands in several places.
type AmbiguousError struct {
	Strategy string
	Count    int
	Lines    []int // from 1, the first maxListed
}

const maxListed = 20

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("Found %d matches for old_string (%s): add surrounding lines until it is unique, or set replace_all to change every one",
		e.Count, listLines(e.Lines, e.Count))
}

// listLines writes "lines 1, 4, 9 and 3 more".
func listLines(lines []int, count int) string {
	var b strings.Builder
	b.WriteString("line")
	if count > 1 {
		b.WriteByte('s')
	}
	for i, l := range lines {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, " %d", l)
	}
	if count > len(lines) {
		fmt.Fprintf(&b, " and %d more", count-len(lines))
	}
	return b.String()
}

// EscapeError says that the texts were escaped once too often on their way
// here, so that writing them would put stray backslashes into the file.
type EscapeError struct {
	Sequence string // `\'`, `\"` or `\n`
	Reason   string
}

func (e *EscapeError) Error() string {
	return fmt.Sprintf("escape drift: %s %s; nothing was written: send the text with the characters as they stand in the file", e.Sequence, e.Reason)
}

// NotFoundError says that no strategy found the old text, and what comes
// nearest to it.
type NotFoundError struct {
	Near []Near // best first, at most three
	Note string // why less was tried than usual, or empty
}

// Near is a place that resembles the old text.
type Near struct {
	Line       int // of the line that resembles the first line looked for
	Similarity float64
	Snippet    string // two lines of context on each side, "%4d| text"
	Diff       string // the first difference, with the characters made visible
}

func (e *NotFoundError) Error() string {
	var b strings.Builder
	b.WriteString("Could not find old_string in the file")
	if e.Note != "" {
		b.WriteString(" (" + e.Note + ")")
	}
	b.WriteByte('.')
	if len(e.Near) == 0 {
		b.WriteString(" Nothing in it comes near: read the file again before the next try.")
		return b.String()
	}
	b.WriteString("\n\nDid you mean one of these sections?\n")
	for i, n := range e.Near {
		if i > 0 {
			b.WriteString("---\n")
		}
		b.WriteString(n.Snippet)
		if n.Diff != "" {
			b.WriteString("  (" + n.Diff + ")\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// CharError names the first character that an encoding cannot hold.
type CharError struct {
	Char     rune
	Line     int // from 1
	Encoding string
}

func (e *CharError) Error() string {
	if e.Char == '\uFFFD' {
		return fmt.Sprintf("line %d holds U+FFFD, the mark of an undecodable character: it would destroy what the file holds there; leave that part out of the edit", e.Line)
	}
	return fmt.Sprintf("line %d: the character %q (U+%04X) does not exist in the file's encoding %s", e.Line, e.Char, e.Char, e.Encoding)
}

// EncodingError says that bytes are not text in the encoding asked for, or
// that none could be guessed.
type EncodingError struct {
	Encoding string // the one asked for, or empty
	Known    bool   // false: no such encoding
}

func (e *EncodingError) Error() string {
	switch {
	case e.Encoding == "":
		return "the text is neither UTF-8 nor UTF-16 and its encoding could not be guessed: name it with encoding=, one of " + strings.Join(Encodings(), ", ")
	case !e.Known:
		return fmt.Sprintf("unknown encoding %q: use one of %s", e.Encoding, strings.Join(Encodings(), ", "))
	}
	return fmt.Sprintf("the data is not %s text", e.Encoding)
}
