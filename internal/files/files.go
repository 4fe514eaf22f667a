// Package files is what the file tools share: how a path that a model wrote
// becomes a file of the task's environment, which files may not be read or
// written, what a task has seen of a file and who changed it since, and the
// one way in which a file is read for a change and written. It defines no tool
// and edits no text; internal/edit does.
package files

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/tool"
)

// Options are the settings of the file tools, offered as a service. Every zero
// means the default.
type Options struct {
	Home          string // the program's own directory; "": HERMES_HOME, else ~/.hermes
	MaxLines      int    // tool_output.max_lines: the most lines read at once; 2000
	MaxLineLength int    // tool_output.max_line_length, in characters; 2000
	MaxReadChars  int    // file_read_max_chars: the longest text read at once; 100000
}

func (o Options) withDefaults() Options {
	set := func(p *int, n int) {
		if *p <= 0 {
			*p = n
		}
	}
	set(&o.MaxLines, 2000)
	set(&o.MaxLineLength, 2000)
	set(&o.MaxReadChars, 100_000)
	return o
}

// Redactor is the service that masks secrets in text.
type Redactor interface{ Redact(text string) string }

// Checkpoints is the service that saves working trees before they are changed,
// and is told what was written. It is there where files are those of this machine.
type Checkpoints interface {
	Before(ctx context.Context, task, why string, names ...string)
	Wrote(name string, data []byte)
}

// View is what one call sees: the files of its task's environment, and what
// the task knows of them.
type View struct {
	Options
	Env   backend.Env
	FS    backend.FileSystem
	State *State

	// Why is what a checkpoint says of the change to come.
	Why string

	// Notices are what the model must be told with this result, whatever it is.
	Notices []string

	task   string
	cwd    string
	home   string   // "" when the environment does not know it
	homes  []string // the program's own directories, also with links resolved
	shared *shared
	vars   tool.Variables // nil: none
	redact Redactor       // nil: none
	saver  Checkpoints    // nil: none

	realHome string
}

// Open finds the environment of a session's task.
func Open(ctx context.Context, s *tool.Session) (*View, error) {
	pool, err := tool.Use[backend.Provider](s.Services)
	if err != nil {
		return nil, err
	}
	env, err := pool.Env(ctx, s.Key())
	if err != nil {
		return nil, fmt.Errorf("open the environment: %w", err)
	}
	v := &View{Env: env, task: s.Key(), State: states.Get(s), shared: sharedOf(s)}
	fsys, ok := env.(backend.FileSystem)
	if !ok {
		return nil, errors.New("this environment gives no direct access to its files: use the terminal")
	}
	v.FS = fsys
	if v.cwd, err = env.Cwd(ctx); err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	if o, err := tool.Use[Options](s.Services); err == nil {
		v.Options = o
	}
	v.Options = v.withDefaults()
	if vars, err := tool.Use[tool.Variables](s.Services); err == nil {
		v.vars = vars
	}
	if r, err := tool.Use[Redactor](s.Services); err == nil {
		v.redact = r
	}
	if c, err := tool.Use[Checkpoints](s.Services); err == nil {
		v.saver = c
	}
	v.findHomes(ctx)
	v.Notices = v.sweep(ctx)
	return v, nil
}

// findHomes lists the places whose files are guarded, by the names they have
// once links are resolved.
func (v *View) findHomes(ctx context.Context) {
	if home, err := v.FS.Home(ctx); err == nil && home != "" {
		v.home, v.realHome = home, home
		if real, err := v.FS.RealPath(ctx, home); err == nil {
			v.realHome = real
		}
	}
	add := func(dir string) {
		if dir == "" {
			return
		}
		v.homes = append(v.homes, v.clean(dir))
		if real, err := v.FS.RealPath(ctx, dir); err == nil && real != dir {
			v.homes = append(v.homes, real)
		}
	}
	add(v.Home)
	add(v.variable("HERMES_HOME"))
	if v.home != "" {
		add(v.join(v.home, ".hermes"))
	}
}

func (v *View) variable(name string) string {
	if v.vars == nil {
		return ""
	}
	value, _, _ := v.vars.Lookup(name)
	return strings.TrimSpace(value)
}

// Redact masks secrets in a text that the model is about to see; masked tells
// that it changed something.
func (v *View) Redact(text string) (out string, masked bool) {
	if v.redact == nil {
		return text, false
	}
	out = v.redact.Redact(text)
	return out, out != text
}

// before saves the trees of files that are about to be changed.
func (v *View) before(ctx context.Context, names ...string) {
	if v.saver != nil {
		v.saver.Before(ctx, v.task, v.Why, names...)
	}
}

// MaskedNote is what a result says when something in it was masked.
const MaskedNote = "Secret values are masked in this result (*** or the first and last characters). The file itself holds them in full: do not write masked text back, and leave those places out of old_string."
