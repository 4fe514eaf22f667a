package backend

import (
	"context"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// Job is one command that runs beside others.
type Job struct {
	jobs    *Jobs
	opts    JobOptions
	record  Record
	started time.Time
	process Process
	age     *time.Timer
	watch   *watcher
	lines   *Screen // feeds watch, line by line
	done    chan struct{}
	quiet   atomic.Bool // ended by us: nobody needs to be told
	tooOld  atomic.Bool

	mu       sync.Mutex
	screen   *Screen
	text     []byte // settled output, cleaned
	chars    int    // in text
	dropped  bool   // the beginning was let go
	exit     Exit
	killed   bool
	observed bool // whoever started it knows that it has ended
	notify   bool // promoted: its watching was switched off
	finished time.Time
}

// Info is what is known of a job at one moment.
type Info struct {
	Session  string
	Command  string
	Cwd      string
	PID      int
	Started  time.Time
	Uptime   time.Duration
	Running  bool
	Exit     Exit // when it has ended
	Killed   bool
	TooOld   bool
	Keep     bool
	Adopted  bool
	Terminal bool
}

// Info returns the state of the job.
func (b *Job) Info() Info {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := Info{
		Session: b.record.Session, Command: b.record.Command, Cwd: b.record.Cwd, PID: b.record.ID.PID, Started: b.started, Running: !b.ended(),
		Exit: b.exit, Killed: b.killed, TooOld: b.tooOld.Load(), Keep: b.opts.Keep, Adopted: b.record.Adopted, Terminal: b.opts.PTY,
	}
	end := b.finished
	if i.Running {
		end = b.jobs.now()
	}
	i.Uptime = end.Sub(b.started)
	return i
}

// Session is the name of the job.
func (b *Job) Session() string { return b.record.Session }

// Write implements io.Writer for the process's output.
func (b *Job) Write(p []byte) (int, error) {
	if b.lines != nil {
		_, _ = b.lines.Write(p) // the watcher never fails
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.screen.Write(p)
}

// settled keeps output that no redraw can reach any more. b.mu is held.
func (b *Job) settled(p []byte) (int, error) {
	b.text = append(b.text, p...)
	b.chars += utf8.RuneCount(p)
	if b.chars > bufferChars*5/4 {
		cut := runeOffset(b.text, b.chars-bufferChars)
		b.text = append(b.text[:0], b.text[cut:]...)
		b.chars = bufferChars
		b.dropped = true
	}
	return len(p), nil
}

// Output is what is remembered of the output, without secrets.
func (b *Job) Output() string {
	if b.opts.Keep {
		return b.jobs.mask(readLog(b.record.Log))
	}
	b.mu.Lock()
	text := string(b.text) + b.screen.Pending()
	b.mu.Unlock()
	return b.jobs.mask(text)
}

// readLog cleans the end of a file that a process writes to.
func readLog(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // opened for reading
	if info, err := f.Stat(); err == nil && info.Size() > 4*bufferChars {
		if _, err := f.Seek(-4*bufferChars, 2); err != nil {
			return ""
		}
	}
	var text strings.Builder
	s := NewScreen(&text)
	buf := make([]byte, 64<<10)
	for {
		n, err := f.Read(buf)
		_, _ = s.Write(buf[:n]) // a Builder takes everything
		if err != nil {
			break
		}
	}
	_ = s.Close()
	return text.String()
}

func (b *Job) ended() bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}

func (b *Job) endedAt() (time.Time, bool) {
	if !b.ended() {
		return time.Time{}, false
	}
	return b.finished, true
}

// finish records the end and tells whoever wants to know.
func (b *Job) finish(exit Exit) {
	b.age.Stop()
	if b.lines != nil {
		_ = b.lines.Close() // the watcher never fails
	}
	b.mu.Lock()
	_ = b.screen.Close() // goes to settled, which never fails
	b.exit = exit
	b.finished = b.jobs.now()
	tell := (b.opts.Notify || b.notify) && !b.quiet.Load()
	b.mu.Unlock()
	b.jobs.forget(b.record.Session)
	close(b.done)
	if tell {
		code := exit.Code
		b.jobs.events.add(Event{
			Type: Completion, Session: b.record.Session, Task: b.opts.Task, Command: b.record.Command, ExitCode: &code, Output: tail(b.Output(), 2000), job: b,
		})
	}
}

// Observe says that whoever started the job has seen that it ended, so that no
// event tells it again.
func (b *Job) Observe() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.observed = true
}

func (b *Job) seen() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.observed
}

// Done is closed when the job has ended.
func (b *Job) Done() <-chan struct{} { return b.done }

// Kill ends the job with everything it started. was says whether it still ran.
func (b *Job) Kill(ctx context.Context) (was bool, err error) {
	was = !b.ended()
	if was {
		b.mu.Lock()
		b.killed = true
		b.mu.Unlock()
	} else if b.Info().Exit.Left == 0 {
		return false, nil
	}
	if err := b.process.Kill(ctx); err != nil {
		return was, err
	}
	select {
	case <-b.done:
	case <-ctx.Done():
		return was, ctx.Err()
	}
	return was, nil
}

// Send writes to the job's input.
func (b *Job) Send(p []byte) (int, error) {
	if b.ended() {
		return 0, ErrFinished
	}
	return b.process.Write(p)
}

// CloseInput ends the job's input.
func (b *Job) CloseInput() error {
	if b.ended() {
		return ErrFinished
	}
	return b.process.CloseInput()
}

// tail is the end of a text, at most n characters.
func tail(s string, n int) string {
	if c := utf8.RuneCountInString(s); c > n {
		return s[runeOffset([]byte(s), c-n):]
	}
	return s
}

// Tail is the end of the output, at most n characters.
func (b *Job) Tail(n int) string { return tail(strings.TrimRight(b.Output(), "\n"), n) }
