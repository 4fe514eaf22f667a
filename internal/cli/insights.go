package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/store"
)

func newInsights(e *env) *cobra.Command {
	var days int
	var source string
	var asJSON bool
	c := &cobra.Command{
		Use: "insights", Short: "What was done in the last days: models, tools, tokens, times", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if days < 1 || days > 36500 {
				return usageError("--days %d: want at least 1", days)
			}
			return e.withStore(func(db *store.DB) error {
				a, err := db.Activity(c.Context(), time.Now().AddDate(0, 0, -days), source, time.Local)
				if err != nil {
					return err
				}
				in := digest(a, days, source)
				if asJSON {
					return printJSON(e.out, in)
				}
				_, err = fmt.Fprint(e.out, in.text())
				return err
			})
		},
	}
	c.Flags().IntVar(&days, "days", 30, "how many days to look back")
	c.Flags().StringVar(&source, "source", "", "only sessions of this source, e.g. cli")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

// insights are an Activity in sums.
type insights struct {
	Days      int            `json:"days"`
	Source    *string        `json:"source"`
	Sessions  int            `json:"sessions"`
	Messages  int            `json:"messages"`
	UserTexts int            `json:"user_messages"`
	ToolCalls int            `json:"tool_calls"`
	Usage     chat.Usage     `json:"usage"`
	USD       float64        `json:"estimated_cost_usd"`
	Unpriced  int            `json:"sessions_without_cost"` // the sum of costs leaves them out
	Seconds   float64        `json:"active_seconds"`        // from the start to the last message of each
	Models    []modelShare   `json:"models"`
	Sources   map[string]int `json:"sources"`
	Tools     []nameCount    `json:"tools"`
	Hours     [24]int        `json:"hours"` // messages of the user by hour, local time
	PerDay    map[string]int `json:"per_day"`
	Notable   []notable      `json:"notable"`
}

type modelShare struct {
	Model    string     `json:"model"`
	Sessions int        `json:"sessions"`
	Usage    chat.Usage `json:"usage"`
	USD      float64    `json:"estimated_cost_usd"`
}

type nameCount struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

type notable struct {
	For       string `json:"for"`
	SessionID string `json:"session_id"`
	Title     string `json:"title"`
	Value     string `json:"value"`
}

func digest(a store.Activity, days int, source string) insights {
	in := insights{Days: days, Sessions: len(a.Sessions), Sources: map[string]int{}, Hours: a.Hours, PerDay: a.Days, Models: []modelShare{}, Tools: []nameCount{}, Notable: []notable{}}
	if source != "" {
		in.Source = &source
	}
	models := map[string]*modelShare{}
	for _, s := range a.Sessions {
		in.Messages += s.Messages
		in.UserTexts += s.UserMessages
		in.ToolCalls += s.ToolCalls
		in.Usage = in.Usage.Add(s.Usage)
		in.Seconds += s.Last.Sub(s.Started).Seconds()
		in.Sources[s.Source]++
		m := models[s.Model]
		if m == nil {
			m = &modelShare{Model: s.Model}
			models[s.Model] = m
		}
		m.Sessions++
		m.Usage = m.Usage.Add(s.Usage)
		if s.EstimatedUSD == nil {
			in.Unpriced++
			continue
		}
		in.USD += *s.EstimatedUSD
		m.USD += *s.EstimatedUSD
	}
	for _, m := range models {
		in.Models = append(in.Models, *m)
	}
	slices.SortFunc(in.Models, func(x, y modelShare) int {
		return cmp.Or(cmp.Compare(y.Usage.Prompt()+y.Usage.Output, x.Usage.Prompt()+x.Usage.Output), cmp.Compare(y.Sessions, x.Sessions), cmp.Compare(x.Model, y.Model))
	})
	for _, name := range ranked(a.Tools) {
		in.Tools = append(in.Tools, nameCount{name, a.Tools[name]})
	}
	in.notable(a.Sessions)
	return in
}

// notable picks the longest, the largest and the busiest session.
func (in *insights) notable(list []store.Worked) {
	if len(list) == 0 {
		return
	}
	pick := func(what string, value func(store.Worked) int, show func(store.Worked) string) {
		best := slices.MaxFunc(list, func(x, y store.Worked) int { return cmp.Compare(value(x), value(y)) })
		if value(best) > 0 {
			in.Notable = append(in.Notable, notable{what, best.ID, best.Title, show(best)})
		}
	}
	pick("longest", func(w store.Worked) int { return int(w.Last.Sub(w.Started) / time.Second) }, func(w store.Worked) string { return w.Last.Sub(w.Started).Round(time.Second).String() })
	pick("most messages", func(w store.Worked) int { return w.Messages }, func(w store.Worked) string { return count(w.Messages, "message") })
	tokens := func(w store.Worked) int { return w.Usage.Prompt() + w.Usage.Output }
	pick("most tokens", tokens, func(w store.Worked) string { return count(tokens(w), "token") })
	pick("most tool calls", func(w store.Worked) int { return w.ToolCalls }, func(w store.Worked) string { return count(w.ToolCalls, "call") })
}

func (in *insights) text() string {
	var b strings.Builder
	of := ""
	if in.Source != nil {
		of = " of " + plainLine(*in.Source, 40)
	}
	if in.Sessions == 0 {
		return fmt.Sprintf("No sessions%s in the last %s.\n", of, count(in.Days, "day"))
	}
	fmt.Fprintf(&b, "The last %s%s\n\n", count(in.Days, "day"), of)
	fmt.Fprintf(&b, "  %s, %s (%d from you), %s\n", count(in.Sessions, "session"), count(in.Messages, "message"), in.UserTexts, count(in.ToolCalls, "tool call"))
	u := in.Usage
	fmt.Fprintf(&b, "  tokens: %d in, %d out, %d read from cache, %d written to it; %s\n", u.Input, u.Output, u.CacheRead, u.CacheWrite, count(u.Calls, "model call"))
	switch {
	case in.Unpriced == in.Sessions:
		b.WriteString("  cost: unknown\n")
	case in.Unpriced > 0:
		fmt.Fprintf(&b, "  cost: about $%.2f, without %s of unknown cost\n", in.USD, count(in.Unpriced, "session"))
	default:
		fmt.Fprintf(&b, "  cost: about $%.2f\n", in.USD)
	}
	b.WriteString("\nModels\n")
	for _, m := range in.Models {
		name := m.Model
		if name == "" {
			name = "unknown"
		}
		fmt.Fprintf(&b, "  %-40s %4d sessions  %10d tokens\n", plainLine(name, 40), m.Sessions, m.Usage.Prompt()+m.Usage.Output)
	}
	fmt.Fprintf(&b, "\nFrom: %s\n", strings.Join(byCount(in.Sources, 10), ", "))
	if len(in.Tools) > 0 {
		b.WriteString("\nTools\n")
		for _, t := range in.Tools[:min(len(in.Tools), 15)] {
			fmt.Fprintf(&b, "  %-40s %6d\n", plainLine(t.Name, 40), t.Count)
		}
	}
	in.times(&b)
	b.WriteString("\nSessions that stand out\n")
	for _, n := range in.Notable {
		fmt.Fprintf(&b, "  %-16s %s  %s  %s\n", n.For, n.SessionID, n.Value, plainLine(n.Title, 40))
	}
	return b.String()
}

func (in *insights) times(b *strings.Builder) {
	top := slices.Max(in.Hours[:])
	if top == 0 {
		return
	}
	const bars = "▁▂▃▄▅▆▇█"
	b.WriteString("\nYour messages by hour, 0 to 23\n  ")
	for _, n := range in.Hours {
		if n == 0 {
			b.WriteByte(' ')
			continue
		}
		b.WriteString(string([]rune(bars)[min(n*8/top, 7)]))
	}
	busiest := ranked(in.PerDay)[0]
	fmt.Fprintf(b, "\n  on %s; most on %s (%d)\n", count(len(in.PerDay), "day"), busiest, in.PerDay[busiest])
}
