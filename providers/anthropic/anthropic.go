// Package anthropic speaks Anthropic's Messages format, to Anthropic and to
// the services that have taken it over. It knows API keys and nothing of
// logins; the services themselves are rows of providers/compat.
package anthropic

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
	provider.RegisterFormat(provider.Format{Wire: provider.AnthropicMessages, Open: open, Models: models})
}

func open(_ context.Context, e provider.Endpoint) (provider.Client, error) {
	if e.BaseURL == "" {
		return nil, fmt.Errorf("open provider %s: it has no base URL", e.Kind.Name)
	}
	return wire.New(e, &format{e: e, own: own(e)}), nil
}

// own reports whether the endpoint is Anthropic's: only they can check the
// signatures of thinking blocks and know all of their options.
func own(e provider.Endpoint) bool {
	host := e.Host()
	return host == "api.anthropic.com" || strings.HasSuffix(host, ".anthropic.com")
}

type format struct {
	e   provider.Endpoint
	own bool
}

func (f *format) Dialect(string) provider.Dialect { return provider.DialectAnthropic }

const betas = "interleaved-thinking-2025-05-14,fine-grained-tool-streaming-2025-05-14"

func (f *format) header() http.Header {
	h := wire.NewHeader(f.e)
	if f.e.Key != "" && h.Get("X-Api-Key") == "" && h.Get("Authorization") == "" {
		h.Set("X-Api-Key", f.e.Key)
		if !f.own { // some of the others look for it in the usual place
			h.Set("Authorization", "Bearer "+f.e.Key)
		}
	}
	if h.Get("Anthropic-Version") == "" {
		h.Set("Anthropic-Version", "2023-06-01")
	}
	if f.own && h.Get("Anthropic-Beta") == "" {
		h.Set("Anthropic-Beta", betas)
	}
	return h
}

// address joins a path to the base, which may have the version on already.
func address(base, path string) string {
	base = strings.TrimRight(base, "/")
	base = strings.TrimSuffix(base, "/messages")
	return strings.TrimSuffix(base, "/v1") + "/v1" + path
}

func models(ctx context.Context, e provider.Endpoint) ([]provider.Model, error) {
	f := &format{e: e, own: own(e)}
	body, err := wire.Get(ctx, e, address(e.BaseURL, "/models?limit=1000"), f.header())
	if err != nil {
		return nil, fmt.Errorf("list models of %s: %w", e.Kind.Name, err)
	}
	var list struct {
		Data []struct {
			ID     string `json:"id"`
			Input  int    `json:"max_input_tokens"`
			Output int    `json:"max_tokens"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, fmt.Errorf("list models of %s: %w", e.Kind.Name, err)
	}
	out := make([]provider.Model, 0, len(list.Data))
	for _, m := range list.Data {
		out = append(out, provider.Model{ID: m.ID, ContextWindow: m.Input, MaxOutput: m.Output})
	}
	return out, nil
}
