package edit

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// folded is a text in a simpler form together with the way back.
type folded struct {
	text  string
	edits []fold
}

// fold is one piece that is not the same on both sides; between pieces the
// two texts agree byte for byte.
type fold struct{ out, outLen, src, srcLen int }

// start maps the beginning of a match; false inside a piece.
func (f *folded) start(p int) (int, bool) {
	i := sort.Search(len(f.edits), func(i int) bool { return f.edits[i].out > p }) - 1
	if i < 0 {
		return p, true
	}
	e := f.edits[i]
	switch {
	case p >= e.out+e.outLen:
		return e.src + e.srcLen + p - e.out - e.outLen, true
	case p == e.out:
		return e.src, true
	}
	return 0, false
}

// end maps the end of a match. A piece that vanished right there stays outside.
func (f *folded) end(p int) (int, bool) {
	i := sort.Search(len(f.edits), func(i int) bool { return f.edits[i].out >= p }) - 1
	if i < 0 {
		return p, true
	}
	e := f.edits[i]
	if p < e.out+e.outLen {
		return 0, false
	}
	return e.src + e.srcLen + p - e.out - e.outLen, true
}

// folder builds a folded text; pieces are copied only around the edits.
type folder struct {
	src  string
	done int
	b    strings.Builder
	f    folded
}

func (w *folder) edit(from, to int, out string) {
	w.b.WriteString(w.src[w.done:from])
	w.f.edits = append(w.f.edits, fold{w.b.Len(), len(out), from, to - from})
	w.b.WriteString(out)
	w.done = to
}

func (w *folder) finish() *folded {
	if w.done == 0 && len(w.f.edits) == 0 {
		w.f.text = w.src
		return &w.f
	}
	w.b.WriteString(w.src[w.done:])
	w.f.text = w.b.String()
	return &w.f
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// foldSpace makes one space of every run of spaces and tabs.
func foldSpace(s string) *folded {
	w := folder{src: s}
	for i := 0; i < len(s); i++ {
		if !blank(s[i]) {
			continue
		}
		j := i + 1
		for j < len(s) && blank(s[j]) {
			j++
		}
		if j > i+1 || s[i] == '\t' {
			w.edit(i, j, " ")
		}
		i = j
	}
	return w.finish()
}

// foldIndent drops the blanks at the beginning of every line.
func foldIndent(s string) *folded {
	w := folder{src: s}
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && blank(s[j]) {
			j++
		}
		if j > i {
			w.edit(i, j, "")
		}
		n := strings.IndexByte(s[j:], '\n')
		if n < 0 {
			break
		}
		i = j + n + 1
	}
	return w.finish()
}

// foldTypography writes typographic characters as one types them.
func foldTypography(s string) *folded {
	w := folder{src: s}
	for i := 0; i < len(s); {
		// All of them begin with one of two bytes; anything else is skipped
		// at the speed of a byte comparison.
		if c := s[i]; c != 0xE2 && c != 0xC2 {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if out, ok := plain(r); ok {
			w.edit(i, i+n, out)
		}
		i += n
	}
	return w.finish()
}

func plain(r rune) (string, bool) {
	switch r {
	case '\u2018', '\u2019', '\u201A', '\u201B':
		return "'", true
	case '\u201C', '\u201D', '\u201E', '\u201F':
		return `"`, true
	case '\u2014', '\u2015':
		return "--", true
	case '\u2013', '\u2010', '\u2011', '\u2012':
		return "-", true
	case '\u2026':
		return "...", true
	case '\u00A0', '\u2002', '\u2003', '\u2007', '\u2009', '\u202F':
		return " ", true
	}
	return "", false
}

// keyKind says how much of a line must agree for it to be the same line.
type keyKind int

const (
	keyExact keyKind = iota
	keyTrim          // but for blanks at both ends
	keySpace         // and for the length of runs of blanks
	keyPlain         // and for typographic characters
	keyKinds
)

// keyOf is the form of a line that is compared.
func keyOf(line string, kind keyKind) string {
	if kind == keyExact {
		return line
	}
	if kind == keyPlain {
		line = foldTypography(line).text
	}
	line = strings.TrimSpace(line)
	if kind == keyTrim {
		return line
	}
	return foldSpace(line).text
}

// indentOf is the blank beginning of a line.
func indentOf(line string) string {
	return line[:len(line)-len(strings.TrimLeftFunc(line, unicode.IsSpace))]
}

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }
