package ask

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

type script struct {
	answers []Answer
	asked   int
}

func (s *script) Ask(context.Context, Request) (Answer, error) {
	a := s.answers[s.asked]
	s.asked++
	return a, nil
}

func TestGate(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r := Request{Action: "rm -r x", Keys: []string{"recursive delete"}}

	s := &script{answers: []Answer{{Scope: Once}, {Scope: Session}, {Scope: Deny}}}
	g := &Gate{Mode: Manual}
	a := g.For(s)
	for i, want := range []bool{true, true, true} { // once, session, then remembered
		if err := a.Approve(ctx, r); (err == nil) != want {
			t.Errorf("approval %d: %v", i, err)
		}
	}
	if s.asked != 2 {
		t.Errorf("asked %d times", s.asked)
	}
	if err := a.Approve(ctx, Request{Keys: []string{"other"}}); err == nil || !strings.Contains(err.Error(), "denied") {
		t.Errorf("denied: %v", err)
	}

	if err := (&Gate{Mode: Manual}).For(Nobody{}).Approve(ctx, r); !errors.Is(err, ErrNobody) || !strings.HasPrefix(err.Error(), "BLOCKED") {
		t.Errorf("nobody: %v", err)
	}
	if err := (&Gate{Mode: Off}).For(Nobody{}).Approve(ctx, r); err != nil {
		t.Errorf("mode off: %v", err)
	}
	if err := (&Gate{Mode: Manual, Saved: []string{"recursive delete"}}).For(Nobody{}).Approve(ctx, r); err != nil {
		t.Errorf("allowlist: %v", err)
	}
	if err := (&Gate{Mode: Manual, Saved: []string{"recursive delete"}}).For(Nobody{}).Approve(ctx, Request{Keys: []string{"recursive delete", "disk"}}); err == nil {
		t.Error("one of two keys was enough")
	}
	if err := (&Gate{Mode: Manual, Saved: []string{""}}).For(Nobody{}).Approve(ctx, Request{}); err == nil {
		t.Error("a request without keys was remembered")
	}
	if err := (&Gate{Mode: Manual}).For(&script{answers: []Answer{{}}}).Approve(ctx, r); err == nil {
		t.Error("an empty answer approved")
	}
}

func TestAlways(t *testing.T) {
	t.Parallel()
	var saved []string
	g := &Gate{Mode: Manual, Always: func(k string) error { saved = append(saved, k); return nil }}
	if err := g.For(&script{answers: []Answer{{Scope: Always}}}).Approve(t.Context(), Request{Keys: []string{"a", "b"}}); err != nil || len(saved) != 2 {
		t.Errorf("saved %v, %v", saved, err)
	}
	saved = nil
	if err := g.For(&script{answers: []Answer{{Scope: Always}}}).Approve(t.Context(), Request{Keys: []string{"c"}, NoSave: true}); err != nil || len(saved) != 0 {
		t.Errorf("NoSave: saved %v, %v", saved, err)
	}
	broken := &Gate{Mode: Manual, Always: func(string) error { return errors.New("disk full") }}
	if err := broken.For(&script{answers: []Answer{{Scope: Always}}}).Approve(t.Context(), Request{Keys: []string{"a"}}); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("a failed save: %v", err)
	}
}

// slow lets a second request wait for the answer to the first.
type slow struct {
	asked atomic.Int32
	gate  chan struct{}
}

func (s *slow) Ask(context.Context, Request) (Answer, error) {
	s.asked.Add(1)
	<-s.gate
	return Answer{Scope: Session}, nil
}

func TestParallelRequestsAskOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{gate: make(chan struct{})}
		a := (&Gate{Mode: Manual}).For(s)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if err := a.Approve(t.Context(), Request{Keys: []string{"k"}}); err != nil {
					t.Error(err)
				}
			})
		}
		for s.asked.Load() == 0 {
			runtime.Gosched()
		}
		close(s.gate)
		wg.Wait()
		if n := s.asked.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

// What is approved for the session or for good is the exact command.
func TestExact(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a := Request{Keys: []string{"git-discard"}, Exact: "/w$ git reset --hard"}
	b := Request{Keys: []string{"git-discard"}, Exact: "/w$ git clean -fd"}
	var saved []string
	g := &Gate{Mode: Manual, Always: func(k string) error { saved = append(saved, k); return nil }}
	if err := g.For(&script{answers: []Answer{{Scope: Always}}}).Approve(ctx, a); err != nil {
		t.Fatal(err)
	}
	if err := g.For(Nobody{}).Approve(ctx, a); err != nil {
		t.Errorf("asked again: %v", err)
	}
	if err := g.For(Nobody{}).Approve(ctx, b); !errors.Is(err, ErrNobody) {
		t.Errorf("another command of the kind was not asked about: %v", err)
	}
	if len(saved) != 1 || saved[0] != a.Exact {
		t.Errorf("saved %q", saved)
	}
	for entry, want := range map[string]bool{a.Exact: true, "git-discard": true, b.Exact: false} {
		err := (&Gate{Mode: Manual, Saved: []string{entry}}).For(Nobody{}).Approve(ctx, a)
		if (err == nil) != want {
			t.Errorf("with %q in the allowlist: %v", entry, err)
		}
	}
}

func TestSmart(t *testing.T) {
	t.Parallel()
	r := Request{Keys: []string{"sql"}, Exact: "/w$ psql -c 'drop table t'"}
	for _, c := range []struct {
		decision Decision
		err      error
		asked    int
		ok       bool
	}{{Approve, nil, 0, true}, {Refuse, nil, 0, false}, {Unclear, nil, 1, true}, {"", nil, 1, true}, {Approve, errors.New("no model"), 1, true}} {
		s := &script{answers: []Answer{{Scope: Once}}}
		g := &Gate{Mode: Smart, Smart: func(context.Context, Request) (Decision, error) { return c.decision, c.err }}
		err := g.For(s).Approve(t.Context(), r)
		if (err == nil) != c.ok || s.asked != c.asked {
			t.Errorf("%s, %v: asked %d times, %v", c.decision, c.err, s.asked, err)
		}
	}
	g := &Gate{Mode: Smart, Smart: func(context.Context, Request) (Decision, error) { return Unclear, nil }}
	if err := g.For(Nobody{}).Approve(t.Context(), r); !errors.Is(err, ErrNobody) {
		t.Errorf("nobody to ask: %v", err)
	}
	g = &Gate{Mode: Manual, Smart: func(context.Context, Request) (Decision, error) { t.Error("a model was asked"); return Approve, nil }}
	if err := g.For(Nobody{}).Approve(t.Context(), r); err == nil {
		t.Error("approved by nobody")
	}
}
