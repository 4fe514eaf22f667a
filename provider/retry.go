package provider

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"time"
)

// RetryPolicy says how often and how long after a failure a request is sent
// again. Zero fields have the values in the comments.
type RetryPolicy struct {
	Attempts int           // 3, the first one included
	Base     time.Duration // 2 s: the first wait; it doubles
	Max      time.Duration // 60 s
	MaxAfter time.Duration // 120 s: more than that of a Retry-After is not waited for

	// Eager is set where another service stands behind this one: it is asked
	// at once when waiting is the only thing that could help here.
	Eager bool

	Sleep  func(ctx context.Context, d time.Duration) error // nil: a timer
	Jitter func() float64                                   // 0 to 1, nil: random
}

// Base and limit after an answer in which there was nothing: such services are
// rarely well again soon.
const (
	invalidBase = 5 * time.Second
	invalidMax  = 120 * time.Second
)

// Retrying sends a request again after a failure that may pass. Before each new
// attempt it yields a chunk with Retry, which makes void all that came since
// the last one (or the start): text, reasoning, started calls. It does not
// send again once text was delivered, unless a tool call had begun after it,
// of which nothing can be used. The error that it gives up with carries
// Attempts. A wait ends with ctx.
func Retrying(c Client, p RetryPolicy) Client {
	if p.Attempts <= 0 {
		p.Attempts = 3
	}
	if p.Base <= 0 {
		p.Base = 2 * time.Second
	}
	if p.Max <= 0 {
		p.Max = 60 * time.Second
	}
	if p.MaxAfter <= 0 {
		p.MaxAfter = 120 * time.Second
	}
	if p.Sleep == nil {
		p.Sleep = sleep
	}
	if p.Jitter == nil {
		p.Jitter = rand.Float64
	}
	return &retrying{c, p}
}

type retrying struct {
	Client
	policy RetryPolicy
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Stream implements Client.
func (r *retrying) Stream(ctx context.Context, req *Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		for attempt := 1; ; attempt++ {
			seen, ok, err := pass(r.Client.Stream(ctx, req), yield)
			if !ok || err == nil {
				return
			}
			e := asError(err)
			if e == nil || !r.again(e, seen, attempt) {
				if e != nil {
					e.Attempts = attempt
				}
				yield(Chunk{}, err)
				return
			}
			wait := r.policy.wait(e, attempt)
			note := &Retry{Attempt: attempt, After: readable(wait), Reason: err}
			if !yield(Chunk{Retry: note}, nil) {
				return
			}
			if err := r.policy.Sleep(ctx, wait); err != nil {
				yield(Chunk{}, err)
				return
			}
		}
	}
}

func (r *retrying) again(e *Error, seen progress, attempt int) bool {
	switch {
	case !e.Retryable() || attempt >= r.policy.Attempts:
		return false
	case seen.text && !seen.call:
		return false
	case r.policy.Eager && !e.OtherKey:
		return e.Class != ClassRateLimit && e.Class != ClassInvalid
	}
	return true
}

// wait is the time before the next attempt.
func (p *RetryPolicy) wait(e *Error, attempt int) time.Duration {
	if e.RetryAfter > 0 {
		return min(e.RetryAfter, p.MaxAfter)
	}
	base, most := p.Base, p.Max
	if e.Class == ClassInvalid {
		base, most = max(base, invalidBase), max(most, invalidMax)
	}
	d := min(base<<min(attempt-1, 20), most)
	return d + time.Duration(p.Jitter()*0.5*float64(d))
}

// readable is a wait for people: "3s", "0.4s", "" for none.
func readable(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	if d < time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// progress is what a consumer has seen of an answer.
type progress struct {
	text, call, any bool
}

// pass hands a stream on up to its end or error. ok is false when the consumer
// left; a nil error with ok means that the answer is complete.
func pass(seq iter.Seq2[Chunk, error], yield func(Chunk, error) bool) (seen progress, ok bool, err error) {
	ok = true
	final := false
	for c, e := range seq {
		if e != nil {
			return seen, true, e
		}
		if c.Retry != nil {
			seen = progress{}
		}
		seen.any = true
		seen.text = seen.text || c.Text != ""
		seen.call = seen.call || c.CallStarted != ""
		final = final || c.Final != nil
		if !yield(c, nil) {
			return seen, false, nil
		}
	}
	if !final {
		return seen, true, &Error{Class: ClassTimeout, ToolIndex: -1, Err: ErrIncomplete, Partial: seen.text}
	}
	return seen, true, nil
}

func asError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}
