package skill

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hermes-go/hermes/internal/edit"
	"github.com/hermes-go/hermes/internal/flock"
)

// ErrChanged says that a skill is not what the writer has seen of it.
var ErrChanged = errors.New("the skill was changed since you read it: view it again and edit what it says now")

// guard runs fn while no other writer of this home is at work.
func (l *Library) guard(fn func() error) error {
	l.prepare() // takes the lock as well
	if err := os.MkdirAll(l.Dir(), 0o755); err != nil {
		return err
	}
	lock, err := flock.Acquire(context.Background(), filepath.Join(l.Dir(), ".lock"))
	if err != nil {
		return err
	}
	defer lock.Release()
	return fn()
}

// Create makes a skill in the home.
func (l *Library) Create(by Author, name, category, content string) (*Skill, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	if category = strings.TrimSpace(category); category != "" {
		if err := checkCategory(category); err != nil {
			return nil, err
		}
	}
	content, err := named(content, name)
	if err != nil {
		return nil, err
	}
	var made *Skill
	err = l.guard(func() error {
		for _, s := range l.List().order {
			if filepath.Base(s.Dir) == name || s.Name == name { // F-071: linked ones too
				return fmt.Errorf("a skill called %s exists already at %s: patch that one, or choose another name", name, s.Path)
			}
		}
		dir := filepath.Join(l.Dir(), category, name)
		if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
			return fmt.Errorf("%s exists and is not empty (a category?): choose another name", dir)
		}
		if _, err := os.Stat(filepath.Join(l.Dir(), category, "SKILL.md")); err == nil && category != "" {
			return fmt.Errorf("%s is a skill and no category: choose another category", category)
		}
		err := l.changing(by, "created", dir, func() error {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			return replaceFile(filepath.Join(dir, "SKILL.md"), []byte(content))
		})
		if err != nil {
			return err
		}
		made, err = l.again(dir)
		return err
	})
	if err == nil {
		l.note(l.created(made.Name, by))
	}
	return made, err
}

// named makes a text give itself the name of its directory, where they differ
// only in how they are written.
func named(content, name string) (string, error) {
	own, err := CheckText(content)
	switch {
	case err != nil:
		return "", err
	case own == name:
		return content, nil
	case Slug(own) != Slug(name):
		return "", fmt.Errorf("the front matter says name: %s, but the skill is called %s: make them the same", own, name)
	}
	lines := strings.SplitAfter(content, "\n")
	for i, row := range lines[1:] {
		if strings.HasPrefix(row, "name:") {
			end := row[len(strings.TrimRight(row, "\r\n")):]
			lines[i+1] = "name: " + name + end
			break
		}
	}
	content = strings.Join(lines, "")
	if own, err = CheckText(content); err == nil && own != name {
		err = fmt.Errorf("the front matter must say name: %s", name)
	}
	return content, err
}

// note tells of a record that could not be kept; the change itself is done.
func (l *Library) note(err error) {
	if err != nil {
		l.Trouble(fmt.Errorf("record of skills: %w", err))
	}
}

// again looks for what was just written, so that success is never a guess.
func (l *Library) again(dir string) (*Skill, error) {
	for _, s := range l.List().order {
		if s.Dir == dir {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%s was written but is not found again", dir)
}

// Edit replaces a SKILL.md as a whole. changed, which may be nil, says whether
// somebody else has changed it since the writer read it: then nothing is
// overwritten.
func (l *Library) Edit(by Author, s *Skill, content string, changed func() bool) error {
	own, err := CheckText(content)
	if err != nil {
		return err
	}
	if s.closed {
		return errors.New(s.Reason)
	}
	return l.guard(func() error {
		old, err := os.ReadFile(s.Path)
		if err != nil {
			return err
		}
		if changed != nil && changed() {
			return ErrChanged
		}
		if before := Parse(old).Scalar("name"); own != before {
			if content, err = named(content, filepath.Base(s.Dir)); err != nil {
				return err
			}
		}
		return l.changing(by, "replaced", s.Dir, func() error { return replaceFile(s.Path, []byte(content)) })
	})
}

// Patch replaces a text in SKILL.md, or in another file of the skill.
func (l *Library) Patch(by Author, s *Skill, rel, old, with string, all bool) (count int, preview string, err error) {
	target, main := s.Path, true
	if rel = strings.TrimPrefix(filepath.ToSlash(strings.TrimSpace(rel)), "./"); rel != "" && rel != filepath.Base(s.Path) {
		if target, err = s.writable(rel); err != nil {
			return 0, "", err
		}
		main = false
	}
	if s.closed {
		return 0, "", errors.New(s.Reason)
	}
	err = l.guard(func() error {
		data, err := os.ReadFile(target)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the skill has no file %s: make it with write_file", rel)
		}
		if err != nil {
			return err
		}
		res, err := edit.Replace(string(data), old, with, all)
		if err != nil {
			preview = string(data)
			if r := []rune(preview); len(r) > 500 {
				preview = string(r[:500]) + "..."
			}
			return err
		}
		if main {
			if _, err := CheckText(res.Content); err != nil {
				return fmt.Errorf("the patch would break the skill, nothing was written: %w", err)
			}
		} else if err := checkSize(rel, res.Content); err != nil {
			return err
		}
		count = res.Count
		return l.changing(by, "patched "+orElse(rel, filepath.Base(s.Path)), s.Dir, func() error { return replaceFile(target, []byte(res.Content)) })
	})
	return count, preview, err
}

func checkSize(rel, content string) error {
	if n := utf8.RuneCountInString(content); n > MaxText {
		return sizeError(rel, n)
	}
	if len(content) > MaxFile {
		return fmt.Errorf("%s would have %d bytes; at most %d", rel, len(content), MaxFile)
	}
	return nil
}

// writable is the place of a supporting file.
func (s *Skill) writable(rel string) (string, error) {
	rel = filepath.ToSlash(strings.TrimSpace(rel))
	if rel == "" {
		return "", errors.New("file_path is empty")
	}
	if slices.Contains(strings.Split(rel, "/"), "..") {
		return "", fmt.Errorf("%w: %s", ErrOutside, rel)
	}
	clean := filepath.ToSlash(filepath.Clean(rel))
	first, rest, _ := strings.Cut(clean, "/")
	if rest == "" || !slices.Contains(Folders[:], first) {
		return "", fmt.Errorf("file_path %q: give a file in %s", rel, strings.Join(Folders[:], "/, ")+"/")
	}
	return s.Locate(clean)
}

// WriteFile makes or replaces a supporting file.
func (l *Library) WriteFile(by Author, s *Skill, rel, content string) (string, error) {
	target, err := s.writable(rel)
	if err != nil {
		return "", err
	}
	if err := checkSize(rel, content); err != nil {
		return "", err
	}
	return target, l.guard(func() error {
		return l.changing(by, "wrote "+rel, s.Dir, func() error {
			if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
				return err
			}
			return replaceFile(target, []byte(content))
		})
	})
}

// RemoveFile takes a supporting file away, and its directory when that was the
// last one.
func (l *Library) RemoveFile(by Author, s *Skill, rel string) error {
	target, err := s.writable(rel)
	if err != nil {
		return err
	}
	return l.guard(func() error {
		if info, err := os.Lstat(target); err != nil {
			return fmt.Errorf("the skill has no file %s", rel)
		} else if info.IsDir() {
			return fmt.Errorf("%s is a directory: name a file in it", rel)
		}
		return l.changing(by, "removed "+rel, s.Dir, func() error {
			err := os.Remove(target)
			removeEmpty(filepath.Dir(target), s.Dir)
			return err
		})
	})
}

// removeEmpty removes dir if it is empty and lies below keep.
func removeEmpty(dir, keep string) {
	real, err := filepath.EvalSymlinks(keep)
	if err != nil {
		return
	}
	if dir != keep && dir != real {
		_ = os.Remove(dir) // refuses where something is left in it
	}
}

// archiveName is where skills go that are taken away.
const archiveName = ".archive"

// Delete moves a skill to the archive and says where it went.
func (l *Library) Delete(by Author, s *Skill) (archived string, err error) {
	if s.Rel == "." {
		return "", errors.New("this skill is the root of a tree of skills and is not deleted")
	}
	if l.Usage(s).Pinned {
		return "", fmt.Errorf("skill %s is pinned: ask the user, who can unpin it with: hermes curator unpin %s", s.Name, s.Name)
	}
	err = l.guard(func() error {
		base := filepath.Join(l.Dir(), archiveName)
		if err := os.MkdirAll(base, 0o755); err != nil {
			return err
		}
		archived = filepath.Join(base, s.DirName())
		for stamp, n := archived+l.Now().UTC().Format("-20060102150405"), 1; ; n++ {
			if _, err := os.Lstat(archived); err != nil {
				break
			}
			if archived = stamp; n > 1 {
				archived = fmt.Sprintf("%s-%d", stamp, n)
			}
		}
		if err := l.changing(by, "taken away to "+archived, s.Dir, func() error { return moveTree(s.Dir, archived) }); err != nil {
			return err
		}
		if parent := filepath.Dir(s.Dir); parent != s.Root.Dir {
			_ = os.Remove(parent) // only when nothing is left in it
		}
		return nil
	})
	if err == nil {
		l.note(l.archivedFrom(s, filepath.Base(archived)))
	}
	return archived, err
}

// Restore brings a skill back from the archive to where it was.
func (l *Library) Restore(by Author, name string) (*Skill, error) {
	if err := CheckDirName(name); err != nil {
		return nil, err
	}
	var back *Skill
	err := l.guard(func() error {
		if s, err := l.List().Find(name); err == nil {
			return fmt.Errorf("a skill called %s is there, at %s: rename or delete it first", name, s.Path)
		}
		in, from := l.archivedAt(name)
		archived := filepath.Join(l.Dir(), archiveName, in)
		if _, err := os.Lstat(archived); err != nil {
			return fmt.Errorf("there is no skill %s in the archive; it holds: %s", name, strings.Join(l.ArchivedNames(), ", "))
		}
		dest := from
		if !filepath.IsAbs(dest) {
			dest = filepath.Join(l.Dir(), filepath.FromSlash(dest))
		}
		if _, err := os.Lstat(dest); err == nil {
			return fmt.Errorf("%s is in the way: move it first", dest)
		}
		if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
			return err
		}
		err := l.changing(by, "brought back from the archive", dest, func() error { return moveTree(archived, dest) })
		if err == nil {
			back, err = l.again(dest)
		}
		return err
	})
	if err == nil {
		l.note(l.SetState(back.Name, Active))
	}
	return back, err
}

// ArchivedNames are the directories in the archive.
func (l *Library) ArchivedNames() []string {
	entries, err := os.ReadDir(filepath.Join(l.Dir(), archiveName))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// moveTree renames, or copies and removes across file systems. A link is moved
// as a link that leads to the same place.
func moveTree(from, to string) error {
	if target, err := os.Readlink(from); err == nil {
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(from), target)
		}
		if err := os.Symlink(target, to); err != nil {
			return err
		}
		return os.Remove(from)
	}
	if err := os.Rename(from, to); err == nil {
		return nil
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return os.RemoveAll(from)
}

// replaceFile writes beside and renames; the mode of what was there is kept,
// and what was written is read again before it counts.
func replaceFile(path string, data []byte) error {
	mode := fs.FileMode(0o644)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
		if info, err := os.Stat(path); err == nil {
			mode = info.Mode().Perm()
		}
	} else if strings.HasPrefix(string(data), "#!") && filepath.Base(filepath.Dir(path)) == "scripts" {
		mode = 0o755
	}
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".tmp.*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone once renamed
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil {
		err = syncDir(dir)
	}
	if err != nil {
		return err
	}
	back, err := os.ReadFile(path)
	if err == nil && string(back) != string(data) {
		err = fmt.Errorf("%s holds something else than was written: another program changes it", path)
	}
	return err
}
