package slash

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Goal is what a conversation works towards by itself, turn after turn, until a
// judge finds it reached. Its JSON is the original's.
type Goal struct {
	Goal         string  `json:"goal"`
	Status       string  `json:"status"` // active, paused, done, cleared
	TurnsUsed    int     `json:"turns_used"`
	MaxTurns     int     `json:"max_turns"`
	CreatedAt    float64 `json:"created_at"`
	LastTurnAt   float64 `json:"last_turn_at"`
	LastVerdict  string  `json:"last_verdict"`
	LastReason   string  `json:"last_reason"`
	PausedReason string  `json:"paused_reason"`
}

// The states of a goal.
const (
	GoalActive  = "active"
	GoalPaused  = "paused"
	GoalDone    = "done"
	GoalCleared = "cleared"
)

func goal(ctx context.Context, c *Call) (Reply, error) {
	g, err := c.Conv.Goal(ctx)
	if err != nil {
		return Reply{}, err
	}
	args := strings.TrimSpace(c.Args)
	none := g.Goal == "" || g.Status == GoalCleared
	switch strings.ToLower(args) {
	case "", "status":
		if none {
			return Reply{Text: "No goal is set. `/goal TEXT` sets one: the agent works on by itself until it is reached."}, nil
		}
		return Reply{Text: g.text()}, nil
	case "clear", "stop":
		if none {
			return Reply{}, errors.New("no goal is set")
		}
		g.Status = GoalCleared
		return Reply{Text: "The goal is cleared."}, c.Conv.SetGoal(ctx, g)
	case "pause":
		if none || g.Status != GoalActive {
			return Reply{}, errors.New("no goal is active")
		}
		g.Status, g.PausedReason = GoalPaused, "paused by you"
		return Reply{Text: "The goal is paused; `/goal resume` goes on."}, c.Conv.SetGoal(ctx, g)
	case "resume":
		if none || g.Status == GoalDone {
			return Reply{}, errors.New("there is no goal to go on with")
		}
		g.Status, g.PausedReason, g.TurnsUsed = GoalActive, "", 0
		return Reply{Text: g.text(), Send: GoOnTo(g)}, c.Conv.SetGoal(ctx, g)
	}
	g = Goal{Goal: args, Status: GoalActive}
	if err := c.Conv.SetGoal(ctx, g); err != nil {
		return Reply{}, err
	}
	if g, err = c.Conv.Goal(ctx); err != nil {
		return Reply{}, err
	}
	return Reply{Text: fmt.Sprintf("The agent works towards it for at most %s; `/goal pause` and `/goal clear` stop it.", count(g.MaxTurns, "turn")), Send: args}, nil
}

func (g Goal) text() string {
	s := fmt.Sprintf("Goal (%s, turn %d of %d): %s", g.Status, g.TurnsUsed, g.MaxTurns, oneLine(g.Goal, 300))
	if g.PausedReason != "" && g.Status == GoalPaused {
		s += "\n\nPaused: " + g.PausedReason
	}
	if g.LastReason != "" {
		s += "\n\nThe judge last: " + g.LastReason
	}
	return s
}

// GoOnTo is the message that has the agent go on with a goal.
func GoOnTo(g Goal) string {
	text := "[Goal] Go on towards this goal; it is not reached yet: " + g.Goal
	if g.LastReason != "" {
		text += "\nWhat is missing: " + g.LastReason
	}
	return text + "\nDo the next step now. When it is reached, or you need something from the person, say so plainly."
}
