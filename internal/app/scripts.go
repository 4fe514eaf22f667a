package app

import (
	"context"
	"errors"
	"sync"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/config"
)

// scriptTools are the tools that generated code may call, of those that its
// session has.
var scriptTools = [...]string{"web_search", "web_extract", "read_file", "write_file", "search_files", "patch", "terminal"}

// scripts says where generated code runs: where commands do, but on this
// machine confined by the kernel where that is possible, and with an
// environment in which nothing is secret.
type scripts struct {
	app *App

	once     sync.Once
	confined backend.Kind
	whyNot   error
}

// kind finds the sandbox, once.
func (s *scripts) kind(ctx context.Context) (backend.Kind, error) {
	s.once.Do(func() {
		k, ok := backend.Lookup("sandbox")
		switch {
		case !ok:
			s.whyNot = errors.New("the sandbox is not built into this program")
		case !s.ScriptSettings().Sandbox:
			s.whyNot = errors.New("code_execution.sandbox is false")
		default:
			s.confined, s.whyNot = k, k.Probe(ctx, backend.Options{})
		}
	})
	return s.confined, s.whyNot
}

// ScriptSettings implements backend.ScriptHost.
func (s *scripts) ScriptSettings() backend.ScriptSettings {
	set := backend.DefaultScriptSettings()
	if err := config.Decode(s.app.Config, "code_execution", &set); err != nil {
		s.app.Notice(err.Error())
	}
	set.Timezone = first(s.app.Secrets.Get("HERMES_TIMEZONE"), s.app.Config.String("timezone"))
	return set
}

// ScriptPlace implements backend.ScriptHost.
func (s *scripts) ScriptPlace(ctx context.Context, task string) (backend.ScriptPlace, error) {
	a := s.app
	active := first(a.Config.String("terminal.backend"), "local")
	env, err := a.pool.Env(ctx, task)
	if err != nil {
		return backend.ScriptPlace{}, err
	}
	if active != "local" && active != "sandbox" {
		p := backend.ScriptPlace{Env: env, Why: "it would run by the " + active + " backend"}
		if i, ok := env.(backend.Isolated); ok {
			p.Confined = i.Isolated()
		}
		return p, nil
	}
	dir, err := env.Cwd(ctx)
	if err != nil {
		return backend.ScriptPlace{}, err
	}
	p := backend.ScriptPlace{Here: true, Dir: dir}
	kind, err := s.kind(ctx)
	if p.Confined = err == nil; err != nil {
		if active == "sandbox" {
			return p, err
		}
		p.Why = err.Error()
		kind, _ = backend.Lookup("local")
	}
	p.Env, err = kind.Open(ctx, backend.Options{
		Task: task, Cwd: dir, Home: a.Home, Log: a.Log, Bare: true, Once: &a.once,
		Decode: func(into any) error { return config.Decode(a.Config, "terminal", into) },
		Vars:   func() []string { return a.scriptEnv(task) },
	})
	if err != nil {
		return p, err
	}
	p.Close = func() {
		if err := p.Env.Close(context.WithoutCancel(ctx)); err != nil {
			a.Log.Warn("environment of a script not closed", "err", err)
		}
	}
	return p, nil
}

// scriptEnv is the environment of generated code: only names known to be
// harmless, and what was let through by name.
func (a *App) scriptEnv(task string) []string {
	names := a.passedNames(task)
	env, refused := a.Secrets.ScriptEnv(a.Environ, names)
	return a.fromDotEnv(env, names, refused)
}
