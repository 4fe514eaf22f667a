package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/cells"
	"github.com/hermes-go/hermes/internal/cli/tty"
	"github.com/hermes-go/hermes/internal/markdown"
	"github.com/hermes-go/hermes/internal/slash"
)

// window is the conversation at a terminal. One goroutine, loop, owns all of
// it; a running turn and the keyboard reach it through channels.
type window struct {
	*talk
	tty   *tty.Terminal
	live  *tty.Live
	keys  tty.Decoder
	ed    tty.Editor
	look  markdown.Options
	raw   bool // Markdown is shown as it is written
	begun time.Time

	above []string // lines that go into the scrollback with the next drawing
	block string   // the kind of what stands there last
	side  sideLines

	menu     []slash.Choice
	menuFrom int // where in the line the completed word begins
	menuAt   int // the choice in the line; -1: none yet

	turn  *running
	queue []string
	alone int // turns in a row that no message of the person began
	asked *question
	quits bool
	wakes bool        // background commands may begin a turn
	state slash.State // as it was between turns

	dirty   bool
	drawn   time.Time
	stopped time.Time // when Ctrl+C was last pressed in a turn
}

// How often at most the region is drawn, how long an Escape waits for the rest
// of a sequence, how quickly the second Ctrl+C must follow.
const (
	frame      = 16 * time.Millisecond
	escapeWait = 40 * time.Millisecond
	twice      = 2 * time.Second
)

func (t *talk) window(ctx context.Context) error {
	w := &window{talk: t, menuAt: -1, begun: time.Now(), state: t.c.State()}
	on, known := t.app.Config.Get("display.background_turns")
	w.wakes = !known || on != false
	var err error
	if w.tty, err = tty.Open(t.e.in, os.Stdout); err != nil {
		t.e.notice(err.Error() + "; going on line by line")
		return t.lines(ctx)
	}
	t.e.quit.atExit(w.tty.Cooked)
	w.live = tty.NewLive(t.e.out, w.tty.Size)
	w.look = markdown.Options{Color: t.e.colors()}
	if t.app.Config.Has("display.final_response_markdown") {
		switch t.app.Config.String("display.final_response_markdown") {
		case "raw":
			w.raw = true
		case "strip":
			w.look.Color = false
		}
	}
	plain := t.e.err
	t.e.err = &w.side // a notice from below must not break the region
	defer func() { t.e.err = plain }()
	var problem error
	w.ed.History, problem = tty.OpenHistory(filepath.Join(t.app.Home, ".hermes_history"))
	w.ed.History.Keep = func(text string) bool { return t.app.Secrets.Redactor().Redact(text) == text }
	w.welcome(ctx, problem)
	err = w.loop(ctx)
	w.takeSide()
	err = errors.Join(err, w.live.Leave(w.above))
	w.tty.Close()
	return err
}

func (w *window) welcome(ctx context.Context, problem error) {
	w.wrapped("banner", bold, w.banner())
	w.wrapped("banner", dim, "Alt+Enter makes a new line, Tab completes, Ctrl+C interrupts; /help lists commands, /quit leaves.")
	for _, n := range w.c.Notices {
		w.note(n)
	}
	if problem != nil {
		w.note(problem.Error())
	}
	if w.c.Resumed {
		w.note(fmt.Sprintf("going on with %d messages", len(w.c.History)))
		if w.app.Config.String("display.resume_display") != "minimal" && len(w.c.History) > 0 {
			w.command(ctx, "history", "6")
		}
	}
}

// loop runs until the person leaves.
func (w *window) loop(ctx context.Context) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	w.e.quit.leaveKeys()
	var escape, draw <-chan time.Time
	w.dirty = true
	for !w.quits {
		if w.dirty && draw == nil {
			if wait := frame - time.Since(w.drawn); wait > 0 {
				draw = time.After(wait)
			} else if err := w.draw(); err != nil {
				return err
			}
		}
		select {
		case b, open := <-w.tty.Input():
			if !open {
				return w.leave(errors.New("the terminal is gone"))
			}
			w.press(ctx, w.keys.Feed(b))
			w.background(ctx)
			escape = nil
			if w.keys.Pending() {
				escape = time.After(escapeWait)
			}
			if w.quits {
				continue
			}
			if err := w.draw(); err != nil { // at once: a person waits for it
				return w.leave(err)
			}
			w.tty.More()
		case <-escape:
			escape = nil
			w.press(ctx, w.keys.Flush())
		case <-draw:
			draw = nil
			if err := w.draw(); err != nil {
				return w.leave(err)
			}
		case it, more := <-w.turn.events():
			w.event(ctx, it, more)
		case <-w.turn.seconds():
			w.dirty = true
		case <-w.c.BackgroundChanged():
			w.background(ctx)
		case <-w.tty.Resized():
			w.dirty = true
		case <-w.asked.late():
			w.note("nobody answered in time")
			w.closeQuestion()
		case <-w.side.came():
			w.takeSide()
		case <-signals:
			w.interrupt()
		case <-ctx.Done():
			return w.leave(context.Cause(ctx))
		}
	}
	return w.leave(nil)
}

// leave ends a running turn properly: what it did is to be stored.
func (w *window) leave(err error) error {
	if w.turn == nil {
		return err
	}
	w.closeQuestion()
	w.turn.cancel(agent.ErrInterrupted)
	for it := range w.turn.items {
		if asked, ok := it.event.(agent.Asked); ok {
			asked.Reply(noAnswer(asked.Request))
		}
	}
	return err
}

func (w *window) paint(code, text string) string { return paint(w.e.colors(), code, text) }

func (w *window) width() int {
	width, _ := w.tty.Size()
	return max(width-1, 10) // the last column stays free
}

// put adds lines to the scrollback; an empty one parts them from another kind.
func (w *window) put(kind string, lines ...string) {
	if len(lines) == 0 {
		return
	}
	if w.block != "" && w.block != kind {
		w.above = append(w.above, "")
	}
	w.block = kind
	w.above = append(w.above, lines...)
	w.dirty = true
}

func (w *window) wrapped(kind, code, text string) {
	for _, line := range cells.Lines(cells.Clean(text), w.width()) {
		w.put(kind, w.paint(code, line))
	}
}

func (w *window) note(text string) { w.wrapped("note", dim, "· "+text) }

func (w *window) problem(text string) { w.wrapped("note", red, text) }

// draw shows what is new above the region, and the region.
func (w *window) draw() error {
	w.takeSide()
	width, height := w.tty.Size()
	width = max(width-1, 10)
	rows, row, col := w.ed.View(w.prompt(), width)
	if most := max(height/2, 3); len(rows) > most {
		first := min(max(row-most/2, 0), len(rows)-most)
		rows, row = rows[first:first+most], row-first
	}
	below := append(w.menuLines(width), w.statusLine(width, height)...)
	room := height - 1 - len(rows) - len(below)
	region := w.turnLines(width, max(room, 0))
	if len(region) < room && w.block != "" { // the line stands apart
		region = append(region, "")
	}
	row += len(region)
	region = append(append(region, rows...), below...)
	above := w.above
	w.above, w.dirty, w.drawn = nil, false, time.Now()
	return w.live.Draw(above, region, row, col)
}

func (w *window) prompt() string {
	if w.asked != nil {
		return questionPrompt(w.asked.Request)
	}
	return "› "
}

// statusLine is the model and how full its context is.
func (w *window) statusLine(width, height int) []string {
	if height < 8 || w.asked != nil {
		return nil
	}
	s := w.state
	name := s.Model[strings.LastIndexByte(s.Model, '/')+1:]
	name = cells.Cut(strings.TrimSuffix(name, ".gguf"), 26)
	parts := []string{"⚕ " + name}
	if width >= 52 {
		full := "ctx --"
		if s.Window > 0 && s.Used > 0 {
			share := min(100*s.Used/s.Window, 100)
			full = fmt.Sprintf("%d%%", share)
			if width >= 76 {
				full = fmt.Sprintf("%s/%s │ [%s%s] %d%%", short(s.Used), short(s.Window), strings.Repeat("█", share/10), strings.Repeat("░", 10-share/10), share)
			}
		}
		parts = append(parts, full, sinceStart(time.Since(w.begun)))
	}
	return []string{w.paint(dim, cells.Cut(strings.Join(parts, " │ "), width))}
}

func sinceStart(d time.Duration) string {
	if d < time.Minute {
		return "<1m"
	}
	return fmt.Sprintf("%dm", int(d.Minutes()))
}

func short(n int) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

// menuLines lists the completions, or what a command that is being typed
// could be.
func (w *window) menuLines(width int) []string {
	const most = 6
	menu := w.menu
	if menu == nil && w.asked == nil {
		text, at := w.ed.Line()
		if at == len(text) && strings.HasPrefix(text, "/") && !strings.ContainsAny(text, " \n") && strings.Count(text, "/") == 1 {
			_, menu = w.table.Complete(context.Background(), nil, text)
		}
	}
	if len(menu) == 0 {
		return nil
	}
	first := 0
	if w.menu != nil {
		first = min(max(w.menuAt-most/2, 0), max(len(menu)-most, 0))
	}
	var lines []string
	for i := first; i < min(first+most, len(menu)); i++ {
		c := menu[i]
		mark := "  "
		if w.menu != nil && i == w.menuAt {
			mark = "▸ "
		}
		text := mark + cells.Clean(c.Text)
		if c.About != "" {
			text += strings.Repeat(" ", max(14-cells.Width(c.Text), 1)) + c.About
		}
		lines = append(lines, w.paint(dim, cells.Cut(text, width)))
	}
	if more := len(menu) - first - most; more > 0 {
		lines = append(lines, w.paint(dim, fmt.Sprintf("  … %d more", more)))
	}
	return lines
}

// sideLines take what other parts of the program print.
type sideLines struct {
	mu   sync.Mutex
	text []byte
	wake chan struct{}
}

func (s *sideLines) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, b...)
	s.init()
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return len(b), nil
}

func (s *sideLines) init() {
	if s.wake == nil {
		s.wake = make(chan struct{}, 1)
	}
}

func (s *sideLines) came() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.init()
	return s.wake
}

func (s *sideLines) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := string(s.text)
	s.text = nil
	return text
}

func (w *window) takeSide() {
	if text := strings.TrimRight(w.side.take(), "\n"); text != "" {
		w.wrapped("note", dim, text)
	}
}
