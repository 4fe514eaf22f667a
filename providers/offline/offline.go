// Package offline is a model inside the binary: deterministic, with no key and
// no network. It reads a request like any model, understands a handful of
// phrases, makes real tool calls and answers with what their results say; or
// it plays a script. It is there for a first run, for tests and for the
// authors of tools and skills. It is no language model: it knows nothing,
// reasons about nothing and says so.
package offline

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/provider"
)

func init() {
	provider.Register(provider.Kind{
		Name: "offline", Label: "Offline model (no key, no network)",
		Wire: provider.Offline, Keyless: true, Default: "offline",
		Open: open, Models: models,
	})
}

func open(_ context.Context, e provider.Endpoint) (provider.Client, error) {
	if e.Script == "" {
		return model{}, nil
	}
	return openScript(e.Script)
}

func models(context.Context, provider.Endpoint) ([]provider.Model, error) {
	return []provider.Model{{ID: "offline", ContextWindow: provider.ContextWindow("offline")}}, nil
}

// model answers by phrases. All its state is in the request.
type model struct{}

var _ provider.Client = model{}

// Stream implements provider.Client.
func (model) Stream(ctx context.Context, r *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) { answer(r).play(ctx, r, yield) }
}

// estimate is what a text costs in tokens, near enough: four bytes each.
func estimate(bytes int) int { return (bytes + 3) / 4 }

// sizeOf is the size of a request in bytes, as a service would read it.
func sizeOf(r *provider.Request) int {
	n := len(r.System)
	for _, m := range r.Messages {
		n += sizeOfMessage(m)
	}
	for _, t := range r.Tools {
		n += len(t.Function.Name) + len(t.Function.Description) + len(t.Function.Parameters)
	}
	return n
}

func sizeOfMessage(m chat.Message) int {
	n := len(m.Content.String()) + len(m.Reasoning)
	for _, c := range m.ToolCalls {
		n += len(c.Function.Name) + len(c.Function.Arguments)
	}
	return n
}

// encode writes JSON without HTML escaping and with sorted keys.
func encode(v any) string {
	var b jsonText
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "{}" // only values made from JSON come here, and they always encode
	}
	return b.trimmed()
}
