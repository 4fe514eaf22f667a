package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hermes-go/hermes/secret"
)

func session(enabled ...string) *Session {
	return &Session{ID: "s", Services: NewServices(NewServices(nil)), Enabled: enabled}
}

func echo(name, schema string) Tool {
	return Tool{Name: name, Toolset: "test", Schema: json.RawMessage(schema), Run: func(_ context.Context, c *Call) (any, error) {
		return c.Args, nil
	}}
}

func dispatch(t *testing.T, r *Registry, name, args string) string {
	t.Helper()
	res := r.Dispatch(t.Context(), &Call{ID: "1", Name: name, Args: json.RawMessage(args), Session: session()})
	if !json.Valid(res.JSON) {
		t.Fatalf("result is no JSON: %s", res.JSON)
	}
	return string(res.JSON)
}

func TestDispatch(t *testing.T) {
	t.Parallel()
	handlers := map[string]func() (any, error){
		"map":     func() (any, error) { return map[string]int{"a": 1}, nil },
		"text":    func() (any, error) { return "plain <text>", nil },
		"json":    func() (any, error) { return ` {"a": 1} `, nil },
		"bytes":   func() (any, error) { return []byte("x"), nil },
		"nil":     func() (any, error) { return nil, nil },
		"number":  func() (any, error) { return 7, nil },
		"error":   func() (any, error) { return nil, errors.New("no luck") },
		"panic":   func() (any, error) { panic(errors.New("broken")) },
		"fail":    func() (any, error) { return nil, Fail(map[string]any{"exit_code": 3}, "exit 3") },
		"channel": func() (any, error) { return make(chan int), nil },
		"files":   func() (any, error) { return Output{Value: "x", Files: []File{{Path: "/p"}}}, nil },
	}
	r := New()
	for name, h := range handlers {
		must(t, r.Add(Tool{Name: name, Toolset: "test", Run: func(context.Context, *Call) (any, error) { return h() }}))
	}
	for name, want := range map[string]string{
		"nope": `{"error":"Unknown tool: nope"}`,                                                                 // spec case 1
		"map":  `{"a":1}`, "text": `{"result":"plain <text>"}`, "json": `{"a": 1}`, "nil": `null`, "number": `7`, // case 13
		"error": `{"error":"no luck"}`, "fail": `{"exit_code":3}`, "files": `{"result":"x"}`,
		"bytes": `{"error":"bytes: the result is bytes, not text or a value"}`,
	} {
		if got := dispatch(t, r, name, "{}"); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	if got := dispatch(t, r, "panic", "{}"); !strings.HasPrefix(got, `{"error":"Tool execution failed: `) { // case 2
		t.Errorf("panic: %s", got)
	}
	if got := dispatch(t, r, "channel", "{}"); !strings.Contains(got, "error") {
		t.Errorf("channel: %s", got)
	}
	if got := dispatch(t, r, "Text", "{}"); got != `{"error":"Unknown tool: Text","nearest":["text"]}` {
		t.Errorf("nearest: %s", got)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRegistryChanges(t *testing.T) {
	t.Parallel()
	r := New()
	must(t, r.Add(Tool{Name: "zz", Toolset: "mcp-a", Run: echo("", "").Run}))
	must(t, r.Add(Tool{Name: "zz", Toolset: "mcp-b", Run: echo("", "").Run})) // case 4
	if got, _ := r.Lookup("zz"); got.Toolset != "mcp-b" {
		t.Errorf("toolset %s", got.Toolset)
	}
	before := r.Generation()
	must(t, r.Add(Tool{Name: "zz", Toolset: "mcp-b", Run: echo("", "").Run})) // case 5
	if r.Generation() != before+1 {
		t.Errorf("generation %d after a replacement, was %d", r.Generation(), before)
	}
	if err := r.Add(Tool{Name: "zz", Toolset: "plugin", Run: echo("", "").Run}); !errors.Is(err, ErrShadow) {
		t.Errorf("shadowing: %v", err)
	}
	before = r.Generation()
	r.Remove("unknown") // case 12
	if r.Generation() != before {
		t.Error("removing an unknown tool changed the generation")
	}
	for _, bad := range []Tool{{}, {Name: "a"}, {Name: "a", Toolset: "b"}, {Name: "a b", Toolset: "c", Run: echo("", "").Run}, {Name: strings.Repeat("x", 65), Toolset: "c", Run: echo("", "").Run}} {
		if err := r.Add(bad); err == nil {
			t.Errorf("%q was accepted", bad.Name)
		}
	}
}

func TestDefinitions(t *testing.T) {
	t.Parallel()
	r := New()
	wrapped := `{"type":"function","function":{"name":"other","description":"x","parameters":{"type":"object","properties":{"p":{"type":"integer"}}}}}`
	flat := `{"name":"other","description":"x","parameters":{"type":"object","properties":{"p":{"type":"integer"}}}}`
	for name, s := range map[string]string{"c_wrapped": wrapped, "b_flat": flat, "a_bare": `{"type":"object","properties":{"p":{"type":"integer"}}}`, "d_none": `{"name":"d","description":"x"}`} {
		must(t, r.Add(echo(name, s)))
	}
	must(t, r.Add(Tool{Name: "e_broken", Toolset: "test", Schema: json.RawMessage(`{"type":`), Run: echo("", "").Run}))
	defs := r.Definitions(t.Context(), session(), append(r.Names(), "ghost"))
	var names []string
	for _, d := range defs {
		names = append(names, d.Function.Name)
		want := `{"type":"object","properties":{"p":{"type":"integer"}}}`
		if d.Function.Name == "d_none" {
			want = `{"type":"object","properties":{}}`
		}
		if got := string(d.Function.Parameters); got != want {
			t.Errorf("%s: parameters %s", d.Function.Name, got)
		}
	}
	if want := []string{"a_bare", "b_flat", "c_wrapped", "d_none"}; !slices.Equal(names, want) { // case 6, 21
		t.Errorf("names %v, want %v", names, want)
	}
	if got := dispatch(t, r, "c_wrapped", `{"p":"42"}`); got != `{"p":42}` {
		t.Errorf("coercion through a wrapped schema: %s", got)
	}
	if err := r.Why(t.Context(), session(), "e_broken"); err == nil || !strings.Contains(err.Error(), "schema is broken") {
		t.Errorf("why: %v", err)
	}
}

func TestCheckCache(t *testing.T) { // cases 8, 9, 10
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		var fail atomic.Bool
		check := &Check{Name: "probe", Probe: func(context.Context, *Services) error {
			runs.Add(1)
			if fail.Load() {
				panic("boom")
			}
			return nil
		}}
		r := New()
		for _, name := range []string{"a", "b"} {
			tl := echo(name, "")
			tl.Check = check
			must(t, r.Add(tl))
		}
		s := session()
		for range 3 {
			if n := len(r.Definitions(t.Context(), s, []string{"a", "b"})); n != 2 {
				t.Fatalf("%d definitions", n)
			}
		}
		if runs.Load() != 1 {
			t.Errorf("probed %d times", runs.Load())
		}
		fail.Store(true)
		time.Sleep(29 * time.Second)
		if len(r.Definitions(t.Context(), s, []string{"a"})) != 1 {
			t.Error("the cache did not hold")
		}
		time.Sleep(2 * time.Second)
		if len(r.Definitions(t.Context(), s, []string{"a"})) != 0 {
			t.Error("a panicking check passed")
		}
		if err := r.Why(t.Context(), s, "a"); err == nil || !strings.Contains(err.Error(), "panicked: boom") {
			t.Errorf("why: %v", err)
		}
		if !slices.Contains(r.Names(), "a") {
			t.Error("an unavailable tool left the list of names")
		}
		fail.Store(false)
		r.Invalidate()
		if len(r.Definitions(t.Context(), s, []string{"a"})) != 1 {
			t.Error("Invalidate kept the old verdict")
		}
	})
}

type (
	clock interface{ Now() string }
	fixed string
)

func (f fixed) Now() string { return string(f) }

func TestServicesAndNeeds(t *testing.T) {
	t.Parallel()
	app := NewServices(nil)
	s := &Session{Services: NewServices(app)}
	r := New()
	tl := echo("needy", `{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}`)
	tl.Needs = []Need{Needs[clock]().Refusing("%s must be handled by the agent loop")}
	must(t, r.Add(tl))
	if _, err := Use[clock](s.Services); !errors.Is(err, ErrNoService) {
		t.Errorf("use: %v", err)
	}
	run := func(args string) string {
		return string(r.Dispatch(t.Context(), &Call{Name: "needy", Args: json.RawMessage(args), Session: s}).JSON)
	}
	if got := run(`{"x":"1"}`); got != `{"error":"needy must be handled by the agent loop"}` { // case 29
		t.Errorf("refusal: %s", got)
	}
	if got := run(`{}`); !strings.Contains(got, "missing field x") { // validation comes first
		t.Errorf("validation: %s", got)
	}
	if len(r.Definitions(t.Context(), s, []string{"needy"})) != 0 {
		t.Error("offered without its service")
	}
	ProvideAs[clock](app, fixed("noon"))
	if len(r.Definitions(t.Context(), s, []string{"needy"})) != 1 {
		t.Error("not offered with its service")
	}
	ProvideAs[clock](s.Services, fixed("night"))
	if c, err := Use[clock](s.Services); err != nil || c.Now() != "night" {
		t.Errorf("the session's own service should win: %v %v", c, err)
	}
}

func TestEnvCheck(t *testing.T) {
	t.Parallel()
	app := NewServices(nil)
	check := EnvCheck(secret.Var{Name: "A_KEY"})
	if err := check.Probe(t.Context(), app); err == nil {
		t.Error("no source of variables, and available")
	}
	ProvideAs[Variables](app, vars{})
	if err := check.Probe(t.Context(), app); err == nil || !strings.Contains(err.Error(), "A_KEY is not set") {
		t.Errorf("reason: %v", err)
	}
	ProvideAs[Variables](app, vars{"A_KEY": "v"})
	must(t, check.Probe(t.Context(), app))
}

type vars map[string]string

func (v vars) Lookup(name string) (string, string, bool) { s, ok := v[name]; return s, "test", ok }

func TestMiddlewareAndNested(t *testing.T) {
	t.Parallel()
	r := New()
	var order []string
	wrap := func(name string) func(Handler) Handler {
		return func(next Handler) Handler {
			return func(ctx context.Context, c *Call) (any, error) {
				order = append(order, name)
				return next(ctx, c)
			}
		}
	}
	r.Use(wrap("outer"), wrap("inner"), func(Handler) Handler {
		return func(ctx context.Context, c *Call) (any, error) {
			if c.Name == "blocked" {
				return nil, errors.New("refused by a hook")
			}
			return json.RawMessage(`{"ok":true}`), nil
		}
	})
	must(t, r.Add(echo("a", "")))
	must(t, r.Add(echo("blocked", "")))
	if got := dispatch(t, r, "a", "{}"); got != `{"ok":true}` {
		t.Errorf("replaced result: %s", got)
	}
	if !slices.Equal(order, []string{"outer", "inner"}) {
		t.Errorf("order %v", order)
	}
	if got := dispatch(t, r, "blocked", "{}"); got != `{"error":"refused by a hook"}` {
		t.Errorf("blocked: %s", got)
	}
	parent := &Call{ID: "p", Name: "script", Session: session("a")}
	nested := r.Nested("a", "blocked")
	if res := nested.Dispatch(t.Context(), parent, "a", nil); res.Err != nil {
		t.Errorf("nested: %v", res.Err)
	}
	if res := nested.Dispatch(t.Context(), parent, "blocked", nil); res.Err == nil { // not enabled in the session
		t.Error("a tool outside of the session ran")
	}
	none := &Call{Name: "script", Session: &Session{Services: NewServices(nil), Enabled: []string{}}}
	if res := nested.Dispatch(t.Context(), none, "a", nil); res.Err == nil { // F-058
		t.Error("an empty set of tools was taken for all of them")
	}
}

type closer struct{ log *[]string }

func (c closer) Close() error { *c.log = append(*c.log, "closed"); return nil }

func TestLocals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := NewServices(nil)
		tasks := NewTasks(nil)
		ProvideAs(app, tasks)
		var log []string
		made := 0
		l := &Local[closer]{New: func(*Session) closer { made++; return closer{&log} }}
		a, b := &Session{ID: "a", Services: app}, &Session{ID: "b", TaskID: "a", Services: app}
		l.Get(a)
		l.Get(b) // the same task
		l.Get(&Session{ID: "c", Services: app})
		if made != 2 {
			t.Errorf("made %d values for two tasks", made)
		}
		must(t, tasks.End("a"))
		if len(log) != 1 {
			t.Errorf("closed %d", len(log))
		}
		time.Sleep(time.Hour)
		must(t, tasks.EndIdle(30*time.Minute))
		if len(log) != 2 {
			t.Errorf("idle task not closed: %d", len(log))
		}
		must(t, tasks.Close())
	})
}

type spillMap map[string]string

func (s spillMap) Spill(_ context.Context, _ *Session, id string, b []byte) (string, error) {
	s["/spill/"+id] = string(b)
	return "/spill/" + id, nil
}

func TestLimit(t *testing.T) {
	t.Parallel()
	r := New()
	r.Use(Limit(r))
	lines := strings.Repeat("line of output\n", 5000)
	must(t, r.Add(Tool{Name: "long", Toolset: "t", MaxChars: 10_000, Run: func(context.Context, *Call) (any, error) {
		return map[string]any{"output": lines, "exit_code": 0}, nil
	}}))
	s := session()
	kept := spillMap{}
	ProvideAs[Spiller](s.Services, kept)
	res := r.Dispatch(t.Context(), &Call{ID: "c1", Name: "long", Session: s})
	if !Persisted(res.JSON) || !strings.Contains(string(res.JSON), "Full output saved to: /spill/c1") {
		t.Fatalf("result: %.300s", res.JSON)
	}
	if !strings.HasPrefix(kept["/spill/c1"], lines) { // F-019: raw text, real line breaks
		t.Errorf("spilled %.80q", kept["/spill/c1"])
	}
	bare := r.Dispatch(t.Context(), &Call{ID: "c2", Name: "long", Session: session()}) // case 36
	if !strings.Contains(string(bare.JSON), "could not be saved") {
		t.Errorf("without a spiller: %.300s", bare.JSON)
	}
	inner := r.Dispatch(t.Context(), &Call{ID: "c3", Name: "long", Session: s, Parent: &Call{}})
	if Persisted(inner.JSON) {
		t.Error("a call from inside a tool was cut")
	}
}

func TestRepair(t *testing.T) {
	t.Parallel()
	known := []string{"read_file", "terminal", "todo", "tool"}
	for in, want := range map[string]string{ // agent case 9, tools case 34, F-039
		"read_file": "read_file", "Read_File": "read_file", "read-file": "read_file", "ReadFile": "read_file",
		"read_file_tool": "read_file", "TodoTool_tool": "todo", "read file": "read_file", "tool": "tool",
		"shell": "", "red_file": "", "": "",
	} {
		got, ok := Repair(in, known)
		if got != want || ok != (want != "") {
			t.Errorf("Repair(%q) = %q, %v", in, got, ok)
		}
	}
	if near := Nearest("shell", known, 3); len(near) == 0 || near[0] != "terminal" {
		t.Errorf("nearest to shell: %v", near)
	}
}

func TestAddField(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{}`: `{"_n":"x"}`, `{"a":1}`: `{"a":1,"_n":"x"}`, `[1]`: `[1]`, `{"_n":"w"}`: `{"_n":"w | x"}`,
	} {
		if got := string(AddField([]byte(in), "_n", "x")); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func TestDerivedSchema(t *testing.T) {
	t.Parallel()
	type args struct {
		Location string   `json:"location" doc:"Where."`
		Units    string   `json:"units,omitempty" enum:"metric,imperial" default:"metric"`
		Days     int      `json:"days,omitempty" min:"1" max:"7" default:"1"`
		Tags     []string `json:"tags,omitempty"`
	}
	got := string(deriveSchema[args]())
	want := `{"type":"object","properties":{"location":{"type":"string","description":"Where."},"units":{"type":"string","enum":["metric","imperial"],"default":"metric"},"days":{"type":"integer","default":1,"minimum":1,"maximum":7},"tags":{"type":"array","items":{"type":"string"}}},"required":["location"]}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	r := New()
	must(t, r.Add(Func(Tool{Name: "w", Toolset: "t"}, func(_ context.Context, _ *Call, in args) (any, error) {
		return fmt.Sprintf("%+v", in), nil
	})))
	if got := dispatch(t, r, "w", `{"location":"x","days":"3","tags":"a"}`); !strings.Contains(got, "Days:3 Tags:[a]") || !strings.Contains(got, "_note") {
		t.Errorf("typed call: %s", got)
	}
}

func BenchmarkDispatchEmpty(b *testing.B) {
	r := New()
	if err := r.Add(Tool{Name: "empty", Toolset: "t", Run: func(context.Context, *Call) (any, error) { return map[string]bool{"ok": true}, nil }}); err != nil {
		b.Fatal(err)
	}
	c := &Call{Name: "empty", Args: json.RawMessage(`{"a":1}`), Session: session()}
	c.Session.Enabled = nil
	for b.Loop() {
		r.Dispatch(b.Context(), c)
	}
}

func BenchmarkDefinitions1000(b *testing.B) {
	r := New()
	for i := range 1000 {
		if err := r.Add(echo(fmt.Sprintf("tool_%d", i), `{"type":"object","properties":{"path":{"type":"string","description":"a path"},"n":{"type":"integer"}},"required":["path"]}`)); err != nil {
			b.Fatal(err)
		}
	}
	names := r.Names()
	s := session()
	for b.Loop() {
		r.changed()
		r.Definitions(b.Context(), s, names)
	}
}

func TestMapFailure(t *testing.T) {
	t.Parallel()
	mask := func(s string) string { return strings.ReplaceAll(s, "secret", "***") }
	cause := errors.New("no secret here")
	if got := MapFailure(fmt.Errorf("open: %w", cause), mask); got.Error() != "open: no *** here" || !errors.Is(got, cause) {
		t.Errorf("plain: %v", got)
	}
	if got := string(failed(MapFailure(Fail(map[string]string{"output": "a secret"}, "exit 1"), mask)).JSON); got != `{"output":"a ***"}` {
		t.Errorf("value: %s", got)
	}
	if got := string(failed(MapFailure(Fail(map[string]string{"output": "a secret"}, "exit 1"), func(string) string { return `"` })).JSON); got != `{"error":"\""}` {
		t.Errorf("a mask that breaks JSON: %s", got)
	}
}
