// Package gemini speaks Google's own format, generateContent. Gemini's
// OpenAI-compatible address is reached by providers/compat like any other; the
// service's row is there too.
package gemini

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
	provider.RegisterFormat(provider.Format{Wire: provider.Gemini, Open: open, Models: models})
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

func (f *format) Dialect(string) provider.Dialect { return provider.DialectGemini }

// header carries the key; in the address it would end up in logs.
func (f *format) header() http.Header {
	h := wire.NewHeader(f.e)
	if f.e.Key != "" && h.Get("X-Goog-Api-Key") == "" {
		h.Set("X-Goog-Api-Key", f.e.Key)
	}
	return h
}

func address(base, model, method string) string {
	model = strings.TrimPrefix(strings.TrimPrefix(model, "google/"), "models/")
	return strings.TrimRight(base, "/") + "/models/" + model + ":" + method
}

func models(ctx context.Context, e provider.Endpoint) ([]provider.Model, error) {
	f := &format{e}
	body, err := wire.Get(ctx, e, strings.TrimRight(e.BaseURL, "/")+"/models?pageSize=1000", f.header())
	if err != nil {
		return nil, fmt.Errorf("list models of %s: %w", e.Kind.Name, err)
	}
	var list struct {
		Models []struct {
			Name    string   `json:"name"`
			Input   int      `json:"inputTokenLimit"`
			Output  int      `json:"outputTokenLimit"`
			Methods []string `json:"supportedGenerationMethods"`
		} `json:"models"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, fmt.Errorf("list models of %s: %w", e.Kind.Name, err)
	}
	var out []provider.Model
	for _, m := range list.Models {
		if m.Methods != nil && !strings.Contains(strings.Join(m.Methods, " "), "generateContent") {
			continue // embeddings and the like
		}
		out = append(out, provider.Model{ID: strings.TrimPrefix(m.Name, "models/"), ContextWindow: m.Input, MaxOutput: m.Output})
	}
	return out, nil
}
