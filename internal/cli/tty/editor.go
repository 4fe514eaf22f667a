package tty

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hermes-go/hermes/internal/cells"
)

// Action is what a key asks of whoever owns the editor.
type Action int

// The actions.
const (
	None Action = iota
	Submit
	Interrupt // Ctrl+C
	Quit      // Ctrl+D on an empty line
	Complete
	CompleteBack
	Redraw
	Suspend
	Outside // edit in a program of one's own
	Cancel  // Escape
)

// A large paste is one character of the text, from a plane that no keyboard
// has; it is sent whole.
const (
	firstPaste   = 0xF0000
	lastPaste    = 0xFFFFD
	foldLines    = 6
	foldSize     = 1000
	mostUndo     = 200
	mostKillRing = 1 << 20
)

// Editor is an input line, or several.
type Editor struct {
	History *History
	Hidden  bool // what is typed is not shown

	text   string
	at     int // the cursor, in bytes
	pastes []string
	killed string
	undo   []state

	past  int // entries back in the history; 0: the line itself
	draft string
}

type state struct {
	text string
	at   int
}

// Text is the whole text, pastes included.
func (e *Editor) Text() string {
	if len(e.pastes) == 0 {
		return e.text
	}
	var b strings.Builder
	for _, r := range e.text {
		if i := int(r - firstPaste); r >= firstPaste && i < len(e.pastes) {
			b.WriteString(e.pastes[i])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Line is the text as it is edited, and the cursor in it.
func (e *Editor) Line() (text string, at int) { return e.text, e.at }

// Empty says whether there is nothing.
func (e *Editor) Empty() bool { return e.text == "" }

// Set replaces the text.
func (e *Editor) Set(text string) {
	e.Reset()
	e.insert(text, true)
	e.undo = nil
}

// Reset empties the line.
func (e *Editor) Reset() {
	*e = Editor{History: e.History, Hidden: e.Hidden, killed: e.killed}
}

// Replace puts text where the bytes from..cursor are.
func (e *Editor) Replace(from int, text string) {
	e.keep()
	e.text, e.at = e.text[:from]+text+e.text[e.at:], from+len(text)
}

// Handle takes a key.
func (e *Editor) Handle(k Key) Action {
	switch k.Kind {
	case Text:
		if k.Alt {
			return e.alt(k.Text)
		}
		e.insert(k.Text, false)
	case Paste:
		e.insert(k.Text, true)
	case Enter:
		if k.Alt || k.Shift || k.Ctrl {
			e.insert("\n", false)
			return None
		}
		return Submit
	case Tab:
		if k.Shift {
			return CompleteBack
		}
		return Complete
	case Escape:
		return Cancel
	case Control:
		return e.control(k.Text)
	case Backspace:
		if k.Alt || k.Ctrl {
			e.kill(e.wordLeft(), e.at)
		} else {
			e.delete(e.left(), e.at)
		}
	case Delete:
		e.delete(e.at, e.right())
	case Left:
		e.move(k, e.left, e.wordLeft)
	case Right:
		e.move(k, e.right, e.wordRight)
	case Home:
		e.at = e.lineStart()
	case End:
		e.at = e.lineEnd()
	case Up:
		e.up()
	case Down:
		e.down()
	}
	return None
}

func (e *Editor) move(k Key, by, byWord func() int) {
	if k.Ctrl || k.Alt {
		by = byWord
	}
	e.at = by()
}

func (e *Editor) control(letter string) Action {
	switch letter {
	case "a":
		e.at = e.lineStart()
	case "b":
		e.at = e.left()
	case "c", "q":
		return Interrupt
	case "d":
		if e.text == "" {
			return Quit
		}
		e.delete(e.at, e.right())
	case "e":
		e.at = e.lineEnd()
	case "f":
		e.at = e.right()
	case "g":
		return Outside
	case "h":
		e.delete(e.left(), e.at)
	case "i":
		return Complete
	case "j":
		e.insert("\n", false)
	case "k":
		to := e.lineEnd()
		if to == e.at {
			to = e.right() // the line break itself
		}
		e.kill(e.at, to)
	case "l":
		return Redraw
	case "m":
		return Submit
	case "n":
		e.down()
	case "p":
		e.up()
	case "u":
		e.kill(e.lineStart(), e.at)
	case "w":
		e.kill(e.spaceLeft(), e.at)
	case "y":
		e.insert(e.killed, false)
	case "z":
		return Suspend
	case "_":
		e.back()
	}
	return None
}

func (e *Editor) alt(text string) Action {
	switch strings.ToLower(text) {
	case "b":
		e.at = e.wordLeft()
	case "d":
		e.kill(e.at, e.wordRight())
	case "f":
		e.at = e.wordRight()
	case "g":
		return Outside
	}
	return None
}

// insert puts text at the cursor: line breaks in one form, and nothing that
// cannot be seen. A large paste becomes one character.
func (e *Editor) insert(text string, pasted bool) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(text, "\uFFFD"))
	if pasted && !e.Hidden && (len(text) > foldSize || strings.Count(text, "\n") >= foldLines) && len(e.pastes) < lastPaste-firstPaste {
		e.pastes = append(e.pastes, text)
		text = string(rune(firstPaste + len(e.pastes) - 1))
	} else {
		known := rune(firstPaste + len(e.pastes)) // what was killed may hold a paste
		text = strings.Map(func(r rune) rune {
			if r != '\n' && r != '\t' && unicode.IsControl(r) || r >= known && r <= lastPaste || pasted && r >= firstPaste && r <= lastPaste {
				return -1
			}
			return r
		}, text)
	}
	if text == "" {
		return
	}
	e.keep()
	e.text, e.at = e.text[:e.at]+text+e.text[e.at:], e.at+len(text)
}

func (e *Editor) delete(from, to int) {
	if from < to {
		e.keep()
		e.text, e.at = e.text[:from]+e.text[to:], from
	}
}

func (e *Editor) kill(from, to int) {
	if from < to && to-from < mostKillRing {
		e.killed = e.text[from:to]
	}
	e.delete(from, to)
}

func (e *Editor) keep() {
	if n := len(e.undo); n == 0 || e.undo[n-1].text != e.text {
		e.undo = append(e.undo, state{e.text, e.at})
		e.undo = e.undo[max(len(e.undo)-mostUndo, 0):]
	}
}

func (e *Editor) back() {
	for n := len(e.undo) - 1; n >= 0; n-- {
		s := e.undo[n]
		e.undo = e.undo[:n]
		if s.text != e.text {
			e.text, e.at = s.text, s.at
			return
		}
	}
}

func (e *Editor) left() int {
	last := 0
	for g := range cells.Graphemes(e.text[e.lineStart():e.at]) {
		last = len(g)
	}
	if last == 0 {
		return max(e.at-1, 0) // over the line break
	}
	return e.at - last
}

func (e *Editor) right() int {
	for g := range cells.Graphemes(e.text[e.at:]) {
		return e.at + len(g)
	}
	return e.at
}

func (e *Editor) lineStart() int { return strings.LastIndexByte(e.text[:e.at], '\n') + 1 }

func (e *Editor) lineEnd() int {
	if i := strings.IndexByte(e.text[e.at:], '\n'); i >= 0 {
		return e.at + i
	}
	return len(e.text)
}

func wordly(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || unicode.IsMark(r)
}

func (e *Editor) wordLeft() int {
	i := e.runLeft(e.at, func(r rune) bool { return !wordly(r) })
	return e.runLeft(i, wordly)
}

func (e *Editor) spaceLeft() int {
	i := e.runLeft(e.at, unicode.IsSpace)
	return e.runLeft(i, func(r rune) bool { return !unicode.IsSpace(r) })
}

func (e *Editor) runLeft(i int, in func(rune) bool) int {
	for i > 0 {
		r, n := utf8.DecodeLastRuneInString(e.text[:i])
		if !in(r) {
			break
		}
		i -= n
	}
	return i
}

func (e *Editor) wordRight() int {
	i := e.runRight(e.at, func(r rune) bool { return !wordly(r) })
	return e.runRight(i, wordly)
}

func (e *Editor) runRight(i int, in func(rune) bool) int {
	for i < len(e.text) {
		r, n := utf8.DecodeRuneInString(e.text[i:])
		if !in(r) {
			break
		}
		i += n
	}
	return i
}

// up goes a line up, and from the first one into the past.
func (e *Editor) up() {
	start := e.lineStart()
	if start == 0 {
		e.recall(e.past + 1)
		return
	}
	column := cells.Width(e.text[start:e.at])
	e.at = start - 1
	e.at = e.column(e.lineStart(), column)
}

func (e *Editor) down() {
	end := e.lineEnd()
	if end == len(e.text) {
		e.recall(e.past - 1)
		return
	}
	column := cells.Width(e.text[e.lineStart():e.at])
	e.at = e.column(end+1, column)
}

// column is the place in the line from start that is closest to a column.
func (e *Editor) column(start, want int) int {
	at, used := start, 0
	for g, n := range cells.Graphemes(e.text[start:]) {
		if g == "\n" || used+n > want {
			break
		}
		at += len(g)
		used += n
	}
	return at
}

// recall shows an entry of the history in place of the line.
func (e *Editor) recall(n int) {
	if e.History == nil || e.Hidden || n < 0 || n > len(e.History.entries) || n == e.past {
		return
	}
	if e.past == 0 {
		e.draft = e.text
	}
	pastes := e.pastes
	draft, killed := e.draft, e.killed
	if n == 0 {
		e.text, e.at = draft, len(draft)
	} else {
		e.Reset()
		e.pastes, e.killed = pastes, killed // the draft may hold some
		e.insert(e.History.entries[len(e.History.entries)-n], true)
	}
	e.past, e.draft, e.undo = n, draft, nil
}

// View is the editor as it looks at a width: its rows after the prompt, and
// where the cursor stands. Rows below the first are indented like it.
func (e *Editor) View(prompt string, width int) (rows []string, row, col int) {
	lead := cells.Width(prompt)
	indent := strings.Repeat(" ", lead)
	width = max(width, lead+2)
	line, used := prompt, lead
	wrap := func() {
		rows = append(rows, line)
		line, used = indent, lead
	}
	text := e.text
	if e.Hidden {
		text = ""
	}
	at, cursor := 0, e.at
	if e.Hidden {
		cursor = 0
	}
	mark := func() { row, col = len(rows), used }
	for g, n := range cells.Graphemes(text) {
		if at == cursor {
			if used >= width {
				wrap()
			}
			mark()
		}
		at += len(g)
		if g == "\n" {
			wrap()
			continue
		}
		shown := g
		if r, _ := utf8.DecodeRuneInString(g); r >= firstPaste && r <= lastPaste {
			shown = e.label(int(r - firstPaste))
			if room := width - lead; cells.Width(shown) > room {
				shown = cells.Cut(shown, room)
			}
			n = cells.Width(shown)
		} else if g == "\t" {
			shown, n = "    ", 4
		}
		if used+n > width {
			wrap()
			if at-len(g) == cursor {
				mark()
			}
		}
		line += shown
		used += n
	}
	if at == cursor {
		if used >= width {
			wrap()
		}
		mark()
	}
	return append(rows, line), row, col
}

// label stands for a large paste.
func (e *Editor) label(i int) string {
	if i >= len(e.pastes) {
		return "[?]"
	}
	p := e.pastes[i]
	if lines := strings.Count(strings.TrimSuffix(p, "\n"), "\n") + 1; lines > 1 {
		return fmt.Sprintf("[pasted %d lines]", lines)
	}
	return fmt.Sprintf("[pasted %d characters]", utf8.RuneCountInString(p))
}
