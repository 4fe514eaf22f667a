package backend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// fakeEnv starts processes that the test plays.
type fakeEnv struct {
	Env
	last *fakeProcess
	fail error
}

func (f *fakeEnv) Cwd(context.Context) (string, error) { return "/work", nil }

func (f *fakeEnv) Spawn(_ context.Context, c Cmd, o SpawnOptions) (Process, error) {
	if f.fail != nil {
		return nil, f.fail
	}
	p := &fakeProcess{out: c.Output, done: make(chan struct{}), id: ProcessID{Kind: "fake", PID: 4000, Start: c.Script}}
	if o.Ready != nil {
		if err := o.Ready(p.id); err != nil {
			return nil, err
		}
	}
	f.last = p
	return p, nil
}

type fakeProcess struct {
	id   ProcessID
	out  io.Writer
	done chan struct{}
	exit Exit
}

func (p *fakeProcess) ID() ProcessID               { return p.id }
func (p *fakeProcess) Write(b []byte) (int, error) { return len(b), nil }
func (p *fakeProcess) CloseInput() error           { return nil }
func (p *fakeProcess) Done() <-chan struct{}       { return p.done }
func (p *fakeProcess) Exit() Exit                  { return p.exit }
func (p *fakeProcess) Kill(context.Context) error {
	select {
	case <-p.done:
	default:
		close(p.done)
	}
	return nil
}

func (p *fakeProcess) say(format string, a ...any) { _, _ = fmt.Fprintf(p.out, format, a...) }

func testJobs(dir string) *Jobs {
	return newJobs(dir, Settings{}, func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }, nil)
}

func start(t *testing.T, j *Jobs, e *fakeEnv, o JobOptions) (*Job, *fakeProcess) {
	t.Helper()
	b, err := j.Start(context.Background(), e, Cmd{Script: "run hunter2"}, o)
	if err != nil {
		t.Fatal(err)
	}
	return b, e.last
}

func types(list []Event) string {
	var s []string
	for _, e := range list {
		s = append(s, string(e.Type))
	}
	return strings.Join(s, " ")
}

func TestWatchLimits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := testJobs("")
		b, p := start(t, j, &fakeEnv{}, JobOptions{Task: "a", Watch: []string{"ready", "fail"}})
		p.say("nothing\nnow ready hunter2\n")
		got := j.Take("a")
		if len(got) != 1 || got[0].Type != WatchMatch || got[0].Output != "now ready ***" || got[0].Command != "run ***" || got[0].Pattern != "ready" {
			t.Fatalf("got %+v", got)
		}
		p.say("ready half a li")
		if got := j.Take("a"); len(got) != 0 {
			t.Errorf("within 15 seconds: %+v", got)
		}
		time.Sleep(15 * time.Second)
		p.say("ne\n")
		if got := j.Take("a"); len(got) != 1 || got[0].Output != "ready half a line" || got[0].Suppressed != 0 {
			t.Errorf("got %+v", got)
		}
		// Three windows in a row with more than one match.
		for range 3 {
			p.say("ready\nready\n")
			time.Sleep(15 * time.Second)
		}
		p.say("ready\n")
		if got := types(j.Take("a")); got != "watch_match watch_match watch_disabled" {
			t.Errorf("got %s", got)
		}
		time.Sleep(time.Hour)
		p.say("ready\n")
		close(p.done)
		synctest.Wait()
		if got := types(j.Take("a")); got != "completion" { // promoted
			t.Errorf("got %s", got)
		}
		if b.Info().Running {
			t.Error("still runs")
		}
	})
}

func TestBreaker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := testJobs("")
		var all []*fakeProcess
		for range 20 {
			_, p := start(t, j, &fakeEnv{}, JobOptions{Task: "a", Watch: []string{"x"}})
			all = append(all, p)
		}
		for _, p := range all {
			p.say("x\n")
		}
		got := j.Take("a")
		if len(got) != 16 || got[15].Type != OverflowTripped {
			t.Errorf("got %s", types(got))
		}
		time.Sleep(31 * time.Second)
		if got := j.Take("a"); len(got) != 1 || got[0].Type != OverflowReleased || got[0].Suppressed != 5 {
			t.Errorf("got %+v", got)
		}
		all[0].say("x\n")
		if got := types(j.Take("a")); got != "watch_match" {
			t.Errorf("got %s", got)
		}
		if err := j.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if _, err := j.Next(context.Background()); !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}

func TestEventsWaitAndForget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := testJobs("")
		e := &fakeEnv{}
		b1, p1 := start(t, j, e, JobOptions{Task: "a", Notify: true})
		_, p2 := start(t, j, e, JobOptions{Task: "b", Notify: true})
		next := make(chan Event, 1)
		go func() {
			ev, _ := j.Next(context.Background())
			next <- ev
		}()
		synctest.Wait()
		b1.Observe()
		close(p1.done)
		synctest.Wait()
		p2.exit.Code = 3
		close(p2.done)
		if ev := <-next; ev.Task != "b" || *ev.ExitCode != 3 {
			t.Errorf("got %+v", ev)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := j.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAgeAndForgetting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := testJobs("")
		e := &fakeEnv{}
		b, _ := start(t, j, e, JobOptions{Task: "a", Notify: true})
		time.Sleep(24*time.Hour + time.Second)
		synctest.Wait()
		if i := b.Info(); i.Running || !i.TooOld {
			t.Errorf("F-051: got %+v", i)
		}
		time.Sleep(29 * time.Minute) // counted from the end, not from the start
		if _, err := j.Get("a", b.Session()); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Minute)
		if _, err := j.Get("a", b.Session()); !errors.Is(err, ErrNoJob) {
			t.Errorf("got %v", err)
		}
		for range 100 {
			_, p := start(t, j, e, JobOptions{Task: "a"})
			close(p.done)
			synctest.Wait()
			time.Sleep(time.Second)
		}
		if n := len(j.List("a")); n != maxTracked {
			t.Errorf("%d are remembered", n)
		}
	})
}

func TestRollingOutput(t *testing.T) {
	t.Parallel()
	j := testJobs("")
	b, p := start(t, j, &fakeEnv{}, JobOptions{Task: "a"})
	for i := range 100_000 {
		p.say("line %d hunter2\n", i)
	}
	p.say("\r50%%\r99%%")
	out := b.Output()
	if !strings.HasSuffix(out, "line 99999 ***\n99%") || len(out) > 260_000 || strings.Contains(out, "hunter2") {
		t.Errorf("%d bytes, ends %q", len(out), out[len(out)-40:])
	}
	if got := b.Tail(5); got != "*\n99%" {
		t.Errorf("tail %q", got)
	}
}

func TestRecords(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "processes")
	j := testJobs(dir)
	e := &fakeEnv{}
	b, p := start(t, j, e, JobOptions{Task: "a"})
	name := filepath.Join(dir, b.Session()+".json")
	text, err := os.ReadFile(name)
	if err != nil || !strings.Contains(string(text), `"command": "run ***"`) {
		t.Errorf("record %s, %v", text, err)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	close(p.done)
	<-b.Done()
	if was, err := b.Kill(context.Background()); was || err != nil {
		t.Errorf("killed what had ended: %v, %v", was, err)
	}
	// A record of what does not run is removed, a foreign or broken file is not.
	other := testJobs(dir)
	if err := other.write(Record{Session: "proc_old", ID: ProcessID{Kind: "fake", PID: 1, Start: "x"}}); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"notes.json", "torn.json"} {
		if err := os.WriteFile(filepath.Join(dir, f), []byte(`{"a":`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	left, err := other.Left()
	if len(left) != 0 || err != nil {
		t.Errorf("left %v, %v", left, err)
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 2 {
		t.Errorf("files %v, %v", list, err)
	}
	// What cannot be written down does not run.
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := testJobs(filepath.Join(blocked, "x")).Start(context.Background(), e, Cmd{Script: "x"}, JobOptions{}); err == nil {
		t.Error("started without a record")
	}
}

func TestPool(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var opened, closed atomic.Int32
		p := &Pool{Idle: time.Minute, Open: func(_ context.Context, task string) (Env, error) {
			if task == "bad" {
				return nil, errors.New("no room")
			}
			opened.Add(1)
			time.Sleep(time.Second)
			return &countedEnv{closed: &closed}, nil
		}}
		ctx := context.Background()
		results := make(chan Env, 3)
		for range 3 {
			go func() { e, _ := p.Env(ctx, "a"); results <- e }()
		}
		first := <-results
		for range 2 {
			if e := <-results; e != first {
				t.Error("two environments for one task")
			}
		}
		if opened.Load() != 1 {
			t.Errorf("opened %d", opened.Load())
		}
		if _, err := p.Env(ctx, "bad"); err == nil {
			t.Error("no error")
		}
		time.Sleep(50 * time.Second)
		_, _ = p.Env(ctx, "a")
		time.Sleep(50 * time.Second)
		synctest.Wait()
		if closed.Load() != 0 {
			t.Error("closed although it was used")
		}
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if closed.Load() != 1 {
			t.Error("not closed when idle")
		}
		short, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		if _, err := p.Env(short, "b"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if e, err := p.Env(ctx, "b"); e == nil || err != nil || opened.Load() != 2 {
			t.Errorf("what one gave up was not finished for the others: %v, %d", err, opened.Load())
		}
		if err := p.Close(ctx); err != nil || closed.Load() != 2 {
			t.Errorf("%v, closed %d", err, closed.Load())
		}
		if _, err := p.Env(ctx, "a"); !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}

type countedEnv struct {
	Env
	closed *atomic.Int32
}

func (c *countedEnv) Close(context.Context) error { c.closed.Add(1); return nil }
