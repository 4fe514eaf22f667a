package skill

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Cases that no test of one function covers. The others have their number in
// the name of their test or of its step.

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.Symlink(to, at)); err != nil {
		t.Fatal(err)
	}
}

// A skill behind a link to its category is listed, opened and changed; the
// change is made where it lies.
func TestLinkedCategoryCase22F069F070(t *testing.T) {
	t.Parallel()
	l := library(t)
	outside := t.TempDir()
	put(t, outside, "x/SKILL.md", body("x"))
	put(t, outside, "x/references/r.md", "r")
	link(t, outside, filepath.Join(l.Dir(), "cat"))
	link(t, l.Dir(), filepath.Join(l.Dir(), "loop"))
	s, err := l.List().Find("x")
	if err != nil || s.Rel != "cat/x" || s.State != OK {
		t.Fatalf("%+v, %v", s, err)
	}
	if _, _, err := l.Patch(ByAgent, s, "", "Do it.", "Do it well.", false); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(outside, "x", "SKILL.md"))
	if err != nil || !strings.Contains(string(data), "Do it well.") {
		t.Errorf("%s, %v", data, err)
	}
	if _, err := l.WriteFile(ByAgent, s, "references/n.md", "n"); err != nil {
		t.Error(err)
	}
	loaded, err := l.Load(t.Context(), s, "") // as the slash command does
	if err != nil || !strings.Contains(loaded.Message(""), "references/r.md  ->  "+filepath.Join(l.Dir(), "cat", "x", "references", "r.md")) {
		t.Errorf("%v", err)
	}
}

// What a link brings has its name: nothing may be made beside it.
func TestCreateSeesLinkedSkillsF071(t *testing.T) {
	t.Parallel()
	l := library(t)
	outside := t.TempDir()
	put(t, outside, "dir/SKILL.md", body("taken"))
	link(t, filepath.Join(outside, "dir"), filepath.Join(l.Dir(), "linked"))
	for _, name := range []string{"taken", "linked"} {
		if _, err := l.Create(ByAgent, name, "", body(name)); err == nil || !strings.Contains(err.Error(), filepath.Join(l.Dir(), "linked", "SKILL.md")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNoWayOutF072(t *testing.T) {
	t.Parallel()
	l := library(t)
	put(t, l.Home, "outside/SKILL.md", body("outside"))
	put(t, l.Home, ".env", "SECRET=1")
	put(t, l.Dir(), "a/SKILL.md", body("a"))
	for _, name := range []string{"../outside", l.Home + "/outside", "a/../../outside", "~/outside", `..\outside`, "a/\x00", ".archive/a"} {
		if s, err := l.List().Find(name); err == nil {
			t.Errorf("%q is %s", name, s.Path)
		}
	}
	s, err := l.List().Find("a")
	if err != nil {
		t.Fatal(err)
	}
	link(t, filepath.Join(l.Home, ".env"), filepath.Join(s.Dir, "references", "e"))
	for _, rel := range []string{"../../.env", "references/e", "references/../../../.env", "/etc/passwd"} {
		if p, err := s.Locate(rel); !errors.Is(err, ErrOutside) {
			t.Errorf("%q leads to %s, %v", rel, p, err)
		}
	}
}

// The author is told of a toolset that there is none of.
func TestUnknownToolsetF075(t *testing.T) {
	t.Parallel()
	found := Validate("p", "a", []byte("---\nname: a\ndescription: d\nmetadata: {hermes: {requires_toolsets: [files]}}\n---\nB"), []string{"read_file"}, []string{"file"})
	if !slices.ContainsFunc(found, func(f Finding) bool { return f.Text == "no toolset is called files" }) {
		t.Errorf("found %v", found)
	}
}

// What a person put into a category of the program's skills stays there.
func TestUpdateLeavesOthersF078(t *testing.T) {
	t.Parallel()
	l := library(t)
	texts := map[string]string{"c/a/SKILL.md": body("a"), "c/b/SKILL.md": body("b")}
	seed(t, l, bundleOf(texts))
	put(t, l.Dir(), "c/mine/SKILL.md", body("mine"))
	put(t, l.Dir(), "c/notes.txt", "n")
	delete(texts, "c/b/SKILL.md") // no longer bundled: it is the user's now
	texts["c/a/SKILL.md"] += "new\n"
	got := seed(t, l, bundleOf(texts))
	if !slices.Equal(got.Updated, []string{"a"}) || !slices.Equal(got.Cleaned, []string{"b"}) {
		t.Errorf("got %+v", got)
	}
	for _, rel := range []string{"c/mine/SKILL.md", "c/notes.txt", "c/b/SKILL.md"} {
		if textOf(t, l, rel) == "(gone)" {
			t.Errorf("%s is gone", rel)
		}
	}
}

// A skill deep in the tree is found; one inside another is a part of it.
func TestNestedF079(t *testing.T) {
	t.Parallel()
	l := library(t)
	put(t, l.Dir(), "common/a/b/c/d/deep/SKILL.md", body("deep"))
	put(t, l.Dir(), "outer/SKILL.md", body("outer"))
	put(t, l.Dir(), "outer/skills/inner/SKILL.md", body("inner"))
	if got := listed(l.List()); got != "/outer:ok common/a/b/c/d/deep:ok" {
		t.Error(got)
	}
}

// What people may call for follows the lists of their platform.
func TestPlatformsHaveTheirCommandsCase66(t *testing.T) {
	t.Parallel()
	l := Open(Options{Home: t.TempDir(), Disabled: []string{"a"}, Platforms: map[string][]string{"telegram": {"b"}, "slack": {}}})
	for _, n := range []string{"a", "b", "c"} {
		put(t, l.Dir(), n+"/SKILL.md", body(n))
	}
	for platform, want := range map[string]string{"cli": "b c", "telegram": "a c", "slack": "a b c"} {
		var names []string
		for _, c := range l.List().Commands(l.Off(platform), nil) {
			names = append(names, c.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s, want %s", platform, got, want)
		}
	}
}

// A copy or an update that fails is tried again, and nothing is lost by it.
func TestSeedFailsCase70(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Log("as root: a file stands where the directory has to be")
	}
	l := library(t)
	texts := map[string]string{"c/a/SKILL.md": body("a"), "d/b/SKILL.md": body("b")}
	put(t, l.Dir(), "c", "a file in the way")
	got, err := l.Seed(bundleOf(texts), "")
	if err == nil || len(got.Failed) != 1 || !slices.Equal(got.Copied, []string{"b"}) || strings.Contains(textOf(t, l, manifestName), "a:") {
		t.Errorf("copy: %+v, %v", got, err)
	}
	if err := os.Remove(filepath.Join(l.Dir(), "c")); err != nil {
		t.Fatal(err)
	}
	if got := seed(t, l, bundleOf(texts)); !slices.Equal(got.Copied, []string{"a"}) {
		t.Errorf("copy again: %+v", got)
	}
	// An update whose file cannot be written: a directory stands in its place.
	texts["d/b/SKILL.md"] += "new\n"
	texts["d/b/references/r.md"] = "new\n"
	put(t, l.Dir(), "d/b/references/r.md/x", "in the way")
	put(t, l.Dir(), "d/b/SKILL.md", body("b")+"# mine\n")
	before := textOf(t, l, "d/b/SKILL.md")
	if got, err = l.Seed(bundleOf(texts), ""); err == nil || len(got.Failed) != 1 {
		t.Errorf("update: %+v, %v", got, err)
	}
	if now := textOf(t, l, "d/b/SKILL.md"); !strings.Contains(now, "# mine") {
		t.Errorf("the user's text became %q, from %q", now, before)
	}
	if err := os.RemoveAll(filepath.Join(l.Dir(), "d/b/references")); err != nil {
		t.Fatal(err)
	}
	if got := seed(t, l, bundleOf(texts)); len(got.Merged) != 1 || textOf(t, l, "d/b/references/r.md") != "new\n" {
		t.Errorf("update again: %+v", got)
	}
}
