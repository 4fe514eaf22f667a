package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/provider"
)

// mostCompactions bounds the attempts to make room in one turn.
const mostCompactions = 3

// tooLong has the history compacted after a service refused its size, or ends
// the turn with all of it kept.
func (t *turn) tooLong(ctx context.Context, cause *provider.Error) (Done, bool) {
	if cause.Window > 0 && (t.s.Window <= 0 || cause.Window < t.s.Window) {
		t.s.Window = cause.Window // the service knows better
	}
	err := t.compact(ctx, Overflow)
	if err == nil {
		t.refund()
		return Done{}, false
	}
	if ctx.Err() != nil {
		return t.interrupted(ctx, "shortening the conversation"), true
	}
	return t.partial(fmt.Errorf(
		"the conversation no longer fits the model's context window (%w) and is not shortened: %w; nothing is lost: start a new session, or choose a model with a larger window",
		cause, err)), true
}

// makeRoom compacts the history before the window is full. When that fails,
// the person is told once, and it is tried again when the history has grown;
// meanwhile the service decides whether the request still fits.
func (t *turn) makeRoom(ctx context.Context) {
	if t.Compactor == nil || t.s.Window <= 0 || t.compactions >= mostCompactions {
		return
	}
	const step = 20 // of the window
	size := t.size()
	if size < ThresholdOf(t.s.Window, t.CompactAt) || t.tooBig > 0 && size < t.tooBig+t.s.Window/step {
		return
	}
	err := t.compact(ctx, Threshold)
	if err == nil || ctx.Err() != nil {
		return
	}
	t.Log.Warn("history not compacted", "session", t.s.ID, "err", err)
	if t.tooBig == 0 && !errors.Is(err, ErrNotNow) {
		t.emit(Notice{fmt.Sprintf("The conversation fills the model's window and was not shortened (%v). Everything is kept; it is tried again later.", err)})
	}
	t.compactions, t.tooBig = t.compactions-1, size // what the service refuses may still be compacted
}

// compact replaces the history by a shorter one. It changes nothing when the
// compactor fails or what it made is not sound.
func (t *turn) compact(ctx context.Context, why Reason) error {
	switch {
	case t.Compactor == nil:
		return errors.New("nothing here can do that")
	case t.compactions >= mostCompactions:
		return errors.New("that was done already")
	}
	t.compactions++
	before := t.s.History
	m, err := t.Compactor.Compact(ctx, t.s, before, why)
	switch {
	case err != nil:
		return err
	case len(m) == 0 || estimate(m) >= estimate(before):
		return errors.New("it cannot become shorter")
	}
	if err := checkPairs(m); err != nil {
		return fmt.Errorf("the shortened conversation is not sound: %w", err)
	}
	t.setHistory(m)
	t.filled, t.filledAt, t.tooBig = 0, 0, 0
	// It may go on under another id. No call runs now that could notice.
	call := *t.call
	call.ID, call.TaskID = t.s.ID, t.s.TaskID
	t.call = &call
	t.emit(Compacted{len(before), len(m)})
	return nil
}

// size is how many tokens the next request has: what the service counted last
// and an estimate of what came since.
func (t *turn) size() int {
	if t.filled == 0 {
		tokens := len(t.s.System) / charsPerToken
		for _, d := range t.defs {
			tokens += (len(d.Function.Description) + len(d.Function.Parameters)) / charsPerToken
		}
		return tokens + estimate(t.s.History)
	}
	return t.filled + estimate(t.s.History[min(t.filledAt, len(t.s.History)):])
}

const (
	charsPerToken    = 4
	tokensPerImage   = 1600
	charsPerEnvelope = 10
)

// estimate is a rough number of tokens.
func estimate(history []chat.Message) int {
	chars, images := 0, 0
	for _, m := range history {
		chars += charsPerEnvelope + len(m.Content.Text)
		for _, p := range m.Content.Parts {
			if p.Type == "text" {
				chars += len(p.Text)
			} else {
				images++
			}
		}
		for _, c := range m.ToolCalls {
			chars += charsPerEnvelope + len(c.Function.Name) + len(c.Function.Arguments)
		}
	}
	return (chars+charsPerToken-1)/charsPerToken + images*tokensPerImage
}
