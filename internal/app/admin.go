package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/internal/setup"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/secret"
	"github.com/hermes-go/hermes/tool"
)

// autoLocal as model.provider means: whatever model server runs on this
// machine.
const autoLocal = "auto-local"

// resolve is provider.Resolve, and behind it the search for a server on this
// machine: when nothing else is set up and the front wants it, or when the
// configuration says auto-local.
func (a *App) resolve(w provider.Wanted, in Ask) (provider.Resolved, error) {
	always := w.Provider == autoLocal
	if !always {
		r, err := provider.Resolve(w)
		var missing *provider.SetupError
		if err == nil || !in.Discover || !errors.As(err, &missing) || missing.Provider != "auto" {
			return r, err
		}
		if a.Config.Has("model") { // something was set up, and it is that which is wrong
			return r, err
		}
	}
	found := setup.FindLocal(context.Background(), a.Secrets.Getenv)
	if len(found) == 0 {
		if always {
			return provider.Resolved{}, &provider.SetupError{Provider: autoLocal, Problem: "no model server runs on this machine (looked on the usual ports of 127.0.0.1)", Fix: "start one, or set its address: hermes config set model.base_url URL"}
		}
		w.Provider = "auto"
		return provider.Resolve(w)
	}
	s := found[0]
	w.Provider, w.BaseURL = "custom", s.URL
	if w.Model == "" {
		w.Model = s.Model()
		if !always {
			a.Notice(fmt.Sprintf("nothing is set up; using %s of %s at %s (keep it, or choose another: hermes setup)", w.Model, s.Name, s.URL))
		}
	}
	return provider.Resolve(w)
}

// Resolve is where a conversation would send its requests, with nothing asked
// and nothing opened.
func (a *App) Resolve(service, name string) (provider.Resolved, error) {
	w, _, err := a.wanted(Ask{Provider: service, Model: name})
	if err != nil {
		return provider.Resolved{}, err
	}
	return a.resolve(w, Ask{})
}

// Named are the endpoints of the person's own.
func (a *App) Named() ([]provider.Named, error) { return a.named() }

// Fallbacks resolves every entry of the chain; errs holds why an entry cannot
// be used, by its place.
func (a *App) Fallbacks() (entries []Fallback, err error) {
	var list []fallbackEntry
	if err := config.Decode(a.Config, "fallback_providers", &list); err != nil {
		return nil, err
	}
	named, err := a.named()
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		e := Fallback{Provider: strings.TrimSpace(f.Provider), Model: f.Model, BaseURL: f.BaseURL}
		key := f.APIKey
		if key == "" && f.KeyEnv != "" {
			key = a.Secrets.Get(f.KeyEnv)
		}
		if e.Provider == "" || e.Model == "" {
			e.Err = errors.New("it needs provider and model")
		} else {
			_, e.Err = provider.Resolve(provider.Wanted{Provider: f.Provider, Model: f.Model, BaseURL: f.BaseURL, APIKey: key, Named: named, Lookup: a.Getenv})
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// Fallback is an entry of fallback_providers.
type Fallback struct {
	Provider, Model, BaseURL string
	Err                      error // why it cannot be used
}

// Examined is this home as doctor looks at it. offline leaves other machines
// alone.
func (a *App) Examined(place config.Place, offline bool) setup.Examined {
	_, authErr := setup.ReadAuth(a.Home)
	return setup.Examined{
		Home: a.Home, Root: place.Root, Profile: place.Profile, Config: a.Config, Secrets: a.Secrets, Auth: a.logins(), AuthErr: authErr,
		Resolve: func() (provider.Resolved, error) { return a.Resolve("", "") }, Lookup: a.Getenv, Offline: offline,
		Fallbacks: func() ([]setup.FallbackState, error) {
			list, err := a.Fallbacks()
			var out []setup.FallbackState
			for _, f := range list {
				out = append(out, setup.FallbackState{Label: f.Provider + "/" + f.Model, Err: f.Err})
			}
			return out, err
		},
		Tools: func(ctx context.Context) ([]setup.ToolState, error) {
			rows, err := a.ToolRows(ctx, "cli")
			var out []setup.ToolState
			for _, r := range rows {
				out = append(out, setup.ToolState{Name: r.Name, Toolset: r.Toolset, Reason: r.Reason, Enabled: r.Enabled, Available: r.Available, Env: r.RequiresEnv})
			}
			return out, err
		},
		Store: a.StoreState,
		Backend: func() (backend.Kind, backend.Options, error) {
			name := first(a.Config.String("terminal.backend"), "local")
			kind, ok := backend.Lookup(name)
			if !ok {
				return kind, backend.Options{}, fmt.Errorf("terminal.backend %q is not known", name)
			}
			cwd := a.Config.String("terminal.cwd")
			if cwd == "." {
				cwd = ""
			}
			return kind, backend.Options{Home: a.Home, Cwd: cwd, Log: a.Log, Lookup: a.Secrets.Get, Decode: func(into any) error { return config.Decode(a.Config, "terminal", into) }}, nil
		},
	}
}

// StoreState says what the session store holds, without making one.
func (a *App) StoreState(ctx context.Context) (string, error) {
	info, err := os.Stat(filepath.Join(a.Home, "state.db"))
	if errors.Is(err, fs.ErrNotExist) {
		return "no conversation yet", nil
	}
	if err != nil {
		return "", err
	}
	db, err := a.DB()
	if err != nil {
		return "", err
	}
	s, err := db.Stats(ctx, time.Time{})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d sessions, %d messages, %.1f MB", s.Sessions, s.Messages, float64(info.Size())/(1<<20)), nil
}

// window is how much a model takes, by the catalogue, else by its name.
func (a *App) window(r provider.Resolved) int {
	if m, ok := a.prices().Find(r.Kind.Name, r.Model); ok && m.Window > 0 {
		return m.Window
	}
	return provider.ContextWindow(r.Model)
}

// DeclaredVars lists the variables that the parts of the program declare,
// without opening a home.
func DeclaredVars() []secret.Var { return declaredVars(tool.Builtin()) }
