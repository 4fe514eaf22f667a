package ask

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Mode is how approvals are decided, from `approvals.mode`.
type Mode string

// The modes.
const (
	Manual Mode = "manual" // ask
	Smart  Mode = "smart"  // an auxiliary model decides the clear cases, the rest is asked
	Off    Mode = "off"    // approve everything that is not forbidden outright
)

// Decision is what a Decider says.
type Decision string

// The decisions. Everything else means Unclear.
const (
	Approve Decision = "approve"
	Refuse  Decision = "deny"
	Unclear Decision = "escalate"
)

// Decider decides clear cases in a person's place. An error is as good as Unclear.
type Decider func(ctx context.Context, r Request) (Decision, error)

// Approver is the service that tools ask before a risky action.
type Approver interface {
	// Approve returns nil when the action may run. The error says why not and
	// what the model may do instead.
	Approve(ctx context.Context, r Request) error
}

// Gate decides a session's approvals: by mode, by what was approved before,
// else by asking.
type Gate struct {
	Mode   Mode
	Saved  []string               // what is approved for good, from command_allowlist
	Always func(key string) error // saves a key for good; nil: "always" lasts for the session
	Smart  Decider                // decides the clear cases in mode smart; nil: none is clear

	asking sync.Mutex // held while a person decides: parallel calls ask once

	mu       sync.Mutex
	approved map[string]bool // keys approved for this session
}

// For returns the gate as an Approver that asks through asker.
func (g *Gate) For(asker Asker) Approver { return &boundGate{g, asker} }

type boundGate struct {
	*Gate
	asker Asker
}

func (g *boundGate) Approve(ctx context.Context, r Request) error {
	if g.Mode == Off || g.remembered(r) {
		return nil
	}
	g.asking.Lock()
	defer g.asking.Unlock()
	if g.remembered(r) { // approved while we waited
		return nil
	}
	r.Kind = Approval
	if g.Mode == Smart && g.Smart != nil {
		switch decision, err := g.Smart(ctx, r); {
		case err != nil: // a person decides
		case decision == Approve:
			return nil
		case decision == Refuse:
			return errors.New("BLOCKED: the model that decides clear cases refused it; do not retry it in another form: take another way, or tell the user what to run")
		}
	}
	answer, err := g.asker.Ask(ctx, r)
	if err != nil {
		return fmt.Errorf("BLOCKED: this needs a person's approval and %w; do not retry it: take another way, or tell the user what to run", err)
	}
	switch answer.Scope {
	case Once:
	case Session:
		g.remember(r)
	case Always:
		g.remember(r)
		if g.Always != nil && !r.NoSave {
			for _, key := range r.saves() {
				if err := g.Always(key); err != nil {
					return fmt.Errorf("BLOCKED: the approval could not be saved: %w", err)
				}
			}
		}
	default:
		return fmt.Errorf("BLOCKED: the user denied it; do not retry it in another form: ask what they want instead")
	}
	return nil
}

// saves is what an approval beyond this once is remembered under.
func (r Request) saves() []string {
	if r.Exact != "" {
		return []string{r.Exact}
	}
	return r.Keys
}

func (g *Gate) remembered(r Request) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	known := func(key string) bool { return g.approved[key] || slices.Contains(g.Saved, key) }
	if r.Exact != "" && known(r.Exact) {
		return true
	}
	return len(r.Keys) > 0 && !slices.ContainsFunc(r.Keys, func(key string) bool { return !known(key) })
}

func (g *Gate) remember(r Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.approved == nil {
		g.approved = map[string]bool{}
	}
	for _, key := range r.saves() {
		g.approved[key] = true
	}
}
