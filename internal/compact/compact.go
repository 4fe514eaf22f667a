// Package compact makes a long conversation shorter so that it goes on within
// the model's window: old tool outputs become a line each, and if that does not
// suffice, its middle becomes a running summary. It decides what may be cut and
// puts the shorter history together; it stores nothing itself, and what it
// leaves out stays in the session that was.
package compact

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/agent"
)

// Settings say how much is kept. The zero value is the original's.
type Settings struct {
	Threshold float64 // share of the window from which it happens; 0.5 when 0
	Target    float64 // share of the threshold that the newest messages may keep; 0.2 when 0
	Protect   int     // newest messages whose tool outputs stay whole; 20 when 0
}

// Deps is what a Compactor stands on.
type Deps struct {
	Settings
	// Ask makes one side call.
	Ask func(ctx context.Context, system, user string, maxTokens int) (string, error)
	// Commit makes m the history of s and stores it. The transcript so far stays
	// where it is. On an error nothing has changed.
	Commit func(ctx context.Context, s *agent.Session, m []chat.Message) error
	// Overhead is how many tokens a request has before its first message.
	Overhead func(ctx context.Context, s *agent.Session) int
	// Carry returns what tools want to keep, and which they are. It may be nil.
	Carry  func(s *agent.Session, m []chat.Message) []Carried
	Redact func(string) string
	Log    *slog.Logger
	Now    func() time.Time
}

// Carried is a text of a tool that must survive.
type Carried struct{ Tool, Text string }

// Compactor compacts one conversation. It implements agent.Compactor.
type Compactor struct {
	Deps

	mu       sync.Mutex
	topic    string // what the next summary is about above all
	failed   time.Time
	fails    int // in a row
	poor     int // compactions in a row that saved next to nothing
	poorSize int // tokens after the last of them
}

var _ agent.Compactor = (*Compactor)(nil)

// New returns a compactor for one conversation.
func New(d Deps) *Compactor {
	if d.Settings.Threshold <= 0 || d.Settings.Threshold > 1 {
		d.Settings.Threshold = 0.5
	}
	if d.Target <= 0 {
		d.Target = 0.2
	}
	d.Target = min(max(d.Target, 0.1), 0.8)
	if d.Protect <= 0 {
		d.Protect = 20
	}
	if d.Redact == nil {
		d.Redact = func(s string) string { return s }
	}
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	return &Compactor{Deps: d}
}

// About has the next summary keep what concerns the topic.
func (c *Compactor) About(topic string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.topic = strings.TrimSpace(topic)
}

const (
	// coolDown is how long a failed summary is not tried again while there is
	// still room.
	coolDown = time.Minute
	// enough is the share of the room that must be free for pruning alone to do.
	enough = 70
	// mostPoor is how many compactions in a row may save less than a tenth.
	mostPoor = 2
)

// Compact implements agent.Compactor.
func (c *Compactor) Compact(ctx context.Context, s *agent.Session, m []chat.Message, why agent.Reason) ([]chat.Message, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := agent.Tokens(m...)
	if err := c.notNow(before, why); err != nil {
		return nil, err
	}
	sz := c.sizes(ctx, s, before, why)
	carried := c.carried(s, m)
	p := prune(m, sz.protected(m, c.Protect), newest(m, carried)...)
	if why == agent.Threshold && agent.Tokens(p...) <= sz.room*enough/100 && agent.Tokens(p...) <= before*9/10 {
		return p, nil // the session goes on: the store keeps the outputs whole
	}
	plain, old := unfold(p)
	k, err := choose(plain, old.at, sz)
	if err != nil {
		return nil, err
	}
	sum, err := c.summarise(ctx, plain[k.head:k.tail], old, sz)
	switch {
	case err == nil:
		c.fails = 0
	case ctx.Err() != nil:
		return nil, err
	default:
		c.failed = c.Now()
		c.fails++
		c.Log.Warn("no summary", "session", s.ID, "err", err)
		if why != agent.Overflow {
			return nil, fmt.Errorf("no summary could be made: %w", err)
		}
		sum = withoutModel(plain[k.head:k.tail], old, sz) // nothing fits any more: better a list than an end
	}
	calls := old.calls.with(plain[k.head:k.tail], resultsOf(m), sz.record)
	for i := range calls.lines {
		calls.lines[i] = c.Redact(calls.lines[i])
	}
	out := assemble(plain, k, note{session: s.ID, summary: c.Redact(sum), calls: calls, carried: carried})
	after := agent.Tokens(out...)
	if err := agent.CheckPairs(out); err != nil {
		return nil, fmt.Errorf("the shortened conversation is not sound: %w", err)
	}
	if after >= before {
		return nil, errors.New("a summary would be no shorter")
	}
	if err := c.Commit(ctx, s, out); err != nil {
		return nil, err
	}
	c.topic = ""
	if c.poor++; after <= before*9/10 {
		c.poor = 0
	}
	c.poorSize = after
	c.Log.Info("history compacted", "session", s.ID, "before", before, "after", after, "messages", len(m), "left", len(out))
	return out, nil
}

// notNow says why it is not worth trying. Who asks for it, or has no other
// way, is not refused.
func (c *Compactor) notNow(size int, why agent.Reason) error {
	switch {
	case why != agent.Threshold:
		return nil
	case c.fails > 0 && c.Now().Sub(c.failed) < coolDown:
		return fmt.Errorf("%w: the last summary failed a moment ago", agent.ErrNotNow)
	case c.poor >= mostPoor && size < c.poorSize+c.poorSize/4:
		return fmt.Errorf("%w: the last %d times saved next to nothing", agent.ErrNotNow, mostPoor)
	}
	return nil
}

func (c *Compactor) carried(s *agent.Session, m []chat.Message) []Carried {
	if c.Carry == nil {
		return nil
	}
	var out []Carried
	for _, x := range c.Carry(s, m) {
		if x.Text = strings.TrimSpace(x.Text); x.Text != "" {
			out = append(out, x)
		}
	}
	return out
}
