package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/internal/checkpoint"
)

func newRollback(e *env) *cobra.Command {
	var diff, asJSON bool
	c := &cobra.Command{
		Use: "rollback [N] [FILE]", Short: "Bring the working tree back to before the agent changed it", Args: cobra.MaximumNArgs(2),
		Long: `Before a file is changed or a destructive command runs, the working tree is
saved, once a turn. Without N the saved states are listed, the newest first.
What is there now is saved before it is replaced, so that a rollback can be
rolled back. New files are removed only if the agent made them and nobody has
changed them since; the others are named and stay.`,
		Example: `  hermes rollback            list
  hermes rollback 1 --diff   what has changed since
  hermes rollback 1          bring it all back
  hermes rollback 1 main.go  one file alone`,
		RunE: func(c *cobra.Command, args []string) error {
			return e.with(func(a *app.App) error {
				for _, n := range a.FinishRollbacks(c.Context()) {
					e.notice(n)
				}
				ref, file := "", ""
				switch len(args) {
				case 2:
					ref, file = args[0], args[1]
				case 1:
					ref = args[0]
				default:
					if diff {
						return usageError("--diff needs the number of a checkpoint; see: hermes rollback")
					}
					return e.listCheckpoints(c, a, asJSON)
				}
				if diff {
					text, err := a.Checkpoints.Diff(c.Context(), a.WorkDir, ref, file)
					if err == nil {
						_, err = fmt.Fprint(e.out, a.Secrets.Redactor().Redact(text))
					}
					return err
				}
				return e.rollback(c, a, ref, file, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&diff, "diff", false, "show what has changed since, and change nothing")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (e *env) listCheckpoints(c *cobra.Command, a *app.App, asJSON bool) error {
	tree, all, err := a.Checkpoints.List(c.Context(), a.WorkDir)
	if err != nil {
		return err
	}
	if asJSON {
		if all == nil {
			all = []checkpoint.Snapshot{}
		}
		return printJSON(e.out, all)
	}
	_, err = fmt.Fprint(e.out, checkpoint.Table(tree, all, time.Now()))
	return err
}

func (e *env) rollback(c *cobra.Command, a *app.App, ref, file string, asJSON bool) error {
	r, err := a.Checkpoints.Restore(c.Context(), a.WorkDir, ref, file)
	if err != nil {
		return err
	}
	if asJSON {
		err = printJSON(e.out, r)
	} else {
		_, err = fmt.Fprint(e.out, r.Text())
	}
	if err == nil && len(r.Failed) > 0 {
		err = fmt.Errorf("not restored: %s", strings.Join(r.Failed, "; "))
	}
	return err
}
