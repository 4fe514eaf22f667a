// Package compat speaks Chat Completions, the format that nearly every model
// service offers, and holds the table of the services: a row each, with its
// address, its keys and its quirks. Services that are reached by another
// format have their row here as well; the formats are in the folders beside.
package compat

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/hermes-go/hermes/internal/wire"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/secret"
)

func init() {
	provider.RegisterFormat(provider.Format{Wire: provider.ChatCompletions, Open: open, Models: models})
	provider.RegisterTable(services)
}

func services() []provider.Kind {
	list := make([]provider.Kind, len(table))
	for i := range table {
		list[i] = table[i].kind(i + 1)
	}
	return list
}

// kind makes the public description of a row. rank is its place.
func (r *row) kind(rank int) provider.Kind {
	k := provider.Kind{
		Name: r.name, Aliases: r.aliases, Label: r.label, Wire: r.wire, WireFor: r.wireFor, BaseURL: r.base, BaseURLEnv: r.baseEnv,
		BaseFor: r.baseFor, Small: r.small, Keyless: r.keyless, Rank: rank,
	}
	if k.Wire == "" {
		k.Wire = provider.ChatCompletions
	}
	if r.unasked {
		k.Rank = 0
	}
	k.Env = make([]secret.Var, len(r.keys))
	for i, name := range r.keys {
		k.Env[i] = secret.Var{Name: name, About: r.label + " API key", URL: r.site, Category: secret.Provider, Secret: true, Advanced: i > 0}
	}
	return k
}

func open(_ context.Context, e provider.Endpoint) (provider.Client, error) {
	if e.BaseURL == "" {
		return nil, fmt.Errorf("open provider %s: it has no base URL", e.Kind.Name)
	}
	return wire.New(e, &format{e: e, row: rowFor(e)}), nil
}

// format is Chat Completions as one endpoint wants it.
type format struct {
	e   provider.Endpoint
	row *row

	tools wire.Kept[[]wire.Tool]
	first wire.Kept[system]
}

func (f *format) Dialect(string) provider.Dialect {
	switch f.row.name {
	case "openai", "azure-foundry":
		return provider.DialectOpenAI
	case "gemini":
		return provider.DialectGemini
	}
	return provider.DialectCommon
}

func (f *format) header(r *provider.Request) http.Header {
	h := wire.NewHeader(f.e)
	if f.row.keyHeader != "" {
		if f.e.Key != "" && h.Get(f.row.keyHeader) == "" {
			h.Set(f.row.keyHeader, f.e.Key)
		}
	} else {
		wire.Bearer(h, f.e)
	}
	for i := 0; i+1 < len(f.row.headers); i += 2 {
		if h.Get(f.row.headers[i]) == "" {
			h.Set(f.row.headers[i], f.row.headers[i+1])
		}
	}
	if f.row.sessionHeader != "" && r != nil && r.Options.SessionID != "" {
		h.Set(f.row.sessionHeader, r.Options.SessionID)
	}
	return h
}

// address joins a path to the base, which some people copy with the path on.
func address(base, path string) string {
	base, query, _ := strings.Cut(base, "?")
	base = strings.TrimSuffix(strings.TrimRight(base, "/"), "/chat/completions")
	if query != "" {
		query = "?" + query // Azure's api-version
	}
	return base + path + query
}

func models(ctx context.Context, e provider.Endpoint) ([]provider.Model, error) {
	f := &format{e: e, row: rowFor(e)}
	body, err := wire.Get(ctx, e, address(e.BaseURL, "/models"), f.header(nil))
	if err != nil {
		return nil, fmt.Errorf("list models of %s: %w", e.Kind.Name, err)
	}
	var list struct {
		Data []json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		if json.Unmarshal(body, &list.Data) != nil { // some answer with the bare list
			return nil, fmt.Errorf("list models of %s: %w", e.Kind.Name, err)
		}
	}
	out := make([]provider.Model, 0, len(list.Data))
	for _, raw := range list.Data {
		if m := model(wire.Fields(raw)); m.ID != "" {
			out = append(out, m)
		}
	}
	return out, nil
}

// model reads an entry; services call the window by many names.
func model(fields map[string]json.RawMessage) provider.Model {
	num := func(m map[string]json.RawMessage, names ...string) int {
		for _, n := range names {
			var v float64
			if json.Unmarshal(m[n], &v) == nil && v > 0 {
				return int(v)
			}
		}
		return 0
	}
	windows := []string{"context_length", "context_window", "max_model_len", "max_context_length", "max_context_tokens", "n_ctx", "n_ctx_train"}
	m := provider.Model{ID: wire.TextOf(fields["id"]), ContextWindow: num(fields, windows...)}
	m.MaxOutput = num(fields, "max_output_tokens", "max_completion_tokens")
	for _, part := range []string{"top_provider", "meta", "limits"} {
		in := wire.Fields(fields[part])
		if m.ContextWindow == 0 {
			m.ContextWindow = num(in, windows...)
		}
		if m.MaxOutput == 0 {
			m.MaxOutput = num(in, "max_completion_tokens", "max_output_tokens")
		}
	}
	return m
}
