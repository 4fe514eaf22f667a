package provider

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Wanted is what configuration and flags ask for; all fields may be empty.
type Wanted struct {
	Provider string // a service's name or alias, a named endpoint's, "auto" or ""
	Model    string
	BaseURL  string
	APIKey   string
	APIMode  string
	Headers  http.Header
	Named    []Named // the endpoints under `providers:`

	// Lookup finds a variable's value; nil finds none.
	Lookup func(name string) (value string, ok bool)
}

// Named is an endpoint of the user's own, by its name in the configuration.
type Named struct {
	Key, Name string // the entry's key and what it calls itself
	BaseURL   string
	APIKey    string
	KeyEnv    string
	APIMode   string
	Model     string
	Window    int            // context window, 0 when not said
	Windows   map[string]int // by model
	Stall     time.Duration
	Timeout   time.Duration
	Headers   http.Header
}

// Resolved is where requests go.
type Resolved struct {
	Kind      Kind
	Endpoint  Endpoint
	Model     string // "" when a person must choose: see NoModel
	Source    string // where the key or the choice came from, for doctor and status
	Requested string
	Window    int // a context window that the configuration names, 0 when none
}

// SetupError says that no service can be used as asked, and what to do.
type SetupError struct {
	Provider string // what was asked for
	Problem  string
	Fix      string
}

func (e *SetupError) Error() string { return e.Problem + "; " + e.Fix }

const (
	fixSetup = "run `hermes setup`, or try without a key: `--provider offline`"
	fixModel = "run `hermes model` to choose one"
)

// Resolve decides the endpoint. It looks at nothing but w and the registered
// services. A key is used only for the address it belongs to: a service's
// variables for that service's host, an entry's key for the entry's URL.
func Resolve(w Wanted) (Resolved, error) {
	if w.Lookup == nil {
		w.Lookup = func(string) (string, bool) { return "", false }
	}
	w.Provider = strings.TrimSpace(w.Provider)
	w.BaseURL = cleanURL(w.BaseURL)
	source := "config"
	if w.Provider == "" {
		if w.Provider = w.value("HERMES_INFERENCE_PROVIDER"); w.Provider != "" {
			source = "HERMES_INFERENCE_PROVIDER"
		}
	}
	if w.BaseURL != "" {
		if u, err := url.Parse(w.BaseURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return Resolved{}, &SetupError{w.Provider, fmt.Sprintf("the base URL %q is no http(s) address", w.BaseURL), "set model.base_url to one like http://127.0.0.1:11434/v1"}
		}
	}
	if w.Provider == "" || w.Provider == "auto" {
		return w.auto()
	}
	return w.named(source)
}

func cleanURL(s string) string { return strings.TrimRight(strings.TrimSpace(s), "/") }

func (w *Wanted) value(name string) string {
	if name == "" {
		return ""
	}
	v, _ := w.Lookup(name)
	return strings.TrimSpace(v)
}

// usable tells a key from a placeholder.
func usable(key string) bool {
	key = strings.TrimSpace(key)
	if len(key) < 4 {
		return false
	}
	switch strings.ToLower(key) {
	case "****", "changeme", "your_api_key", "your-api-key", "placeholder", "example", "dummy", "null", "none":
		return false
	}
	return true
}

// named resolves a service that was asked for.
func (w *Wanted) named(source string) (Resolved, error) {
	asked := w.Provider
	k, builtin := Lookup(asked)
	if !builtin {
		k, builtin = Lookup(strings.ToLower(asked))
	}
	if !builtin || k.Name != strings.ToLower(asked) { // a mere alias does not hide an entry
		if n, ok := w.find(asked); ok {
			return w.entry(n, asked)
		}
	}
	if !builtin {
		return Resolved{}, &SetupError{asked, fmt.Sprintf("there is no provider %q", asked), "see `hermes model` for those there are, or describe it under providers: in config.yaml"}
	}
	return w.service(k, source)
}

// find looks for an entry by key, by the name it calls itself, or as
// custom:slug.
func (w *Wanted) find(name string) (Named, bool) {
	slug := func(s string) string { return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), " ", "-") }
	want := slug(strings.TrimPrefix(name, "custom:"))
	i := slices.IndexFunc(w.Named, func(n Named) bool { return n.Key == name })
	if i < 0 {
		i = slices.IndexFunc(w.Named, func(n Named) bool { return slug(n.Key) == want || n.Name != "" && slug(n.Name) == want })
	}
	if i < 0 {
		return Named{}, false
	}
	return w.Named[i], true
}

// entry resolves an endpoint of the user's own.
func (w *Wanted) entry(n Named, asked string) (Resolved, error) {
	k, _ := Lookup("custom")
	r := Resolved{Kind: k, Model: first(w.Model, n.Model), Requested: asked, Source: "providers." + n.Key}
	r.Window = n.Window
	if v := n.Windows[r.Model]; v > 0 {
		r.Window = v
	}
	base := cleanURL(n.BaseURL)
	if hostname(base) == "" {
		return Resolved{}, &SetupError{asked, fmt.Sprintf("providers.%s has no usable base_url", n.Key), "give it one with scheme and host"}
	}
	r.Endpoint = Endpoint{Kind: k, BaseURL: base, Stall: n.Stall, Timeout: n.Timeout, Headers: merged(n.Headers, w.Headers)}
	switch {
	case usable(n.APIKey):
		r.Endpoint.Key = n.APIKey
	case n.KeyEnv != "":
		if r.Endpoint.Key = w.value(n.KeyEnv); r.Endpoint.Key == "" && !r.Endpoint.Local() {
			return Resolved{}, &SetupError{asked, fmt.Sprintf("%s is not set, and providers.%s needs it", n.KeyEnv, n.Key), "run `hermes config set " + n.KeyEnv + " VALUE`"}
		}
		r.Source += " (" + n.KeyEnv + ")"
	default:
		r.Endpoint.Key, _ = w.keyFor(base)
	}
	r.Endpoint.Wire = mode(n.APIMode, base, k, r.Model)
	r.Endpoint.BaseURL = forWire(base, r.Endpoint.Wire)
	return r, nil
}

// service resolves a registered service.
func (w *Wanted) service(k Kind, source string) (Resolved, error) {
	r := Resolved{Kind: k, Model: first(w.Model, k.Default), Requested: w.Provider, Source: source}
	own := k.BaseURL
	if v := cleanURL(w.value(k.BaseURLEnv)); v != "" {
		own = v
	}
	base := first(w.BaseURL, own)
	if base == "" && k.Wire != Offline {
		fix := "set model.base_url in config.yaml"
		if k.BaseURLEnv != "" {
			fix += ", or " + k.BaseURLEnv
		}
		return Resolved{}, &SetupError{w.Provider, k.Name + " needs an address", fix}
	}
	key, from := w.APIKey, "api_key of the configuration"
	if !usable(key) {
		key, from = "", ""
		if hostOf(base) == hostOf(own) || hostOf(base) == hostOf(k.BaseURL) { // the variables are for this host and no other
			key, from = w.envKey(k)
		}
		if key == "" {
			key, from = w.keyFor(base)
		}
	}
	if key == "" && !k.Keyless && !localHost(hostname(base)) {
		return Resolved{}, w.noKey(k, base, own)
	}
	if from != "" {
		r.Source = from
	}
	if k.BaseFor != nil && w.BaseURL == "" && own == k.BaseURL {
		base = first(k.BaseFor(key), base)
	}
	r.Endpoint = Endpoint{Kind: k, BaseURL: base, Key: key, Headers: w.Headers}
	r.Endpoint.Wire = mode(w.APIMode, base, k, r.Model)
	r.Endpoint.BaseURL = forWire(base, r.Endpoint.Wire)
	return r, nil
}

func (w *Wanted) noKey(k Kind, base, own string) error {
	var names []string
	for _, v := range k.Env {
		names = append(names, v.Name)
	}
	if hostOf(base) != hostOf(own) {
		return &SetupError{w.Provider, fmt.Sprintf("there is no key for %s: those of %s are not sent elsewhere", hostOf(base), k.Name), "set model.api_key, or use provider custom"}
	}
	if len(names) == 0 {
		return &SetupError{w.Provider, k.Name + " needs a key", fixSetup}
	}
	return &SetupError{w.Provider, fmt.Sprintf("%s needs a key: %s is not set", k.Name, strings.Join(names, " or ")), fixSetup}
}

// envKey is the first usable key among a service's variables.
func (w *Wanted) envKey(k Kind) (key, source string) {
	for _, v := range k.Env {
		if key := w.value(v.Name); usable(key) {
			return key, v.Name
		}
	}
	return "", ""
}

// keyFor finds a key whose service lives at a URL's host.
func (w *Wanted) keyFor(base string) (key, source string) {
	host := hostOf(base)
	if host == "" {
		return "", ""
	}
	for _, k := range known().All() {
		if k.BaseURL != "" && hostOf(k.BaseURL) == host {
			if key, source := w.envKey(k); key != "" {
				return key, source
			}
		}
	}
	return "", ""
}

// auto finds a service when none is named: the one at a given URL, else the
// first in order that has a key.
func (w *Wanted) auto() (Resolved, error) {
	w.Provider = "auto"
	if w.BaseURL != "" {
		k, ok := Lookup("custom")
		for _, other := range All() {
			if other.BaseURL != "" && hostOf(other.BaseURL) == hostOf(w.BaseURL) {
				k, ok = other, true
				break
			}
		}
		if ok {
			return w.service(k, "model.base_url")
		}
	}
	ranked := slices.DeleteFunc(All(), func(k Kind) bool { return k.Rank <= 0 })
	slices.SortStableFunc(ranked, func(a, b Kind) int { return a.Rank - b.Rank })
	for _, k := range ranked {
		if key, _ := w.envKey(k); key != "" {
			return w.service(k, "auto")
		}
	}
	if usable(w.APIKey) {
		if k, ok := Lookup("openrouter"); ok {
			return w.service(k, "model.api_key")
		}
	}
	return Resolved{}, &SetupError{"auto", "no model service is set up", fixSetup}
}

// NoModel is the error for an endpoint without a model.
func (r *Resolved) NoModel() error {
	return &SetupError{r.Requested, "no model is chosen for " + r.Kind.Name, fixModel + ", or give one with --model"}
}

func first(list ...string) string {
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" {
			return s
		}
	}
	return ""
}

func merged(a, b http.Header) http.Header {
	if len(b) == 0 {
		return a
	}
	out := a.Clone()
	if out == nil {
		out = http.Header{}
	}
	for k, v := range b {
		out[k] = v
	}
	return out
}

// mode chooses the wire: the configuration's word, then what the address says,
// then the service's own.
func mode(said, base string, k Kind, model string) Wire {
	switch w := Wire(strings.TrimSpace(said)); w {
	case ChatCompletions, Responses, AnthropicMessages, Gemini, Offline:
		return w
	case "responses":
		return Responses
	case "anthropic":
		return AnthropicMessages
	case "openai", "chat":
		return ChatCompletions
	}
	if k.Wire == Offline {
		return Offline
	}
	if k.WireFor != nil {
		return k.WireFor(model)
	}
	u, err := url.Parse(base)
	if err != nil {
		return k.Wire
	}
	host, path := strings.ToLower(u.Hostname()), strings.TrimRight(u.Path, "/")
	switch {
	case host == "api.anthropic.com", strings.HasSuffix(path, "/anthropic"), host == "api.kimi.com" && strings.HasSuffix(path, "/coding"):
		return AnthropicMessages
	case host == "api.openai.com", host == "api.x.ai", host == "chatgpt.com" && strings.Contains(path, "/backend-api/codex"):
		return Responses
	case strings.HasSuffix(path, "/openai"):
		return ChatCompletions
	case host == "generativelanguage.googleapis.com":
		return Gemini
	}
	if k.Wire == AnthropicMessages && k.BaseURL != "" && strings.HasSuffix(k.BaseURL, "/anthropic") && hostOf(base) != hostOf(k.BaseURL) {
		return ChatCompletions
	}
	return k.Wire
}

// forWire drops the version that Anthropic's paths bring along themselves.
func forWire(base string, w Wire) string {
	if w == AnthropicMessages {
		return strings.TrimSuffix(base, "/v1")
	}
	return base
}
