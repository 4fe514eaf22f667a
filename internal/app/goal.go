package app

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/slash"
	"github.com/hermes-go/hermes/internal/spend"
	"github.com/hermes-go/hermes/internal/store"
	"github.com/hermes-go/hermes/provider"
)

// goalKey is where a conversation's goal is kept: by the first session of its
// line, so that compaction does not lose it.
func (c *Conversation) goalKey(ctx context.Context) (*store.DB, string, error) {
	db, err := c.app.DB()
	if err != nil {
		return nil, "", err
	}
	root := c.ID
	if c.stored {
		if root, err = db.Root(ctx, c.ID); err != nil {
			return nil, "", err
		}
	}
	return db, "goal:" + root, nil
}

// Goal implements slash.Conversation.
func (c *Conversation) Goal(ctx context.Context) (slash.Goal, error) {
	var g slash.Goal
	db, key, err := c.goalKey(ctx)
	if err != nil {
		return g, err
	}
	text, err := db.Meta(ctx, key)
	if err != nil || text == "" {
		return g, err
	}
	if err := json.Unmarshal([]byte(text), &g); err != nil {
		return g, fmt.Errorf("read the goal: %w; set it again with /goal", err)
	}
	return g, nil
}

// SetGoal implements slash.Conversation.
func (c *Conversation) SetGoal(ctx context.Context, g slash.Goal) error {
	db, key, err := c.goalKey(ctx)
	if err != nil {
		return err
	}
	if g.CreatedAt == 0 {
		g.CreatedAt = float64(time.Now().UnixMilli()) / 1000
	}
	if g.MaxTurns <= 0 {
		g.MaxTurns = c.app.number("goals.max_turns", 20)
	}
	b, err := json.Marshal(g)
	if err != nil {
		return err
	}
	return db.SetMeta(ctx, key, string(b))
}

//go:embed goal.md
var goalRules string

const (
	goalPart     = 2000 // characters of the goal that the judge reads
	answerPart   = 4000 // and of the last answer
	goalTokens   = 500
	goalJudgeFor = 30 * time.Second
)

// TowardsGoal is what follows a turn when a goal is active: the message to go on
// with, "" when there is none, and what the person should know. A turn that did
// not end well pauses the goal: more of it would only cost.
func (c *Conversation) TowardsGoal(ctx context.Context, done agent.Done) (message, note string, err error) {
	g, err := c.Goal(ctx)
	if err != nil || g.Goal == "" || g.Status != slash.GoalActive {
		return "", "", err
	}
	g.TurnsUsed++
	g.LastTurnAt = float64(time.Now().UnixMilli()) / 1000
	switch {
	case done.Status != agent.OK:
		g.Status, g.PausedReason = slash.GoalPaused, "the turn ended as "+string(done.Status)
		note = "The goal is paused: " + g.PausedReason + "; /goal resume goes on."
	case c.judge(ctx, &g, done.Text):
		g.Status, g.LastVerdict = slash.GoalDone, "done"
		note = "The goal is reached: " + g.LastReason
	case g.TurnsUsed >= g.MaxTurns:
		g.Status, g.LastVerdict, g.PausedReason = slash.GoalPaused, "continue", fmt.Sprintf("its %d turns are used up (goals.max_turns)", g.MaxTurns)
		note = "The goal is paused: " + g.PausedReason + "; /goal resume goes on."
	default:
		g.LastVerdict = "continue"
		message, note = slash.GoOnTo(g), fmt.Sprintf("goal, turn %d of %d", g.TurnsUsed+1, g.MaxTurns)
	}
	return message, note, c.SetGoal(ctx, g)
}

// judge asks a model whether a goal is reached. One that cannot say has not seen
// it reached.
func (c *Conversation) judge(ctx context.Context, g *slash.Goal, answer string) bool {
	open := func(agent.Slot) (provider.Client, string, error) { return c.Client, c.Model, nil }
	if c.app.auxConfigured(agent.SlotGoalJudge) {
		open = c.app.auxClient
	}
	if c.account != nil {
		ctx = spend.With(ctx, c.account)
	}
	limit := c.app.duration("auxiliary.goal_judge.timeout", goalJudgeFor)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %s", limit))
	defer cancel()
	material := "GOAL:\n" + cutText(g.Goal, goalPart) + "\n\nLAST ANSWER OF THE AGENT:\n" + cutText(answer, answerPart)
	said, err := (&agent.Aux{Open: open}).Ask(ctx, agent.SlotGoalJudge, strings.TrimSpace(goalRules), material, goalTokens)
	c.app.book.flush(context.WithoutCancel(ctx), c.ID)
	g.LastReason = ""
	if err != nil {
		c.app.Log.Warn("goal not judged", "session", c.ID, "err", err)
		return false
	}
	from, to := strings.IndexByte(said, '{'), strings.LastIndexByte(said, '}')
	var v struct {
		Done   bool   `json:"done"`
		Reason string `json:"reason"`
	}
	if from < 0 || to < from || json.Unmarshal([]byte(said[from:to+1]), &v) != nil {
		c.app.Log.Warn("goal judged unreadably", "session", c.ID)
		return false
	}
	g.LastReason = oneLine(v.Reason, 300)
	return v.Done
}

// cutText keeps the end of a text: what was said last counts.
func cutText(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return "…" + string(r[len(r)-most:])
	}
	return s
}
