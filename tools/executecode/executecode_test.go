//go:build !windows

package executecode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/ask"
	"github.com/hermes-go/hermes/backend"
	_ "github.com/hermes-go/hermes/backends/docker"
	_ "github.com/hermes-go/hermes/backends/local"
	_ "github.com/hermes-go/hermes/backends/sandbox"
	_ "github.com/hermes-go/hermes/backends/ssh"
	"github.com/hermes-go/hermes/internal/confine"
	"github.com/hermes-go/hermes/internal/peertest"
	"github.com/hermes-go/hermes/tool"
)

func TestMain(m *testing.M) {
	if code, ok := confine.Child(os.Args); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// bench runs scripts in one place.
type bench struct {
	place    backend.ScriptPlace
	set      backend.ScriptSettings
	services *tool.Services
	enabled  []string
	registry *tool.Registry
}

func (b *bench) ScriptSettings() backend.ScriptSettings { return b.set }
func (b *bench) ScriptPlace(context.Context, string) (backend.ScriptPlace, error) {
	return b.place, nil
}

// newBench makes a bench whose tools answer with what they were asked.
func newBench(t testing.TB, place backend.ScriptPlace) *bench {
	b := &bench{place: place, set: backend.DefaultScriptSettings(), services: tool.NewServices(nil), registry: tool.New()}
	for _, name := range append(Callable(), "memory") {
		if err := b.registry.Add(tool.Tool{Name: name, Toolset: "x", Schema: json.RawMessage(`{"type":"object"}`), Run: func(_ context.Context, c *tool.Call) (any, error) {
			return map[string]any{"tool": c.Name, "args": c.Args, "text": "two\nlines"}, nil
		}}); err != nil {
			t.Fatal(err)
		}
	}
	tool.ProvideAs[backend.ScriptHost](b.services, b)
	tool.ProvideAs(b.services, b.registry.Nested(Callable()...))
	return b
}

type outcome struct {
	Status, Output, Error, Hint string
	Calls                       int `json:"tool_calls_made"`
}

func (b *bench) run(t testing.TB, code string) outcome {
	t.Helper()
	raw, err := json.Marshal(map[string]string{"code": code})
	if err != nil {
		t.Fatal(err)
	}
	v, err := run(t.Context(), &tool.Call{ID: "1", Name: "execute_code", Args: raw, Session: &tool.Session{ID: "s", Enabled: b.enabled, Services: b.services}}, args{code})
	var out outcome
	text, encErr := json.Marshal(v)
	if err != nil {
		text = nil
		if r := failed(err); r != nil {
			text, encErr = json.Marshal(r)
		}
	}
	if encErr != nil || json.Unmarshal(text, &out) != nil || out.Status == "" {
		t.Fatalf("%s: got %s, %v", code, text, err)
	}
	return out
}

// failed takes the value out of an error as a model would see it.
func failed(err error) any {
	r := tool.New()
	if r.Add(tool.Tool{Name: "x", Toolset: "x", Run: func(context.Context, *tool.Call) (any, error) { return nil, err }}) != nil {
		return nil
	}
	res := r.Dispatch(context.Background(), &tool.Call{Name: "x", Args: json.RawMessage(`{}`), Session: &tool.Session{Services: tool.NewServices(nil)}})
	var v any
	if json.Unmarshal(res.JSON, &v) != nil {
		return nil
	}
	return v
}

func open(t testing.TB, kind string, o backend.Options) backend.Env {
	t.Helper()
	k, ok := backend.Lookup(kind)
	if !ok {
		t.Fatalf("there is no %s", kind)
	}
	e, err := k.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	return e
}

// onHost is a place on this machine.
func onHost(t testing.TB, kind string) backend.ScriptPlace {
	home, dir := t.TempDir(), t.TempDir()
	e := open(t, kind, backend.Options{Cwd: dir, Home: home, Bare: true, Vars: func() []string {
		return []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + home}
	}})
	return backend.ScriptPlace{Env: e, Here: true, Confined: true, Dir: dir}
}

func confined(t testing.TB) {
	if runtime.GOOS != "linux" {
		t.Skip("the sandbox is for Linux")
	}
	if err := confine.Look().Err(); err != nil {
		t.Fatalf("the sandbox cannot be checked here: %v", err)
	}
}

// cases hold wherever scripts run.
func cases(t *testing.T, b *bench) {
	for _, c := range []struct{ name, code, status, output, err string }{
		{"output", "print('hello')", "success", "hello", ""},
		{"a call", "from hermes_tools import read_file\nr = read_file('a b', limit=2)\nprint(r['tool'], r['args'], r['text'])", "success", "read_file {'path': 'a b', 'offset': 1, 'limit': 2} two\nlines", ""},
		{"a long call", "from hermes_tools import write_file\nr = write_file('f', 'é\\n' * 50000)\nprint(len(r['args']['content']))", "success", "100000", ""},
		{"terminal alone", "import hermes_tools\nprint(hermes_tools._call('terminal', dict(command='x', background=True, pty=True))['args'])", "success", "{'command': 'x'}", ""},
		{"exit code and complaints", "import sys\nprint('out')\nprint('err', file=sys.stderr)\nsys.exit(3)", "error", "out\n--- stderr ---\nerr", "err"},
		{"exit code alone", "import sys\nsys.exit(3)", "error", "", "the script ended with exit code 3"},
		{"no such tool", "from hermes_tools import delegate_task", "error", "", "ImportError"},
		{"not by hand either", "import hermes_tools\nprint(hermes_tools._call('memory', {}))", "success", "cannot be called from a script", ""},
		{"helpers", "from hermes_tools import json_parse, shell_quote, retry\nn = []\ndef f():\n  n.append(1)\n  if len(n) < 2: raise ValueError\n  return len(n)\nprint(json_parse('[\"a\\tb\"]'), shell_quote(\"it's\"), retry(f, delay=0))", "success", `['a\tb'] 'it'"'"'s' 2`, ""},
		{"threads and processes", `import os, threading
from hermes_tools import read_file
def work(n): out.append(read_file(str(n))["args"]["path"])
out = []
threads = [threading.Thread(target=work, args=(n,)) for n in range(5)]
[t.start() for t in threads]; [t.join() for t in threads]
pid = os.fork()
if pid == 0:
    read_file("child"); os._exit(7)
print(sorted(out), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`, "success", "['0', '1', '2', '3', '4'] 7", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := b.run(t, c.code)
			if got.Status != c.status || !strings.Contains(got.Output, c.output) || !strings.Contains(got.Error, c.err) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestLocal(t *testing.T) {
	t.Parallel()
	cases(t, newBench(t, onHost(t, "local")))
}

func TestSandbox(t *testing.T) {
	t.Parallel()
	confined(t)
	cases(t, newBench(t, onHost(t, "sandbox")))
}

func TestSSH(t *testing.T) {
	t.Parallel()
	s := peertest.StartSSH(t)
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "known_hosts"), []byte(s.Known+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := open(t, "ssh", backend.Options{Home: home, Decode: func(into any) error {
		return json.Unmarshal(fmt.Appendf(nil, `{"Host": "127.0.0.1", "User": %q, "Port": %d, "Key": %q}`, s.User, s.Port, s.Key), into)
	}})
	cases(t, newBench(t, backend.ScriptPlace{Env: e, Confined: true}))
}

func TestDocker(t *testing.T) {
	if runtime.GOOS != "linux" || testing.Short() {
		t.Skip("a daemon of our own is for Linux, and for long runs")
	}
	d := peertest.StartDocker(t)
	t.Setenv("DOCKER_HOST", d.Host)
	e := open(t, "docker", backend.Options{Task: "code", Home: t.TempDir(), Decode: func(into any) error {
		b, err := json.Marshal(map[string]any{"Image": d.Image, "Volumes": d.Volumes, "Network": false, "Persistent": false})
		if err != nil {
			return err
		}
		return json.Unmarshal(b, into)
	}})
	cases(t, newBench(t, backend.ScriptPlace{Env: e, Confined: true}))
}

// TestF057: the program's own code, configuration and keys are out of reach.
func TestF057OwnFiles(t *testing.T) {
	t.Parallel()
	confined(t)
	p := onHost(t, "sandbox")
	b := newBench(t, p)
	if got := b.run(t, "from hermes_cli.config import load_config"); got.Status != "error" || !strings.Contains(got.Error, "ModuleNotFoundError") {
		t.Errorf("imported: %+v", got)
	}
	base, err := os.MkdirTemp("/var/lib", "hermes-code-test-")
	if err != nil {
		base, err = os.MkdirTemp(os.Getenv("HOME"), ".hermes-code-test-")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	config := filepath.Join(base, "config.yaml")
	if err := os.WriteFile(config, []byte("key: secret-value"), 0o644); err != nil {
		t.Fatal(err)
	}
	got := b.run(t, fmt.Sprintf("print(open(%q).read())", config))
	if got.Status != "error" || strings.Contains(got.Output, "secret-value") || !strings.Contains(got.Error, "PermissionError") || got.Hint == "" {
		t.Errorf("read: %+v", got)
	}
	if got := b.run(t, "import os\nprint(sorted(k for k in os.environ if 'KEY' in k or 'TOKEN' in k or 'SECRET' in k))"); got.Output != "[]" {
		t.Errorf("environment: %+v", got)
	}
}

// TestF058: no tools are none, not all.
func TestF058NoTools(t *testing.T) {
	t.Parallel()
	b := newBench(t, onHost(t, "local"))
	for _, enabled := range [][]string{{}, {"memory", "execute_code"}} {
		b.enabled = enabled
		if got := b.run(t, "import hermes_tools\nprint([n for n in dir(hermes_tools) if n in ('terminal', 'read_file', 'patch')])\nprint(hermes_tools._call('terminal', {}))"); got.Status != "success" || !strings.HasPrefix(got.Output, "[]\n{'error': 'terminal cannot be called from a script") || got.Calls != 0 {
			t.Errorf("%v: got %+v", enabled, got)
		}
	}
	b.enabled = []string{"read_file", "memory"}
	if got := b.run(t, "import hermes_tools\nprint([n for n in dir(hermes_tools) if n in ('terminal', 'read_file', 'memory')])"); got.Output != "['read_file']" {
		t.Errorf("got %+v", got)
	}
	if d := describeFor(&tool.Session{Services: b.services}, []string{"memory"}); strings.Contains(d.About, "terminal(") || !strings.Contains(d.About, "none") {
		t.Errorf("the model is told %s", d.About)
	}
}

// TestLimits: 81 and 82, and what takes too long.
func TestLimits(t *testing.T) {
	t.Parallel()
	b := newBench(t, onHost(t, "local"))
	if got := b.run(t, "from hermes_tools import read_file\nprint([('error' in read_file('x')) for _ in range(51)][-2:])"); got.Output != "[False, True]" || got.Calls != 50 {
		t.Errorf("51 calls: %+v", got)
	}
	if got := b.run(t, "print('x' * 60000)"); !strings.Contains(got.Output, "OUTPUT TRUNCATED - 10001 chars omitted") || len(got.Output) > 50_200 {
		t.Errorf("long output: %d characters", len(got.Output))
	}
	if got := b.run(t, "import sys\nsys.stderr.write('e' * 20000)\nsys.exit(1)"); !strings.HasSuffix(got.Error, "[truncated]") || len(got.Error) > 10_100 {
		t.Errorf("long complaints: %d characters", len(got.Error))
	}
	b.set.Timeout = 1
	began := time.Now()
	if got := b.run(t, "import os, time\nprint('began')\nos.fork()\ntime.sleep(60)"); got.Status != "timeout" || !strings.HasPrefix(got.Output, "began") || time.Since(began) > 20*time.Second {
		t.Errorf("endless: %+v", got)
	}
	b.set = backend.DefaultScriptSettings()
	if got := b.run(t, "import os\nprint(os.getcwd())"); got.Output != b.place.Dir {
		t.Errorf("project: %+v", got)
	}
	b.set.Mode = "strict"
	if got := b.run(t, "import os\nprint(os.getcwd() == os.environ['HERMES_RPC_DIR'])"); got.Output != "True" {
		t.Errorf("strict: %+v", got)
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "hermes-code-*"))
	if err != nil || slices.ContainsFunc(left, func(d string) bool { i, err := os.Stat(d); return err == nil && time.Since(i.ModTime()) > time.Hour }) {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestNoPython: a clear error, and the next script runs.
func TestNoPython(t *testing.T) {
	t.Parallel()
	p := onHost(t, "local")
	b := newBench(t, p)
	bare := t.TempDir()
	for _, name := range []string{"mkdir", "rm"} {
		if err := os.Symlink("/bin/"+name, filepath.Join(bare, name)); err != nil {
			t.Fatal(err)
		}
	}
	b.place.Env = open(t, "local", backend.Options{Cwd: p.Dir, Bare: true, Vars: func() []string { return []string{"PATH=" + bare + ":/usr/bin/nothing", "HOME=" + bare} }})
	if _, err := b.place.Env.Exec(t.Context(), backend.Cmd{Script: "export PATH=" + bare}); err != nil {
		t.Fatal(err)
	}
	if got := b.run(t, "print(1)"); got.Status != "error" || got.Error != noPython {
		t.Errorf("got %+v", got)
	}
	b.place = p
	if got := b.run(t, "print(1)"); got.Output != "1" {
		t.Errorf("then %+v", got)
	}
}

type approver struct{ err error }

func (a approver) Approve(context.Context, ask.Request) error { return a.err }

// TestAsked: code that nothing holds back runs when a person says so.
func TestAsked(t *testing.T) {
	t.Parallel()
	p := onHost(t, "local")
	p.Confined, p.Why = false, "no sandbox"
	b := newBench(t, p)
	if got := b.run(t, "print(1)"); got.Status != "blocked" || !strings.Contains(got.Error, "no sandbox") {
		t.Errorf("nobody to ask: %+v", got)
	}
	tool.ProvideAs[ask.Approver](b.services, approver{errors.New("denied")})
	if got := b.run(t, "print(1)"); got.Status != "blocked" || !strings.Contains(got.Error, "denied") {
		t.Errorf("denied: %+v", got)
	}
	tool.ProvideAs[ask.Approver](b.services, approver{})
	if got := b.run(t, "print(1)"); got.Output != "1" {
		t.Errorf("allowed: %+v", got)
	}
}

// BenchmarkCall is what a call costs above the tool itself.
func BenchmarkCall(b *testing.B) {
	for _, kind := range []string{"local", "sandbox"} {
		b.Run(kind, func(b *testing.B) {
			bb := newBench(b, onHost(b, kind))
			bb.set.MaxCalls = 1 << 30
			got := bb.run(b, fmt.Sprintf("import time\nfrom hermes_tools import read_file\nread_file('x')\nt = time.perf_counter()\nfor _ in range(%d): read_file('x')\nprint(time.perf_counter() - t)", b.N))
			var s float64
			if _, err := fmt.Sscan(got.Output, &s); err != nil {
				b.Fatalf("%+v", got)
			}
			b.ReportMetric(s*1e6/float64(b.N), "µs/call")
		})
	}
}
