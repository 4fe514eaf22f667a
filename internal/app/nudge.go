package app

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/tool"
)

// nudge reminds a model, once in a task that took many calls, that the way may
// be worth keeping. A task in which it kept something needs no reminder.
type nudge struct {
	after int // calls; 0: never

	mu    sync.Mutex
	calls int
}

func (a *App) nudge() *nudge {
	n := &nudge{after: 10}
	if err := config.Decode(a.Config, "skills.creation_nudge_interval", &n.after); err != nil {
		a.Notice(err.Error())
	}
	return n
}

// begin is called with every message of the person.
func (n *nudge) begin() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls = 0
}

// due counts a call and says whether it is the one to remind after.
func (n *nudge) due(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if name == "skill_manage" {
		n.calls = -1 << 30 // it is doing so
	}
	n.calls++
	return n.calls == n.after
}

const nudgeField = "_skill_reminder"

// tellNudge is middleware that adds the reminder to a result.
func tellNudge(next tool.Handler) tool.Handler {
	return func(ctx context.Context, c *tool.Call) (any, error) {
		v, err := next(ctx, c)
		n, useErr := tool.Use[*nudge](c.Session.Services)
		if err != nil || useErr != nil || n == nil || c.Parent != nil || n.after <= 0 || !slices.Contains(c.Session.Enabled, "skill_manage") || !n.due(c.Name) {
			return v, err
		}
		out, isOutput := v.(tool.Output)
		if !isOutput {
			out.Value = v
		}
		raw, ok := out.Value.(json.RawMessage)
		if !ok {
			return v, nil
		}
		out.Value = json.RawMessage(tool.AddField(raw, nudgeField, fmt.Sprintf(
			"This task has taken %d calls. When it is done: if the way would help again, offer the user to keep it as a skill (skill_manage), or patch the skill you followed where it was wrong or incomplete. If it would not, say nothing of this.", n.after)))
		if isOutput {
			return out, nil
		}
		return out.Value, nil
	}
}
