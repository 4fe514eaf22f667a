package worktree

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

type bench struct {
	t    *testing.T
	root string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t, root}
	b.git(root, "init", "-q", "-b", "main")
	b.write("a.txt", "one\n")
	b.write(".gitignore", "secrets.txt\n")
	b.git(root, "add", "-A")
	b.git(root, "commit", "-qm", "first")
	return b
}

func (b *bench) git(dir string, args ...string) string {
	b.t.Helper()
	c := exec.CommandContext(b.t.Context(), "git", append([]string{"-c", "user.name=u", "-c", "user.email=u@x", "-c", "commit.gpgSign=false"}, args...)...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func (b *bench) write(name, text string) {
	b.t.Helper()
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(b.root, name)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) create() *Tree {
	b.t.Helper()
	t, err := Create(b.t.Context(), b.root, os.Environ())
	if err != nil {
		b.t.Fatal(err)
	}
	return t
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestAWorktreeWithoutWorkGoes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("secrets.txt", "mine\n")
	b.write("local.txt", "untracked\n")
	b.write("deps/x.js", "x\n")
	b.write(".worktreeinclude", "# comment\nsecrets.txt\nlocal.txt\ndeps/\n../outside\n/etc/passwd\nlink\nmissing\n")
	if err := os.Symlink(os.TempDir(), filepath.Join(b.root, "link")); err != nil {
		t.Fatal(err)
	}
	before := b.git(b.root, "status", "--porcelain")
	w := b.create()
	if !strings.HasPrefix(w.Dir, filepath.Join(b.root, ".worktrees", "hermes-")) || !strings.HasPrefix(w.Branch, "hermes/hermes-") {
		t.Errorf("%s %s", w.Dir, w.Branch)
	}
	if text, err := os.ReadFile(filepath.Join(w.Dir, "secrets.txt")); err != nil || string(text) != "mine\n" {
		t.Errorf("%q %v", text, err)
	}
	if to, err := os.Readlink(filepath.Join(w.Dir, "deps")); err != nil || to != filepath.Join(b.root, "deps") {
		t.Errorf("%s %v", to, err)
	}
	notes := strings.Join(w.Notes, "\n")
	for _, want := range []string{"../outside was left out: it lies outside", "/etc/passwd was left out", "link was left out: it leads out", "missing was left out"} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q is not in %s", want, notes)
		}
	}
	if got := b.git(b.root, "status", "--porcelain"); got != before {
		t.Errorf("the main checkout is touched: %q, was %q", got, before)
	}
	kept, err := w.Leave(t.Context())
	if kept != "" || err != nil || there(w.Dir) {
		t.Errorf("%q %v", kept, err)
	}
	if got := b.git(b.root, "branch", "--list", "hermes/*"); got != "" {
		t.Errorf("branches: %s", got)
	}
	if !there(filepath.Join(b.root, "deps", "x.js")) {
		t.Error("what was linked is gone")
	}
}

// Nothing that is only here is ever discarded.
func TestWorkIsNeverDiscarded(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		do   func(b *bench, w *Tree)
		want string // "": it goes
	}{
		"changed file":  {func(b *bench, w *Tree) { b.write(filepath.Join(w.Dir, "a.txt"), "two\n") }, "1 uncommitted"},
		"staged":        {func(b *bench, w *Tree) { b.write(filepath.Join(w.Dir, "a.txt"), "two\n"); b.git(w.Dir, "add", "a.txt") }, "1 uncommitted"},
		"untracked":     {func(b *bench, w *Tree) { b.write(filepath.Join(w.Dir, "new", "b.txt"), "two\n") }, "1 uncommitted"},
		"deleted":       {func(_ *bench, w *Tree) { _ = os.Remove(filepath.Join(w.Dir, "a.txt")) }, "1 uncommitted"},
		"commit":        {func(b *bench, w *Tree) { b.commit(w.Dir) }, "1 commits"},
		"other branch":  {func(b *bench, w *Tree) { b.git(w.Dir, "checkout", "-q", "--detach"); b.commit(w.Dir) }, "1 commits"},
		"merge":         {func(b *bench, w *Tree) { b.unfinishedMerge(w) }, "unfinished merge"},
		"merged commit": {func(b *bench, w *Tree) { b.commit(w.Dir); b.git(b.root, "merge", "-q", "--ff-only", w.Branch) }, ""},
		"pushed commit": {func(b *bench, w *Tree) { b.commit(w.Dir); b.push(w) }, ""},
		"branch removed": {func(b *bench, w *Tree) {
			b.git(w.Dir, "checkout", "-q", "--detach")
			b.git(b.root, "branch", "-D", w.Branch)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			w := b.create()
			tc.do(b, w)
			kept, err := w.Leave(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if tc.want == "" && (kept != "" || there(w.Dir)) || tc.want != "" && (!strings.Contains(kept, tc.want) || !there(w.Dir)) {
				t.Errorf("%q", kept)
			}
		})
	}
}

func (b *bench) commit(dir string) {
	b.write(filepath.Join(dir, "c.txt"), "work\n")
	b.git(dir, "add", "-A")
	b.git(dir, "commit", "-qm", "work")
}

func (b *bench) push(w *Tree) {
	remote := filepath.Join(b.t.TempDir(), "remote.git")
	b.git(b.root, "init", "-q", "--bare", remote)
	b.git(b.root, "remote", "add", "origin", remote)
	b.git(w.Dir, "push", "-q", "origin", w.Branch)
}

func (b *bench) unfinishedMerge(w *Tree) {
	b.git(b.root, "checkout", "-q", "-b", "side")
	b.commit(b.root)
	b.git(w.Dir, "merge", "-q", "--no-commit", "--no-ff", "side")
}

// At the next start old ones go, unless there is work in them or somebody is.
func TestPruneAtTheNextStart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	idle, busy, work, young := b.create(), b.create(), b.create(), b.create()
	for _, w := range []*Tree{idle, work, young} {
		w.lock.Release() // their processes were killed
	}
	b.write(filepath.Join(work.Dir, "a.txt"), "not committed\n")
	old := time.Now().Add(-100 * time.Hour)
	for _, w := range []*Tree{idle, busy, work} {
		if err := os.Chtimes(w.Dir, old, old); err != nil {
			t.Fatal(err)
		}
	}
	b.write(".worktrees/hermes-notmine/x.txt", "no worktree\n")
	if err := os.Chtimes(filepath.Join(b.root, ".worktrees", "hermes-notmine"), old, old); err != nil {
		t.Fatal(err)
	}
	next := b.create()
	if there(idle.Dir) || !there(busy.Dir) || !there(work.Dir) || !there(young.Dir) || !there(filepath.Join(b.root, ".worktrees", "hermes-notmine", "x.txt")) {
		t.Errorf("idle %v, busy %v, work %v, young %v", there(idle.Dir), there(busy.Dir), there(work.Dir), there(young.Dir))
	}
	if notes := strings.Join(next.Notes, "\n"); !strings.Contains(notes, "older worktrees with work in them are kept") || !strings.Contains(notes, filepath.Base(work.Dir)) {
		t.Error(notes)
	}
}

func TestNoRepository(t *testing.T) {
	t.Parallel()
	if _, err := Create(context.Background(), t.TempDir(), os.Environ()); err == nil || !strings.Contains(err.Error(), "needs a git repository") {
		t.Error(err)
	}
	b := &bench{t, t.TempDir()}
	b.git(b.root, "init", "-q")
	if _, err := Create(t.Context(), b.root, os.Environ()); err == nil || !strings.Contains(err.Error(), "no commit yet") {
		t.Error(err)
	}
}
