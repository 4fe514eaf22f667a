package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hermes-go/hermes/internal/catalog"
	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/secret"
)

// Choice is a service and a model of it.
type Choice struct {
	Provider string // a service's id, or the name of an entry of providers
	Model    string
	BaseURL  string // for custom
}

// Edits are the changes to config.yaml that make a choice count. What belonged
// to another service (its address, key, wire, headers, window) goes with it.
func (c Choice) Edits(cfg *config.Config) []config.Edit {
	set := func(key, value string) config.Edit {
		return config.Edit{Key: "model." + key, Value: value, Kind: config.KindText}
	}
	edits := []config.Edit{set("default", c.Model)}
	same := sameProvider(cfg.String("model.provider"), c.Provider) && cmp.Or(c.BaseURL, cfg.String("model.base_url")) == cfg.String("model.base_url")
	if same {
		return edits
	}
	edits = append(edits, set("provider", c.Provider))
	if c.BaseURL != "" {
		edits = append(edits, set("base_url", c.BaseURL))
	}
	for _, key := range []string{"base_url", "api_key", "key_env", "api_mode", "headers", "context_length", "max_tokens", "model"} {
		if cfg.Has("model."+key) && !(key == "base_url" && c.BaseURL != "") {
			edits = append(edits, config.Edit{Key: "model." + key, Remove: true})
		}
	}
	return edits
}

func sameProvider(a, b string) bool {
	if a == b {
		return true
	}
	x, okX := provider.Lookup(a)
	y, okY := provider.Lookup(b)
	return okX && okY && x.Name == y.Name
}

// Offer is a service that a person can choose.
type Offer struct {
	Name   string // as model.provider has it
	Label  string
	Ready  bool   // has what it needs: a key, or needs none
	Why    string // where the key is, or what is missing
	Local  *LocalServer
	Kind   provider.Kind
	Named  bool // an entry of providers
	Models []string
}

// Offers lists the services: servers on this machine, endpoints of the
// person's own, services with a key, then all others by name.
func Offers(named []provider.Named, lookup func(string) (string, bool), local []LocalServer) []Offer {
	var first, ready, rest []Offer
	for _, s := range local {
		first = append(first, Offer{Name: "custom", Label: fmt.Sprintf("%s on this machine (%s)", s.Name, s.Model()), Ready: true, Why: s.URL, Local: &s, Models: s.Models})
	}
	for _, n := range named {
		o := Offer{Name: n.Key, Label: cmp.Or(n.Name, n.Key), Named: true, Why: n.BaseURL}
		_, err := provider.Resolve(provider.Wanted{Provider: n.Key, Model: "x", Named: named, Lookup: lookup})
		o.Ready = err == nil
		if n.Model != "" {
			o.Models = []string{n.Model}
		}
		first = append(first, o)
	}
	for _, k := range provider.All() {
		if k.Wire == provider.Offline {
			continue
		}
		o := Offer{Name: k.Name, Label: cmp.Or(k.Label, k.Name), Kind: k}
		for _, v := range k.Env {
			if value, _ := lookup(v.Name); secret.Usable(value) {
				o.Ready, o.Why = true, v.Name
				break
			}
		}
		switch {
		case o.Ready:
			ready = append(ready, o)
		case k.Name == "custom":
			o.Label = "Another address (OpenAI-compatible)"
			rest = append([]Offer{o}, rest...)
		case len(k.Env) > 0:
			o.Why = "needs " + k.Env[0].Name
			rest = append(rest, o)
		}
	}
	slices.SortStableFunc(rest, func(a, b Offer) int { return popular(a) - popular(b) })
	return slices.Concat(first, ready, rest)
}

// popular puts what most people look for first; the rest stays in order.
func popular(o Offer) int {
	if i := slices.Index([]string{"openrouter", "anthropic", "openai", "gemini", "deepseek", "custom"}, o.Name); i >= 0 {
		return i
	}
	return 100
}

// ModelsOf lists the models of an endpoint: what it says itself, else what the
// catalogue knows. live says which.
func ModelsOf(ctx context.Context, r provider.Resolved, list *catalog.Catalog) (names []string, live bool, err error) {
	models, err := provider.ListModels(ctx, r.Endpoint)
	if err == nil && len(models) > 0 {
		for _, m := range models {
			names = append(names, m.ID)
		}
		return names, true, nil
	}
	var refused *provider.Error
	if errors.As(err, &refused) && (refused.Status == 401 || refused.Status == 403) {
		return nil, false, err
	}
	for _, m := range list.Models(r.Kind.Name) {
		names = append(names, m.ID)
	}
	return names, false, err
}

// Money is a price per million tokens, as a person reads it.
func Money(m catalog.Model) string {
	if !m.Priced {
		return "price unknown"
	}
	if m.In == 0 && m.Out == 0 {
		return "free"
	}
	return fmt.Sprintf("$%s in, $%s out", trim(m.In), trim(m.Out))
}

func trim(f float64) string {
	s := fmt.Sprintf("%.4f", f)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// Tokens is a number of tokens, short.
func Tokens(n int) string {
	switch {
	case n <= 0:
		return "?"
	case n >= 1_000_000:
		return trim(float64(n/10_000)/100) + "M"
	case n >= 1000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}
