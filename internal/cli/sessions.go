package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/internal/cells"
	"github.com/hermes-go/hermes/internal/store"
)

func newSessions(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "sessions", Short: "List, search, change, move and mend past conversations", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		newSessionsList(e), newSessionsShow(e), newSessionsSearch(e), newSessionsBrowse(e),
		newSessionsRename(e), newSessionsDelete(e), newSessionsUndo(e), newSessionsRedo(e), newSessionsBranch(e),
		newSessionsExport(e), newSessionsImport(e), newSessionsPrune(e), newSessionsStats(e), newSessionsRepair(e), newSessionsEffects(e), newSessionsRecord(e),
	)
	return c
}

// withStore runs a command on the session store.
func (e *env) withStore(fn func(*store.DB) error) error {
	return e.withBoth(func(_ *app.App, db *store.DB) error { return fn(db) })
}

func (e *env) withBoth(fn func(*app.App, *store.DB) error) error {
	return e.with(func(a *app.App) error {
		db, err := a.DB()
		if err != nil {
			return err
		}
		return fn(a, db)
	})
}

// find is the session that a person names.
func find(ctx context.Context, db *store.DB, ref string) (string, error) {
	id, err := db.Resolve(ctx, ref)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrAmbiguous) {
		err = fmt.Errorf("%w; see: hermes sessions list", err)
	}
	return id, err
}

// findExact is find for what changes or deletes: a title means the session that
// bears it, not the newest of its line.
func findExact(ctx context.Context, db *store.DB, ref string) (string, error) {
	id, err := find(ctx, db, ref)
	if err != nil || strings.HasPrefix(id, ref) {
		return id, err
	}
	s, err := db.Session(ctx, id)
	if err != nil || s.Title == ref {
		return id, err
	}
	all, err := db.List(ctx, store.Filter{Limit: -1, Children: true, Exclude: []string{}})
	if err != nil {
		return "", err
	}
	for _, s := range all {
		if s.Title == strings.TrimSpace(ref) {
			return s.ID, nil
		}
	}
	return id, nil
}

// findTip is the session that goes on with what a person names.
func findTip(ctx context.Context, db *store.DB, ref string) (string, error) {
	id, err := find(ctx, db, ref)
	if err != nil {
		return "", err
	}
	return db.Tip(ctx, id)
}

func newSessionsList(e *env) *cobra.Command {
	var asJSON bool
	var f store.Filter
	var source string
	c := &cobra.Command{
		Use: "list", Short: "List sessions, the newest first", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if source != "" {
				f.Sources = []string{source}
			}
			return e.withStore(func(db *store.DB) error {
				list, err := db.List(c.Context(), f)
				if err != nil {
					return err
				}
				if asJSON {
					if list == nil {
						list = []store.Summary{}
					}
					return printJSON(e.out, list)
				}
				if len(list) == 0 {
					_, err := fmt.Fprintln(e.out, "No sessions yet.")
					return err
				}
				return e.sessionTable(list, false)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	c.Flags().IntVar(&f.Limit, "limit", 20, "how many to list")
	c.Flags().StringVar(&source, "source", "", "only sessions of this source, e.g. cli")
	return c
}

// sessionTable prints one line a session, numbered if one is to be chosen.
func (e *env) sessionTable(list []store.Summary, numbered bool) error {
	out := e.out
	if numbered {
		out = e.err
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	number := func(string) string { return "" }
	if numbered {
		number = func(s string) string { return s + "\t" }
	}
	fmt.Fprintln(w, number("#")+"ID\tLAST ACTIVE\tMESSAGES\tTITLE\tPREVIEW")
	for i, s := range list {
		fmt.Fprintf(w, "%s%s\t%s\t%d\t%s\t%s\n", number(strconv.Itoa(i+1)), cells.Clean(s.ID), s.LastActive.Local().Format(time.DateTime), s.Messages,
			plainLine(s.Title, 40), plainLine(s.Preview, 50))
	}
	return w.Flush()
}

// plainLine is a line of text that neither commands a terminal nor breaks a
// table.
func plainLine(text string, n int) string { return oneLine(cells.Clean(text), n) }

// screenText is text from a model or a tool: for a terminal without what would
// command it, for everything else as it is.
func (e *env) screenText(text string) string {
	if e.terminal {
		return cells.Clean(text)
	}
	return text
}

func newSessionsShow(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "show ID", Short: "Print a conversation, by id or title", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return e.withStore(func(db *store.DB) error {
				id, err := find(c.Context(), db, args[0])
				if err != nil {
					return err
				}
				rec, err := db.Load(c.Context(), id)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(e.out, map[string]any{"session": sessionJSON(rec.Session), "messages": rec.Messages})
				}
				return e.showSession(rec)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

func (e *env) showSession(rec *store.Record) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s\n", rec.ID, rec.Title, rec.Model)
	for _, m := range rec.Messages {
		fmt.Fprintf(&b, "\n[%s]%s\n%s\n", m.Role, nameOf(m), m.Content.String())
		for _, call := range m.ToolCalls {
			fmt.Fprintf(&b, "→ %s %s\n", call.Function.Name, call.Function.Arguments)
		}
	}
	_, err := fmt.Fprint(e.out, e.screenText(b.String()))
	return err
}

func nameOf(m chat.Message) string {
	if m.Name == "" {
		return ""
	}
	return " " + m.Name
}

func sessionJSON(s store.Session) map[string]any {
	v := map[string]any{
		"id": s.ID, "source": s.Source, "title": orNil(s.Title), "model": s.Model, "parent_session_id": orNil(s.Parent),
		"started_at": seconds(s.Started), "ended_at": nil, "end_reason": orNil(s.EndReason), "message_count": s.Messages,
		"tool_call_count": s.ToolCalls, "system_prompt": s.SystemPrompt, "usage": s.Usage,
	}
	if !s.Ended.IsZero() {
		v["ended_at"] = seconds(s.Ended)
	}
	return v
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func seconds(t time.Time) json.Number {
	return json.Number(fmt.Sprintf("%.6f", float64(t.UnixMicro())/1e6))
}

func newSessionsSearch(e *env) *cobra.Command {
	var asJSON bool
	var q store.Query
	var source, session string
	c := &cobra.Command{
		Use: "search TEXT", Short: "Find what was said in any conversation",
		Long: "Find what was said in any conversation: words, \"phrases\", beginnings*, AND, OR, NOT.\nAny text is allowed; nothing found is no error.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			q.Text = strings.Join(args, " ")
			if !store.HasWords(q.Text) {
				return usageError("%q holds no word to look for", q.Text)
			}
			if source != "" {
				q.Sources = []string{source}
			}
			return e.withStore(func(db *store.DB) (err error) {
				if session != "" {
					if q.Session, err = find(c.Context(), db, session); err != nil {
						return err
					}
				}
				hits := []map[string]any{}
				for h, err := range db.Search(c.Context(), q) {
					if err != nil {
						return err
					}
					if !asJSON {
						fmt.Fprintf(e.out, "%s  %s  %s: %s\n", h.SessionID, h.At.Local().Format(time.DateTime), h.Role, plainLine(h.Snippet, 160))
					}
					hits = append(hits, map[string]any{
						"session_id": h.SessionID, "message_id": h.MessageID, "role": h.Role, "timestamp": seconds(h.At),
						"snippet": h.Snippet, "title": orNil(h.Title),
					})
				}
				if asJSON {
					return printJSON(e.out, hits)
				}
				if len(hits) == 0 {
					fmt.Fprintln(e.out, "Nothing found.")
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	c.Flags().IntVar(&q.Limit, "limit", 20, "how many hits to print")
	c.Flags().StringVar(&source, "source", "", "only sessions of this source, e.g. cli")
	c.Flags().StringVar(&session, "session", "", "only this session, by id or title")
	c.Flags().BoolVar(&q.Newest, "newest", false, "the newest first, instead of the best")
	return c
}
