package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// walkDepth bounds how deep below a root a skill may lie. Public collections
// that hold others go down to eleven.
const walkDepth = 32

// file is a SKILL.md that a walk came upon.
type file struct {
	dir, path, rel string
	size           int64
	mod            time.Time
	id             string // equal for two ways to one file
	err            error  // it is there and cannot be looked at
}

// pruned are directories that hold no skills, wherever they stand: state of
// ours, version control, what tools leave behind.
func pruned(name string) bool {
	return strings.HasPrefix(name, ".") || name == "node_modules" || name == "__pycache__"
}

// place is a directory to be looked into.
type place struct {
	dir, rel string
	depth    int
	id       string // of a link's target
}

// found is what one place holds.
type found struct {
	files   []file
	about   *file
	below   []place // directories
	links   []place // to directories
	trouble error
}

type walker struct {
	files   []file
	about   map[string]file // category: its DESCRIPTION.md
	trouble []error         // directories that could not be read
}

// walk lists the skills below a root, sorted by path. Directories of one depth
// are looked into at once. Links to directories are followed last, each target
// once; a skill that two ways lead to counts once. What lies inside a skill is
// the skill's own.
func walk(root string) *walker {
	w := &walker{about: map[string]file{}}
	linked := map[string]bool{} // directories entered through a link, by identity
	top := place{dir: root}
	all := []found{{files: take(place{dir: root, rel: "."})}, enter(top)}
	for level := []place(nil); ; {
		var below, links []place
		for _, f := range all {
			w.files = append(w.files, f.files...)
			if f.about != nil {
				w.about[f.about.rel] = *f.about
			}
			if f.trouble != nil {
				w.trouble = append(w.trouble, f.trouble)
			}
			below, links = append(below, f.below...), append(links, f.links...)
		}
		level = append(level, links...) // they wait until all real directories were seen
		if len(below) == 0 {
			for _, l := range level {
				if !linked[l.id] {
					linked[l.id] = true
					below = append(below, l)
				}
			}
			level = nil
		}
		if len(below) == 0 {
			break
		}
		all = make([]found, len(below))
		each(len(below), func(i int) { all[i] = look(below[i]) })
	}
	seen := make(map[string]bool, len(w.files)) // by identity
	w.files = slices.DeleteFunc(w.files, func(f file) bool {
		if f.id == "" {
			return false
		}
		old := seen[f.id]
		seen[f.id] = true
		return old
	})
	slices.SortFunc(w.files, func(a, b file) int { return strings.Compare(a.rel, b.rel) })
	return w
}

// look takes a directory for a skill, or else sees what is in it.
func look(p place) found {
	if files := take(p); files != nil {
		return found{files: files}
	}
	if p.depth >= walkDepth {
		return found{trouble: fmt.Errorf("%s lies more than %d directories deep and was not looked into", p.dir, walkDepth)}
	}
	return enter(p)
}

// take is the directory's SKILL.md, if it has one.
func take(at place) []file {
	p := at.dir + string(filepath.Separator) + "SKILL.md"
	info, err := os.Lstat(p)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		// A directory may be a link, its SKILL.md not: text from anywhere would
		// be read as instructions.
		if info, err = os.Stat(p); err == nil && outside(p, at.dir) {
			err = errLink
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !info.Mode().IsRegular():
		return nil
	case err != nil:
		if _, lerr := os.Lstat(p); lerr != nil {
			return nil // the directory itself is closed to us: enter says so
		}
		return []file{{dir: at.dir, path: p, rel: at.rel, err: err}}
	}
	return []file{{at.dir, p, at.rel, info.Size(), info.ModTime(), identity(p, info), nil}}
}

var errLink = errors.New("its SKILL.md is a link that leaves the directory; link the directory instead")

// outside says whether what path leads to does not lie in dir.
func outside(path, dir string) bool {
	base, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	return err != nil || !strings.HasPrefix(real, base+string(filepath.Separator))
}

// enter sees what a directory holds that is no skill itself.
func enter(at place) (out found) {
	entries, err := os.ReadDir(at.dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			out.trouble = err
		}
		return out
	}
	for _, e := range entries {
		name := e.Name()
		sub := at.dir + string(filepath.Separator) + name
		switch mode := e.Type(); {
		case name == "DESCRIPTION.md":
			if info, err := os.Stat(sub); err == nil && info.Mode().IsRegular() {
				out.about = &file{rel: at.rel, path: sub, size: info.Size(), mod: info.ModTime()}
			}
		case name == "skill.md" && at.rel != "" && mode.IsRegular():
			if info, err := e.Info(); err == nil {
				out.files = append(out.files, file{at.dir, sub, at.rel, info.Size(), info.ModTime(), identity(sub, info), nil})
			}
		case pruned(name):
		case mode.IsDir():
			out.below = append(out.below, place{sub, path.Join(at.rel, name), at.depth + 1, ""})
		case mode&fs.ModeSymlink != 0:
			if info, err := os.Stat(sub); err == nil && info.IsDir() {
				out.links = append(out.links, place{sub, path.Join(at.rel, name), at.depth + 1, identity(sub, info)})
			}
		}
	}
	return out
}

// all yields every file that is read.
func (w *walker) all(yield func(file) bool) {
	for _, f := range w.files {
		if !yield(f) {
			return
		}
	}
	for _, f := range w.about {
		if !yield(f) {
			return
		}
	}
}
