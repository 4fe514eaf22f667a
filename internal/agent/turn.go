package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/hermes-go/hermes/ask"
	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/effect"
	"github.com/hermes-go/hermes/tool"
)

type rawJSON = json.RawMessage

// ErrInterrupted is the cause to cancel a turn's context with when a person
// stops it.
var ErrInterrupted = errors.New("interrupted by the user")

// ErrBusy says that another turn of the session is still running.
var ErrBusy = errors.New("a turn of this session is running already")

// Turn answers in, appending to the session's history and its transcript.
// The last event is always Done. Leaving the loop early abandons the turn and
// waits for its tools; to interrupt, cancel ctx and keep ranging until Done.
// An error is only yielded when the turn could not begin.
func (a *Agent) Turn(ctx context.Context, s *Session, in chat.Message) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if !s.busy.CompareAndSwap(false, true) {
			yield(nil, ErrBusy)
			return
		}
		defer s.busy.Store(false)
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		buf := newBuffer()
		t := a.newTurn(ctx, s, buf.push)
		if err := t.begin(in); err != nil {
			yield(nil, err)
			return
		}
		var running sync.WaitGroup
		running.Go(func() { buf.close(a.maskDone(t.run(ctx))) })
		defer running.Wait()
		defer cancel()
		for {
			e, ok := buf.next()
			if !ok || !yield(e, nil) {
				return
			}
		}
	}
}

// turn is the state of one running turn. It is used by one goroutine; only
// the events of parallel tools come from others, and their looks back.
type turn struct {
	*Agent
	s    *Session
	call *tool.Session // the session as its tools see it
	emit func(Event)
	defs []tool.Definition
	keep context.Context // for what must be stored though the turn was cancelled

	mu sync.Mutex // guards s.History: written by the turn alone, read by its tools too

	first   bool     // of the session
	context []string // from hooks: for the model, never stored
	ids     idSet    // of all calls in the history
	drafted bool     // the transcript keeps text of an answer that is not stored
	usage   chat.Usage

	calls    int // requests sent
	refunded int // of those, how many do not count
	retries  int // answers that were thrown away

	filled      int // tokens of the last request and its answer; 0: unknown
	filledAt    int // messages of the history that filled covers
	compactions int // attempts to make room since an answer came
	tooBig      int // size at which making room failed; 0: it did not

	answer  answerState
	strikes strikes
	guard   *guardrails
}

func (a *Agent) newTurn(ctx context.Context, s *Session, emit func(Event)) *turn {
	emit = a.maskEvents(emit)
	t := &turn{
		Agent: a, s: s, emit: emit, keep: context.WithoutCancel(ctx),
		first: len(s.History) == 0, ids: idSet{}, guard: newGuardrails(a.Guard),
	}
	t.remember(s.History)
	services := tool.NewServices(s.Services)
	var asks ask.Asker = ask.Nobody{}
	if s.Interactive {
		asks = newAsker(emit, s.AskTimeout)
	}
	gate := s.Approvals
	if gate == nil {
		gate = &ask.Gate{Mode: ask.Manual}
	}
	tool.ProvideAs(services, asks)
	tool.ProvideAs(services, gate.For(asks))
	tool.ProvideAs[Loop](services, t)
	call := *s.Session
	call.Services = services
	t.call = &call
	return t
}

// remember notes the call ids of messages.
func (t *turn) remember(m []chat.Message) {
	for i := range m {
		for _, c := range m[i].ToolCalls {
			t.ids.add(c.ID)
		}
	}
}

// LastResult implements Loop.
func (t *turn) LastResult(name string) (string, bool) {
	t.mu.Lock()
	history := t.s.History // its messages are never changed in place
	t.mu.Unlock()
	return LastResult(history, name)
}

// begin stores the message: from here on it is not lost. Calls that a crash
// left open are closed first.
func (t *turn) begin(in chat.Message) error {
	t.call.Task = in.Content.String()
	in = in.Sanitize()
	in.Role = chat.User
	m, marks := t.closeOpen()
	t.s.Tree.begin(t.s)
	return t.appendMarked(marks, append(m, in)...)
}

// append stores messages and takes them into the history. It works after a
// cancel too: what happened is recorded.
func (t *turn) append(m ...chat.Message) error { return t.appendMarked(nil, m...) }

// appendMarked also stores what became of calls.
func (t *turn) appendMarked(marks []effect.Mark, m ...chat.Message) error {
	var err error
	m = t.masked(m)
	if len(marks) == 0 || t.Journal == nil {
		err = t.Transcript.Append(t.keep, t.s.ID, m...)
	} else {
		err = t.Journal.Mark(t.keep, t.s.ID, marks, m...)
	}
	if err != nil {
		return fmt.Errorf("store message: %w", err)
	}
	t.took(m...)
	return nil
}

// took takes stored messages into the history.
func (t *turn) took(m ...chat.Message) {
	t.drafted = false
	t.remember(m)
	t.setHistory(append(t.s.History, m...))
}

func (t *turn) setHistory(m []chat.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.History = m
}

// finish leaves the session as the next turn wants to find it: no call without
// a result, no draft, whatever ended the turn.
func (t *turn) finish(done Done) Done {
	why := "unknown: the turn broke off before the result was stored; check whether it took effect before doing it again"
	for _, c := range openCalls(t.s.History) {
		mark := effect.Mark{Call: c.ID, State: effect.Unknown}
		if done.Status == Interrupted {
			why, mark.State = fmt.Sprintf(skippedText, c.Function.Name), effect.NotRun
		}
		if err := t.settle(c, failure(why), 0, mark); err != nil {
			done.Status, done.Err = Failed, errors.Join(done.Err, err)
			break
		}
	}
	if err := t.dropDraft(); err != nil {
		t.Log.Warn("draft not removed", "session", t.s.ID, "err", err)
	}
	if done.Status == OK && done.Text != "" {
		t.fire(t.keep, "post_llm_call", map[string]any{"user_message": t.call.Task, "assistant_response": done.Text})
	}
	t.fire(t.keep, "on_session_end", map[string]any{"completed": done.Status == OK, "interrupted": done.Status == Interrupted})
	done.Usage = t.usage
	return done
}
