package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hermes-go/hermes/chat"
)

// Cases 40 to 42.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	t.Run("40 in a hanging answer", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, answer{text: "half", hang: true})
			ctx, cancel := context.WithCancelCause(context.Background())
			time.AfterFunc(time.Second, func() { cancel(ErrInterrupted) })
			began := time.Now()
			done, _ := w.turn(ctx, "go", func(Event) bool { return true })
			want(t, "took", time.Since(began), time.Second)
			want(t, "status", done.Status, Interrupted)
			want(t, "cause", errors.Is(done.Err, ErrInterrupted), true)
			want(t, "history", roles(w.session.History), "user")
		})
	})
	t.Run("41 in the first of three", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, calls(call("a", "terminal", `{"ms":60000}`), call("b", "terminal", "{}"), call("c", "terminal", `{"n":1}`)))
		ctx, cancel := context.WithCancelCause(context.Background())
		done, events := w.turn(ctx, "go", func(e Event) bool {
			if _, ok := e.(ToolStart); ok {
				cancel(ErrInterrupted)
			}
			return true
		})
		want(t, "status", done.Status, Interrupted)
		r := toolTexts(w.session.History)
		if len(r) != 3 || !strings.Contains(r[0], "interrupted") || !strings.Contains(r[1], "terminal was skipped due to user interrupt") || !strings.Contains(r[2], "skipped") {
			t.Errorf("results: %q", r)
		}
		want(t, "ends", len(of[ToolEnd](events)), 3)
	})
	t.Run("before the start", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, text("no"))
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(ErrInterrupted)
		done, _ := w.turn(ctx, "go", func(Event) bool { return true })
		want(t, "status", done.Status, Interrupted)
		want(t, "requests", len(w.model.requests), 0)
		want(t, "history", roles(w.session.History), "user")
		done, _ = w.say("again")
		want(t, "status", done.Status, OK)
		want(t, "merged", w.model.requests[0].Messages[0].Content.String(), "go\n\nagain")
	})
	t.Run("42 steer", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, calls(call("a", "get", `{"ms":50}`)), calls(call("b", "get", `{"n":1}`)), text("ok"))
			w.turn(t.Context(), "go", func(e Event) bool {
				if s, ok := e.(ToolStart); ok && s.ID == "a" {
					w.session.Steer("be quick")
					w.session.Steer("please")
				}
				return true
			})
			for _, r := range w.model.requests[1:] {
				m := r.Messages[2]
				want(t, "role", m.Role, chat.Tool)
				if !strings.HasSuffix(m.Content.String(), "\n\nUser guidance: be quick\nplease") {
					t.Errorf("result: %q", m.Content)
				}
			}
			want(t, "roles", roles(w.model.requests[2].Messages), "user assistant tool assistant tool")
		})
	})
	t.Run("42 steer too late", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, text("ok"))
		w.session.Steer("more")
		w.say("go")
		want(t, "pending", w.session.PendingSteer(), "more")
	})
}

// Case 46.
func TestOldHistory(t *testing.T) {
	t.Parallel()
	asked := chat.Message{Role: chat.Assistant, ToolCalls: []chat.ToolCall{call("x", "get", "{}"), call("y", "get", `{"a":`)}}
	old := []chat.Message{
		{Role: "session_meta", Content: chat.Text("meta")},
		chat.ToolResult("lost", "get", "orphan"),
		chat.UserText("bad \xed\xa0\xbd surrogate"),
		asked,
		chat.ToolResult("y", "get", `{"late":1}`),
		chat.UserText("are you there?"),
		chat.ToolResult("x", "get", `{"later":1}`),
		chat.AssistantText("yes"),
		{Role: chat.Assistant, ToolCalls: []chat.ToolCall{call("x", "get", "{}"), call("x", "get", `{"n":1}`), call("", "bad name!", "[1]")}},
		chat.ToolResult("x", "get", "1"),
		chat.ToolResult("x", "get", "2"),
		chat.ToolResult("x", "get", "3"),
		{Role: chat.Assistant, Reasoning: "hm"},
		chat.AssistantText(" "),
	}
	m := Sendable(old)
	if err := checkSendable(m); err != nil {
		t.Fatalf("%v\n%s", err, dump(m))
	}
	want(t, "roles", roles(m), "user assistant tool tool user assistant tool tool tool")
	want(t, "late", m[2].Content.String(), `{"later":1}`)
	want(t, "damaged", m[3].Content.String(), `{"late":1,"_note":"`+damagedNote+`"}`)
	want(t, "second x", m[7].Content.String(), "2")
	if !strings.Contains(m[8].Content.String(), "unknown") {
		t.Error(m[8].Content)
	}

	w := newWorld(t, text("ok"))
	w.session.History = []chat.Message{chat.UserText("a"), asked, chat.ToolResult("y", "get", "{}")}
	w.store.messages = slices.Clone(w.session.History)
	var got []chat.Message
	for e, err := range w.agent.Turn(context.Background(), w.session, chat.UserText("b")) {
		if err != nil {
			t.Fatal(err, e)
		}
	}
	got = w.session.History
	want(t, "closed", roles(got), "user assistant tool tool user assistant")
	if err := checkPairs(got); err != nil {
		t.Error(err)
	}
}
