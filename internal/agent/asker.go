package agent

import (
	"context"
	"time"

	"github.com/hermes-go/hermes/ask"
)

// asker turns questions of tools into Asked events, one at a time.
type asker struct {
	open    chan struct{} // holds one token while a question is open
	emit    func(Event)
	timeout time.Duration
}

func newAsker(emit func(Event), timeout time.Duration) *asker {
	return &asker{open: make(chan struct{}, 1), emit: emit, timeout: timeout}
}

// Ask implements ask.Asker. Waiting for an earlier question to close does not
// count against the timeout: nobody has seen this one yet.
func (a *asker) Ask(ctx context.Context, r ask.Request) (ask.Answer, error) {
	select {
	case a.open <- struct{}{}:
		defer func() { <-a.open }()
	case <-ctx.Done():
		return noAnswer(context.Cause(ctx))
	}
	if ctx.Err() != nil {
		return noAnswer(context.Cause(ctx))
	}
	answer := make(chan ask.Answer, 1)
	a.emit(Asked{Request: r, Reply: func(x ask.Answer) {
		select {
		case answer <- x:
		default: // answered already
		}
	}})
	var late <-chan time.Time
	if a.timeout > 0 {
		t := time.NewTimer(a.timeout)
		defer t.Stop()
		late = t.C
	}
	select {
	case x := <-answer:
		return x, nil
	case <-late:
		return noAnswer(ask.ErrTimeout)
	case <-ctx.Done():
		return noAnswer(context.Cause(ctx))
	}
}

func noAnswer(err error) (ask.Answer, error) { return ask.Answer{Scope: ask.Deny}, err }
