// Package worktree gives a conversation a git worktree of its own and takes it
// away again when nothing would be lost. It runs git in the user's repository,
// forces nothing, and knows nothing of conversations.
package worktree

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hermes-go/hermes/internal/flock"
)

const (
	folder   = ".worktrees"
	prefix   = "hermes-"
	branches = "hermes/"
	include  = ".worktreeinclude"
	lockName = "hermes.lock"
	oldAge   = 24 * time.Hour // from which an unused one without work in it is removed
)

// Tree is a worktree in use.
type Tree struct {
	Dir    string
	Branch string
	Notes  []string // what a person should know of its making

	repo repo
	lock *flock.Lock
}

// repo is the user's repository.
type repo struct {
	git     string
	root    string
	environ []string
}

// Create makes a worktree on a new branch from HEAD of the repository that dir
// lies in. environ is the process's.
func Create(ctx context.Context, dir string, environ []string) (*Tree, error) {
	r, err := find(ctx, dir, environ)
	if err != nil {
		return nil, err
	}
	if _, err := r.run(ctx, r.root, "rev-parse", "--verify", "-q", "HEAD^{commit}"); err != nil {
		return nil, fmt.Errorf("the repository at %s has no commit yet, so there is nothing a worktree could begin from; commit first", r.root)
	}
	var id [4]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, err
	}
	name := prefix + hex.EncodeToString(id[:])
	t := &Tree{Dir: filepath.Join(r.root, folder, name), Branch: branches + name, repo: r}
	if err := r.hide(ctx); err != nil {
		return nil, err
	}
	if _, err := r.run(ctx, r.root, "worktree", "add", "-q", "-b", t.Branch, t.Dir, "HEAD"); err != nil {
		return nil, err
	}
	if t.lock, err = r.hold(ctx, t.Dir); err != nil {
		return nil, errors.Join(err, t.remove(ctx))
	}
	t.Notes = append(r.include(t.Dir), r.prune(ctx)...)
	return t, nil
}

func find(ctx context.Context, dir string, environ []string) (repo, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return repo{}, errors.New("a worktree needs git, which is not installed")
	}
	r := repo{git: git, environ: environ}
	out, err := r.run(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return r, fmt.Errorf("a worktree needs a git repository, and %s is in none; go to one, or leave out --worktree", dir)
	}
	if r.root = filepath.FromSlash(out); r.root == "" {
		return r, fmt.Errorf("the repository of %s has no working tree", dir)
	}
	return r, nil
}

// run runs git in a directory and returns what it printed.
func (r repo) run(ctx context.Context, dir string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, r.git, args...)
	c.Dir = dir
	c.Env = append(slices.DeleteFunc(slices.Clone(r.environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		switch name { // of a git that started us
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY":
			return true
		}
		return false
	}), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	var out, complaint bytes.Buffer
	c.Stdout, c.Stderr = &out, &complaint
	if err := c.Run(); err != nil {
		text := strings.TrimSpace(complaint.String())
		if text == "" {
			text = err.Error()
		}
		return "", fmt.Errorf("git %s: %s", args[0], text)
	}
	return strings.TrimRight(out.String(), "\n"), nil
}

// hide keeps the folder out of the repository's status, by a list that is the
// user's alone and no file of the project.
func (r repo) hide(ctx context.Context) error {
	if _, err := r.run(ctx, r.root, "check-ignore", "-q", folder+"/x"); err == nil {
		return nil
	}
	common, err := r.run(ctx, r.root, "rev-parse", "--git-common-dir")
	if err != nil {
		return err
	}
	if !filepath.IsAbs(common) {
		common = filepath.Join(r.root, common)
	}
	path := filepath.Join(common, "info", "exclude")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString("\n" + folder + "/\n")
	return errors.Join(err, f.Close())
}

// hold marks a worktree as in use for as long as this process lives.
func (r repo) hold(ctx context.Context, dir string) (*flock.Lock, error) {
	own, err := r.run(ctx, dir, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return nil, err
	}
	return flock.Try(filepath.Join(own, lockName))
}

// include brings what .worktreeinclude names into the worktree: files are
// copied, directories linked. What leads out of either tree is left out.
func (r repo) include(dir string) (notes []string) {
	b, err := os.ReadFile(filepath.Join(r.root, include))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return []string{err.Error()}
	}
	for line := range strings.Lines(string(b)) {
		name := strings.TrimSpace(line)
		if name == "" || strings.HasPrefix(name, "#") {
			continue
		}
		if err := r.bring(dir, filepath.Clean(filepath.FromSlash(strings.TrimSuffix(name, "/")))); err != nil {
			notes = append(notes, fmt.Sprintf("%s: %s was left out: %v", include, name, err))
		}
	}
	return notes
}

func (r repo) bring(dir, name string) error {
	if !filepath.IsLocal(name) || name == "." {
		return errors.New("it lies outside of the repository")
	}
	from, err := filepath.EvalSymlinks(filepath.Join(r.root, name))
	if err != nil {
		return bare(err)
	}
	root, err := filepath.EvalSymlinks(r.root)
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(root, from); err != nil || !filepath.IsLocal(rel) {
		return errors.New("it leads out of the repository")
	}
	into, err := os.OpenRoot(dir) // no link leads out of it
	if err != nil {
		return err
	}
	defer func() { _ = into.Close() }() // opened for reading
	if _, err := into.Lstat(name); err == nil {
		return nil // it is part of the commit
	}
	if err := into.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return bare(err)
	}
	info, err := os.Stat(from)
	switch {
	case err != nil:
		return bare(err)
	case info.IsDir():
		return bare(os.Symlink(from, filepath.Join(dir, name)))
	case !info.Mode().IsRegular():
		return errors.New("it is neither a file nor a directory")
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return bare(err)
	}
	return into.WriteFile(name, data, info.Mode().Perm())
}

func bare(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// Leave removes the worktree and its branch if nothing would be lost, and says
// what became of it otherwise.
func (t *Tree) Leave(ctx context.Context) (kept string, err error) {
	defer t.lock.Release()
	work, err := t.repo.work(ctx, t.Dir, t.Branch)
	if err != nil {
		return "", fmt.Errorf("the worktree %s is kept, because it could not be looked at: %w", t.Dir, err)
	}
	if work != "" {
		return fmt.Sprintf("the worktree %s (branch %s) is kept: %s", t.Dir, t.Branch, work), nil
	}
	if err := t.remove(ctx); err != nil {
		return "", fmt.Errorf("the worktree %s is kept: %w", t.Dir, err)
	}
	return "", nil
}

// work says what would be lost with a worktree; "" for nothing.
func (r repo) work(ctx context.Context, dir, branch string) (string, error) {
	var found []string
	status, err := r.run(ctx, dir, "status", "--porcelain", "--untracked-files=all", "--ignore-submodules=none")
	if err != nil {
		return "", err
	}
	included := r.included(dir)
	n := 0
	for line := range strings.Lines(status) {
		name := strings.TrimSuffix(line, "\n")
		if len(name) < 4 || name[:2] == "??" && included[strings.Trim(name[3:], `"/`)] {
			continue
		}
		n++
	}
	if n > 0 {
		found = append(found, fmt.Sprintf("%d uncommitted changes", n))
	}
	own, err := r.run(ctx, dir, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return "", err
	}
	for _, name := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "BISECT_LOG"} {
		if _, err := os.Stat(filepath.Join(own, name)); err == nil {
			found = append(found, "an unfinished merge, rebase or the like")
			break
		}
	}
	for _, tip := range []string{"HEAD", "refs/heads/" + branch} { // it may be on another branch now
		at, out := dir, ""
		if tip != "HEAD" {
			if out, err = r.run(ctx, at, "for-each-ref", "--format=x", tip); err != nil || out == "" {
				continue // somebody has removed it
			}
		}
		if out, err = r.run(ctx, at, "rev-list", "--count", tip, "--not", "--exclude="+branch, "--branches", "--remotes", "--tags"); err != nil {
			return "", err
		}
		if out != "0" {
			found = append(found, out+" commits that are on no other branch and no remote")
			break
		}
	}
	return strings.Join(found, ", "), nil
}

// included are the untracked files that .worktreeinclude brought and nobody
// changed.
func (r repo) included(dir string) map[string]bool {
	same := map[string]bool{}
	b, err := os.ReadFile(filepath.Join(r.root, include))
	if err != nil {
		return same
	}
	for line := range strings.Lines(string(b)) {
		name := filepath.Clean(filepath.FromSlash(strings.Trim(strings.TrimSpace(line), "/")))
		if !filepath.IsLocal(name) || name == "." {
			continue
		}
		here := filepath.Join(dir, name)
		if to, err := os.Readlink(here); err == nil {
			from, err := filepath.EvalSymlinks(filepath.Join(r.root, name))
			same[filepath.ToSlash(name)] = err == nil && from == to
			continue
		}
		was, err1 := os.ReadFile(filepath.Join(r.root, name))
		is, err2 := os.ReadFile(here)
		if err1 == nil && err2 == nil && bytes.Equal(was, is) {
			same[filepath.ToSlash(name)] = true
		}
	}
	return same
}

// remove takes a worktree away that holds no work. Git looks once more.
func (t *Tree) remove(ctx context.Context) error {
	r := t.repo
	tip, err := r.run(ctx, r.root, "for-each-ref", "--format=%(objectname)", "refs/heads/"+t.Branch)
	if err != nil {
		return err
	}
	for name, same := range r.included(t.Dir) { // git refuses files it does not know
		if !same {
			continue
		}
		if _, err := r.run(ctx, t.Dir, "ls-files", "--error-unmatch", "--", name); err != nil {
			if err := os.Remove(filepath.Join(t.Dir, filepath.FromSlash(name))); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	if _, err := r.run(ctx, r.root, "worktree", "remove", t.Dir); err != nil {
		return err
	}
	if tip == "" {
		return nil
	}
	_, err = r.run(ctx, r.root, "update-ref", "-d", "refs/heads/"+t.Branch, tip) // only if it is still there
	return err
}

// prune removes old worktrees that nobody uses and that hold no work, and
// names the old ones that do.
func (r repo) prune(ctx context.Context) (notes []string) {
	list, err := os.ReadDir(filepath.Join(r.root, folder))
	if err != nil {
		return nil
	}
	var kept []string
	for _, d := range list {
		info, err := d.Info()
		if err != nil || !d.IsDir() || !strings.HasPrefix(d.Name(), prefix) || time.Since(info.ModTime()) < oldAge {
			continue
		}
		t := &Tree{Dir: filepath.Join(r.root, folder, d.Name()), Branch: branches + d.Name(), repo: r}
		if top, err := r.run(ctx, t.Dir, "rev-parse", "--show-toplevel"); err != nil || filepath.Base(top) != d.Name() {
			continue // not a worktree of its own
		}
		if t.lock, err = r.hold(ctx, t.Dir); err != nil {
			continue // somebody works in it
		}
		was, err := t.Leave(ctx)
		if err != nil {
			notes = append(notes, err.Error())
		}
		if was != "" {
			kept = append(kept, d.Name())
		}
	}
	if len(kept) > 0 {
		notes = append(notes, fmt.Sprintf("older worktrees with work in them are kept in %s: %s", filepath.Join(r.root, folder), strings.Join(kept, ", ")))
	}
	return notes
}
