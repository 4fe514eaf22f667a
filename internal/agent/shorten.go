package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/hermes-go/hermes/chat"
)

// What a Compactor needs to know of the loop's rules, and the way to compact
// without a turn.

// Manual is the reason when a person asks for it.
const Manual Reason = "manual"

// ErrNotNow is wrapped by a Compactor that does not even try, because it has
// just failed or saved nothing. The loop goes on without a word.
var ErrNotNow = errors.New("not shortened now")

// ThresholdOf is the number of tokens from which a window of that size counts as
// filling up: the given share of it (half when 0), but never so little that
// compacting is all that happens, and never so much that the answer has no room.
func ThresholdOf(window int, share float64) int {
	const least, most = 64_000, 85
	if share <= 0 || share > 1 {
		share = 0.5
	}
	return min(max(int(float64(window)*share), least), window*most/100)
}

// Tokens is a rough number of tokens that messages have, images included.
func Tokens(m ...chat.Message) int { return estimate(m) }

// CheckPairs says which call or result stands alone.
func CheckPairs(m []chat.Message) error { return checkPairs(m) }

// Steer reports whether m was said while tools ran: it belongs to the result
// before it.
func Steer(m chat.Message) bool {
	_, ok := m.Extra[steerField]
	return ok
}

// LastResult is the newest result of the named tool that is no error.
func LastResult(history []chat.Message, name string) (string, bool) {
	if i := LastResultAt(history, name); i >= 0 {
		return history[i].Content.String(), true
	}
	return "", false
}

// LastResultAt is where that result stands, or -1.
func LastResultAt(history []chat.Message, name string) int {
	for i, m := range slices.Backward(history) {
		if m.Role != chat.Tool || m.Name != name {
			continue
		}
		var failed struct {
			Error any `json:"error"`
		}
		if json.Unmarshal([]byte(m.Content.String()), &failed) != nil || failed.Error == nil {
			return i
		}
	}
	return -1
}

// Compact makes the history of a session shorter while no turn runs.
func (a *Agent) Compact(ctx context.Context, s *Session) (Compacted, error) {
	if !s.busy.CompareAndSwap(false, true) {
		return Compacted{}, ErrBusy
	}
	defer s.busy.Store(false)
	var done Compacted
	t := a.newTurn(ctx, s, func(e Event) {
		if c, ok := e.(Compacted); ok {
			done = c
		}
	})
	return done, t.compact(ctx, Manual)
}

// SteerPrefix stands before what a person said while tools ran.
const SteerPrefix = "User guidance: "
