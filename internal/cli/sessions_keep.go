package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/internal/store"
)

func newSessionsPrune(e *env) *cobra.Command {
	var p pruning
	c := &cobra.Command{
		Use: "prune", Short: "Delete ended sessions by age or by the size of all", Args: cobra.NoArgs,
		Long: `Delete ended sessions for good: those older than --older-than, and the oldest until
the rest takes no more than --max-size. Open sessions, and what led to them, stay.
With neither flag, those that ended more than 90 days ago go.

To have it done at start-up: hermes config set sessions.auto_prune true`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := p.parse(c.Flags().Changed("older-than"), time.Now()); err != nil {
				return err
			}
			return p.run(c.Context(), e)
		},
	}
	c.Flags().StringVar(&p.age, "older-than", "90", "age in days, or such as 12h, 30d, 8w")
	c.Flags().StringVar(&p.size, "max-size", "", "what all sessions may take, such as 500MB")
	c.Flags().StringVar(&p.what.Source, "source", "", "only sessions of this source, e.g. cli")
	c.Flags().BoolVar(&p.what.DryRun, "dry-run", false, "only say what would go")
	c.Flags().BoolVar(&p.vacuum, "vacuum", true, "give the space back to the file system afterwards")
	c.Flags().BoolVarP(&p.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&p.asJSON, "json", false, "print a JSON object")
	return c
}

type pruning struct {
	age, size           string
	what                store.Prune
	vacuum, yes, asJSON bool
}

func (p *pruning) parse(aged bool, now time.Time) error {
	if p.size != "" {
		n, err := parseSize(p.size)
		if err != nil {
			return usageError("--max-size %q: %w", p.size, err)
		}
		p.what.MaxBytes = n
		if !aged {
			return nil
		}
	}
	age, err := parseAge(p.age)
	if err != nil {
		return usageError("--older-than %q: %w", p.age, err)
	}
	p.what.Before = now.Add(-age)
	return nil
}

// parseAge reads a number of days, or one with h, d or w behind it.
func parseAge(s string) (time.Duration, error) {
	unit := 24 * time.Hour
	number := s
	if s != "" {
		switch s[len(s)-1] {
		case 'h':
			unit, number = time.Hour, s[:len(s)-1]
		case 'd':
			number = s[:len(s)-1]
		case 'w':
			unit, number = 7*24*time.Hour, s[:len(s)-1]
		}
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n > int(math.MaxInt64/int64(unit)) {
		return 0, errors.New("want a number of days, or such as 12h, 30d, 8w")
	}
	return time.Duration(n) * unit, nil
}

// parseSize reads bytes with KB, MB or GB behind them; they count by 1024.
func parseSize(s string) (int64, error) {
	text := strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(s)), "B")
	unit := 1.0
	if text != "" {
		if i := strings.IndexByte("KMGT", text[len(text)-1]); i >= 0 {
			unit = math.Pow(1024, float64(i+1))
			text = strings.TrimSpace(text[:len(text)-1])
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	if n *= unit; err != nil || math.IsNaN(n) || n < 1 || n > 1<<60 {
		return 0, errors.New("want a size such as 500MB or 2GB")
	}
	return int64(n), nil
}

func sizeText(n int64) string {
	units := []string{"bytes", "KB", "MB", "GB", "TB"}
	f, i := float64(n), 0
	for f >= 1024 && i < len(units)-1 {
		f, i = f/1024, i+1
	}
	if i == 0 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f %s", f, units[i])
}

func (p *pruning) run(ctx context.Context, e *env) error {
	return e.withBoth(func(a *app.App, db *store.DB) error {
		if t := db.Trouble(); t != nil {
			return t
		}
		plan := p.what
		plan.DryRun = true
		would, err := p.plan(ctx, db, plan)
		if err != nil {
			return err
		}
		if p.what.DryRun || len(would.Sessions) == 0 {
			return p.report(e, would, 0)
		}
		if err := e.agreed(ctx, p.yes, "-y", fmt.Sprintf("delete %s (about %s) for good", count(len(would.Sessions), "session"), count(would.Messages, "message"))); err != nil {
			return err
		}
		before, err := db.Stats(ctx, time.Time{})
		if err != nil {
			return err
		}
		gone, err := a.Prune(ctx, p.what)
		if err == nil && p.vacuum && len(gone.Sessions) > 0 {
			if err = db.Vacuum(ctx); err != nil {
				err = fmt.Errorf("%w; the sessions are deleted all the same; look for damage with: hermes sessions repair --check", err)
			}
		}
		after, statErr := db.Stats(ctx, time.Time{})
		return errors.Join(p.report(e, gone, max(before.Bytes-after.Bytes, 0)), err, statErr)
	})
}

// plan says what would go; a session that goes for its age and for the size of
// all counts once.
func (p *pruning) plan(ctx context.Context, db *store.DB, what store.Prune) (store.Pruned, error) {
	out, err := db.Prune(ctx, what)
	if err != nil {
		return out, err
	}
	ids := out.Sessions
	out = store.Pruned{}
	for _, id := range ids {
		if slices.Contains(out.Sessions, id) {
			continue
		}
		s, err := db.Session(ctx, id)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return out, err
		}
		out.Sessions, out.Messages = append(out.Sessions, id), out.Messages+s.Messages
	}
	return out, nil
}

func (p *pruning) report(e *env, out store.Pruned, freed int64) error {
	if out.Sessions == nil {
		out.Sessions = []string{}
	}
	if p.asJSON {
		return printJSON(e.out, map[string]any{"sessions": out.Sessions, "messages": out.Messages, "dry_run": p.what.DryRun, "freed_bytes": freed})
	}
	if len(out.Sessions) == 0 {
		_, err := fmt.Fprintln(e.out, "Nothing to prune.")
		return err
	}
	if p.what.DryRun {
		for _, id := range out.Sessions {
			fmt.Fprintln(e.out, id)
		}
		_, err := fmt.Fprintf(e.out, "Would delete %s (%s).\n", count(len(out.Sessions), "session"), count(out.Messages, "message"))
		return err
	}
	_, err := fmt.Fprintf(e.out, "Deleted %s (%s); the file is %s smaller.\n", count(len(out.Sessions), "session"), count(out.Messages, "message"), sizeText(freed))
	return err
}

func newSessionsStats(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "stats", Short: "Count sessions, messages, tokens and bytes", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return e.withStore(func(db *store.DB) error {
				s, err := db.Stats(c.Context(), time.Time{})
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(e.out, statsJSON(db, s))
				}
				return e.showStats(db, s)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

func statsJSON(db *store.DB, s store.Stats) map[string]any {
	v := map[string]any{
		"path": db.Path(), "sessions": s.Sessions, "open": s.Open, "titled": s.Titled, "messages": s.Messages, "undone": s.Undone,
		"sources": s.Sources, "models": s.Models, "roles": s.Roles, "usage": s.Usage, "estimated_cost_usd": s.EstimatedUSD,
		"oldest": nil, "newest": nil, "bytes": s.Bytes, "free_bytes": s.Free, "trouble": nil,
	}
	if s.Sessions > 0 {
		v["oldest"] = seconds(s.Oldest)
	}
	if s.Messages > 0 {
		v["newest"] = seconds(s.Newest)
	}
	if t := db.Trouble(); t != nil {
		v["trouble"] = t.Error()
	}
	return v
}

func (e *env) showStats(db *store.DB, s store.Stats) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s\n", db.Path(), sizeText(s.Bytes))
	if s.Free > 1<<20 {
		fmt.Fprintf(&b, "%s of it are free and used again; hermes sessions prune gives them back\n", sizeText(s.Free))
	}
	fmt.Fprintf(&b, "%s (%d open, %d with a title), %s", count(s.Sessions, "session"), s.Open, s.Titled, count(s.Messages, "message"))
	if s.Undone > 0 {
		fmt.Fprintf(&b, ", %d more undone", s.Undone)
	}
	b.WriteByte('\n')
	if s.Messages > 0 {
		fmt.Fprintf(&b, "from %s to %s\n", s.Oldest.Local().Format(time.DateTime), s.Newest.Local().Format(time.DateTime))
	}
	for _, part := range []struct {
		name  string
		count map[string]int
	}{{"Sources", s.Sources}, {"Models", s.Models}, {"Messages", s.Roles}} {
		if len(part.count) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", part.name, strings.Join(byCount(part.count, 10), ", "))
		}
	}
	if u := s.Usage; u.Calls > 0 {
		fmt.Fprintf(&b, "Tokens: %d in, %d out, %d read from cache, %d written to it; %s", u.Input, u.Output, u.CacheRead, u.CacheWrite, count(u.Calls, "call"))
		if s.EstimatedUSD > 0 {
			fmt.Fprintf(&b, "; about $%.2f", s.EstimatedUSD)
		}
		b.WriteByte('\n')
	}
	_, err := fmt.Fprint(e.out, b.String())
	return err
}

// ranked sorts names by their count, the highest first.
func ranked(m map[string]int) []string {
	names := slices.Sorted(maps.Keys(m))
	slices.SortStableFunc(names, func(a, b string) int { return m[b] - m[a] })
	return names
}

func byCount(m map[string]int, most int) []string {
	var out []string
	for i, name := range ranked(m) {
		if i == most {
			out = append(out, fmt.Sprintf("%d more", len(m)-most))
			break
		}
		out = append(out, fmt.Sprintf("%s %d", plainLine(cmp.Or(name, "unknown"), 60), m[name]))
	}
	return out
}

func newSessionsRepair(e *env) *cobra.Command {
	var asJSON, check bool
	c := &cobra.Command{
		Use: "repair", Short: "Look for damage in the session database and mend it", Args: cobra.NoArgs,
		Long: `Look for damage in the session database and mend it. A broken search index is made
anew. Otherwise everything that can still be read goes to a new file; the damaged one
is kept beside it. Messages that were kept elsewhere meanwhile are taken in.

Exit code 0: there is no damage (any more); 1: there is.`,
		RunE: func(c *cobra.Command, _ []string) error {
			return e.with(func(a *app.App) error {
				tell := a.Notice
				a.Notice = func(text string) {
					if !strings.Contains(text, "hermes sessions repair") { // which is what runs
						tell(text)
					}
				}
				db, err := a.DB()
				if err != nil {
					return err
				}
				if check {
					return e.checkStore(c.Context(), db, asJSON)
				}
				return e.repairStore(c.Context(), db, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&check, "check", false, "only look, change nothing")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

func (e *env) checkStore(ctx context.Context, db *store.DB, asJSON bool) error {
	found, err := db.Check(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		if err := printJSON(e.out, map[string]any{"ok": len(found) == 0, "problems": append([]string{}, found...)}); err != nil {
			return err
		}
	} else if len(found) == 0 {
		_, err := fmt.Fprintln(e.out, "No damage found.")
		return err
	} else {
		e.problems(found)
	}
	if len(found) > 0 {
		return errors.New("the session database is damaged; mend it with: hermes sessions repair")
	}
	return nil
}

func (e *env) problems(found []string) {
	for i, p := range found {
		if i == 10 {
			fmt.Fprintf(e.out, "  and %d more\n", len(found)-i)
			break
		}
		fmt.Fprintf(e.out, "  %s\n", plainLine(p, 200))
	}
}

func (e *env) repairStore(ctx context.Context, db *store.DB, asJSON bool) error {
	out, err := db.Repair(ctx)
	if err != nil {
		return err
	}
	left, err := db.Check(ctx)
	if err != nil {
		return err
	}
	spooled, _ := filepath.Glob(db.Path() + ".spool*") // only a malformed pattern is an error
	if asJSON {
		v := map[string]any{
			"ok": len(left) == 0, "problems": append([]string{}, out.Problems...), "index_only": out.Index, "aside": orNil(out.Aside),
			"sessions": out.Sessions, "messages": out.Messages, "left": append([]string{}, left...), "spool": append([]string{}, spooled...),
		}
		if err := printJSON(e.out, v); err != nil {
			return err
		}
	} else {
		if len(out.Problems) == 0 {
			fmt.Fprintln(e.out, "No damage found.")
		} else {
			fmt.Fprintln(e.out, "Found:")
			e.problems(out.Problems)
		}
		switch {
		case out.Index:
			fmt.Fprintln(e.out, "The search index was made anew; no message was touched.")
		case out.Aside != "":
			fmt.Fprintf(e.out, "What could be read is in a new file; the damaged one is %s\n", out.Aside)
		}
		fmt.Fprintf(e.out, "The database holds %s with %s.\n", count(out.Sessions, "session"), count(out.Messages, "message"))
		for _, s := range spooled {
			fmt.Fprintf(e.out, "Still waiting to be taken in: %s\n", s)
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("the session database is still damaged: %s", left[0])
	}
	return nil
}
