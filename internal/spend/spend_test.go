package spend

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/provider"
)

// pages is a book in memory.
type pages struct {
	mu    sync.Mutex
	calls []Call
	reads int
	err   error
}

func (p *pages) Add(_ context.Context, c Call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, c)
}

func (p *pages) Totals(_ context.Context, keys []string) ([]Total, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reads++
	out := make([]Total, len(keys))
	for _, c := range p.calls {
		for _, k := range c.Keys {
			for i := range keys {
				if keys[i] == k {
					out[i] = out[i].add(c.Total())
				}
			}
		}
	}
	return out, p.err
}

// service answers with what it is told to take.
type service struct {
	usage *chat.Usage
	err   error // after text
	began chan struct{}
	gate  chan struct{}
	max   []int
	mu    sync.Mutex
}

func (s *service) Stream(ctx context.Context, r *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		s.mu.Lock()
		s.max = append(s.max, r.Options.MaxTokens)
		s.mu.Unlock()
		if s.gate != nil {
			s.began <- struct{}{}
			<-s.gate
		}
		if !yield(provider.Chunk{Text: strings.Repeat("word ", 80)}, nil) {
			return
		}
		if s.err != nil {
			yield(provider.Chunk{}, s.err)
			return
		}
		m := chat.AssistantText("done")
		m.ToolCalls = []chat.ToolCall{chat.NewCall("1", "terminal", "{}"), chat.NewCall("2", "terminal", "{}")}
		m.Usage = s.usage
		yield(provider.Chunk{Final: &m}, nil)
	}
}

type world struct {
	pages   *pages
	ledger  *Ledger
	service *service
	client  provider.Client
	now     time.Time
	price   Price
}

func newWorld(l Limits) *world {
	w := &world{pages: &pages{}, service: &service{usage: &chat.Usage{Input: 1000, Output: 100}}, now: time.Date(2026, 5, 1, 23, 0, 0, 0, time.UTC)}
	w.price = Price{In: 1, Out: 10, CacheRead: 0.1, CacheWrite: 1.25, Known: true, Source: "catalogue"}
	w.ledger = New(l, w.pages, func() time.Time { return w.now })
	w.client = Meter(w.service, "svc", func(string) Price { return w.price }, w.ledger.Account("", ""))
	return w
}

func (w *world) call(a *Account) error {
	ctx := context.Background()
	if a != nil {
		ctx = With(ctx, a)
	}
	_, err := provider.Collect(w.client.Stream(ctx, &provider.Request{Model: "m", Tokens: 1000}))
	return err
}

// Each limit stops the call that would go over it, says which it is and how to
// go on; the others do not mind.
func TestEachCapStops(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limits Limits
		want   string
		goOn   func(w *world, a *Account) *Account
	}{
		{Limits{Turn: Limit{Tokens: 3500}}, "caps.turn.tokens, 3500 tokens: 3300 are used and the next call needs about 1256; to go on, raise it (hermes config set caps.turn.tokens ...) or send another message", func(w *world, a *Account) *Account {
			a.Begin("s")
			return a
		}},
		{Limits{Session: Limit{Tokens: 3500}}, "begin a new session", func(w *world, a *Account) *Account { return w.ledger.Account("other", "") }},
		{Limits{Day: Limit{USD: 0.007}}, "caps.day.usd, $0.007: $0.0040 is spent and the next call is estimated at $0.0036", func(w *world, a *Account) *Account {
			w.now = w.now.Add(2 * time.Hour)
			return a
		}},
		{Limits{Profile: Limit{Tokens: 3500}}, "caps.profile.tokens", nil},
		{Limits{Job: Limit{Tokens: 3500}}, "caps.job.tokens", func(w *world, a *Account) *Account { return w.ledger.Account("s", "weekly") }},
	} {
		w := newWorld(c.limits)
		a := w.ledger.Account("s", "nightly")
		a.Begin("s")
		var err error
		n := 0
		for ; err == nil && n < 10; n++ {
			err = w.call(a)
		}
		if !errors.Is(err, provider.ErrBudget) || !strings.Contains(err.Error(), c.want) || n < 3 || n > 4 {
			t.Errorf("%+v: after %d calls: %v", c.limits, n, err)
		}
		if c.goOn == nil {
			continue
		}
		if err := w.call(c.goOn(w, a)); err != nil {
			t.Errorf("%+v: going on: %v", c.limits, err)
		}
	}
}

// What children and side calls take counts for who pays for them, and what
// belongs to nobody counts for the home.
func TestAllCallsCount(t *testing.T) {
	t.Parallel()
	w := newWorld(Limits{})
	a := w.ledger.Account("root", "job")
	a.Begin("part")
	ctx := With(context.Background(), a)
	for _, r := range []*provider.Request{{Model: "m", Options: provider.Options{SessionID: "child"}}, {Model: "m", Purpose: "compression"}} {
		if _, err := provider.Collect(w.client.Stream(ctx, r)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.call(nil); err != nil {
		t.Fatal(err)
	}
	c := w.pages.calls
	if c[0].Session != "child" || c[0].Root != "root" || c[0].Job != "job" || strings.Join(c[0].Keys, " ") != " day:2026-05-01 profile session:root job:job:2026-05-01"[1:] || strings.Join(c[0].Tools, ",") != "terminal" {
		t.Errorf("child: %+v", c[0])
	}
	if c[1].Session != "part" || c[1].Purpose != "compression" || *c[1].USD != 0.002 {
		t.Errorf("side call: %+v", c[1])
	}
	if c[2].Session != "" || strings.Join(c[2].Keys, " ") != "day:2026-05-01 profile" {
		t.Errorf("nobody's: %+v", c[2])
	}
	if w.pages.reads != 0 {
		t.Error("without limits nothing is read")
	}
}

// Calls in flight count with what they may take: two at once do not both get
// the last of the money.
func TestCallsInFlightCount(t *testing.T) {
	t.Parallel()
	w := newWorld(Limits{Turn: Limit{Tokens: 6000}})
	w.service.began, w.service.gate = make(chan struct{}), make(chan struct{})
	a := w.ledger.Account("s", "")
	first := make(chan error, 1)
	go func() { first <- w.call(a) }()
	<-w.service.began
	if err := w.call(a); !errors.Is(err, provider.ErrBudget) {
		t.Errorf("the second call: %v", err)
	}
	close(w.service.gate)
	if err := <-first; err != nil {
		t.Error(err)
	}
	w.service.gate = nil
	if err := w.call(a); err != nil {
		t.Errorf("what was held and not used is free again: %v", err)
	}
}

// An answer is told to end before the limit does.
func TestAnswerFitsTheLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(Limits{Turn: Limit{USD: 0.02}, Session: Limit{Tokens: 100_000}})
	a := w.ledger.Account("s", "")
	for range 2 {
		if err := w.call(a); err != nil {
			t.Fatal(err)
		}
	}
	if w.service.max[0] != 1900 || w.service.max[1] != 1700 { // (0.02 - 0.001) / 10 dollars a million
		t.Errorf("limits of the answers: %v", w.service.max)
	}
}

// An unknown price is said to be unknown, and stops where a limit is in money.
func TestUnknownPrice(t *testing.T) {
	t.Parallel()
	w := newWorld(Limits{Day: Limit{USD: 1}})
	w.price = Price{}
	err := w.call(nil)
	if !errors.Is(err, provider.ErrBudget) || !strings.Contains(err.Error(), "caps.day.usd is set and the price of m is unknown; set prices.m.input") {
		t.Errorf("%v", err)
	}
	for _, l := range []Limits{{Day: Limit{USD: 1}, UnknownPrice: "allow"}, {Day: Limit{Tokens: 5000}}} {
		w := newWorld(l)
		w.price = Price{}
		if err := w.call(nil); err != nil {
			t.Errorf("%+v: %v", l, err)
		}
		if c := w.pages.calls[0]; c.USD != nil || c.Total() != (Total{Tokens: 1100, Unpriced: 1}) {
			t.Errorf("%+v", c)
		}
	}
}

// What a service does not say, and what an answer took that broke off, is
// estimated and marked so.
func TestGuesses(t *testing.T) {
	t.Parallel()
	w := newWorld(Limits{})
	w.service.usage = nil
	if err := w.call(nil); err != nil {
		t.Fatal(err)
	}
	w.service.err = errors.New("broke off")
	if err := w.call(nil); err == nil {
		t.Fatal("no error")
	}
	for i, c := range w.pages.calls {
		if !c.Guessed || c.Usage.Input != 1000 || c.Usage.Output == 0 || c.Usage.Calls != 1 {
			t.Errorf("%d: %+v", i, c)
		}
	}
	if len(w.pages.calls) != 2 {
		t.Errorf("%d calls", len(w.pages.calls))
	}
}

// Where the record cannot be read, a limit cannot be kept, and nothing is sent.
func TestUnreadableBookStops(t *testing.T) {
	t.Parallel()
	w := newWorld(Limits{Day: Limit{USD: 1}})
	w.pages.err = errors.New("no disk")
	if err := w.call(nil); err == nil || len(w.service.max) != 0 {
		t.Errorf("%v, %d requests", err, len(w.service.max))
	}
}

// The check before a call, with every limit set and totals a moment old.
func BenchmarkCheck(b *testing.B) {
	l := Limit{Tokens: 1 << 50, USD: 1 << 40}
	w := newWorld(Limits{Turn: l, Session: l, Day: l, Profile: l, Job: l})
	a := w.ledger.Account("s", "j")
	r := &provider.Request{Model: "m", Tokens: 1000}
	for b.Loop() {
		h, err := a.hold(context.Background(), r, w.price, r.Tokens)
		if err != nil {
			b.Fatal(err)
		}
		a.settle(context.Background(), h, w.price, Call{}, false)
	}
}
