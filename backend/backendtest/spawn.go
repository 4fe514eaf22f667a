package backendtest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-go/hermes/backend"
)

// buffer is written by a process and read by a test.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Spawn holds an environment that can run commands beside others against the
// contract.
func Spawn(t *testing.T, open func(t *testing.T) backend.Env) {
	const limit = 15 * time.Second
	spawn := func(t *testing.T, e backend.Env, c backend.Cmd, o backend.SpawnOptions) (backend.Process, *buffer) {
		t.Helper()
		out := &buffer{}
		c.Output = out
		p, err := e.(backend.Spawner).Spawn(context.Background(), c, o)
		if err != nil {
			t.Fatalf("%s: %v", c.Script, err)
		}
		t.Cleanup(func() { _ = p.Kill(context.Background()) })
		return p, out
	}
	end := func(t *testing.T, p backend.Process) backend.Exit {
		t.Helper()
		select {
		case <-p.Done():
		case <-time.After(limit):
			t.Fatal("it does not end")
		}
		return p.Exit()
	}
	for _, pty := range []bool{false, true} {
		name := map[bool]string{false: "pipes", true: "terminal"}[pty]
		t.Run("input, output and code by "+name, func(t *testing.T) {
			t.Parallel()
			e := open(t)
			Shell(t, e, "export GIVEN=yes; cd /")
			p, out := spawn(t, e, backend.Cmd{Script: "pwd; echo $GIVEN; read -r x; echo got $x; cat >/dev/null; echo err >&2; exit 7", Env: []string{"A=1"}}, backend.SpawnOptions{PTY: pty})
			if _, err := p.Write([]byte("line\n")); err != nil {
				t.Error(err)
			}
			if err := p.CloseInput(); err != nil {
				t.Error(err)
			}
			exit := end(t, p)
			got := strings.ReplaceAll(out.String(), "\r", "")
			if exit.Code != 7 || exit.Dir != "/" || !strings.Contains("\n"+got, "\n/\n") || !strings.Contains(got, "\nyes\n") || !strings.Contains(got, "got line\nerr\n") {
				t.Errorf("got %q, %+v", got, exit)
			}
		})
	}
	t.Run("a terminal of its own", func(t *testing.T) {
		t.Parallel()
		p, out := spawn(t, open(t), backend.Cmd{Script: "stty size; [ -t 0 ] && echo yes"}, backend.SpawnOptions{PTY: true, Cols: 90, Rows: 20})
		end(t, p)
		if got := strings.ReplaceAll(out.String(), "\r", ""); got != "20 90\nyes\n" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("kill ends the group", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for _, script := range []string{"sleep 71", "sleep 71 & wait", "trap '' TERM; sleep 71; sleep 71", "sh -c 'sleep 71 & exit 0'"} {
			for _, pty := range []bool{false, true} {
				p, _ := spawn(t, e, backend.Cmd{Script: script}, backend.SpawnOptions{PTY: pty})
				start := time.Now()
				if err := p.Kill(context.Background()); err != nil {
					t.Errorf("%s: %v", script, err)
				}
				end(t, p)
				if took := time.Since(start); took > 5*time.Second {
					t.Errorf("%s: took %v", script, took)
				}
			}
		}
	})
	t.Run("not before it is written down", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		made, _ := Shell(t, e, "mktemp -d")
		dir := strings.TrimSpace(made)
		t.Cleanup(func() { Shell(t, e, "rm -r "+dir) })
		began := func() bool { _, exit := Shell(t, e, "[ -e "+dir+"/began ]"); return exit.Code == 0 }
		ready := func(backend.ProcessID) error {
			if began() {
				t.Error("it began")
			}
			return errors.New("disk full")
		}
		_, err := e.(backend.Spawner).Spawn(context.Background(), backend.Cmd{Script: "touch " + dir + "/began"}, backend.SpawnOptions{Ready: ready})
		if err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("got %v", err)
		}
		if began() {
			t.Error("it began although it was not written down")
		}
	})
	t.Run("output into a file", func(t *testing.T) {
		t.Parallel()
		name := filepath.Join(t.TempDir(), "log")
		e := open(t)
		if _, err := e.(backend.Spawner).Spawn(context.Background(), backend.Cmd{Script: "true"}, backend.SpawnOptions{File: name}); errors.Is(err, backend.ErrNoKeep) {
			return // nothing outlives the program there, and that is what it says
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		p, _ := spawn(t, e, backend.Cmd{Script: "echo out; echo err >&2; cat; exit 2"}, backend.SpawnOptions{File: name})
		if _, err := p.Write([]byte("x")); err == nil {
			t.Error("it takes input")
		}
		exit := end(t, p)
		if b, err := os.ReadFile(name); string(b) != "out\nerr\n" || err != nil || exit.Code != 2 {
			t.Errorf("got %q, %v, %+v", b, err, exit)
		}
	})
	t.Run("it ends although a stranger holds the output", func(t *testing.T) {
		t.Parallel()
		p, out := spawn(t, open(t), backend.Cmd{Script: "setsid sleep 3 & sleep 0.3; echo x"}, backend.SpawnOptions{})
		start := time.Now()
		exit := end(t, p)
		if out.String() != "x\n" || exit.Code != 0 || !exit.Held || time.Since(start) > 2500*time.Millisecond {
			t.Errorf("got %q, %+v", out.String(), exit)
		}
	})
	t.Run("it cannot start", func(t *testing.T) {
		t.Parallel()
		for _, c := range []backend.Cmd{{Script: "true", Dir: "/no/such/directory"}, {Script: "echo \x00"}} {
			if _, err := open(t).(backend.Spawner).Spawn(context.Background(), c, backend.SpawnOptions{}); err == nil {
				t.Errorf("%+v started", c)
			}
		}
	})
}
