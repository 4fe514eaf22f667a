package files

import (
	"context"
	"hash/maphash"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hermes-go/hermes/tool"
)

// Print tells one content of a file from another. The sum decides; sizes are
// compared as well because it costs nothing.
type Print struct {
	Size int64
	Sum  uint64
}

var printSeed = maphash.MakeSeed()

// PrintOf is the print of a whole content.
func PrintOf(data []byte) Print {
	return Print{int64(len(data)), maphash.Bytes(printSeed, data)}
}

// NewSum makes the hash with which a content that is read in parts gets the
// same sum as by PrintOf.
func NewSum() *maphash.Hash {
	h := &maphash.Hash{}
	h.SetSeed(printSeed)
	return h
}

// Limits of what is remembered; the oldest goes first.
const (
	maxSeen    = 1000
	maxRegions = 1000
	maxWriters = 4096
)

// State is what one task knows of files.
type State struct {
	mu      sync.Mutex
	seen    *bounded[string, seen]
	regions *bounded[Region, Print]
	hits    map[Region]int // answers "unchanged" since any other tool ran
	last    string         // the call before, if it was one that counts
	repeats int
	lacks   map[string]bool
}

// seen is a file as the task knows it.
type seen struct {
	print    Print
	partial  bool
	encoding string // as the model stated it
}

// Seen lists those of the paths that the session has read or written.
func Seen(s *tool.Session, paths []string) []string {
	st := states.Get(s)
	st.mu.Lock()
	defer st.mu.Unlock()
	var out []string
	for _, p := range paths {
		real := p
		if r, err := filepath.EvalSymlinks(p); err == nil {
			real = r
		}
		if _, ok := st.seen.get(real); ok {
			out = append(out, p)
		}
	}
	return out
}

// Region is a part of a file as a model asks for it.
type Region struct {
	Path          string
	Offset, Limit int
	Encoding      string
}

var states = tool.Local[*State]{New: func(*tool.Session) *State {
	return &State{seen: newBounded[string, seen](maxSeen), regions: newBounded[Region, Print](maxRegions), hits: map[Region]int{}, lacks: map[string]bool{}}
}}

// Forget makes the next read of every region show the content again: what was
// read before is about to leave the conversation.
func Forget(s *tool.Session) {
	st := states.Get(s)
	st.mu.Lock()
	defer st.mu.Unlock()
	st.regions = newBounded[Region, Print](maxRegions)
	clear(st.hits)
}

// Watch is middleware that tells the file tools of calls of any other tool,
// which end a row of repetitions. Without it only file tools count.
func Watch(next tool.Handler) tool.Handler {
	return func(ctx context.Context, c *tool.Call) (any, error) {
		if c.Name != "read_file" && c.Name != "search_files" {
			states.Get(c.Session).Other()
		}
		return next(ctx, c)
	}
}

// Other notes that something else than a read or a search happened.
func (s *State) Other() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.hits)
	s.last, s.repeats = "", 0
}

// Repeat counts how often a call has been made in a row, this one included.
func (s *State) Repeat(tool, call string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !strings.HasPrefix(s.last, tool+"\x00") {
		clear(s.hits) // another tool ran since
	}
	key := tool + "\x00" + call
	if s.last != key {
		s.last, s.repeats = key, 0
	}
	s.repeats++
	return s.repeats
}

// Known counts how often a region has been asked for again while the model
// had its content already: 0 the first time, which also remembers it.
func (s *State) Known(r Region, p Print) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.regions.get(r); ok && old == p {
		s.hits[r]++
		return s.hits[r]
	}
	s.regions.put(r, p)
	delete(s.hits, r)
	return 0
}

// Unknown takes back what Known remembered: the content was not shown.
func (s *State) Unknown(r Region) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.regions.drop(r)
}

// Saw notes that the task has read a file, or a part of it. Parts add nothing
// to a whole that is still the same.
func (s *State) Saw(path string, p Print, partial bool, encoding string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.seen.get(path); ok {
		if old.print == p && !old.partial {
			partial = false
		}
		if encoding == "" {
			encoding = old.encoding
		}
	}
	s.seen.put(path, seen{p, partial, encoding})
}

// Encoding is what the model said a file's encoding is, "" if nothing.
func (s *State) Encoding(path string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, _ := s.seen.get(path)
	return old.encoding
}

// Lack notes that the environment has no program of that name.
func (s *State) Lack(program string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lacks[program] = true
}

// Lacks tells whether a program was looked for in vain.
func (s *State) Lacks(program string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lacks[program]
}

// shared is what the tasks of one app know of each other's writes.
type shared struct {
	mu      sync.Mutex
	writers *bounded[string, writer]
	locks   map[string]*lock
	swept   bool // patches cut off by a dead process were looked for
}

type writer struct {
	task  string
	print Print
	at    time.Time
}

var shareds = tool.Local[*shared]{New: func(*tool.Session) *shared {
	return &shared{writers: newBounded[string, writer](maxWriters), locks: map[string]*lock{}}
}}

// sharedOf finds the state that all tasks share: it lives in the app's task
// table under a name that no task has.
func sharedOf(s *tool.Session) *shared {
	return shareds.Get(&tool.Session{TaskID: "\x00files", Services: s.Services})
}

// Stale says what the model should know before it changes a file: that it is
// not what the model saw, and by whose hand.
func (v *View) Stale(p Path, now Print, whole bool) []string {
	if v.variable("HERMES_DISABLE_FILE_STATE_GUARD") == "1" {
		return nil
	}
	v.State.mu.Lock()
	mine, read := v.State.seen.get(p.Real)
	v.State.mu.Unlock()
	v.shared.mu.Lock()
	by, written := v.shared.writers.get(p.Real)
	v.shared.mu.Unlock()

	sibling := written && by.task != v.task && by.print == now
	switch {
	case sibling && !read:
		return []string{p.Given + " was last written by sibling task " + by.task + ", and this task has not read it: read it before you rely on what you think it holds"}
	case sibling && mine.print != now:
		return []string{p.Given + " was written by sibling task " + by.task + " after you last read it: read it again to see what changed"}
	case read && mine.print != now:
		return []string{p.Given + " has changed since you last read it, by another program or one of your own commands: read it again to see what changed"}
	case whole && read && mine.partial:
		return []string{"only a part of " + p.Given + " had been read; all of it was replaced"}
	case whole && !read:
		return []string{p.Given + " existed and had not been read; all of it was replaced"}
	}
	return nil
}

// Wrote notes that the task has written a file and so knows all of it, or as
// much as before when it changed a part.
func (v *View) Wrote(path string, p Print, whole bool) {
	v.State.mu.Lock()
	old, read := v.State.seen.get(path)
	v.State.seen.put(path, seen{p, !whole && (old.partial || !read), old.encoding})
	v.State.mu.Unlock()
	v.shared.mu.Lock()
	v.shared.writers.put(path, writer{v.task, p, time.Now()})
	v.shared.mu.Unlock()
}

// gone forgets a file that is no longer there.
func (v *View) gone(path string) {
	v.State.mu.Lock()
	v.State.seen.drop(path)
	v.State.mu.Unlock()
	v.shared.mu.Lock()
	v.shared.writers.drop(path)
	v.shared.mu.Unlock()
}

// perm is what a new file in the place of an old one gets.
func perm(info fs.FileInfo) fs.FileMode {
	if info == nil {
		return 0
	}
	return info.Mode().Perm()
}

// Unchanged is how a read is answered whose content the model has already. It
// is a constant because write_file must know it when a model writes it back.
const Unchanged = "File unchanged since it was last read; its content is in an earlier result and was not sent again."
