// Package form asks a person one thing at a time on a terminal: a choice, a
// line, a secret. Nothing of it is drawn until something is asked, and what is
// asked and done with the answer is not its matter.
package form

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/hermes-go/hermes/internal/setup"
)

// Terminal asks with forms drawn on a terminal.
type Terminal struct {
	In  *os.File
	Out io.Writer
}

var _ setup.Asker = (*Terminal)(nil)

// Choose implements setup.Asker.
func (t *Terminal) Choose(ctx context.Context, q setup.Question, options []string, start int) (int, error) {
	l := &list{question: q, options: options}
	l.filter("")
	l.at = max(0, min(start, len(options)-1))
	if err := t.run(ctx, l); err != nil {
		return 0, err
	}
	t.Say(q.Title + ": " + options[l.chosen])
	return l.chosen, nil
}

// Line implements setup.Asker.
func (t *Terminal) Line(ctx context.Context, q setup.Question, value string) (string, error) {
	f := &field{question: q, text: []rune(value)}
	f.at = len(f.text)
	if err := t.run(ctx, f); err != nil {
		return "", err
	}
	t.Say(q.Title + ": " + string(f.text))
	return string(f.text), nil
}

// Secret implements setup.Asker. What is typed or pasted is shown as stars.
func (t *Terminal) Secret(ctx context.Context, q setup.Question) (string, error) {
	f := &field{question: q, hidden: true}
	err := t.run(ctx, f)
	return string(f.text), err
}

// Say implements setup.Asker.
func (t *Terminal) Say(text string) { fmt.Fprintln(t.Out, text) }

// asking is a form being filled in.
type asking interface {
	key(k string, text string) (done bool)
	paste(text string)
	view(width int) string
}

func (t *Terminal) run(ctx context.Context, a asking) error {
	m := &model{asking: a, width: 80}
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(t.In), tea.WithOutput(t.Out), tea.WithoutSignalHandler()).Run()
	switch {
	case m.left:
		return setup.ErrStop
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("ask: %w", err)
	case !m.done:
		return errors.Join(setup.ErrStop, io.ErrUnexpectedEOF)
	}
	return nil
}

// model runs a form as bubbletea wants it.
type model struct {
	asking     asking
	width      int
	done, left bool
}

func (m *model) Init() tea.Cmd { return nil }

func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width = msg.Width
	case tea.PasteMsg:
		m.asking.paste(msg.Content)
	case tea.KeyPressMsg:
		switch k := msg.String(); k {
		case "ctrl+c", "ctrl+d":
			m.left = true
			return m, tea.Quit
		default:
			if m.asking.key(k, msg.Text) {
				m.done = true
				return m, tea.Quit
			}
		}
	}
	return m, nil
}

// View draws the form; one that is done leaves nothing behind.
func (m *model) View() tea.View {
	if m.done || m.left {
		return tea.NewView("")
	}
	return tea.NewView(m.asking.view(max(m.width, 20)))
}

const (
	bold  = "\x1b[1m"
	faint = "\x1b[2m"
	red   = "\x1b[31m"
	plain = "\x1b[0m"
)

// page is a form's lines, each cut to the width.
type page struct {
	b     strings.Builder
	width int
}

func (p *page) line(style, text string) {
	text = ansi.Truncate(text, p.width-1, "…")
	if style != "" {
		text = style + text + plain
	}
	p.b.WriteString(text + "\n")
}

func (p *page) head(q setup.Question) {
	p.line(bold, q.Title)
	for line := range strings.SplitSeq(q.Note, "\n") {
		if line != "" {
			p.line(faint, line)
		}
	}
}

// list is a choice; typing narrows it.
type list struct {
	question setup.Question
	options  []string
	typed    string
	fit      []int // indexes of the options that hold what was typed
	at       int   // in fit
	chosen   int
}

// rows is how many options are shown at once.
const rows = 14

func (l *list) filter(typed string) {
	l.typed, l.fit, l.at = typed, l.fit[:0], 0
	for i, o := range l.options {
		if strings.Contains(strings.ToLower(o), strings.ToLower(strings.TrimPrefix(typed, "/"))) {
			l.fit = append(l.fit, i)
		}
	}
}

func (l *list) key(k, text string) bool {
	switch k {
	case "enter":
		if len(l.fit) == 0 {
			return false
		}
		l.chosen = l.fit[l.at]
		return true
	case "up", "ctrl+p", "shift+tab":
		l.at = max(l.at-1, 0)
	case "down", "ctrl+n", "tab":
		l.at = min(l.at+1, max(len(l.fit)-1, 0))
	case "pgup":
		l.at = max(l.at-rows, 0)
	case "pgdown":
		l.at = max(min(l.at+rows, len(l.fit)-1), 0)
	case "home":
		l.at = 0
	case "end":
		l.at = max(len(l.fit)-1, 0)
	case "esc", "ctrl+u":
		l.filter("")
	case "backspace":
		if r := []rune(l.typed); len(r) > 0 {
			l.filter(string(r[:len(r)-1]))
		}
	default:
		if text != "" {
			l.filter(l.typed + text)
		}
	}
	return false
}

func (l *list) paste(text string) { l.filter(l.typed + setup.CleanKey(text)) }

func (l *list) view(width int) string {
	p := &page{width: width}
	p.head(l.question)
	from := max(0, min(l.at-rows/2, len(l.fit)-rows))
	for i := from; i < min(from+rows, len(l.fit)); i++ {
		if i == l.at {
			p.line(bold, "> "+l.options[l.fit[i]])
		} else {
			p.line("", "  "+l.options[l.fit[i]])
		}
	}
	switch {
	case len(l.fit) == 0:
		p.line(faint, "  nothing holds "+l.typed)
	case len(l.fit) > rows:
		p.line(faint, fmt.Sprintf("  %d of %d", l.at+1, len(l.fit)))
	}
	if l.typed != "" {
		p.line("", "find: "+l.typed)
	}
	p.line(faint, "↑↓ move · type to find · enter takes it · ctrl+c leaves")
	return p.b.String()
}

// field is a line to fill in.
type field struct {
	question setup.Question
	text     []rune
	at       int
	hidden   bool
	problem  string
}

func (f *field) insert(text string) {
	r := []rune(text)
	f.text = append(f.text[:f.at:f.at], append(r, f.text[f.at:]...)...)
	f.at += len(r)
	f.problem = ""
}

func (f *field) paste(text string) { f.insert(setup.CleanKey(text)) }

func (f *field) key(k, text string) bool {
	switch k {
	case "enter":
		if f.question.Check != nil {
			if err := f.question.Check(string(f.text)); err != nil {
				f.problem = err.Error()
				return false
			}
		}
		return true
	case "left", "ctrl+b":
		f.at = max(f.at-1, 0)
	case "right", "ctrl+f":
		f.at = min(f.at+1, len(f.text))
	case "home", "ctrl+a":
		f.at = 0
	case "end", "ctrl+e":
		f.at = len(f.text)
	case "backspace":
		if f.at > 0 {
			f.text = append(f.text[:f.at-1:f.at-1], f.text[f.at:]...)
			f.at--
		}
	case "delete":
		if f.at < len(f.text) {
			f.text = append(f.text[:f.at:f.at], f.text[f.at+1:]...)
		}
	case "ctrl+u", "esc":
		f.text, f.at = nil, 0
	default:
		f.insert(text)
	}
	return false
}

func (f *field) view(width int) string {
	p := &page{width: width}
	p.head(f.question)
	before, after := string(f.text[:f.at]), string(f.text[f.at:])
	if f.hidden {
		before, after = strings.Repeat("*", f.at), strings.Repeat("*", len(f.text)-f.at)
	}
	room := max(width-6, 10) // the end of a long text is what a person looks at
	if over := ansi.StringWidth(before) - room; over > 0 {
		before = "…" + ansi.TruncateLeft(before, over+1, "")
	}
	p.line("", "> "+before+"▏"+after)
	if f.hidden && len(f.text) > 0 {
		p.line(faint, fmt.Sprintf("  %d characters", len(f.text)))
	}
	if f.problem != "" {
		p.line(red, f.problem)
	}
	p.line(faint, "enter takes it · ctrl+u empties · ctrl+c leaves")
	return p.b.String()
}
