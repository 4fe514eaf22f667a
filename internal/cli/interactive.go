package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/internal/slash"
	"github.com/hermes-go/hermes/internal/store"
)

// talk is a conversation with a person, whatever they sit at.
type talk struct {
	e     *env
	app   *app.App
	c     *app.Conversation
	table *slash.Table
	think bool   // show the model's thinking
	busy  string // what typing does while a turn runs
}

// runChat is the conversation: at a terminal with an input line that can be
// edited; at a dumb one, or through a pipe, a line in and an answer out.
func runChat(ctx context.Context, e *env, f *chatFlags) error {
	return e.withTree(ctx, f, func(a *app.App) error {
		in := f.ask()
		in.Interactive, in.Title = e.asks, true
		in.Discover = e.terminal
		e.askProject(ctx, a)
		c, err := a.Converse(ctx, in)
		if err != nil {
			return e.setUpFirst(ctx, a, f, startError(err))
		}
		e.quickCheck(a)
		t := &talk{e: e, app: a, c: c, table: slash.New(slash.Terminal, a.QuickCommands(slash.New(slash.Terminal))...), busy: a.Config.String("display.busy_input_mode")}
		t.table.Skills = a.SkillCommands("cli", t.table)
		t.think = t.flag("display.show_reasoning")
		front := t.lines
		if e.asks && e.terminal && e.able() {
			front = t.window
		}
		err = front(ctx)
		err = errors.Join(err, c.End(context.WithoutCancel(ctx), store.EndClose))
		switch {
		case len(c.History) == 0:
		case e.pipe():
			fmt.Fprintf(e.err, "\nsession_id: %s\n", c.ID)
		default:
			fmt.Fprintf(e.err, "\nGo on with: hermes --resume %s\n", c.ID)
		}
		return err
	})
}

// able says whether the terminal understands more than lines.
func (e *env) able() bool {
	kind := e.variable("TERM")
	return kind != "dumb" && (kind != "" || runtime.GOOS == "windows")
}

// pipe says whether nobody types: lines come from a program.
func (e *env) pipe() bool { return !e.asks }

// colors says whether to write colours.
func (e *env) colors() bool { return e.terminal && e.able() && e.variable("NO_COLOR") == "" }

func (e *env) variable(name string) string {
	value := ""
	for _, v := range e.environ {
		if n, text, ok := strings.Cut(v, "="); ok && n == name {
			value = text
		}
	}
	return value
}

func (t *talk) flag(key string) bool {
	v, _ := t.app.Config.Get(key)
	on, _ := v.(bool)
	return on
}

func (t *talk) banner() string {
	return fmt.Sprintf("Hermes · %s · %s · session %s", t.c.Model, t.c.Provider, t.c.ID)
}

// emoji is a tool's mark.
func (t *talk) emoji(name string) string {
	if found, ok := t.app.Registry.Lookup(name); ok {
		return found.Emoji
	}
	return ""
}
