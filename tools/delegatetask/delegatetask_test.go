package delegatetask

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/delegate"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/tool"
	"github.com/hermes-go/hermes/tool/tooltest"
)

type loop struct{}

func (loop) LastResult(string) (string, bool) { return "", false }

// nursery makes children that do what a test says.
type nursery struct {
	set    delegate.Settings
	depth  int
	turn   func(ctx context.Context, s delegate.Spec, w *delegate.Watch, yield func(agent.Event) bool)
	spawn  error
	mu     sync.Mutex
	specs  []delegate.Spec
	killed chan struct{}
	closed int
	stale  []string
}

func (n *nursery) Settings() delegate.Settings { return n.set }
func (n *nursery) Depth() int                  { return n.depth }

func (n *nursery) Spawn(_ context.Context, s delegate.Spec) (*delegate.Child, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.specs = append(n.specs, s)
	if n.spawn != nil {
		return nil, n.spawn
	}
	w := delegate.NewWatch()
	return &delegate.Child{
		Session: "child", Model: "m", Watch: w,
		Turn: func(ctx context.Context) iter.Seq2[agent.Event, error] {
			return func(yield func(agent.Event, error) bool) {
				n.turn(ctx, s, w, func(e agent.Event) bool { return yield(e, nil) })
			}
		},
		Writes: func(name string, _ json.RawMessage) []string {
			if name == "write_file" {
				return []string{"/w/a"}
			}
			return nil
		},
		Stale: func([]string) []string { return n.stale },
		Kill:  func(context.Context) error { close(n.killed); return nil },
		Close: func(context.Context) error { n.mu.Lock(); n.closed++; n.mu.Unlock(); return nil },
	}, nil
}

// request is a request of a child that answers at once.
func request(ctx context.Context, w *delegate.Watch) {
	_, _ = provider.Collect(w.Client(answers{}).Stream(ctx, &provider.Request{}))
}

type answers struct{}

func (answers) Stream(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		m := chat.AssistantText("x")
		m.Usage = &chat.Usage{Input: 7, Output: 3}
		yield(provider.Chunk{Final: &m}, nil)
	}
}

func newNursery(turn func(ctx context.Context, s delegate.Spec, w *delegate.Watch, yield func(agent.Event) bool)) *nursery {
	return &nursery{set: delegate.Settings{MaxChildren: 3, MaxDepth: 1, Timeout: time.Minute, Start: 10 * time.Second, Orchestrators: true}, turn: turn, killed: make(chan struct{})}
}

func session(n *nursery) *tool.Session {
	services := tool.NewServices(nil)
	tool.ProvideAs[agent.Loop](services, loop{})
	tool.ProvideAs[delegate.Spawner](services, n)
	return &tool.Session{ID: "s", Services: services}
}

type answer struct {
	Error   string
	Results []delegate.Result
}

func call(t *testing.T, ctx context.Context, n *nursery, args string) (answer, []string) {
	t.Helper()
	var mu sync.Mutex
	var said []string
	out := tool.Builtin().Dispatch(ctx, &tool.Call{ID: "1", Name: "delegate_task", Args: json.RawMessage(args), Session: session(n), Report: func(u tool.Update) {
		mu.Lock()
		said = append(said, u.Text)
		mu.Unlock()
	}})
	var a answer
	if err := json.Unmarshal(out.JSON, &a); err != nil {
		t.Fatalf("%s: %v", out.JSON, err)
	}
	return a, said
}

func TestContract(t *testing.T) {
	t.Parallel()
	n := newNursery(nil)
	n.depth = 1 // nothing can be started
	tooltest.Run(t, tool.Builtin(), session(n), "delegate_task")
}

func TestSideBySide(t *testing.T) {
	t.Parallel()
	var meet sync.WaitGroup
	meet.Add(3)
	n := newNursery(func(ctx context.Context, s delegate.Spec, w *delegate.Watch, yield func(agent.Event) bool) {
		meet.Done()
		meet.Wait() // all three run at once
		request(ctx, w)
		yield(agent.ToolStart{ID: "1", Name: "write_file", Args: []byte(`{"x":1}`)})
		yield(agent.ToolEnd{ID: "1", Name: "write_file", Result: []byte(`{}`)})
		yield(agent.ToolEnd{ID: "2", Name: "terminal", Result: []byte(`{"error":"no"}`), Err: errors.New("no")})
		yield(agent.Done{Status: agent.OK, Text: "did " + s.Goal})
	})
	n.stale = []string{"/w/a"}
	a, said := call(t, t.Context(), n, `{"tasks":[{"goal":"one"},{"goal":"two","role":"orchestrator"},{"goal":"three","context":"c","toolsets":["file"]}]}`)
	if len(a.Results) != 3 {
		t.Fatalf("%+v", a)
	}
	for i, goal := range []string{"one", "two", "three"} {
		r := a.Results[i]
		if r.Index != i || r.Status != delegate.Completed || !strings.HasPrefix(*r.Summary, "did "+goal+"\n\nNOTE: these files") || r.Calls != 1 || r.Tokens != (delegate.Tokens{Input: 7, Output: 3}) ||
			len(r.Trace) != 2 || r.Trace[0] != (delegate.Trace{Tool: "write_file", Args: 7, Result: 2, Status: "ok"}) || r.Trace[1].Status != "error" ||
			len(r.Written) != 1 || r.Session != "child" || r.Exit != "completed" {
			t.Errorf("%+v", r)
		}
	}
	for _, s := range n.specs {
		if s.Orchestrator || s.Depth != 1 || !strings.HasPrefix(s.ID, "sa-") || s.Goal == "three" && (len(s.Toolsets) != 1 || s.Context != "c") {
			t.Errorf("%+v", s)
		}
	}
	if n.closed != 3 || !strings.Contains(strings.Join(said, "\n"), "child 2 of 3: write_file (call 1)") {
		t.Errorf("%d closed, said %q", n.closed, said)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`{}`: "give goal, or tasks", `{"goal":" "}`: "give goal", `{"tasks":[{"goal":"a"},{"goal":""}]}`: "task 1 has no goal",
		`{"tasks":[{"goal":"a"},{"goal":"b"},{"goal":"c"},{"goal":"d"}]}`: "4 tasks, and at most 3 children run at once",
	} {
		n := newNursery(nil)
		if a, _ := call(t, t.Context(), n, args); !strings.Contains(a.Error, want) || len(n.specs) != 0 {
			t.Errorf("%s: %q, %d started", args, a.Error, len(n.specs))
		}
	}
	n := newNursery(nil)
	n.depth = 1
	if a, _ := call(t, t.Context(), n, `{"goal":"a"}`); !strings.Contains(a.Error, "delegation.max_spawn_depth is 1") {
		t.Errorf("too deep: %q", a.Error)
	}
	n = newNursery(nil)
	n.spawn = errors.New("no such toolset")
	if a, _ := call(t, t.Context(), n, `{"goal":"a"}`); a.Results[0].Status != delegate.Error || a.Results[0].Error != "no such toolset" || a.Results[0].Stage != "starting" {
		t.Errorf("%+v", a)
	}
}

// F-059: a child killed at its limit is told of, with what it did until then.
func TestF059TimeoutIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNursery(func(ctx context.Context, s delegate.Spec, w *delegate.Watch, yield func(agent.Event) bool) {
			request(ctx, w)
			yield(agent.Text{Text: "Half of it is done."})
			yield(agent.ToolStart{ID: "1", Name: "terminal", Args: []byte("{}")})
			yield(agent.Text{Text: "It sleeps."})
			<-ctx.Done()
			yield(agent.Done{Status: agent.Interrupted, Text: "Operation interrupted.", Err: context.Cause(ctx)})
		})
		n.set.Timeout = time.Second
		a, _ := call(t, t.Context(), n, `{"goal":"a"}`)
		r := a.Results[0]
		if r.Status != delegate.Timeout || r.Exit != "timeout" || r.Summary != nil || r.Partial != "It sleeps." || len(r.Trace) != 1 || r.Trace[0].Status != "running" ||
			r.Stage != "running terminal" || !strings.Contains(r.Error, "child_timeout_seconds is 1") || r.Seconds != 1 || n.closed != 1 {
			t.Errorf("%+v", r)
		}
	})
}

// F-060: a child whose first request never begins ends long before its time,
// and the stage is named.
func TestF060NoFirstCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNursery(func(ctx context.Context, s delegate.Spec, w *delegate.Watch, yield func(agent.Event) bool) {
			<-ctx.Done()
			yield(agent.Done{Status: agent.Interrupted})
		})
		a, _ := call(t, t.Context(), n, `{"goal":"a"}`)
		r := a.Results[0]
		if r.Status != delegate.Error || r.Stage != "before its first request" || !strings.Contains(r.Error, "did not begin within 10s") || r.Seconds != 10 {
			t.Errorf("%+v", r)
		}
	})
}

// A child that hangs and heeds nothing is left behind after its processes were
// ended, and that is said.
func TestHangingChild(t *testing.T) {
	t.Parallel()
	for _, heeds := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			free := make(chan struct{})
			var n *nursery
			n = newNursery(func(ctx context.Context, s delegate.Spec, w *delegate.Watch, yield func(agent.Event) bool) {
				request(ctx, w)
				yield(agent.ToolStart{ID: "1", Name: "terminal", Args: []byte("{}")})
				if heeds {
					<-n.killed
				} else {
					<-free
				}
			})
			a, _ := call(t, t.Context(), n, `{"goal":"a"}`)
			close(free)
			r := a.Results[0]
			if r.Status != delegate.Timeout || (r.Leftover == "") != heeds || r.Stage != "running terminal" {
				t.Errorf("heeds %t: %+v", heeds, r)
			}
		})
	}
}

// Cancelling the parent reaches every child.
func TestCancelReachesAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		n := newNursery(func(ctx context.Context, s delegate.Spec, w *delegate.Watch, yield func(agent.Event) bool) {
			request(ctx, w)
			if s.Goal == "quick" {
				yield(agent.Done{Status: agent.OK, Text: "done"})
				return
			}
			<-ctx.Done()
			yield(agent.Done{Status: agent.Interrupted, Err: context.Cause(ctx)})
		})
		time.AfterFunc(time.Second, func() { cancel(agent.ErrInterrupted) })
		a, _ := call(t, ctx, n, `{"tasks":[{"goal":"slow"},{"goal":"quick"},{"goal":"slow too"}]}`)
		if len(a.Results) != 3 || a.Results[0].Status != delegate.Interrupted || a.Results[1].Status != delegate.Completed || a.Results[2].Status != delegate.Interrupted {
			t.Errorf("%+v", a)
		}
	})
}

// A child that runs into a limit of its own has not completed, and what it says
// counts as a part.
func TestLimitsOfChild(t *testing.T) {
	t.Parallel()
	for status, exit := range map[agent.Status]string{agent.OutOfBudget: "max_iterations", agent.Partial: "partial", agent.Failed: "error"} {
		n := newNursery(func(ctx context.Context, s delegate.Spec, w *delegate.Watch, yield func(agent.Event) bool) {
			request(ctx, w)
			yield(agent.Done{Status: status, Text: "so far", Err: errors.New("why")})
		})
		a, _ := call(t, t.Context(), n, `{"goal":"a"}`)
		if r := a.Results[0]; r.Status != delegate.Failed || r.Exit != exit || r.Partial != "so far" || r.Error != "why" {
			t.Errorf("%s: %+v", status, r)
		}
	}
}
