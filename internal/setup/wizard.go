package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hermes-go/hermes/internal/catalog"
	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/secret"
)

// Asker puts the wizard's questions to a person. An error ends the wizard:
// ErrStop when the person wants no more of it.
type Asker interface {
	Choose(ctx context.Context, q Question, options []string, start int) (int, error)
	Line(ctx context.Context, q Question, value string) (string, error)
	Secret(ctx context.Context, q Question) (string, error)
	Say(text string) // a line of what was done or found
}

// Question is one thing to ask.
type Question struct {
	Title string
	Note  string                    // below it, may be empty
	Check func(answer string) error // refuses an answer; may be nil
}

// ErrStop says that the person left the wizard; what was saved stays.
var ErrStop = errors.New("setup was left; what was saved stays")

// Sections of the wizard, in order.
var sections = [...]struct{ name, title string }{
	{"model", "Model"}, {"terminal", "Terminal"}, {"agent", "Agent"}, {"tools", "Tools"},
}

// Sections names the wizard's sections.
func Sections() []string {
	names := make([]string, len(sections))
	for i, s := range sections {
		names[i] = s.name
	}
	return names
}

// Wizard asks for what a home needs and writes it at once, one answer at a
// time, so that leaving loses nothing.
type Wizard struct {
	Ask     Asker
	Home    string
	Secrets *secret.Store
	Vars    []secret.Var // declared by tools and backends
	Catalog *catalog.Catalog
	Local   func(context.Context) []LocalServer
	Lookup  func(string) (string, bool) // variables, with the keys of auth.json
	Named   []provider.Named

	saved bool // the file was backed up
}

// config reads the file as it is now: each answer changes it.
func (w *Wizard) config() (*config.Config, error) { return config.Load(w.Home, w.Secrets.Getenv) }

// Way is how the wizard goes about a home.
type Way struct {
	Sections []string // these only
	All      bool     // all of them in a row, with today's values to start from
	Missing  bool     // only what is not there yet
	Reset    bool     // begin with a new config.yaml; the old one is kept beside it
}

// Run goes through a home. Without a way a new one is asked for its model
// alone, and one that has a model gets a menu.
func (w *Wizard) Run(ctx context.Context, way Way) error {
	if by := secret.Managed(w.Home, w.Secrets.Getenv); by != "" {
		return fmt.Errorf("setup: %w by %s; change the settings there", secret.ErrManaged, by)
	}
	if err := config.CreateHome(w.Home, w.Secrets.Getenv, nil); err != nil {
		return err
	}
	if way.Reset {
		if err := w.reset(ctx); err != nil {
			return err
		}
	}
	if way.All {
		way.Sections = Sections()
	}
	switch {
	case len(way.Sections) > 0:
		for _, n := range way.Sections {
			if err := w.section(ctx, n); err != nil {
				return err
			}
		}
		return nil
	case way.Missing:
		return w.missing(ctx)
	}
	cfg, err := w.config()
	if err != nil {
		return err
	}
	if !chosen(cfg) {
		return w.section(ctx, "model")
	}
	return w.menu(ctx)
}

// chosen says whether a home has a model.
func chosen(cfg *config.Config) bool {
	return cfg.String("model.default") != "" || cfg.String("model.provider") != ""
}

// reset puts an empty configuration in the place of the one there is. Keys in
// .env and auth.json stay.
func (w *Wizard) reset(ctx context.Context) error {
	cfg, err := w.config()
	if err != nil {
		return err
	}
	i, err := w.Ask.Choose(ctx, Question{Title: "Begin with a new config.yaml?", Note: "The old one is kept beside it. Keys stay."}, []string{"No, keep it", "Yes"}, 0)
	if err != nil {
		return err
	}
	if i == 0 {
		return ErrStop
	}
	kept, err := config.Reset(cfg.Path(), time.Now())
	if err != nil {
		return err
	}
	if kept != "" {
		w.say("✓ the configuration begins anew; the old one is " + kept)
	}
	w.saved = true
	return nil
}

// missing asks for what a conversation needs and does not have, and for the
// keys of tools that are not set.
func (w *Wizard) missing(ctx context.Context) error {
	cfg, err := w.config()
	if err != nil {
		return err
	}
	asked := false
	if !chosen(cfg) {
		asked = true
		if err := w.section(ctx, "model"); err != nil {
			return err
		}
	} else if k, ok := provider.Lookup(cfg.String("model.provider")); ok && w.lacksKey(k) {
		asked = true
		if err := w.key(ctx, k); err != nil {
			return err
		}
	}
	for _, v := range w.toolVars() {
		if w.Secrets.Has(v.Name) {
			continue
		}
		asked = true
		if _, err := w.variable(ctx, v, nil); err != nil {
			return err
		}
	}
	if !asked {
		w.say("Nothing is missing.")
	}
	return nil
}

func (w *Wizard) lacksKey(k provider.Kind) bool {
	_, err := provider.Resolve(provider.Wanted{Provider: k.Name, Model: "any", Lookup: w.Lookup})
	return err != nil && len(k.Env) > 0 && k.Name != "custom"
}

// say tells the person something, without secrets that an error may quote.
func (w *Wizard) say(text string) { w.Ask.Say(w.Secrets.Redactor().Redact(text)) }

func (w *Wizard) menu(ctx context.Context) error {
	at := 0
	for {
		cfg, err := w.config()
		if err != nil {
			return err
		}
		state := map[string]string{
			"model":    cmp.Or(cfg.String("model.default"), "not chosen") + " of " + cmp.Or(cfg.String("model.provider"), "auto"),
			"terminal": cfg.String("terminal.backend"),
			"agent":    cfg.String("agent.max_turns") + " turns, approvals " + cfg.String("approvals.mode"),
			"tools":    fmt.Sprintf("%d keys", len(w.toolVars())),
		}
		options := []string{"Done"}
		for _, s := range sections {
			options = append(options, fmt.Sprintf("%s (%s)", s.title, state[s.name]))
		}
		i, err := w.Ask.Choose(ctx, Question{Title: "What do you want to change?"}, options, at)
		if err != nil || i == 0 {
			return err
		}
		if err := w.section(ctx, sections[i-1].name); err != nil {
			return err
		}
		at = 0
	}
}

func (w *Wizard) section(ctx context.Context, name string) error {
	switch name {
	case "model":
		return w.model(ctx)
	case "terminal":
		return w.terminal(ctx)
	case "agent":
		return w.agent(ctx)
	case "tools":
		return w.tools(ctx)
	}
	return fmt.Errorf("setup has no section %q; there are: %s", name, strings.Join(Sections(), ", "))
}

// apply writes changes and reads them back; a copy of the file as it was is
// kept before the first one.
func (w *Wizard) apply(edits ...config.Edit) error {
	cfg, err := w.config()
	if err != nil {
		return err
	}
	if !w.saved {
		if _, err := config.Backup(cfg.Path(), time.Now()); err != nil {
			return err
		}
		w.saved = true
	}
	changes, err := cfg.Apply(edits...)
	if err != nil {
		return err
	}
	for _, ch := range changes {
		if ch.Note != "" {
			w.say(ch.Note)
		}
	}
	return nil
}
