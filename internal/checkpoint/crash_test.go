//go:build unix

package checkpoint

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary be the process that is killed.
func TestMain(m *testing.M) {
	if os.Getenv("CHECKPOINT_CRASH_BASE") == "" {
		os.Exit(m.Run())
	}
	if err := crashing(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// crashing saves, changes and restores a tree, and kills itself at a step.
func crashing() error {
	base := os.Getenv("CHECKPOINT_CRASH_BASE")
	at, err := strconv.Atoi(os.Getenv("CHECKPOINT_CRASH_AT"))
	if err != nil {
		return err
	}
	steps := 0
	s := crashStore(base)
	s.step = func(string) {
		if steps++; steps == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
	dir := filepath.Join(base, "project")
	s.Before(context.Background(), "task", "before write_file", filepath.Join(dir, "a.txt"))
	if err := spoil(s, dir); err != nil {
		return err
	}
	_, err = s.Restore(context.Background(), dir, "1", "")
	return err
}

func crashStore(base string) *Store {
	return New(Options{Dir: filepath.Join(base, "home", "checkpoints"), Private: filepath.Join(base, "home"), Home: filepath.Join(base, "user"), Environ: os.Environ(), Interval: time.Hour})
}

// spoil is what an agent does between checkpoint and rollback.
func spoil(s *Store, dir string) error {
	for name, text := range map[string]string{"a.txt": "spoilt", "c.txt": "spoilt", "made1.txt": "new", "made2.txt": "new"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
		s.Wrote(filepath.Join(dir, name), []byte(text))
	}
	if err := os.WriteFile(filepath.Join(dir, "command.txt"), []byte("by a command"), 0o644); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(dir, "sub"))
}

func crashTree(t *testing.T) (base, dir string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(base, "project")
	for _, d := range []string{filepath.Join(dir, "sub", "deep"), filepath.Join(base, "home")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"go.mod": "module x\n", "a.txt": "a", "b.txt": "b", "c.txt": "c", "sub/d.txt": "d", "sub/deep/e.txt": "e"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return base, dir
}

// Killed at every step of saving and restoring: the next start leaves the tree
// as it was or restored, never between, and the store works.
func TestKillAtEveryStep(t *testing.T) {
	t.Parallel()
	for at := 1; ; at++ {
		base, dir := crashTree(t)
		before := state(t, dir)
		c := exec.CommandContext(t.Context(), os.Args[0])
		c.Env = append(os.Environ(), "CHECKPOINT_CRASH_BASE="+base, "CHECKPOINT_CRASH_AT="+strconv.Itoa(at))
		out, err := c.CombinedOutput()
		if err != nil && !strings.Contains(err.Error(), "killed") {
			t.Fatalf("step %d: %v\n%s", at, err, out)
		}
		afterKill(t, at, base, dir, before)
		if err == nil || t.Failed() {
			if at < 15 {
				t.Errorf("only %d steps", at)
			}
			return
		}
	}
}

func afterKill(t *testing.T, at int, base, dir string, before map[string]string) {
	t.Helper()
	s := crashStore(base)
	defer func() { _ = s.Close() }()
	atRest := state(t, dir)
	reports, err := s.Recover(t.Context())
	if err != nil {
		t.Fatalf("step %d: %v", at, err)
	}
	got := state(t, dir)
	switch {
	case got["a.txt"] == "-rw-r--r-- spoilt": // not begun: all is as the agent left it
		if len(reports) > 0 {
			t.Errorf("step %d: %+v", at, reports)
		}
		same(t, got, atRest)
		if _, there := got["sub/d.txt"]; there || got["c.txt"] != "-rw-r--r-- spoilt" || got["made1.txt"] == "" {
			t.Errorf("step %d: half restored: %v", at, got)
		}
	default: // as it was saved, but for what a command made
		for _, r := range reports {
			if len(r.Failed) > 0 {
				t.Errorf("step %d: %+v", at, r)
			}
		}
		same(t, got, before, "command.txt")
	}
	if left, err := filepath.Glob(filepath.Join(base, "home", "checkpoints", intentName+"*")); err != nil || len(left) > 0 {
		t.Errorf("step %d: %v %v", at, left, err)
	}
	// The store works, and the spoilt tree can be had from it if it was restored.
	s.Before(t.Context(), "next", "before the next", dir)
	tree, all, err := s.List(t.Context(), dir)
	if err != nil || tree != dir || len(all) == 0 {
		t.Fatalf("step %d: %v %+v", at, err, all)
	}
	r, err := s.Restore(t.Context(), dir, strconv.Itoa(len(all)), "")
	if err != nil || len(r.Failed) > 0 {
		t.Errorf("step %d: %v %+v", at, err, r)
	}
	if all[len(all)-1].Reason == "before write_file" {
		same(t, state(t, dir), before, "command.txt")
	}
}

// Git and all, killed in the middle of whatever it does.
func TestKillAtAnyMoment(t *testing.T) {
	t.Parallel()
	rounds := 8
	if testing.Short() {
		rounds = 4
	}
	for i := range rounds {
		base, dir := crashTree(t)
		before := state(t, dir)
		c := exec.CommandContext(t.Context(), os.Args[0])
		c.Env = append(os.Environ(), "CHECKPOINT_CRASH_BASE="+base, "CHECKPOINT_CRASH_AT=0")
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(time.Duration(3+11*i)*time.Millisecond, func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) })
		err := c.Wait()
		kill.Stop()
		if err != nil && !strings.Contains(err.Error(), "killed") {
			t.Fatal(err)
		}
		s := crashStore(base)
		if _, err := s.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := state(t, dir)
		if got["a.txt"] == "-rw-r--r-- a" && got["made1.txt"] == "" && got["command.txt"] != "" {
			same(t, got, before, "command.txt")
		}
		s.Before(t.Context(), "next", "before the next", dir)
		if _, all, err := s.List(t.Context(), dir); err != nil || len(all) == 0 {
			t.Errorf("after %d: %v %+v", i, err, all)
		}
		if out, err := s.fsck(t, dir); err != nil {
			t.Errorf("after %d: %v\n%s", i, err, out)
		}
		_ = s.Close()
	}
}

func (s *Store) fsck(t *testing.T, dir string) ([]byte, error) {
	t.Helper()
	r, err := s.open(t.Context(), dir, false)
	if err != nil {
		return nil, err
	}
	defer r.close()
	return r.run(t.Context(), nil, "fsck", "--no-dangling")
}
