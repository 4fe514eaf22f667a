package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/cells"
	"github.com/hermes-go/hermes/internal/cli/tty"
	"github.com/hermes-go/hermes/internal/markdown"
	"github.com/hermes-go/hermes/internal/slash"
)

// press takes keys.
func (w *window) press(ctx context.Context, keys []tty.Key) {
	for _, k := range keys {
		if w.quits {
			return
		}
		w.dirty = true
		if w.menu != nil && (k.Kind == tty.Up || k.Kind == tty.Down) {
			w.choose(map[tty.Kind]int{tty.Up: -1, tty.Down: 1}[k.Kind])
			continue
		}
		act := w.ed.Handle(k)
		if act != tty.Complete && act != tty.CompleteBack {
			w.menu, w.menuAt = nil, -1
		}
		w.act(ctx, act)
	}
}

func (w *window) act(ctx context.Context, act tty.Action) {
	switch act {
	case tty.Submit:
		w.submit(ctx)
	case tty.Interrupt:
		w.interrupt()
	case tty.Quit:
		if w.asked != nil || w.turn != nil {
			w.interrupt()
		} else {
			w.quits = true
		}
	case tty.Cancel:
		if w.asked != nil {
			w.interrupt()
		}
	case tty.Complete, tty.CompleteBack:
		if w.asked == nil {
			w.complete(ctx, act == tty.CompleteBack)
		}
	case tty.Redraw:
		w.failing(w.live.Clear())
	case tty.Suspend:
		w.failing(w.live.Leave(w.above), w.tty.Suspend())
		w.above = nil
		w.live.Forget()
	case tty.Outside:
		if w.asked == nil {
			w.failing(w.outside(ctx))
		}
	}
}

func (w *window) failing(errs ...error) {
	if err := errors.Join(errs...); err != nil {
		w.problem(err.Error())
	}
}

// submit takes the line: an answer, a command or a message.
func (w *window) submit(ctx context.Context) {
	text := w.ed.Text()
	if w.asked != nil {
		a, ok := readAnswer(w.asked.Request, text)
		if !ok {
			w.note("please answer with one of the letters; Enter alone denies")
			w.ed.Reset()
			return
		}
		if strings.TrimSpace(text) == "" {
			text = "no"
		}
		w.reply(a, text)
		return
	}
	text = strings.TrimRight(text, " \t\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	w.ed.Reset()
	if err := w.ed.History.Add(text, time.Now()); err != nil {
		w.note(err.Error())
	}
	if name, args, ok := slash.Parse(text); ok {
		if c, err := w.table.Find(name); err != nil || c.Busy || w.turn == nil {
			w.echo(text)
			w.command(ctx, name, args)
			return
		}
		w.note(fmt.Sprintf("/%s waits until the turn has ended", name))
		w.queue = append(w.queue, text)
		return
	}
	if w.turn == nil {
		w.say(ctx, text)
		return
	}
	switch {
	case w.turn.command || w.busy == "queue":
		w.queue = append(w.queue, text)
	case w.busy == "steer":
		w.steer(text)
	default:
		w.queue = append(w.queue, text)
		w.turn.doing = "stopping"
		w.turn.cancel(agent.ErrInterrupted)
	}
}

func (w *window) echo(text string) { w.put("message", w.paint(bold, "› "+oneLine(text, 500))) }

func (w *window) steer(text string) {
	w.c.Steer(text)
	w.note("told the running turn: " + oneLine(text, 200))
}

// next goes on after a turn with what waits.
func (w *window) next(ctx context.Context) {
	if left := w.c.PendingSteer(); left != "" {
		w.queue = append([]string{left}, w.queue...)
	}
	if !w.stopped.IsZero() && len(w.queue) > 0 { // stopped: the person decides what is sent
		text := strings.Join(w.queue, "\n")
		if !w.ed.Empty() {
			text += "\n" + w.ed.Text()
		}
		w.ed.Set(text)
		w.queue = nil
	}
	w.stopped = time.Time{}
	for len(w.queue) > 0 && w.turn == nil && !w.quits {
		text := w.queue[0]
		w.queue = w.queue[1:]
		if name, args, ok := slash.Parse(text); ok {
			w.echo(text)
			w.command(ctx, name, args)
			continue
		}
		w.say(ctx, text)
	}
}

// command runs a command and does what its reply asks for.
func (w *window) command(ctx context.Context, name, args string) {
	if c, err := w.table.Find(name); err == nil && c.Slow {
		w.begin(ctx, "/"+c.Name, func(ctx context.Context, items chan<- item) {
			r, err := w.table.Run(ctx, w.c, c.Name, args)
			items <- item{reply: &r, err: err}
		})
		w.turn.command = true
		return
	}
	r, err := w.table.Run(ctx, w.c, name, args)
	if err != nil {
		w.problem(err.Error())
		return
	}
	w.replied(r)
	w.pass(ctx, r)
}

// replied shows what a command came to.
func (w *window) replied(r slash.Reply) {
	if r.Clear {
		w.above, w.block = nil, ""
		w.failing(w.live.Clear())
	}
	o := w.look
	o.Width, o.Bare = w.width(), true
	for _, line := range markdown.Render(r.Text, o) {
		if strings.ContainsRune(line, 0x1b) {
			w.put("reply", line)
		} else { // code that is a table of ours
			w.put("reply", cells.Lines(line, o.Width)...)
		}
	}
	if r.Change {
		w.state = w.c.State()
		for _, n := range w.c.Notices {
			w.note(n)
		}
	}
	if r.Think != nil {
		w.think = *r.Think
	}
	if r.Busy != "" {
		w.busy = r.Busy
		w.note("typing while the agent works: " + r.Busy)
	}
	w.quits = w.quits || r.Quit
}

// pass hands on the messages of a reply.
func (w *window) pass(ctx context.Context, r slash.Reply) {
	switch {
	case r.Steer != "" && w.turn != nil:
		w.steer(r.Steer)
	case r.Queue != "" && w.turn != nil:
		w.queue = append(w.queue, r.Queue)
	case r.Send+r.Queue+r.Steer != "" && w.turn == nil:
		w.say(ctx, r.Send+r.Queue+r.Steer) // only one of them is there
	}
}

// complete fills the word before the cursor in, as far as it is clear; another
// Tab goes through the choices.
func (w *window) complete(ctx context.Context, back bool) {
	if w.menu != nil {
		step := 1
		if back {
			step = -1
		}
		w.choose(step)
		return
	}
	text, at := w.ed.Line()
	word, choices := w.completions(ctx, text[:at])
	if len(choices) == 0 {
		return
	}
	w.menuFrom = at - len(word)
	if len(choices) == 1 {
		w.ed.Replace(w.menuFrom, finished(choices[0].Text))
		return
	}
	if common := commonStart(choices); len(common) > len(word) {
		w.ed.Replace(w.menuFrom, common)
	}
	w.menu, w.menuAt = choices, -1
}

// choose puts another choice into the line.
func (w *window) choose(step int) {
	w.menuAt += step
	switch n := len(w.menu); {
	case w.menuAt >= n:
		w.menuAt = 0
	case w.menuAt < 0:
		w.menuAt = n - 1
	}
	w.ed.Replace(w.menuFrom, w.menu[w.menuAt].Text)
}

// outside has the line edited in the person's own editor.
func (w *window) outside(ctx context.Context) error {
	program, _ := w.app.Getenv("VISUAL")
	if program == "" {
		program, _ = w.app.Getenv("EDITOR")
	}
	words := strings.Fields(program)
	if len(words) == 0 {
		return errors.New("no editor is set; EDITOR or VISUAL names one")
	}
	f, err := os.CreateTemp("", "hermes-*.md") // readable for its owner alone
	if err != nil {
		return fmt.Errorf("edit outside: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(w.ed.Text())
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("edit outside: %w", err)
	}
	if err := w.live.Leave(w.above); err != nil {
		return err
	}
	w.above = nil
	w.tty.Cooked()
	c := exec.CommandContext(ctx, words[0], append(words[1:], f.Name())...)
	c.Stdin, c.Stdout, c.Stderr = w.e.in, os.Stdout, os.Stdout
	err = c.Run()
	w.live.Forget()
	if rawErr := w.tty.Raw(); rawErr != nil {
		return errors.Join(err, rawErr)
	}
	if err != nil {
		return fmt.Errorf("%s: %w; the line is as it was", words[0], err)
	}
	b, err := os.ReadFile(f.Name())
	if err != nil {
		return fmt.Errorf("edit outside: %w", err)
	}
	w.ed.Set(strings.TrimRight(string(b), "\n"))
	return nil
}
