package skill

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Errors of Find and Locate.
var (
	ErrNotFound = errors.New("there is no such skill")
	ErrOutside  = errors.New("the path leaves the skill's directory")
)

// NameError says that a text cannot be the name of a skill.
type NameError struct{ Name, Reason string }

func (e *NameError) Error() string {
	return fmt.Sprintf("%q is no name of a skill: %s", e.Name, e.Reason)
}

// AmbiguousError lists the skills that a name may mean, by their paths below
// the root.
type AmbiguousError struct {
	Name       string
	Candidates []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q may mean %s: give the path", e.Name, strings.Join(e.Candidates, " or "))
}

// Find says which skill a name means: its name, its directory's name, the form
// it has as a command, or its path below the root, in this order. A skill of
// an earlier root comes before one of a later root. No name leads out of the
// roots, because a name is compared and never opened.
func (l *Listing) Find(name string) (*Skill, error) {
	name = strings.TrimSuffix(strings.TrimSpace(name), "/")
	if why := badName(name); why != "" {
		return nil, &NameError{name, why}
	}
	slug := Slug(name)
	for _, match := range []func(*Skill) bool{
		func(s *Skill) bool { return s.Name == name },
		func(s *Skill) bool { return filepath.Base(s.Dir) == name },
		func(s *Skill) bool {
			return slug != "" && (Slug(s.Name) == slug || Slug(filepath.Base(s.Dir)) == slug) && !strings.Contains(name, "/")
		},
		func(s *Skill) bool { return s.Rel == name || s.Rel+"/SKILL.md" == name },
	} {
		var hits []*Skill
		for _, s := range l.order {
			if match(s) && (len(hits) == 0 || s.Root == hits[0].Root) {
				hits = append(hits, s)
			}
		}
		// One that works here stands before one that cannot.
		if usable := slices.DeleteFunc(slices.Clone(hits), func(s *Skill) bool { return s.State == Unsupported }); len(usable) > 0 {
			hits = usable
		}
		switch len(hits) {
		case 0:
			continue
		case 1:
			return hits[0], nil
		}
		e := &AmbiguousError{Name: name}
		for _, s := range hits {
			e.Candidates = append(e.Candidates, s.Rel)
		}
		return nil, e
	}
	return nil, ErrNotFound
}

func badName(name string) string {
	switch {
	case name == "":
		return "it is empty"
	case strings.ContainsAny(name, "\\\x00"):
		return "it holds a backslash or a NUL"
	case filepath.IsAbs(name) || strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~"):
		return "paths are given below the skills directory"
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." || part == "" || part == "." {
			return "it is no plain path"
		}
		if strings.HasPrefix(part, ".") {
			return "directories that begin with a dot hold no skills"
		}
	}
	return ""
}

// Slug is the form of a name as a command: lower case, hyphens, nothing else.
func Slug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case r == ' ' || r == '_' || r == '-':
			if n := b.Len(); n > 0 && b.String()[n-1] != '-' {
				b.WriteByte('-')
			}
		}
	}
	return strings.Trim(b.String(), "-")
}

// Locate is the absolute path of a file of the skill. Whatever is reached
// through it, links included, lies inside the skill's directory.
func (s *Skill) Locate(rel string) (string, error) {
	rel = filepath.ToSlash(strings.TrimSpace(rel))
	switch {
	case rel == "" || strings.ContainsRune(rel, 0):
		return "", fmt.Errorf("%q is no path of a file", rel)
	case filepath.IsAbs(rel) || strings.HasPrefix(rel, "/") || filepath.VolumeName(rel) != "" || slices.Contains(strings.Split(strings.ReplaceAll(rel, "\\", "/"), "/"), ".."):
		return "", fmt.Errorf("%w: %s", ErrOutside, rel)
	}
	base, err := filepath.EvalSymlinks(s.Dir)
	if err != nil {
		return "", err
	}
	p := filepath.Join(base, filepath.FromSlash(rel))
	// What does not exist yet is judged by the deepest part that does.
	for probe := p; ; probe = filepath.Dir(probe) {
		real, err := filepath.EvalSymlinks(probe)
		if err == nil {
			if real != base && !strings.HasPrefix(real, base+string(filepath.Separator)) {
				return "", fmt.Errorf("%w: %s is a link to the outside", ErrOutside, rel)
			}
			if probe == p {
				return real, nil
			}
			return p, nil
		}
		if _, lerr := os.Lstat(probe); lerr == nil { // a link to nowhere: writing would follow it
			return "", fmt.Errorf("%w: %s is a link that leads nowhere", ErrOutside, rel)
		}
		if probe == base {
			return "", err
		}
	}
}
