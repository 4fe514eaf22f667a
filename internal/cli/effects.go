package cli

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/internal/effect"
	"github.com/hermes-go/hermes/internal/store"
)

// effectRow is an effect as --json prints it.
type effectRow struct {
	Session string     `json:"session_id"`
	Call    string     `json:"call_id"`
	Tool    string     `json:"tool"`
	State   string     `json:"state"`
	Args    string     `json:"args"`
	Began   time.Time  `json:"began_at"`
	Ended   *time.Time `json:"ended_at"`
}

func newSessionsEffects(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "effects ID", Short: "List what a conversation's calls did to the world, and how far each came", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return e.withBoth(func(a *app.App, db *store.DB) error {
				id, err := findTip(c.Context(), db, args[0])
				if err != nil {
					return err
				}
				list, err := db.Effects(c.Context(), id)
				if err != nil {
					return err
				}
				redact := a.Secrets.Redactor().Redact
				if asJSON {
					rows := make([]effectRow, len(list))
					for i, x := range list {
						rows[i] = effectRow{x.Session, x.Call, x.Tool, string(x.State), redact(x.Args), x.Began, nil}
						if !x.Ended.IsZero() {
							rows[i].Ended = &x.Ended
						}
					}
					return printJSON(e.out, rows)
				}
				return e.effectTable(list, redact)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return c
}

func (e *env) effectTable(list []effect.Effect, redact func(string) string) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(e.out, "No call of this conversation with a side effect is on record.")
		return err
	}
	w := tabwriter.NewWriter(e.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "BEGAN\tCALL\tTOOL\tSTATE\tTOOK\tARGUMENTS")
	running := false
	for _, x := range list {
		took := ""
		if !x.Ended.IsZero() && x.State != effect.NotRun && x.State != effect.Unknown {
			took = x.Ended.Sub(x.Began).Round(time.Millisecond).String()
		}
		running = running || x.State == effect.Running || x.State == effect.Waiting
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", x.Began.Local().Format(time.DateTime), plainLine(x.Call, 24), plainLine(x.Tool, 24), x.State, took, plainLine(redact(x.Args), 80))
	}
	if err := w.Flush(); err != nil || !running {
		return err
	}
	_, err := fmt.Fprintln(e.out, "\nWhat is running or waiting is so now, or was when the program died; the session's next turn tells which.")
	return err
}
