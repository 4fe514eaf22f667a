package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/provider"
)

// run drives the turn to its end.
func (t *turn) run(ctx context.Context) Done {
	done := t.safely(func() Done { return t.drive(ctx) })
	done = t.safely(func() Done { return t.finish(done) })
	level := slog.LevelInfo
	switch done.Status {
	case Failed:
		level = slog.LevelError
	case Partial, OutOfBudget:
		level = slog.LevelWarn
	}
	end := []any{"session", t.s.ID, "status", string(done.Status), "calls", t.calls}
	if done.Err != nil {
		end = append(end, "err", done.Err)
	}
	t.Log.Log(t.keep, level, "turn ended", end...)
	return done
}

// safely turns a panic into the end of the turn instead of the program.
func (t *turn) safely(f func() Done) (done Done) {
	defer func() {
		if p := recover(); p != nil {
			t.Log.Error("turn panicked", "session", t.s.ID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			done = Done{Status: Failed, Text: t.answer.text, Err: fmt.Errorf("internal error: %v", p), Usage: t.usage}
		}
	}()
	return f()
}

func (t *turn) drive(ctx context.Context) Done {
	t.defs = t.Tools.Definitions(ctx, t.call, t.s.Enabled)
	if t.first {
		t.fire(ctx, "on_session_start", map[string]any{})
	}
	t.context = t.fire(ctx, "pre_llm_call", map[string]any{"user_message": t.call.Task, "is_first_turn": t.first}).Context
	for {
		if ctx.Err() != nil {
			return t.interrupted(ctx, "")
		}
		if limit := t.spend(); limit != nil {
			return t.closing(ctx, OutOfBudget, limit)
		}
		t.makeRoom(ctx)
		msg, err := t.ask(ctx, t.defs)
		var done Done
		var over bool
		if err != nil {
			done, over = t.failed(ctx, err)
		} else {
			done, over = t.take(ctx, msg)
		}
		if over {
			return done
		}
	}
}

// spend uses one model call of the budgets; the error says which one ended.
func (t *turn) spend() error {
	most := t.s.MaxCalls
	if most <= 0 {
		most = DefaultMaxCalls
	}
	switch {
	case t.calls-min(t.refunded, most) >= most: // refunds must end too
		return fmt.Errorf("the limit of %d model calls for this turn is reached; send another message to go on", most)
	case !t.s.Tree.take():
		return errors.New("the limit of model calls for this session and its children together is reached; send another message to go on")
	}
	return nil
}

// refund has the last call not count against the limit of the turn. It was
// made all the same, and stays counted for the tree.
func (t *turn) refund() { t.refunded++ }

// take acts on one answer of the model.
func (t *turn) take(ctx context.Context, msg chat.Message) (Done, bool) {
	if len(msg.ToolCalls) == 0 {
		return t.takeText(msg)
	}
	v := t.judge(msg)
	switch v.kind {
	case askAgain:
		return t.again(v.why.Error())
	case giveUp:
		return t.giveUp(msg, v.why), true
	}
	for i := range v.calls { // results and the files they are spilled to are found by it
		v.calls[i].ID = t.ids.unique(v.calls[i].ID)
	}
	msg.ToolCalls = v.calls
	if v.kind == refuse {
		if err := t.append(msg); err != nil {
			return t.broken(err), true
		}
		t.answer = afterToolsOf(msg)
		for i, c := range v.calls {
			if err := t.settle(c, v.results[i], 0); err != nil {
				return t.broken(err), true
			}
		}
		return Done{}, false
	}
	jobs := t.plan(v.calls)
	if err := t.appendCalls(msg, jobs); err != nil {
		return t.broken(err), true
	}
	t.answer = afterToolsOf(msg)
	stop, err := t.runBatch(ctx, jobs)
	switch {
	case err != nil:
		return t.broken(err), true
	case ctx.Err() != nil:
		return t.interrupted(ctx, ""), true
	case stop != "":
		return t.closing(ctx, Partial, fmt.Errorf("stopped by the tool loop guardrail: %s", stop)), true
	}
	if !slices.ContainsFunc(v.calls, func(c chat.ToolCall) bool { return c.Function.Name != "execute_code" }) {
		t.refund() // many tools in one program are what the budget wants to see
	}
	return Done{}, false
}

// failed decides what an error of the model service means for the turn.
func (t *turn) failed(ctx context.Context, err error) (Done, bool) {
	var pe *provider.Error
	switch {
	case ctx.Err() != nil:
		return t.interrupted(ctx, "waiting for the model's response"), true
	case errors.Is(err, provider.ErrBudget):
		return Done{Status: OutOfBudget, Text: t.answer.text, Err: err}, true
	case errors.As(err, &pe) && (pe.Class == provider.ClassContextOverflow || pe.Class == provider.ClassPayloadTooLarge):
		return t.tooLong(ctx, pe)
	}
	return Done{Status: Failed, Text: t.answer.text, Err: err}, true
}

func (t *turn) interrupted(ctx context.Context, doing string) Done {
	text := "Operation interrupted"
	if doing != "" {
		text += ": " + doing
	}
	return Done{Status: Interrupted, Text: text + ".", Err: context.Cause(ctx)}
}

// closing asks for a last answer without tools, when why ends the work.
func (t *turn) closing(ctx context.Context, status Status, why error) Done {
	before := t.answer.text
	t.answer.remark = closeRemark
	for range 2 { // one more try when nothing comes back
		if ctx.Err() != nil {
			return t.interrupted(ctx, "")
		}
		msg, err := t.ask(ctx, nil)
		switch {
		case ctx.Err() != nil && err != nil:
			return t.interrupted(ctx, "waiting for the model's summary")
		case err != nil:
			return Done{Status: status, Text: before, Err: fmt.Errorf("%w; the closing summary failed: %w", why, err)}
		}
		text := strings.TrimSpace(msg.Content.String())
		if text == "" {
			if done, over := t.again("the model wrote no summary"); over {
				return done
			}
			continue
		}
		msg.ToolCalls, msg.FinishReason = nil, chat.FinishStop
		if err := t.append(msg); err != nil {
			return t.broken(err)
		}
		if before != "" {
			text = before + "\n\n" + text
		}
		return Done{Status: status, Text: text, Err: why}
	}
	return Done{Status: status, Text: before, Err: fmt.Errorf("%w; the model wrote no summary", why)}
}
