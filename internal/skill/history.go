package skill

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Author is who changed a skill.
type Author string

// The authors. What nobody wrote through the program was a person's editor.
const (
	ByAgent   Author = "agent"
	ByUser    Author = "user"
	ByProgram Author = "program"
)

// Version is one state of a skill. Versions are numbered from 1.
type Version struct {
	Number int              `json:"number"`
	At     time.Time        `json:"at"`
	By     Author           `json:"by"`
	What   string           `json:"what"`
	Dir    string           `json:"dir"`
	Files  map[string]Saved `json:"files"` // empty: the skill was taken away
}

// Saved is a file of a version; its text is kept under its sum.
type Saved struct {
	Sum  string      `json:"sum"`
	Mode fs.FileMode `json:"mode"`
}

// The history of a skill is a list of versions, a line each, and the files
// they hold, each text once. It stands in the home, also for skills that lie
// elsewhere.
func (l *Library) historyLog(name string) string {
	return filepath.Join(l.Dir(), ".history", name+".jsonl")
}

func (l *Library) historyFile(sum string) string {
	return filepath.Join(l.Dir(), ".history", "files", sum[:2], sum)
}

// History is every state a skill was in since it was first changed, the oldest
// first. The name is that of its directory.
func (l *Library) History(name string) ([]Version, error) {
	if err := CheckDirName(name); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(l.historyLog(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Version
	for line := range bytes.Lines(data) {
		var v Version
		if json.Unmarshal(line, &v) != nil {
			continue // cut off when the program ended while it wrote
		}
		v.Number = len(all) + 1
		all = append(all, v)
	}
	return all, nil
}

// last is the newest version of a history; its number is 0 when there is none.
// Only the end of the list is read, for it is asked for with every change.
func (l *Library) last(name string) (Version, error) {
	const tail = 64 << 10
	f, err := os.Open(l.historyLog(name))
	if errors.Is(err, fs.ErrNotExist) {
		return Version{}, nil
	}
	if err != nil {
		return Version{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Version{}, err
	}
	from := max(info.Size()-tail, 0)
	data := make([]byte, info.Size()-from)
	if _, err := f.ReadAt(data, from); err != nil {
		return Version{}, err
	}
	for i, line := range slices.Backward(bytes.Split(bytes.TrimRight(data, "\n"), []byte("\n"))) {
		var v Version
		if (i > 0 || from == 0) && json.Unmarshal(line, &v) == nil && v.Number > 0 {
			return v, nil
		}
	}
	all, err := l.History(name) // a line as long as that
	if len(all) == 0 {
		return Version{}, err
	}
	return all[len(all)-1], err
}

// CheckDirName judges a name that becomes part of a path.
func CheckDirName(name string) error {
	if why := badName(name); why != "" || filepath.Base(name) != name {
		return &NameError{name, orElse(why, "it is a path")}
	}
	return nil
}

// changing runs a change of the skill in dir between two versions: what was
// there before, when nobody has recorded it yet, and what came of it. It is to
// be called under the lock.
func (l *Library) changing(by Author, what, dir string, fn func() error) error {
	name := filepath.Base(dir)
	sweep(dir, l.Now().Add(-time.Hour))
	if err := l.record(ByUser, "as it was found", name, dir, true); err != nil {
		return err
	}
	if err := fn(); err != nil {
		return err
	}
	if by != ByProgram && what != "created" { // seeding is no time to look at skills
		if s, err := l.List().Find(name); err == nil && s.Dir == dir {
			l.note(l.changed(s))
		}
	}
	return l.record(by, what, name, dir, false)
}

// sweep removes half files that a program left when it was killed. What cannot
// be removed is in nobody's way.
func sweep(dir string, before time.Time) {
	half, err := filepath.Glob(filepath.Join(dir, ".*.tmp.*"))
	for _, sub := range Folders {
		more, _ := filepath.Glob(filepath.Join(dir, sub, ".*.tmp.*")) // the pattern is ours
		half = append(half, more...)
	}
	if err != nil {
		return // the directory's name is a pattern
	}
	for _, p := range half {
		if info, err := os.Lstat(p); err == nil && info.Mode().IsRegular() && info.ModTime().Before(before) {
			_ = os.Remove(p)
		}
	}
}

// record adds the present state to the history, unless it is the last one.
// quiet leaves out that a skill is not there.
func (l *Library) record(by Author, what, name, dir string, quiet bool) error {
	now, err := treeFiles(dir)
	if err != nil {
		return err
	}
	if err := CheckDirName(name); err != nil {
		return err
	}
	before, err := l.last(name)
	if err != nil {
		return err
	}
	if before.Number > 0 && maps.Equal(before.Files, now) && before.Dir == dir || quiet && len(now) == 0 {
		return nil
	}
	for rel, f := range now {
		if err := l.keep(filepath.Join(dir, filepath.FromSlash(rel)), f.Sum); err != nil {
			return err
		}
	}
	line, err := json.Marshal(Version{At: l.Now().UTC().Truncate(time.Second), By: by, What: what, Dir: dir, Files: now, Number: before.Number + 1})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(l.historyLog(name)), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(l.historyLog(name), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	// A line that was cut off is ended first.
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		last := []byte{0}
		if _, err := f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}

// keep copies a file to the history, unless its text is there already.
func (l *Library) keep(path, sum string) error {
	to := l.historyFile(sum)
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if sumOf(data) != sum {
		return fmt.Errorf("%s was changed by another program while it was read; try again", path)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(to), ".tmp.*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone once renamed
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), to)
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// treeFiles are the files of a skill; none when it is not there. Links, and
// what belongs to nobody's skill, are left out.
func treeFiles(dir string) (map[string]Saved, error) {
	files := map[string]Saved{}
	base, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return files, nil
	}
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(base, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case p != base && pruned(e.Name()):
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !e.Type().IsRegular():
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(base, p)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(rel)] = Saved{sumOf(data), info.Mode().Perm()}
		return nil
	})
	return files, err
}

// Revert brings a skill back to the state of an earlier version; 0 is the one
// before the last. What is there now stays in the history.
func (l *Library) Revert(by Author, name string, number int) (Version, error) {
	if s, err := l.List().Find(name); err == nil {
		name = filepath.Base(s.Dir)
	}
	var to Version
	err := l.guard(func() error {
		all, err := l.History(name)
		switch {
		case err != nil:
			return err
		case len(all) == 0:
			return fmt.Errorf("skill %s has no history: nothing of it was changed yet", name)
		}
		dir := all[len(all)-1].Dir
		// What was edited since is a state of its own, and the last one.
		if err := l.record(ByUser, "as it was found", name, dir, true); err != nil {
			return err
		}
		if all, err = l.History(name); err != nil {
			return err
		}
		if number == 0 {
			number = len(all) - 1
		}
		if number < 1 || number > len(all) {
			return fmt.Errorf("skill %s has the versions 1 to %d", name, len(all))
		}
		if to = all[number-1]; len(to.Files) == 0 {
			return fmt.Errorf("version %d of skill %s is that it was taken away; choose another: hermes skills history %s", number, name, name)
		}
		texts := map[string][]byte{}
		for rel, f := range to.Files { // all of them, before anything is written
			data, err := os.ReadFile(l.historyFile(f.Sum))
			if err != nil {
				return fmt.Errorf("version %d of skill %s: %w", number, name, err)
			}
			if sumOf(data) != f.Sum {
				return fmt.Errorf("version %d of skill %s is damaged: %s does not hold what it held", number, name, rel)
			}
			texts[rel] = data
		}
		if err := restoreFiles(dir, to.Files, texts); err != nil {
			return err
		}
		return l.record(by, fmt.Sprintf("reverted to version %d", number), name, dir, false)
	})
	return to, err
}

// restoreFiles gives a directory exactly these files.
func restoreFiles(dir string, files map[string]Saved, texts map[string][]byte) error {
	now, err := treeFiles(dir)
	if err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for _, rel := range slices.Sorted(maps.Keys(files)) {
		p := filepath.Join(dir, filepath.FromSlash(rel))
		if now[rel] == files[rel] {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return err
		}
		if err := errors.Join(replaceFile(p, texts[rel]), os.Chmod(p, files[rel].Mode)); err != nil {
			return err
		}
	}
	for rel := range now {
		if _, ok := files[rel]; !ok {
			p := filepath.Join(dir, filepath.FromSlash(rel))
			if err := os.Remove(p); err != nil {
				return err
			}
			removeEmpty(filepath.Dir(p), dir)
		}
	}
	return nil
}
