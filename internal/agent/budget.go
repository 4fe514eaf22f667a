package agent

import "sync"

// DefaultMaxCalls is the number of model calls that one turn may make.
const DefaultMaxCalls = 90

// DefaultTreeCalls is the cap for a turn of a session and all its children
// together.
const DefaultTreeCalls = 270

// Budget is a number of model calls shared by a session and its children. It
// belongs to the session that uses it first, the root of the tree, and is
// whole again with each turn of that session.
type Budget struct {
	mu   sync.Mutex
	full int
	left int
	root *Session
}

// NewBudget returns a budget of n calls.
func NewBudget(n int) *Budget { return &Budget{full: n, left: n} }

// begin tells the budget that a turn of s starts.
func (b *Budget) begin(s *Session) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.root == nil {
		b.root = s
	}
	if b.root == s {
		b.left = b.full
	}
}

// take uses one call; false when none is left. A nil budget never ends.
func (b *Budget) take() bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left <= 0 {
		return false
	}
	b.left--
	return true
}
