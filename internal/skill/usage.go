package skill

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/hermes-go/hermes/internal/flock"
)

// Usage is what is recorded of a skill: how often it helped, who made it.
type Usage struct {
	CreatedBy  Author    `json:"created_by"` // "" when that is not known
	CreatedAt  time.Time `json:"created_at"`
	Uses       int       `json:"use_count"` // times it was loaded
	LastUsed   time.Time `json:"last_used_at"`
	Changes    int       `json:"patch_count"`
	LastChange time.Time `json:"last_patched_at"`
	State      string    `json:"state"` // active, stale, archived
	Pinned     bool      `json:"pinned"`
}

// The states of a skill's use.
const (
	Active   = "active"
	Stale    = "stale"
	Archived = "archived"
)

// Last is when the skill was last of use to anybody.
func (u Usage) Last() time.Time {
	last := u.CreatedAt
	for _, t := range []time.Time{u.LastUsed, u.LastChange} {
		if t.After(last) {
			last = t
		}
	}
	return last
}

const usageName = ".usage.json"

// entries are the record as it stands in the file, the original's format: what
// is not understood is kept.
type entries map[string]map[string]any

func (l *Library) readUsage() (entries, error) {
	data, err := os.ReadFile(filepath.Join(l.Dir(), usageName))
	if errors.Is(err, fs.ErrNotExist) {
		return entries{}, nil
	}
	if err != nil {
		return nil, err
	}
	all := entries{}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	return all, nil
}

// Usages is the record of all skills, by name. It is read again only when the
// file has changed. One that cannot be read says nothing.
func (l *Library) Usages() map[string]Usage {
	info, err := os.Stat(filepath.Join(l.Dir(), usageName))
	if err != nil {
		return nil
	}
	l.usageMu.Lock()
	defer l.usageMu.Unlock()
	if l.usage != nil && l.usageSize == info.Size() && l.usageMod.Equal(info.ModTime()) {
		return l.usage
	}
	all, err := l.readUsage()
	if err != nil {
		return nil
	}
	out := make(map[string]Usage, len(all))
	for name, e := range all {
		out[name] = usageOf(e)
	}
	l.usage, l.usageSize, l.usageMod = out, info.Size(), info.ModTime()
	return out
}

type entry = map[string]any

func usageOf(e entry) Usage {
	u := Usage{State: Active}
	text := func(key string) string { s, _ := e[key].(string); return s }
	number := func(key string) int { n, _ := e[key].(float64); return int(n) }
	at := func(key string) time.Time {
		t, err := time.Parse(time.RFC3339Nano, text(key))
		if err != nil {
			return time.Time{}
		}
		return t
	}
	u.CreatedBy, u.CreatedAt = Author(text("created_by")), at("created_at")
	u.Uses, u.LastUsed, u.Changes, u.LastChange = number("use_count"), at("last_used_at"), number("patch_count"), at("last_patched_at")
	if old, _ := e["agent_created"].(bool); old && u.CreatedBy == "" {
		u.CreatedBy = ByAgent
	}
	if s := text("state"); s != "" {
		u.State = s
	}
	u.Pinned, _ = e["pinned"].(bool)
	return u
}

// Usage is the record of one skill.
func (l *Library) Usage(s *Skill) Usage {
	all := l.Usages()
	if u, ok := all[s.Name]; ok {
		return u
	}
	if u, ok := all[s.DirName()]; ok {
		return u
	}
	return Usage{State: Active}
}

// noteUsage changes the record under a lock of its own. A record that is
// damaged is put aside first.
func (l *Library) noteUsage(change func(all entries, now string)) error {
	if err := os.MkdirAll(l.Dir(), 0o755); err != nil {
		return err
	}
	lock, err := flock.Acquire(context.Background(), filepath.Join(l.Dir(), ".usage.lock"))
	if err != nil {
		return err
	}
	defer lock.Release()
	path := filepath.Join(l.Dir(), usageName)
	all, err := l.readUsage()
	if err != nil {
		if err := os.Rename(path, path+".corrupt"); err != nil {
			return err
		}
		all = entries{}
	}
	change(all, l.Now().UTC().Format(time.RFC3339Nano))
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	// A count is not worth waiting for the disk.
	tmp, err := os.CreateTemp(l.Dir(), usageName+".tmp.*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone once renamed
	_, err = tmp.Write(append(data, '\n'))
	if err = errors.Join(err, tmp.Chmod(0o644), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

func (all entries) of(name, now string) entry {
	e := all[name]
	if e == nil {
		e = entry{"created_by": nil, "use_count": 0, "view_count": 0, "patch_count": 0, "created_at": now, "state": Active, "pinned": false}
		all[name] = e
	}
	return e
}

func add(e entry, key string) {
	switch n := e[key].(type) {
	case float64:
		e[key] = n + 1
	case int:
		e[key] = n + 1
	default:
		e[key] = 1
	}
}

// Used records that a skill was loaded, once for each load however it came
// about. Looking at one of its files is no use of it.
func (l *Library) Used(s *Skill) {
	l.note(l.noteUsage(func(all entries, now string) {
		e := all.of(s.Name, now)
		add(e, "use_count")
		e["last_used_at"] = now
		if e["state"] == Stale {
			e["state"] = Active
		}
	}))
}

func (l *Library) created(name string, by Author) error {
	return l.noteUsage(func(all entries, now string) {
		delete(all, name) // one of the name that is gone
		all.of(name, now)["created_by"] = string(by)
	})
}

func (l *Library) changed(s *Skill) error {
	return l.noteUsage(func(all entries, now string) {
		e := all.of(s.Name, now)
		add(e, "patch_count")
		e["last_patched_at"] = now
	})
}

// Pin protects a skill from deletion and from the curator, or ends that.
func (l *Library) Pin(s *Skill, on bool) error {
	return l.noteUsage(func(all entries, now string) { all.of(s.Name, now)["pinned"] = on })
}

// SetState records what became of a skill.
func (l *Library) SetState(name, state string) error {
	return l.noteUsage(func(all entries, now string) {
		e := all.of(name, now)
		e["state"] = state
		delete(e, "archived_at")
		if state == Archived {
			e["archived_at"] = now
		}
	})
}

// archivedFrom remembers where a skill was, for when it comes back.
func (l *Library) archivedFrom(s *Skill, in string) error {
	from := s.Rel
	if s.Root.Source != Home {
		from = s.Dir
	}
	return l.noteUsage(func(all entries, now string) {
		e := all.of(s.Name, now)
		e["state"], e["archived_at"], e["archived_from"], e["archived_in"] = Archived, now, from, in
	})
}

// archivedAt is the directory of a skill in the archive, and where it was.
func (l *Library) archivedAt(name string) (in, from string) {
	all, err := l.readUsage()
	if err != nil {
		return name, name
	}
	for n, e := range all {
		in, _ := e["archived_in"].(string)
		from, _ := e["archived_from"].(string)
		if in != "" && from != "" && e["state"] == Archived && (n == name || in == name) {
			return in, from
		}
	}
	return name, name
}

// TouchedByPerson says whether somebody beside the agent has written at a
// skill: through the program, or with an editor.
func (l *Library) TouchedByPerson(s *Skill) (bool, error) {
	all, err := l.History(s.DirName())
	if err != nil || len(all) == 0 {
		return true, err // nobody saw the agent write it
	}
	for _, v := range all {
		if v.By == ByUser {
			return true, nil
		}
	}
	now, err := treeFiles(s.Dir)
	return err != nil || !maps.Equal(now, all[len(all)-1].Files), err
}
