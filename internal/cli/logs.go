package cli

import (
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/setup"
	"github.com/hermes-go/hermes/secret"
)

func newLogs(e *env) *cobra.Command {
	var f setup.LogFilter
	var follow, asJSON bool
	var level, since string
	c := &cobra.Command{
		Use: "logs [NAME]", Short: "Show what was logged: agent by default, list for the names",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			name := "agent"
			if len(args) == 1 {
				name = args[0]
			}
			if name == "list" {
				return listLogs(e)
			}
			if strings.ContainsAny(name, `/\.`) {
				return usageError("%q is no log; see: hermes logs list", name)
			}
			if err := f.Level.UnmarshalText([]byte(strings.Replace(strings.ToUpper(level), "WARNING", "WARN", 1))); err != nil {
				return usageError("--level %s: want debug, info, warn or error", level)
			}
			if since != "" {
				d, err := parseSince(since)
				if err != nil {
					return err
				}
				f.Since = time.Now().Add(-d)
			}
			return showLog(c, e, name, f, follow, asJSON)
		},
	}
	c.Flags().IntVarP(&f.Last, "lines", "n", 50, "how many of the last lines; 0 for all")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what is logged from now on; Ctrl+C ends")
	c.Flags().StringVar(&level, "level", "debug", "only this level and above: debug, info, warn, error")
	c.Flags().StringVar(&f.Session, "session", "", "only lines of this session, by a part of its id")
	c.Flags().StringVar(&since, "since", "", "only the time since, e.g. 30m, 2h, 3d")
	c.Flags().BoolVar(&asJSON, "json", false, "print the lines as they stand in the file")
	return c
}

func parseSince(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		var n int
		if _, err := fmt.Sscanf(days, "%d", &n); err == nil && fmt.Sprint(n) == days && n > 0 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, usageError("--since %s: want a time such as 30m, 2h or 3d", s)
	}
	return d, nil
}

func listLogs(e *env) error {
	names, err := setup.LogNames(e.place.Dir)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		_, err := fmt.Fprintln(e.out, "No logs yet.")
		return err
	}
	for _, n := range names {
		if _, err := fmt.Fprintf(e.out, "%s\t%s\n", n, setup.LogPath(e.place.Dir, n)); err != nil {
			return err
		}
	}
	return nil
}

func showLog(c *cobra.Command, e *env, name string, f setup.LogFilter, follow, asJSON bool) error {
	// Lines were masked when they were written; a key that became known later,
	// or a log of the original, is masked now.
	secrets, err := secret.Open(e.place.Dir, e.environ)
	if err != nil {
		return err
	}
	mask := secrets.Redactor()
	show := func(l setup.LogLine) error {
		if asJSON || l.Message == "" {
			_, err := fmt.Fprintf(e.out, "%s\n", mask.RedactBytes(l.Raw))
			return err
		}
		var b strings.Builder
		for _, x := range l.Fields {
			value := x.Value
			if ns, err := strconv.ParseInt(value, 10, 64); err == nil && x.Name == "dur" {
				value = time.Duration(ns).Round(100 * time.Microsecond).String()
			}
			fmt.Fprintf(&b, " %s=%s", x.Name, oneLine(value, 200))
		}
		color := ""
		if l.Level == slog.LevelError.String() || l.Level == slog.LevelWarn.String() {
			color = "31"
		}
		text := fmt.Sprintf("%s %-5s %s%s", l.Time.Local().Format(time.DateTime), l.Level, l.Message, b.String())
		_, err := fmt.Fprintln(e.out, e.colored(color, mask.Redact(text)))
		return err
	}
	lines, next, err := setup.ReadLog(e.place.Dir, name, f)
	if err != nil {
		return err
	}
	for _, l := range lines {
		if err := show(l); err != nil {
			return err
		}
	}
	if !follow {
		if len(lines) == 0 {
			e.notice("no line of the log is so")
		}
		return nil
	}
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	return setup.FollowLog(c.Context(), e.place.Dir, name, next, f, tick.C, show)
}
