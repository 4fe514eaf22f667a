// Package responses speaks OpenAI's Responses format, statelessly: nothing is
// stored at the service, and what it must know of earlier turns, encrypted
// reasoning included, is sent along each time. The services are rows of
// providers/compat.
package responses

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/hermes-go/hermes/internal/wire"
	"github.com/hermes-go/hermes/provider"
)

func init() {
	provider.RegisterFormat(provider.Format{Wire: provider.Responses, Open: open, Models: models})
}

func open(_ context.Context, e provider.Endpoint) (provider.Client, error) {
	if e.BaseURL == "" {
		return nil, fmt.Errorf("open provider %s: it has no base URL", e.Kind.Name)
	}
	return wire.New(e, &format{e}), nil
}

type format struct {
	e provider.Endpoint
}

func (f *format) Dialect(string) provider.Dialect {
	if f.e.Host() == "api.x.ai" {
		return provider.DialectCommon
	}
	return provider.DialectOpenAI
}

// codex reports whether the endpoint is the one behind ChatGPT's own agent,
// which takes fewer options.
func (f *format) codex() bool { return f.e.Host() == "chatgpt.com" }

func (f *format) header(session string) http.Header {
	h := wire.NewHeader(f.e)
	wire.Bearer(h, f.e)
	if session == "" {
		return h
	}
	switch {
	case f.codex():
		h.Set("Session_id", session)
	case f.e.Host() == "api.x.ai":
		h.Set("X-Grok-Conv-Id", session)
	}
	return h
}

func address(base, path string) string {
	base, query, _ := strings.Cut(base, "?")
	if query != "" {
		query = "?" + query
	}
	return strings.TrimSuffix(strings.TrimRight(base, "/"), "/responses") + path + query
}

func models(ctx context.Context, e provider.Endpoint) ([]provider.Model, error) {
	f := &format{e}
	body, err := wire.Get(ctx, e, address(e.BaseURL, "/models"), f.header(""))
	if err != nil {
		return nil, fmt.Errorf("list models of %s: %w", e.Kind.Name, err)
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, fmt.Errorf("list models of %s: %w", e.Kind.Name, err)
	}
	out := make([]provider.Model, 0, len(list.Data))
	for _, m := range list.Data {
		out = append(out, provider.Model{ID: m.ID})
	}
	return out, nil
}
