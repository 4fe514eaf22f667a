package skill

import (
	"context"
	"crypto/md5" //nolint:gosec // the original's manifest holds MD5 sums; they find changes, they guard nothing
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hermes-go/hermes/internal/flock"
)

// Seeded is what bringing the bundled skills into a home came to.
type Seeded struct {
	Copied, Updated, Modified, Cleaned []string
	Merged                             []string // changed here and in the program: brought together
	Conflicts                          []Conflict
	Differs                            []string // kept although the bundled one of the path says something else
	Failed                             []string // tried again next time
	Skipped, Total                     int
}

// Conflict is a file of a bundled skill that was changed here and in the
// program, in the same place. The one here was kept.
type Conflict struct{ Skill, File string }

const (
	manifestName = ".bundled_manifest"
	stampName    = ".bundled_stamp"
)

// Seed brings the bundled skills into the home: new ones are copied, pristine
// ones updated, those that the user changed are merged, those that he took away
// left away. When the same set was brought before, or anything by the same build
// of the program, whose set it is, it reads one small file.
func (l *Library) Seed(bundled fs.FS, build string) (Seeded, error) {
	stampPath := filepath.Join(l.Dir(), stampName)
	if have, err := os.ReadFile(stampPath); err == nil && build != "" && strings.HasSuffix(string(have), "\n"+build+"\n") {
		return Seeded{}, nil
	}
	sum, err := stampOf(bundled)
	if err != nil || sum == "" {
		return Seeded{}, err
	}
	stamp := sum
	if build != "" {
		stamp += build + "\n"
	}
	brought := func() (bool, error) {
		have, err := os.ReadFile(stampPath)
		if err != nil || !strings.HasPrefix(string(have), sum) {
			return false, nil
		}
		if string(have) == stamp {
			return true, nil
		}
		return true, replaceFile(stampPath, []byte(stamp))
	}
	if same, err := brought(); same {
		return Seeded{}, err
	}
	if err := os.MkdirAll(l.Dir(), 0o755); err != nil {
		return Seeded{}, err
	}
	lock, err := flock.Acquire(context.Background(), filepath.Join(l.Dir(), ".lock"))
	if err != nil {
		return Seeded{}, err
	}
	defer lock.Release()
	if same, err := brought(); same { // by another process, while this one waited
		return Seeded{}, err
	}
	set, err := readBundle(bundled)
	if err != nil {
		return Seeded{}, err
	}
	s := &seeding{l: l, dir: l.Dir(), bundled: bundled, manifest: readManifest(l.Dir()), conflicts: readConflicts(l.Dir())}
	s.base, s.pending = openBase(s.dir), readPending(s.dir)
	s.out.Total = len(set)
	s.present = map[string]string{}
	for _, f := range walk(l.Dir()).files {
		if _, ok := s.present[filepath.Base(f.dir)]; !ok {
			s.present[filepath.Base(f.dir)] = f.dir
		}
	}
	before := maps.Clone(s.manifest)
	names := map[string]bool{}
	for _, b := range set {
		names[b.name] = true
		s.one(b)
	}
	for name := range s.manifest {
		if !names[name] {
			delete(s.manifest, name)
			delete(s.conflicts, name)
			s.out.Cleaned = append(s.out.Cleaned, name)
		}
	}
	slices.Sort(s.out.Cleaned)
	s.categories()
	if err := errors.Join(s.writeBase(set, before), s.writeConflicts(), s.writeManifest(), s.endPending()); err != nil {
		return s.out, err
	}
	if len(s.out.Failed) > 0 {
		return s.out, fmt.Errorf("bundled skills were not brought: %s", strings.Join(s.out.Failed, "; "))
	}
	return s.out, replaceFile(stampPath, []byte(stamp))
}

// bundle is one bundled skill.
type bundle struct {
	name, dir, hash string // dir below the root, with slashes
}

func readBundle(fsys fs.FS) ([]bundle, error) {
	var set []bundle
	err := fs.WalkDir(fsys, ".", func(p string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && p == ".":
			return fs.SkipAll
		case err != nil:
			return err
		case e.IsDir() && p != "." && pruned(e.Name()):
			return fs.SkipDir
		case e.Name() != "SKILL.md" || path.Dir(p) == ".":
			return nil
		}
		data, err := fs.ReadFile(fsys, p)
		if err != nil {
			return err
		}
		b := bundle{dir: path.Dir(p)}
		d := Parse(data)
		if b.name = d.Scalar("name"); b.name == "" {
			b.name = path.Base(b.dir)
		}
		if b.hash, err = treeHash(fsys, b.dir); err != nil {
			return err
		}
		set = append(set, b)
		return nil
	})
	return set, err
}

// stampOf stands for all that is bundled; "" when nothing is.
func stampOf(fsys fs.FS) (string, error) {
	h, some := md5.New(), false //nolint:gosec // it finds changes, it guards nothing
	err := fs.WalkDir(fsys, ".", func(p string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && p == ".":
			return fs.SkipAll
		case err != nil, e.IsDir():
			return err
		}
		data, err := fs.ReadFile(fsys, p)
		if err != nil {
			return err
		}
		some = true
		fmt.Fprintln(h, p, len(data))
		h.Write(data)
		return nil
	})
	if err != nil || !some {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)) + "\n", nil
}

// treeHash is the original's: relative path and bytes of every file, sorted by
// path. What version control, Python and desktops leave behind does not count.
func treeHash(fsys fs.FS, dir string) (string, error) {
	h := md5.New() //nolint:gosec // see above
	err := eachFile(fsys, dir, func(p string) error {
		data, err := fs.ReadFile(fsys, p)
		if err != nil {
			return err
		}
		h.Write([]byte(strings.TrimPrefix(p, dir+"/")))
		h.Write(data)
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// eachFile calls fn for the files below dir that count, sorted by path.
func eachFile(fsys fs.FS, dir string, fn func(p string) error) error {
	var files []string
	err := fs.WalkDir(fsys, dir, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && p != dir && (e.Name() == ".git" || e.Name() == "__pycache__"):
			return fs.SkipDir
		case !e.Type().IsRegular(), e.Name() == ".DS_Store", strings.HasSuffix(e.Name(), ".pyc"):
			return nil
		}
		files = append(files, p)
		return nil
	})
	slices.Sort(files)
	for _, p := range files {
		if err == nil {
			err = fn(p)
		}
	}
	return err
}

type seeding struct {
	l         *Library
	dir       string
	bundled   fs.FS
	base      fs.FS // the bundled skills as they were brought last; nil: not known
	manifest  map[string]string
	conflicts map[string][]string
	pending   pending
	present   map[string]string // directory of every skill in the home, by its name
	out       Seeded
}

// one decides about one bundled skill; the cases are those of the original, but
// for one that was changed on both sides: the original never updates it again.
func (s *seeding) one(b bundle) {
	dest := filepath.Join(s.dir, filepath.FromSlash(b.dir))
	if moved := s.present[path.Base(b.dir)]; moved != "" {
		dest = moved // the user may have sorted it elsewhere
	}
	was, recorded := s.manifest[b.name]
	now, err := treeHash(os.DirFS(filepath.Dir(dest)), filepath.Base(dest))
	exists := err == nil
	switch {
	case !exists && recorded: // the user took it away
		s.out.Skipped++
	case !exists:
		s.bring(b, dest)
	case now == b.hash: // also when a run ended before it could say so
		s.manifest[b.name] = now
		delete(s.conflicts, b.name)
		s.out.Skipped++
	case recorded && was == "":
		s.manifest[b.name] = now
		s.out.Skipped++
	case !recorded:
		s.out.Differs = append(s.out.Differs, b.name)
		s.out.Skipped++
	case was == b.hash:
		s.out.Modified = append(s.out.Modified, b.name)
	default:
		s.update(b, dest, was, now)
	}
}

// bring copies a skill beside its place and renames it.
func (s *seeding) bring(b bundle, dest string) {
	err := func() error {
		if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
			return err
		}
		tmp, err := os.MkdirTemp(filepath.Dir(dest), ".seed-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		if err := copyTree(s.bundled, b.dir, filepath.Join(tmp, "new")); err != nil {
			return err
		}
		return os.Rename(filepath.Join(tmp, "new"), dest)
	}()
	if err != nil {
		s.failed(b, err)
		return
	}
	s.out.Copied = append(s.out.Copied, b.name)
	s.manifest[b.name] = b.hash
}

func (s *seeding) failed(b bundle, err error) {
	s.out.Failed = append(s.out.Failed, b.name+": "+err.Error())
}

// copyTree copies a directory; scripts with a first line that says who runs
// them are executable, which an embedded file cannot say itself.
func copyTree(fsys fs.FS, dir, to string) error {
	return fs.WalkDir(fsys, dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, filepath.FromSlash(strings.TrimPrefix(strings.TrimPrefix(p, dir), "/")))
		if e.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		data, err := fs.ReadFile(fsys, p)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, modeOf(data))
	})
}

// modeOf is that of a bundled file: a script that says who runs it can be run.
func modeOf(data []byte) fs.FileMode {
	if strings.HasPrefix(string(data), "#!") {
		return 0o755
	}
	return 0o644
}

// categories copies the descriptions of categories that are not there.
func (s *seeding) categories() {
	_ = fs.WalkDir(s.bundled, ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() != "DESCRIPTION.md" {
			return nil
		}
		target := filepath.Join(s.dir, filepath.FromSlash(p))
		if _, err := os.Stat(filepath.Dir(target)); err != nil {
			return nil
		}
		if _, err := os.Lstat(target); err == nil {
			return nil
		}
		data, err := fs.ReadFile(s.bundled, p)
		if err == nil {
			_ = os.WriteFile(target, data, 0o644) // only a heading of the index
		}
		return nil
	})
}

// readManifest reads "name:hash" lines; lines of the first version are names.
func readManifest(dir string) map[string]string {
	m := map[string]string{}
	data, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return m
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" {
			name, hash, _ := strings.Cut(line, ":")
			m[strings.TrimSpace(name)] = strings.TrimSpace(hash)
		}
	}
	return m
}

func (s *seeding) writeManifest() error {
	var lines []string
	for name, hash := range s.manifest {
		lines = append(lines, name+":"+hash+"\n")
	}
	slices.Sort(lines)
	return replaceFile(filepath.Join(s.dir, manifestName), []byte(strings.Join(lines, "")))
}

// Bundled says which skills of the home came with the program.
func (l *Library) Bundled() map[string]bool {
	out := map[string]bool{}
	if l.Home == "" {
		return out
	}
	for name := range readManifest(l.Dir()) {
		out[name] = true
	}
	return out
}

// ErrNotBundled says that a skill did not come with the program.
var ErrNotBundled = errors.New("it is no skill that came with the program")

// Reset forgets what was done to a bundled skill; with restore, its bundled
// form comes back and the user's goes to the archive.
func (l *Library) Reset(bundled fs.FS, name string, restore bool) (archived string, out Seeded, err error) {
	set, err := readBundle(bundled)
	if err != nil {
		return "", out, err
	}
	i := slices.IndexFunc(set, func(b bundle) bool { return b.name == name || path.Base(b.dir) == name })
	manifest := readManifest(l.Dir())
	if _, recorded := manifest[name]; i < 0 && !recorded {
		return "", out, fmt.Errorf("skill %s: %w", name, ErrNotBundled)
	}
	if i < 0 && restore {
		return "", out, fmt.Errorf("skill %s is no longer bundled and cannot be restored", name)
	}
	if i >= 0 {
		name = set[i].name
	}
	if restore {
		if s, err := l.List().Find(name); err == nil && s.Root.Source == Home {
			if archived, err = l.Delete(ByUser, s); err != nil {
				return "", out, err
			}
		}
	}
	err = l.guard(func() error {
		s := &seeding{dir: l.Dir(), manifest: readManifest(l.Dir()), conflicts: readConflicts(l.Dir())}
		delete(s.manifest, name)
		delete(s.conflicts, name)
		return errors.Join(s.writeManifest(), s.writeConflicts(), os.RemoveAll(filepath.Join(l.Dir(), stampName)))
	})
	if err == nil {
		out, err = l.Seed(bundled, "")
	}
	return archived, out, err
}
