package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/internal/slash"
)

// quickCommand is an entry of `quick_commands`.
type quickCommand struct {
	Type    string `yaml:"type"`
	Command string `yaml:"command"` // exec: for a shell of this machine
	Target  string `yaml:"target"`  // alias: a command of the conversation
	About   string `yaml:"description"`
}

const (
	quickTime = 30 * time.Second
	quickMost = 20_000 // bytes that are shown
)

// QuickCommands are the commands that the person has given names to in the
// configuration. Names of the table stay what they are. Nobody is asked before
// one runs: the person has written it, and types it.
func (a *App) QuickCommands(table *slash.Table) []slash.Command {
	var list map[string]quickCommand
	if err := config.Decode(a.Config, "quick_commands", &list); err != nil {
		a.Notice(err.Error())
		return nil
	}
	var out []slash.Command
	aliases := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(list)) {
		q := list[key]
		name, _, ok := slash.Parse("/" + strings.TrimPrefix(key, "/"))
		name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
		c := slash.Command{Name: name, About: q.About}
		switch {
		case !ok:
			a.Notice(fmt.Sprintf("quick_commands: %q is no name for a command; it is left out", key))
			continue
		case table.Reserved(name):
			a.Notice(fmt.Sprintf("quick_commands: /%s is a command of the program, so yours is left out; give it another name", name))
			continue
		case q.Type == "exec" && strings.TrimSpace(q.Command) != "":
			c.Slow, c.Run = true, func(ctx context.Context, _ *slash.Call) (slash.Reply, error) { return a.quick(ctx, q.Command) }
			if c.About == "" {
				c.About = "run " + oneLine(q.Command, 60)
			}
		case q.Type == "alias" && strings.Trim(q.Target, "/ ") != "":
			aliases[name] = true
			target, args, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(q.Target), "/")), " ")
			c.Args, c.Run = "[text]", func(ctx context.Context, c *slash.Call) (slash.Reply, error) {
				to, err := c.Table.Find(target)
				if err != nil {
					return slash.Reply{}, err
				}
				if aliases[to.Name] {
					return slash.Reply{}, fmt.Errorf("quick_commands.%s stands for /%s, which stands for something else: name that", key, to.Name)
				}
				return to.Run(ctx, &slash.Call{Conv: c.Conv, Table: c.Table, Args: strings.TrimSpace(args + " " + c.Args)})
			}
			if c.About == "" {
				c.About = "the same as /" + strings.TrimSpace(target+" "+args)
			}
		default:
			a.Notice(fmt.Sprintf("quick_commands.%s needs type: exec with a command, or type: alias with a target; it is left out", key))
			continue
		}
		out = append(out, c)
	}
	return out
}

// quick runs a line in a shell of this machine.
func (a *App) quick(ctx context.Context, line string) (slash.Reply, error) {
	kind, ok := backend.Lookup("local")
	if !ok {
		return slash.Reply{}, errors.New("this program was built without a shell of this machine")
	}
	env, err := kind.Open(ctx, backend.Options{Cwd: a.WorkDir, Vars: func() []string { return a.childEnv("") }, Log: a.Log})
	if err != nil {
		return slash.Reply{}, err
	}
	var said bytes.Buffer
	screen := backend.NewScreen(&said)
	end, err := env.Exec(ctx, backend.Cmd{Script: line, Timeout: quickTime, Output: screen})
	if err := errors.Join(err, screen.Close(), env.Close(context.WithoutCancel(ctx))); err != nil {
		return slash.Reply{}, err
	}
	if ctx.Err() != nil {
		return slash.Reply{}, context.Cause(ctx)
	}
	text := strings.TrimRight(a.Secrets.Redactor().Redact(said.String()), "\n ")
	if cut := len(text) - quickMost; cut > 0 {
		text = strings.ToValidUTF8(text[:quickMost], "") + fmt.Sprintf("\n… %d more bytes", cut)
	}
	if text == "" {
		text = "(it printed nothing)"
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	text = fence + "\n" + text + "\n" + fence
	switch {
	case end.Reason == backend.TimedOut:
		text += fmt.Sprintf("\nIt was stopped after %s.", quickTime)
	case end.Code != 0:
		text += fmt.Sprintf("\nIt ended with exit code %d.", end.Code)
	}
	return slash.Reply{Text: text}, nil
}
