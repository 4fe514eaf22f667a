package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/effect"
	"github.com/hermes-go/hermes/tool"
)

// Journal keeps on record what calls did to the world, so that none is run
// again after a crash, a resume or a compaction without a word. What it stores
// is as durable as what Transcript.Append stores.
type Journal interface {
	// Plan stores messages together with the effects of the calls that they ask
	// for, all or nothing. For each effect it returns the newest earlier one of
	// the conversation with the same signature; none has an empty State.
	Plan(ctx context.Context, sessionID string, begin []effect.Effect, m ...chat.Message) (earlier []effect.Effect, err error)
	// Mark stores messages together with what became of calls.
	Mark(ctx context.Context, sessionID string, marks []effect.Mark, m ...chat.Message) error
	// States are how far the named calls of the session came; those without a
	// record are left out.
	States(ctx context.Context, sessionID string, calls []string) (map[string]effect.State, error)
}

// What a model reads in place of a result that never came.
const (
	notRunResult   = "not run: the program stopped before this call began; nothing of it has happened"
	doneResult     = "done: the call ran to its end, but its result was lost when the program stopped; do not run it again without looking what it did"
	harmlessResult = "lost: the program stopped before the result was stored; the call changes nothing and may be made again"
)

// lasting reports whether a call may leave something behind outside of the
// conversation.
func (t *turn) lasting(j *job) (lasting bool) {
	if !j.changes() {
		return false
	}
	def, ok := t.Tools.Lookup(j.call.Function.Name)
	if !ok || def.Harmless == nil {
		return true
	}
	defer func() {
		if recover() != nil { // arguments it did not expect
			lasting = true
		}
	}()
	return !def.Harmless(json.RawMessage(j.call.Function.Arguments))
}

// appendCalls stores the message that asks for the jobs, and their effects
// with it; the jobs themselves run as the model wrote them. A call that waits for others is marked once more when it begins.
func (t *turn) appendCalls(msg chat.Message, jobs []*job) error {
	if t.Journal == nil {
		return t.append(msg)
	}
	msg = t.masked([]chat.Message{msg})[0]
	var begin []effect.Effect
	var recorded []*job
	for i, j := range jobs {
		if !t.lasting(j) {
			continue
		}
		j.state = effect.Running
		if len(j.after) > 0 || i >= t.ToolWorkers {
			j.state = effect.Waiting
		}
		recorded = append(recorded, j)
		c := t.maskedCall(j.call)
		begin = append(begin, effect.Effect{
			Session: t.s.ID, Call: c.ID, Tool: c.Function.Name, Signature: signature(c), Args: c.Function.Arguments, State: j.state,
		})
	}
	if len(begin) == 0 {
		return t.append(msg)
	}
	earlier, err := t.Journal.Plan(t.keep, t.s.ID, begin, msg)
	if err != nil {
		return fmt.Errorf("store message: %w", err)
	}
	for i, e := range earlier {
		recorded[i].earlier = e
	}
	t.took(msg)
	return nil
}

// start notes that a call begins now. A call that was running when the program
// died is not begun the first time it is asked for again.
func (t *turn) start(j *job) (refusal *tool.Result) {
	switch j.earlier.State {
	case effect.Unknown, effect.Running:
		j.state = effect.NotRun
		r := failure(fmt.Sprintf("NOT RUN: this same call (%s, begun %s) was running when the program died; it may have taken effect. Find out whether it did. If it has to run again, send it once more.",
			j.earlier.Call, j.earlier.Began.Format("2006-01-02 15:04:05")))
		return &r
	}
	if j.state == effect.Waiting {
		j.state = effect.Running
		// The calls it waited for have ended, though their results may still be on
		// their way to the store.
		var marks []effect.Mark
		for _, earlier := range j.after {
			marks = append(marks, earlier.marks()...)
		}
		if err := t.Journal.Mark(t.keep, t.s.ID, append(marks, effect.Mark{Call: j.call.ID, State: j.state})); err != nil {
			j.state = effect.NotRun
			r := failure(fmt.Sprintf("not run: that it begins could not be recorded (%v)", err))
			return &r
		}
	}
	return nil
}

// ended notes how a call ended, and tells the model when it has done again what
// it can no longer see that it did.
func (t *turn) ended(j *job, out *tool.Result) {
	if j.state == "" {
		return
	}
	j.state = effect.Done
	if out.Err != nil {
		j.state = effect.Failed
	}
	if e := j.earlier; (e.State == effect.Done || e.State == effect.Failed) && !t.inSight(e) {
		out.JSON = tool.AddField(out.JSON, "_repeated", fmt.Sprintf("the same call ran before as %s at %s (%s), which is no longer in this conversation's messages",
			e.Call, e.Began.Format("2006-01-02 15:04:05"), e.State))
	}
}

// marks are what settle has to store about a job.
func (j *job) marks() []effect.Mark {
	switch j.state {
	case "":
		return nil
	case effect.Waiting, effect.Running: // it was planned, and then refused or skipped
		return []effect.Mark{{Call: j.call.ID, State: effect.NotRun}}
	}
	return []effect.Mark{{Call: j.call.ID, State: j.state}}
}

// inSight reports whether the call stands in the history. Models use ids again,
// so that the call itself is compared too.
func (t *turn) inSight(e effect.Effect) bool {
	t.mu.Lock()
	history := t.s.History
	t.mu.Unlock()
	for i := range history {
		for _, c := range history[i].ToolCalls {
			if c.ID == e.Call && signature(c) == e.Signature {
				return true
			}
		}
	}
	return false
}

// closeOpen are results for calls that a crash left open, by what is on record.
func (t *turn) closeOpen() (m []chat.Message, marks []effect.Mark) {
	open := openCalls(t.s.History)
	if len(open) == 0 {
		return nil, nil
	}
	var states map[string]effect.State
	if t.Journal != nil {
		ids := make([]string, len(open))
		for i, c := range open {
			ids[i] = c.ID
		}
		var err error
		if states, err = t.Journal.States(t.keep, t.s.ID, ids); err != nil {
			t.Log.Warn("effects not read", "session", t.s.ID, "err", err) // then all of them are unknown
		}
	}
	for _, c := range open {
		text := lostResult
		state, recorded := states[c.ID]
		switch {
		case state == effect.Waiting:
			text = notRunResult
			marks = append(marks, effect.Mark{Call: c.ID, State: effect.NotRun})
		case state == effect.Running:
			marks = append(marks, effect.Mark{Call: c.ID, State: effect.Unknown})
		case state == effect.Done || state == effect.Failed:
			text = doneResult
		case recorded:
		default:
			j := &job{call: c}
			if j.effects, j.alone = t.effects(c); !t.lasting(j) {
				text = harmlessResult
			}
		}
		m = append(m, errorResult(c, text))
	}
	return m, marks
}
