package store

import (
	"testing"
	"time"

	"github.com/hermes-go/hermes/chat"
)

// What was spent is added up under its keys, and outlives its session.
func TestSpent(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	d, clock := openClock(t)
	if err := d.Create(ctx, Session{ID: "s", Title: "work"}); err != nil {
		t.Fatal(err)
	}
	usd := 0.5
	u := chat.Usage{Input: 10, Output: 5, CacheRead: 3, CacheWrite: 2, Reasoning: 1, Calls: 1}
	paid := Spent{At: clock.now(), Session: "s", Root: "s", Job: "j", Provider: "p", Model: "m", Tools: []string{"a", "b"}, Usage: u, USD: &usd, PriceSource: "catalogue", Keys: []string{"day", "profile"}}
	side := Spent{At: clock.now(), Session: "s", Root: "s", Purpose: "compression", Usage: u, Guessed: true, Keys: []string{"profile"}}
	if _, err := d.AppendBeside(ctx, "s", Beside{Spent: []Spent{paid}}, chat.AssistantText("x")); err != nil {
		t.Fatal(err)
	}
	gone := side
	gone.Session, gone.Root = "gone", "gone"
	if err := d.Spend(ctx, side, gone); err != nil {
		t.Fatal(err)
	}
	totals, err := d.Totals(ctx, []string{"profile", "nothing", "day"})
	if err != nil || totals[0] != (Total{60, 0.5, 2}) || totals[1] != (Total{}) || totals[2] != (Total{20, 0.5, 0}) {
		t.Errorf("%+v, %v", totals, err)
	}
	s, err := d.Session(ctx, "s")
	if err != nil || s.Usage != u.Add(u) || *s.Cost.Estimated != 0.5 || s.Billing.Provider != "p" {
		t.Errorf("%+v, %v", s, err)
	}
	if err := d.Delete(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	var got []Spent
	err = d.SpentSince(ctx, clock.now().Add(-time.Hour), func(s *Spent, title string) { got = append(got, *s) })
	if err != nil || len(got) != 3 || got[0].Job != "j" || len(got[0].Tools) != 2 || *got[0].USD != 0.5 || !got[1].Guessed || got[1].USD != nil || got[1].Usage != u {
		t.Errorf("%+v, %v", got, err)
	}
	if err := d.SpentSince(ctx, clock.now().Add(time.Hour), func(*Spent, string) { t.Error("later") }); err != nil {
		t.Error(err)
	}
}

func BenchmarkTotals(b *testing.B) {
	d := open(b)
	ctx := b.Context()
	keys := []string{"profile", "day:2026-01-01", "session:x", "job:y:2026-01-01"}
	if err := d.Spend(ctx, Spent{Keys: keys, Usage: chat.Usage{Input: 1}}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := d.Totals(ctx, keys); err != nil {
			b.Fatal(err)
		}
	}
}
