package agent

import (
	"encoding/json"
	"time"

	"github.com/hermes-go/hermes/ask"
	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/tool"
)

// Event is one thing that happened in a turn. The set is closed.
type Event interface{ event() }

// Text is a piece of the answer, in order.
type Text struct{ Text string }

// Reasoning is a piece of the model's thinking, for who wants to watch.
type Reasoning struct{ Text string }

// ToolStart says that a call begins. The message that asked for it is stored.
type ToolStart struct {
	ID, Name string
	Args     json.RawMessage
}

// ToolProgress is the newest progress of a running call.
type ToolProgress struct {
	ID, Name string
	Update   tool.Update
}

// ToolEnd says how a call ended. Its result is stored. A call that was refused
// or skipped has an end without a start.
type ToolEnd struct {
	ID, Name string
	Result   []byte
	Files    []tool.File // what the call made beside its result
	Err      error
	Took     time.Duration
}

// Asked brings a question to the person. Reply must be called once; the turn
// waits for it, or for its context.
type Asked struct {
	Request ask.Request
	Reply   func(ask.Answer)
}

// Notice tells the person something that is no part of the answer.
type Notice struct{ Text string }

// Retry says that a request is sent again. Void: the text since the last tool
// call is to be forgotten but for its first Keep bytes, which belong to pieces
// of the answer that are stored; the rest will come again.
type Retry struct {
	Attempt int
	After   string
	Reason  string
	Void    bool
	Keep    int
}

// Compacted says that the history was shortened.
type Compacted struct{ Before, After int }

// Done ends every turn; it is the last event.
type Done struct {
	Status Status
	Text   string // the whole answer: when all is well, the text since the last tool call
	Usage  chat.Usage
	Err    error // why the status is not OK
}

func (Text) event()         {}
func (Reasoning) event()    {}
func (ToolStart) event()    {}
func (ToolProgress) event() {}
func (ToolEnd) event()      {}
func (Asked) event()        {}
func (Notice) event()       {}
func (Retry) event()        {}
func (Compacted) event()    {}
func (Done) event()         {}

// Status is how a turn ended.
type Status string

// The ends of a turn.
const (
	OK          Status = "ok"
	Partial     Status = "partial"     // there is an answer, and something is missing from it
	Failed      Status = "failed"      // there is no answer
	Interrupted Status = "interrupted" // a person stopped it
	OutOfBudget Status = "budget"      // a limit stopped it; Text sums up what was done
)
