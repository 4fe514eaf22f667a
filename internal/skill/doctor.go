package skill

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// Complaint is something about an installed skill that a person should know.
type Complaint struct {
	Skill string `json:"skill"`
	Path  string `json:"path"`
	Line  int    `json:"line,omitempty"`
	Level string `json:"level"` // error: it cannot be used as it is; warning; note: something it asks for is missing
	Text  string `json:"text"`
	Fix   string `json:"fix,omitempty"`
}

// Surroundings are what skills are judged against.
type Surroundings struct {
	Off             func(*Skill) bool
	Tools, Toolsets []string          // names that conditions may ask for
	Reserved        func(string) bool // names that are no skill's as a command
	Conflicts       []Conflict        // of bundled skills
}

// Examine looks at every skill of the library. It runs nothing of them.
func (l *Library) Examine(in Surroundings) []Complaint {
	list := l.List()
	out := []Complaint{}
	for _, t := range list.Trouble {
		out = append(out, Complaint{Level: "error", Text: t, Fix: "make the directory readable"})
	}
	clashes := map[*Skill]Command{}
	for _, c := range list.Commands(in.Off, in.Reserved) {
		if c.Clash != "" {
			clashes[c.Skill] = c
		}
	}
	for _, s := range list.Skills {
		add := func(level string, line int, text, fix string) {
			out = append(out, Complaint{s.Name, s.Path, line, level, text, fix})
		}
		switch s.State {
		case Broken:
			c := Complaint{Skill: s.Name, Path: s.Path, Level: "error", Text: s.Reason}
			if s.Problem != nil {
				c.Line, c.Text, c.Fix = s.Problem.Line, s.Problem.Reason, s.Problem.Fix
			}
			out = append(out, c)
			continue
		case Shadowed:
			add("warning", 0, s.Reason, "rename one of them, or take one away")
			continue
		case Unsupported:
			continue // it is as its author wants it
		case OK:
		}
		data, err := os.ReadFile(s.Path)
		if err != nil {
			add("error", 0, err.Error(), "")
			continue
		}
		for _, f := range judge(s.Path, s.DirName(), data, in.Tools, in.Toolsets) {
			add("warning", f.Line, f.Text, "") // it is read all the same
		}
		d := Parse(data)
		for _, ref := range brokenLinks(s, d.Body) {
			add("warning", 0, "it names "+ref+", which is not there", "")
		}
		if c, ok := clashes[s]; ok {
			use := "/skill " + s.Name
			if c.Name != "" {
				use = "/" + c.Name
			}
			add("warning", 0, c.Clash, "call it by "+use)
		}
		if in.Off != nil && in.Off(s) {
			continue // what it lacks is nobody's worry
		}
		n := l.needs(&d)
		for _, v := range n.MissingVars {
			add("note", 0, "$"+v+" is not set", "hermes skills config")
		}
		for _, why := range n.FileNotes {
			add("note", 0, why, "")
		}
		for _, c := range n.MissingCommands {
			add("note", 0, "the command "+c+" is not installed", "")
		}
	}
	for _, c := range in.Conflicts {
		out = append(out, Complaint{
			Skill: c.Skill, Level: "warning", Text: "the program changed " + c.File + " where it was changed here too; the one here was kept",
			Fix: fmt.Sprintf("hermes skills diff %s; take the new one with: hermes skills reset %s --restore", c.Skill, c.Skill),
		})
	}
	return out
}

var (
	linkTo  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\]\(([^)\s#?]+)`) })
	tokenTo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{HERMES_SKILL_DIR\}/([A-Za-z0-9._/-]+)`) })
)

// brokenLinks are the files of the skill that its text names and that are not
// there. Links in code are examples.
func brokenLinks(s *Skill, body string) []string {
	var out []string
	seen := map[string]bool{}
	check := func(rel string) {
		rel = strings.TrimRight(rel, ".")
		if rel == "" || seen[rel] || strings.Contains(rel, ":") || strings.ContainsAny(rel[:1], "/~$<{") {
			return
		}
		if base := path.Base(rel); base == strings.ToUpper(base) && base != strings.ToLower(base) && path.Ext(base) == "" {
			return // NAME stands for a name
		}
		seen[rel] = true
		if _, err := os.Stat(filepath.Join(s.Dir, filepath.FromSlash(rel))); err != nil {
			out = append(out, rel)
		}
	}
	fenced := ""
	for line := range strings.Lines(body) {
		for _, m := range tokenTo().FindAllStringSubmatch(line, -1) {
			check(m[1])
		}
		if mark := fenceMark(line); mark != "" && (fenced == "" || strings.HasPrefix(mark, fenced)) {
			if fenced == "" {
				fenced = mark
			} else {
				fenced = ""
			}
			continue
		}
		if fenced == "" {
			for _, m := range linkTo().FindAllStringSubmatch(line, -1) {
				check(m[1])
			}
		}
	}
	return out
}
