package store

import (
	"context"
	"runtime"
)

// waiting is a write whose turn has not come. It is done by whoever holds the
// writer, together with all others that wait: many sessions that append at
// once share one transaction, which costs as much as one of them alone.
type waiting struct {
	ctx   context.Context
	f     func(ctx context.Context, c *conn) error // may run more than once
	alone func() error                             // the write by itself, when the shared one failed
	done  bool
	err   error
}

// mostTogether bounds a transaction, so that nobody waits long for others.
const mostTogether = 256

// write runs f in a transaction on the one writing connection. Before it, what
// was kept beside the database comes in, so that the order of a session stays.
func (d *DB) write(ctx context.Context, f func(ctx context.Context, c *conn) error) error {
	return d.share(&waiting{ctx: ctx, f: f, alone: func() error { return d.writeLocked(ctx, f) }})
}

// share waits until w is done, by this goroutine or by another one.
func (d *DB) share(w *waiting) error {
	d.qmu.Lock()
	d.queue = append(d.queue, w)
	d.qmu.Unlock()

	d.mu.Lock()
	defer d.mu.Unlock()
	for !w.done {
		runtime.Gosched() // who is about to write may come along
		d.doWaiting()
	}
	return w.err
}

// doWaiting does what waits; it wants d.mu held. A failure of the shared
// transaction has changed nothing: then each write is tried by itself and gets
// its own answer.
func (d *DB) doWaiting() {
	d.qmu.Lock()
	n := min(len(d.queue), mostTogether)
	all := d.queue[:n:n]
	d.queue = d.queue[n:]
	d.qmu.Unlock()
	if len(all) > 1 {
		err := d.writeLocked(context.Background(), func(ctx context.Context, c *conn) error {
			for _, w := range all {
				if err := w.f(ctx, c); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			for _, w := range all {
				w.done = true
			}
			return
		}
	}
	for _, w := range all {
		w.err = w.alone()
		w.done = true
	}
}
