package wire

import (
	"context"
	"io"
	"sync"
	"time"
)

// pulse ends a request that shows no sign of life. It is one timer that each
// event sets back; nothing polls.
type pulse struct {
	limit  time.Duration
	timer  *time.Timer
	total  *time.Timer
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	stopped bool
	last    time.Time // the last event that was more than a comment
}

// maxFaint is how long comments alone keep a stream alive: they say that the
// router is up, not that a model works.
const maxFaint = 10 * time.Minute

// watch starts the pulse. How long a model may think before its first word
// depends on how much it has to read.
func (x *exchange) watch(bytes int, cancel context.CancelCauseFunc) *pulse {
	p := &pulse{cancel: cancel, limit: x.Endpoint.Stall}
	if p.limit == 0 && !x.Endpoint.Local() {
		switch tokens := bytes / 4; {
		case tokens > 100_000:
			p.limit = 300 * time.Second
		case tokens > 50_000:
			p.limit = 240 * time.Second
		default:
			p.limit = 180 * time.Second
		}
		if x.adapted.NoStream { // nothing comes before everything
			p.limit = p.limit * 5 / 3
		}
	}
	if p.limit > 0 {
		p.timer = time.AfterFunc(p.limit, func() { cancel(errStalled) })
		p.last = time.Now()
	}
	if x.Endpoint.Timeout > 0 {
		p.total = time.AfterFunc(x.Endpoint.Timeout, func() { cancel(errTooLong) })
	}
	return p
}

func (p *pulse) sign() {
	if p.timer != nil {
		p.mu.Lock()
		p.last = time.Now()
		p.reset(p.limit)
		p.mu.Unlock()
	}
}

func (p *pulse) faint() {
	if p.timer != nil {
		p.mu.Lock()
		if time.Since(p.last) < maxFaint {
			p.reset(p.limit)
		}
		p.mu.Unlock()
	}
}

func (p *pulse) reset(d time.Duration) {
	if !p.stopped {
		p.timer.Reset(d)
	}
}

func (p *pulse) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	if p.timer != nil {
		p.timer.Stop()
	}
	if p.total != nil {
		p.total.Stop()
	}
}

// drain reads the few bytes that follow an answer, so that the connection can
// be used again. A service that keeps it open longer loses it.
func drain(body io.Reader, p *pulse) {
	stuck := time.AfterFunc(100*time.Millisecond, func() { p.cancel(errStalled) })
	defer stuck.Stop()
	_, _ = io.CopyN(io.Discard, body, 4<<10) // the answer is whole already
}
