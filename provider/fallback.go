package provider

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/hermes-go/hermes/chat"
)

// Target is one service of a fallback chain.
type Target struct {
	Label string // for people, e.g. "openrouter"
	Model string // "": the request's own
	Open  func(ctx context.Context) (Client, error)
}

// FallbackOptions are the rarely set parts of Fallback.
type FallbackOptions struct {
	Now      func() time.Time // nil: the system clock
	CoolDown time.Duration    // how long a limited first service is left alone; 60 s
}

// Fallback asks the first service, and when that fails in a way that another
// one may not, the next. It expects clients that retry on their own, with
// Eager set where something stands behind them. Before it changes over it
// yields a chunk with Retry and the new model; what came before is void. A
// failure after text was delivered ends the stream, unless a tool call had
// begun.
//
// A session stays with the service that answered until its next message from
// a person; then the first is asked again, unless it refused for its limits
// less than CoolDown ago.
func Fallback(o FallbackOptions, targets ...Target) Client {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.CoolDown <= 0 {
		o.CoolDown = 60 * time.Second
	}
	return &falling{FallbackOptions: o, targets: targets, open: make([]Client, len(targets)), at: map[string]int{}}
}

type falling struct {
	FallbackOptions
	targets []Target

	mu      sync.Mutex
	open    []Client
	at      map[string]int // by session: the service it has changed over to
	limited time.Time      // when the first service refused for its limits
}

// maxAway bounds the sessions that are remembered as being elsewhere.
const maxAway = 10_000

// Stream implements Client.
func (f *falling) Stream(ctx context.Context, r *Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		if len(f.targets) == 0 {
			yield(Chunk{}, &SetupError{Problem: "no model service is set up", Fix: fixSetup})
			return
		}
		var last error
		for i := f.start(r); i < len(f.targets); i++ {
			t := &f.targets[i]
			req := *r
			if t.Model != "" {
				req.Model = t.Model
			}
			if last != nil && !yield(Chunk{Retry: &Retry{Attempt: i, Reason: last, Model: req.Model}}, nil) {
				return
			}
			c, err := f.client(ctx, i)
			if err != nil { // an entry that cannot be used is passed over
				last = err
				continue
			}
			seen, ok, err := pass(c.Stream(ctx, &req), yield)
			if !ok || err == nil {
				f.settle(r, i)
				return
			}
			last = err
			if ctx.Err() != nil || !f.goesOn(err, seen, i) {
				break
			}
		}
		yield(Chunk{}, last)
	}
}

func (f *falling) client(ctx context.Context, i int) (Client, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open[i] == nil {
		c, err := f.targets[i].Open(ctx)
		if err != nil {
			return nil, err
		}
		f.open[i] = c
	}
	return f.open[i], nil
}

// start is the place in the chain where a request begins.
func (f *falling) start(r *Request) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.at[r.Options.SessionID]
	if n := len(r.Messages); i > 0 && n > 0 && r.Messages[n-1].Role == chat.User {
		delete(f.at, r.Options.SessionID) // a new turn
		i = 0
	}
	if i == 0 && len(f.targets) > 1 && !f.limited.IsZero() && f.Now().Sub(f.limited) < f.CoolDown {
		i = 1
	}
	return i
}

func (f *falling) settle(r *Request, i int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i == 0 {
		delete(f.at, r.Options.SessionID)
		return
	}
	if len(f.at) < maxAway {
		f.at[r.Options.SessionID] = i
	}
}

func (f *falling) goesOn(err error, seen progress, i int) bool {
	e := asError(err)
	if e == nil || !e.FallsBack() || seen.text && !seen.call {
		return false
	}
	if i == 0 && (e.Class == ClassRateLimit || e.Class == ClassBilling) {
		f.mu.Lock()
		f.limited = f.Now()
		f.mu.Unlock()
	}
	return true
}
