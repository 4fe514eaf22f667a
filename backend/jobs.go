package backend

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Jobs are the commands that run beside others, of all tasks. Each is written
// down before it begins, limited in age and number, and ended with the program
// unless it was started to outlive it. Finished ones are kept for a while.
type Jobs struct {
	dir    string
	set    Settings
	mask   func(string) string
	log    *slog.Logger
	now    func() time.Time
	owner  ProcessID // this program, for others that read the records
	events events

	mu     sync.Mutex
	jobs   map[string]*Job
	closed bool
}

const (
	maxTracked   = 64               // jobs that are remembered
	finishedLife = 30 * time.Minute // of a job that has ended
	bufferChars  = 200_000          // of output that is remembered
)

// Why a job cannot be started or found.
var (
	ErrNoJob    = errors.New("there is no such process")
	ErrTooMany  = errors.New("too many background processes are running")
	ErrNoSpawn  = errors.New("this environment cannot run commands in the background")
	ErrFinished = errors.New("it has ended")
	ErrNoKeep   = errors.New("commands there end with this program: leave out what would keep it")
)

// JobOptions say what a job is for.
type JobOptions struct {
	Task   string
	PTY    bool
	Notify bool     // an event when it ends
	Watch  []string // an event when a line holds one of these
	Keep   bool     // outlives the program
}

// newJobs makes the registry of a pool.
func newJobs(dir string, set Settings, mask func(string) string, log *slog.Logger) *Jobs {
	j := &Jobs{dir: dir, set: set.orDefault(), mask: mask, log: log, now: time.Now, jobs: map[string]*Job{}}
	j.events.ready = make(chan struct{}, 1)
	j.events.now = func() time.Time { return j.now() }
	j.owner = self()
	return j
}

func newJobID() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails
	return "proc_" + hex.EncodeToString(b[:])
}

// Start runs a command beside others.
func (j *Jobs) Start(ctx context.Context, e Env, c Cmd, o JobOptions) (*Job, error) {
	sp, ok := e.(Spawner)
	if !ok {
		return nil, ErrNoSpawn
	}
	if err := j.room(); err != nil {
		return nil, err
	}
	b := j.newJob(c.Script, o)
	b.record.Cwd = c.Dir
	if b.record.Cwd == "" {
		b.record.Cwd, _ = e.Cwd(ctx) // only shown to people
	}
	s := SpawnOptions{PTY: o.PTY, Ready: func(id ProcessID) error {
		b.record.ID = id
		return j.write(b.record)
	}}
	c.Output = b
	if o.Keep {
		if s.File = j.logFile(b.record.Session); s.File == "" {
			return nil, errors.New("there is no place for its output")
		}
		b.record.Log, s.PTY = s.File, false
	}
	p, err := sp.Spawn(ctx, c, s)
	if err != nil {
		j.forget(b.record.Session)
		return nil, err
	}
	if err := j.add(b, p); err != nil {
		return nil, errors.Join(err, p.Kill(ctx))
	}
	return b, nil
}

// Adopt looks after what a foreground command left running.
func (j *Jobs) Adopt(e Env, group int, command, task string) (*Job, error) {
	a, ok := e.(Adopter)
	if !ok {
		return nil, ErrNoSpawn
	}
	p, err := a.Adopt(group)
	if err != nil {
		return nil, err
	}
	b := j.newJob(command, JobOptions{Task: task})
	b.record.ID, b.record.Adopted = p.ID(), true
	b.mu.Lock()
	b.text = []byte("[started by a foreground command; its output is not seen]\n")
	b.mu.Unlock()
	if err := j.write(b.record); err != nil && j.log != nil {
		j.log.Warn("background process not written down", "session", b.record.Session, "err", err)
	}
	return b, j.add(b, p)
}

func (j *Jobs) newJob(command string, o JobOptions) *Job {
	b := &Job{jobs: j, opts: o, done: make(chan struct{}), started: j.now()}
	b.record = Record{
		Session: newJobID(), Task: o.Task, Command: j.mask(command), Owner: j.owner, Started: b.started, Keep: o.Keep,
	}
	b.screen = NewScreen(writeFunc(b.settled))
	if len(o.Watch) > 0 {
		b.watch = &watcher{job: b, patterns: o.Watch}
		b.lines = &Screen{to: writeFunc(b.watch.write), lines: make([][]byte, 1), col: atEnd, rows: 1}
	}
	return b
}

// room makes sure that one more may run.
func (j *Jobs) room() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return ErrClosed
	}
	running := 0
	for _, b := range j.jobs {
		if !b.ended() {
			running++
		}
	}
	if running >= j.set.MaxJobs {
		return fmt.Errorf("%w (%d): end one of them first", ErrTooMany, running)
	}
	return nil
}

func (j *Jobs) add(b *Job, p Process) error {
	b.process = p
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return ErrClosed
	}
	j.prune(maxTracked - 1)
	j.jobs[b.record.Session] = b
	b.age = time.AfterFunc(time.Duration(j.set.MaxJobAge)*time.Hour, func() {
		b.tooOld.Store(true)
		_ = p.Kill(context.Background()) // what does not end stays in the list
	})
	go func() { // ends with the process; Close ends all but those that are kept
		<-p.Done()
		b.finish(p.Exit())
	}()
	return nil
}

// prune forgets what ended long ago, and the oldest of what has ended while
// there are more than most.
func (j *Jobs) prune(most int) {
	var ended []*Job
	for id, b := range j.jobs {
		if at, ok := b.endedAt(); ok {
			if j.now().Sub(at) > finishedLife {
				delete(j.jobs, id)
				continue
			}
			ended = append(ended, b)
		}
	}
	slices.SortFunc(ended, func(a, b *Job) int { return a.finished.Compare(b.finished) })
	for len(j.jobs) > most && len(ended) > 0 {
		delete(j.jobs, ended[0].record.Session)
		ended = ended[1:]
	}
}

// Get finds a job of a task.
func (j *Jobs) Get(task, session string) (*Job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.prune(maxTracked)
	if b, ok := j.jobs[session]; ok && b.opts.Task == task {
		return b, nil
	}
	return nil, fmt.Errorf("%s: %w", session, ErrNoJob)
}

// List returns the jobs of a task, oldest first.
func (j *Jobs) List(task string) []*Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.prune(maxTracked)
	var all []*Job
	for _, b := range j.jobs {
		if b.opts.Task == task {
			all = append(all, b)
		}
	}
	slices.SortFunc(all, func(a, b *Job) int {
		return cmp.Or(a.started.Compare(b.started), cmp.Compare(a.record.Session, b.record.Session))
	})
	return all
}

// Busy reports whether a job of the task still runs.
func (j *Jobs) Busy(task string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, b := range j.jobs {
		if b.opts.Task == task && !b.ended() {
			return true
		}
	}
	return false
}

// EndTask ends what a task has started, but for what is to outlive it.
func (j *Jobs) EndTask(ctx context.Context, task string) error {
	return j.end(ctx, func(b *Job) bool { return b.opts.Task == task })
}

// Close ends every job that is not to outlive the program.
func (j *Jobs) Close(ctx context.Context) error {
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	err := j.end(ctx, func(*Job) bool { return true })
	j.events.close()
	return err
}

func (j *Jobs) end(ctx context.Context, which func(*Job) bool) error {
	j.mu.Lock()
	var all []*Job
	for _, b := range j.jobs {
		if which(b) && !b.opts.Keep {
			all = append(all, b)
		}
	}
	j.mu.Unlock()
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, b := range all {
		b.quiet.Store(true)
		wg.Go(func() {
			if _, err := b.Kill(ctx); err != nil {
				errs[i] = fmt.Errorf("end %s: %w", b.record.Session, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

type writeFunc func([]byte) (int, error)

func (f writeFunc) Write(p []byte) (int, error) { return f(p) }
