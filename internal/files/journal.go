package files

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/hermes-go/hermes/backend"
)

// A journal is what a process writes down before it changes several files:
// enough to put them back when it dies on the way. It lies in the program's
// directory, readable for its owner only, and is gone when the change is done.
type journal struct {
	path string

	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Process string    `json:"process"` // tells processes apart that had the same PID
	Began   time.Time `json:"began"`
	Files   []undo    `json:"files"`
}

// undo is one file as it was, and a hash of what it was to become.
type undo struct {
	Path    string      `json:"path"`
	To      string      `json:"to,omitempty"`
	Existed bool        `json:"existed"`
	Old     []byte      `json:"old"`
	Mode    fs.FileMode `json:"mode,omitempty"`
	New     string      `json:"new"` // "": removed
}

const (
	journalDir = "patches"
	// stuckAge is when a journal counts as left behind although a process of
	// its number runs: no patch takes that long.
	stuckAge = 10 * time.Minute
)

// instance is made when first needed; it differs in every process.
var instance = sync.OnceValue(rand.Text)

func undoOf(s Step) undo {
	u := undo{Path: s.Was.Real, Existed: s.Was.Exists, Old: s.Was.Data, Mode: perm(s.Was.Info)}
	if s.To != nil {
		u.To = s.To.Real
	}
	switch {
	case s.Remove:
	case s.Data != nil:
		u.New = digest(s.Data)
	default:
		u.New = digest(s.Was.Data)
	}
	return u
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// note writes the journal of steps that are about to be taken.
func (v *View) note(ctx context.Context, steps []Step) (*journal, error) {
	dir := v.journals(ctx)
	if dir == "" {
		return nil, errors.New("there is no place for the note from which a change of several files could be taken back: change one file a call")
	}
	host, _ := os.Hostname() // only a hint
	j := &journal{Host: host, PID: os.Getpid(), Process: instance(), Began: time.Now()}
	j.path = v.join(dir, fmt.Sprintf("%d-%s.json", j.Began.UnixNano(), rand.Text()[:8]))
	for _, s := range steps {
		j.Files = append(j.Files, undoOf(s))
	}
	data, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	if err := v.FS.Mkdir(ctx, dir); err != nil {
		return nil, fmt.Errorf("make directory %s: %w", dir, bare(err))
	}
	if err := v.FS.WriteFile(ctx, j.path, data, backend.WriteOptions{Mode: 0o600, New: true}); err != nil {
		return nil, fmt.Errorf("write %s: %w", j.path, bare(err))
	}
	return j, nil
}

// drop forgets a journal whose files are in order.
func (j *journal) drop(ctx context.Context, v *View) {
	if j != nil {
		// One that stays is found to be finished by the next process.
		_ = v.FS.Remove(ctx, j.path)
	}
}

// journals is the directory they lie in: in the program's own where the
// environment has it, else in its home.
func (v *View) journals(ctx context.Context) string {
	for _, home := range v.homes {
		if info, err := v.FS.Stat(ctx, home); err == nil && info.IsDir() {
			return v.join(home, journalDir)
		}
	}
	if v.home == "" {
		return ""
	}
	return v.join(v.home, ".hermes", journalDir)
}

// sweep puts back what dead processes left half done, and says so. It looks
// once for an app.
func (v *View) sweep(ctx context.Context) []string {
	v.shared.mu.Lock()
	done := v.shared.swept
	v.shared.swept = true
	v.shared.mu.Unlock()
	if done {
		return nil
	}
	dir := v.journals(ctx)
	entries, err := v.FS.ReadDir(ctx, dir)
	if err != nil {
		return nil // none: the usual case
	}
	var notes []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if note := v.settle(ctx, v.join(dir, e.Name())); note != "" {
			notes = append(notes, note)
		}
	}
	return notes
}

// settle deals with one journal.
func (v *View) settle(ctx context.Context, name string) string {
	data, err := v.bytesOf(ctx, name)
	if err != nil {
		return "" // another process was faster
	}
	j := &journal{path: name}
	if json.Unmarshal(data, j) != nil {
		return fmt.Sprintf("the note %s of an interrupted patch cannot be read", name)
	}
	if j.alive() {
		return ""
	}
	var paths []string
	for _, u := range j.Files {
		paths = append(paths, u.Path)
		if u.To != "" {
			paths = append(paths, u.To)
		}
	}
	unlock, err := v.Lock(ctx, paths...)
	if err != nil {
		return ""
	}
	defer unlock()

	old, fresh, foreign := 0, []undo(nil), []string(nil)
	for _, u := range j.Files {
		switch v.standing(ctx, u) {
		case isOld:
			old++
		case isNew:
			fresh = append(fresh, u)
		case isHalf:
			old++
			fresh = append(fresh, u)
		case isOther:
			foreign = append(foreign, u.Path)
		}
	}
	when := j.Began.Format("2006-01-02 15:04:05")
	switch {
	case len(foreign) > 0:
		kept := strings.TrimSuffix(name, ".json") + ".kept"
		if v.FS.Rename(ctx, name, kept) != nil {
			kept = name
		}
		return fmt.Sprintf("a patch of %d files was cut off at %s, and %s changed since: nothing was put back; the former contents are in %s", len(j.Files), when, strings.Join(foreign, ", "), kept)
	case old == 0 || len(fresh) == 0:
		j.drop(ctx, v)
		return "" // all of it or nothing of it had been done
	}
	var lost, back []string
	for i := len(fresh) - 1; i >= 0; i-- {
		if err := v.undo(ctx, fresh[i]); err != nil {
			lost = append(lost, fmt.Sprintf("%s (%v)", fresh[i].Path, bare(err)))
			continue
		}
		back = append(back, fresh[i].Path)
	}
	if len(lost) > 0 {
		return fmt.Sprintf("a patch of %d files was cut off at %s and could not be taken back in %s; the former contents are in %s", len(j.Files), when, strings.Join(lost, ", "), name)
	}
	j.drop(ctx, v)
	return fmt.Sprintf("a patch of %d files was cut off at %s, before it was done: %s put back to the state before it", len(j.Files), when, strings.Join(back, ", "))
}

func (j *journal) alive() bool {
	if time.Since(j.Began) > stuckAge {
		return false
	}
	if j.PID == os.Getpid() {
		return j.Process == instance()
	}
	host, _ := os.Hostname()
	return host != j.Host || processRuns(j.PID)
}

// standing is how far a file of a journal has come.
type standing int

const (
	isOld standing = iota
	isNew
	isHalf // moved, but not changed yet
	isOther
)

func (v *View) standing(ctx context.Context, u undo) standing {
	at := func(name string) (sum string, is bool) {
		data, err := v.bytesOf(ctx, name)
		if err != nil {
			return "", !errors.Is(err, fs.ErrNotExist)
		}
		return digest(data), true
	}
	was := digest(u.Old)
	sum, here := at(u.Path)
	if u.To != "" {
		moved, there := at(u.To)
		switch {
		case here && !there && sum == was:
			return isOld
		case !here && there && moved == u.New:
			return isNew
		case !here && there && moved == was:
			return isHalf
		}
		return isOther
	}
	switch {
	case here == u.Existed && (!here || sum == was):
		return isOld
	case here == (u.New != "") && sum == u.New:
		return isNew
	}
	return isOther
}
