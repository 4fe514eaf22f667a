package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/internal/cli/form"
	"github.com/hermes-go/hermes/internal/setup"
	"github.com/hermes-go/hermes/provider"
)

func newSetup(e *env) *cobra.Command {
	var quiet bool
	var way setup.Way
	c := &cobra.Command{
		Use: "setup [SECTION]", Short: "Set up the model, the terminal, the agent and keys of tools, step by step",
		Long:      "Ask for what is needed and write it down. Sections: model, terminal, agent, tools.\nWithout one, a new home is asked for its model; one that has a model gets a menu; --quick\nasks for what is missing, --reconfigure for everything, --reset begins anew. Where\nnobody can be asked, and with --non-interactive, it prints the commands that do the same.",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: setup.Sections(),
		RunE: func(c *cobra.Command, args []string) error {
			for _, a := range args {
				if !slices.Contains(setup.Sections(), a) {
					return usageError("setup has no section %q; there are: %s", a, strings.Join(setup.Sections(), ", "))
				}
			}
			if way.Sections = args; len(args) > 0 && (way.All || way.Missing) {
				return usageError("a section is asked for as a whole: leave out --quick and --reconfigure")
			}
			if quiet || !e.asks {
				if way.Reset {
					return usageError("--reset asks before it does so, and nobody can be asked here")
				}
				_, err := fmt.Fprint(e.out, setup.Guidance(args))
				return err
			}
			err := e.with(func(a *app.App) error { return runWizard(c.Context(), e, a, way) })
			if err != nil || len(args) > 0 {
				return err
			}
			return offerChat(c.Context(), e)
		},
	}
	c.Flags().BoolVar(&way.Missing, "quick", false, "ask only for what is missing")
	c.Flags().BoolVar(&way.All, "reconfigure", false, "go through all sections, with today's values to start from")
	c.Flags().BoolVar(&way.Reset, "reset", false, "begin with a new config.yaml; the old one is kept beside it, and so are keys")
	notTogether(c, "quick", "reconfigure")
	c.Flags().BoolVar(&quiet, "non-interactive", false, "ask nothing, print the commands")
	return c
}

func (e *env) asker() setup.Asker {
	if term, _ := lookupEnv(e.environ, "TERM"); term == "" || term == "dumb" {
		return plainAsker{e}
	}
	return &form.Terminal{In: e.in, Out: e.err}
}

func runWizard(ctx context.Context, e *env, a *app.App, way setup.Way) error {
	w, err := e.wizard(a)
	if err != nil {
		return err
	}
	return e.leftWizard(w.Run(ctx, way))
}

// wizard asks the person at the terminal for this home.
func (e *env) wizard(a *app.App) (*setup.Wizard, error) {
	named, err := a.Named()
	if err != nil {
		return nil, err
	}
	e.quit.leaveKeys() // Ctrl+C is a key of the forms
	return &setup.Wizard{
		Ask: e.asker(), Home: a.Home, Secrets: a.Secrets, Vars: a.Vars(), Catalog: openCatalog(e, a), Named: named, Lookup: a.Getenv,
		Local: func(ctx context.Context) []setup.LocalServer { return setup.FindLocal(ctx, a.Secrets.Getenv) },
	}, nil
}

// leftWizard gives leaving a wizard its exit code.
func (e *env) leftWizard(err error) error {
	if errors.Is(err, setup.ErrStop) {
		fmt.Fprintln(e.err, "Error:", err)
		return reported(exitInterrupted)
	}
	return err
}

// offerChat ends a setup with a conversation, when one is possible.
func offerChat(ctx context.Context, e *env) error {
	ready := false
	if err := e.quietly(func(a *app.App) error {
		r, err := a.Resolve("", "")
		ready = err == nil && r.Model != ""
		return nil
	}); err != nil || !ready {
		return err
	}
	i, err := e.asker().Choose(ctx, setup.Question{Title: "Ready. Start a conversation?"}, []string{"Yes", "No"}, 0)
	if errors.Is(err, setup.ErrStop) || err == nil && i == 1 {
		_, err := fmt.Fprintln(e.out, "Start one with: hermes")
		return err
	}
	if err != nil {
		return err
	}
	return runChat(ctx, e, &chatFlags{})
}

// setUpFirst offers the wizard to a person whose conversation cannot start
// because nothing is set up; afterwards it starts. Otherwise err stands.
func (e *env) setUpFirst(ctx context.Context, a *app.App, f *chatFlags, err error) error {
	var missing *provider.SetupError
	if !e.asks || !e.terminal || !errors.As(err, &missing) || missing.Provider != "auto" || f.provider != "" {
		return err
	}
	fmt.Fprintln(e.err, "No model service is set up, and no model server runs on this machine.")
	i, askErr := e.asker().Choose(ctx, setup.Question{Title: "Set one up now?"}, []string{"Yes", "No"}, 0)
	if askErr != nil || i == 1 {
		return err
	}
	if err := runWizard(ctx, e, a, setup.Way{Sections: []string{"model"}}); err != nil {
		return err
	}
	return runChat(ctx, e, f)
}

// quickCheck tells a person in one line what doctor would find in the files.
func (e *env) quickCheck(a *app.App) {
	if !e.asks {
		return
	}
	if line := a.Examined(e.place, true).Quick(); line != "" {
		e.notice(line)
	}
}

// plainAsker asks line by line, for terminals that draw nothing.
type plainAsker struct{ e *env }

func (p plainAsker) ask(ctx context.Context, prompt string) (string, error) {
	line, err := readLine(ctx, p.e, prompt)
	if err != nil {
		return "", setup.ErrStop
	}
	return line, nil
}

func (p plainAsker) head(q setup.Question) {
	fmt.Fprintln(p.e.err, q.Title)
	if q.Note != "" {
		fmt.Fprintln(p.e.err, "  "+strings.ReplaceAll(q.Note, "\n", "\n  "))
	}
}

// Choose implements setup.Asker.
func (p plainAsker) Choose(ctx context.Context, q setup.Question, options []string, start int) (int, error) {
	p.head(q)
	for i, o := range options {
		fmt.Fprintf(p.e.err, "  %d. %s\n", i+1, o)
	}
	for {
		line, err := p.ask(ctx, fmt.Sprintf("number (%d): ", start+1))
		if err != nil {
			return 0, err
		}
		if line == "" {
			return start, nil
		}
		if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(options) {
			return n - 1, nil
		}
		fmt.Fprintf(p.e.err, "a number from 1 to %d\n", len(options))
	}
}

// Line implements setup.Asker.
func (p plainAsker) Line(ctx context.Context, q setup.Question, value string) (string, error) {
	p.head(q)
	for {
		line, err := p.ask(ctx, fmt.Sprintf("(%s): ", value))
		if err != nil {
			return "", err
		}
		if line == "" {
			line = value
		}
		if q.Check == nil {
			return line, nil
		}
		if err = q.Check(line); err == nil {
			return line, nil
		}
		fmt.Fprintln(p.e.err, err)
	}
}

// Secret implements setup.Asker.
func (p plainAsker) Secret(_ context.Context, q setup.Question) (string, error) {
	if q.Note != "" {
		fmt.Fprintln(p.e.err, q.Note)
	}
	s, err := readSecret(p.e, q.Title)
	if err != nil {
		return "", setup.ErrStop
	}
	return s, nil
}

// Say implements setup.Asker.
func (p plainAsker) Say(text string) { fmt.Fprintln(p.e.err, text) }
