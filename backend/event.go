package backend

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// EventType says what happened to a background job.
type EventType string

// The types of events.
const (
	Completion       EventType = "completion"
	WatchMatch       EventType = "watch_match"
	WatchDisabled    EventType = "watch_disabled"         // one job matched too often; it is told when it ends instead
	OverflowTripped  EventType = "watch_overflow_tripped" // all jobs together matched too often
	OverflowReleased EventType = "watch_overflow_released"
)

// Event is something that a session should hear of between its turns.
type Event struct {
	Type       EventType `json:"type"`
	Session    string    `json:"session_id,omitempty"` // of the job
	Task       string    `json:"task_id,omitempty"`
	Command    string    `json:"command,omitempty"`
	ExitCode   *int      `json:"exit_code,omitempty"`
	Pattern    string    `json:"pattern,omitempty"`
	Output     string    `json:"output,omitempty"`
	Suppressed int       `json:"suppressed,omitempty"` // matches that were not told
	At         time.Time `json:"at"`

	job *Job
}

// Events is what fronts read to start a turn when something has happened in
// the background. *Jobs implements it.
type Events interface {
	// Next waits for the next event of any task, or the end of ctx. ErrClosed
	// says that there will be no more.
	Next(ctx context.Context) (Event, error)
	// Take returns the events of a task that are there, without waiting.
	Take(task string) []Event
}

var _ Events = (*Jobs)(nil)

// maxEvents bounds what waits for a front that does not come.
const maxEvents = 500

// The limits of watching.
const (
	watchEvery    = 15 * time.Second // at most one notice of a job
	watchStrikes  = 3                // windows in a row with more, after which watching ends
	breakerEvents = 15               // notices of all jobs ...
	breakerWindow = 10 * time.Second // ... in that time trip the breaker
	breakerSleep  = 30 * time.Second
)

type events struct {
	now   func() time.Time
	ready chan struct{}

	mu     sync.Mutex
	list   []Event
	closed bool
	recent []time.Time // notices within the breaker's window
	until  time.Time   // the breaker is open until then
	lost   int         // notices kept back meanwhile
	timer  *time.Timer
}

func (q *events) add(e Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.put(e)
}

func (q *events) put(e Event) {
	if q.closed {
		return
	}
	e.At = q.now()
	q.list = append(q.list, e)
	if len(q.list) > maxEvents {
		q.list = slices.Delete(q.list, 0, 1)
	}
	q.wake()
}

func (q *events) wake() {
	select {
	case q.ready <- struct{}{}:
	default: // somebody is being woken already
	}
}

// match puts a notice of a watcher into the queue, unless there are too many.
func (q *events) match(e Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	if now.Before(q.until) {
		q.lost++
		return
	}
	q.recent = slices.DeleteFunc(q.recent, func(t time.Time) bool { return now.Sub(t) >= breakerWindow })
	if len(q.recent) >= breakerEvents {
		q.until, q.lost, q.recent = now.Add(breakerSleep), 1, nil
		q.put(Event{Type: OverflowTripped, Output: "Too many watch patterns match; notices pause for 30 seconds."})
		q.timer = time.AfterFunc(breakerSleep, q.release)
		return
	}
	q.recent = append(q.recent, now)
	q.put(e)
}

func (q *events) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.put(Event{Type: OverflowReleased, Suppressed: q.lost})
	q.lost = 0
}

func (q *events) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	if q.timer != nil {
		q.timer.Stop()
	}
	q.wake()
}

// stale events tell what is known already.
func (e Event) stale() bool { return e.Type == Completion && e.job != nil && e.job.seen() }

// Next implements Events.
func (j *Jobs) Next(ctx context.Context) (Event, error) {
	q := &j.events
	for {
		q.mu.Lock()
		q.list = slices.DeleteFunc(q.list, Event.stale)
		if len(q.list) > 0 {
			e := q.list[0]
			q.list = q.list[1:]
			if len(q.list) > 0 {
				q.wake() // for whoever else waits
			}
			q.mu.Unlock()
			return e, nil
		}
		closed := q.closed
		q.mu.Unlock()
		if closed {
			q.wake()
			return Event{}, ErrClosed
		}
		select {
		case <-q.ready:
		case <-ctx.Done():
			return Event{}, ctx.Err()
		}
	}
}

// Changed delivers after something has come; what came stays for Take. One reader
// at a time, and not beside Next.
func (j *Jobs) Changed() <-chan struct{} { return j.events.ready }

// Waiting reports whether Take would return something.
func (j *Jobs) Waiting(task string) bool {
	q := &j.events
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.ContainsFunc(q.list, func(e Event) bool {
		return (e.Task == task || e.Task == "" && e.job == nil) && !e.stale()
	})
}

// Take implements Events. What concerns no single task goes to whoever asks
// first.
func (j *Jobs) Take(task string) []Event {
	q := &j.events
	q.mu.Lock()
	defer q.mu.Unlock()
	var taken []Event
	q.list = slices.DeleteFunc(q.list, func(e Event) bool {
		mine := e.Task == task || e.Task == "" && e.job == nil
		if mine && !e.stale() {
			taken = append(taken, e)
		}
		return mine || e.stale()
	})
	return taken
}

// watcher looks for patterns in the lines of one job.
type watcher struct {
	job      *Job
	patterns []string

	part    string // of a line whose end has not come
	told    time.Time
	dropped int // matches since then
	strikes int // windows in a row in which some were dropped
	off     bool
}

// write takes settled lines.
func (w *watcher) write(p []byte) (int, error) {
	if w.off {
		return len(p), nil
	}
	lines := strings.Split(w.part+string(p), "\n")
	w.part = lines[len(lines)-1]
	lines = lines[:len(lines)-1]
	if len(w.part) > longLine {
		lines, w.part = append(lines, w.part), ""
	}
	var hits []string
	pattern, more := "", 0
	for _, l := range lines {
		for _, pat := range w.patterns {
			if pat != "" && strings.Contains(l, pat) {
				if pattern == "" {
					pattern = pat
				}
				if len(hits) < 20 {
					hits = append(hits, l)
				} else {
					more++
				}
				break
			}
		}
	}
	if len(hits) > 0 {
		w.found(pattern, hits, more)
	}
	return len(p), nil
}

func (w *watcher) found(pattern string, hits []string, more int) {
	j := w.job.jobs
	now := j.now()
	if !w.told.IsZero() && now.Sub(w.told) < watchEvery {
		w.dropped += len(hits) + more
		return
	}
	if w.dropped > 0 {
		w.strikes++
	} else {
		w.strikes = 0
	}
	e := Event{Session: w.job.record.Session, Task: w.job.opts.Task, Command: w.job.record.Command, job: w.job}
	if w.strikes >= watchStrikes {
		w.off = true
		w.job.mu.Lock()
		w.job.notify = true
		w.job.mu.Unlock()
		e.Type, e.Suppressed = WatchDisabled, w.dropped+len(hits)+more
		e.Output = "Its watch patterns match too often; you are told when it ends instead."
		j.events.add(e)
		return
	}
	e.Type, e.Pattern, e.Suppressed = WatchMatch, pattern, w.dropped+more
	e.Output = j.mask(tail(strings.Join(hits, "\n"), 2000))
	w.told, w.dropped = now, 0
	j.events.match(e)
}
