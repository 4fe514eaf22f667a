package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/internal/store"
)

const demoHelp = `Show Hermes at work without a key and without a network, in a temporary home.
The model is the offline one inside the binary: it understands a few phrases and
answers only from what the tools really return. Everything else is the real
thing: the loop, the tools, the memory, the session store.`

// demoFile is what the demo reads; it is a real file in a real directory.
const demoFile = `Things to take to the market:
- bread
- two lemons
- a bunch of mint
`

func newDemo(e *env) *cobra.Command {
	var keep bool
	c := &cobra.Command{
		Use: "demo", Short: "See it work, without a key or a network", Long: demoHelp, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runDemo(c.Context(), e, keep) },
	}
	c.Flags().BoolVar(&keep, "keep", false, "keep the temporary directory and say where it is")
	return c
}

func runDemo(ctx context.Context, e *env, keep bool) (err error) {
	dir, err := os.MkdirTemp("", "hermes-demo-")
	if err != nil {
		return fmt.Errorf("make the demo's directory: %w", err)
	}
	if keep {
		defer fmt.Fprintf(e.out, "\nKept in %s\n", dir)
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	d := &demo{env: e, home: filepath.Join(dir, "home"), work: filepath.Join(dir, "work")}
	if err := os.MkdirAll(d.work, 0o700); err != nil {
		return fmt.Errorf("make the demo's directory: %w", err)
	}
	if err := os.WriteFile(filepath.Join(d.work, "market.txt"), []byte(demoFile), 0o600); err != nil {
		return fmt.Errorf("make the demo's file: %w", err)
	}
	d.say("Hermes demo: a temporary home, the offline model, real tools.\nWorking directory: %s", d.work)
	first, err := d.firstSession(ctx)
	if err != nil {
		return err
	}
	if err := d.secondSession(ctx, first); err != nil {
		return err
	}
	d.say("\nThat was the whole loop, offline. With a model of your own:\n" +
		"  hermes chat --provider openrouter --model MODEL -q \"...\"   (needs OPENROUTER_API_KEY)\n" +
		"  hermes chat --provider offline -q \"what can you do?\"       (no key)")
	return nil
}

// demo is a run of the demo: each session opens the home anew, as a new start
// of the program would.
type demo struct {
	*env
	home, work string
}

func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.out, format+"\n", args...) }

func (d *demo) session(fn func(*app.App, *app.Conversation) error) (err error) {
	a, err := app.Open(app.Options{Home: d.home, UserHome: d.home, WorkDir: d.work, Environ: d.environ, Notice: d.notice})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	c, err := a.Converse(context.Background(), app.Ask{Provider: "offline", Title: true})
	if err != nil {
		return err
	}
	if err := fn(a, c); err != nil {
		return err
	}
	return c.End(context.Background(), store.EndQuery)
}

// turn sends one message, shows every step and checks that tool ran and
// worked.
func (d *demo) turn(ctx context.Context, c *app.Conversation, text, tool string) error {
	d.say("\n› %s", text)
	s := &screen{out: io.Discard, err: d.out, color: d.terminal}
	ran := tool == ""
	for ev, err := range c.Turn(ctx, text) {
		if err != nil {
			return err
		}
		s.show(ev)
		switch ev := ev.(type) {
		case agent.ToolEnd:
			ran = ran || ev.Name == tool && ev.Err == nil
			d.say("%s", s.paint(dim, "┊   → "+oneLine(string(ev.Result), 160)))
		case agent.Done:
			d.say("%s", strings.TrimSpace(ev.Text))
			if ev.Status != agent.OK {
				return fmt.Errorf("demo: %q ended as %s: %w", text, ev.Status, ev.Err)
			}
		}
	}
	if !ran {
		return fmt.Errorf("demo: %q did not run %s", text, tool)
	}
	return nil
}

const demoFact = "the market list is in market.txt and lemons are never optional"

func (d *demo) firstSession(ctx context.Context) (id string, err error) {
	err = d.session(func(_ *app.App, c *app.Conversation) error {
		d.say("\n── Session 1 (%s)", c.ID)
		id = c.ID
		for _, step := range []struct{ text, tool string }{
			{"read market.txt", "read_file"}, {"run grep -c '^-' market.txt", "terminal"}, {"remember that " + demoFact, "memory"},
		} {
			if err := d.turn(ctx, c, step.text, step.tool); err != nil {
				return err
			}
		}
		return nil
	})
	return id, err
}

func (d *demo) secondSession(ctx context.Context, first string) error {
	return d.session(func(a *app.App, c *app.Conversation) error {
		d.say("\n── Session 2 (%s), a new start of the program", c.ID)
		if !strings.Contains(c.System, demoFact) {
			return errors.New("demo: the note of session 1 is not in the prompt of session 2")
		}
		d.say("Its system prompt carries the note of session 1: %q", demoFact)
		if err := d.turn(ctx, c, "what do you remember?", ""); err != nil {
			return err
		}
		db, err := a.DB()
		if err != nil {
			return err
		}
		d.say("\nSearching all sessions for \"lemons\":")
		found := false
		for hit, err := range db.Search(ctx, store.Query{Text: "lemons", Limit: 5}) {
			if err != nil {
				return err
			}
			d.say("  %s  %s: %s", hit.SessionID, hit.Role, oneLine(hit.Snippet, 110))
			found = found || hit.SessionID == first
		}
		if !found {
			return fmt.Errorf("demo: the search did not find session %s", first)
		}
		return nil
	})
}
