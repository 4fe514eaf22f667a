package app

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/internal/delegate"
	"github.com/hermes-go/hermes/internal/files"
	"github.com/hermes-go/hermes/internal/store"
	"github.com/hermes-go/hermes/tool"
)

// delegation is the configuration of children.
type delegation struct {
	Model         string `yaml:"model"`
	Provider      string `yaml:"provider"`
	BaseURL       string `yaml:"base_url"`
	APIKey        string `yaml:"api_key"`
	Effort        string `yaml:"reasoning_effort"`
	MaxIterations int    `yaml:"max_iterations"`
	Timeout       int    `yaml:"child_timeout_seconds"`
	Start         int    `yaml:"start_timeout_seconds"`
	MaxChildren   int    `yaml:"max_concurrent_children"`
	MaxDepth      int    `yaml:"max_spawn_depth"`
	Orchestrators bool   `yaml:"orchestrator_enabled"`
	AutoApprove   bool   `yaml:"subagent_auto_approve"`
}

func (a *App) delegation() delegation {
	d := delegation{MaxIterations: 50, Timeout: 600, Start: 30, MaxChildren: 3, MaxDepth: 1, Orchestrators: true}
	if err := config.Decode(a.Config, "delegation", &d); err != nil {
		a.Notice(err.Error())
	}
	const leastTimeout, mostDepth = 30, 3
	d.Timeout, d.Start, d.MaxChildren = max(d.Timeout, leastTimeout), max(d.Start, 1), max(d.MaxChildren, 1)
	d.MaxDepth = min(max(d.MaxDepth, 1), mostDepth)
	if d.MaxIterations <= 0 {
		d.MaxIterations = 50
	}
	return d
}

// mostAtOnce bounds how often one answer may call a tool.
func (a *App) mostAtOnce(name string) int {
	if name != "delegate_task" {
		return 0
	}
	return a.delegation().MaxChildren
}

// children makes the children of a conversation; every turn provides it anew.
type children struct {
	of    *Conversation
	depth int
}

var _ delegate.Spawner = (*children)(nil)

// Settings implements delegate.Spawner.
func (k *children) Settings() delegate.Settings {
	d := k.of.app.delegation()
	return delegate.Settings{
		MaxChildren: d.MaxChildren, MaxDepth: d.MaxDepth, Timeout: time.Duration(d.Timeout) * time.Second,
		Start: time.Duration(d.Start) * time.Second, Orchestrators: d.Orchestrators,
	}
}

// Depth implements delegate.Spawner.
func (k *children) Depth() int { return k.depth }

// Spawn implements delegate.Spawner. A child is a conversation below its parent:
// it has the parent's model, budget, account and approvals, and nobody to ask.
func (k *children) Spawn(ctx context.Context, s delegate.Spec) (*delegate.Child, error) {
	parent, a := k.of, k.of.app
	set := a.delegation()
	enabled, err := k.tools(s)
	if err != nil {
		return nil, err
	}
	in := parent.ask
	in.Interactive, in.Resume, in.Continue, in.Skills, in.IgnoreRules = false, "", false, nil, true
	c := parent.beside(store.NewID(time.Now()), s.ID)
	c.ask, c.parent, c.depth, c.account = in, parent, s.Depth, parent.account
	c.Interactive, c.MaxCalls, c.Tree, c.Enabled = false, set.MaxIterations, parent.Tree, enabled
	if c.Approvals = parent.Approvals; set.AutoApprove {
		c.Approvals = a.gate(true)
	}
	tool.ProvideAs(c.Services, a.nearby(in))
	if set.Provider != "" || set.Model != "" || set.BaseURL != "" {
		m, err := a.childModel(in, set, parent.Model)
		if err != nil {
			return nil, fmt.Errorf("the model of children (delegation.*): %w", err)
		}
		c.Client, c.Model, c.Options, c.Window, c.Provider = m.client, m.name, m.options, m.window, m.provider
	}
	if set.Effort != "" {
		c.Options.Effort = set.Effort
	}
	watch := delegate.NewWatch()
	c.Client = watch.Client(c.Client)
	c.System = delegate.System(s, a.WorkDir)
	return &delegate.Child{
		Session: c.ID, Model: c.Model, Tools: enabled, Watch: watch,
		Turn:   func(ctx context.Context) iter.Seq2[agent.Event, error] { return c.Turn(ctx, delegate.Task(s)) },
		Writes: k.writes,
		Stale:  func(paths []string) []string { return files.Seen(parent.Session.Session, paths) },
		Kill:   func(ctx context.Context) error { return a.pool.End(ctx, s.ID) },
		Close:  func(ctx context.Context) error { return c.End(ctx, store.EndDelegated) },
	}, nil
}

// childModel is the model that the configuration has for children.
func (a *App) childModel(in Ask, set delegation, parent string) (*model, error) {
	in.Provider, in.Model, in.Script = set.Provider, set.Model, ""
	if set.BaseURL != "" {
		in.endpoint = &endpoint{set.BaseURL, set.APIKey}
		in.Provider, in.Model = "custom", first(set.Model, parent)
	}
	return a.resolveModel(in)
}

// tools are what a child has: of the parent's, those of the toolsets asked for,
// without those that no child has.
func (k *children) tools(s delegate.Spec) ([]string, error) {
	wanted := map[string]bool{}
	if s.Toolsets != nil {
		table, err := k.of.app.Toolsets()
		if err != nil {
			return nil, err
		}
		for _, name := range s.Toolsets {
			names, err := table.Resolve(name)
			if err != nil {
				return nil, fmt.Errorf("toolset %q: %w", name, err)
			}
			for _, n := range names {
				wanted[n] = true
			}
		}
	}
	enabled := []string{} // an empty list is no tools, not all of them
	for _, name := range k.of.Enabled {
		switch {
		case delegate.Withholds(name, s.Orchestrator):
		case s.Toolsets == nil || wanted[name] || name == "delegate_task":
			enabled = append(enabled, name)
		}
	}
	if len(enabled) == 0 && s.Toolsets != nil {
		return nil, fmt.Errorf("none of the toolsets %s has a tool that this conversation may hand on", strings.Join(s.Toolsets, ", "))
	}
	return enabled, nil
}

// writes lists the files that a call writes, by what its tool declares.
func (k *children) writes(name string, args json.RawMessage) (out []string) {
	t, ok := k.of.app.Registry.Lookup(name)
	if !ok || t.Effects == nil {
		return nil
	}
	defer func() {
		if recover() != nil { // arguments it did not expect
			out = nil
		}
	}()
	for _, e := range t.Effects(args) {
		path, isFile := strings.CutPrefix(e.Key, "file:")
		if !isFile || !e.Write || path == "." || path == "/" || path == "~" {
			continue
		}
		if !filepath.IsAbs(path) && !strings.HasPrefix(path, "~") {
			path = filepath.Join(k.of.app.WorkDir, path)
		}
		if !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out
}
