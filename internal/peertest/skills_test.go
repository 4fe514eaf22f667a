package peertest

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// listed is one skill as `skills list --json` has it.
type listed struct {
	Name, Description, Path, State, Reason string
}

func skillsOf(t *testing.T, dir string) []listed {
	t.Helper()
	out, stderr, code := NewHome(t, "").Run(t, "skills", "list", "--json", "--dir", dir)
	if code != 0 {
		t.Fatalf("skills list: exit %d: %s", code, stderr)
	}
	var all []listed
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func references(t *testing.T, skills []listed) []Reference {
	t.Helper()
	dirs := make([]string, len(skills))
	for i, s := range skills {
		dirs[i] = filepath.Dir(s.Path)
	}
	return SkillsRef(t, dirs)
}

// ours are the keys of a front matter that the open standard does not have.
var ours = []string{"author", "platforms", "prerequisites", "required_credential_files", "required_environment_variables", "version"}

// TestShippedSkills holds what ships against the rules of the open standard:
// but for the keys that Hermes adds, skills-ref finds nothing wrong either.
func TestShippedSkills(t *testing.T) {
	t.Parallel()
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	for folder, least := range map[string]int{"skills": 30, "optional-skills": 10} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(root, folder)
			if out, stderr, code := NewHome(t, "").Run(t, "skills", "validate", "--strict", dir); code != 0 || out != "" {
				t.Errorf("validate --strict: exit %d\n%s%s", code, out, stderr)
			}
			skills := skillsOf(t, dir)
			if len(skills) < least {
				t.Errorf("%d skills, want at least %d", len(skills), least)
			}
			for i, ref := range references(t, skills) {
				s := skills[i]
				if !ref.Read || ref.Name != s.Name || ref.Description != s.Description {
					t.Errorf("%s: skills-ref reads %q, %q %s, we %q, %q", s.Path, ref.Name, ref.Description, ref.Why, s.Name, s.Description)
				}
				for _, e := range ref.Errors {
					keys, _, ok := strings.Cut(strings.TrimPrefix(e, "Unexpected fields in frontmatter: "), ".")
					if !ok || !strings.HasPrefix(e, "Unexpected") || slices.ContainsFunc(strings.Split(keys, ", "), func(k string) bool { return !slices.Contains(ours, k) }) {
						t.Errorf("%s: skills-ref says: %s", s.Path, e)
					}
				}
				if n := len([]rune(s.Description)); n > 60 {
					t.Errorf("%s: the description has %d characters; the prompt shows 60", s.Path, n)
				}
			}
		})
	}
}

// TestSkillsInPrompt bounds what all bundled skills cost in each request.
func TestSkillsInPrompt(t *testing.T) {
	t.Parallel()
	out, stderr, code := NewHome(t, "").Run(t, "prompt-size", "--json")
	var sections []struct {
		Section string
		Bytes   int
	}
	if err := json.Unmarshal([]byte(out), &sections); err != nil || code != 0 {
		t.Fatalf("prompt-size: exit %d, %v: %s", code, err, stderr)
	}
	for _, s := range sections {
		if s.Section == "skills" {
			if s.Bytes < 2000 || s.Bytes > 3600 {
				t.Errorf("the skills take %d bytes of a prompt, want 2000 to 3600: shorten descriptions", s.Bytes)
			}
			return
		}
	}
	t.Errorf("prompts name no skills: %s", out)
}

// TestOddSkills says what is read of the shapes in testdata/skills, which were
// met in public collections.
func TestOddSkills(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs(filepath.Join("testdata", "skills"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{ // the beginning of the description, or of the reason
		"1/2/3/4/5/6/7/8/9/10/deep": "ok: Eleven directories down",
		"blank-lines":               "ok: Every line is followed by an empty one",
		"colons":                    `ok: Use when: the user says "go", or asks: what now?`,
		"dashes-inside":             "ok: Cuts a text at each `---` of it, and nowhere else",
		"heading-key":               "broken: 9:1 could not find expected ':'; write every line as key: value",
		"html-entities":             "ok: Asks for &quot;today's plan&quot; &amp; more",
		"indented-fence":            "ok: A text of several lines",
		"long-description":          "ok: words that go on and on, to show what a list does with them é0 words",
		"merge-conflict":            "broken: 4:1 could not find expected ':'; take out the marks of the merge",
		"open-json":                 "broken: 4:11 did not find expected ',' or '}'; close the mapping with }",
		"plain":                     "ok: A plain one",
		"spoken-name":               "ok: It's quoted",
		"unclosed":                  "broken: 1:1 the front matter is not closed; add a line with --- after it",
	}
	for _, s := range skillsOf(t, dir) {
		rel, err := filepath.Rel(dir, filepath.Dir(s.Path))
		if err != nil {
			t.Fatal(err)
		}
		got := s.State + ": " + s.Description + s.Reason
		if s.State == "broken" {
			got = s.State + ": " + s.Reason
		}
		if w, ok := want[filepath.ToSlash(rel)]; !ok || !strings.HasPrefix(got, w) {
			t.Errorf("%s is %q, want %q", rel, got, w)
		}
		delete(want, filepath.ToSlash(rel))
	}
	for rel := range want {
		t.Errorf("%s is not listed", rel)
	}
}

// TestSkillTrees reads trees of skills that other people wrote, or might have:
// no file is lost, what is broken says why, and what skills-ref can read is
// read the same. testdata/skills holds odd shapes; HERMES_TEST_SKILLS adds a
// directory of one's own, such as a checkout of a public collection.
func TestSkillTrees(t *testing.T) {
	t.Parallel()
	trees := []string{filepath.Join("testdata", "skills")}
	if dir := os.Getenv("HERMES_TEST_SKILLS"); dir != "" {
		trees = append(trees, dir)
	}
	for _, tree := range trees {
		t.Run(filepath.Base(tree), func(t *testing.T) {
			t.Parallel()
			dir, err := filepath.Abs(tree)
			if err != nil {
				t.Fatal(err)
			}
			if dir, err = filepath.EvalSymlinks(dir); err != nil {
				t.Fatal(err)
			}
			files, inside := skillFiles(t, dir)
			skills := skillsOf(t, dir)
			have := map[string]bool{}
			states := map[string]int{}
			for _, s := range skills {
				have[s.Path] = true
				states[s.State]++
				if s.State == "broken" {
					if s.Reason == "" {
						t.Errorf("%s is broken and does not say why", s.Path)
					}
					t.Logf("broken: %s: %s", s.Path, s.Reason)
				}
			}
			for _, f := range files {
				if !have[f] {
					t.Errorf("%s is lost", f)
				}
			}
			if len(have) != len(files) || len(skills) != len(files) {
				t.Errorf("%d skills are listed, %d paths; there are %d files", len(skills), len(have), len(files))
			}
			if tree == os.Getenv("HERMES_TEST_SKILLS") && states["broken"]*100 > len(files) {
				t.Errorf("%d of %d are broken", states["broken"], len(files))
			}
			read, short := 0, 0
			for i, ref := range references(t, skills) {
				s := skills[i]
				if !ref.Read {
					continue
				}
				if read++; cutShort(t, s.Path) {
					short++
					continue
				}
				if s.State == "broken" || s.Name != cut(ref.Name, 64, "") || oneLine(s.Description) != oneLine(cut(ref.Description, 1024, "...")) {
					t.Errorf("%s: skills-ref reads %q, %q\nwe read (%s) %q, %q", s.Path, ref.Name, ref.Description, s.State, s.Name, s.Description)
				}
			}
			t.Logf("%d files (and %d inside of other skills): %v; skills-ref reads %d, %d of them not to the end", len(files), inside, states, read, short)
		})
	}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// cut is how lists show what is longer than the open standard allows.
func cut(s string, most int, end string) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return strings.TrimSpace(string(r[:most-len(end)]) + end)
}

// cutShort reports a front matter that skills-ref does not read to its end: it
// takes any --- for that, also one inside of a line.
func cutShort(t *testing.T, path string) bool {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	front, _, closed := strings.Cut(strings.TrimPrefix(strings.ReplaceAll(string(data), "\r\n", "\n"), "---\n"), "\n---")
	return closed && strings.Contains(front, "---")
}

// skillFiles lists the skills below a directory by a walk of its own, and
// counts those inside of others: they are parts of those.
func skillFiles(t *testing.T, dir string) (files []string, inside int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && p != dir && (strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules" || e.Name() == "__pycache__"):
			return fs.SkipDir
		case e.Name() == "SKILL.md" && e.Type().IsRegular():
			files = append(files, p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	is := map[string]bool{}
	for _, f := range files {
		is[filepath.Dir(f)] = true
	}
	n := len(files)
	files = slices.DeleteFunc(files, func(f string) bool {
		for d := filepath.Dir(filepath.Dir(f)); len(d) >= len(dir); d = filepath.Dir(d) {
			if is[d] {
				return true
			}
		}
		return false
	})
	return files, n - len(files)
}
