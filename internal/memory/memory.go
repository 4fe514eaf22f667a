// Package memory keeps the two bounded files that an agent writes for itself:
// MEMORY.md (its notes) and USER.md (who the user is). It renders them for the
// system prompt and changes them safely beside other processes. It is not the
// session search and knows nothing of prompts or tools.
package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hermes-go/hermes/internal/flock"
	"github.com/hermes-go/hermes/internal/injection"
)

// Target names one of the files.
type Target string

// The files.
const (
	Notes Target = "memory"
	User  Target = "user"
)

// separator stands between entries in a file: the original's format.
const separator = "\n\u00a7\n"

// Limits are the largest sizes in characters, delimiters included.
type Limits struct{ Notes, User int }

// DefaultLimits are the original's.
var DefaultLimits = Limits{Notes: 2200, User: 1375}

// Store is the pair of files in one directory.
type Store struct {
	dir    string
	limits Limits
	wait   time.Duration     // for another program's write
	off    map[Target]string // files that are not kept, by the setting that says so
}

// New returns the store in dir; nothing is read or made yet.
func New(dir string, l Limits) *Store {
	if l.Notes <= 0 {
		l.Notes = DefaultLimits.Notes
	}
	if l.User <= 0 {
		l.User = DefaultLimits.User
	}
	return &Store{dir: dir, limits: l, wait: patience, off: map[Target]string{}}
}

// Disable has a file neither shown nor changed; why names the setting.
func (s *Store) Disable(t Target, why string) { s.off[t] = why }

// Disabled says why a file is not kept; "" for one that is.
func (s *Store) Disabled(t Target) string { return s.off[t] }

func (s *Store) path(t Target) string {
	if t == User {
		return filepath.Join(s.dir, "USER.md")
	}
	return filepath.Join(s.dir, "MEMORY.md")
}

// Limit is the size that a file may have, in characters.
func (s *Store) Limit(t Target) int {
	if t == User {
		return s.limits.User
	}
	return s.limits.Notes
}

// Entries reads a file's entries; a missing file has none.
func (s *Store) Entries(t Target) ([]string, error) {
	b, err := read(s.path(t))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read memory: %w", err)
	}
	if !utf8.Valid(b) {
		return nil, fmt.Errorf("read memory: %s is not valid UTF-8; save it as UTF-8 and try again", s.path(t))
	}
	return split(string(b)), nil
}

// read refuses what is no regular file: reading a pipe may wait for ever.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file; put one in its place", path)
	}
	return os.ReadFile(path)
}

func split(text string) []string {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	var entries []string
	for e := range strings.SplitSeq(text, separator) {
		if e = strings.TrimSpace(e); e != "" && !slices.Contains(entries, e) {
			entries = append(entries, e)
		}
	}
	return entries
}

func length(entries []string) int {
	return utf8.RuneCountInString(strings.Join(entries, separator))
}

// Errors of a change that was not made.
var (
	ErrEmpty   = errors.New("the content is empty")
	ErrNoMatch = errors.New("no entry holds that text")
)

// LimitError says that a file would become too long.
type LimitError struct {
	Used, Limit int // characters now, and at most
	Would       int // characters afterwards
	Entries     []string
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("this would exceed the limit by %d: %d of %d characters are used, %d are free; shorten, merge or remove entries first",
		e.Would-e.Limit, e.Used, e.Limit, max(0, e.Limit-e.Used))
}

// AmbiguousError says that several entries hold the text.
type AmbiguousError struct{ Matches []string }

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%d entries hold that text; give more of the one you mean", len(e.Matches))
}

// Change is what a write did.
type Change struct {
	Entries []string // all of them afterwards
	Used    int
	Note    string // e.g. that nothing had to be done
}

// Add appends an entry. One that exists already is left as it is.
func (s *Store) Add(t Target, content string) (Change, error) {
	content, err := clean(content)
	if err != nil {
		return Change{}, err
	}
	return s.update(t, func(entries []string) ([]string, string, error) {
		if slices.Contains(entries, content) {
			return entries, "the entry exists already; nothing was written", nil
		}
		return append(entries, content), "", nil
	})
}

// Replace puts content in the place of the one entry that holds old.
func (s *Store) Replace(t Target, old, content string) (Change, error) {
	content, err := clean(content)
	if err != nil {
		return Change{}, err
	}
	return s.update(t, func(entries []string) ([]string, string, error) {
		i, err := find(entries, old)
		if err != nil {
			return nil, "", err
		}
		if j := slices.Index(entries, content); j >= 0 && j != i {
			return slices.Delete(entries, i, i+1), "the new text is an entry already; only the old one was removed", nil
		}
		entries[i] = content
		return entries, "", nil
	})
}

// Remove deletes the one entry that holds old.
func (s *Store) Remove(t Target, old string) (Change, error) {
	return s.update(t, func(entries []string) ([]string, string, error) {
		i, err := find(entries, old)
		if err != nil {
			return nil, "", err
		}
		return slices.Delete(entries, i, i+1), "", nil
	})
}

func clean(content string) (string, error) {
	content = strings.TrimSpace(strings.ReplaceAll(content, "\r\n", "\n"))
	if content == "" {
		return "", ErrEmpty
	}
	if strings.Contains("\n"+content+"\n", separator) {
		return "", errors.New("the content holds a line with only \u00a7, which separates entries; write several entries instead")
	}
	if err := injection.Note(content); err != nil {
		return "", err
	}
	return content, nil
}

func find(entries []string, old string) (int, error) {
	old = strings.TrimSpace(old)
	if old == "" {
		return 0, errors.New("old_text is empty")
	}
	var at []int
	for i, e := range entries {
		if strings.Contains(e, old) {
			at = append(at, i)
		}
	}
	switch len(at) {
	case 0:
		return 0, ErrNoMatch
	case 1:
		return at[0], nil
	}
	amb := &AmbiguousError{}
	for _, i := range at {
		amb.Matches = append(amb.Matches, preview(entries[i]))
	}
	return 0, amb
}

func preview(s string) string {
	const most = 80
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "..."
}

// update re-reads, changes, checks and replaces a file while no other process
// of ours writes it, and reads it again before it says so.
func (s *Store) update(t Target, fn func([]string) (entries []string, note string, err error)) (Change, error) {
	if why := s.off[t]; why != "" {
		return Change{}, fmt.Errorf("this file is not kept: %s", why)
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return Change{}, fmt.Errorf("write memory: %w", err)
	}
	lock, err := s.lock(t)
	if err != nil {
		return Change{}, err
	}
	defer lock.Release()
	entries, err := s.Entries(t)
	if err != nil {
		return Change{}, err
	}
	before := length(entries)
	after, note, err := fn(slices.Clone(entries))
	if err != nil {
		return Change{}, err
	}
	used := length(after)
	if used > s.Limit(t) && used > before { // a file that is too long already may shrink
		return Change{}, &LimitError{before, s.Limit(t), used, entries}
	}
	if slices.Equal(entries, after) {
		return Change{after, used, note}, nil
	}
	if err := replaceFile(s.path(t), []byte(strings.Join(after, separator))); err != nil {
		return Change{}, fmt.Errorf("write memory: %w", err)
	}
	stored, err := s.Entries(t)
	if err != nil {
		return Change{}, err
	}
	if !slices.Equal(stored, after) {
		return Change{}, fmt.Errorf("write memory: %s does not hold what was written; somebody else changed it", s.path(t))
	}
	return Change{stored, used, note}, nil
}

// patience is how long a write waits for another one.
const patience = 10 * time.Second

func (s *Store) lock(t Target) (*flock.Lock, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.wait)
	defer cancel()
	path := s.path(t) + ".lock"
	lock, err := flock.Acquire(ctx, path)
	if errors.Is(err, flock.ErrHeld) || errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("write memory: another program has held %s for %s; nothing was written, try again", path, s.wait)
	}
	if err != nil {
		return nil, fmt.Errorf("write memory: %w", err)
	}
	return lock, nil
}

// replaceFile writes beside the file and renames, through links, keeping the
// mode.
func replaceFile(path string, data []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".memory-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already when all went well
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	keepOwner(path, f.Name())
	return os.Rename(f.Name(), path)
}
