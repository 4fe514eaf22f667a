package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/internal/replay"
	"github.com/hermes-go/hermes/internal/store"
)

func newReplay(e *env) *cobra.Command {
	var until int
	var show bool
	c := &cobra.Command{
		Use: "replay FILE...", Short: "Run a recorded conversation again, offline, and tell the first difference", Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if until < 0 {
				return usageError("--until %d: want a number of events", until)
			}
			differs := false
			for _, path := range args {
				same, err := e.replayOne(c.Context(), path, until, show || until > 0)
				if err != nil {
					return fmt.Errorf("%s: %w", path, err)
				}
				differs = differs || !same
			}
			if differs {
				return reported(exitFailed)
			}
			return nil
		},
	}
	c.Flags().IntVar(&until, "until", 0, "print the first `N` events and stop there")
	c.Flags().BoolVar(&show, "show", false, "print every event as a JSON line")
	return c
}

func (e *env) replayOne(ctx context.Context, path string, until int, show bool) (same bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("%w; make a recording with: hermes chat --record FILE, or hermes sessions record ID", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	tape, err := replay.Read(f)
	if err != nil {
		return false, err
	}
	n, err := tape.Run(ctx, until, func(_ int, event json.RawMessage) {
		if show {
			fmt.Fprintln(e.out, string(event))
		}
	})
	var diff *replay.Difference
	switch {
	case errors.As(err, &diff):
		_, err = fmt.Fprintf(e.out, "%s: %s\nrecorded by %s, replayed by %s\n", filepath.Base(path), diff, tape.Head.Program, programVersion())
		return false, err
	case err != nil:
		return false, err
	}
	what := "the same"
	if until > 0 && n == until {
		what = "the same so far"
	}
	_, err = fmt.Fprintf(e.out, "%s: %s in %s, %s\n", filepath.Base(path), count(n, "event"), count(tape.Turns(), "turn"), what)
	return true, err
}

func newSessionsRecord(e *env) *cobra.Command {
	var path string
	c := &cobra.Command{
		Use: "record ID", Short: "Make a cassette of a conversation, without the secrets known here, for hermes replay and bug reports", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return e.withBoth(func(a *app.App, db *store.DB) error {
				id, err := findTip(c.Context(), db, args[0])
				if err != nil {
					return err
				}
				to := path
				if to == "" {
					to = id + ".cassette.jsonl"
				}
				if err := a.RecordStored(c.Context(), id, to); err != nil {
					return err
				}
				_, err = fmt.Fprintf(e.out, "%s\nRead it before you pass it on: it holds what was said and what tools answered. Secrets known here are masked.\n", to)
				return err
			})
		},
	}
	c.Flags().StringVarP(&path, "output", "o", "", "`FILE` to write (default ID.cassette.jsonl)")
	return c
}
