package provider

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/hermes-go/hermes/internal/registry"
	"github.com/hermes-go/hermes/secret"
)

// Wire names a request and answer format.
type Wire string

// The wires, by the names that `api_mode` has in the configuration.
const (
	ChatCompletions   Wire = "chat_completions"
	Responses         Wire = "codex_responses"
	AnthropicMessages Wire = "anthropic_messages"
	Gemini            Wire = "gemini"
	Offline           Wire = "offline"
)

// Kind describes a model service. Most are rows in providers/compat.
type Kind struct {
	Name       string
	Aliases    []string
	Label      string
	Wire       Wire
	WireFor    func(model string) Wire // nil: Wire, whatever the model
	BaseURL    string
	BaseURLEnv string                  // overrides BaseURL
	BaseFor    func(key string) string // another address that a key belongs to, "" for BaseURL; may be nil
	Env        []secret.Var            // keys, in the order in which they are tried
	Default    string                  // the model used when none is named; "" when a person must choose
	Small      string                  // a cheap model, for side calls; "" when none is known
	Keyless    bool                    // works without a key
	Rank       int                     // place in the search for a service that has a key; 0: never chosen unasked

	Models func(ctx context.Context, e Endpoint) ([]Model, error) // nil: cannot be listed
	Open   func(ctx context.Context, e Endpoint) (Client, error)  // nil when registered: the format's
}

// Endpoint is where and how to reach a service: a Kind's values after
// configuration and environment had their say.
type Endpoint struct {
	Kind    Kind
	Wire    Wire // differs from Kind.Wire when the configuration says so
	BaseURL string
	Key     string // belongs to BaseURL's host and is sent nowhere else
	Headers http.Header
	HTTP    *http.Client  // nil: the shared default
	Script  string        // offline only: a file of scripted replies
	Stall   time.Duration // silence after which an answer counts as dead; 0: by the size of the request, <0: never
	Timeout time.Duration // limit for a whole answer; 0: none
}

// Host is the endpoint's host and port, "" when BaseURL has none.
func (e Endpoint) Host() string { return hostOf(e.BaseURL) }

// Local reports whether the endpoint is on this machine or its own network,
// where a slow answer is a slow model and no dead connection.
func (e Endpoint) Local() bool { return localHost(hostname(e.BaseURL)) }

// Model is an entry of a service's list.
type Model struct {
	ID            string
	ContextWindow int // 0: unknown
	MaxOutput     int // 0: unknown
}

// Format is a wire's implementation. The package that holds it registers it,
// and every Kind without an Open of its own is reached through it.
type Format struct {
	Wire   Wire
	Open   func(ctx context.Context, e Endpoint) (Client, error)
	Models func(ctx context.Context, e Endpoint) ([]Model, error) // nil: cannot be listed
}

var (
	kinds = registry.Of[Kind]{
		Name:  func(k Kind) string { return k.Name },
		Alias: func(k Kind) []string { return k.Aliases },
	}
	formats = registry.Of[Format]{Name: func(f Format) string { return string(f.Wire) }}
)

// Register adds a service; init only.
func Register(k Kind) { kinds.Register(k) }

// tables are lists of services that are looked at when the first is looked up:
// a start that asks no model pays nothing for them.
var tables []func() []Kind

// RegisterTable adds many services; init only.
func RegisterTable(list func() []Kind) { tables = append(tables, list) }

var fill = sync.OnceFunc(func() {
	for _, list := range tables {
		for _, k := range list() {
			kinds.Register(k)
		}
	}
})

func known() *registry.Of[Kind] {
	fill()
	return &kinds
}

// RegisterFormat adds a wire's implementation; init only.
func RegisterFormat(f Format) { formats.Register(f) }

// Lookup finds a service by name or alias.
func Lookup(name string) (Kind, bool) {
	k, ok := known().Lookup(name)
	return k.whole(), ok
}

// All returns every service, sorted by name.
func All() []Kind {
	all := known().All()
	for i := range all {
		all[i] = all[i].whole()
	}
	return all
}

// whole fills in what the Kind leaves to its format.
func (k Kind) whole() Kind {
	if k.Open == nil {
		k.Open = openFormat
	}
	if k.Models == nil {
		if f, ok := formats.Lookup(string(k.Wire)); ok {
			k.Models = f.Models
		}
	}
	return k
}

// Open makes the client of an endpoint.
func Open(ctx context.Context, e Endpoint) (Client, error) {
	if e.Kind.Open != nil {
		return e.Kind.Open(ctx, e)
	}
	return openFormat(ctx, e)
}

func openFormat(ctx context.Context, e Endpoint) (Client, error) {
	if e.Wire == "" {
		e.Wire = e.Kind.Wire
	}
	f, ok := formats.Lookup(string(e.Wire))
	if !ok {
		return nil, fmt.Errorf("open provider %s: no such api_mode %q", e.Kind.Name, e.Wire)
	}
	return f.Open(ctx, e)
}

// ListModels asks an endpoint what models it has.
func ListModels(ctx context.Context, e Endpoint) ([]Model, error) {
	list := e.Kind.Models
	if f, ok := formats.Lookup(string(e.Wire)); ok && (list == nil || e.Wire != e.Kind.Wire) {
		list = f.Models
	}
	if list == nil {
		return nil, fmt.Errorf("list models: %s has no list", e.Kind.Name)
	}
	return list(ctx, e)
}
