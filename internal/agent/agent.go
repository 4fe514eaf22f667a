// Package agent is the loop: a turn is a function from a session and a message
// to a stream of events. It asks the model, runs the tools the model calls,
// stores every message before the next request and ends in a Done that says
// honestly how it went. It shows nothing, knows no front, and reaches storage,
// models, people and tools only through what it is given.
package agent

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hermes-go/hermes/ask"
	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/tool"
)

// Transcript is what the loop needs of a store. Append is durable against the
// death of the process when it returns.
type Transcript interface {
	Append(ctx context.Context, sessionID string, m ...chat.Message) error
	// Draft keeps one more piece of an answer that is still arriving, so that
	// what a person has seen survives a crash. Append, and an empty piece,
	// forget what was kept.
	Draft(sessionID, piece string) error
}

// Reason says why a history should become shorter.
type Reason string

// The reasons to compact.
const (
	Threshold Reason = "threshold" // the window is filling up
	Overflow  Reason = "overflow"  // the service refused the size
)

// Compactor makes a history shorter. The loop checks afterwards that every
// call still has its result.
type Compactor interface {
	Compact(ctx context.Context, s *Session, m []chat.Message, why Reason) ([]chat.Message, error)
}

// Masker hides secrets in what people and models write.
type Masker interface {
	Known(text string) string // the text with the secrets in it masked
	Begun(text string) int    // how many bytes at its end may begin a secret
}

// Deps is everything an Agent stands on. Journal, Compactor, Hooks and Aux may
// be nil.
type Deps struct {
	Tools      *tool.Registry
	Transcript Transcript
	Journal    Journal
	Compactor  Compactor
	Hooks      Hooks
	Aux        *Aux
	Log        *slog.Logger
	Now        func() time.Time
	Mask       Masker // hides secrets in what is stored, sent and shown; nil: nothing is hidden

	ToolWorkers int // calls that run at once; 8 when 0
	// Dispatch runs a call; nil: Tools does.
	Dispatch func(ctx context.Context, c *tool.Call) tool.Result

	MostAtOnce func(tool string) int // how often one answer may call a tool; 0: as often as it likes

	TurnChars int            // characters of tool results in one batch before the rest is spilled; 200,000 when 0
	Guard     GuardrailRules // zero: the defaults
	CompactAt float64        // share of the window from which it counts as filling up; 0.5 when 0
}

// Agent runs turns. It is immutable and shared by all sessions.
type Agent struct{ Deps }

// New returns an agent.
func New(d Deps) *Agent {
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.ToolWorkers <= 0 {
		d.ToolWorkers = 8
	}
	if d.TurnChars <= 0 {
		d.TurnChars = 200_000
	}
	if d.Dispatch == nil {
		d.Dispatch = d.Tools.Dispatch
	}
	d.Guard = d.Guard.withDefaults()
	return &Agent{d}
}

// Session is one conversation as the loop sees it. One turn drives it at a
// time; only Steer and PendingSteer may be called meanwhile.
type Session struct {
	*tool.Session
	Client  provider.Client
	Model   string
	System  string         // built once per session, byte-identical from then on
	History []chat.Message // everything stored so far; a turn appends to it
	Options provider.Options

	Approvals   *ask.Gate
	Interactive bool          // somebody reads Asked events
	AskTimeout  time.Duration // how long a question waits; 0: as long as the turn

	MaxCalls int     // model calls a turn; 90 when 0
	Tree     *Budget // calls of a turn of this session and of all its children; nil: no cap

	Window int // context window in tokens; 0: unknown

	busy  atomic.Bool // a turn is running
	mu    sync.Mutex
	steer string
}

// Steer hands the running turn a remark: it is added to the newest tool result
// before the next request. Unused text is returned by PendingSteer.
func (s *Session) Steer(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.steer != "" && text != "" {
		s.steer += "\n"
	}
	s.steer += text
}

// PendingSteer takes what Steer left and no request used.
func (s *Session) PendingSteer() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.steer
	s.steer = ""
	return text
}

// Loop is the service that marks a running turn. Tools that keep their state
// in the conversation find it here.
type Loop interface {
	// LastResult returns the newest result of the named tool in the history
	// that is no error.
	LastResult(name string) (string, bool)
}

// NeedsLoop is the need of tools that only work inside a turn.
func NeedsLoop() tool.Need {
	return tool.Needs[Loop]().Refusing("%s must be handled by the agent loop")
}
