package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Case 48, F-061, F-062: what a model may repeat.
func TestGuardrails(t *testing.T) {
	t.Parallel()
	fail := calls(call("c0", "fails", "{}"))
	change := func(n int) answer { return calls(call("c0", "terminal", fmt.Sprintf(`{"n":%d}`, n))) }
	t.Run("F-061 a third identical failure is blocked, then the turn ends", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, fail, fail, fail, fail, fail, text("it cannot be done"))
		done, events := w.say("go")
		want(t, "status", done.Status, Partial)
		want(t, "text", done.Text, "it cannot be done")
		wantErr(t, done.Err, "guardrail")
		want(t, "ran", len(w.tools.ran), 2)
		want(t, "started", len(of[ToolStart](events)), 2)
		r := toolTexts(w.session.History)
		if !strings.Contains(r[1], "[Tool loop warning: repeated_exact_failure_warning; count=2;") {
			t.Error(r[1])
		}
		for i := 2; i < 5; i++ {
			if !strings.Contains(r[i], "BLOCKED") || slices.Contains(r[:i], r[i]) {
				t.Errorf("refusal %d: %s", i, r[i])
			}
		}
		want(t, "tools of the last request", len(w.model.requests[5].Tools), 0)
	})
	t.Run("a change in between lets it run again", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, fail, fail, change(1), fail, fail, change(2), fail, text("ok"))
		done, _ := w.say("go")
		want(t, "status", done.Status, OK)
		want(t, "ran", len(w.tools.ran), 7)
	})
	t.Run("a change in the same answer counts", func(t *testing.T) {
		t.Parallel()
		for range 50 {
			w := newWorld(t, fail, fail, calls(call("x", "terminal", "{}"), call("y", "fails", "{}")), text("ok"))
			w.say("go")
			want(t, "ran", len(w.tools.ran), 4)
		}
	})
	t.Run("refusals are counted for each call", func(t *testing.T) {
		t.Parallel()
		var script []answer
		for range 3 {
			script = append(script, calls(call("", "fails", `{"n":1}`), call("", "fails", `{"n":2}`), call("", "fails", `{"n":3}`)))
		}
		w := newWorld(t, append(script, text("I see"))...)
		done, _ := w.say("go")
		want(t, "status", done.Status, OK)
	})
	t.Run("48 hard stop blocks the sixth and ends the turn", func(t *testing.T) {
		t.Parallel()
		var script []answer
		for i := range 6 {
			script = append(script, fail, change(i))
		}
		w := newWorld(t, append(script[:11], text("sorry"))...)
		w.agent.Guard.HardStop = true
		done, _ := w.say("go")
		want(t, "status", done.Status, Partial)
		wantErr(t, done.Err, "repeated_exact_failure_block after 5")
		r := toolTexts(w.session.History)
		var v struct {
			Guardrail struct {
				Action, Code string
				ToolName     string `json:"tool_name"`
				Count        int
			}
		}
		if err := json.Unmarshal([]byte(r[len(r)-1]), &v); err != nil {
			t.Fatal(err)
		}
		want(t, "metadata", fmt.Sprint(v.Guardrail), "{halt repeated_exact_failure_block fails 5}")
	})
	t.Run("hard stop of a tool that keeps failing", func(t *testing.T) {
		t.Parallel()
		var script []answer
		for i := range 8 {
			script = append(script, calls(call("", "fails", fmt.Sprintf(`{"n":%d}`, i))))
		}
		w := newWorld(t, append(script, text("sorry"))...)
		w.agent.Guard.HardStop = true
		done, _ := w.say("go")
		want(t, "status", done.Status, Partial)
		r := toolTexts(w.session.History)
		if !strings.Contains(r[2], "same_tool_failure_warning; count=3") || !strings.Contains(r[7], "same_tool_failure_halt; count=8") {
			t.Error(r)
		}
	})
	t.Run("a read without news", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, calls(call("", "list", "{}")), calls(call("", "list", "{}")), text("ok"))
		w.say("go")
		want(t, "warned", toolTexts(w.session.History)[1], `{"result":[1,2],"_warning":"[Tool loop warning: idempotent_no_progress_warning; count=2; the same call gave the same answer; use what is there]"}`)
	})
	t.Run("numbers that differ in the last digit", func(t *testing.T) {
		t.Parallel()
		a, b := call("", "x", `{"id":12345678901234567890,"b":1}`), call("", "x", `{"id":12345678901234567891,"b":1}`)
		c := call("", "x", `{"b":1, "id":12345678901234567890}`)
		want(t, "different", signature(a) == signature(b), false)
		want(t, "same", signature(a), signature(c))
	})
}
