//go:build !windows

package remote

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/backend/backendtest"
)

// here is a Place on this machine: what the package does is the same.
type here struct {
	home string

	mu    sync.Mutex
	conns []*hereConn
	off   bool
}

// hereConn is one that can be cut.
type hereConn struct {
	Conn
	cmd    *exec.Cmd
	broken atomic.Bool
}

func (h *here) Start(_ context.Context, p Program) (Conn, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.off {
		return nil, errors.New("the place cannot be reached")
	}
	path, err := exec.LookPath(p.Argv[0])
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{Path: path, Args: p.Argv, Dir: "/", Env: append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.home}, p.Env...)}
	c, err := Command(cmd, p)
	if err != nil {
		return nil, err
	}
	k := &hereConn{Conn: c, cmd: cmd}
	h.conns = append(h.conns, k)
	return k, nil
}

// cut breaks every connection.
func (h *here) cut() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.conns {
		c.broken.Store(true)
		_ = c.cmd.Process.Kill()
		_ = c.Close()
	}
	h.conns = nil
}

func (c *hereConn) Wait() (int, error) {
	if c.broken.Load() {
		return 0, errors.New("cut off")
	}
	return c.Conn.Wait()
}

func testEnv(t *testing.T, h *here) *Env {
	h.home = t.TempDir()
	e := New(Options{Options: backend.Options{Cwd: t.TempDir()}, Kind: "here", Name: "here", Place: h})
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	return e
}

func TestConformance(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T) backend.Env { return testEnv(t, &here{}) }
	t.Run("commands", func(t *testing.T) { t.Parallel(); backendtest.Env(t, open) })
	t.Run("beside others", func(t *testing.T) { t.Parallel(); backendtest.Spawn(t, open) })
	t.Run("files", func(t *testing.T) {
		f := &Files{Env: testEnv(t, &here{})}
		t.Cleanup(f.Close)
		backendtest.Files(t, f, t.TempDir())
	})
}

// TestLost breaks the way while a command runs.
func TestLost(t *testing.T) {
	t.Parallel()
	h := &here{}
	e := testEnv(t, h)
	backendtest.Shell(t, e, "export STAYS=1; cd /usr")
	ctx := t.Context()
	var once sync.Once
	exit, err := e.Exec(ctx, backend.Cmd{Script: "echo x; sleep 60", Output: writerFunc(func(p []byte) (int, error) { once.Do(func() { go h.cut() }); return len(p), nil })})
	if err != nil || exit.Reason != backend.Lost || exit.Code != backend.CodeLost || len(exit.Notes) != 1 || !strings.Contains(exit.Notes[0], "look before doing it again") {
		t.Errorf("got %+v, %v", exit, err)
	}
	if got, _ := backendtest.Shell(t, e, "echo $STAYS; pwd"); got != "1\n/usr\n" {
		t.Errorf("then %q", got)
	}
	h.off = true
	if _, err := e.Exec(ctx, backend.Cmd{Script: "true"}); err == nil || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("without a place: %v", err)
	}
	h.off = false
	if got, _ := backendtest.Shell(t, e, "echo back"); got != "back\n" {
		t.Errorf("then %q", got)
	}
}

// TestKilled: what runs ends when the way to this program does.
func TestKilled(t *testing.T) {
	t.Parallel()
	h := &here{}
	e := testEnv(t, h)
	file := t.TempDir() + "/pid"
	p, err := e.Spawn(t.Context(), backend.Cmd{Script: "echo $$ >" + file + "; echo ready; trap '' TERM; sleep 60; sleep 60", Output: writerFunc(func(p []byte) (int, error) { return len(p), nil })}, backend.SpawnOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pid := p.ID().PID
	if syscall.Kill(pid, 0) != nil {
		t.Fatalf("%d does not run", pid)
	}
	e.guard.mu.Lock()
	_ = e.guard.conn.CloseWrite() // as the kernel does for a program that is gone
	e.guard.mu.Unlock()
	select {
	case <-p.Done():
	case <-t.Context().Done():
	}
	// The dead stay in their group until somebody has collected them.
	for end := time.Now().Add(10 * time.Second); syscall.Kill(-pid, 0) == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d still runs", pid)
		}
	}
}

func TestParseInfo(t *testing.T) {
	t.Parallel()
	i, rest, ok := parseInfo("81a4 12 1700000000 2023-11-14 22:13:20.123456789 +0000 /a b\tc")
	if !ok || rest != "/a b\tc" || i.size != 12 || i.mode != 0o644 || i.time.UnixNano() != 1700000000123456789 {
		t.Errorf("got %+v, %q, %v", i, rest, ok)
	}
	for _, line := range []string{"", "x", "81a4 12", "81a4 x 1 2023-11-14 1 +0", "zz 1 1 2023-11-14 1 +0", "81a4 12 1 yesterday 1 +0"} {
		if _, _, ok := parseInfo(line); ok {
			t.Errorf("%q counts", line)
		}
	}
}

func TestOctal(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"/plain", "/a b", "/new\nline", "/it's \"$x`\\", "/ü*?[", "/%s%d", "/tab\tend "} {
		out, err := exec.Command("sh", "-c", `x=$(printf '%b.' "$1"); printf %s "${x%?}"`, "sh", Octal(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("%q: got %q, %v", s, out, err)
		}
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
