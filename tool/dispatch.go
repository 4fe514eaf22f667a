package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Result is the outcome of a call. JSON is what the model reads and is always
// valid JSON. Err is nil when the call did what it was asked to do.
type Result struct {
	JSON  []byte
	Files []File
	Err   error
}

// Dispatch runs a call: name and arguments are judged, services looked for,
// middleware and handler run. It never fails and never panics; whatever goes
// wrong is a Result that says so.
func (r *Registry) Dispatch(ctx context.Context, c *Call) Result {
	e := r.entry(c.Name)
	if e == nil || !c.Session.allows(c.Name) {
		return r.unknown(c)
	}
	schema, err := e.schema()
	if err != nil {
		return failed(fmt.Errorf("%s: its schema is broken: %w", c.Name, err))
	}
	args, notes, err := schema.arguments(c.Args)
	if err != nil {
		return failed(fmt.Errorf("invalid arguments for %s: %w", c.Name, err))
	}
	for _, need := range e.Needs {
		if err := need.missing(c.Session.Services, c.Name); err != nil {
			return failed(err)
		}
	}
	call := *c
	call.Args = args
	v, err := r.chain(e)(ctx, &call)
	if err != nil {
		return failed(err)
	}
	out, _ := v.(Output)
	if out.Value == nil {
		out.Value = v
	}
	encoded, err := encodeResult(out.Value)
	if err != nil {
		return failed(fmt.Errorf("%s: %w", c.Name, err))
	}
	return Result{JSON: withNotes(encoded, notes), Files: out.Files}
}

func (s *Session) allows(name string) bool {
	return s.Enabled == nil || slices.Contains(s.Enabled, name)
}

func (r *Registry) unknown(c *Call) Result {
	names := r.Names()
	if c.Session.Enabled != nil {
		names = c.Session.Enabled
	}
	err := fmt.Errorf("Unknown tool: %s", c.Name) //nolint:staticcheck // the original's wording, which models know
	v := map[string]any{"error": err.Error()}
	if near := Nearest(c.Name, names, 3); len(near) > 0 {
		v["nearest"] = near
	}
	return failed(Fail(v, err.Error()))
}

// chain wraps the tool's handler in the registry's middleware.
func (r *Registry) chain(e *entry) Handler {
	h := func(ctx context.Context, c *Call) (v any, err error) {
		defer func() {
			if p := recover(); p != nil {
				v, err = nil, fmt.Errorf("Tool execution failed: %T: %v", p, p) //nolint:staticcheck // the original's wording
			}
		}()
		v, err = e.Run(ctx, c)
		if err != nil {
			return nil, err
		}
		out, isOutput := v.(Output)
		if !isOutput {
			out.Value = v
		}
		encoded, err := encodeResult(out.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		if isOutput {
			out.Value = json.RawMessage(encoded)
			return out, nil
		}
		return json.RawMessage(encoded), nil
	}
	r.mu.Lock()
	mw := r.middleware
	r.mu.Unlock()
	wrapped := Handler(h)
	for _, m := range slices.Backward(mw) {
		wrapped = m(wrapped)
	}
	return func(ctx context.Context, c *Call) (v any, err error) {
		defer func() {
			if p := recover(); p != nil {
				v, err = nil, fmt.Errorf("Tool execution failed: %T: %v", p, p) //nolint:staticcheck // the original's wording
			}
		}()
		return wrapped(ctx, c)
	}
}

func failed(err error) Result {
	var f *failure
	if errors.As(err, &f) {
		if b, encErr := encodeResult(f.value); encErr == nil {
			return Result{JSON: b, Err: err}
		}
	}
	b, encErr := marshal(map[string]string{"error": strings.ToValidUTF8(err.Error(), "\uFFFD")})
	if encErr != nil {
		b = []byte(`{"error":"the error could not be encoded"}`)
	}
	return Result{JSON: b, Err: err}
}

// MapFailure returns err with every text that a model would read of it passed
// through fn. The error itself is kept as the cause.
func MapFailure(err error, fn func(string) string) error {
	text := fn(err.Error())
	var f *failure
	if errors.As(err, &f) {
		if b, encErr := encodeResult(f.value); encErr == nil {
			if mapped := fn(string(b)); json.Valid([]byte(mapped)) {
				return &failure{json.RawMessage(mapped), text}
			}
			return &failure{map[string]string{"error": text}, text}
		}
	}
	if text == err.Error() {
		return err
	}
	return &mapped{text, err}
}

type mapped struct {
	text string
	err  error
}

func (m *mapped) Error() string { return m.text }
func (m *mapped) Unwrap() error { return m.err }

// encodeResult turns a handler's value into JSON text.
func encodeResult(v any) ([]byte, error) {
	switch v := v.(type) {
	case json.RawMessage:
		if !json.Valid(v) {
			return nil, errors.New("the result is no valid JSON")
		}
		return v, nil
	case []byte:
		return nil, errors.New("the result is bytes, not text or a value")
	case string:
		if t := strings.TrimSpace(v); t != "" && json.Valid([]byte(t)) {
			return []byte(t), nil
		}
		return marshal(map[string]string{"result": strings.ToValidUTF8(v, "\uFFFD")})
	default:
		return marshal(v)
	}
}

// marshal is json.Marshal without HTML escaping.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

// withNotes adds what the model should know about its arguments to a result
// that is an object.
func withNotes(obj []byte, notes []string) []byte {
	if len(notes) == 0 {
		return obj
	}
	return AddField(obj, "_note", strings.Join(notes, "; "))
}

// AddField adds a text field to a JSON object; anything else is returned as it
// is. An existing field of that name is kept and the new text joined to it.
func AddField(obj []byte, name, text string) []byte {
	obj = bytes.TrimSpace(obj)
	if len(obj) < 2 || obj[0] != '{' {
		return obj
	}
	var have map[string]json.RawMessage
	if json.Unmarshal(obj, &have) != nil {
		return obj
	}
	if old, ok := have[name]; ok {
		var s string
		if json.Unmarshal(old, &s) != nil {
			return obj
		}
		have[name], _ = marshal(s + " | " + text) // a string always encodes
		b, err := marshal(have)
		if err != nil {
			return obj
		}
		return b
	}
	field, _ := marshal(map[string]string{name: text}) // likewise
	out := slices.Clone(obj[:len(obj)-1])
	if len(have) > 0 {
		out = append(out, ',')
	}
	return append(out, field[1:]...)
}

// Dispatcher runs tools on behalf of a running tool.
type Dispatcher interface {
	Dispatch(ctx context.Context, parent *Call, name string, args json.RawMessage) Result
}

// Nested returns a Dispatcher that offers a tool those of its session's tools
// that are also in allowed. Calls take the same path as the model's own.
func (r *Registry) Nested(allowed ...string) Dispatcher { return &nested{r, allowed} }

type nested struct {
	r       *Registry
	allowed []string
}

func (n *nested) Dispatch(ctx context.Context, parent *Call, name string, args json.RawMessage) Result {
	s := *parent.Session
	s.Enabled = []string{}
	for _, a := range n.allowed {
		if parent.Session.allows(a) {
			s.Enabled = append(s.Enabled, a)
		}
	}
	return n.r.Dispatch(ctx, &Call{ID: parent.ID, Name: name, Args: args, Session: &s, Parent: parent})
}
