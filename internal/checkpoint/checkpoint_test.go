package checkpoint

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// a tree and the checkpoints of a home.
type bench struct {
	*Store
	t    testing.TB
	dir  string
	said []string
}

func newBench(t testing.TB, more ...func(*Options)) *bench {
	t.Helper()
	base := t.TempDir()
	if r, err := filepath.EvalSymlinks(base); err == nil {
		base = r
	}
	b := &bench{t: t, dir: filepath.Join(base, "project")}
	o := Options{
		Dir: filepath.Join(base, "home", ".hermes", "checkpoints"), Private: filepath.Join(base, "home", ".hermes"), Home: filepath.Join(base, "home"),
		Environ: os.Environ(), Say: func(s string) { b.said = append(b.said, s) }, Interval: time.Hour,
	}
	for _, f := range more {
		f(&o)
	}
	b.Store = New(o)
	t.Cleanup(func() { _ = b.Close() })
	for _, d := range []string{b.dir, o.Private} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	b.write("go.mod", "module x\n")
	return b
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

func (b *bench) write(name, text string) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(b.path(name)), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(b.path(name), []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// agent writes a file as the file tools do.
func (b *bench) agent(name, text string) {
	b.t.Helper()
	b.Before(b.t.Context(), "task", "before write_file", b.path(name))
	b.write(name, text)
	b.Wrote(b.path(name), []byte(text))
}

func (b *bench) list() []Snapshot {
	b.t.Helper()
	_, all, err := b.List(b.t.Context(), b.dir)
	if err != nil {
		b.t.Fatal(err)
	}
	return all
}

func (b *bench) restore(ref, file string) Report {
	b.t.Helper()
	r, err := b.Restore(b.t.Context(), b.dir, ref, file)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// state is what the tree holds: contents, modes and links by path.
func state(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if d.Type() == fs.ModeSymlink {
			to, err := os.Readlink(path)
			all[filepath.ToSlash(rel)] = "-> " + to
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		all[filepath.ToSlash(rel)] = fmt.Sprintf("%v %s", info.Mode().Perm(), data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func same(t testing.TB, got, want map[string]string, but ...string) {
	t.Helper()
	for name, text := range want {
		if got[name] != text && !slices.Contains(but, name) {
			t.Errorf("%s is %.80q, want %.80q", name, got[name], text)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok && !slices.Contains(but, name) {
			t.Errorf("%s is there, and should not", name)
		}
	}
}

func TestRestoreBringsBackWhatTheAgentChanged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\r\ntwo\n")
	b.write("src/deep/b.go", "package b\n")
	b.write("src/gone.txt", "will go\n")
	b.write("run.sh", "#!/bin/sh\n")
	b.write("secret.txt", "only mine\n")
	b.write(".gitattributes", "* text=auto eol=lf\n*.go filter=x\n")
	b.write(".gitignore", "ignored.txt\n")
	b.write("ignored.txt", "of value all the same\n")
	b.write("weird \"name\"\n.txt", "x")
	for name, mode := range map[string]fs.FileMode{"run.sh": 0o755, "secret.txt": 0o600} {
		if err := os.Chmod(b.path(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a.txt", b.path("link")); err != nil {
		t.Fatal(err)
	}
	before := state(t, b.dir)

	b.Begin("task")
	b.agent("ignored.txt", "spoilt\n")
	b.agent("a.txt", "spoilt\n")
	b.agent("new/by/agent.txt", "made\n")
	b.agent("new/mine.txt", "made\n")
	b.write("new/mine.txt", "and changed by a person\n")
	b.write("new/command.txt", "made by a command\n")
	b.write("src/deep/b.go", "package c\n")
	for _, name := range []string{"src/gone.txt", "secret.txt", "run.sh", "link"} {
		if err := os.Remove(b.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	b.write("link", "no link any more\n")
	all := b.list()
	if len(all) != 1 || all[0].Reason != "before write_file" || all[0].Files == 0 {
		t.Fatalf("%+v", all)
	}
	spoilt := state(t, b.dir)
	r := b.restore("1", "")
	same(t, state(t, b.dir), before, "new/mine.txt", "new/command.txt")
	slices.Sort(r.Left)
	if got := strings.Join(r.Left, " "); got != "new/command.txt new/mine.txt" {
		t.Errorf("left: %s", got)
	}
	if got := strings.Join(r.Removed, " "); got != "new/by/agent.txt" {
		t.Errorf("removed: %s", got)
	}
	if len(r.Failed) > 0 || len(r.Restored) != 7 {
		t.Errorf("%+v", r)
	}
	// And back: nothing of what was there is lost.
	all = b.list()
	if len(all) != 2 || !strings.HasPrefix(all[0].Reason, "before rollback to ") || all[0].Hash != r.Saved {
		t.Fatalf("%+v", all)
	}
	if r = b.restore(all[0].Short, ""); len(r.Failed) > 0 {
		t.Errorf("%+v", r)
	}
	same(t, state(t, b.dir), spoilt)
	if len(b.said) > 0 {
		t.Error(b.said)
	}
}

func TestOnceATurnAndOnlyWhenChanged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for turn := range 3 {
		b.Begin("task")
		for i := range 3 {
			b.agent("a.txt", fmt.Sprintf("%d.%d", turn, i))
		}
	}
	b.Begin("task")
	b.Before(t.Context(), "task", "before terminal: rm -r x", b.dir)
	b.Begin("task")
	b.Before(t.Context(), "task", "nothing has changed", b.dir)
	all := b.list()
	if len(all) != 4 {
		t.Fatalf("%d snapshots: %+v", len(all), all)
	}
	if all[0].Reason != "before terminal: rm -r x" || all[3].Reason != "before write_file" {
		t.Errorf("%+v", all)
	}
	out, err := b.Diff(t.Context(), b.dir, "2", "")
	if err != nil || !strings.Contains(out, "-1.2") || !strings.Contains(out, "+2.2") {
		t.Errorf("%v\n%s", err, out)
	}
	if r := b.restore("3", "a.txt"); len(r.Restored) != 1 || state(t, b.dir)["a.txt"] != "-rw-r--r-- 0.2" {
		t.Errorf("%+v %v", r, state(t, b.dir))
	}
	for _, ref := range []string{"0", "99", "zz", "abc", "HEAD", "--help", "../x"} {
		if _, err := b.Restore(t.Context(), b.dir, ref, ""); err == nil || !strings.Contains(err.Error(), "there is no checkpoint") {
			t.Errorf("%s: %v", ref, err)
		}
	}
	for _, file := range []string{"../x", "/etc/passwd", "."} {
		if _, err := b.Restore(t.Context(), b.dir, "1", file); err == nil || !strings.Contains(err.Error(), "not a file below") {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// Calls that run at once wait for the one that saves.
func TestParallelCallsAreSavedBefore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 8 {
		b.write(fmt.Sprintf("f%d.txt", i), "before")
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() { b.agent(fmt.Sprintf("f%d.txt", i), "after") })
	}
	wg.Wait()
	if r := b.restore("1", ""); len(r.Restored) != 8 {
		t.Errorf("%+v", r)
	}
	for name, text := range state(t, b.dir) {
		if strings.HasPrefix(name, "f") && text != "-rw-r--r-- before" {
			t.Errorf("%s is %q", name, text)
		}
	}
}

// The user's own repository, its index and its configuration are not touched.
func TestOwnRepositoryIsNotTouched(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	git := func(args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=u", "-c", "user.email=u@x"}, args...)...)
		c.Dir = b.dir
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v %s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	b.write("a.txt", "one\n")
	git("add", "a.txt")
	git("commit", "-qm", "first")
	b.write("a.txt", "two\n")
	b.write("b.txt", "untracked\n")
	own := state(t, b.path(".git"))
	b.agent("a.txt", "three\n")
	b.restore("1", "")
	same(t, state(t, b.path(".git")), own)
	if got := git("status", "--short"); got != " M a.txt\n?? b.txt\n?? go.mod\n" {
		t.Errorf("status: %q", got)
	}
}

func TestTree(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("sub/dir/x.txt", "x")
	if got := b.Tree(b.path("sub/dir/new/deep/y.txt")); got != b.dir {
		t.Errorf("the project of a file to come is %q", got)
	}
	for _, dir := range []string{"/", b.Home, b.Private, filepath.Join(b.Private, "skills", "x"), filepath.Dir(b.Home), os.TempDir(), filepath.Join(b.Home, "notes.txt")} {
		if got := b.Tree(dir); got != "" {
			t.Errorf("%s would be saved as %q", dir, got)
		}
	}
	plain := filepath.Join(b.Home, "plain")
	if err := os.MkdirAll(plain, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.Home, "Makefile"), nil, 0o600); err != nil { // a home is no project
		t.Fatal(err)
	}
	if got := b.Tree(filepath.Join(plain, "x")); got != plain {
		t.Errorf("a directory without a project is %q", got)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write(".env", "KEY=value\n")
	b.write("node_modules/x/index.js", "x")
	b.write("big.bin", "")
	if err := os.Truncate(b.path("big.bin"), maxFile+1); err != nil {
		t.Fatal(err)
	}
	b.write("nested/x.txt", "x")
	c := exec.CommandContext(t.Context(), "git", "init", "-q")
	c.Dir = b.path("nested")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	b.agent("a.txt", "x")
	b.agent(".env", "KEY=other\n")
	r := b.restore("1", "")
	if got := strings.Join(r.NotSaved, ", "); got != "big.bin (large), nested (nested)" {
		t.Errorf("not saved: %s", got)
	}
	if got := state(t, b.dir); got[".env"] != "-rw-r--r-- KEY=other\n" || got["node_modules/x/index.js"] == "" {
		t.Errorf("%v", got)
	}
	err := filepath.WalkDir(b.Dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && runtime.GOOS != "windows" && d.IsDir() && path == b.Dir {
			if info, _ := d.Info(); info.Mode().Perm() != 0o700 {
				t.Errorf("%s has mode %v", path, info.Mode())
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWithoutGitTheWorkGoesOn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git = func() (string, error) { return "", ErrNoGit }
	for range 3 {
		b.Begin("task")
		b.agent("a.txt", "x")
	}
	if len(b.said) != 1 || !strings.Contains(b.said[0], "git is not installed") {
		t.Error(b.said)
	}
	if _, err := os.Stat(b.Dir); err == nil {
		t.Error("something was made")
	}
}

func TestPrune(t *testing.T) {
	t.Parallel()
	now := time.Now()
	b := newBench(t, func(o *Options) {
		o.MaxSnapshots, o.AutoPrune, o.DeleteOrphans, o.Retention = 3, true, true, 7*24*time.Hour
		o.Now = func() time.Time { return now }
	})
	for i := range 6 {
		b.Begin("task")
		b.agent("a.txt", fmt.Sprint("version ", i))
	}
	all := b.list()
	if len(all) != 3 {
		t.Fatalf("%d snapshots", len(all))
	}
	if err := b.prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := b.list(); len(got) != 3 || got[2].Hash != all[2].Hash {
		t.Errorf("%+v", got)
	}
	if r := b.restore("3", ""); len(r.Failed) > 0 || state(t, b.dir)["a.txt"] != "-rw-r--r-- version 2" {
		t.Errorf("%+v %v", r, state(t, b.dir))
	}
	dir := b.dirOf(b.dir)
	now = now.Add(8 * 24 * time.Hour) // nothing was saved for longer than it is kept
	if err := b.prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("an old store is still there")
	}
	b.Begin("task")
	b.agent("a.txt", "again")
	if err := os.RemoveAll(b.dir); err != nil {
		t.Fatal(err)
	}
	if err := b.prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the store of a tree that is gone is still there")
	}
	list, err := os.ReadDir(b.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		if strings.HasPrefix(d.Name(), ".new-") {
			t.Errorf("%s is left", d.Name())
		}
	}
}

// A link that a command put where a directory was leads nobody out of the tree.
func TestRestoreFollowsNoLinkOut(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	outside := t.TempDir()
	b.write("conf/x.txt", "inside\n")
	b.write("f", "file\n")
	b.agent("other.txt", "x")
	if err := os.RemoveAll(b.path("conf")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, b.path("conf")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(b.path("f")); err != nil {
		t.Fatal(err)
	}
	b.write("f/mine.txt", "a person's\n")
	r := b.restore("1", "")
	if list, err := os.ReadDir(outside); err != nil || len(list) > 0 {
		t.Errorf("outside: %v %v", list, err)
	}
	if len(r.Failed) != 2 || state(t, b.dir)["f/mine.txt"] == "" {
		t.Errorf("%+v", r)
	}
}
