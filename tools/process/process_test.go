package process_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/backend"
	_ "github.com/hermes-go/hermes/backends/local"
	"github.com/hermes-go/hermes/tool"
	_ "github.com/hermes-go/hermes/tools/process"
	_ "github.com/hermes-go/hermes/tools/terminal"
)

type bench struct {
	t    *testing.T
	reg  *tool.Registry
	pool *backend.Pool
	sess *tool.Session
	dir  string
}

func newBench(t *testing.T, dir string) *bench {
	t.Helper()
	b := &bench{t: t, reg: tool.Builtin(), dir: dir}
	home, cwd := t.TempDir(), t.TempDir()
	kind, _ := backend.Lookup("local")
	b.pool = &backend.Pool{Dir: dir, Open: func(ctx context.Context, task string) (backend.Env, error) {
		return kind.Open(ctx, backend.Options{Task: task, Cwd: cwd, Vars: func() []string {
			return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LANG=C.UTF-8"}
		}})
	}}
	t.Cleanup(func() {
		if err := b.pool.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	b.sess = b.session("one")
	return b
}

func (b *bench) session(id string) *tool.Session {
	s := tool.NewServices(nil)
	tool.ProvideAs(s, tool.NewTasks(nil))
	tool.ProvideAs[backend.Provider](s, b.pool)
	return &tool.Session{ID: id, Services: s}
}

type object = map[string]any

func (b *bench) call(name string, in object) (object, error) {
	b.t.Helper()
	return b.callAs(b.sess, name, in)
}

func (b *bench) callAs(s *tool.Session, name string, in object) (object, error) {
	b.t.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		b.t.Fatal(err)
	}
	r := b.reg.Dispatch(context.Background(), &tool.Call{ID: "c", Name: name, Args: raw, Session: s})
	var out object
	if err := json.Unmarshal(r.JSON, &out); err != nil {
		b.t.Fatalf("%s: %v", r.JSON, err)
	}
	return out, r.Err
}

// start runs a command in the background.
func (b *bench) start(command string, more ...object) string {
	b.t.Helper()
	in := object{"command": command, "background": true}
	for _, m := range more {
		for k, v := range m {
			in[k] = v
		}
	}
	out, err := b.call("terminal", in)
	id, _ := out["session_id"].(string)
	if err != nil || id == "" || out["output"] != "Background process started" || out["exit_code"] != 0.0 {
		b.t.Fatalf("%s: %v, %v", command, out, err)
	}
	return id
}

func (b *bench) do(action, id string, more ...object) object {
	b.t.Helper()
	in := object{"action": action, "session_id": id}
	for _, m := range more {
		for k, v := range m {
			in[k] = v
		}
	}
	out, err := b.call("process", in)
	if err != nil {
		b.t.Errorf("%s: %v, %v", action, out, err)
	}
	return out
}

func TestLifeOfAProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := newBench(t, dir)
	id := b.start("cd /; export X=1; seq 300; printf '\\033[1mlast\\033[0m'; sleep 0.2; exit 3")
	if l, err := os.ReadFile(filepath.Join(dir, id+".json")); err != nil || !strings.Contains(string(l), "seq 300") {
		t.Errorf("record: %s, %v", l, err)
	}
	out := b.do("poll", id)
	if out["status"] != "running" || out["exit_code"] != nil || out["pid"] == nil {
		t.Errorf("poll: %v", out)
	}
	out = b.do("wait", id, object{"timeout": 9999})
	if s, _ := out["timeout_note"].(string); out["status"] != "exited" || out["exit_code"] != 3.0 || !strings.HasSuffix(out["output"].(string), "300\nlast") || !strings.Contains(s, "clamped") {
		t.Errorf("wait: %v", out)
	}
	out = b.do("log", id, object{"limit": 2})
	if out["output"] != "300\nlast" || out["total_lines"] != 301.0 {
		t.Errorf("log: %v", out)
	}
	if out = b.do("log", id, object{"offset": 1, "limit": 2}); out["output"] != "2\n3" {
		t.Errorf("log by offset: %v", out)
	}
	if out = b.do("kill", id); out["status"] != "already_exited" {
		t.Errorf("kill: %v", out)
	}
	if _, err := os.Stat(filepath.Join(dir, id+".json")); err == nil {
		t.Error("the record of an ended process stays")
	}
	out, _ = b.call("process", object{"action": "list"})
	if l, _ := out["processes"].([]any); len(l) != 1 || l[0].(object)["exit_code"] != 3.0 {
		t.Errorf("list: %v", out)
	}
	if fg, _ := b.call("terminal", object{"command": "pwd; echo [$X]"}); fg["output"] == "/\n[1]" {
		t.Errorf("a background command changed the task: %v", fg)
	}
}

func TestInput(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	for _, pty := range []bool{false, true} {
		id := b.start(`read -r a; echo "got $a"; cat >/dev/null; echo end; [ -t 1 ] && echo terminal; true`, object{"pty": pty})
		if out := b.do("submit", id, object{"data": "hello"}); out["status"] != "ok" || out["bytes_written"] != 6.0 {
			t.Errorf("submit: %v", out)
		}
		b.do("write", id, object{"data": "more\n"})
		b.do("close", id)
		out := b.do("wait", id, object{"timeout": 20})
		s, _ := out["output"].(string)
		if out["status"] != "exited" || !strings.Contains(s, "got hello") || !strings.Contains(s, "end") || strings.Contains(s, "\nterminal") != pty {
			t.Errorf("pty %v: %v", pty, out)
		}
		if out, err := b.call("process", object{"action": "write", "session_id": id, "data": "x"}); err == nil {
			t.Errorf("wrote to the dead: %v", out)
		}
	}
}

func TestKill(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	own := "." + strconv.Itoa(os.Getpid()) // tells our sleeps from those of other tests
	for name, command := range map[string]string{
		"plain":                     "sleep 60" + own,
		"F-042 grandchild":          "sh -c 'sleep 61" + own + " & exit 0'",
		"ignores TERM":              "trap '' TERM; sleep 62" + own + "; sleep 63" + own,
		"grandchild without output": "(sleep 64" + own + " >/dev/null 2>&1 &) ; sleep 0.1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := b.start(command + " # " + name)
			if name == "grandchild without output" {
				b.do("wait", id, object{"timeout": 10})
			}
			start := time.Now()
			b.do("kill", id)
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
			if out := b.do("poll", id); out["status"] != "exited" {
				t.Errorf("afterwards: %v", out)
			}
		})
	}
	t.Cleanup(func() {
		out, _ := b.call("terminal", object{"command": `for i in $(seq 50); do pgrep -f '^sleep 6[0-4]\` + own + `$' >/dev/null || exit 0; sleep 0.1; done; echo still`})
		if out["output"] != "" {
			t.Errorf("still there: %v", out)
		}
	})
}

func TestForeignAndUnknown(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	id := b.start("sleep 30")
	for _, s := range []*tool.Session{b.sess, b.session("two")} {
		want := "not_found" // case 66
		who := "proc_nothing"
		if s != b.sess {
			who = id
		}
		out, err := b.callAs(s, "process", object{"action": "poll", "session_id": who})
		if out["status"] != want || err == nil {
			t.Errorf("%s asks for %s: %v", s.ID, who, out)
		}
	}
	for _, in := range []object{{"action": "dance", "session_id": id}, {"action": "poll"}, {}} {
		if out, err := b.call("process", in); err == nil {
			t.Errorf("%v: %v", in, out)
		}
	}
	b.do("kill", id)
}

func TestNotifyAndWatch(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	next := func() backend.Event {
		t.Helper()
		e, err := b.pool.Jobs().Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	id := b.start("echo work; exit 4", object{"notify_on_complete": true})
	if e := next(); e.Type != backend.Completion || e.Session != id || *e.ExitCode != 4 || e.Output != "work\n" || e.Task != "one" {
		t.Errorf("got %+v", e)
	}
	id = b.start("echo starting; printf 'now ready to serve\\n'; sleep 30", object{"watch_patterns": []string{"ready", "ERROR"}})
	if e := next(); e.Type != backend.WatchMatch || e.Session != id || e.Pattern != "ready" || e.Output != "now ready to serve" {
		t.Errorf("got %+v", e)
	}
	b.do("kill", id)

	out, _ := b.call("terminal", object{"command": "true", "background": true, "notify_on_complete": true, "watch_patterns": []string{"x"}}) // case 65
	if out["watch_patterns_ignored"] == nil || out["notify_on_complete"] != true {
		t.Errorf("got %v", out)
	}
	b.do("wait", out["session_id"].(string)) // seen: no event
	id = b.start("true", object{"notify_on_complete": true})
	if e := next(); e.Session != id {
		t.Errorf("an event of what was seen to end: %+v", e)
	}
}

func TestLeftByForeground(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir())
	out, err := b.call("terminal", object{"command": "bash -c 'sleep 65 >/dev/null 2>&1 &'"})
	note, _ := out["note"].(string)
	if err != nil || !strings.Contains(note, "as proc_") {
		t.Fatalf("got %v, %v", out, err)
	}
	id := note[strings.Index(note, "proc_"):][:17]
	if out := b.do("poll", id); out["status"] != "running" {
		t.Errorf("poll: %v", out)
	}
	if out := b.do("kill", id); out["status"] != "killed" {
		t.Errorf("kill: %v", out)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.pool.Set.MaxJobs = 2
	b.start("sleep 30")
	b.start("sleep 30")
	out, err := b.call("terminal", object{"command": "sleep 30", "background": true})
	if s, _ := out["error"].(string); err == nil || !strings.Contains(s, "too many") {
		t.Errorf("got %v", out)
	}
}

// TestExit covers F-043 and what the next start finds.
func TestExit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := newBench(t, dir)
	gone := b.start("sleep 66")
	out, err := b.call("terminal", object{"command": "nohup sh -c 'echo kept; sleep 67'", "background": true})
	kept, _ := out["session_id"].(string)
	if err != nil || kept == "" || out["note"] == nil {
		t.Fatalf("got %v, %v", out, err)
	}
	if err := b.pool.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	next := newBench(t, dir)
	out, _ = next.call("process", object{"action": "list"})
	l, _ := out["processes"].([]any)
	if len(l) != 1 || l[0].(object)["session_id"] != kept || l[0].(object)["detached"] != true {
		t.Fatalf("the next start finds %v", out)
	}
	if out, _ := next.call("process", object{"action": "poll", "session_id": gone}); out["status"] != "not_found" {
		t.Errorf("got %v", out)
	}
	deadline := time.Now().Add(5 * time.Second)
	for out = next.do("log", kept); out["output"] != "kept"; out = next.do("log", kept) {
		if time.Now().After(deadline) {
			t.Fatalf("log: %v", out)
		}
	}
	if out := next.do("kill", kept); out["status"] != "killed" {
		t.Errorf("kill: %v", out)
	}
	if out, _ := next.call("process", object{"action": "list"}); len(out["processes"].([]any)) != 0 {
		t.Errorf("afterwards: %v", out)
	}
}
