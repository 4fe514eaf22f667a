package tool

import (
	"errors"
	"io"
	"sync"
	"time"
)

// Session is what a tool may know of the conversation it runs in. It does not
// change during a turn and is shared by parallel calls.
type Session struct {
	ID       string   // conversation, as stored
	TaskID   string   // isolation key for terminals, browsers and file state; default ID
	Platform string   // "cli", "telegram", "batch", ...
	Task     string   // the user's request, for tools that summarise
	Enabled  []string // names this session may call; nil: every registered tool, empty: none
	*Services
}

// Key is the isolation key of the session's task.
func (s *Session) Key() string {
	switch {
	case s.TaskID != "":
		return s.TaskID
	case s.ID != "":
		return s.ID
	default:
		return "default"
	}
}

// Local is per-task state of a tool. Declare one as a package variable; the
// values live in the app's Tasks and are closed (io.Closer) when the task ends
// or idles out.
type Local[T any] struct {
	New func(*Session) T
}

// Get returns the value of the session's task, made on first use. Without a
// task table (a bare test) every call makes a value of its own.
func (l *Local[T]) Get(s *Session) T {
	tasks, err := Use[*Tasks](s.Services)
	if err != nil {
		return l.New(s)
	}
	return tasks.get(s.Key(), l, func() any { return l.New(s) }).(T)
}

// Tasks holds the Local values of every live task.
type Tasks struct {
	mu   sync.Mutex
	live map[string]*task
	now  func() time.Time
}

type task struct {
	mu     sync.Mutex
	values map[any]any
	order  []any
	used   time.Time
}

// NewTasks makes an empty table. now may be nil for the system clock.
func NewTasks(now func() time.Time) *Tasks {
	if now == nil {
		now = time.Now
	}
	return &Tasks{live: map[string]*task{}, now: now}
}

func (t *Tasks) get(id string, key any, make func() any) any {
	t.mu.Lock()
	k := t.live[id]
	if k == nil {
		k = &task{values: map[any]any{}}
		t.live[id] = k
	}
	k.used = t.now()
	t.mu.Unlock()

	k.mu.Lock()
	defer k.mu.Unlock()
	v, ok := k.values[key]
	if !ok {
		v = make()
		k.values[key] = v
		k.order = append(k.order, key)
	}
	return v
}

// End closes and forgets everything of one task.
func (t *Tasks) End(id string) error {
	t.mu.Lock()
	k := t.live[id]
	delete(t.live, id)
	t.mu.Unlock()
	return k.close()
}

// EndIdle ends the tasks that nobody used for at least idle.
func (t *Tasks) EndIdle(idle time.Duration) error {
	t.mu.Lock()
	var old []*task
	for id, k := range t.live {
		if t.now().Sub(k.used) >= idle {
			old = append(old, k)
			delete(t.live, id)
		}
	}
	t.mu.Unlock()
	return closeAll(old)
}

// Close ends every task.
func (t *Tasks) Close() error {
	t.mu.Lock()
	var all []*task
	for _, k := range t.live {
		all = append(all, k)
	}
	clear(t.live)
	t.mu.Unlock()
	return closeAll(all)
}

func closeAll(tasks []*task) error {
	var errs []error
	for _, k := range tasks {
		errs = append(errs, k.close())
	}
	return errors.Join(errs...)
}

// close ends values in the reverse order of their making.
func (k *task) close() error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	var errs []error
	for i := len(k.order) - 1; i >= 0; i-- {
		if c, ok := k.values[k.order[i]].(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}
