package agent

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hermes-go/hermes/ask"
	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/provider"
)

// randomAnswer is anything that a model may come up with.
func randomAnswer(r *rand.Rand) answer {
	a := answer{pieces: 1 + r.IntN(4), mute: r.IntN(8) == 0}
	if r.IntN(3) > 0 {
		a.text = fmt.Sprintf("word%d ", r.IntN(1000))
	}
	if r.IntN(6) == 0 {
		a.text = " \n"
	}
	if r.IntN(4) == 0 {
		a.reasoning = "hm"
	}
	if r.IntN(6) == 0 {
		a.retry = "reset"
	}
	a.wait = time.Duration(r.IntN(3)) * 10 * time.Millisecond
	if r.IntN(2) == 0 {
		for range 1 + r.IntN(12) {
			a.calls = append(a.calls, randomCall(r))
		}
	}
	switch r.IntN(16) {
	case 0:
		a.finish = chat.FinishLength
	case 1:
		a.finish = chat.FinishFilter
	case 2:
		a.err = errors.New("broken")
	case 3:
		a.err = &provider.Error{Class: provider.ClassTimeout, Partial: true}
	case 4:
		a.err, a.started = &provider.Error{Class: provider.ClassTimeout, Partial: true}, true
	case 5:
		a.nothing = true
	case 6:
		a.hang = r.IntN(3) == 0
	case 7:
		a.panics = r.IntN(3) == 0
	case 8:
		a.calls, a.truncated = nil, a.text != ""
	case 9:
		a.err = &provider.Error{Class: provider.ClassContextOverflow, Message: "too long"}
	}
	return a
}

func randomCall(r *rand.Rand) chat.ToolCall {
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	name := pick("get", "get", "read_file", "Write-File", "patch", "terminal", "todo", "panics", "exits", "fails", "list", "badeffects",
		"ask_at_once", "clarify", "look_back", "execute_code", "memory")
	if r.IntN(20) == 0 {
		name = pick("zzz", "", "bad name\x00", "rm_rf")
	}
	args := fmt.Sprintf(`{"path":%q,"ms":%d,"n":%d,"text":%q}`, pick("/a", "/a/b", "/b", "/c", ""), r.IntN(3)*20, r.IntN(3), pick("todo", "x", "}"))
	switch r.IntN(24) {
	case 0:
		args = args[:r.IntN(len(args))]
	case 1:
		args = pick("", "null", "[]", "{bad}", `{"n":1,}`, `{"n":1}}`, `{"path":5}`, "{\"text\":\"a\nb\"}", `{"text":"\ud83d"}`)
	}
	return call(pick("", "a", "b", "c", fmt.Sprint("call_", r.IntN(100))), name, args)
}

var rounds = flag.Int("rounds", 400, "random sessions that TestProperties plays")

// Random scripts, stopped at random points in random ways: what holds after
// every turn holds after these, and the next turn works.
func TestProperties(t *testing.T) {
	for seed := range *rounds {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 1))
			defer func() {
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}()
			randomSession(t, r)
		})
	}
}

func randomSession(t *testing.T, r *rand.Rand) {
	w := newWorld(t)
	w.session.Interactive = r.IntN(2) == 0
	w.session.AskTimeout = time.Duration(r.IntN(3)) * 15 * time.Millisecond
	w.session.MaxCalls = 1 + r.IntN(12)
	w.agent.Guard.HardStop = r.IntN(2) == 0
	if r.IntN(4) == 0 {
		w.agent.Hooks = hookFunc(func(e HookEvent) HookResult {
			if len(e.Name)%2 == 0 {
				panic("hook")
			}
			return HookResult{Context: []string{"ctx"}}
		})
	}
	cutRan := false
	for range 1 + r.IntN(4) {
		w.model.script = nil
		for range 1 + r.IntN(8) {
			w.model.script = append(w.model.script, randomAnswer(r))
		}
		w.model.script = append(w.model.script, text("the end"))
		first := w.store.appends
		w.store.failFrom = 0
		if r.IntN(6) == 0 {
			w.store.failFrom = first + 2 + r.IntN(8)
			w.store.failTo = w.store.failFrom + r.IntN(3)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		if r.IntN(3) == 0 {
			time.AfterFunc(time.Duration(r.IntN(120))*time.Millisecond, func() { cancel(ErrInterrupted) })
		} else {
			time.AfterFunc(time.Hour, func() { cancel(ErrInterrupted) }) // hanging scripts end too
		}
		breakAt := -1
		if r.IntN(4) == 0 {
			breakAt = r.IntN(20)
		}
		slow := r.IntN(4) == 0
		n := 0
		var open atomic.Bool
		_, events := w.turn(ctx, fmt.Sprint("message ", n), func(e Event) bool {
			n++
			if slow {
				time.Sleep(5 * time.Millisecond)
			}
			if a, ok := e.(Asked); ok {
				if open.Swap(true) && w.session.AskTimeout == 0 && ctx.Err() == nil {
					t.Errorf("%v is asked while another question is open", a.Request)
				}
				switch r.IntN(3) {
				case 0:
					open.Store(false)
					a.Reply(ask.Answer{Text: "yes"})
				case 1:
					time.AfterFunc(10*time.Millisecond, func() {
						open.Store(false)
						a.Reply(ask.Answer{Text: "later"})
					})
				default:
					if w.session.AskTimeout == 0 { // somebody has to
						cancel(ErrInterrupted)
					}
				}
			}
			return n-1 != breakAt
		})
		cancel(nil)
		synctest.Wait() // nothing may be left but the timers of this test
		w.checkEvents(events)
	}
	for _, m := range w.session.History {
		for _, c := range m.ToolCalls {
			if _, err := RepairArguments(c.Function.Arguments); err != nil && c.Function.Name != "zzz" && m.Role == chat.Assistant {
				cutRan = cutRan || started(w, c)
			}
		}
	}
	if cutRan {
		t.Error("a call ran whose arguments were cut")
	}
	w.store.failFrom = 0
	w.model.script = []answer{text("fine")}
	w.session.MaxCalls = 0
	if done, _ := w.say("still there?"); done.Status != OK {
		t.Errorf("the next turn: %v", done)
	}
	w.model.requests = nil
}

func started(w *world, c chat.ToolCall) bool {
	for _, m := range w.session.History {
		if m.Role == chat.Tool && m.ToolCallID == c.ID {
			return !strings.Contains(m.Content.String(), `"error"`)
		}
	}
	return false
}

// checkEvents asserts that the events of calls fit together.
func (w *world) checkEvents(events []Event) {
	w.t.Helper()
	begun, ended := map[string]bool{}, map[string]bool{}
	for _, e := range events {
		switch e := e.(type) {
		case ToolStart:
			if begun[e.ID] {
				w.t.Errorf("call %s starts twice", e.ID)
			}
			begun[e.ID] = true
			if _, err := objectText(string(e.Args)); err != nil {
				w.t.Errorf("call %s ran with %s", e.ID, e.Args)
			}
		case ToolEnd:
			if ended[e.ID] {
				w.t.Errorf("call %s ends twice", e.ID)
			}
			ended[e.ID] = true
		case ToolProgress:
			if !begun[e.ID] {
				w.t.Errorf("progress of call %s before its start", e.ID)
			}
		}
	}
}
