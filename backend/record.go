package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Record is what is written down of a job, a file for each, so that a program
// that died leaves nothing that its next run does not know of.
type Record struct {
	Session string    `json:"session_id"`
	Task    string    `json:"task_id,omitempty"`
	Command string    `json:"command"`
	Cwd     string    `json:"cwd,omitempty"`
	ID      ProcessID `json:"process"`
	Owner   ProcessID `json:"owner"`
	Started time.Time `json:"started_at"`
	Keep    bool      `json:"keep,omitempty"`
	Adopted bool      `json:"adopted,omitempty"`
	Log     string    `json:"log,omitempty"`
}

func (j *Jobs) file(session string) string { return filepath.Join(j.dir, session+".json") }

// logFile is where a job that outlives the program writes.
func (j *Jobs) logFile(session string) string {
	if j.dir == "" || os.MkdirAll(j.dir, 0o700) != nil {
		return ""
	}
	return filepath.Join(j.dir, session+".log")
}

// write puts a record in its place in one step: it is there whole, or not.
func (j *Jobs) write(r Record) error {
	if j.dir == "" {
		return nil
	}
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		return err
	}
	tmp := j.file(r.Session) + ".tmp"
	if err := os.WriteFile(tmp, append(b, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, j.file(r.Session))
}

// forget removes a record. One that stays names a process that has ended, and
// is removed when it is read.
func (j *Jobs) forget(session string) {
	if j.dir == "" {
		return
	}
	if err := os.Remove(j.file(session)); err != nil && !errors.Is(err, fs.ErrNotExist) && j.log != nil {
		j.log.Warn("record of a background process not removed", "session", session, "err", err)
	}
}

// Left lists the jobs of earlier runs that still run: those that were kept on
// purpose, and those of a program that died. Records of what has ended are
// removed. A process counts as the same by its number and its start time.
func (j *Jobs) Left() ([]Record, error) {
	if j.dir == "" {
		return nil, nil
	}
	list, err := os.ReadDir(j.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var left []Record
	for _, d := range list {
		name := filepath.Join(j.dir, d.Name())
		if strings.HasSuffix(name, ".tmp") {
			if info, err := d.Info(); err == nil && time.Since(info.ModTime()) > time.Minute {
				_ = os.Remove(name) // of a program that died while writing
			}
			continue
		}
		if !strings.HasSuffix(name, ".json") {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			continue // its owner has just removed it
		}
		var r Record
		if json.Unmarshal(b, &r) != nil || r.Session == "" {
			continue // not ours
		}
		if k, ok := Lookup(r.ID.Kind); !ok || k.Alive == nil || !k.Alive(r.ID) {
			_ = os.Remove(name) // as above
			if r.Log != "" && time.Since(r.Started) > 7*24*time.Hour {
				_ = os.Remove(r.Log)
			}
			continue
		}
		if j.mine(r.Session) || !r.Keep && ownerLives(r.Owner) {
			continue
		}
		left = append(left, r)
	}
	return left, nil
}

func (j *Jobs) mine(session string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	_, ok := j.jobs[session]
	return ok
}

func ownerLives(id ProcessID) bool {
	k, ok := Lookup(id.Kind)
	return ok && k.Alive != nil && k.Alive(id)
}

// FindLeft returns one of Left.
func (j *Jobs) FindLeft(session string) (Record, error) {
	left, err := j.Left()
	if err != nil {
		return Record{}, err
	}
	for _, r := range left {
		if r.Session == session {
			return r, nil
		}
	}
	return Record{}, fmt.Errorf("%s: %w", session, ErrNoJob)
}

// EndLeft ends one of Left.
func (j *Jobs) EndLeft(ctx context.Context, session string) error {
	r, err := j.FindLeft(session)
	if err != nil {
		return err
	}
	k, ok := Lookup(r.ID.Kind)
	if !ok || k.End == nil {
		return fmt.Errorf("%s: processes of %s cannot be ended from here", session, r.ID.Kind)
	}
	if err := k.End(ctx, r.ID); err != nil {
		return err
	}
	j.forget(session)
	return nil
}

// LogOf is the output of one of Left, if it was kept.
func (j *Jobs) LogOf(r Record) string {
	if r.Log == "" {
		return ""
	}
	return j.mask(readLog(r.Log))
}

// self names this program, if a kind can tell.
func self() ProcessID {
	for _, k := range All() {
		if k.Self != nil {
			return k.Self()
		}
	}
	return ProcessID{}
}
