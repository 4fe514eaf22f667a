// Package filestest is a bench for the file tools: a fresh directory and home
// on the local backend, sessions of several tasks, and calls that go the whole
// way through the registry. Only tests import it.
package filestest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/backend"
	_ "github.com/hermes-go/hermes/backends/local" // where the tools run
	"github.com/hermes-go/hermes/internal/files"
	"github.com/hermes-go/hermes/tool"
)

// Bench is one app with a directory to work in.
type Bench struct {
	T    testing.TB
	Dir  string // the working directory of every task
	Home string // of the user; the program's own is Home/.hermes
	App  *tool.Services
	Pool *backend.Pool
	Reg  *tool.Registry
	Vars map[string]string
	Path string // PATH of the tasks' shells

	// Wrap changes the environment of every task, e.g. to make writes fail.
	Wrap func(backend.Env) backend.Env
}

// New makes a bench. Its directories go with the test.
func New(t testing.TB) *Bench {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &Bench{
		T: t, Dir: filepath.Join(root, "work"), Home: filepath.Join(root, "home"), Vars: map[string]string{},
		App: tool.NewServices(nil), Reg: tool.Builtin(), Path: os.Getenv("PATH"),
	}
	for _, d := range []string{b.Dir, b.Home} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.Pool = &backend.Pool{Open: b.open}
	b.Reg.Use(func(next tool.Handler) tool.Handler { return files.Watch(next) })
	tool.ProvideAs[backend.Provider](b.App, b.Pool)
	tool.ProvideAs(b.App, tool.NewTasks(nil))
	tool.ProvideAs[tool.Variables](b.App, vars(b.Vars))
	t.Cleanup(func() {
		if err := b.Pool.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *Bench) open(ctx context.Context, task string) (backend.Env, error) {
	kind, ok := backend.Lookup("local")
	if !ok {
		return nil, errors.New("no local backend")
	}
	env, err := kind.Open(ctx, backend.Options{Task: task, Cwd: b.Dir, Vars: func() []string {
		return []string{"PATH=" + b.Path, "HOME=" + b.Home, "LANG=C.UTF-8"}
	}})
	if err == nil && b.Wrap != nil {
		env = b.Wrap(env)
	}
	return env, err
}

type vars map[string]string

func (v vars) Lookup(name string) (string, string, bool) {
	s, ok := v[name]
	return s, "test", ok
}

// Args are the arguments of a call.
type Args map[string]any

// Result is the answer of a call.
type Result struct {
	JSON  string
	Err   error
	Value map[string]any
}

// Text is a field as text, "" when it is absent or something else.
func (r Result) Text(field string) string { s, _ := r.Value[field].(string); return s }

// Num is a field as a number, -1 when it is absent or something else.
func (r Result) Num(field string) int {
	if f, ok := r.Value[field].(float64); ok {
		return int(f)
	}
	return -1
}

// Is tells whether a field is true.
func (r Result) Is(field string) bool { v, _ := r.Value[field].(bool); return v }

// Session makes the session of a task.
func (b *Bench) Session(task string) *tool.Session {
	return &tool.Session{ID: task, TaskID: task, Platform: "cli", Services: tool.NewServices(b.App)}
}

// Call runs a tool for the task "main".
func (b *Bench) Call(name string, args Args) Result {
	b.T.Helper()
	return b.CallAs("main", name, args)
}

// CallAs runs a tool for a task.
func (b *Bench) CallAs(task, name string, args Args) Result {
	b.T.Helper()
	return b.call(context.Background(), task, name, args)
}

// CallIn runs a tool for the task "main" in a context.
func (b *Bench) CallIn(ctx context.Context, name string, args Args) Result {
	b.T.Helper()
	return b.call(ctx, "main", name, args)
}

func (b *Bench) call(ctx context.Context, task, name string, args Args) Result {
	b.T.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		b.T.Fatal(err)
	}
	res := b.Reg.Dispatch(ctx, &tool.Call{ID: "c", Name: name, Args: raw, Session: b.Session(task)})
	r := Result{JSON: string(res.JSON), Err: res.Err}
	if err := json.Unmarshal(res.JSON, &r.Value); err != nil {
		b.T.Fatalf("%s: the result is no object: %s", name, res.JSON)
	}
	return r
}

// OK runs a tool that must succeed.
func (b *Bench) OK(name string, args Args) Result {
	b.T.Helper()
	r := b.Call(name, args)
	if r.Err != nil {
		b.T.Fatalf("%s %v: %s", name, args, r.JSON)
	}
	return r
}

// Fails runs a tool that must fail, with an error that holds every part.
func (b *Bench) Fails(name string, args Args, parts ...string) Result {
	b.T.Helper()
	r := b.Call(name, args)
	if r.Err == nil || r.Text("error") == "" {
		b.T.Fatalf("%s %v did not fail: %s", name, args, r.JSON)
	}
	for _, p := range parts {
		if !strings.Contains(r.Text("error"), p) {
			b.T.Errorf("%s %v: the error lacks %q: %s", name, args, p, r.Text("error"))
		}
	}
	return r
}

// At is the absolute name of a file in the working directory.
func (b *Bench) At(name string) string { return filepath.Join(b.Dir, filepath.FromSlash(name)) }

// Put writes a file; missing directories are made.
func (b *Bench) Put(name, content string) string {
	b.T.Helper()
	if !filepath.IsAbs(name) {
		name = b.At(name)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		b.T.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		b.T.Fatal(err)
	}
	return name
}

// Get is the content of a file, "<absent>" without one.
func (b *Bench) Get(name string) string {
	b.T.Helper()
	if !filepath.IsAbs(name) {
		name = b.At(name)
	}
	data, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return "<absent>"
	}
	if err != nil {
		b.T.Fatal(err)
	}
	return string(data)
}

// Sh runs a script in an environment and fails the test when it does not end
// with 0.
func Sh(t testing.TB, env backend.Env, script string) string {
	t.Helper()
	var out strings.Builder
	exit, err := env.Exec(context.Background(), backend.Cmd{Script: script, Output: &out})
	if err != nil || exit.Code != 0 {
		t.Fatalf("%s: %v, code %d: %s", script, err, exit.Code, out.String())
	}
	return out.String()
}
