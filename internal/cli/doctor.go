package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/internal/setup"
)

func newDoctor(e *env) *cobra.Command {
	var asJSON, fix, offline bool
	c := &cobra.Command{
		Use: "doctor", Short: "Check everything a conversation needs and say how to mend it",
		Long: "Check the home, the model service, keys, tools and programs, all at once and each for a\nlimited time. Exit code 1 when something is broken that the active configuration needs;\nwhat it does not need is a warning. --fix does what can be done without a person.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			opened := false
			err := e.quietly(func(a *app.App) error {
				opened = true
				r := examine(c.Context(), e, a, offline)
				if fix {
					done, err := setup.Repair(r)
					for _, text := range done {
						fmt.Fprintln(e.err, "fixed:", text)
					}
					if err != nil {
						return fmt.Errorf("fix: %w", err)
					}
					if len(done) > 0 {
						// What was mended is looked at again, from the files.
						return e.quietly(func(a *app.App) error {
							return tellReport(e, examine(c.Context(), e, a, offline), asJSON)
						})
					}
				}
				return tellReport(e, r, asJSON)
			})
			if err != nil && !opened { // not even the files can be read: that is the finding
				return tellReport(e, setup.Report{Checks: []setup.Finding{{
					ID: "home.open", Group: "files", Status: setup.Fail, Blocking: true, Message: err.Error(), Fix: "make the file readable for this user, or set HERMES_HOME to a home that is",
				}}}, asJSON)
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	c.Flags().BoolVar(&fix, "fix", false, "mend what can be mended without a person")
	c.Flags().BoolVar(&offline, "offline", false, "ask no other machine")
	return c
}

func examine(ctx context.Context, e *env, a *app.App, offline bool) setup.Report {
	return setup.Examine(ctx, a.Examined(e.place, offline).Checks()).Mask(a.Secrets.Redactor())
}

// quietly runs a command that says itself what is wrong with the home.
func (e *env) quietly(fn func(*app.App) error) error {
	a, err := app.Open(app.Options{Home: e.place.Dir, UserHome: e.userHome, WorkDir: e.workDir, Environ: e.environ})
	if err != nil {
		return err
	}
	if err := fn(a); err != nil {
		_ = a.Close() // the error at hand says more
		return err
	}
	return a.Close()
}

func tellReport(e *env, r setup.Report, asJSON bool) error {
	if asJSON {
		if err := printJSON(e.out, r); err != nil {
			return err
		}
	} else if err := printReport(e, r); err != nil {
		return err
	}
	if !r.OK {
		return reported(exitFailed)
	}
	return nil
}

func printReport(e *env, r setup.Report) error {
	group := ""
	marks := map[setup.Status]string{setup.OK: "✓", setup.Warn: "⚠", setup.Fail: "✗"}
	colors := map[setup.Status]string{setup.OK: "32", setup.Warn: "33", setup.Fail: "31"}
	for _, f := range r.Checks {
		if f.Group != group {
			group = f.Group
			fmt.Fprintf(e.out, "%s\n", group)
		}
		fmt.Fprintf(e.out, "  %s %s\n", e.colored(colors[f.Status], marks[f.Status]), f.Message)
	}
	worst := r.Worst()
	if len(worst) == 0 {
		_, err := fmt.Fprintln(e.out, "\nAll is well.")
		return err
	}
	fmt.Fprintln(e.out, "\nWhat to do")
	for i, f := range worst {
		fmt.Fprintf(e.out, "  %d. %s %s\n     → %s\n", i+1, marks[f.Status], f.Message, f.Fix)
	}
	if r.OK {
		_, err := fmt.Fprintln(e.out, "\nNothing of this keeps a conversation from working.")
		return err
	}
	return nil
}

// colored paints text on a terminal; code is the SGR number.
func (e *env) colored(code, text string) string {
	if !e.terminal || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
