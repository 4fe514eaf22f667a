package backend

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// Pool holds the live environments by task, and the jobs in them. Idle ones
// are closed; the next command of their task gets a new one.
type Pool struct {
	// Open makes the environment of a task.
	Open func(ctx context.Context, task string) (Env, error)
	// Idle is how long an environment may be unused; 0: for ever.
	Idle time.Duration
	// Busy reports whether something beside jobs keeps a task's environment; nil: nothing does.
	Busy func(task string) bool
	// Set are the settings; zero values are replaced by the defaults.
	Set Settings
	// Redact takes secrets out of text; nil: nothing is taken out.
	Redact func(string) string
	// Dir is where jobs are written down, so that they are found again; "": nowhere.
	Dir string
	// Log is for what nobody waits for; nil: nothing is logged.
	Log *slog.Logger
	// Closed receives what went wrong when an idle environment was closed; nil: dropped.
	Closed func(task string, err error)

	mu     sync.Mutex
	live   map[string]*slot
	closed bool
	jobs   *Jobs
}

var _ Host = (*Pool)(nil)

// Settings implements Host.
func (p *Pool) Settings() Settings { return p.Set.orDefault() }

// Mask implements Host.
func (p *Pool) Mask(s string) string {
	if p.Redact == nil {
		return s
	}
	return p.Redact(s)
}

// Jobs implements Host.
func (p *Pool) Jobs() *Jobs {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.jobs == nil {
		p.jobs = newJobs(p.Dir, p.Set, p.Mask, p.Log)
	}
	return p.jobs
}

type slot struct {
	ready chan struct{} // closed once env or err is set
	env   Env
	err   error
	timer *time.Timer
	used  time.Time
}

// ErrClosed says that the pool has been closed.
var ErrClosed = errors.New("the pool of environments is closed")

// Env returns the environment of a task, made at the first call. Callers that
// come while it is being made wait for it.
func (p *Pool) Env(ctx context.Context, task string) (Env, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, ErrClosed
	}
	s := p.live[task]
	if s == nil {
		s = p.start(ctx, task)
	}
	s.used = time.Now()
	if s.timer != nil {
		s.timer.Reset(p.Idle)
	}
	p.mu.Unlock()
	select {
	case <-s.ready:
		return s.env, s.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// start makes a slot and lets a goroutine fill it: the first caller may give
// up while others still wait.
func (p *Pool) start(ctx context.Context, task string) *slot {
	s := &slot{ready: make(chan struct{})}
	if p.live == nil {
		p.live = map[string]*slot{}
	}
	p.live[task] = s
	go func() {
		s.env, s.err = p.Open(context.WithoutCancel(ctx), task)
		p.mu.Lock()
		switch {
		case s.err != nil:
			if p.live[task] == s {
				delete(p.live, task) // the next call tries again
			}
		case light(s.env):
		case p.Idle > 0:
			s.timer = time.AfterFunc(p.Idle, func() { p.expire(task, s) })
		}
		p.mu.Unlock()
		close(s.ready)
	}()
	return s
}

// Light is implemented by environments that cost nothing while nobody uses
// them. They are not closed for being idle: closing one would lose the task's
// directory and variables for nothing.
type Light interface{ Light() bool }

func light(e Env) bool {
	l, ok := e.(Light)
	return ok && l.Light()
}

func (p *Pool) expire(task string, s *slot) {
	busy := p.Busy != nil && p.Busy(task) || p.Jobs().Busy(task)
	p.mu.Lock()
	if p.live[task] != s {
		p.mu.Unlock()
		return
	}
	if rest := p.Idle - time.Since(s.used); busy || rest > 0 {
		if busy {
			rest = p.Idle
		}
		s.timer.Reset(rest)
		p.mu.Unlock()
		return
	}
	delete(p.live, task)
	p.mu.Unlock()
	if err := s.env.Close(context.Background()); err != nil && p.Closed != nil {
		p.Closed(task, err)
	}
}

// End ends what a task runs and closes its environment.
func (p *Pool) End(ctx context.Context, task string) error {
	p.mu.Lock()
	s, jobs := p.live[task], p.jobs
	delete(p.live, task)
	p.mu.Unlock()
	var err error
	if jobs != nil {
		err = jobs.EndTask(ctx, task)
	}
	return errors.Join(err, s.close(ctx))
}

// Close ends every job and environment. The pool cannot be used afterwards.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	jobs := p.jobs
	var all []*slot
	for _, s := range p.live {
		all = append(all, s)
	}
	clear(p.live)
	p.mu.Unlock()
	var errs []error
	if jobs != nil {
		errs = append(errs, jobs.Close(ctx))
	}
	for _, s := range all {
		errs = append(errs, s.close(ctx))
	}
	return errors.Join(errs...)
}

func (s *slot) close(ctx context.Context) error {
	if s == nil {
		return nil
	}
	<-s.ready
	if s.timer != nil {
		s.timer.Stop()
	}
	if s.env == nil {
		return nil
	}
	return s.env.Close(ctx)
}
