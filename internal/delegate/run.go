package delegate

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hermes-go/hermes/internal/agent"
)

// grace is how long a child that was told to stop has to say what it did.
const grace = 5 * time.Second

const (
	mostPartial = 4000
	mostTrace   = 200
	mostStale   = 8
)

var errTimeout = errors.New("the time of this child is up")

// Run runs children side by side and returns a result for each, in order. It
// returns when all have ended; cancelling ctx reaches every one. report is told
// in a line what they do. An error means that none was started.
func Run(ctx context.Context, s Spawner, specs []Spec, report func(string)) ([]Result, error) {
	if err := check(s, specs); err != nil {
		return nil, err
	}
	set := s.Settings()
	results := make([]Result, len(specs))
	var wg sync.WaitGroup
	var mu sync.Mutex
	for i, spec := range specs {
		spec.ID, spec.Depth = newID(i), s.Depth()+1
		spec.Orchestrator = spec.Orchestrator && set.Orchestrators && spec.Depth < set.MaxDepth
		wg.Go(func() {
			r := runOne(ctx, s, spec, func(what string) {
				mu.Lock()
				defer mu.Unlock()
				if len(specs) > 1 {
					what = fmt.Sprintf("child %d of %d: %s", i+1, len(specs), what)
				}
				report(what)
			})
			r.Index = i
			results[i] = r
		})
	}
	wg.Wait()
	return results, nil
}

func newID(i int) string {
	b := make([]byte, 4)
	_, _ = rand.Read(b) // never fails
	return fmt.Sprintf("sa-%d-%s", i, hex.EncodeToString(b))
}

// life is what is known of a child while it runs.
type life struct {
	mu    sync.Mutex
	text  strings.Builder // since the last call
	trace []Trace
	open  map[string]int // calls that run, by id: place in trace
	wrote []string
	done  *agent.Done
	err   error
}

func runOne(ctx context.Context, s Spawner, spec Spec, report func(string)) (r Result) {
	began := time.Now()
	set := s.Settings()
	defer func() { r.Seconds = time.Since(began).Round(time.Millisecond).Seconds() }()
	report("starting: " + firstLine(spec.Goal))
	child, err := s.Spawn(ctx, spec)
	if err != nil {
		return Result{Status: Error, Exit: "error", Stage: "starting", Error: err.Error(), Trace: []Trace{}, Written: []string{}}
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	l := &life{open: map[string]int{}}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.follow(ctx, child, report)
	}()

	end := time.NewTimer(set.Timeout)
	defer end.Stop()
	start := time.NewTimer(set.Start)
	defer start.Stop()
	starting := child.Watch.began
wait:
	for {
		select {
		case <-ended:
			break wait
		case <-ctx.Done():
			break wait
		case <-starting:
			starting = nil
			start.Stop()
		case <-start.C:
			if starting != nil {
				stop(fmt.Errorf("%w: its first request to the model did not begin within %s", errTimeout, set.Start))
			}
		case <-end.C:
			stop(fmt.Errorf("%w: delegation.child_timeout_seconds is %.0f", errTimeout, set.Timeout.Seconds()))
		}
	}
	stage := l.stage(child)
	// Its end waits for its tools; those are ended by their processes, and what
	// does not heed even that is left behind, which is said.
	left := !within(ended, grace)
	keep := context.WithoutCancel(ctx)
	if left {
		err = child.Kill(keep)
		left = !within(ended, grace)
	}
	if !left {
		err = errors.Join(err, child.Close(keep))
	}
	r = l.result(ctx, child, stage)
	switch {
	case left:
		r.Leftover = "it did not stop when it was told to; a tool of it may still be running"
	case err != nil:
		r.Leftover = "its session was not closed cleanly: " + err.Error()
	}
	report(string(r.Status))
	return r
}

func within(c <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c:
		return true
	case <-t.C:
		return false
	}
}

// follow reads the child's events to their end.
func (l *life) follow(ctx context.Context, child *Child, report func(string)) {
	for e, err := range child.Turn(ctx) {
		l.mu.Lock()
		said := ""
		switch e := e.(type) {
		case agent.Text:
			l.text.WriteString(e.Text)
		case agent.Retry:
			if e.Void {
				kept := l.text.String()
				l.text.Reset()
				l.text.WriteString(kept[:min(e.Keep, len(kept))])
			}
			said = "asking again: " + e.Reason
		case agent.ToolStart:
			l.text.Reset()
			l.open[e.ID] = len(l.trace)
			l.trace = append(l.trace, Trace{Tool: e.Name, Args: len(e.Args), Status: "running"})
			said = fmt.Sprintf("%s (call %d)", e.Name, len(l.trace))
			for _, f := range child.Writes(e.Name, e.Args) {
				if !slices.Contains(l.wrote, f) {
					l.wrote = append(l.wrote, f)
				}
			}
		case agent.ToolEnd:
			i, ok := l.open[e.ID]
			if !ok { // refused before it began
				i = len(l.trace)
				l.trace = append(l.trace, Trace{Tool: e.Name})
			}
			delete(l.open, e.ID)
			l.trace[i].Result, l.trace[i].Status = len(e.Result), "ok"
			if e.Err != nil {
				l.trace[i].Status = "error"
			}
		case agent.Done:
			l.done = &e
		}
		if err != nil {
			l.err = err
		}
		l.mu.Unlock()
		if said != "" {
			report(said)
		}
	}
}

// stage says where a child is.
func (l *life) stage(child *Child) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	calls, _, answered := child.Watch.counts()
	for _, i := range l.open {
		return "running " + l.trace[i].Tool
	}
	switch {
	case calls == 0:
		return "before its first request"
	case !answered:
		return "waiting for the model's first answer"
	}
	return "waiting for the model"
}

func (l *life) result(ctx context.Context, child *Child, stage string) Result {
	l.mu.Lock()
	defer l.mu.Unlock()
	calls, tokens, _ := child.Watch.counts()
	r := Result{
		Calls: calls, Tokens: tokens, Model: child.Model, Session: child.Session,
		Trace: append([]Trace{}, l.trace[max(0, len(l.trace)-mostTrace):]...), Written: append([]string{}, l.wrote...),
	}
	r.Stale = child.Stale(r.Written)
	r.Stale = r.Stale[:min(len(r.Stale), mostStale)]
	why := context.Cause(ctx)
	switch {
	case errors.Is(why, errTimeout):
		r.Status, r.Exit, r.Stage, r.Error = Timeout, "timeout", stage, why.Error()
		if calls == 0 {
			r.Status = Error
		}
	case why != nil:
		r.Status, r.Exit, r.Stage, r.Error = Interrupted, "interrupted", stage, why.Error()
	case l.err != nil:
		r.Status, r.Exit, r.Stage, r.Error = Error, "error", stage, l.err.Error()
	case l.done == nil:
		r.Status, r.Exit, r.Stage, r.Error = Error, "error", stage, "its turn ended without a word"
	case l.done.Status == agent.OK:
		r.Status, r.Exit = Completed, "completed"
		summary := l.done.Text
		if len(r.Stale) > 0 {
			summary += "\n\nNOTE: these files, which you have read, were written meanwhile; read them again before you change them: " + strings.Join(r.Stale, ", ")
		}
		r.Summary = &summary
	default:
		r.Status, r.Exit = Failed, map[agent.Status]string{agent.OutOfBudget: "max_iterations", agent.Partial: "partial", agent.Interrupted: "interrupted"}[l.done.Status]
		if r.Exit == "" {
			r.Exit = "error"
		}
		if l.done.Err != nil {
			r.Error = l.done.Err.Error()
		}
	}
	if r.Status != Completed {
		r.Partial = strings.TrimSpace(l.text.String())
		if l.done != nil && l.done.Text != "" && l.done.Status != agent.Interrupted {
			r.Partial = l.done.Text
		}
		if len(r.Partial) > mostPartial {
			r.Partial = "…" + strings.ToValidUTF8(r.Partial[len(r.Partial)-mostPartial:], "")
		}
	}
	return r
}

func firstLine(s string) string {
	const most = 80
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > most {
		s = string(r[:most-1]) + "…"
	}
	return s
}
