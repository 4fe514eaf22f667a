// Package hostshell runs commands in a shell on this machine and reaches its
// files directly: what the local and the sandbox backend have in common. It
// confines nothing itself; whoever opens it may put a program before the shell
// that does.
package hostshell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/shellstate"
)

// Options are what a shell is made of.
type Options struct {
	backend.Options
	Kind string // of the environment, as processes are named after it

	// Launch may change how the shell is started, e.g. put a program before it;
	// nil: as it is.
	Launch func(*exec.Cmd) error
}

// Probe reports why no command can run; nil: there is a shell.
func Probe() error {
	_, err := findShell()
	return err
}

// Self names this program.
func Self(kind string) backend.ProcessID { return Named(kind, os.Getpid()) }

// Named names the process that has a number now; without a start when there
// is none.
func Named(kind string, pid int) backend.ProcessID {
	return backend.ProcessID{Kind: kind, PID: pid, Start: startOf(pid)}
}

// settings are the keys of the terminal section that matter here.
type settings struct {
	ShellInitFiles   []string `yaml:"shell_init_files"`
	AutoSourceBashrc bool     `yaml:"auto_source_bashrc"`
}

// Shell is the part of the environment of one task that runs commands.
type Shell struct {
	o     Options
	set   settings
	home  string
	shell string
	once  sync.Once // takes the snapshot
	snap  shellstate.Snapshot

	mu      sync.Mutex
	cwd     string
	vars    []string        // environment of the next command
	given   map[string]bool // names that o.Vars has named so far
	dump    string          // what vars were read from, to see that nothing changed
	closed  bool
	running map[*run]struct{}
}

// Env is a Shell with direct access to files.
type Env struct {
	*Shell
	Files
}

var (
	_ backend.Env        = (*Env)(nil)
	_ backend.FileSystem = (*Env)(nil)
	_ backend.Light      = (*Env)(nil)
	_ backend.Speaker    = (*Env)(nil)
)

// Open makes the environment of a task.
func Open(_ context.Context, o Options) (*Env, error) {
	sh, err := findShell()
	if err != nil {
		return nil, err
	}
	e := &Shell{o: o, shell: sh, set: settings{AutoSourceBashrc: true}, running: map[*run]struct{}{}}
	if o.Decode != nil {
		if err := o.Decode(&e.set); err != nil {
			return nil, fmt.Errorf("terminal settings: %w", err)
		}
	}
	vars := startVars(o.Options)
	e.home = shellstate.Value(vars, "HOME")
	if e.home == "" {
		if e.home, err = os.UserHomeDir(); err == nil {
			vars = append(vars, "HOME="+e.home)
		}
	}
	e.vars, e.given = vars, map[string]bool{}
	for _, v := range vars {
		name, _, _ := strings.Cut(v, "=")
		e.given[name] = true
	}
	if e.cwd, err = e.startDir(); err != nil {
		return nil, err
	}
	return &Env{e, Files{e.home}}, nil
}

func (e *Shell) startDir() (string, error) {
	dir := e.expand(e.o.Cwd)
	if dir == "" || dir == "." {
		return os.Getwd()
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("terminal directory: %w", err)
	}
	return dir, nil
}

// expand replaces a leading ~.
func (e *Shell) expand(dir string) string {
	if dir == "~" || strings.HasPrefix(dir, "~/") {
		return filepath.Join(e.home, dir[1:])
	}
	return dir
}

// startVars is the environment of the first command.
func startVars(o backend.Options) []string {
	var given []string
	if o.Vars != nil {
		given = o.Vars()
	} else {
		given = []string{"PATH=" + shellstate.SanePath, "LANG=C.UTF-8"}
	}
	vars := make([]string, 0, len(given)+2)
	for _, v := range given {
		switch name, _, _ := strings.Cut(v, "="); name {
		case "_", "SHLVL", "PWD", "OLDPWD": // the shell's own business
		default:
			vars = append(vars, v)
		}
	}
	return withSanePath(vars)
}

// late adds variables that were let through after the environment was opened,
// as those of a skill are. What a command has set or unset stays so. The caller
// holds the lock.
func (e *Shell) late() {
	if e.o.Vars == nil {
		return
	}
	for _, v := range e.o.Vars() {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "_", "SHLVL", "PWD", "OLDPWD":
			continue
		}
		if !e.given[name] {
			e.given[name] = true
			if shellstate.Value(e.vars, name) == "" {
				e.vars = append(e.vars[:len(e.vars):len(e.vars)], v)
			}
		}
	}
}

func (e *Shell) Cwd(context.Context) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.cwd, nil
}

// Language implements backend.Speaker.
func (e *Shell) Language() backend.Language {
	if shellstate.IsPowerShell(e.shell) {
		return backend.PowerShell
	}
	return backend.POSIX
}

// Light says that an idle environment is only a few strings.
func (e *Shell) Light() bool { return true }

// Close kills what still runs in the foreground.
func (e *Shell) Close(context.Context) error {
	e.mu.Lock()
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
		<-r.done
	}
	return nil
}

var errClosed = errors.New("the environment has been closed")

// place decides where a command runs. A directory asked for must exist; the
// task's own, when it has vanished, gives way to its nearest living parent.
func (e *Shell) place(asked string) (dir, note string, err error) {
	e.mu.Lock()
	cwd := e.cwd
	e.mu.Unlock()
	if asked != "" {
		dir = e.expand(asked)
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(cwd, dir)
		}
		info, err := os.Stat(dir)
		if err != nil {
			return "", "", fmt.Errorf("directory of the command: %w", err)
		}
		if !info.IsDir() {
			return "", "", fmt.Errorf("directory of the command: %s is not a directory", dir)
		}
		return filepath.Clean(dir), "", nil
	}
	for dir = cwd; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			break
		}
		if dir == filepath.Dir(dir) {
			dir = os.TempDir()
			break
		}
	}
	if dir != cwd {
		note = fmt.Sprintf("The working directory %s does not exist any more; the command ran in %s.", cwd, dir)
	}
	return dir, note, nil
}
