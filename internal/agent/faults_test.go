package agent

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/hermes-go/hermes/ask"
	"github.com/hermes-go/hermes/chat"
)

func TestDiskFull(t *testing.T) {
	script := []answer{
		calls(call("a", "get", `{"ms":1}`), call("b", "terminal", `{"ms":1}`), call("c", "get", `{"n":2}`)),
		{text: "one ", finish: chat.FinishLength},
		text("two"),
	}
	for from := 1; from <= 8; from++ {
		for _, for1 := range []bool{true, false} {
			t.Run(fmt.Sprint("append ", from, for1), func(t *testing.T) {
				noLeak(t)
				w := newWorld(t, script...)
				w.store.failFrom = from
				if for1 {
					w.store.failTo = from
				}
				var events []Event
				var began error
				for e, err := range w.agent.Turn(context.Background(), w.session, chat.UserText("go")) {
					if err != nil {
						began = err
						continue
					}
					events = append(events, e)
				}
				if from == 1 {
					if !errors.Is(began, errDisk) || len(events) > 0 {
						t.Fatalf("error %v, events %v", began, events)
					}
				} else {
					done := w.check(events, false)
					want(t, "status", done.Status, map[bool]Status{true: Failed, false: OK}[from <= 7])
					if from <= 7 && !errors.Is(done.Err, errDisk) {
						t.Errorf("error: %v", done.Err)
					}
				}
				w.store.failFrom = 0 // space again
				w.model.script = []answer{text("back")}
				done, _ := w.say("again")
				want(t, "status", done.Status, OK)
			})
		}
	}
	t.Run("draft", func(t *testing.T) {
		w := newWorld(t, text("words"))
		w.store.noDraft = true
		done, _ := w.say("go")
		want(t, "status", done.Status, Failed)
		want(t, "cause", errors.Is(done.Err, errDisk), true)
	})
}

// Leaving the loop at any event ends everything that runs, and the next turn
// works.
func TestBreak(t *testing.T) {
	script := []answer{
		{text: "let me see", reasoning: "hm", calls: []chat.ToolCall{call("a", "get", `{"ms":5}`), call("b", "terminal", `{"ms":5}`), call("c", "clarify", `{"text":"?"}`)}},
		{text: "part ", finish: chat.FinishLength},
		text("and the rest"),
	}
	for at := 0; ; at++ {
		reached := true
		t.Run(fmt.Sprint("event ", at), func(t *testing.T) {
			noLeak(t)
			w := newWorld(t, script...)
			w.session.Interactive = true
			n := 0
			_, events := w.turn(context.Background(), "go", func(e Event) bool {
				if a, ok := e.(Asked); ok && n != at {
					a.Reply(ask.Answer{Text: "yes"})
				}
				n++
				return n <= at
			})
			_, over := events[len(events)-1].(Done)
			reached = !over
			w.model.script = []answer{text("next")}
			done, _ := w.say("again")
			want(t, "status", done.Status, OK)
		})
		if !reached {
			break
		}
	}
}
