package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/internal/cells"
	"github.com/hermes-go/hermes/internal/slash"
	"github.com/hermes-go/hermes/internal/store"
)

func newChat(e *env) *cobra.Command {
	var f chatFlags
	var q query
	c := &cobra.Command{
		Use: "chat", Short: "Talk to the agent, or ask one thing with -q", Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.words(c, args); err != nil {
				return err
			}
			return q.or(c, e, &f)
		},
	}
	f.add(c)
	c.Flags().BoolVar(&f.checkpoints, "checkpoints", false, "save the working tree before it is changed, also where the configuration says no")
	q.add(c)
	return c
}

// query is a single question from the command line.
type query struct {
	text  string
	flag  string
	quiet bool
	json  bool
	bare  bool // -z: not even the session id
}

func (q *query) add(c *cobra.Command) {
	c.Flags().StringVarP(&q.text, "query", "q", "", "ask `TEXT`, print the answer and exit; - reads it from stdin")
	c.Flags().BoolVarP(&q.quiet, "quiet", "Q", false, "with -q: no activity on stderr")
	c.Flags().BoolVar(&q.json, "json", false, "with -q: print every event as a JSON line")
}

// or asks the question, if there is one, and has a conversation otherwise.
func (q *query) or(c *cobra.Command, e *env, f *chatFlags) error {
	if c.Flags().Changed("query") {
		q.flag = "-q"
		return runQuery(c.Context(), e, f, *q)
	}
	if q.json || q.quiet {
		return usageError("--json and --quiet go with -q")
	}
	return runChat(c.Context(), e, f)
}

// mostStdin bounds a prompt read from stdin.
const mostStdin = 16 << 20

func (q *query) read(e *env) (string, error) {
	text := q.text
	if text == "-" {
		b, err := io.ReadAll(io.LimitReader(e.in, mostStdin+1))
		if err != nil {
			return "", fmt.Errorf("read stdin: %w", err)
		}
		if len(b) > mostStdin {
			return "", fmt.Errorf("read stdin: the prompt is larger than %d MB; put it in a file and name the file", mostStdin>>20)
		}
		text = string(b)
	}
	if strings.TrimSpace(text) == "" {
		return "", usageError("%s: the prompt is empty", q.flag)
	}
	return text, nil
}

func runQuery(ctx context.Context, e *env, f *chatFlags, q query) error {
	text, err := q.read(e)
	if err != nil {
		return err
	}
	return e.withTree(ctx, f, func(a *app.App) error {
		in := f.ask()
		in.Interactive = e.asks && !q.json && !q.bare && q.text != "-"
		in.Discover = e.terminal && !q.json
		in.Title = true
		e.askProject(ctx, a)
		c, err := a.Converse(ctx, in)
		if err != nil {
			return startError(err)
		}
		if text, err = skillMessage(ctx, a, c, text); err != nil {
			return err
		}
		done, err := q.show(ctx, e, c, text)
		if endErr := c.End(context.WithoutCancel(ctx), store.EndQuery); endErr != nil {
			err = errors.Join(err, endErr)
		}
		if err != nil {
			return err
		}
		if code := exitOf(done.Status); code != exitOK {
			return reported(code)
		}
		return nil
	})
}

// skillMessage lets a single question begin with /skill-name, as a message of a
// chat may. Other commands have no place there: the text stays what it is.
func skillMessage(ctx context.Context, a *app.App, c *app.Conversation, text string) (string, error) {
	name, args, ok := slash.Parse(text)
	if !ok {
		return text, nil
	}
	t := slash.New(slash.Everywhere)
	t.Skills = a.SkillCommands("cli", t)
	cmd, err := t.Find(name)
	if err != nil || cmd.Name != strings.ToLower(name) || cmd.Name != "skill" && t.Reserved(name) {
		return text, nil //nolint:nilerr // it is no command, but a text that begins with a slash
	}
	r, err := cmd.Run(ctx, &slash.Call{Conv: c, Args: args, Table: t})
	return r.Send, err
}

// show runs the turn and prints it in the query's form.
func (q *query) show(ctx context.Context, e *env, c *app.Conversation, text string) (agent.Done, error) {
	var done agent.Done
	if q.json {
		if err := printJSON(e.out, agent.EventJSON{Type: "session", SessionID: c.ID}); err != nil {
			return done, err
		}
	}
	activity := &screen{out: io.Discard, err: e.err, color: e.colors(), quiet: q.quiet}
	for _, n := range c.Notices {
		e.notice(n) // even when quiet: something asked for was not as it should be
	}
	for ev, err := range c.Turn(ctx, text) {
		if err != nil {
			return done, err
		}
		if d, ok := ev.(agent.Done); ok {
			done = d
		}
		if q.json {
			if err := printJSON(e.out, agent.ToJSON(ev, c.ID)); err != nil {
				return done, fmt.Errorf("write events: %w", err)
			}
			continue
		}
		if asked, ok := ev.(agent.Asked); ok {
			asked.Reply(askTerminal(ctx, e, asked.Request))
			continue
		}
		activity.show(ev)
	}
	if q.json {
		return done, nil
	}
	if done.Err != nil {
		fmt.Fprintf(e.err, "%s: %v\n", done.Status, done.Err)
	}
	if !q.bare {
		fmt.Fprintf(e.err, "\nsession_id: %s\n", c.ID)
	}
	if done.Text != "" && done.Status != agent.Interrupted {
		if err := e.printAnswer(done.Text); err != nil {
			return done, fmt.Errorf("write answer: %w", err)
		}
	}
	return done, nil
}

// printAnswer prints the text as it is, but to a terminal without what that
// would obey: a model repeats what it has read somewhere.
func (e *env) printAnswer(text string) error {
	if e.terminal {
		text = cells.Clean(text)
	}
	_, err := fmt.Fprintln(e.out, text)
	return err
}

// startError gives mistakes in the choice of model or toolset their exit code.
func startError(err error) error {
	var u *app.UsageError
	if errors.As(err, &u) {
		return &codeError{code: exitUsage, err: err}
	}
	return err
}
