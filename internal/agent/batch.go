package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/effect"
	"github.com/hermes-go/hermes/tool"
)

// runBatch runs the calls of one answer. Calls whose effects do not meet run
// at once; results are stored and reported in call order. stop is set when the
// guardrails end the turn.
func (t *turn) runBatch(ctx context.Context, jobs []*job) (stop string, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	// When the store fails in the middle, nobody will see what the rest does.
	defer cancel(errBatchOver)

	slots := make(chan struct{}, t.ToolWorkers)
	for _, j := range jobs {
		wg.Go(func() {
			defer close(j.done)
			for _, earlier := range j.after {
				<-earlier.done
			}
			slots <- struct{}{}
			defer func() { <-slots }()
			t.runCall(ctx, j)
		})
	}
	chars := 0
	for _, j := range jobs {
		<-j.done
		if stop == "" {
			stop = j.halt
		}
		t.fit(&j.out, j.call.ID, &chars)
		if err := t.settle(j.call, j.out, j.took, j.marks()...); err != nil {
			return "", err
		}
	}
	return stop, nil
}

var errBatchOver = errors.New("the tool batch is over")

// settle stores the result of a call and reports it.
func (t *turn) settle(c chat.ToolCall, r tool.Result, took time.Duration, marks ...effect.Mark) error {
	if err := t.appendMarked(marks, chat.ToolResult(c.ID, c.Function.Name, string(r.JSON))); err != nil {
		return err
	}
	t.emit(ToolEnd{ID: c.ID, Name: c.Function.Name, Result: r.JSON, Files: r.Files, Err: r.Err, Took: took})
	return nil
}

// worthSpilling is the length below which taking a result out of the
// conversation saves nothing: what stands in its place is about as long.
const worthSpilling = 4000

// fit keeps a batch within its size: what no longer fits is spilled to a file.
func (t *turn) fit(r *tool.Result, id string, chars *int) {
	n := utf8.RuneCount(r.JSON)
	if *chars+n > t.TurnChars && n > worthSpilling && !tool.Persisted(r.JSON) {
		r.JSON = tool.Persist(t.keep, t.call, id, r.JSON)
		n = utf8.RuneCount(r.JSON)
	}
	*chars += n
}

// job is a call on its way.
type job struct {
	call    chat.ToolCall
	effects []tool.Effect
	alone   bool   // nobody knows what it touches
	after   []*job // earlier calls that it must wait for
	done    chan struct{}

	state   effect.State  // as recorded last; "": the call is not on record
	earlier effect.Effect // of the same call, in this conversation

	// Set when done is closed.
	out  tool.Result
	took time.Duration
	halt string
}

// plan finds out what each call must wait for.
func (t *turn) plan(calls []chat.ToolCall) []*job {
	jobs := make([]*job, len(calls))
	for i, c := range calls {
		j := &job{call: c, done: make(chan struct{})}
		j.effects, j.alone = t.effects(c)
		for _, earlier := range jobs[:i] {
			if j.alone || earlier.alone || conflict(j.effects, earlier.effects) {
				j.after = append(j.after, earlier)
			}
		}
		jobs[i] = j
	}
	return jobs
}

// changes reports whether the call may change something.
func (j *job) changes() bool {
	for _, e := range j.effects {
		if e.Write {
			return true
		}
	}
	return j.alone
}

const skippedText = "[Tool execution cancelled — %s was skipped due to user interrupt]"

// runCall runs one call; whatever goes wrong is a result that says so.
func (t *turn) runCall(ctx context.Context, j *job) {
	c := j.call
	name := c.Function.Name
	defer func() { // also when the tool ends its goroutine
		if p := recover(); p != nil {
			j.out = failure(fmt.Sprintf("Error executing tool '%s': %v", name, p))
		}
		if j.out.JSON == nil {
			j.out = failure(fmt.Sprintf("Error executing tool '%s': it did not return a result", name))
		}
	}()
	if ctx.Err() != nil {
		j.out = failure(fmt.Sprintf(skippedText, name))
		j.out.Err = context.Cause(ctx)
		return
	}
	refusal, halt := t.guard.before(c)
	if j.halt = halt; refusal != nil {
		j.out = *refusal
		return
	}
	if refusal := t.start(j); refusal != nil {
		j.out = *refusal
		return
	}
	args := json.RawMessage(c.Function.Arguments)
	t.emit(ToolStart{ID: c.ID, Name: name, Args: args})
	began := t.Now()
	out := t.Dispatch(ctx, &tool.Call{
		ID: c.ID, Name: name, Args: args, Session: t.call,
		Report: func(u tool.Update) { t.emit(ToolProgress{c.ID, name, u}) },
	})
	j.took = t.Now().Sub(began)
	t.Log.Info("tool call", "session", t.s.ID, "tool", name, "dur", j.took, "failed", out.Err != nil)
	// Before done is closed: a call that waits for this one is judged by what
	// this one did.
	if ctx.Err() == nil {
		j.halt = t.guard.after(c, &out, j.changes())
	}
	t.ended(j, &out)
	j.out = out
}

// effects asks the tool what a call touches; alone means that nobody knows.
func (t *turn) effects(c chat.ToolCall) (e []tool.Effect, alone bool) {
	def, ok := t.Tools.Lookup(c.Function.Name)
	if !ok || def.Effects == nil {
		return nil, true
	}
	defer func() {
		if recover() != nil { // arguments it did not expect
			e, alone = nil, true
		}
	}()
	declared := def.Effects(json.RawMessage(c.Function.Arguments))
	for _, d := range declared {
		e = append(e, tool.Effect{Key: path.Clean(d.Key), Write: d.Write})
	}
	return e, declared == nil
}

func conflict(a, b []tool.Effect) bool {
	for _, x := range a {
		for _, y := range b {
			if (x.Write || y.Write) && (covers(x.Key, y.Key) || covers(y.Key, x.Key)) {
				return true
			}
		}
	}
	return false
}

// covers reports whether the clean key is outer or lies below it.
func covers(outer, key string) bool {
	rest, ok := strings.CutPrefix(key, outer)
	return ok && (rest == "" || rest[0] == '/' || strings.HasSuffix(outer, "/"))
}

// failure is the result of a call that did not run to its end.
func failure(text string) tool.Result {
	return tool.Result{JSON: errorJSON(text, nil), Err: errors.New(text)}
}

func errorJSON(text string, nearest []string) []byte {
	b, err := json.Marshal(struct {
		Error   string   `json:"error"`
		Nearest []string `json:"nearest,omitempty"`
	}{chat.ValidUTF8(text), nearest})
	if err != nil {
		return []byte(`{"error":"the call was refused"}`)
	}
	return b
}
