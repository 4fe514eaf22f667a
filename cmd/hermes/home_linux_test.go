//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const nobody = 65534

// asOrdinaryUser takes root's rights away, which no mode of a file stops. The
// program and the home are made reachable for that user.
func (h *house) asOrdinaryUser() {
	h.Helper()
	for p := h.tmp; len(p) > len(os.TempDir()); p = filepath.Dir(p) {
		if err := os.Chmod(p, 0o755); err != nil {
			h.Fatal(err)
		}
	}
	for p := h.dir; len(p) > len(os.TempDir()); p = filepath.Dir(p) {
		if err := os.Chmod(p, 0o755); err != nil {
			h.Fatal(err)
		}
	}
	if os.Getuid() != 0 {
		return
	}
	program, err := os.ReadFile(h.bin)
	if err != nil {
		h.Fatal(err)
	}
	h.bin = filepath.Join(filepath.Dir(h.dir), "hermes")
	if err := os.WriteFile(h.bin, program, 0o755); err != nil {
		h.Fatal(err)
	}
	for _, name := range []string{h.tmp, h.dir, filepath.Join(h.dir, "config.yaml")} {
		if err := os.Chown(name, nobody, nobody); err != nil {
			h.Fatal(err)
		}
	}
	h.as = func(c *exec.Cmd) {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
}

func (h *house) uid() int {
	if os.Getuid() == 0 {
		return nobody
	}
	return os.Getuid()
}

// full gives the home a small file system of its own, and fills it; only root
// can.
func (h *house) full() (free func(), ok bool) {
	h.Helper()
	if os.Getuid() != 0 || syscall.Mount("tmpfs", h.dir, "tmpfs", 0, "size=4m") != nil {
		return nil, false
	}
	h.Cleanup(func() { _ = syscall.Unmount(h.dir, syscall.MNT_DETACH) })
	h.configure()
	h.ask("long ago") // the other one is below
	filler := filepath.Join(h.dir, "filler")
	f, err := os.Create(filler)
	if err != nil {
		h.Fatal(err)
	}
	for _, size := range []int{4096, 1} {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
	}
	_ = f.Close() // it is full, as it should be
	return func() {
		if err := os.Remove(filler); err != nil {
			h.Error(err)
		}
	}, true
}

// limited lets the program write no file larger than the database is.
func (h *house) limited() (free func(), ok bool) {
	h.Helper()
	plain := h.as
	h.as = func(c *exec.Cmd) {
		plain(c)
		sh, err := exec.LookPath("sh")
		if err != nil {
			h.Fatal(err)
		}
		c.Args = append([]string{"sh", "-c", `ulimit -f "$0"; exec "$@"`, limit(h.db()), c.Path}, c.Args[1:]...)
		c.Path = sh
	}
	return func() { h.as = plain }, true
}

// limit is the size of a file in the blocks that ulimit counts, and a little.
func limit(name string) string {
	st, err := os.Stat(name)
	if err != nil {
		return "64"
	}
	return strings.TrimSpace(fmt.Sprint(st.Size()/512 + 8))
}

// A home that may be read and not written, as somebody who is not root.
func TestReadOnlyHome(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.asOrdinaryUser()
	h.ask("before", "--source", "cli")
	t.Cleanup(func() { // or nobody but root could remove them
		if err := os.Chmod(h.tmp, 0o777); err != nil {
			t.Error(err)
		}
		h.mode(0o777, 0o666)
	})
	h.mode(0o555, 0o444)
	stderr := h.ask("one")
	if !strings.Contains(stderr, "cannot be written") || !strings.Contains(stderr, "messages are kept in "+h.tmp) {
		t.Errorf("said %q", stderr)
	}
	k := h.talk("--continue")
	k.say("two")
	k.say("three")
	if stderr := k.leave(); strings.Count(stderr, "messages are kept in") != 1 {
		t.Errorf("said %q", stderr)
	}
	if out, _ := h.ok("sessions", "search", "before", "--json"); !strings.Contains(out, "session_id") {
		t.Errorf("found %s", out)
	}
	for _, args := range [][]string{{"rename", "before", "x"}, {"delete", "-y", "before"}, {"undo", "before"}, {"prune", "-y", "--older-than", "0"}, {"branch", "before"}} {
		out, stderr, code := h.run(append([]string{"sessions"}, args...)...)
		if code != 1 || !strings.Contains(stderr, "cannot be written") || out != "" {
			t.Errorf("%v: exit %d, %q, %q", args, code, out, stderr)
		}
	}
	h.ok("backup", "-o", filepath.Join(h.tmp, "x.zip"))

	h.mode(0o777, 0o666)
	h.stored("before", "two", "three")
	h.stored("one")
	if left, _ := filepath.Glob(filepath.Join(h.tmp, "hermes-kept-*", "*")); len(left) > 0 {
		t.Errorf("left in the spare folder: %v", left)
	}

	// And with no place at all: the chat goes on and says so.
	h.mode(0o555, 0o444)
	if err := errors.Join(os.RemoveAll(filepath.Join(h.tmp, fmt.Sprintf("hermes-kept-%d", h.uid()))), os.Chmod(h.tmp, 0o555)); err != nil {
		t.Fatal(err)
	}
	if stderr := h.ask("for nobody"); !strings.Contains(stderr, "kept nowhere and ends with the program") {
		t.Errorf("said %q", stderr)
	}
}

// mode sets the modes of everything in the home.
func (h *house) mode(dirs, files os.FileMode) {
	h.Helper()
	err := filepath.WalkDir(h.dir, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(name, dirs|0o100) // so that the walk goes on
		}
		return os.Chmod(name, files)
	})
	if err != nil {
		h.Fatal(err)
	}
}

// A disk that fills up, as far as this user can have one, and a limit on the
// size of files, under a conversation that goes on.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for name, fill := range map[string]func(*house) (func(), bool){"disk": (*house).full, "limit": (*house).limited} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.ask("long ago")
			h.settle()
			free, ok := fill(h)
			if !ok {
				t.Log("no file system can be mounted here; the limit stands for it")
				return
			}
			k := h.talk()
			long := strings.Repeat("a text that fills pages, ", map[string]int{"disk": 300, "limit": 5}[name]) + "the end"
			var said []string
			for i := range 6 {
				said = append(said, fmt.Sprint(i, " ", long))
				k.say(said[i])
			}
			stderr := k.leave()
			if !strings.Contains(stderr, "messages are kept in") {
				t.Errorf("said %q", stderr)
			}
			stderr = h.ask("by itself " + long)
			if !strings.Contains(stderr, "messages are kept in") && name == "disk" {
				t.Errorf("said %q", stderr)
			}
			free()
			h.stored(said...)
			h.stored("by itself " + long)
			h.stored("long ago")
			h.clean("with space again", h.ask("afterwards"))
			if left, _ := filepath.Glob(filepath.Join(h.tmp, "hermes-kept-*", "*")); len(left) > 0 {
				t.Errorf("left in the spare folder: %v", left)
			}
			h.ok("sessions", "repair", "--check")
		})
	}
}
