// Package remote is an environment on another machine or in a container: it
// makes directory and variables outlast a command, ends commands with all their
// children, and reaches files, over nothing but a way to start a program there
// and talk to it. How that way is made is the Place; what a container or
// a machine is, this package does not know.
package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/shellstate"
)

// Place starts programs elsewhere.
type Place interface {
	// Start starts a program. An error means that it was not started; it says
	// what could not be reached and why.
	Start(ctx context.Context, p Program) (Conn, error)
}

// Program is what a Place starts.
type Program struct {
	Argv       []string
	Env        []string // added to the place's own; never on a command line
	Terminal   bool     // on a terminal of its own: all output comes by Out
	Cols, Rows int
	Limit      time.Duration // after which nobody wants it any more; 0: none. Only a place without a way back needs it
}

// Conn is the way to a program that was started.
type Conn interface {
	io.Writer          // its input
	CloseWrite() error // ends its input
	Out() io.Reader
	Err() io.Reader
	// Wait returns the exit code once both outputs have ended. An error means
	// that the way broke, so that nobody knows.
	Wait() (int, error)
	Close() error // lets go of the program, whatever it does
}

// Options are what an environment is made of.
type Options struct {
	backend.Options
	Kind  string
	Place Place
	Name  string                      // of the place, for messages
	Close func(context.Context) error // releases the place; nil: nothing to release
	Batch bool                        // the place runs programs to their end and takes no input meanwhile
}

// Env runs commands at a place.
type Env struct {
	o      Options
	guard  guard
	before func(ctx context.Context, home string) error
	after  func(context.Context) error

	mu      sync.Mutex
	looked  *looked
	looking chan struct{} // closed when the first look has ended
	cwd     string
	set     []string // variables that differ from the place's own
	unset   []string
	given   map[string]bool
	dump    string
	closed  bool
	running map[*run]struct{}
}

// looked is what is found out at the first command.
type looked struct {
	shell, home, tmp string
	base             map[string]string // variables of a program that is started there
	snap             shellstate.Snapshot
}

var (
	_ backend.Env     = (*Env)(nil)
	_ backend.Spawner = (*Env)(nil)
	_ backend.Adopter = (*Env)(nil)
)

// New makes an environment. Nothing is reached before the first command.
func New(o Options) *Env {
	e := &Env{o: o, cwd: o.Cwd, given: map[string]bool{}, running: map[*run]struct{}{}}
	e.guard.env = e
	return e
}

// lookScript tells of the place: its shell, directories, and what a login
// shell makes of the environment. What start-up files print is nobody's business.
const lookScript = `exec 3>&1 >/dev/null 2>&1 </dev/null
s=$(command -v bash) || s=$(command -v sh)
printf '%s\0%s\0%s\0' "$s" "${HOME:-/}" "${TMPDIR:-/tmp}" >&3
export -p >&3; printf '\0' >&3
case $s in *bash) exec "$s" -l -c "$1" ;; esac
{ pwd -P; printf '\0'; export -p; printf '\0\0\0'; } >&3`

// Before sets what is done before the first command, once the place is known;
// After what is done when all has ended, while the place can still be reached.
func (e *Env) Before(do func(ctx context.Context, home string) error) { e.before = do }

// After is the counterpart of Before.
func (e *Env) After(do func(context.Context) error) { e.after = do }

const lookLimit = 60 * time.Second

// look finds out what must be known before the first command.
func (e *Env) look(ctx context.Context) (*looked, error) {
	for {
		e.mu.Lock()
		if e.closed {
			e.mu.Unlock()
			return nil, errClosed
		}
		if e.looked != nil {
			l := e.looked
			e.mu.Unlock()
			return l, nil
		}
		wait := e.looking
		if wait == nil {
			wait = make(chan struct{})
			e.looking = wait
			e.mu.Unlock()
			l, err := e.lookNow(ctx)
			if err == nil && e.before != nil {
				if err := e.before(ctx, l.home); err != nil && e.o.Log != nil {
					e.o.Log.Warn("files were not brought over", "place", e.o.Name, "err", err)
				}
			}
			e.mu.Lock()
			e.looking = nil
			if err == nil {
				e.looked = l
			}
			close(wait)
			e.mu.Unlock()
			return l, err
		}
		e.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (e *Env) lookNow(ctx context.Context) (*looked, error) {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	out, code, err := e.output(ctx, Program{Argv: []string{"sh", "-c", lookScript, "sh", "exec >&3; " + shellstate.Report}})
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", e.o.Name, err)
	}
	parts := strings.SplitN(string(out), "\x00", 5)
	if len(parts) < 5 || parts[0] == "" {
		return nil, fmt.Errorf("look at %s: no shell answers there (exit code %d): %.300s", e.o.Name, code, out)
	}
	l := &looked{shell: parts[0], home: parts[1], tmp: parts[2], base: map[string]string{}}
	base, ok := shellstate.ParseExports(parts[3])
	if !ok {
		return nil, fmt.Errorf("look at %s: its variables could not be read", e.o.Name)
	}
	for _, v := range base {
		name, value, _ := strings.Cut(v, "=")
		l.base[name] = value
	}
	snap, err := shellstate.ParseSnapshot([]byte(parts[4]))
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", e.o.Name, err)
	}
	l.snap = *snap
	dir, _, _ := strings.Cut(parts[4], "\x00")
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.cwd == "" || e.cwd == "~":
		e.cwd = l.home
	case strings.HasPrefix(e.cwd, "~/"):
		e.cwd = join(l.home, e.cwd[2:])
	case !strings.HasPrefix(e.cwd, "/"):
		e.cwd = strings.TrimSuffix(dir, "\n")
	}
	e.keep(l, snap.Vars)
	return l, nil
}

// keep remembers variables as the difference to what a program there has
// anyway. e.mu is held.
func (e *Env) keep(l *looked, vars []string) {
	e.set, e.unset = nil, nil
	have := map[string]bool{}
	for _, v := range vars {
		name, value, _ := strings.Cut(v, "=")
		have[name] = true
		if was, ok := l.base[name]; !ok || was != value {
			e.set = append(e.set, v)
		}
	}
	for name := range l.base {
		switch name {
		case "_", "SHLVL", "PWD", "OLDPWD":
		default:
			if !have[name] {
				e.unset = append(e.unset, name)
			}
		}
	}
}

// late adds variables that are let through. What a command has set or unset
// stays so. e.mu is held.
func (e *Env) late() {
	if e.o.Passed == nil {
		return
	}
	for _, v := range e.o.Passed() {
		name, _, _ := strings.Cut(v, "=")
		if !e.given[name] {
			e.given[name] = true
			if shellstate.Value(e.set, name) == "" {
				e.set = append(e.set[:len(e.set):len(e.set)], v)
			}
		}
	}
}

// output runs a program of our own to its end.
func (e *Env) output(ctx context.Context, p Program) ([]byte, int, error) {
	c, err := e.o.Place.Start(ctx, p)
	if err != nil {
		return nil, 0, err
	}
	return collect(ctx, c)
}

// collect reads both outputs of a program to their end.
func collect(ctx context.Context, c Conn) ([]byte, int, error) {
	defer func() { _ = c.Close() }() // it has ended, or is given up
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	_ = c.CloseWrite() // one that takes no input has none to end
	said := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(io.LimitReader(c.Err(), 4096))
		_, _ = io.Copy(io.Discard, c.Err()) // so that it does not wait for us
		said <- string(b)
	}()
	out, err := io.ReadAll(c.Out())
	message := <-said
	code, waitErr := c.Wait()
	if ctx.Err() != nil {
		return nil, 0, ctx.Err()
	}
	if err = errors.Join(err, waitErr); err != nil {
		return nil, 0, err
	}
	if code != 0 && len(out) == 0 {
		out = []byte(message)
	}
	return out, code, nil
}

// Cwd implements backend.Env.
func (e *Env) Cwd(ctx context.Context) (string, error) {
	if _, err := e.look(ctx); err != nil {
		return "", err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.cwd, nil
}

// Home is what ~ stands for at the place.
func (e *Env) Home(ctx context.Context) (string, error) {
	l, err := e.look(ctx)
	if err != nil {
		return "", err
	}
	return l.home, nil
}

// TempDir is the place's directory for temporary files.
func (e *Env) TempDir(ctx context.Context) (string, error) {
	l, err := e.look(ctx)
	if err != nil {
		return "", err
	}
	return l.tmp, nil
}

var errClosed = errors.New("the environment has been closed")

// Close ends what runs and releases the place.
func (e *Env) Close(ctx context.Context) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	var all []*run
	for r := range e.running {
		all = append(all, r)
	}
	e.mu.Unlock()
	for _, r := range all {
		r.cancel(errClosed)
	}
	for _, r := range all {
		select {
		case <-r.done:
		case <-ctx.Done():
		}
	}
	e.guard.close()
	var err error
	if e.after != nil {
		err = e.after(ctx)
	}
	if e.o.Close != nil {
		err = errors.Join(err, e.o.Close(ctx))
	}
	return err
}

func join(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }
