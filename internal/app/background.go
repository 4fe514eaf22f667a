package app

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/agent"
)

// BackgroundChanged delivers when something may have happened in the background;
// BackgroundWaits says whether it concerns this conversation.
func (c *Conversation) BackgroundChanged() <-chan struct{} { return c.app.pool.Jobs().Changed() }

// BackgroundWaits reports whether there is something that the model has asked to
// be told and was not told yet.
func (c *Conversation) BackgroundWaits() bool { return c.app.pool.Jobs().Waiting(c.Key()) }

// BackgroundTurn is a turn whose message is what happened in the background. Of
// nothing there is no turn.
func (c *Conversation) BackgroundTurn(ctx context.Context) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		if c.BackgroundWaits() {
			c.Turn(ctx, "")(yield)
		}
	}
}

// withBackground puts what happened in the background since the last turn in
// front of a message: the model asked to be told, and the turn is when it can
// be. A front that wants to start a turn for it has BackgroundTurn.
func (c *Conversation) withBackground(text string) string {
	events := c.app.pool.Jobs().Take(c.Key())
	if len(events) == 0 {
		return text
	}
	var b strings.Builder
	for _, e := range events {
		b.WriteString(backgroundLine(e))
		b.WriteByte('\n')
	}
	if text == "" {
		return strings.TrimSpace(b.String())
	}
	return b.String() + "\n" + text
}

// mostEventOutput is how much of an event's output a message carries.
const mostEventOutput = 2000

func backgroundLine(e backend.Event) string {
	what := fmt.Sprintf("[Background process %s (%s): %s", e.Session, e.Command, e.Type)
	if e.ExitCode != nil {
		what += fmt.Sprintf(", exit code %d", *e.ExitCode)
	}
	if e.Pattern != "" {
		what += fmt.Sprintf(", pattern %q", e.Pattern)
	}
	if e.Suppressed > 0 {
		what += fmt.Sprintf(", %d more matches not shown", e.Suppressed)
	}
	out := strings.TrimSpace(e.Output)
	if r := []rune(out); len(r) > mostEventOutput {
		out = "…" + string(r[len(r)-mostEventOutput:])
	}
	if out != "" {
		what += "\n" + out
	}
	return what + "]"
}
