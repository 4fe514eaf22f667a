package skill

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Bundle is what an exported file says of itself, in skills.json.
type Bundle struct {
	Version  int       `json:"version"`
	Exported time.Time `json:"exported_at"`
	Skills   []Carried `json:"skills"`
}

// Carried is one skill in an exported file.
type Carried struct {
	Name      string            `json:"name"`
	Dir       string            `json:"dir"` // below the root, with slashes
	CreatedBy Author            `json:"created_by,omitempty"`
	Sums      map[string]string `json:"sums"` // of its files
}

const (
	bundleName = "skills.json"
	// maxBundle bounds what is unpacked of a file that somebody gave us.
	maxBundle = 256 << 20
)

// Export writes skills to one zip file. The same skills make the same bytes but
// for the time.
func (l *Library) Export(w io.Writer, skills []*Skill) (Bundle, error) {
	b := Bundle{Version: 1, Exported: l.Now().UTC().Truncate(time.Second)}
	z := zip.NewWriter(w)
	put := func(name string, mode fs.FileMode, data []byte) error {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		h.SetMode(mode)
		f, err := z.CreateHeader(h)
		if err == nil {
			_, err = f.Write(data)
		}
		return err
	}
	taken := map[string]bool{}
	for _, s := range skills {
		c := Carried{Name: s.Name, Dir: s.Rel, CreatedBy: l.Usage(s).CreatedBy, Sums: map[string]string{}}
		if c.Dir == "." || taken[c.Dir] {
			return b, fmt.Errorf("skill %s: two skills are at %s, or it is a whole tree: export them one by one", s.Name, s.Rel)
		}
		taken[c.Dir] = true
		files, err := treeFiles(s.Dir)
		if err != nil {
			return b, err
		}
		for rel, f := range files {
			data, err := os.ReadFile(filepath.Join(s.Dir, filepath.FromSlash(rel)))
			if err == nil && sumOf(data) != f.Sum {
				err = fmt.Errorf("%s of skill %s was changed meanwhile: try again", rel, s.Name)
			}
			if err != nil {
				return b, err
			}
			c.Sums[rel] = f.Sum
		}
		b.Skills = append(b.Skills, c)
	}
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return b, err
	}
	if err := put(bundleName, 0o644, append(text, '\n')); err != nil {
		return b, err
	}
	for i, s := range skills {
		files, err := treeFiles(s.Dir)
		if err != nil {
			return b, err
		}
		var rels []string
		for rel := range b.Skills[i].Sums {
			rels = append(rels, rel)
		}
		slices.Sort(rels)
		for _, rel := range rels {
			data, err := os.ReadFile(filepath.Join(s.Dir, filepath.FromSlash(rel)))
			if err == nil && sumOf(data) != b.Skills[i].Sums[rel] {
				err = fmt.Errorf("%s of skill %s was changed meanwhile: try again", rel, s.Name)
			}
			if err == nil {
				err = put("skills/"+s.Rel+"/"+rel, files[rel].Mode, data)
			}
			if err != nil {
				return b, err
			}
		}
	}
	return b, z.Close()
}

// Imported is what became of the skills of an exported file.
type Imported struct {
	Added    []string `json:"added"`
	Replaced []string `json:"replaced"`
	Same     []string `json:"same"`
	Differs  []string `json:"differs"` // are here already and say something else; nothing was written
}

type carriedSkill struct {
	Carried
	files map[string]Saved
	texts map[string][]byte
}

// Import brings the skills of an exported file, or of any zip file with
// SKILL.md files in it, into the home. All of it is read and judged before
// anything is written. A skill that is here already with another text is left
// unless replace says so; what it was stays in its history.
func (l *Library) Import(by Author, data []byte, replace bool) (Imported, error) {
	out := Imported{Added: []string{}, Replaced: []string{}, Same: []string{}, Differs: []string{}}
	all, err := readImport(data)
	if err != nil {
		return out, err
	}
	err = l.guard(func() error {
		list := l.List()
		type work struct {
			carriedSkill
			dest string
			new  bool
		}
		var todo []work
		for _, c := range all {
			dest, isNew := filepath.Join(l.Dir(), filepath.FromSlash(c.Dir)), true
			for _, s := range list.order {
				if s.Name == c.Name || s.DirName() == path.Base(c.Dir) {
					dest, isNew = s.Dir, false
					break
				}
			}
			if isNew {
				if entries, err := os.ReadDir(dest); err == nil && len(entries) > 0 {
					return fmt.Errorf("%s is there and is no skill: move it away first", dest)
				}
			}
			now, err := treeFiles(dest)
			if err != nil {
				return err
			}
			switch {
			case sameTexts(now, c.files):
				out.Same = append(out.Same, c.Name)
			case !isNew && !replace:
				out.Differs = append(out.Differs, c.Name)
			default:
				todo = append(todo, work{c, dest, isNew})
			}
		}
		if len(out.Differs) > 0 {
			return nil
		}
		for _, w := range todo {
			if err := l.changing(by, "imported", w.dest, func() error { return restoreFiles(w.dest, w.files, w.texts) }); err != nil {
				return err
			}
			if w.new {
				l.note(l.created(w.Name, orAuthor(w.CreatedBy, by)))
				out.Added = append(out.Added, w.Name)
			} else {
				out.Replaced = append(out.Replaced, w.Name)
			}
		}
		return nil
	})
	return out, err
}

func orAuthor(a, b Author) Author {
	if a != "" {
		return a
	}
	return b
}

func sameTexts(a, b map[string]Saved) bool {
	if len(a) != len(b) {
		return false
	}
	for rel, f := range a {
		if b[rel].Sum != f.Sum {
			return false
		}
	}
	return true
}

// readImport unpacks a zip file in memory and finds the skills in it.
func readImport(data []byte) ([]carriedSkill, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("it is no zip file: %w", err)
	}
	texts, modes := map[string][]byte{}, map[string]fs.FileMode{}
	total := int64(0)
	var about Bundle
	for _, f := range z.File {
		switch {
		case strings.HasSuffix(f.Name, "/"):
			continue
		case !fs.ValidPath(f.Name) || strings.ContainsAny(f.Name, "\\:\x00"):
			return nil, fmt.Errorf("it holds %q, which is no path for a skill; nothing was written", f.Name)
		case !f.Mode().IsRegular():
			return nil, fmt.Errorf("it holds %s, which is a link or a device; nothing was written", f.Name)
		}
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(io.LimitReader(r, maxBundle-total+1))
		err = errors.Join(err, r.Close())
		if total += int64(len(text)); err == nil && total > maxBundle {
			err = fmt.Errorf("it holds more than %d MB", maxBundle>>20)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w; nothing was written", f.Name, err)
		}
		if f.Name == bundleName {
			if err := json.Unmarshal(text, &about); err != nil {
				return nil, fmt.Errorf("%s: %w", bundleName, err)
			}
			if about.Version > 1 {
				return nil, fmt.Errorf("it was written by a newer version of the program (%d)", about.Version)
			}
			continue
		}
		texts[f.Name], modes[f.Name] = text, f.Mode().Perm()&0o755|0o600
	}
	var roots []string
	for p := range texts {
		if path.Base(p) == "SKILL.md" {
			roots = append(roots, path.Dir(p))
		}
	}
	slices.Sort(roots)
	roots = slices.DeleteFunc(roots, func(r string) bool { // a skill in a skill is a part of it
		return slices.ContainsFunc(roots, func(o string) bool { return o != r && strings.HasPrefix(r, o+"/") })
	})
	if len(roots) == 0 {
		return nil, errors.New("there is no SKILL.md in it")
	}
	var out []carriedSkill
	for _, root := range roots {
		c, err := carry(root, texts, modes, about)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func carry(root string, texts map[string][]byte, modes map[string]fs.FileMode, about Bundle) (carriedSkill, error) {
	dir := strings.TrimPrefix(root, "skills/")
	c := carriedSkill{Carried: Carried{Dir: dir}, files: map[string]Saved{}, texts: map[string][]byte{}}
	for part := range strings.SplitSeq(dir, "/") {
		if part == "." || pruned(part) {
			return c, fmt.Errorf("%s: a skill in a zip file needs a directory with a plain name; nothing was written", root)
		}
	}
	for p, text := range texts {
		if rel, ok := strings.CutPrefix(p, root+"/"); ok {
			if slices.ContainsFunc(strings.Split(rel, "/"), pruned) {
				continue // no skill has them
			}
			c.texts[rel], c.files[rel] = text, Saved{sumOf(text), modes[p]}
		}
	}
	d := Parse(c.texts["SKILL.md"])
	if c.Name = d.Scalar("name"); c.Name == "" {
		c.Name = path.Base(dir)
	}
	for _, a := range about.Skills {
		if a.Dir != dir {
			continue
		}
		c.CreatedBy = a.CreatedBy
		for rel, sum := range a.Sums {
			if c.files[rel].Sum != sum {
				return c, fmt.Errorf("%s of skill %s is damaged or missing; nothing was written", rel, a.Name)
			}
		}
	}
	return c, nil
}
