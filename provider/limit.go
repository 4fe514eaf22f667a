package provider

import (
	"context"
	"iter"
)

// Limit lets at most n requests through at a time; the others wait for their
// turn or for the end of their ctx. A request holds its place until its stream
// has ended.
func Limit(c Client, n int) Client {
	if n <= 0 {
		return c
	}
	return &limited{c, make(chan struct{}, n)}
}

type limited struct {
	Client
	slots chan struct{}
}

// Stream implements Client.
func (l *limited) Stream(ctx context.Context, r *Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		select {
		case l.slots <- struct{}{}:
		case <-ctx.Done():
			yield(Chunk{}, ctx.Err())
			return
		}
		defer func() { <-l.slots }()
		for c, err := range l.Client.Stream(ctx, r) {
			if !yield(c, err) {
				return
			}
		}
	}
}
