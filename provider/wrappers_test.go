package provider

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hermes-go/hermes/chat"
)

// step is one answer of a played client: chunks, then an error or the end.
type step struct {
	chunks []Chunk
	err    error
}

func text(s string) step {
	m := chat.AssistantText(s)
	m.FinishReason = chat.FinishStop
	return step{chunks: []Chunk{{Text: s}, {Final: &m}}}
}

func fails(c Class) step { return step{err: &Error{Class: c, ToolIndex: -1}} }

// played answers from a script and notes the models it was asked.
type played struct {
	mu    sync.Mutex
	steps []step
	asked []string
}

func play(steps ...step) *played { return &played{steps: steps} }

func (p *played) Stream(_ context.Context, r *Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		p.mu.Lock()
		p.asked = append(p.asked, r.Model)
		s := step{err: errors.New("the script is over")}
		if len(p.steps) > 0 {
			s, p.steps = p.steps[0], p.steps[1:]
		}
		p.mu.Unlock()
		for _, c := range s.chunks {
			if !yield(c, nil) {
				return
			}
		}
		if s.err != nil {
			yield(Chunk{}, s.err)
		}
	}
}

// story is a stream in one line: "text | retry(model) | ! class".
func story(c Client, r *Request) string {
	var parts []string
	for chunk, err := range c.Stream(context.Background(), r) {
		switch {
		case err != nil && asError(err) != nil:
			parts = append(parts, "!"+string(asError(err).Class))
		case err != nil:
			parts = append(parts, "!"+err.Error())
		case chunk.Retry != nil:
			parts = append(parts, "retry("+chunk.Retry.After+chunk.Retry.Model+")")
		case chunk.Text != "":
			parts = append(parts, chunk.Text)
		case chunk.CallStarted != "":
			parts = append(parts, "call:"+chunk.CallStarted)
		case chunk.Final != nil:
			parts = append(parts, ".")
		}
	}
	return strings.Join(parts, " ")
}

func ask() *Request {
	return &Request{Model: "m", Messages: []chat.Message{chat.UserText("hi")}, Options: Options{SessionID: "s"}}
}

var still = RetryPolicy{Jitter: func() float64 { return 0 }, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}

func TestRetrying(t *testing.T) {
	t.Parallel()
	half := Chunk{Text: "half"}
	call := Chunk{CallStarted: "f"}
	broken := &Error{Class: ClassTimeout, ToolIndex: -1, Err: ErrIncomplete}
	for _, c := range []struct {
		name  string
		steps []step
		want  string
	}{
		{"at once", []step{text("ok")}, "ok ."},
		{"server errors", []step{fails(ClassServer), fails(ClassServer), text("ok")}, "retry(2s) retry(4s) ok ."},
		{"three are enough", []step{fails(ClassServer), fails(ClassServer), fails(ClassServer), text("ok")}, "retry(2s) retry(4s) !server_error"},
		{"nothing to be gained", []step{fails(ClassAuth)}, "!auth"},
		{"an overflow is the loop's", []step{fails(ClassContextOverflow)}, "!context_overflow"},
		{"invalid answers wait longer", []step{fails(ClassInvalid), fails(ClassInvalid), text("ok")}, "retry(5s) retry(10s) ok ."},
		{"broken before text", []step{{err: broken}, text("ok")}, "retry(2s) ok ."},
		{"broken after text", []step{{chunks: []Chunk{half}, err: broken}, text("ok")}, "half !timeout"},
		{"broken in a call", []step{{chunks: []Chunk{half, call}, err: broken}, text("ok")}, "half call:f retry(2s) ok ."},
		{"no end at all", []step{{chunks: []Chunk{call}}, text("ok")}, "call:f retry(2s) ok ."},
		{"another kind of error", []step{{err: errors.New("odd")}}, "!odd"},
	} {
		if got := story(Retrying(play(c.steps...), still), ask()); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestRetryWaits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		after   time.Duration
		attempt int
		jitter  float64
		want    time.Duration
	}{
		{0, 1, 0, 2 * time.Second},
		{0, 1, 1, 3 * time.Second},
		{0, 5, 0, 32 * time.Second},
		{0, 9, 0, 60 * time.Second},
		{0, 50, 1, 90 * time.Second},
		{7 * time.Second, 1, 1, 7 * time.Second},
		{999 * time.Second, 1, 1, 120 * time.Second},
	} {
		p := Retrying(nil, RetryPolicy{Jitter: func() float64 { return c.jitter }}).(*retrying).policy
		if got := p.wait(&Error{Class: ClassServer, RetryAfter: c.after}, c.attempt); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestWaitEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := Collect(Retrying(play(step{err: &Error{Class: ClassRateLimit, RetryAfter: time.Minute}}), RetryPolicy{}).Stream(ctx, ask()))
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

func chain(o FallbackOptions, clients ...Client) Client {
	targets := make([]Target, len(clients))
	for i, c := range clients {
		model := ""
		if i > 0 {
			model = fmt.Sprintf("m%d", i)
		}
		targets[i] = Target{Model: model, Open: func(context.Context) (Client, error) {
			if c == nil {
				return nil, errors.New("no key")
			}
			return c, nil
		}}
	}
	return Fallback(o, targets...)
}

func TestFallback(t *testing.T) {
	t.Parallel()
	half := Chunk{Text: "half"}
	for _, c := range []struct {
		name    string
		clients []Client
		want    string
	}{
		{"first", []Client{play(text("a")), play(text("b"))}, "a ."},
		{"second", []Client{play(fails(ClassAuth)), play(text("b"))}, "retry(m1) b ."},
		{"case 33", []Client{play(fails(ClassModelNotFound)), play(text("b"))}, "retry(m1) b ."},
		{"case 36", []Client{play(fails(ClassInvalid)), play(text("b"))}, "retry(m1) b ."},
		{"third, second unusable", []Client{play(fails(ClassServer)), nil, play(text("c"))}, "retry(m1) retry(m2) c ."},
		{"none", []Client{play(fails(ClassServer)), play(fails(ClassBilling))}, "retry(m1) !billing"},
		{"an overflow is no reason", []Client{play(fails(ClassContextOverflow)), play(text("b"))}, "!context_overflow"},
		{"not after text", []Client{play(step{[]Chunk{half}, &Error{Class: ClassTimeout}}), play(text("b"))}, "half !timeout"},
	} {
		if got := story(chain(FallbackOptions{}, c.clients...), ask()); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Cases 33 and 36: where another service stands behind, nothing is waited for
// that the other could answer at once.
func TestEagerSwitchesAtOnce(t *testing.T) {
	t.Parallel()
	eager := still
	eager.Eager = true
	for class, want := range map[Class]string{
		ClassInvalid: "retry(m1) b .", ClassRateLimit: "retry(m1) b .", ClassModelNotFound: "retry(m1) b .", ClassServer: "retry(2s) a .",
	} {
		if got := story(chain(FallbackOptions{}, Retrying(play(fails(class), text("a")), eager), play(text("b"))), ask()); got != want {
			t.Errorf("%s: %s, want %s", class, got, want)
		}
	}
}

func TestFallbackStaysForTheTurn(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	first := play(fails(ClassServer), text("a"), fails(ClassRateLimit), text("a"))
	second := play(text("b"), text("b"), text("b"), text("b"))
	c := chain(FallbackOptions{Now: func() time.Time { return now }}, first, second)
	turn := ask()
	within := ask()
	within.Messages = append(within.Messages, chat.ToolResult("x", "f", "r"))
	for i, s := range []struct {
		r    *Request
		wait time.Duration
		want string
	}{
		{turn, 0, "retry(m1) b ."},
		{within, 0, "b ."},
		{turn, 0, "a ."},
		{turn, 0, "retry(m1) b ."},      // limited
		{turn, 30 * time.Second, "b ."}, // still cooling down
		{turn, 31 * time.Second, "a ."},
	} {
		now = now.Add(s.wait)
		if got := story(c, s.r); got != s.want {
			t.Errorf("step %d: %s, want %s", i, got, s.want)
		}
	}
}

// keyed is a pool over played clients by key.
func keyed(o PoolOptions, clients map[string]*played) *pool {
	for id := range clients {
		o.Keys = append(o.Keys, Key{ID: id, Priority: int(id[0]), Secret: "secret-" + id})
	}
	slices.SortFunc(o.Keys, func(a, b Key) int { return strings.Compare(a.ID, b.ID) })
	o.Open = func(_ context.Context, k Key) (Client, error) { return clients[k.ID], nil }
	return Pool(o).(*pool)
}

func TestCase28SecondLimitRotates(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	var saved []Key
	limit := step{err: &Error{Class: ClassRateLimit, Status: 429, ToolIndex: -1, RetryAfter: 90 * time.Second}}
	a, b := play(limit, limit), play(text("ok"))
	p := keyed(PoolOptions{Now: func() time.Time { return now }, Save: func(keys []Key) error { saved = keys; return nil }}, map[string]*played{"a": a, "b": b})
	if got := story(Retrying(p, still), ask()); got != "retry(1m30s) retry() ok ." {
		t.Errorf("got %s", got)
	}
	if len(a.asked) != 2 || len(b.asked) != 1 {
		t.Errorf("asked %d and %d times", len(a.asked), len(b.asked))
	}
	if len(saved) != 2 || saved[0].Status != "exhausted" || !saved[0].Until.Equal(now.Add(90*time.Second)) || saved[0].Code != 429 {
		t.Errorf("saved %+v", saved)
	}
}

func TestPoolRotation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		a, b *played
		want string
	}{
		{"case 29: billing", play(fails(ClassBilling)), play(text("b")), "retry() b ."},
		{"auth", play(fails(ClassAuth)), play(text("b")), "retry() b ."},
		{"both", play(fails(ClassBilling)), play(fails(ClassBilling)), "retry() !billing"},
		{"an error of another kind", play(fails(ClassServer)), play(text("b")), "!server_error"},
		{"first limit", play(fails(ClassRateLimit)), play(text("b")), "!rate_limit"},
	} {
		if got := story(keyed(PoolOptions{}, map[string]*played{"a": c.a, "b": c.b}), ask()); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestPoolOfOneMarksNothing(t *testing.T) {
	t.Parallel()
	p := keyed(PoolOptions{}, map[string]*played{"a": play(fails(ClassBilling), fails(ClassBilling), text("ok"))})
	for _, want := range []string{"!billing", "!billing", "ok ."} {
		if got := story(p, ask()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestPoolRefreshesAKey(t *testing.T) {
	t.Parallel()
	a := play(fails(ClassAuth), text("ok"))
	p := keyed(PoolOptions{Refresh: func(_ context.Context, k Key) (Key, error) { k.Secret = "new"; return k, nil }}, map[string]*played{"a": a, "b": play()})
	if got := story(p, ask()); got != "retry() ok ." {
		t.Errorf("got %s", got)
	}
}

func TestPoolStrategies(t *testing.T) {
	t.Parallel()
	for s, want := range map[Strategy]string{FillFirst: "aaaa", RoundRobin: "abca", LeastUsed: "abca", Random: "cccc"} {
		clients := map[string]*played{}
		for _, id := range []string{"a", "b", "c"} {
			clients[id] = play(text(id), text(id), text(id), text(id))
		}
		p := keyed(PoolOptions{Strategy: s, Pick: func(n int) int { return n - 1 }}, clients)
		got := ""
		for range 4 {
			got += strings.TrimSuffix(story(p, ask()), " .")
		}
		if got != want {
			t.Errorf("%s: %s, want %s", s, got, want)
		}
	}
}

func TestExhaustedKeysComeBack(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	a, b := play(fails(ClassBilling), text("a")), play(step{err: &Error{Class: ClassBilling, RetryAfter: time.Minute}}, text("b"))
	p := keyed(PoolOptions{Now: func() time.Time { return now }}, map[string]*played{"a": a, "b": b})
	for i, s := range []struct {
		wait time.Duration
		want string
	}{
		{0, "retry() !billing"},
		{time.Second, "!rate_limit"}, // the service has said when, and it is not yet
		{time.Minute, "b ."},
		{time.Hour, "a ."},
	} {
		now = now.Add(s.wait)
		if got := story(p, ask()); got != s.want {
			t.Errorf("step %d: %s, want %s", i, got, s.want)
		}
	}
}

func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &slow{}
		c := Limit(slow, 2)
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				if _, err := Collect(c.Stream(t.Context(), ask())); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if slow.most != 2 {
			t.Errorf("%d at a time", slow.most)
		}
		ctx, cancel := context.WithCancel(t.Context())
		hold, stop := iter.Pull2(c.Stream(t.Context(), ask()))
		hold()
		hold2, stop2 := iter.Pull2(c.Stream(t.Context(), ask()))
		hold2()
		cancel()
		if _, err := Collect(c.Stream(ctx, ask())); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		stop()
		stop2()
	})
}

// slow answers after a second and counts who waits at a time.
type slow struct {
	mu        sync.Mutex
	now, most int
}

func (s *slow) Stream(ctx context.Context, _ *Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		s.mu.Lock()
		s.now++
		s.most = max(s.most, s.now)
		s.mu.Unlock()
		defer func() { s.mu.Lock(); s.now--; s.mu.Unlock() }()
		if !yield(Chunk{Text: "x"}, nil) {
			return
		}
		if sleep(ctx, time.Second) == nil {
			m := chat.AssistantText("x")
			yield(Chunk{Final: &m}, nil)
		}
	}
}
