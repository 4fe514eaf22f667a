package skill

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func library(t *testing.T) *Library {
	t.Helper()
	return Open(Options{Home: t.TempDir(), Now: func() time.Time { return time.Unix(1e9, 0) }})
}

func body(name string) string {
	return "---\nname: " + name + "\ndescription: d\n---\n# T\n\nDo it.\n"
}

func create(t *testing.T, l *Library, name string) *Skill {
	t.Helper()
	s, err := l.Create(ByAgent, name, "", body(name))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCreate(t *testing.T) {
	t.Parallel()
	l := library(t)
	long := strings.Repeat("x", MaxText-len([]rune(body("long"))))
	for _, tt := range []struct{ name, as, category, content, want string }{
		{"37", "one", "cat", body("one"), ""},
		{"37 duplicate", "one", "other", body("one"), "exists already at "},
		{"38 capital", "My-Skill", "", body("My-Skill"), "lower-case"},
		{"38 hyphen", "-x", "", body("-x"), "lower-case"},
		{"38 slash", "a/b", "", body("a/b"), "lower-case"},
		{"38 long", strings.Repeat("a", 65), "", body("a"), "65 characters"},
		{"38 empty", "", "", body("a"), "name is empty"},
		{"38 dots", "a.b_c-1", "", body("a.b_c-1"), ""},
		{"38 category up", "x1", "../x", body("x1"), "category"},
		{"38 category absolute", "x1", "/abs", body("x1"), "category"},
		{"38 category deep", "x1", "a/b", body("x1"), "category"},
		{"38 category blank", "x1", " ", body("x1"), ""},
		{"40 at the limit", "long", "", body("long") + long, ""},
		{"40 above", "long2", "", body("long2") + long, "100001 characters; at most 100000"},
		{"8 not closed", "y", "", "---\nname: y\ndescription: d\n---", "no text after"},
		{"never closed", "y", "", "---\nname: y\n", "not closed"},
		{"no front matter", "y", "", "# y\n", "must begin with front matter"},
		{"blank lines first", "y", "", "\n" + body("y"), "must begin with front matter"},
		{"not YAML", "y", "", "---\nname: y\ndescription: a: b\n---\nB", `write: description: "a: b"`},
		{"no name", "y", "", "---\ndescription: d\n---\nB", "no name"},
		{"blank description", "y", "", "---\nname: y\ndescription: ' '\n---\nB", "no description"},
		{"long description", "y", "", "---\nname: y\ndescription: " + strings.Repeat("é", 1025) + "\n---\nB", "1025 characters"},
		{"name only written differently", "my-name", "", body("My Name"), ""},
		{"another name", "y", "", body("z"), "make them the same"},
		{"category's name", "cat", "", body("cat"), "is not empty"},
		{"skill as a category", "y", "x1", body("y"), "is a skill and no category"},
	} {
		s, err := l.Create(ByAgent, tt.as, tt.category, tt.content)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case tt.want == "":
			if s.State != OK || s.Name != tt.as || s.Rel != strings.TrimPrefix(strings.TrimSpace(tt.category)+"/"+tt.as, "/") {
				t.Errorf("%s: got %+v", tt.name, s)
			}
		case err == nil || !strings.Contains(err.Error(), tt.want):
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
}

func TestPatch(t *testing.T) {
	t.Parallel()
	l := library(t)
	s := create(t, l, "p")
	crlf := "---\r\nname: p\r\ndescription: d\r\n---\r\n# T\r\n\r\nv=1\r\nv=1\r\nsay 'x'\r\n"
	for _, tt := range []struct {
		name, file, old, with string
		all                   bool
		want                  string // error, or in the file
		n                     int
	}{
		{"41 ambiguous", "", "v=1", "v=2", false, "Found 2 matches", 0},
		{"41 all", "", "v=1", "v=2", true, "v=2\r\nv=2\r\n", 2},
		{"6 CRLF stays", "", "# T", "# Title", false, "# Title\r\n\r\nv=1\r\n", 1},
		{"42 blanks", "", "  # T  \n", "# U\n", false, "# U\r\n", 1},
		{"44 no name", "", "name: p\n", "", false, "would break the skill", 0},
		{"45 drift", "", `say \'x\'`, `say \'y\'`, false, "escape drift", 0},
		{"no match", "", "nothing like it", "x", false, "Could not find", 0},
		{"same", "", "# T", "# T", false, "nothing to do", 0},
		{"SKILL.md by name", "SKILL.md", "# T", "# V", false, "# V", 1},
		{"46 outside", "../x", "a", "b", false, "leaves the skill", 0},
		{"missing file", "references/x.md", "a", "b", false, "has no file", 0},
	} {
		put(t, s.Dir, "SKILL.md", crlf)
		n, preview, err := l.Patch(ByAgent, s, tt.file, tt.old, tt.with, tt.all)
		got, readErr := os.ReadFile(s.Path)
		if readErr != nil {
			t.Fatal(readErr)
		}
		switch {
		case tt.n > 0:
			if err != nil || n != tt.n || !strings.Contains(string(got), tt.want) {
				t.Errorf("%s: got %d, %v, %q", tt.name, n, err, got)
			}
		case err == nil || !strings.Contains(err.Error(), tt.want):
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		case string(got) != crlf:
			t.Errorf("%s: the file changed", tt.name)
		case strings.HasPrefix(tt.name, "41") && preview == "":
			t.Errorf("%s: no preview", tt.name)
		}
	}
}

func TestFilesOfSkillCases46And48And53(t *testing.T) {
	t.Parallel()
	l := library(t)
	s := create(t, l, "f")
	if err := os.Symlink(t.TempDir(), filepath.Join(s.Dir, "templates")); err != nil {
		t.Fatal(err)
	}
	for _, rel := range []string{"secret/evil.py", "references", "../x", "/abs", "templates/x.md", "references/../../x", "SKILL.md", ""} {
		if _, err := l.WriteFile(ByAgent, s, rel, "x"); err == nil {
			t.Errorf("%q was written", rel)
		}
	}
	p, err := l.WriteFile(ByAgent, s, "scripts/run.sh", "#!/bin/sh\necho a\n")
	if err != nil {
		t.Fatal(err)
	}
	mode := func() os.FileMode {
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	if mode() != 0o755 {
		t.Errorf("a new script has mode %v", mode())
	}
	if err := os.Chmod(p, 0o710); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.Patch(ByAgent, s, "./scripts//run.sh", "echo a", "echo b", false); err != nil {
		t.Fatal(err)
	}
	if mode() != 0o710 {
		t.Errorf("53: the mode became %v", mode())
	}
	groups, _ := s.Files()
	if len(groups) != 1 || len(groups["scripts"]) != 1 {
		t.Errorf("files %v", groups)
	}
	if err := l.RemoveFile(ByAgent, s, "scripts/run.sh"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "scripts")); err == nil {
		t.Error("48: the empty directory stays")
	}
	if err := l.RemoveFile(ByAgent, s, "scripts/run.sh"); err == nil || !strings.Contains(err.Error(), "no file") {
		t.Errorf("48: got %v", err)
	}
	if _, err := l.WriteFile(ByAgent, s, "assets/empty", ""); err != nil {
		t.Error(err)
	}
}

func TestDeleteCase49(t *testing.T) {
	t.Parallel()
	l := library(t)
	s, err := l.Create(ByAgent, "d", "cat", body("d"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, l.Dir(), ".usage.json", `{"d":{"pinned":true}}`)
	if _, err := l.Delete(ByAgent, s); err == nil || !strings.Contains(err.Error(), "hermes curator unpin d") {
		t.Errorf("pinned: %v", err)
	}
	put(t, l.Dir(), ".usage.json", `{`)
	at, err := l.Delete(ByAgent, s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(at, "SKILL.md")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(l.Dir(), "cat")); err == nil {
		t.Error("the empty category stays")
	}
	// What is archived is in nobody's way.
	if s, err = l.Create(ByAgent, "d", "", body("d")); err != nil {
		t.Fatal(err)
	}
	if second, err := l.Delete(ByAgent, s); err != nil || second == at {
		t.Errorf("second: %s, %v", second, err)
	}
}

func TestEdit(t *testing.T) {
	t.Parallel()
	l := library(t)
	s := create(t, l, "e")
	data, err := os.ReadFile(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	var seen Seen
	seen.Note("task", s.Path, sha256.Sum256(data))
	changed := func() bool { return seen.Changed("task", s.Path) }
	if changed() || seen.Changed("other", s.Path) {
		t.Error("nothing has changed yet")
	}
	if _, _, err := l.Patch(ByAgent, s, "", "Do it.", "Do it well.", false); err != nil {
		t.Fatal(err)
	}
	if err := l.Edit(ByAgent, s, body("e"), changed); err != ErrChanged { //nolint:errorlint // it is returned as it is
		t.Errorf("got %v", err)
	}
	if err := l.Edit(ByAgent, s, body("e"), nil); err != nil {
		t.Error(err)
	}
	if err := l.Edit(ByAgent, s, body("other"), nil); err == nil {
		t.Error("the name changed")
	}
}

func TestConcurrentPatches(t *testing.T) {
	t.Parallel()
	l := library(t)
	s := create(t, l, "c")
	const n = 24
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, "line %02d: old\n", i)
	}
	put(t, s.Dir, "SKILL.md", body("c")+lines.String())
	other := Open(l.Options) // as another process has it
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			lib := l
			if i%2 == 0 {
				lib = other
			}
			if _, _, err := lib.Patch(ByAgent, s, "", fmt.Sprintf("line %02d: old", i), fmt.Sprintf("line %02d: new", i), false); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := os.ReadFile(s.Path)
	if err != nil || strings.Count(string(got), ": new\n") != n {
		t.Errorf("%v, %s", err, got)
	}
}
