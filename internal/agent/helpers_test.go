package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/tool"
)

// world is an agent with one session in it.
type world struct {
	t       *testing.T
	agent   *Agent
	session *Session
	model   *fakeModel
	store   *memory
	tools   *bench
}

func newWorld(t *testing.T, script ...answer) *world {
	b := newBench()
	w := &world{t: t, model: model(script...), store: &memory{}, tools: b}
	w.agent = New(Deps{Tools: b.registry, Transcript: w.store})
	w.session = &Session{
		Session: &tool.Session{ID: "s1", Platform: "test", Services: tool.NewServices(nil)},
		Client:  w.model, Model: "m", System: "You are a test.",
	}
	for _, x := range b.registry.All() {
		w.session.Enabled = append(w.session.Enabled, x.Name)
	}
	return w
}

// say runs a turn to its end and checks what holds after every turn.
func (w *world) say(in string) (Done, []Event) {
	w.t.Helper()
	return w.turn(context.Background(), in, func(Event) bool { return true })
}

// turn runs a turn; see is called for each event, false leaves the loop.
func (w *world) turn(ctx context.Context, in string, see func(Event) bool) (Done, []Event) {
	w.t.Helper()
	var events []Event
	left := false
	for e, err := range w.agent.Turn(ctx, w.session, chat.UserText(in)) {
		if err != nil {
			w.t.Fatalf("turn: %v", err)
		}
		events = append(events, e)
		if !see(e) {
			left = true
			break
		}
	}
	done := w.check(events, left)
	return done, events
}

// check asserts the invariants of a turn that is over.
func (w *world) check(events []Event, left bool) Done {
	w.t.Helper()
	var done Done
	for i, e := range events {
		if d, ok := e.(Done); ok {
			done = d
			if i != len(events)-1 {
				w.t.Errorf("event %d of %d is Done", i, len(events))
			}
		}
	}
	if !left && (len(events) == 0 || done.Status == "") {
		w.t.Fatalf("the last event is no Done: %v", events)
	}
	if !reflect.DeepEqual(normal(w.session.History), normal(w.store.messages)) {
		w.t.Errorf("history and transcript differ:\n%s\n%s", dump(w.session.History), dump(w.store.messages))
	}
	if w.store.failFrom == 0 {
		if err := checkPairs(w.session.History); err != nil {
			w.t.Errorf("history: %v\n%s", err, dump(w.session.History))
		}
		if err := checkOrder(w.session.History); err != nil {
			w.t.Errorf("history: %v\n%s", err, dump(w.session.History))
		}
	}
	if w.store.draft != "" && !w.store.noDraft {
		w.t.Errorf("a draft is left: %q", w.store.draft)
	}
	if err := checkSendable(Sendable(w.session.History)); err != nil {
		w.t.Errorf("sendable: %v", err)
	}
	for _, r := range w.model.requests {
		if err := checkSendable(r.Messages); err != nil {
			w.t.Errorf("request: %v\n%s", err, dump(r.Messages))
		}
	}
	if !left && done.Status == OK {
		if shown := shownText(events); strings.TrimSpace(shown) != done.Text && !beside(events, done.Text) {
			w.t.Errorf("shown %q, Done.Text %q", shown, done.Text)
		}
	}
	if !left && (done.Status == OK) != (done.Err == nil) {
		w.t.Errorf("status %s with error %v", done.Status, done.Err)
	}
	return done
}

// shownText is what a front holds as the answer at the end.
func shownText(events []Event) string {
	var shown string
	for _, e := range events {
		switch e := e.(type) {
		case Text:
			shown += e.Text
		case ToolStart, ToolEnd:
			shown = ""
		case Retry:
			if e.Void {
				shown = shown[:e.Keep]
			}
		}
	}
	return shown
}

// beside reports whether the answer was shown before the last tool call.
func beside(events []Event, want string) bool {
	for _, e := range events {
		if t, ok := e.(Text); ok && strings.TrimSpace(t.Text) == want {
			return true
		}
	}
	return false
}

func normal(m []chat.Message) []chat.Message {
	out := make([]chat.Message, len(m))
	for i := range m {
		out[i] = m[i].Clone()
		if len(out[i].ToolCalls) == 0 {
			out[i].ToolCalls = nil
		}
		if len(out[i].Content.Parts) == 0 {
			out[i].Content.Parts = nil
		}
	}
	return out
}

// checkOrder says whether results stand in the order of their calls.
func checkOrder(history []chat.Message) error {
	for i, m := range history {
		for k, c := range m.ToolCalls {
			if at := i + 1 + k; at >= len(history) || history[at].ToolCallID != c.ID || history[at].Name != c.Function.Name {
				return fmt.Errorf("the result of call %s is not at %d", c.ID, at)
			}
		}
	}
	return nil
}

// checkSendable asserts what every service may expect of a request.
func checkSendable(m []chat.Message) error {
	if err := checkPairs(m); err != nil {
		return err
	}
	if err := checkOrder(m); err != nil {
		return err
	}
	ids := map[string]bool{}
	for i, x := range m {
		if i > 0 && x.Role == m[i-1].Role && x.Role != chat.Tool {
			return fmt.Errorf("two %s messages in a row at %d", x.Role, i)
		}
		switch x.Role {
		case chat.User, chat.Assistant, chat.Tool:
		default:
			return fmt.Errorf("role %q", x.Role)
		}
		if _, ok := x.Extra[steerField]; ok && i > 0 && m[i-1].Role == chat.Tool {
			return errors.New("a steer message is on its own")
		}
		if !reflect.DeepEqual(x, x.Sanitize()) {
			return fmt.Errorf("message %d is no valid UTF-8", i)
		}
		for _, c := range x.ToolCalls {
			var obj map[string]any
			switch {
			case c.ID == "" || ids[c.ID]:
				return fmt.Errorf("call id %q is empty or not unique", c.ID)
			case json.Unmarshal([]byte(c.Function.Arguments), &obj) != nil || obj == nil:
				return fmt.Errorf("arguments %q are no object", c.Function.Arguments)
			case c.Function.Name == "" || sendableName(c.Function.Name) != c.Function.Name:
				return fmt.Errorf("name %q", c.Function.Name)
			}
			ids[c.ID] = true
		}
	}
	return nil
}

func dump(m []chat.Message) string {
	var b strings.Builder
	for i, x := range m {
		fmt.Fprintf(&b, "%d %s %.60q", i, x.Role, x.Content.String())
		for _, c := range x.ToolCalls {
			fmt.Fprintf(&b, " %s=%s(%.40s)", c.ID, c.Function.Name, c.Function.Arguments)
		}
		if x.ToolCallID != "" {
			fmt.Fprintf(&b, " for %s", x.ToolCallID)
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}

// results are the texts of the tool messages of a history.
func toolTexts(m []chat.Message) []string {
	var out []string
	for _, x := range m {
		if x.Role == chat.Tool {
			out = append(out, x.Content.String())
		}
	}
	return out
}

func roles(m []chat.Message) string {
	var out []string
	for _, x := range m {
		out = append(out, string(x.Role))
	}
	return strings.Join(out, " ")
}

func of[E Event](events []Event) []E {
	var out []E
	for _, e := range events {
		if x, ok := e.(E); ok {
			out = append(out, x)
		}
	}
	return out
}

// noLeak fails the test when goroutines are left at its end.
func noLeak(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for range 100 {
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
		buf := make([]byte, 1<<16)
		t.Errorf("goroutines: %d before, %d after\n%s", before, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
	})
}
