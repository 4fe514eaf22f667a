// Package backend is the contract of the places where commands run and files
// live: one environment per task, whose working directory and exported
// variables outlast a command. It also holds the list of kinds and the pool of
// live environments. It runs nothing itself: local, docker, ssh and the others
// live in backends/, and whether a command may run is decided by the tools.
package backend

import (
	"context"
	"io"
	"time"
)

// Env is where the commands of one task run. All methods may be called from
// several goroutines.
type Env interface {
	// Exec runs a command to its end in a shell of its own. Working directory
	// and exported variables carry over to the next command; with several
	// running at once, the last one to end decides. An error means that the
	// command was never started; whatever happened afterwards is an Exit.
	Exec(ctx context.Context, c Cmd) (Exit, error)

	// Cwd is the absolute directory the next command starts in.
	Cwd(ctx context.Context) (string, error)

	// Close ends everything that runs in the environment and releases it.
	Close(ctx context.Context) error
}

// Speaker is an Env that says what its commands are written in. One that does
// not takes a POSIX shell's language.
type Speaker interface {
	Language() Language
}

// Language is what commands are written in.
type Language string

// The languages of commands.
const (
	POSIX      Language = "sh"
	PowerShell Language = "powershell"
)

// LanguageOf returns what an environment's commands are written in.
func LanguageOf(e Env) Language {
	if s, ok := e.(Speaker); ok {
		return s.Language()
	}
	return POSIX
}

// Cmd is one command for a shell.
type Cmd struct {
	Script  string        // the shell text
	Dir     string        // where to run this command only; "": the task's directory. A missing one is an error
	Env     []string      // "NAME=value" for this command only
	Stdin   io.Reader     // nil: empty, so that nothing ever waits for input
	Timeout time.Duration // 0: none
	Output  io.Writer     // receives stdout and stderr as they come, from one goroutine; nil: discarded
}

// Reason says how a command ended.
type Reason string

// The ways to end.
const (
	Exited      Reason = "exited"      // by itself
	TimedOut    Reason = "timeout"     // killed after Cmd.Timeout; code 124
	Interrupted Reason = "interrupted" // killed because the context ended; code 130
	Lost        Reason = "lost"        // nobody knows: the way to the place broke; code 255, and a note says more
)

// Exit is how a command ended.
type Exit struct {
	Code   int
	Reason Reason
	Dir    string   // where it ran
	Left   int      // process group that is still running, 0: none
	Held   bool     // a process left behind still holds the output
	Notes  []string // what the caller should know, e.g. that the directory was gone
}

// The codes of ends that are not the command's own.
const (
	CodeTimeout   = 124
	CodeInterrupt = 130
	CodeLost      = 255
)

// Spawner is the ability to run commands beside others.
type Spawner interface {
	// Spawn starts a command and returns at once; ctx bounds the start only.
	// Cmd.Stdin and Cmd.Timeout are not used. Output gets the bytes until the
	// process ends.
	Spawn(ctx context.Context, c Cmd, o SpawnOptions) (Process, error)
}

// SpawnOptions say how a process is attached.
type SpawnOptions struct {
	PTY        bool // on a terminal of its own
	Cols, Rows int  // of the terminal; 0: 120 and 30

	// File receives the output instead of Cmd.Output. Such a process gets no
	// input, and may go on when this program has ended.
	File string

	// Ready is called once the process exists and before the command begins; an
	// error keeps it from beginning. If this program dies meanwhile, the command
	// does not begin either, so that nothing ever runs without being written down.
	Ready func(id ProcessID) error
}

// ProcessID names a process for good: numbers are used again, start times are not.
type ProcessID struct {
	Kind  string `json:"kind"`  // of the environment
	PID   int    `json:"pid"`   // also of its group
	Start string `json:"start"` // opaque
}

// Process is a command that runs beside others.
type Process interface {
	ID() ProcessID
	Write(p []byte) (int, error)
	CloseInput() error
	Kill(ctx context.Context) error // the whole group: TERM, a grace, KILL; returns when it is gone
	Done() <-chan struct{}          // closed when the process has ended and its output is complete
	Exit() Exit                     // valid once Done is closed
}

// Adopter is the ability to look after what a command left behind.
type Adopter interface {
	// Adopt takes a group named by Exit.Left. Its output is not seen.
	Adopt(group int) (Process, error)
}

// Provider is the service by which tools reach the environment of a task.
type Provider interface {
	Env(ctx context.Context, task string) (Env, error)
}
