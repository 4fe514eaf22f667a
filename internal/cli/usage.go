package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/internal/store"
)

// usageRow is what the calls of one day, model, tool or session took together.
type usageRow struct {
	Name  string     `json:"name"`
	Calls int        `json:"calls"`
	Usage chat.Usage `json:"usage"`

	USD      float64 `json:"estimated_cost_usd"`
	Unpriced int     `json:"calls_without_price"` // the sum of costs leaves them out
	Guessed  int     `json:"calls_guessed"`       // the service did not say what they took
}

// usageReport is all of it. A call counts for each tool that its answer called,
// by equal shares of its cost; Tools "(answer)" are those that called none.
type usageReport struct {
	Days     int          `json:"days"`
	Total    usageRow     `json:"total"`
	ByDay    []usageRow   `json:"by_day"`
	ByModel  []usageRow   `json:"by_model"`
	ByTool   []usageRow   `json:"by_tool"`
	BySess   []usageRow   `json:"by_session"`
	Standing []app.CapRow `json:"caps"`
}

func newUsage(e *env) *cobra.Command {
	var days, most int
	var asJSON bool
	c := &cobra.Command{
		Use: "usage", Short: "What model calls took and cost, by day, model, tool and session, and how far the caps are", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if days < 1 || days > 36500 {
				return usageError("--days %d: want at least 1", days)
			}
			return e.withBoth(func(a *app.App, db *store.DB) error {
				r, titles, err := reportUsage(c.Context(), db, days)
				if err != nil {
					return err
				}
				if r.Standing, err = a.Caps(c.Context()); err != nil {
					return err
				}
				if asJSON {
					return printJSON(e.out, r)
				}
				return r.print(e.out, titles, most)
			})
		},
	}
	c.Flags().IntVar(&days, "days", 30, "how many days to look back, today counted")
	c.Flags().IntVar(&most, "limit", 10, "rows of each table")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object with all rows")
	return c
}

func reportUsage(ctx context.Context, db *store.DB, days int) (*usageReport, map[string]string, error) {
	now := time.Now()
	since := time.Date(now.Year(), now.Month(), now.Day()-days+1, 0, 0, 0, 0, now.Location())
	r := &usageReport{Days: days, Total: usageRow{Name: "total"}}
	by := [4]map[string]*usageRow{{}, {}, {}, {}}
	titles := map[string]string{}
	err := db.SpentSince(ctx, since, func(s *store.Spent, title string) {
		titles[s.Root] = title
		tools := s.Tools
		switch {
		case s.Purpose != "":
			tools = []string{"(" + s.Purpose + ")"}
		case len(tools) == 0:
			tools = []string{"(answer)"}
		}
		r.Total.add(s, 1)
		for i, name := range []string{s.At.Local().Format(time.DateOnly), strings.TrimPrefix(s.Provider+"/"+s.Model, "/"), "", cmp.Or(s.Root, "(none)")} {
			if i != 2 {
				rowOf(by[i], name).add(s, 1)
			}
		}
		for _, t := range tools {
			rowOf(by[2], t).add(s, len(tools))
		}
	})
	for i, to := range []*[]usageRow{&r.ByDay, &r.ByModel, &r.ByTool, &r.BySess} {
		*to = []usageRow{}
		for _, row := range by[i] {
			*to = append(*to, *row)
		}
		slices.SortFunc(*to, func(x, y usageRow) int {
			if i == 0 {
				return strings.Compare(y.Name, x.Name)
			}
			return cmp.Or(cmp.Compare(y.USD, x.USD), cmp.Compare(y.tokens(), x.tokens()), strings.Compare(x.Name, y.Name))
		})
	}
	return r, titles, err
}

func rowOf(m map[string]*usageRow, name string) *usageRow {
	if m[name] == nil {
		m[name] = &usageRow{Name: name}
	}
	return m[name]
}

// add counts one of n equal shares of a call.
func (r *usageRow) add(s *store.Spent, n int) {
	u := s.Usage
	r.Calls += u.Calls
	r.Usage = r.Usage.Add(chat.Usage{
		Input: u.Input / n, Output: u.Output / n, CacheRead: u.CacheRead / n, CacheWrite: u.CacheWrite / n, Reasoning: u.Reasoning / n, Calls: u.Calls,
	})
	if s.USD == nil {
		r.Unpriced += u.Calls
	} else {
		r.USD += *s.USD / float64(n)
	}
	if s.Guessed {
		r.Guessed += u.Calls
	}
}

func (r *usageRow) tokens() int { return r.Usage.Prompt() + r.Usage.Output }

func (r *usageRow) cost() string {
	switch {
	case r.Calls > 0 && r.Unpriced == r.Calls:
		return "unknown"
	case r.Unpriced > 0:
		return fmt.Sprintf("$%.4f + %d of unknown price", r.USD, r.Unpriced)
	}
	return fmt.Sprintf("$%.4f", r.USD)
}

func (r *usageReport) print(out io.Writer, titles map[string]string, most int) error {
	if r.Total.Calls == 0 {
		if _, err := fmt.Fprintf(out, "No model call in the last %s.\n", count(r.Days, "day")); err != nil {
			return err
		}
		return printCaps(out, r.Standing)
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	table := func(head string, rows []usageRow) {
		fmt.Fprintf(w, "%s\tCALLS\tSENT\tCACHED\tRECEIVED\tCOST\n", head)
		for i, row := range rows {
			if i == most && most > 0 {
				fmt.Fprintf(w, "... and %d more; all with --limit 0 or --json\n", len(rows)-i)
				break
			}
			name := row.Name
			if t := titles[name]; t != "" {
				name += "  " + t
			}
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%s\n", plainLine(name, 60), row.Calls, row.Usage.Prompt(), row.Usage.CacheRead, row.Usage.Output, row.cost())
		}
		fmt.Fprintln(w)
	}
	table("LAST "+strings.ToUpper(count(r.Days, "day")), []usageRow{r.Total})
	table("DAY", r.ByDay)
	table("MODEL", r.ByModel)
	table("TOOL CALLED", r.ByTool)
	table("SESSION", r.BySess)
	if err := w.Flush(); err != nil {
		return err
	}
	if r.Total.Guessed > 0 {
		if _, err := fmt.Fprintf(out, "What %s took is estimated: the service did not say, or the answer broke off.\n\n", count(r.Total.Guessed, "call")); err != nil {
			return err
		}
	}
	return printCaps(out, r.Standing)
}

func printCaps(out io.Writer, rows []app.CapRow) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(out, "No cap is set; e.g.: hermes config set caps.day.usd 5")
		return err
	}
	for _, c := range rows {
		if _, err := fmt.Fprintln(out, c.Text()); err != nil {
			return err
		}
	}
	return nil
}
