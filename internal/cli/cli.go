// Package cli is the terminal front: the commands, what they print and their
// exit codes. It turns arguments into calls of app and events into text or
// JSON; what an agent does is decided elsewhere.
package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/internal/worktree"
	"github.com/hermes-go/hermes/secret"
)

// Exit codes of every command.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// env is what a run of the program stands on; tests give their own.
type env struct {
	args     []string
	environ  []string
	userHome string
	workDir  string
	in       *os.File
	out, err io.Writer
	terminal bool // stdout is a terminal
	asks     bool // a person can be asked: stdin and stderr are terminals

	place   config.Place
	reader  *bufio.Reader // see readLine
	reading chan typed
	quit    *interrupts
}

// codeError carries an exit code; a silent one was told already.
type codeError struct {
	code   int
	err    error
	silent bool
}

func (e *codeError) Error() string { return e.err.Error() }
func (e *codeError) Unwrap() error { return e.err }

func usageError(format string, args ...any) error {
	return &codeError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// reported is an error whose text the person has seen.
func reported(code int) error {
	return &codeError{code: code, err: errors.New("reported"), silent: true}
}

// Main runs the program and returns its exit code.
func Main() int {
	e := &env{args: os.Args[1:], environ: secret.Environ(), in: os.Stdin, out: os.Stdout, err: os.Stderr}
	e.terminal = term.IsTerminal(int(os.Stdout.Fd()))
	e.asks = term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd()))
	var err error
	if e.userHome, err = userHome(); err != nil {
		return e.report(err)
	}
	if e.workDir, err = e.findWorkDir(); err != nil {
		return e.report(err)
	}
	return e.run()
}

// userHome is $HOME, or what the account says where a service has no HOME.
func userHome() (string, error) {
	dir, err := os.UserHomeDir()
	if err == nil {
		return dir, nil
	}
	if u, err := user.Current(); err == nil && u.HomeDir != "" {
		return u.HomeDir, nil
	}
	return "", fmt.Errorf("find the home directory: %w, and the account names none; set HOME", err)
}

// findWorkDir is the working directory. From one that was removed it goes to
// the nearest parent that is left.
func (e *env) findWorkDir() (string, error) {
	dir, err := os.Getwd()
	if err == nil {
		return dir, nil
	}
	gone := e.userHome
	for _, v := range e.environ {
		if was, ok := strings.CutPrefix(v, "PWD="); ok && filepath.IsAbs(was) {
			gone = was
		}
	}
	for dir = filepath.Clean(gone); os.Chdir(dir) != nil; dir = filepath.Dir(dir) {
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("the working directory is gone: %w; change to one that exists", err)
		}
	}
	e.notice(fmt.Sprintf("the working directory %s is gone; working in %s", gone, dir))
	return dir, nil
}

func (e *env) run() int {
	place, err := config.Home(e.args, e.environ, e.userHome)
	if err != nil {
		return e.report(err)
	}
	e.place = place
	var ctx context.Context
	ctx, e.quit = catchInterrupts(context.Background())
	root := newRoot(e, place.Args)
	root.SetArgs(place.Args)
	return e.report(root.ExecuteContext(ctx))
}

// report tells a person what went wrong and picks the exit code.
func (e *env) report(err error) int {
	if err == nil {
		return exitOK
	}
	var c *codeError
	if !errors.As(err, &c) {
		c = &codeError{code: exitFailed, err: err}
		if errors.Is(err, agent.ErrInterrupted) {
			c.code = exitInterrupted
		}
	}
	if !c.silent {
		fmt.Fprintln(e.err, "Error:", c.err)
		if errors.Is(c.err, fs.ErrPermission) {
			if who := ownedByOther(e.place.Dir); who != "" {
				fmt.Fprintln(e.err, "Note:", who)
			}
		}
	}
	return c.code
}

// interrupts turns signals into the end of a context: the first Ctrl+C, TERM
// or HUP cancels it as an interrupt, the second ends the process. After TERM or
// HUP nobody may be there to send another: the process then ends by itself.
// Handlers are never taken back, which would cost more than a quick command.
type interrupts struct {
	keys, ends chan os.Signal
	caught     chan struct{}          // closed when the handlers are in place
	last       atomic.Pointer[func()] // before the process is ended
}

const (
	// sameSignal is how close two signals are one wish: timeout(1) sends to the
	// process and to its group, a closing terminal and its shell both send HUP.
	sameSignal = 250 * time.Millisecond
	// endGrace is what stopping tools and closing the store may take.
	endGrace = 10 * time.Second
)

// repeated tells a second wish to end from the echo of the first.
func repeated(first, now time.Time) bool { return !first.IsZero() && now.Sub(first) >= sameSignal }

func catchInterrupts(parent context.Context) (context.Context, *interrupts) {
	ctx, cancel := context.WithCancelCause(parent)
	i := &interrupts{keys: make(chan os.Signal, 2), ends: make(chan os.Signal, 2), caught: make(chan struct{})}
	go func() {
		signal.Notify(i.keys, os.Interrupt)
		signal.Notify(i.ends, syscall.SIGTERM, syscall.SIGHUP)
		close(i.caught)
		var first time.Time
		var limit <-chan time.Time
		for {
			select {
			case <-i.keys:
			case <-i.ends:
				if limit == nil {
					limit = time.After(endGrace)
				}
			case <-limit:
				i.exit()
			}
			now := time.Now()
			if repeated(first, now) {
				i.exit()
			}
			if first.IsZero() {
				first = now
				cancel(agent.ErrInterrupted)
			}
		}
	}()
	return ctx, i
}

// exit ends the process at once.
func (i *interrupts) exit() {
	if last := i.last.Load(); last != nil {
		(*last)()
	}
	os.Exit(exitInterrupted)
}

// atExit has f run before a signal ends the process at once.
func (i *interrupts) atExit(f func()) { i.last.Store(&f) }

// leaveKeys leaves Ctrl+C to somebody else.
func (i *interrupts) leaveKeys() {
	<-i.caught
	signal.Stop(i.keys)
}

// open builds the app of this run's home.
func (e *env) open() (*app.App, error) {
	return app.Open(app.Options{
		Home: e.place.Dir, UserHome: e.userHome, WorkDir: e.workDir, Environ: e.environ,
		Notice: e.notice, Last: true, Version: programVersion(),
	})
}

func (e *env) notice(text string) {
	fmt.Fprintln(e.err, "Note:", strings.TrimSpace(text))
}

// with runs a command on an app and closes it afterwards.
func (e *env) with(fn func(*app.App) error) (err error) {
	a, err := e.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return fn(a)
}

// withTree is with, in a git worktree of its own when the flag or the
// configuration asks for one. The worktree goes when nothing would be lost.
func (e *env) withTree(ctx context.Context, f *chatFlags, fn func(*app.App) error) (err error) {
	var tree *worktree.Tree
	defer func() {
		if tree == nil {
			return
		}
		kept, leaveErr := tree.Leave(context.WithoutCancel(ctx))
		if kept != "" {
			e.notice(kept)
		}
		err = errors.Join(err, leaveErr)
	}()
	a, err := app.Open(app.Options{
		Home: e.place.Dir, UserHome: e.userHome, WorkDir: e.workDir, Environ: e.environ, Notice: e.notice, Last: true, Saved: f.checkpoints,
		Enter: func(cfg *config.Config) (dir, note string, err error) {
			if on, _ := cfg.Get("worktree"); !f.worktree && on != true {
				return "", "", nil
			}
			if tree, err = worktree.Create(ctx, e.workDir, e.environ); err != nil {
				return "", "", err
			}
			for _, n := range tree.Notes {
				e.notice(n)
			}
			e.notice(fmt.Sprintf("working in %s, on branch %s", tree.Dir, tree.Branch))
			return tree.Dir, fmt.Sprintf("You work in a git worktree made for this conversation: %s, on branch %s. Work in it, not in the main checkout. It is removed at the end unless it holds changes; commit what is to stay, and say so.", tree.Dir, tree.Branch), nil
		},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }() // before the worktree goes
	return fn(a)
}

// chatFlags are the flags that choose a conversation.
type chatFlags struct {
	model, provider, script string
	toolsets, skills        []string
	resume                  string
	cont                    bool
	maxTurns                int
	yolo, ignoreRules       bool
	worktree, checkpoints   bool
	source, job, record     string
}

func (f *chatFlags) add(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVarP(&f.model, "model", "m", "", "model to use, or provider/model")
	fs.StringVar(&f.provider, "provider", "", "model service to use, e.g. openrouter, anthropic, offline")
	fs.StringVar(&f.script, "script", "", "offline model only: a file of scripted replies, one JSON object a line")
	fs.StringSliceVarP(&f.toolsets, "toolsets", "t", nil, "toolsets to offer, comma-separated; all for every one")
	fs.StringSliceVarP(&f.skills, "skills", "s", nil, "skills to load for the whole session, comma-separated")
	fs.StringVarP(&f.resume, "resume", "r", "", "go on with a session, by id or title")
	fs.BoolVarP(&f.cont, "continue", "c", false, "go on with the newest session, or with the one whose title follows")
	fs.IntVar(&f.maxTurns, "max-turns", 0, "model calls one message may take (default 90)")
	fs.BoolVarP(&f.worktree, "worktree", "w", false, "work in a git worktree of its own, which goes at the end if it holds no work")
	fs.BoolVar(&f.yolo, "yolo", false, "run commands without asking, except those that are never run")
	fs.BoolVar(&f.ignoreRules, "ignore-rules", false, "leave out project files, memory and SOUL.md")
	fs.StringVar(&f.job, "job", "", "count what is spent under this `NAME` too; caps.job bounds it for a day")
	fs.StringVar(&f.record, "record", "", "write a cassette of the conversation to `FILE`, for hermes replay")
	fs.StringVar(&f.source, "source", "", "how the session is labelled in the store (default cli)")
	must(fs.MarkHidden("source"))
}

// words takes up what follows the flags: the title after --continue, more
// words of one after --resume. Anything else is a mistake.
func (f *chatFlags) words(c *cobra.Command, args []string) error {
	switch title := strings.Join(args, " "); {
	case title == "":
	case f.resume != "":
		f.resume += " " + title
	case f.cont:
		f.resume, f.cont = title, false
	default:
		err := fmt.Errorf("unknown command %q", args[0])
		if near := c.SuggestionsFor(args[0]); len(near) > 0 {
			err = fmt.Errorf("%w; did you mean %s?", err, strings.Join(near, " or "))
		}
		return usageError("%w; see: %s --help", err, c.CommandPath())
	}
	return nil
}

func (f *chatFlags) ask() app.Ask {
	return app.Ask{
		Platform: "cli", Source: f.source, Resume: f.resume, Continue: f.cont, Model: f.model, Provider: f.provider,
		Script: f.script, Toolsets: f.toolsets, MaxCalls: f.maxTurns, Yolo: f.yolo, IgnoreRules: f.ignoreRules, Job: f.job, Record: f.record, Skills: f.skills,
	}
}

// notTogether makes two flags of a command exclude each other.
func notTogether(c *cobra.Command, one, other string) {
	args := c.Args
	c.Args = func(c *cobra.Command, given []string) error {
		if c.Flags().Changed(one) && c.Flags().Changed(other) {
			return usageError("--%s and --%s do not go together; see: %s --help", one, other, c.CommandPath())
		}
		return args(c, given)
	}
}

// must is for mistakes in the program that any run finds.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
