// Package tool is the contract that every tool meets and the registry that
// holds them: what a tool is, what a call may know of its session, which
// tools a model is offered and why one is missing, and the one path by which
// a call runs. It imports no tool, no agent and no configuration, so that the
// chain of imports stays acyclic; the tools themselves live in tools/.
package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"sync"

	"github.com/hermes-go/hermes/secret"
)

// Tool describes one tool. It is a plain value: describing it runs nothing.
type Tool struct {
	Name, Toolset, Emoji string

	About    string          // what the model reads; long texts are embedded .md files
	Schema   json.RawMessage // parameters as JSON Schema; flat {name,description,parameters} and wrapped {type:function} shapes are unwrapped; nil: derived from the argument struct
	Check    *Check          // nil: always available; shared pointers are probed once
	Needs    []Need          // services the session must hold
	Env      []secret.Var    // what setup asks for and doctor reports; never gates by itself
	MaxChars int             // result limit in characters; 0: DefaultMaxChars, <0: none
	Source   string          // who offers it, e.g. "python:PATH"; "": the binary

	Effects  func(args json.RawMessage) []Effect    // what a call reads and writes; nil: it runs alone
	Harmless func(args json.RawMessage) bool        // a call that leaves nothing behind outside of the conversation, though it runs alone or writes; nil: none
	Describe func(s *Session, names []string) *Tool // a definition that depends on the session; nil result: not offered
	Carry    func(*Session) string                  // text that must survive compaction
	Run      Handler

	derive func() json.RawMessage // set by Func
}

// DefaultMaxChars is the length from which a result is spilled to a file.
const DefaultMaxChars = 100_000

// Handler runs one call. Its value becomes JSON: objects, arrays, numbers,
// booleans and nil are encoded, JSON text passes, other text becomes
// {"result": text}. An error becomes {"error": text}, or the value given to
// Fail.
type Handler func(ctx context.Context, c *Call) (any, error)

// Call is one request to run a tool.
type Call struct {
	ID, Name string
	Args     json.RawMessage // coerced and validated once the handler sees it
	Session  *Session
	Parent   *Call        // set when a tool calls a tool
	Report   func(Update) // set by whoever wants progress; must not block
}

// Update is one progress report of a running call; the newest one counts.
type Update struct {
	Text     string  // one line for a person
	Fraction float64 // 0..1, 0 when unknown
}

// Progress reports how far the call is. It never blocks.
func (c *Call) Progress(u Update) {
	if c.Report != nil {
		c.Report(u)
	}
}

// Effect is a resource that a call reads or writes, e.g. "file:/a/b" or "cwd".
// A file key also covers everything below it.
type Effect struct {
	Key   string
	Write bool
}

// Always is for Harmless: no call of the tool leaves anything behind.
func Always(json.RawMessage) bool { return true }

// ReadsNothing declares a call that touches nothing shared.
func ReadsNothing(json.RawMessage) []Effect { return []Effect{} }

// File is something a call produced beside its result, e.g. an image.
type File struct {
	Path, MIME string
}

// Output is a handler's value together with files.
type Output struct {
	Value any
	Files []File
}

// failure carries a value that already says what went wrong, for tools whose
// error results have a shape of their own.
type failure struct {
	value  any
	reason string
}

func (f *failure) Error() string { return f.reason }

// Fail returns an error whose result is value instead of {"error": reason}.
// The call counts as failed.
func Fail(value any, reason string) error { return &failure{value, reason} }

// Func makes a Tool from a typed function. The arguments are decoded into In
// after coercion and validation; t.Schema, when nil, is derived from In's
// struct tags (json, doc, enum, default, min, max).
func Func[In any](t Tool, fn func(ctx context.Context, c *Call, in In) (any, error)) Tool {
	t.Run = func(ctx context.Context, c *Call) (any, error) {
		var in In
		if err := json.Unmarshal(c.Args, &in); err != nil {
			return nil, fmt.Errorf("invalid arguments for %s: %w", c.Name, err)
		}
		return fn(ctx, c, in)
	}
	t.derive = sync.OnceValue(func() json.RawMessage { return deriveSchema[In]() })
	return t
}

// ErrShadow says that a tool would hide one that exists already.
var ErrShadow = errors.New("a tool of that name exists")

var builtin []Tool

// Register adds a built-in tool. It is called from init only, and panics on a
// malformed or duplicate tool: a mistake in the program.
func Register(t Tool) {
	if err := t.validate(); err != nil {
		panic(fmt.Sprintf("register tool: %v", err))
	}
	for _, have := range builtin {
		if have.Name == t.Name {
			panic(fmt.Sprintf("register tool: %q is registered twice", t.Name))
		}
	}
	builtin = append(builtin, t)
}

// nameRule is what every provider accepts as a function name.
var nameRule = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`) })

func (t *Tool) validate() error {
	switch {
	case t.Name == "":
		return errors.New("it has no name")
	case len(t.Name) > 64:
		return fmt.Errorf("%q: a name has at most 64 characters", t.Name)
	case t.Toolset == "":
		return fmt.Errorf("%q: it names no toolset", t.Name)
	case t.Run == nil:
		return fmt.Errorf("%q: it has nothing to run", t.Name)
	}
	return nil
}
