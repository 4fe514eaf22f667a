package agent

import (
	"strings"
	"sync"
)

// buffer stands between a turn and its consumer. Text is merged and progress
// replaced while nobody reads, so a slow front never stalls the model's
// stream; nothing else is dropped.
type buffer struct {
	mu     sync.Mutex
	events []pending
	closed bool
	ready  chan struct{} // capacity 1: there may be something new
}

// pending is an event that waits. Text that keeps coming is gathered in a
// builder: joining strings would cost the square of its length.
type pending struct {
	event  Event
	gather *strings.Builder // of a Text or Reasoning with more than one piece
}

func newBuffer() *buffer { return &buffer{ready: make(chan struct{}, 1)} }

// push adds an event. After close nothing is taken any more, so that a tool
// that reports from a goroutine it forgot does not speak after Done.
func (b *buffer) push(e Event) {
	b.mu.Lock()
	if !b.closed && !b.merge(e) {
		b.events = append(b.events, pending{event: e})
	}
	b.mu.Unlock()
	b.wake()
}

func (b *buffer) merge(e Event) bool {
	if len(b.events) == 0 {
		return false
	}
	last := &b.events[len(b.events)-1]
	switch e := e.(type) {
	case Text:
		if old, ok := last.event.(Text); ok {
			last.add(old.Text, e.Text)
			return true
		}
	case Reasoning:
		if old, ok := last.event.(Reasoning); ok {
			last.add(old.Text, e.Text)
			return true
		}
	case ToolProgress:
		for i := len(b.events) - 1; i >= 0; i-- {
			switch old := b.events[i].event.(type) {
			case ToolProgress:
				if old.ID == e.ID {
					b.events[i].event = e
					return true
				}
			case ToolStart:
				if old.ID == e.ID {
					return false
				}
			}
		}
	}
	return false
}

func (p *pending) add(old, more string) {
	if p.gather == nil {
		p.gather = &strings.Builder{}
		p.gather.WriteString(old)
	}
	p.gather.WriteString(more)
}

func (p *pending) take() Event {
	if p.gather == nil {
		return p.event
	}
	if _, ok := p.event.(Text); ok {
		return Text{p.gather.String()}
	}
	return Reasoning{p.gather.String()}
}

// close adds the last event.
func (b *buffer) close(last Event) {
	b.mu.Lock()
	b.events = append(b.events, pending{event: last})
	b.closed = true
	b.mu.Unlock()
	b.wake()
}

func (b *buffer) wake() {
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// next waits for an event; false when the turn is over and all were read.
func (b *buffer) next() (Event, bool) {
	for {
		b.mu.Lock()
		if len(b.events) > 0 {
			e := b.events[0].take()
			b.events[0] = pending{} // a long wait must not keep what was read
			b.events = b.events[1:]
			b.mu.Unlock()
			return e, true
		}
		closed := b.closed
		b.mu.Unlock()
		if closed {
			return nil, false
		}
		<-b.ready
	}
}
