//go:build !windows

package patch

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/files/filestest"
)

var (
	crashAt  = flag.Int("crash-at", -1, "die before this change of the file system")
	crashDir = flag.String("crash-dir", "", "where")
)

// mortal counts changes and lets one of them fail, or the process die before it.
type mortal struct {
	backend.Env
	backend.FileSystem
	at    int
	count int
	die   bool
	torn  bool // the failing write leaves half of its bytes
}

var errDisk = errors.New("no space left on device")

func (m *mortal) step() error {
	m.count++
	if m.count-1 != m.at {
		return nil
	}
	if m.die {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	return errDisk
}

func (m *mortal) WriteFile(ctx context.Context, name string, data []byte, o backend.WriteOptions) error {
	if err := m.step(); err != nil {
		if m.torn && !o.New {
			_ = os.WriteFile(name, data[:len(data)/2], 0o644)
		}
		return err
	}
	return m.FileSystem.WriteFile(ctx, name, data, o)
}

func (m *mortal) Remove(ctx context.Context, name string) error {
	if err := m.step(); err != nil {
		return err
	}
	return m.FileSystem.Remove(ctx, name)
}

func (m *mortal) Rename(ctx context.Context, from, to string) error {
	if err := m.step(); err != nil {
		return err
	}
	return m.FileSystem.Rename(ctx, from, to)
}

const fourFiles = "*** Update File: u\n-old\n+new\n*** Add File: sub/n\n+new\n*** Delete File: d\n*** Update File: m\n*** Move to: m2\n-old\n+new\n*** Update File: u2\n-old\n+new\n"

var (
	before = map[string]string{"u": "old\n", "u2": "old\n", "d": "old\n", "m": "old\n", "m2": "<absent>", "sub/n": "<absent>"}
	after  = map[string]string{"u": "new\n", "u2": "new\n", "d": "<absent>", "m": "<absent>", "m2": "new\n", "sub/n": "new\n"}
)

func fresh(b *filestest.Bench) {
	for n, s := range before {
		if s == "<absent>" {
			_ = os.Remove(b.At(n))
		} else {
			b.Put(n, s)
		}
	}
}

func state(b *filestest.Bench) string {
	var out strings.Builder
	for _, n := range []string{"u", "u2", "d", "m", "m2", "sub/n"} {
		fmt.Fprintf(&out, "%s=%q ", n, b.Get(n))
	}
	return out.String()
}

func stateOf(m map[string]string) string {
	var out strings.Builder
	for _, n := range []string{"u", "u2", "d", "m", "m2", "sub/n"} {
		fmt.Fprintf(&out, "%s=%q ", n, m[n])
	}
	return out.String()
}

// TestFailureOnTheWay lets every single change fail in turn: what was done
// before it is put back.
func TestFailureOnTheWay(t *testing.T) {
	t.Parallel()
	for _, torn := range []bool{false, true} {
		for at := 0; ; at++ {
			b := filestest.New(t)
			m := &mortal{at: at, torn: torn}
			b.Wrap = func(e backend.Env) backend.Env { m.Env, m.FileSystem = e, e.(backend.FileSystem); return m }
			fresh(b)
			r := b.Call("patch", given{"patch": fourFiles})
			if m.count <= at || r.Err == nil {
				if r.Err != nil || state(b) != stateOf(after) {
					t.Errorf("whole: %s\n%s", r.JSON, state(b))
				}
				if m.count > at { // the removal of the journal failed, which harms nothing
					continue
				}
				break
			}
			if state(b) != stateOf(before) {
				t.Errorf("change %d, torn %v: %s\n%s", at, torn, r.JSON, state(b))
			}
			if !strings.Contains(r.Text("error"), "no files were modified") && !strings.Contains(r.Text("error"), "nothing was changed") {
				t.Errorf("change %d: %s", at, r.JSON)
			}
			if left := journals(t, b); len(left) > 0 {
				t.Errorf("change %d: journals left: %v", at, left)
			}
		}
	}
}

// TestKilledOnTheWay kills a process before every single change in turn: each
// file is old or new, and the next process puts back what was half done.
func TestKilledOnTheWay(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	mixed := 0
	for at := 0; ; at++ {
		b := filestest.New(t)
		fresh(b)
		cmd := exec.Command(exe, "-test.run=^TestDying$", fmt.Sprint("-crash-at=", at), "-crash-dir="+filepath.Dir(b.Dir))
		out, err := cmd.CombinedOutput()
		if err == nil {
			if state(b) != stateOf(after) {
				t.Errorf("whole: %s\n%s", state(b), out)
			}
			break
		}
		if !bytes.Contains([]byte(err.Error()), []byte("killed")) {
			t.Fatalf("%v\n%s", err, out)
		}
		for n := range before {
			if got := b.Get(n); got != before[n] && got != after[n] && n != "m2" || n == "m2" && got != "<absent>" && got != "old\n" && got != "new\n" {
				t.Errorf("killed at %d: %s is %q", at, n, got)
			}
		}
		half := state(b) != stateOf(before) && state(b) != stateOf(after)
		r := b.OK("read_file", given{"path": "u2"})
		if half {
			mixed++
			if state(b) != stateOf(before) || !strings.Contains(r.Text("_warning"), "cut off") {
				t.Errorf("killed at %d: %s\n%s", at, r.JSON, state(b))
			}
		}
		if left := journals(t, b); len(left) > 0 {
			t.Errorf("killed at %d: journals left: %v", at, left)
		}
	}
	if mixed < 4 {
		t.Errorf("only %d kills left something half done", mixed)
	}
}

// TestDying is the process that dies.
func TestDying(t *testing.T) {
	if *crashDir == "" {
		t.Skip("only run by TestKilledOnTheWay")
	}
	b := filestest.New(t)
	b.Dir, b.Home = filepath.Join(*crashDir, "work"), filepath.Join(*crashDir, "home")
	m := &mortal{at: *crashAt, die: true}
	b.Wrap = func(e backend.Env) backend.Env { m.Env, m.FileSystem = e, e.(backend.FileSystem); return m }
	b.OK("patch", given{"patch": fourFiles})
}

// TestForeignChange leaves alone what somebody changed after the crash.
func TestForeignChange(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := filestest.New(t)
	fresh(b)
	cmd := exec.Command(exe, "-test.run=^TestDying$", "-crash-at=3", "-crash-dir="+filepath.Dir(b.Dir))
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Fatalf("not killed: %s", out)
	}
	b.Put("u", "by hand\n")
	half := state(b)
	r := b.OK("read_file", given{"path": "u"})
	if state(b) != half || !strings.Contains(r.Text("_warning"), "nothing was put back") {
		t.Errorf("got %s\n%s", r.JSON, state(b))
	}
	if left := journals(t, b); len(left) != 1 || !strings.HasSuffix(left[0], ".kept") {
		t.Errorf("the former contents: %v", left)
	}
}
