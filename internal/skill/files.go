package skill

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// Folders are the conventional directories of a skill, and the only ones that
// are written to for a model.
var Folders = [...]string{"references", "templates", "scripts", "assets"}

// maxLinked bounds the files that are named.
const maxLinked = 200

// Files are the files of a skill beside its SKILL.md, by folder; those of no
// conventional folder are under "other". Links are left out.
func (s *Skill) Files() (groups map[string][]string, truncated bool) {
	groups = map[string][]string{}
	base, err := filepath.EvalSymlinks(s.Dir)
	if err != nil {
		return groups, false
	}
	n := 0
	_ = filepath.WalkDir(base, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // what cannot be read is not named
		}
		if p == base {
			return nil
		}
		if pruned(e.Name()) {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !e.Type().IsRegular() || p == s.Path || filepath.Dir(p) == base && (e.Name() == "SKILL.md" || e.Name() == "skill.md") {
			return nil
		}
		if n++; n > maxLinked {
			truncated = true
			return fs.SkipAll
		}
		rel, err := filepath.Rel(base, p)
		if err != nil {
			return nil
		}
		rel = filepath.ToSlash(rel)
		group, _, below := strings.Cut(rel, "/")
		if !below || !slices.Contains(Folders[:], group) {
			group = "other"
		}
		groups[group] = append(groups[group], rel)
		return nil
	})
	for _, l := range groups {
		slices.Sort(l)
	}
	return groups, truncated
}
