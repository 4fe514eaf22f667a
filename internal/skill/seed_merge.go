package skill

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hermes-go/hermes/internal/edit"
)

// update brings the changes of the program to a skill that is here already,
// file by file: what only the program changed is taken, what only the user
// changed is kept, what both changed is merged. Where that cannot be done the
// user's file stays, and is named. Files are replaced one by one, so that
// nothing is missing when the program ends in the midst of it; the next run
// goes on.
func (s *seeding) update(b bundle, dest, was, now string) {
	pristine := now == was || s.pending.Skill == b.name && s.pending.Pristine
	base, err := s.baseOf(b.name, was)
	if err != nil && !pristine {
		s.out.Modified = append(s.out.Modified, b.name) // what the user changed of it cannot be told
		return
	}
	p, err := s.plan(b, dest, base, pristine)
	if err == nil {
		err = s.carryOut(b, dest, p)
	}
	if err != nil {
		s.failed(b, err)
		return
	}
	s.manifest[b.name] = b.hash
	delete(s.conflicts, b.name)
	switch {
	case pristine:
		s.out.Updated = append(s.out.Updated, b.name)
		return
	case len(p.conflicts) > 0:
		s.conflicts[b.name] = p.conflicts
		for _, f := range p.conflicts {
			s.out.Conflicts = append(s.out.Conflicts, Conflict{b.name, f})
		}
	}
	s.out.Merged = append(s.out.Merged, b.name)
}

// plan is what becomes of the files of one skill.
type plan struct {
	pristine  bool
	write     map[string][]byte
	remove    []string
	conflicts []string
}

func (s *seeding) plan(b bundle, dest string, base fs.FS, pristine bool) (plan, error) {
	p := plan{pristine: pristine, write: map[string][]byte{}}
	theirFS, err := fs.Sub(s.bundled, b.dir)
	if err != nil {
		return p, err
	}
	theirs, err := filesOf(theirFS)
	if err != nil {
		return p, err
	}
	ours, err := filesOf(os.DirFS(dest))
	if err != nil {
		return p, err
	}
	was := ours
	if !pristine {
		if was, err = filesOf(base); err != nil {
			return p, err
		}
	}
	all := maps.Clone(theirs)
	maps.Copy(all, was)
	for _, rel := range slices.Sorted(maps.Keys(all)) {
		o, haveOurs := ours[rel]
		t, haveTheirs := theirs[rel]
		w, haveBase := was[rel]
		switch {
		case haveOurs == haveTheirs && bytes.Equal(o, t),
			haveBase == haveTheirs && bytes.Equal(w, t), // only changed here
			haveOurs && s.pending.Skill == b.name && s.pending.Files[rel] == sumOf(o):
		case haveOurs == haveBase && bytes.Equal(o, w): // only changed in the program
			if haveTheirs {
				p.write[rel] = t
			} else {
				p.remove = append(p.remove, rel)
			}
		case !haveOurs || !haveTheirs || !haveBase || !isText(o, t, w):
			p.conflicts = append(p.conflicts, rel)
		default:
			merged, ok := edit.Merge(string(w), string(o), string(t))
			if _, err := CheckText(merged); rel == "SKILL.md" && err != nil {
				ok = false
			}
			if ok {
				p.write[rel] = []byte(merged)
			} else {
				p.conflicts = append(p.conflicts, rel)
			}
		}
	}
	return p, nil
}

func isText(all ...[]byte) bool {
	return !slices.ContainsFunc(all, func(b []byte) bool { return !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 })
}

// carryOut writes a plan, after it wrote down what it is about to do: a merge
// that was cut off must not be merged again.
func (s *seeding) carryOut(b bundle, dest string, p plan) error {
	if len(p.write)+len(p.remove) == 0 {
		return nil
	}
	s.pending = pending{Skill: b.name, Pristine: p.pristine, Files: map[string]string{}}
	for rel, data := range p.write {
		s.pending.Files[rel] = sumOf(data)
	}
	text, err := json.Marshal(s.pending)
	if err != nil {
		return err
	}
	if err := replaceFile(filepath.Join(s.dir, pendingName), text); err != nil {
		return err
	}
	return s.l.changing(ByProgram, "updated with the program", dest, func() error {
		base, err := filepath.EvalSymlinks(dest)
		if err != nil {
			return err
		}
		for _, rel := range slices.Sorted(maps.Keys(p.write)) {
			target := filepath.Join(base, filepath.FromSlash(rel))
			_, err := os.Lstat(target)
			if mkErr := os.MkdirAll(filepath.Dir(target), 0o755); mkErr != nil {
				return mkErr
			}
			if writeErr := replaceFile(target, p.write[rel]); writeErr != nil {
				return writeErr
			}
			if errors.Is(err, fs.ErrNotExist) { // new ones have the mode they come with
				if err := os.Chmod(target, modeOf(p.write[rel])); err != nil {
					return err
				}
			}
		}
		for _, rel := range p.remove {
			target := filepath.Join(base, filepath.FromSlash(rel))
			if err := os.Remove(target); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			removeEmpty(filepath.Dir(target), base)
		}
		return nil
	})
}

// filesOf reads the files of a skill, but not what treeHash leaves out.
func filesOf(fsys fs.FS) (map[string][]byte, error) {
	out := map[string][]byte{}
	err := eachFile(fsys, ".", func(p string) error {
		data, err := fs.ReadFile(fsys, p)
		out[p] = data
		return err
	})
	return out, err
}

// pending is the update that was being written when a run ended.
type pending struct {
	Skill    string            `json:"skill"`
	Pristine bool              `json:"pristine"`
	Files    map[string]string `json:"files"` // their sums when it is done
}

const (
	pendingName   = ".bundled_pending"
	conflictsName = ".bundled_conflicts"
	baseName      = ".bundled_base.zip"
)

func readPending(dir string) pending {
	var p pending
	if data, err := os.ReadFile(filepath.Join(dir, pendingName)); err == nil && json.Unmarshal(data, &p) != nil {
		p = pending{}
	}
	return p
}

func (s *seeding) endPending() error {
	if len(s.out.Failed) > 0 {
		return nil
	}
	if err := os.Remove(filepath.Join(s.dir, pendingName)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// readConflicts reads "skill<TAB>file" lines.
func readConflicts(dir string) map[string][]string {
	out := map[string][]string{}
	data, err := os.ReadFile(filepath.Join(dir, conflictsName))
	if err != nil {
		return out
	}
	for line := range strings.Lines(string(data)) {
		if name, rel, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok {
			out[name] = append(out[name], rel)
		}
	}
	return out
}

func (s *seeding) writeConflicts() error {
	p := filepath.Join(s.dir, conflictsName)
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.conflicts)) {
		for _, rel := range s.conflicts[name] {
			fmt.Fprintf(&b, "%s\t%s\n", name, rel)
		}
	}
	if b.Len() > 0 {
		return replaceFile(p, []byte(b.String()))
	}
	if err := os.Remove(p); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Conflicts are the files that were kept although the program changed them in
// the same place. One that is made like the bundled one is none any more.
func (l *Library) Conflicts(bundled fs.FS) ([]Conflict, error) {
	open := readConflicts(l.Dir())
	if len(open) == 0 {
		return nil, nil
	}
	set, err := readBundle(bundled)
	if err != nil {
		return nil, err
	}
	list := l.List()
	var out []Conflict
	for _, b := range set {
		s, err := list.Find(b.name)
		if err != nil {
			continue
		}
		for _, rel := range open[b.name] {
			ours, ourErr := os.ReadFile(filepath.Join(s.Dir, filepath.FromSlash(rel)))
			theirs, theirErr := fs.ReadFile(bundled, b.dir+"/"+rel)
			if (ourErr == nil) != (theirErr == nil) || !bytes.Equal(ours, theirs) {
				out = append(out, Conflict{b.name, rel})
			}
		}
	}
	return out, nil
}

// Diff compares a bundled skill with its form in the home.
func (l *Library) Diff(bundled fs.FS, name string) (string, error) {
	s, err := l.List().Find(name)
	if err != nil {
		return "", err
	}
	set, err := readBundle(bundled)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(set, func(b bundle) bool { return b.name == s.Name })
	if i < 0 || s.Root.Source != Home {
		return "", fmt.Errorf("skill %s: %w", s.Name, ErrNotBundled)
	}
	theirFS, err := fs.Sub(bundled, set[i].dir)
	if err != nil {
		return "", err
	}
	theirs, err := filesOf(theirFS)
	if err != nil {
		return "", err
	}
	ours, err := filesOf(os.DirFS(s.Dir))
	if err != nil {
		return "", err
	}
	all := maps.Clone(theirs)
	maps.Copy(all, ours)
	var out strings.Builder
	for _, rel := range slices.Sorted(maps.Keys(all)) {
		was, now := theirs[rel], ours[rel]
		switch {
		case bytes.Equal(was, now):
		case !isText(was, now):
			fmt.Fprintf(&out, "binary files differ: %s\n", rel)
		default:
			out.WriteString(edit.Diff("bundled/"+rel, "yours/"+rel, string(was), string(now)))
		}
	}
	return out.String(), nil
}

// The base of merges is a zip file with the bundled skills as they were
// brought, each below its name and the sum that the manifest has of it.
func openBase(dir string) fs.FS {
	data, err := os.ReadFile(filepath.Join(dir, baseName))
	if err != nil {
		return nil
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil
	}
	return z
}

func baseKey(name, hash string) string { return url.PathEscape(name) + "@" + hash }

func (s *seeding) baseOf(name, hash string) (fs.FS, error) {
	key := baseKey(name, hash)
	if s.base == nil || !fs.ValidPath(key) {
		return nil, fs.ErrNotExist
	}
	have, err := treeHash(s.base, key)
	if err != nil {
		return nil, err
	}
	if have != hash {
		return nil, fmt.Errorf("%s is damaged: %s", baseName, name)
	}
	return fs.Sub(s.base, key)
}

// writeBase keeps what the manifest speaks of now, and what it spoke of before:
// it is written before the manifest is.
func (s *seeding) writeBase(set []bundle, before map[string]string) error {
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	add := func(fsys fs.FS, dir, key string) error {
		return eachFile(fsys, dir, func(p string) error {
			data, err := fs.ReadFile(fsys, p)
			if err != nil {
				return err
			}
			w, err := z.Create(key + "/" + strings.TrimPrefix(strings.TrimPrefix(p, dir), "/"))
			if err != nil {
				return err
			}
			_, err = w.Write(data)
			return err
		})
	}
	for _, b := range set {
		hash := s.manifest[b.name]
		if hash == b.hash {
			if err := add(s.bundled, b.dir, baseKey(b.name, hash)); err != nil {
				return err
			}
		}
		for _, old := range slices.Compact([]string{hash, before[b.name]}) {
			if old == b.hash || old == "" {
				continue
			}
			if base, err := s.baseOf(b.name, old); err == nil {
				if err := add(base, ".", baseKey(b.name, old)); err != nil {
					return err
				}
			}
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return replaceFile(filepath.Join(s.dir, baseName), buf.Bytes())
}
