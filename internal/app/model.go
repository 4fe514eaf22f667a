package app

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/provider"
)

// model is a client with what a session needs to know about it.
type model struct {
	client   provider.Client
	name     string
	provider string
	window   int
	local    bool // on this machine
	options  provider.Options
	notices  []string
}

// modelConfig is the `model` subtree.
type modelConfig struct {
	Default       string            `yaml:"default"`
	Model         string            `yaml:"model"`
	Provider      string            `yaml:"provider"`
	BaseURL       string            `yaml:"base_url"`
	APIKey        string            `yaml:"api_key"`
	KeyEnv        string            `yaml:"key_env"`
	APIMode       string            `yaml:"api_mode"`
	ContextLength int               `yaml:"context_length"`
	MaxTokens     int               `yaml:"max_tokens"`
	Headers       map[string]string `yaml:"headers"`
}

// fallbackEntry is one of `fallback_providers`.
type fallbackEntry struct {
	Provider string `yaml:"provider"`
	Model    string `yaml:"model"`
	BaseURL  string `yaml:"base_url"`
	APIKey   string `yaml:"api_key"`
	KeyEnv   string `yaml:"key_env"`
}

// resolveModel decides which service and model a conversation uses. What the
// flags name replaces what the configuration says, all of it: a key or address
// of one service is never combined with another.
func (a *App) resolveModel(in Ask) (*model, error) {
	w, cfg, err := a.wanted(in)
	if err != nil {
		return nil, err
	}
	r, err := a.resolve(w, in)
	if err != nil {
		return nil, err
	}
	if r.Model == "" && r.Endpoint.Local() {
		if r.Model, err = onlyModel(r); err != nil {
			return nil, err
		}
	}
	if r.Model == "" {
		if in.Provider != "" {
			return nil, usage("%v", r.NoModel())
		}
		return nil, r.NoModel()
	}
	m := &model{name: r.Model, provider: r.Kind.Name, local: r.Endpoint.Local() || r.Endpoint.Wire == provider.Offline}
	fallbacks, err := a.fallbacks(w.Named)
	if err != nil {
		return nil, err
	}
	policy := provider.RetryPolicy{Attempts: a.number("agent.api_max_retries", 3), Eager: len(fallbacks) > 0}
	if m.client, err = a.openClient(r, in.Script, policy); err != nil {
		return nil, err
	}
	if len(fallbacks) > 0 {
		m.client = a.withFallbacks(m.client, r, fallbacks, policy)
	}
	if own := first(cfg.Default, cfg.Model); (own == "" || r.Model == own) && (in.Provider == "" || sameService(in.Provider, cfg.Provider)) {
		m.window = cfg.ContextLength // what is set for one model says nothing of another
	}
	if m.window == 0 {
		m.window = r.Window
	}
	if m.window == 0 {
		m.window = a.window(r)
	}
	m.options = provider.Options{MaxTokens: cfg.MaxTokens, Effort: a.Config.String("agent.reasoning_effort"), CacheTTL: a.Config.String("prompt_caching.cache_ttl")}
	if m.options.CacheTTL == "" {
		m.options.CacheTTL = "5m"
	}
	return m, nil
}

// wanted is what configuration and flags ask for together.
func (a *App) wanted(in Ask) (w provider.Wanted, cfg modelConfig, err error) {
	if err := config.Decode(a.Config, "model", &cfg); err != nil {
		return w, cfg, err
	}
	w = provider.Wanted{Provider: cfg.Provider, Model: first(cfg.Default, cfg.Model), BaseURL: cfg.BaseURL, APIKey: cfg.APIKey, APIMode: cfg.APIMode, Lookup: a.Getenv}
	if w.APIKey == "" && cfg.KeyEnv != "" {
		w.APIKey = a.Secrets.Get(cfg.KeyEnv)
	}
	for name, value := range cfg.Headers {
		if w.Headers == nil {
			w.Headers = http.Header{}
		}
		w.Headers.Set(name, value)
	}
	if in.endpoint != nil {
		w = provider.Wanted{Provider: "custom", Model: in.Model, BaseURL: in.endpoint.url, APIKey: in.endpoint.key, Lookup: a.Getenv}
		return w, cfg, nil
	}
	name, service := in.Model, in.Provider
	if service == "" && name != "" {
		service, name = a.splitModel(name)
	}
	if service != "" && !sameService(service, cfg.Provider) {
		w = provider.Wanted{Provider: service, Lookup: a.Getenv}
	}
	if name != "" {
		w.Model = name
	}
	w.Named, err = a.named()
	return w, cfg, err
}

// openClient opens a resolved endpoint with its retries.
func (a *App) openClient(r provider.Resolved, script string, policy provider.RetryPolicy) (provider.Client, error) {
	r.Endpoint.Script = script
	if script != "" && r.Endpoint.Wire != provider.Offline {
		return nil, usage("--script is for the offline model; add --provider offline")
	}
	client, err := a.sharedClient(r)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", r.Kind.Name, err)
	}
	return provider.Retrying(a.metered(client, r), policy), nil
}

// sharedClient is the one client of an endpoint: what it has learned of the
// service, its state of the keys and its translated schemas serve every
// conversation. A script is played from its start for each.
func (a *App) sharedClient(r provider.Resolved) (provider.Client, error) {
	e := r.Endpoint
	if e.Wire == provider.Offline {
		return a.openPool(r)
	}
	key := fmt.Sprint(e.Kind.Name, e.Wire, e.BaseURL, e.Key, e.Headers, e.Stall, e.Timeout)
	a.clientsMu.Lock()
	defer a.clientsMu.Unlock()
	if c, ok := a.clients[key]; ok {
		return c, nil
	}
	c, err := a.openPool(r)
	if err == nil {
		a.clients[key] = c
	}
	return c, err
}

// withFallbacks puts the configured services behind the first one.
func (a *App) withFallbacks(main provider.Client, r provider.Resolved, behind []provider.Resolved, policy provider.RetryPolicy) provider.Client {
	targets := []provider.Target{{Label: r.Kind.Name, Open: func(context.Context) (provider.Client, error) { return main, nil }}}
	for i, f := range behind {
		p := policy
		p.Eager = i < len(behind)-1
		targets = append(targets, provider.Target{Label: f.Kind.Name, Model: f.Model, Open: func(context.Context) (provider.Client, error) {
			return a.openClient(f, "", p)
		}})
	}
	return provider.Fallback(provider.FallbackOptions{}, targets...)
}

// onlyModel asks a local server without a configured model what it has.
func onlyModel(r provider.Resolved) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	models, err := provider.ListModels(ctx, r.Endpoint)
	if err != nil {
		return "", fmt.Errorf("no model is chosen, and %s did not list its models: %w; give one with --model", r.Endpoint.BaseURL, err)
	}
	if len(models) == 1 {
		return models[0].ID, nil
	}
	names := make([]string, len(models))
	for i, m := range models {
		names[i] = m.ID
	}
	return "", usage("%s has %d models; choose one with --model: %s", r.Endpoint.BaseURL, len(models), strings.Join(names, ", "))
}

// splitModel reads "provider/model" when the first part names a service.
func (a *App) splitModel(name string) (service, model string) {
	head, rest, ok := strings.Cut(name, "/")
	if !ok {
		return "", name
	}
	if k, known := provider.Lookup(head); known && k.Wire != "" && k.Name == head && !aggregator(a.Config.String("model.provider")) {
		return head, rest
	}
	return "", name
}

// aggregator services have model names with a slash of their own.
func aggregator(name string) bool {
	switch name {
	case "openrouter", "nous", "ai-gateway", "kilocode", "huggingface", "custom":
		return true
	}
	return false
}

func sameService(a, b string) bool {
	if a == b {
		return true
	}
	x, okX := provider.Lookup(a)
	y, okY := provider.Lookup(b)
	return okX && okY && x.Name == y.Name
}

// namedConfig is an entry of `providers`.
type namedConfig struct {
	Name         string            `yaml:"name"`
	API          string            `yaml:"api"`
	URL          string            `yaml:"url"`
	BaseURL      string            `yaml:"base_url"`
	APIKey       string            `yaml:"api_key"`
	KeyEnv       string            `yaml:"key_env"`
	APIKeyEnv    string            `yaml:"api_key_env"`
	APIMode      string            `yaml:"api_mode"`
	Transport    string            `yaml:"transport"`
	DefaultModel string            `yaml:"default_model"`
	Model        string            `yaml:"model"`
	Window       int               `yaml:"context_length"`
	Timeout      time.Duration     `yaml:"request_timeout_seconds"`
	Stall        time.Duration     `yaml:"stale_timeout_seconds"`
	Headers      map[string]string `yaml:"headers"`
}

func (a *App) named() ([]provider.Named, error) {
	var all []provider.Named
	for _, key := range a.Config.Keys("providers") {
		var c namedConfig
		if err := config.Decode(a.Config, config.JoinPath([]string{"providers", key}), &c); err != nil {
			return nil, err
		}
		n := provider.Named{
			Key: key, Name: c.Name, BaseURL: first(c.BaseURL, c.URL, c.API), APIKey: c.APIKey, KeyEnv: first(c.KeyEnv, c.APIKeyEnv),
			APIMode: first(c.APIMode, c.Transport), Model: first(c.DefaultModel, c.Model), Window: c.Window, Timeout: c.Timeout, Stall: c.Stall,
		}
		for name, value := range c.Headers {
			if n.Headers == nil {
				n.Headers = http.Header{}
			}
			n.Headers.Set(name, value)
		}
		all = append(all, n)
	}
	return all, nil
}

func (a *App) fallbacks(named []provider.Named) ([]provider.Resolved, error) {
	var entries []fallbackEntry
	if err := config.Decode(a.Config, "fallback_providers", &entries); err != nil {
		return nil, err
	}
	var usable []provider.Resolved
	for i, f := range entries {
		if f.Provider == "" || f.Model == "" {
			a.Notice(fmt.Sprintf("fallback_providers.%d needs provider and model; it is left out", i))
			continue
		}
		key := f.APIKey
		if key == "" && f.KeyEnv != "" {
			key = a.Secrets.Get(f.KeyEnv)
		}
		r, err := provider.Resolve(provider.Wanted{Provider: f.Provider, Model: f.Model, BaseURL: f.BaseURL, APIKey: key, Named: named, Lookup: a.Getenv})
		if err != nil {
			a.Notice(fmt.Sprintf("fallback_providers.%d is left out: %v", i, err))
			continue
		}
		usable = append(usable, r)
	}
	return usable, nil
}

// auxClient resolves a slot of side calls.
func (a *App) auxClient(slot agent.Slot) (provider.Client, string, error) {
	in := Ask{Provider: a.Config.String("auxiliary." + string(slot) + ".provider"), Model: a.Config.String("auxiliary." + string(slot) + ".model")}
	if in.Provider == "auto" || in.Provider == "main" {
		in.Provider = ""
	}
	m, err := a.resolveModel(in)
	if err != nil {
		return nil, "", err
	}
	return m.client, m.name, nil
}

// UsageError is a mistake in what was asked for.
type UsageError struct{ text string }

func (e *UsageError) Error() string { return e.text }

func usage(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

func first(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}
