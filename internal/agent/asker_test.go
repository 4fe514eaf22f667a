package agent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hermes-go/hermes/ask"
)

func TestAsked(t *testing.T) {
	t.Parallel()
	three := calls(call("a", "ask_at_once", `{"text":"1"}`), call("b", "ask_at_once", `{"text":"2"}`), call("c", "ask_at_once", `{"text":"3"}`))
	t.Run("one at a time", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, three, text("ok"))
			w.session.Interactive = true
			open := 0
			done, events := w.turn(t.Context(), "go", func(e Event) bool {
				if a, ok := e.(Asked); ok {
					open++
					want(t, "open", open, 1)
					synctest.Wait() // everything else has asked by now, if it could
					open--
					a.Reply(ask.Answer{Text: "answer " + a.Request.Text})
					a.Reply(ask.Answer{Text: "twice"})
				}
				return true
			})
			want(t, "status", done.Status, OK)
			want(t, "asked", len(of[Asked](events)), 3)
			want(t, "answers", strings.Join(toolTexts(w.session.History), ""), `{"result":"answer 1"}{"result":"answer 2"}{"result":"answer 3"}`)
		})
	})
	t.Run("nobody answers", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, three, text("ok"))
			w.session.Interactive, w.session.AskTimeout = true, time.Minute
			began := time.Now()
			done, _ := w.say("go")
			want(t, "status", done.Status, OK)
			want(t, "took", time.Since(began), 3*time.Minute) // each has its minute
			want(t, "answer", strings.Contains(toolTexts(w.session.History)[2], `{"error":"nobody answered in time"`), true)
		})
	})
	t.Run("nobody there", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, three, text("ok"))
		_, events := w.say("go")
		want(t, "asked", len(of[Asked](events)), 0)
		for _, r := range toolTexts(w.session.History) { // one of them also carries the warning of a third failure
			want(t, "answer", strings.HasPrefix(r, `{"error":"nobody can be asked here"`), true)
		}
	})
	t.Run("a call that gives up does not wait for another's question", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			a := newAsker(func(Event) {}, 0)
			first, stop := context.WithCancel(t.Context())
			go a.Ask(first, ask.Request{}) //nolint:errcheck // never answered
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			_, err := a.Ask(ctx, ask.Request{})
			want(t, "took", time.Since(began), time.Second)
			want(t, "cause", errors.Is(err, context.DeadlineExceeded), true)
			stop()
			synctest.Wait()
		})
	})
	t.Run("interrupted", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, three, text("ok"))
		w.session.Interactive = true
		ctx, cancel := context.WithCancelCause(t.Context())
		done, events := w.turn(ctx, "go", func(e Event) bool {
			if _, ok := e.(Asked); ok {
				cancel(ErrInterrupted)
			}
			return true
		})
		want(t, "status", done.Status, Interrupted)
		want(t, "asked", len(of[Asked](events)), 1)
	})
}
