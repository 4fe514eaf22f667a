package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Definition is a tool as a model is told of it, in OpenAI's shape.
type Definition struct {
	Type     string   `json:"type"`
	Function Function `json:"function"`
}

// Function is the inner part of a Definition.
type Function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// entry is a registered tool with what was made of it at first use.
type entry struct {
	Tool
	params func() (json.RawMessage, error) // as a model is shown them
	schema func() (*schema, error)         // as calls are judged by them

	mu    sync.Mutex
	given json.RawMessage // the schema that Describe gave last
	shown json.RawMessage // what a model is shown of it
}

func newEntry(t Tool) *entry {
	e := &entry{Tool: t}
	e.params = sync.OnceValues(func() (json.RawMessage, error) {
		raw := t.Schema
		if raw == nil && t.derive != nil {
			raw = t.derive()
		}
		return parametersOf(raw)
	})
	e.schema = sync.OnceValues(func() (*schema, error) {
		params, err := e.params()
		if err != nil {
			return nil, err
		}
		return compileSchema(params)
	})
	return e
}

// described is what a model is shown of a schema that Describe gave, nil when
// it cannot be used. The same schema gives the same bytes, at the same address,
// by which services know what they have translated.
func (e *entry) described(given json.RawMessage) json.RawMessage {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !bytes.Equal(given, e.given) {
		shown, err := parametersOf(given)
		if err != nil {
			return nil
		}
		e.given, e.shown = given, shown
	}
	return e.shown
}

// Registry is one app's set of tools.
type Registry struct {
	now func() time.Time

	mu         sync.Mutex
	entries    map[string]*entry
	generation uint64
	probes     map[*Check]*probe
	middleware []func(Handler) Handler
	memo       map[string][]Definition
	memoOrder  []string
}

// memoSize bounds the remembered definition lists: one per kind of session.
const memoSize = 64

// Builtin returns a registry of everything that init functions registered.
func Builtin() *Registry {
	r := New()
	for _, t := range builtin {
		r.entries[t.Name] = newEntry(t)
	}
	return r
}

// New returns an empty registry.
func New() *Registry {
	return &Registry{
		now: time.Now, entries: map[string]*entry{}, probes: map[*Check]*probe{}, memo: map[string][]Definition{},
	}
}

// Add registers a tool at run time. A tool of the same name is replaced when
// it comes from the same toolset, or when both come from MCP servers; anything
// else is ErrShadow.
func (r *Registry) Add(t Tool) error {
	if err := t.validate(); err != nil {
		return fmt.Errorf("add tool: %w", err)
	}
	if !nameRule().MatchString(t.Name) {
		return fmt.Errorf("add tool %q: a name is made of letters, digits, _ and -", t.Name)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if old, ok := r.entries[t.Name]; ok {
		same := old.Toolset == t.Toolset && old.Source == t.Source
		mcp := strings.HasPrefix(old.Toolset, "mcp-") && strings.HasPrefix(t.Toolset, "mcp-")
		if !same && !mcp {
			return fmt.Errorf("add tool %s of toolset %s: %w in toolset %s", t.Name, t.Toolset, ErrShadow, old.Toolset)
		}
	}
	r.entries[t.Name] = newEntry(t)
	r.changed()
	return nil
}

// Remove forgets a tool; an unknown name changes nothing.
func (r *Registry) Remove(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.entries[name]; ok {
		delete(r.entries, name)
		r.changed()
	}
}

func (r *Registry) changed() {
	r.generation++
	clear(r.memo)
	r.memoOrder = nil
}

// Generation counts the changes of the registry.
func (r *Registry) Generation() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.generation
}

// Use wraps every call in mw; the first given is the outermost. Middleware
// sees a result as json.RawMessage, or an error. It is set up before the first
// call.
func (r *Registry) Use(mw ...func(Handler) Handler) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.middleware = append(r.middleware, mw...)
}

// Lookup returns the description of a tool.
func (r *Registry) Lookup(name string) (Tool, bool) {
	if e := r.entry(name); e != nil {
		return e.Tool, true
	}
	return Tool{}, false
}

func (r *Registry) entry(name string) *entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.entries[name]
}

// All returns every tool, available or not, sorted by name.
func (r *Registry) All() []Tool {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]Tool, 0, len(r.entries))
	for _, e := range r.entries {
		all = append(all, e.Tool)
	}
	slices.SortFunc(all, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Names returns the names of all tools, sorted.
func (r *Registry) Names() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := make([]string, 0, len(r.entries))
	for name := range r.entries {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Definitions returns what a model is told of the named tools: those that
// exist and are available to the session, sorted by name so that the bytes
// stay the same from request to request. The slice is the caller's; its values
// are shared.
func (r *Registry) Definitions(ctx context.Context, s *Session, names []string) []Definition {
	names = slices.Clone(names)
	slices.Sort(names)
	names = slices.Compact(names)

	offered := make([]*entry, 0, len(names))
	dynamic := false
	for _, name := range names {
		e := r.entry(name)
		if e == nil || r.why(ctx, s, e) != nil {
			continue
		}
		offered = append(offered, e)
		dynamic = dynamic || e.Describe != nil
	}
	if dynamic {
		return describe(s, offered)
	}
	key := r.memoKey(offered)
	r.mu.Lock()
	defs, ok := r.memo[key]
	r.mu.Unlock()
	if !ok {
		defs = describe(s, offered)
		r.remember(key, defs)
	}
	return slices.Clone(defs)
}

func (r *Registry) memoKey(offered []*entry) string {
	var b strings.Builder
	b.WriteString(strconv.FormatUint(r.Generation(), 36))
	for _, e := range offered {
		b.WriteByte(' ')
		b.WriteString(e.Name)
	}
	return b.String()
}

func (r *Registry) remember(key string, defs []Definition) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.memo[key]; ok {
		return
	}
	if len(r.memoOrder) >= memoSize {
		delete(r.memo, r.memoOrder[0])
		r.memoOrder = r.memoOrder[1:]
	}
	r.memo[key] = defs
	r.memoOrder = append(r.memoOrder, key)
}

func describe(s *Session, offered []*entry) []Definition {
	names := make([]string, len(offered))
	for i, e := range offered {
		names[i] = e.Name
	}
	defs := make([]Definition, 0, len(offered))
	for _, e := range offered {
		about := e.About
		params, _ := e.params() // why has told of an error
		if e.Describe != nil {
			t := e.Describe(s, names)
			if t == nil {
				continue
			}
			about = t.About
			if t.Schema != nil {
				if p := e.described(t.Schema); p != nil {
					params = p
				}
			}
		}
		defs = append(defs, Definition{Type: "function", Function: Function{Name: e.Name, Description: about, Parameters: params}})
	}
	return defs
}

// ErrUnknown is wrapped when no tool has the name.
var ErrUnknown = errors.New("unknown tool")

// Why says why a tool is not available to the session; nil means it is. All
// reasons are joined, so that a person fixes them in one go.
func (r *Registry) Why(ctx context.Context, s *Session, name string) error {
	e := r.entry(name)
	if e == nil {
		return fmt.Errorf("%w %q", ErrUnknown, name)
	}
	return r.why(ctx, s, e)
}

func (r *Registry) why(ctx context.Context, s *Session, e *entry) error {
	var reasons []error
	if _, err := e.params(); err != nil {
		reasons = append(reasons, fmt.Errorf("its schema is broken: %w", err))
	}
	for _, need := range e.Needs {
		if err := need.missing(s.Services, e.Name); err != nil {
			reasons = append(reasons, err)
		}
	}
	if err := r.available(ctx, e.Check, s.app()); err != nil {
		reasons = append(reasons, err)
	}
	return errors.Join(reasons...)
}
