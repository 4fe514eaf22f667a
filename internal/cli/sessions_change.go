package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/internal/store"
)

// agreed asks before something is done that cannot be undone, such as "delete
// it". Where nobody can be asked, the flag has to say it.
func (e *env) agreed(ctx context.Context, yes bool, flag, what string) error {
	if yes {
		return nil
	}
	if !e.asks {
		return usageError("nobody can be asked here whether to %s; give %s to do it", what, flag)
	}
	question := strings.ToUpper(what[:1]) + what[1:] + "?"
	line, err := readLine(ctx, e, question+" [y/N] ")
	if err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	if answer := strings.ToLower(line); answer != "y" && answer != "yes" {
		fmt.Fprintln(e.err, "Nothing was done.")
		return reported(exitFailed)
	}
	return nil
}

// count is "1 message", "2 messages".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func newSessionsRename(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "rename ID TITLE...", Short: `Give a session a title; "" takes it away`, Args: cobra.MinimumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return e.withStore(func(db *store.DB) error {
				ctx := c.Context()
				id, err := findExact(ctx, db, args[0])
				if err != nil {
					return err
				}
				if err := db.SetTitle(ctx, id, strings.Join(args[1:], " ")); err != nil {
					return err
				}
				s, err := db.Session(ctx, id)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(e.out, map[string]any{"id": s.ID, "title": orNil(s.Title)})
				}
				if s.Title == "" {
					_, err = fmt.Fprintf(e.out, "%s has no title now.\n", s.ID)
				} else {
					_, err = fmt.Fprintf(e.out, "%s is now called %q.\n", s.ID, s.Title)
				}
				return err
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

func newSessionsDelete(e *env) *cobra.Command {
	var asJSON, yes, line bool
	c := &cobra.Command{
		Use: "delete ID...", Short: "Delete sessions for good", Args: cobra.MinimumNArgs(1),
		Long: "Delete sessions with all their messages, for good. What was branched from one stays.\nOf a conversation that was compressed only the newest part goes, unless --all-parts is given.",
		RunE: func(c *cobra.Command, args []string) error {
			return e.withBoth(func(a *app.App, db *store.DB) error {
				d := deletion{ctx: c.Context(), app: a, db: db}
				for _, ref := range args {
					if err := d.choose(ref, line); err != nil {
						return err
					}
				}
				if err := e.agreed(c.Context(), yes, "-y", fmt.Sprintf("delete %s (%s) for good", strings.Join(d.names, ", "), count(d.messages, "message"))); err != nil {
					return err
				}
				return d.run(e, asJSON)
			})
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&line, "all-parts", false, "also the earlier parts of a conversation that was compressed")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

// deletion collects what is to go and says what went.
type deletion struct {
	ctx      context.Context
	app      *app.App
	db       *store.DB
	ids      []string
	names    []string
	messages int
	stays    []string // earlier parts
}

func (d *deletion) choose(ref string, line bool) error {
	id, err := findExact(d.ctx, d.db, ref)
	if err != nil {
		return err
	}
	s, err := d.db.Session(d.ctx, id)
	if err != nil {
		return err
	}
	d.add(s)
	for parts := 0; s.Parent != "" && parts < 100; parts++ {
		if s, err = d.db.Session(d.ctx, s.Parent); errors.Is(err, store.ErrNotFound) {
			break
		} else if err != nil {
			return err
		}
		if s.EndReason != store.EndCompression {
			break
		}
		if !line {
			d.stays = append(d.stays, s.ID)
			continue
		}
		d.add(s)
	}
	return nil
}

func (d *deletion) add(s store.Session) {
	if slices.Contains(d.ids, s.ID) {
		return
	}
	d.ids = append(d.ids, s.ID)
	d.messages += s.Messages
	name := s.ID
	if s.Title != "" {
		name += fmt.Sprintf(" %q", s.Title)
	}
	d.names = append(d.names, name)
}

func (d *deletion) run(e *env, asJSON bool) error {
	gone, messages := []string{}, 0
	var failed error
	for _, id := range d.ids {
		s, err := d.db.Session(d.ctx, id)
		if err == nil {
			err = d.app.Forget(d.ctx, id)
		}
		if err == nil {
			if _, left := d.db.Session(d.ctx, id); !errors.Is(left, store.ErrNotFound) {
				err = errors.Join(fmt.Errorf("session %s is there again: another program is writing to it", id), left)
			}
		}
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		gone, messages = append(gone, id), messages+s.Messages
	}
	stays := []string{}
	for _, id := range d.stays {
		if !slices.Contains(gone, id) && !slices.Contains(stays, id) {
			stays = append(stays, id)
		}
	}
	if asJSON {
		return errors.Join(printJSON(e.out, map[string]any{"deleted": gone, "messages": messages, "earlier_parts": stays}), failed)
	}
	if len(gone) > 0 {
		fmt.Fprintf(e.out, "Deleted %s (%s).\n", strings.Join(gone, ", "), count(messages, "message"))
	}
	if len(stays) > 0 {
		fmt.Fprintf(e.out, "Earlier parts of the same conversation stay: %s (--all-parts deletes them too).\n", strings.Join(stays, ", "))
	}
	return failed
}

func newSessionsUndo(e *env) *cobra.Command {
	var asJSON bool
	var turns int
	c := &cobra.Command{
		Use: "undo ID", Short: "Take back the last turn of a session; redo brings it back", Args: cobra.ExactArgs(1),
		Long: "Take the last turns of a session out of sight, from the user's message on. Nothing is\nforgotten: hermes sessions redo brings them back as long as nothing was said since.",
		RunE: func(c *cobra.Command, args []string) error {
			if turns < 1 {
				return usageError("--turns %d: take back at least one", turns)
			}
			return e.takeBack(c.Context(), args[0], asJSON, "Took back", "there is nothing to take back", func(db *store.DB, id string) ([]chat.Message, error) {
				return db.Undo(c.Context(), id, turns)
			})
		},
	}
	c.Flags().IntVarP(&turns, "turns", "n", 1, "how many turns")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

func newSessionsRedo(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "redo ID", Short: "Bring back what the last undo took", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return e.takeBack(c.Context(), args[0], asJSON, "Brought back", "there is nothing to bring back, or something was said since", func(db *store.DB, id string) ([]chat.Message, error) {
				return db.Redo(c.Context(), id)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

func (e *env) takeBack(ctx context.Context, ref string, asJSON bool, did, nothing string, do func(*store.DB, string) ([]chat.Message, error)) error {
	return e.withStore(func(db *store.DB) error {
		id, err := findTip(ctx, db, ref)
		if err != nil {
			return err
		}
		m, err := do(db, id)
		if err != nil {
			return err
		}
		if len(m) == 0 {
			return fmt.Errorf("session %s: %s", id, nothing)
		}
		turns, first := 0, ""
		for _, x := range m {
			if x.Role == chat.User {
				if turns++; turns == 1 {
					first = x.Content.String()
				}
			}
		}
		left, err := db.Session(ctx, id)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(e.out, map[string]any{"session_id": id, "turns": turns, "messages": len(m), "left": left.Messages, "first": first})
		}
		_, err = fmt.Fprintf(e.out, "%s %s (%s), beginning with %q. %s has %s now.\n", did, count(turns, "turn"), count(len(m), "message"), plainLine(first, 60), id, count(left.Messages, "message"))
		return err
	})
}

func newSessionsBranch(e *env) *cobra.Command {
	var asJSON bool
	var title string
	c := &cobra.Command{
		Use: "branch ID", Short: "Copy a session, to go on from here in two ways", Args: cobra.ExactArgs(1),
		Long: "Copy a session as it stands into a new one. The old one ends here and stays as it is;\ngo on with either. Without --title the copy is called like the old one, with the next number.",
		RunE: func(c *cobra.Command, args []string) error {
			return e.withStore(func(db *store.DB) error {
				ctx := c.Context()
				id, err := findTip(ctx, db, args[0])
				if err != nil {
					return err
				}
				made := store.NewID(time.Now())
				if err := db.Branch(ctx, id, made, title); err != nil {
					return err
				}
				s, err := db.Session(ctx, made)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(e.out, map[string]any{"id": s.ID, "parent_session_id": s.Parent, "title": orNil(s.Title), "message_count": s.Messages})
				}
				_, err = fmt.Fprintf(e.out, "Copied %s with %s as %s %q.\nGo on with: hermes --resume %s\n", id, count(s.Messages, "message"), s.ID, s.Title, s.ID)
				return err
			})
		},
	}
	c.Flags().StringVar(&title, "title", "", "what the copy is called")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

func newSessionsBrowse(e *env) *cobra.Command {
	var source string
	var limit int
	c := &cobra.Command{
		Use: "browse", Short: "Choose a session and go on with it", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !e.asks {
				return usageError("browse needs a terminal; see: hermes sessions list")
			}
			id, err := e.chooseSession(c.Context(), source, limit)
			if err != nil || id == "" {
				return err
			}
			return runChat(c.Context(), e, &chatFlags{resume: id})
		},
	}
	c.Flags().StringVar(&source, "source", "", "only sessions of this source, e.g. cli")
	c.Flags().IntVar(&limit, "limit", 15, "how many to show at a time")
	return c
}

// chooseSession shows a page of sessions at a time, until a number is typed;
// "" is no choice. The store is closed again before a conversation opens it.
func (e *env) chooseSession(ctx context.Context, source string, limit int) (chosen string, err error) {
	f := store.Filter{Limit: max(limit, 1)}
	if source != "" {
		f.Sources = []string{source}
	}
	err = e.withStore(func(db *store.DB) error {
		words := ""
		for {
			page, err := e.page(ctx, db, f, words)
			if err != nil {
				return err
			}
			if len(page) == 0 {
				fmt.Fprintln(e.err, "No more sessions.")
				if f.Offset == 0 && words == "" {
					return nil
				}
			} else if err := e.sessionTable(page, true); err != nil {
				return err
			}
			line, err := readLine(ctx, e, "Number to go on with, Enter for more, words to search, q to leave: ")
			if err != nil {
				return fmt.Errorf("no choice: %w", err)
			}
			var n int
			switch _, scanErr := fmt.Sscanf(line, "%d", &n); {
			case line == "q":
				return nil
			case line == "" && len(page) < f.Limit:
				f.Offset, words = 0, ""
			case line == "":
				f.Offset += f.Limit
			case scanErr == nil && n >= 1 && n <= len(page) && fmt.Sprint(n) == line:
				chosen = page[n-1].ID
				return nil
			default:
				f.Offset, words = 0, line
			}
		}
	})
	return chosen, err
}

// page is a page of the list, or the sessions in which words were said.
func (e *env) page(ctx context.Context, db *store.DB, f store.Filter, words string) ([]store.Summary, error) {
	if words == "" || !store.HasWords(words) {
		return db.List(ctx, f)
	}
	if f.Offset > 0 {
		return nil, nil // all hits are on the first page
	}
	var ids []string
	for h, err := range db.Search(ctx, store.Query{Text: words, Sources: f.Sources, Limit: 200}) {
		if err != nil {
			return nil, err
		}
		if !slices.Contains(ids, h.SessionID) {
			ids = append(ids, h.SessionID)
		}
	}
	all, err := db.List(ctx, store.Filter{Sources: f.Sources, Limit: -1, Children: true})
	if err != nil {
		return nil, err
	}
	var page []store.Summary
	for _, s := range all {
		if slices.Contains(ids, s.ID) || strings.Contains(strings.ToLower(s.Title), strings.ToLower(words)) {
			page = append(page, s)
		}
	}
	return page[:min(len(page), f.Limit)], nil
}
