// Package effect is the vocabulary of the record that is kept of calls with
// side effects: what was begun, and how far it is known to have come. The loop
// writes the record and the store keeps it; this package does neither.
package effect

import "time"

// State says how far a call is known to have come.
type State string

// The states of a call.
const (
	Waiting State = "waiting" // asked for, not begun
	Running State = "running" // begun; when the program dies nobody knows how far it came
	Done    State = "done"
	Failed  State = "failed"  // ended with an error; a part of it may have happened
	NotRun  State = "not run" // refused or skipped: nothing happened
	Unknown State = "unknown" // was running when the program died
)

// Effect is the record of one call with a side effect. It outlives what was
// said: compaction, undo and resuming change nothing in it.
type Effect struct {
	Session   string
	Call      string // the call's id, as in the message that asks for it
	Tool      string
	Signature string // the same for calls that mean the same
	Args      string // the beginning of the arguments
	State     State
	Began     time.Time
	Ended     time.Time // zero: not known
}

// Mark says what became of a call.
type Mark struct {
	Call  string
	State State
}
