// Package terminal is the tool that runs shell commands where the task's
// environment is: in the foreground with all the care that an answer needs, in
// the background with a job that the process tool looks after. It decides
// whether a command may run; how it runs is the environment's business.
package terminal

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/shell"
	"github.com/hermes-go/hermes/tool"
)

var (
	//go:embed terminal.md
	about string
	//go:embed terminal.json
	schema json.RawMessage
)

func init() {
	tool.Register(tool.Func(tool.Tool{
		Name: "terminal", Toolset: "terminal", Emoji: "💻", About: about, Schema: schema,
		Needs: []tool.Need{tool.Needs[backend.Provider]()},
	}, run))
}

type args struct {
	Command    string   `json:"command"`
	Background bool     `json:"background"`
	Timeout    int      `json:"timeout"`
	Workdir    string   `json:"workdir"`
	PTY        bool     `json:"pty"`
	Notify     bool     `json:"notify_on_complete"`
	Watch      []string `json:"watch_patterns"`
}

// result is what the model reads; error is null when there was none.
type result struct {
	Output    string  `json:"output"`
	ExitCode  int     `json:"exit_code"`
	Error     *string `json:"error"`
	Status    string  `json:"status,omitempty"`
	SessionID string  `json:"session_id,omitempty"`
	PID       int     `json:"pid,omitempty"`
	Approval  string  `json:"approval,omitempty"`
	Meaning   string  `json:"exit_code_meaning,omitempty"`
	Hint      string  `json:"hint,omitempty"`
	Note      string  `json:"note,omitempty"`
	File      string  `json:"output_file,omitempty"`

	PTYNote      string   `json:"pty_note,omitempty"`
	Notify       bool     `json:"notify_on_complete,omitempty"`
	Watch        []string `json:"watch_patterns,omitempty"`
	WatchIgnored string   `json:"watch_patterns_ignored,omitempty"`
}

// refuse is the result of a command that did not run.
func refuse(status, reason string) error {
	return tool.Fail(result{ExitCode: -1, Error: &reason, Status: status}, reason)
}

// work is one call on its way.
type work struct {
	*tool.Call
	args
	host     backend.Host
	set      backend.Settings
	env      backend.Env
	task     *task
	file     *syntax.File
	list     []shell.Command
	approval string
	notes    []string
	cut      int64 // bytes of the output that its file holds, if not all
}

func run(ctx context.Context, c *tool.Call, in args) (any, error) {
	w := &work{Call: c, args: in}
	provider, err := tool.Use[backend.Provider](c.Session.Services)
	if err != nil {
		return nil, err
	}
	w.set = backend.DefaultSettings()
	if host, ok := provider.(backend.Host); ok {
		w.host, w.set = host, host.Settings()
	}
	if strings.TrimSpace(in.Command) == "" {
		return nil, refuse("error", "the command is empty")
	}
	if !in.Background && in.Timeout > w.set.MaxForeground {
		return nil, fmt.Errorf("a foreground command may take at most %d seconds, not %d: run it with background=true and notify_on_complete=true", w.set.MaxForeground, in.Timeout)
	}
	if w.env, err = provider.Env(ctx, c.Session.Key()); err != nil {
		return nil, refuse("error", "there is no place to run commands: "+err.Error())
	}
	if err := w.read(); err != nil {
		return nil, refuse("error", err.Error()+". Nothing was run.")
	}
	if !in.Background {
		if reason := longLived(w.list); reason != "" {
			return nil, refuse("error", reason)
		}
	}
	w.task = tasks.Get(c.Session)
	if err := w.gate(ctx); err != nil {
		return nil, err
	}
	w.checkpoint(ctx)
	if in.Background {
		return w.background(ctx)
	}
	return w.foreground(ctx)
}

// read understands the command, where it is shell: only then can anything be
// said about its parts.
func (w *work) read() error {
	w.file = &syntax.File{}
	if backend.LanguageOf(w.env) != backend.POSIX {
		return nil
	}
	f, err := shell.Parse(w.Command)
	if err != nil {
		return err
	}
	w.file, w.list = f, shell.Commands(f)
	return nil
}

func (w *work) mask(s string) string {
	if w.host == nil {
		return s
	}
	return w.host.Mask(s)
}

func (w *work) foreground(ctx context.Context) (any, error) {
	limit := w.set.DefaultTimeout()
	if w.Timeout > 0 {
		limit = time.Duration(w.Timeout) * time.Second
	}
	script, vars, done, err := w.sudo(ctx)
	if err != nil {
		return nil, err
	}
	defer done()

	out := w.newOutput()
	exit, err := w.env.Exec(ctx, backend.Cmd{Script: script, Dir: w.Workdir, Env: vars, Timeout: limit, Output: out})
	if err != nil {
		if ctx.Err() != nil {
			return nil, refuse("interrupted", "interrupted before it started")
		}
		return nil, refuse("error", err.Error()+". Nothing was run.")
	}
	text, file, err := out.close()
	if err != nil {
		w.notes = append(w.notes, "The whole output could not be kept: "+err.Error())
	}
	if kept, cut := out.keep.Cut(); cut {
		w.cut = kept
	}
	if out.masker.Changed {
		w.notes = append(w.notes, "Secrets in the output are masked; use them by the names of their variables.")
	}
	w.task.sudoSaid(text)
	return w.answer(exit, limit, text, file)
}

// answer makes the result of a command that ran.
func (w *work) answer(exit backend.Exit, limit time.Duration, text, file string) (any, error) {
	r := result{Output: text, ExitCode: exit.Code, Approval: w.approval, File: file}
	w.notes = append(exit.Notes, w.notes...)
	switch exit.Reason {
	case backend.TimedOut:
		r.Output = join(text, fmt.Sprintf("[Command timed out after %ds]", int(limit.Seconds())))
		r.Hint = "What it printed until then is above. Run it in the background if it needs longer."
	case backend.Interrupted:
		r.Output = join(text, "[Command interrupted]")
	case backend.Lost:
		r.Output = join(text, "[Connection lost while the command ran]")
	case backend.Exited:
		r.Meaning = meaning(w.file, exit.Code)
		r.Hint = hint(w.list, text, exit.Code)
		if exit.Left != 0 {
			w.notes = append(w.notes, w.adopt(exit.Left))
		} else if exit.Held {
			w.notes = append(w.notes, "A process that the command started still runs, outside of its group; its further output is not seen.")
		}
	}
	switch {
	case file == "":
	case w.cut > 0:
		w.notes = append(w.notes, fmt.Sprintf("The output was too long to show, and to keep: the file holds its first %d MB. read_file shows them by offset and limit.", w.cut>>20))
	default:
		w.notes = append(w.notes, "The output was too long to show; read the whole with read_file, by offset and limit.")
	}
	r.Note = joined(w.notes)
	if exit.Code == 0 || exit.Reason == backend.Exited && harmless(w.file, exit.Code) {
		return r, nil
	}
	return nil, tool.Fail(r, fmt.Sprintf("exit code %d", exit.Code))
}

func joined(notes []string) string { return strings.Join(notes, " ") }

func join(a, b string) string {
	if a == "" {
		return b
	}
	return strings.TrimRight(a, "\n") + "\n" + b
}
