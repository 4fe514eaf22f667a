package app

import (
	"errors"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/slash"
	"github.com/hermes-go/hermes/internal/store"
)

// A goal belongs to the conversation, not to one of its parts: after a
// compaction it is still there. A turn that ended badly pauses it.
func TestGoalOutlivesCompaction(t *testing.T) {
	t.Parallel()
	a := home(t, nil)
	c, err := a.Converse(t.Context(), Ask{Provider: "offline"})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetGoal(t.Context(), slash.Goal{Goal: "write it", Status: slash.GoalActive}); err != nil { // before the first message
		t.Fatal(err)
	}
	talk(t, c, "hello")
	db, err := a.DB()
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Split(t.Context(), c.ID, store.Session{ID: "part2"}, chat.UserText("summed up")); err != nil {
		t.Fatal(err)
	}
	later, err := a.Converse(t.Context(), Ask{Provider: "offline", Resume: "part2"})
	if err != nil {
		t.Fatal(err)
	}
	g, err := later.Goal(t.Context())
	if err != nil || g.Goal != "write it" || g.MaxTurns != 20 || g.CreatedAt == 0 {
		t.Fatalf("%+v, %v", g, err)
	}
	next, note, err := later.TowardsGoal(t.Context(), agent.Done{Status: agent.OutOfBudget, Err: errors.New("too dear")})
	if err != nil || next != "" || !strings.Contains(note, "paused: the turn ended as budget") {
		t.Errorf("%q, %q, %v", next, note, err)
	}
	if g, err := later.Goal(t.Context()); err != nil || g.Status != slash.GoalPaused || g.TurnsUsed != 1 {
		t.Errorf("%+v, %v", g, err)
	}
	if next, note, err := later.TowardsGoal(t.Context(), agent.Done{Status: agent.OK}); err != nil || next+note != "" {
		t.Errorf("a paused goal goes on: %q, %q, %v", next, note, err)
	}
}
