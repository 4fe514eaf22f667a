// Package delegate runs children of a conversation: what a child is told, how
// long it may take, what becomes of it and what its parent gets to know, however
// it ends. Making the child's session is left to a Spawner; a child is an
// ordinary session, and its loop is that of every other one.
package delegate

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/provider"
)

// Settings are the `delegation` of the configuration that bound children.
type Settings struct {
	MaxChildren   int           // at once, for one conversation
	MaxDepth      int           // 1: children have none of their own
	Timeout       time.Duration // for one child
	Start         time.Duration // until a child's first request must be under way
	Orchestrators bool          // a child may be told to delegate further
}

// Spec is one child to be made.
type Spec struct {
	ID           string // of its task: terminal, lists and files are its own
	Depth        int    // 1 for a child of a person's conversation
	Goal         string
	Context      string
	Toolsets     []string // nil: what the parent has
	Orchestrator bool
}

// Child is a session ready for its one turn.
type Child struct {
	Session string // id in the store
	Model   string
	Tools   []string
	Watch   *Watch // sees its requests
	Turn    func(ctx context.Context) iter.Seq2[agent.Event, error]
	Writes  func(name string, args json.RawMessage) []string // files that a call writes, as far as its arguments tell
	Stale   func(paths []string) []string                    // those that the parent has read
	Kill    func(ctx context.Context) error                  // ends its processes while its turn runs
	Close   func(ctx context.Context) error                  // ends its session, after its turn
}

// Spawner is the service that makes children of the conversation that has it.
type Spawner interface {
	Settings() Settings
	Depth() int // of the conversation itself: 0 for a person's
	Spawn(ctx context.Context, s Spec) (*Child, error)
}

// Withheld are the tools that no child has: they speak with the person, write
// what outlives the task, or start what nobody watches. delegate_task is given
// to orchestrators.
var withheld = [...]string{"clarify", "memory", "send_message", "execute_code", "delegate_task"}

// Withholds reports whether a child goes without a tool that its parent has.
func Withholds(name string, orchestrator bool) bool {
	for _, w := range withheld {
		if name == w {
			return name != "delegate_task" || !orchestrator
		}
	}
	return false
}

//go:embed child.md
var role string

//go:embed orchestrator.md
var further string

// System is what a child is told it is.
func System(s Spec, workDir string) string {
	text := strings.TrimSpace(role)
	if s.Orchestrator {
		text += "\n\n" + strings.TrimSpace(further)
	}
	return text + "\n\nWorking directory: " + workDir
}

// Task is the message that a child gets.
func Task(s Spec) string {
	text := "TASK:\n" + strings.TrimSpace(s.Goal)
	if c := strings.TrimSpace(s.Context); c != "" {
		text += "\n\nCONTEXT:\n" + c
	}
	return text
}

// Watch sees the requests of a child: whether they begin, and what they took.
type Watch struct {
	mu     sync.Mutex
	began  chan struct{}
	calls  int
	in     int
	out    int
	answer bool
}

// NewWatch returns a watch that has seen nothing.
func NewWatch() *Watch { return &Watch{began: make(chan struct{})} }

// Client has the watch see every request of c.
func (w *Watch) Client(c provider.Client) provider.Client { return watched{c, w} }

type watched struct {
	provider.Client
	w *Watch
}

// Stream implements provider.Client.
func (c watched) Stream(ctx context.Context, r *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		w := c.w
		w.mu.Lock()
		if w.calls++; w.calls == 1 {
			close(w.began)
		}
		w.mu.Unlock()
		for chunk, err := range c.Client.Stream(ctx, r) {
			w.mu.Lock()
			w.answer = true
			if chunk.Final != nil && chunk.Final.Usage != nil {
				w.in += chunk.Final.Usage.Prompt()
				w.out += chunk.Final.Usage.Output
			}
			w.mu.Unlock()
			if !yield(chunk, err) {
				return
			}
		}
	}
}

func (w *Watch) counts() (calls int, t Tokens, answered bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls, Tokens{w.in, w.out}, w.answer
}

// Status is how a child ended.
type Status string

// The ends of a child.
const (
	Completed   Status = "completed"
	Failed      Status = "failed"
	Interrupted Status = "interrupted"
	Timeout     Status = "timeout"
	Error       Status = "error" // it never worked
)

// Tokens is what a child's requests took, as far as the service said.
type Tokens struct {
	Input  int `json:"input"`
	Output int `json:"output"`
}

// Trace is one call that a child made.
type Trace struct {
	Tool   string `json:"tool"`
	Args   int    `json:"args_bytes"`
	Result int    `json:"result_bytes"`
	Status string `json:"status"` // ok, error, running
}

// Result is what a parent gets to know of a child.
type Result struct {
	Index    int      `json:"task_index"`
	Status   Status   `json:"status"`
	Summary  *string  `json:"summary"`
	Partial  string   `json:"partial,omitempty"` // what it had said when it did not complete
	Calls    int      `json:"api_calls"`
	Seconds  float64  `json:"duration_seconds"`
	Model    string   `json:"model"`
	Exit     string   `json:"exit_reason"` // completed, interrupted, max_iterations, budget, partial, timeout, error
	Tokens   Tokens   `json:"tokens"`
	Trace    []Trace  `json:"tool_trace"`
	Written  []string `json:"files_written"` // by file tools; what commands wrote is not known
	Stale    []string `json:"stale_paths,omitempty"`
	Session  string   `json:"session_id,omitempty"`
	Stage    string   `json:"stage,omitempty"` // where it was when it was stopped
	Error    string   `json:"error,omitempty"`
	Leftover string   `json:"_warning,omitempty"`
}

// Depth errors and the like are told before anything runs.
func check(s Spawner, specs []Spec) error {
	set := s.Settings()
	switch {
	case s.Depth() >= set.MaxDepth:
		return fmt.Errorf("delegation ends here: this is a child at depth %d and delegation.max_spawn_depth is %d; do the work yourself", s.Depth(), set.MaxDepth)
	case len(specs) > set.MaxChildren:
		return fmt.Errorf("%d tasks, and at most %d children run at once (delegation.max_concurrent_children); nothing was started: send fewer tasks in a call", len(specs), set.MaxChildren)
	}
	return nil
}
