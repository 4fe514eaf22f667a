package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/tool"
)

// GuardrailRules bound what a model may repeat in one turn; they are the
// `tool_loop_guardrails` of the configuration.
type GuardrailRules struct {
	NoWarnings bool
	HardStop   bool
	WarnAfter  RepeatLimits
	StopAfter  RepeatLimits
}

// RepeatLimits count repetitions.
type RepeatLimits struct {
	ExactFailure         int // the same call failing
	SameToolFailure      int // one tool failing, whatever the arguments
	IdempotentNoProgress int // a reading call with the same answer
}

func (r GuardrailRules) withDefaults() GuardrailRules {
	r.WarnAfter = r.WarnAfter.or(RepeatLimits{2, 3, 2})
	r.StopAfter = r.StopAfter.or(RepeatLimits{5, 8, 5})
	return r
}

func (l RepeatLimits) or(d RepeatLimits) RepeatLimits {
	if l.ExactFailure > 0 {
		d.ExactFailure = l.ExactFailure
	}
	if l.SameToolFailure > 0 {
		d.SameToolFailure = l.SameToolFailure
	}
	if l.IdempotentNoProgress > 0 {
		d.IdempotentNoProgress = l.IdempotentNoProgress
	}
	return d
}

// stuckAfter is the number of failures after which an identical call is
// refused when nothing has changed since: it cannot end differently.
const stuckAfter = 2

// mostRefusals is how often a call may be refused before the turn ends.
const mostRefusals = 2

// guardrails watch one turn for repetition.
type guardrails struct {
	rules GuardrailRules

	mu     sync.Mutex
	calls  map[string]*repeats // by signature
	byTool map[string]int      // failures of a tool since it last did something
}

// repeats is what happened to identical calls.
type repeats struct {
	failed  int               // times it failed in a row
	stuck   int               // the same, since anything changed
	refused int               // times it was not run, since anything changed
	same    int               // times a reading call gave the same answer
	answer  [sha256.Size]byte // that answer, hashed
}

func newGuardrails(r GuardrailRules) *guardrails {
	return &guardrails{rules: r, calls: map[string]*repeats{}, byTool: map[string]int{}}
}

// signature is the same for calls that mean the same: numbers are kept to the
// digit, the order of keys does not count.
func signature(c chat.ToolCall) string {
	text := []byte(c.Function.Arguments)
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) == nil {
		if canonical, err := json.Marshal(v); err == nil {
			text = canonical
		}
	}
	sum := sha256.Sum256(text)
	return c.Function.Name + " " + hex.EncodeToString(sum[:])
}

func (g *guardrails) of(sig string) *repeats {
	r := g.calls[sig]
	if r == nil {
		r = &repeats{}
		g.calls[sig] = r
	}
	return r
}

// before refuses a call that cannot bring anything new; nil lets it run. halt
// is set when the turn has to end.
func (g *guardrails) before(c chat.ToolCall) (refusal *tool.Result, halt string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	sig, name := signature(c), c.Function.Name
	r := g.of(sig)
	hard := g.rules.HardStop
	code, count := "repeated_exact_failure_block", r.failed
	var text string
	switch {
	case hard && r.failed >= g.rules.StopAfter.ExactFailure:
		text = fmt.Sprintf("this exact call of %s has failed %d times in this turn", name, count)
	case hard && r.same >= g.rules.StopAfter.IdempotentNoProgress:
		code, count = "idempotent_no_progress_block", r.same
		text = fmt.Sprintf("this call of %s has given the same answer %d times; it is above", name, count)
	case r.stuck >= stuckAfter:
		hard, count = false, r.stuck
		text = fmt.Sprintf("this exact call of %s has failed %d times and nothing has changed since", name, count)
	default:
		return nil, ""
	}
	r.refused++
	// The number makes every refusal a new text: models repeat what they read
	// twice in the same words.
	text = fmt.Sprintf("BLOCKED: %s. It was not run (refusal %d). Change the arguments, fix the cause with another tool, or tell the user what stands in the way.", text, r.refused)
	switch {
	case hard:
		halt = fmt.Sprintf("a call of %s was blocked (%s after %d)", name, code, count)
	case r.refused > mostRefusals:
		halt = fmt.Sprintf("the model kept repeating a call of %s that was refused", name)
	}
	action := "block"
	if halt != "" {
		action = "halt"
	}
	b, err := json.Marshal(map[string]any{"error": text, "guardrail": map[string]any{
		"action": action, "code": code, "message": text, "tool_name": name, "count": count,
		"signature": map[string]string{"tool_name": name, "args_hash": sig[len(name)+1:]},
	}})
	if err != nil {
		b = []byte(`{"error":"BLOCKED"}`)
	}
	return &tool.Result{JSON: b, Err: errors.New(text)}, halt
}

// after counts an outcome and adds a warning to its result. changes says that
// the call, if it went well, may have changed something.
func (g *guardrails) after(c chat.ToolCall, out *tool.Result, changes bool) (halt string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	name := c.Function.Name
	r := g.of(signature(c))
	if out.Err != nil {
		r.failed++
		r.stuck++
		g.byTool[name]++
		return g.failure(name, r, out)
	}
	r.failed, g.byTool[name] = 0, 0
	if changes {
		for _, r := range g.calls {
			r.stuck, r.refused, r.same = 0, 0, 0
		}
		return ""
	}
	r.stuck, r.refused = 0, 0
	if sum := sha256.Sum256(out.JSON); r.same == 0 || r.answer != sum {
		r.answer, r.same = sum, 0
	}
	r.same++
	if r.same >= g.rules.WarnAfter.IdempotentNoProgress {
		g.warn(out, "idempotent_no_progress_warning", r.same, "the same call gave the same answer; use what is there")
	}
	return ""
}

func (g *guardrails) failure(name string, r *repeats, out *tool.Result) (halt string) {
	n := g.byTool[name]
	switch {
	case g.rules.HardStop && n >= g.rules.StopAfter.SameToolFailure:
		note(out, "Tool loop hard stop", "same_tool_failure_halt", n, "this tool keeps failing; the turn ends here")
		return fmt.Sprintf("%s failed %d times in this turn", name, n)
	case r.failed >= g.rules.WarnAfter.ExactFailure:
		g.warn(out, "repeated_exact_failure_warning", r.failed, "the same call failed again; change something before you repeat it")
	case n >= g.rules.WarnAfter.SameToolFailure:
		g.warn(out, "same_tool_failure_warning", n, "this tool keeps failing; consider another way")
	}
	return ""
}

func (g *guardrails) warn(out *tool.Result, code string, n int, text string) {
	if !g.rules.NoWarnings {
		note(out, "Tool loop warning", code, n, text)
	}
}

// note adds a field to the result; one that is no object becomes a field of
// such a one.
func note(out *tool.Result, label, code string, n int, text string) {
	obj := bytes.TrimSpace(out.JSON)
	if len(obj) > 0 && obj[0] != '{' && json.Valid(obj) {
		obj = append(append([]byte(`{"result":`), obj...), '}')
	}
	out.JSON = tool.AddField(obj, "_warning", fmt.Sprintf("[%s: %s; count=%d; %s]", label, code, n, text))
}
