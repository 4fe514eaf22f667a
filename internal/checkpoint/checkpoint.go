// Package checkpoint saves working trees before an agent changes them and
// brings them back: a git store for each tree, kept in the program's home. It
// runs git and nothing else, never touches a repository of the user's, asks
// nobody, and does not decide when a tree is worth saving.
package checkpoint

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hermes-go/hermes/internal/flock"
)

// Options say where things are and how much is kept.
type Options struct {
	Dir     string   // of the stores: <home>/checkpoints
	Private string   // the program's home, never saved
	Home    string   // of the user: never saved as a whole
	Environ []string // of the process; PATH and the like are passed on to git
	Timeout time.Duration

	MaxSnapshots  int           // a tree; 0: 50
	AutoPrune     bool          // by age and by trees that are gone
	Retention     time.Duration // of a store that is not used
	DeleteOrphans bool          // stores of trees that are gone
	Interval      time.Duration // between clean-ups

	Say func(string) // tells a person, once for each cause; nil: nobody
	Now func() time.Time

	step func(string) // tests die here
}

// Limits on what is saved: work goes on without a checkpoint beyond them.
const (
	maxFiles = 50_000
	maxFile  = 50 << 20 // a file; larger ones are left out
	maxTree  = 1 << 30  // what one snapshot adds
	maxStore = 4 << 30  // a store; older snapshots go
)

// Store is all checkpoints of one home. Making one costs nothing.
type Store struct {
	Options

	git func() (string, error)

	mu      sync.Mutex
	turns   map[string]map[string]chan struct{} // by task: trees of this turn; closed once saved
	said    map[string]bool
	skipped map[string]bool // trees that are too large
	trees   map[string]*sync.Mutex
	wg      sync.WaitGroup
	stop    context.CancelFunc // ends cleaning up
	ctx     context.Context
}

// ErrNoGit says that checkpoints cannot be made or read here.
var ErrNoGit = errors.New("git is not installed, so there are no checkpoints")

// New returns the checkpoints of a home.
func New(o Options) *Store {
	if o.MaxSnapshots <= 0 {
		o.MaxSnapshots = 50
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Say == nil {
		o.Say = func(string) {}
	}
	if o.step == nil {
		o.step = func(string) {}
	}
	s := &Store{Options: o, turns: map[string]map[string]chan struct{}{}, said: map[string]bool{}, skipped: map[string]bool{}, trees: map[string]*sync.Mutex{}}
	s.git = sync.OnceValues(findGit)
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// Close ends cleaning up, which goes on another time.
func (s *Store) Close() error {
	s.stop()
	s.wg.Wait()
	return nil
}

// Begin says that a new turn of a task begins: each tree is saved once a turn.
func (s *Store) Begin(task string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.turns, task)
}

// Before saves the trees that hold the named files or directories, once a turn.
// why is shown in the list. What cannot be saved is said once; the work goes on.
func (s *Store) Before(ctx context.Context, task, why string, names ...string) {
	for _, name := range names {
		tree := s.Tree(name)
		if tree == "" {
			continue
		}
		saved, first := s.first(task, tree)
		if !first { // another call may be at it: what it saves must be from before this one
			select {
			case <-saved:
			case <-ctx.Done():
			}
			continue
		}
		var files []string
		for _, n := range names {
			if rel, err := filepath.Rel(tree, n); err == nil && filepath.IsLocal(rel) && rel != "." {
				files = append(files, filepath.ToSlash(rel))
			}
		}
		err := s.save(ctx, tree, why, files)
		close(saved)
		if err != nil && ctx.Err() == nil {
			s.sayOnce(err, tree)
		}
	}
}

// first reports whether nobody has begun to save a tree in this turn, and gives
// what is closed when it is done.
func (s *Store) first(task, tree string) (saved chan struct{}, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if saved = s.turns[task][tree]; saved != nil {
		return saved, false
	}
	saved = make(chan struct{})
	if s.skipped[tree] {
		close(saved)
		return saved, false
	}
	if s.turns[task] == nil {
		s.turns[task] = map[string]chan struct{}{}
	}
	s.turns[task][tree] = saved
	return saved, true
}

func (s *Store) sayOnce(err error, tree string) {
	cause := tree
	if errors.Is(err, ErrNoGit) {
		cause = ""
	}
	s.mu.Lock()
	told := s.said[cause]
	s.said[cause] = true
	if _, large := errors.AsType[*tooLarge](err); large || errors.Is(err, errSlow) {
		s.skipped[tree] = true
	}
	s.mu.Unlock()
	if !told {
		s.Say(fmt.Sprintf("no checkpoint was made: %v; the work goes on without", err))
	}
}

// marks of a project's root.
func marks() []string {
	return []string{".git", "pyproject.toml", "package.json", "Cargo.toml", "go.mod", "Makefile", "pom.xml", ".hg", "Gemfile"}
}

// Tree is the directory that is saved for a file or directory: the root of its
// project, or else the directory it is in; "" when that is never saved.
func (s *Store) Tree(name string) string {
	dir := name
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		dir = filepath.Dir(name)
	}
	for { // the nearest directory that is there
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
	if !s.allowed(dir) {
		return ""
	}
	for d := dir; s.allowed(d); d = filepath.Dir(d) {
		for _, m := range marks() {
			if _, err := os.Lstat(filepath.Join(d, m)); err == nil {
				return d
			}
		}
	}
	return dir
}

// allowed tells directories that may be saved from those that hold far more
// than a project, or secrets of ours.
func (s *Store) allowed(dir string) bool {
	if filepath.Dir(dir) == dir || dir == filepath.Clean(os.TempDir()) {
		return false
	}
	for _, home := range []string{s.Home, real(s.Home)} {
		if home != "" && (dir == home || inside(home, dir)) {
			return false
		}
	}
	for _, p := range []string{s.Private, real(s.Private)} {
		if p != "" && (dir == p || inside(dir, p)) {
			return false
		}
	}
	return true
}

func real(dir string) string {
	if dir == "" {
		return ""
	}
	r, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return dir
	}
	return r
}

// inside reports whether name lies below dir.
func inside(name, dir string) bool {
	rest, ok := strings.CutPrefix(name, strings.TrimSuffix(dir, string(filepath.Separator)))
	return ok && rest != "" && rest[0] == filepath.Separator
}

// A repo is the store of one tree, locked.
type repo struct {
	s    *Store
	tree string
	dir  string
	git  string
	lock *flock.Lock
	free func()
}

func (s *Store) dirOf(tree string) string {
	sum := sha256.Sum256([]byte(tree))
	return filepath.Join(s.Dir, hex.EncodeToString(sum[:8]))
}

// open locks the store of a tree. Without make, a tree that has none is
// errNothing.
func (s *Store) open(ctx context.Context, tree string, create bool) (*repo, error) {
	git, err := s.git()
	if err != nil {
		return nil, err
	}
	r := &repo{s: s, tree: tree, dir: s.dirOf(tree), git: git}
	if !create {
		if _, err := os.Stat(filepath.Join(r.dir, "HEAD")); err != nil {
			return nil, fmt.Errorf("%s: %w", tree, errNothing)
		}
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, err
	}
	s.mu.Lock()
	mu := s.trees[tree]
	if mu == nil {
		mu = &sync.Mutex{}
		s.trees[tree] = mu
	}
	s.mu.Unlock()
	mu.Lock()
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	if r.lock, err = flock.Acquire(ctx, r.dir+".lock"); err != nil {
		mu.Unlock()
		return nil, err
	}
	r.free = mu.Unlock
	if err := r.ready(ctx); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

var errNothing = errors.New("no checkpoint has been made of this directory")

func (r *repo) close() {
	r.lock.Release()
	r.free()
}

// excluded is what is never saved: what can be made again, and what holds
// secrets.
const excluded = `node_modules/
dist/
build/
.next/
.nuxt/
__pycache__/
*.pyc
*.pyo
.venv/
venv/
.tox/
.cache/
.pytest_cache/
.mypy_cache/
.ruff_cache/
coverage/
.coverage
.DS_Store
*.log
.env
.env.*
.git/
.hg/
.worktrees/
`

// verbatim keeps git from converting anything.
const verbatim = "* -text -filter -ident -working-tree-encoding -eol\n"

// ready makes the store if there is none, and removes the locks that a killed
// git left: whoever holds ours is alone here.
func (r *repo) ready(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(r.dir, "HEAD")); errors.Is(err, os.ErrNotExist) {
		return r.create(ctx)
	} else if err != nil {
		return err
	}
	for _, name := range []string{"index.lock", "HEAD.lock", "shallow.lock", "config.lock", "packed-refs.lock", "gc.pid", "gc.pid.lock"} {
		if err := os.Remove(filepath.Join(r.dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	left, err := filepath.Glob(filepath.Join(r.dir, "refs", "heads", "*.lock"))
	if err != nil {
		return err
	}
	for _, name := range left {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return r.rules(r.dir)
}

// create makes the store beside its place and moves it there.
func (r *repo) create(ctx context.Context) error {
	tmp, err := os.MkdirTemp(r.s.Dir, ".new-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }() // gone when all went well
	if _, err := r.runIn(ctx, tmp, nil, "init", "-q", "--template="); err != nil {
		return err
	}
	if err := r.rules(tmp); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tmp, "HERMES_WORKDIR"), []byte(r.tree+"\n"), 0o600); err != nil {
		return err
	}
	if err := os.RemoveAll(r.dir); err != nil { // without a HEAD it is no store
		return err
	}
	return os.Rename(tmp, r.dir)
}

// rules writes what is left out and how; a store of the original has its own
// list already.
func (r *repo) rules(dir string) error {
	exclude := excluded
	if rel, err := filepath.Rel(r.tree, r.s.Private); err == nil && filepath.IsLocal(rel) {
		exclude += "/" + filepath.ToSlash(rel) + "/\n"
	}
	for name, text := range map[string]string{"exclude": exclude, "attributes": verbatim} {
		path := filepath.Join(dir, "info", name)
		if _, err := os.Stat(path); err == nil {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}
