package backend

import (
	"context"
	"log/slog"
	"sync"

	"github.com/hermes-go/hermes/internal/registry"
	"github.com/hermes-go/hermes/secret"
)

// Kind describes one sort of environment.
type Kind struct {
	Name  string
	About string
	Env   []secret.Var // what setup asks for

	// Isolated kinds keep commands away from the user's machine.
	Isolated bool

	// SkillsAt is where commands find the skills of the home, when that is not
	// where they lie on this machine.
	SkillsAt string

	// Remote kinds run on other machines, which are asked over a network.
	Remote bool

	Probe func(ctx context.Context, o Options) error // nil error: usable; else the reason doctor prints

	// Level says what a usable kind really protects here; nil: nothing that would depend on the place.
	Level func(ctx context.Context, o Options) string

	Open func(ctx context.Context, o Options) (Env, error)

	// Alive and End find and end processes that an earlier run of the program
	// left; nil: the kind leaves none.
	Alive func(id ProcessID) bool
	End   func(ctx context.Context, id ProcessID) error
	Self  func() ProcessID // names this program, where it runs in the same place
}

// Options are what an environment is made of. Every field has a useful zero.
type Options struct {
	Task   string                   // the task the environment is for
	Cwd    string                   // where the first command starts; "": the kind's default
	Home   string                   // the program's own directory, for state that must outlive it
	Decode func(into any) error     // fills a kind's own options from the configuration; nil: defaults
	Vars   func() []string          // environment for commands, already freed of secrets; nil: see secret.ChildEnv
	Passed func() []string          // those of Vars that were let through by name, for places that do not get the rest; nil: none
	Lookup func(name string) string // keys and addresses of services; nil: there are none
	Bare   bool                     // start-up files of the shell are not read
	Files  func() []string          // credential files that the task's skills ask for, below Home; nil: none
	Log    *slog.Logger             // nil: nothing is logged
	Once   *Once                    // shared by the environments of one pool; nil: nothing is shared
}

// Once remembers values that are expensive to make and the same for every
// environment of a pool. The zero value is ready.
type Once struct {
	mu sync.Mutex
	by map[string]*once
}

type once struct {
	done  chan struct{}
	value any
	err   error
}

// Do returns the value of key, making it at the first call. A failure is not
// remembered.
func (m *Once) Do(ctx context.Context, key string, fill func() (any, error)) (any, error) {
	if m == nil {
		return fill()
	}
	m.mu.Lock()
	o := m.by[key]
	if o == nil {
		o = &once{done: make(chan struct{})}
		if m.by == nil {
			m.by = map[string]*once{}
		}
		m.by[key] = o
		m.mu.Unlock()
		o.value, o.err = fill()
		if o.err != nil {
			m.mu.Lock()
			delete(m.by, key)
			m.mu.Unlock()
		}
		close(o.done)
		return o.value, o.err
	}
	m.mu.Unlock()
	select {
	case <-o.done:
		return o.value, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

var kinds = registry.Of[Kind]{Name: func(k Kind) string { return k.Name }}

// Register adds a kind; from init only. It panics when the name is taken.
func Register(k Kind) { kinds.Register(k) }

// Lookup finds a kind by name.
func Lookup(name string) (Kind, bool) { return kinds.Lookup(name) }

// All returns every kind, sorted by name.
func All() []Kind { return kinds.All() }
