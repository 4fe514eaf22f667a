package skill

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
)

func bundleOf(texts map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for p, t := range texts {
		m[p] = &fstest.MapFile{Data: []byte(t)}
	}
	return m
}

func seed(t *testing.T, l *Library, b fstest.MapFS) Seeded {
	t.Helper()
	s, err := l.Seed(b, "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSeedCases68And69(t *testing.T) {
	t.Parallel()
	l := library(t)
	texts := map[string]string{
		"c/a/SKILL.md": body("a"), "c/a/scripts/run.sh": "#!/bin/sh\n", "c/b/SKILL.md": body("b"), "c/d/SKILL.md": body("d"), "own/SKILL.md": body("own"),
		"c/DESCRIPTION.md": "---\ndescription: x\n---\n",
	}
	put(t, l.Dir(), "own/SKILL.md", body("own")+"mine\n")
	got := seed(t, l, bundleOf(texts))
	if !reflect.DeepEqual(got.Copied, []string{"a", "b", "d"}) || !reflect.DeepEqual(got.Differs, []string{"own"}) || got.Total != 4 {
		t.Errorf("fresh: %+v", got)
	}
	info, err := os.Stat(filepath.Join(l.Dir(), "c/a/scripts/run.sh"))
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("script: %v, %v", info, err)
	}
	if _, err := os.Stat(filepath.Join(l.Dir(), "c/DESCRIPTION.md")); err != nil {
		t.Error(err)
	}
	if got := seed(t, l, bundleOf(texts)); len(got.Copied)+len(got.Updated) != 0 {
		t.Errorf("again: %+v", got)
	}
	// The user edits a, deletes b, sorts d elsewhere; the next release changes all.
	put(t, l.Dir(), "c/a/SKILL.md", body("a")+"edited\n")
	if err := os.RemoveAll(filepath.Join(l.Dir(), "c/b")); err != nil {
		t.Fatal(err)
	}
	put(t, l.Dir(), "mine/x", "")
	if err := os.Rename(filepath.Join(l.Dir(), "c/d"), filepath.Join(l.Dir(), "mine/d")); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"a", "b", "d"} {
		texts["c/"+n+"/SKILL.md"] = body(n) + "new\n"
	}
	texts["c/e/SKILL.md"] = body("e")
	got = seed(t, l, bundleOf(texts))
	if !reflect.DeepEqual(got.Copied, []string{"e"}) || !reflect.DeepEqual(got.Updated, []string{"d"}) || !reflect.DeepEqual(got.Merged, []string{"a"}) || !reflect.DeepEqual(got.Conflicts, []Conflict{{"a", "SKILL.md"}}) {
		t.Errorf("next: %+v", got)
	}
	for rel, want := range map[string]string{"c/a": "edited\n", "mine/d": "new\n", "own": "mine\n"} {
		b, err := os.ReadFile(filepath.Join(l.Dir(), rel, "SKILL.md"))
		if err != nil || !strings.HasSuffix(string(b), want) {
			t.Errorf("%s: %q, %v", rel, b, err)
		}
	}
	if _, err := os.Stat(filepath.Join(l.Dir(), "c/b")); err == nil {
		t.Error("what the user deleted came back")
	}
	// Reset: the user's form is archived, the bundled one comes back.
	at, _, err := l.Reset(bundleOf(texts), "a", true)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(at, "SKILL.md")); err != nil || !strings.HasSuffix(string(b), "edited\n") {
		t.Errorf("archived: %q, %v", b, err)
	}
	if b, err := os.ReadFile(filepath.Join(l.Dir(), "c/a/SKILL.md")); err != nil || !strings.HasSuffix(string(b), "new\n") {
		t.Errorf("restored: %q, %v", b, err)
	}
	if _, _, err := l.Reset(bundleOf(texts), "b", false); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(l.Dir(), "c/b")); err != nil {
		t.Error("a reset brings back what was deleted")
	}
	if _, _, err := l.Reset(bundleOf(texts), "nope", false); err == nil {
		t.Error("an unknown name was reset")
	}
}

func TestSeedFirstVersionCase70(t *testing.T) {
	t.Parallel()
	l := library(t)
	put(t, l.Dir(), ".bundled_manifest", "a\ngone:0123\n")
	put(t, l.Dir(), "a/SKILL.md", body("a")+"old\n")
	texts := map[string]string{"a/SKILL.md": body("a") + "v2\n"}
	if got := seed(t, l, bundleOf(texts)); !reflect.DeepEqual(got.Cleaned, []string{"gone"}) || got.Skipped != 1 {
		t.Errorf("baseline: %+v", got)
	}
	texts["a/SKILL.md"] = body("a") + "v3\n"
	if got := seed(t, l, bundleOf(texts)); !reflect.DeepEqual(got.Updated, []string{"a"}) {
		t.Errorf("next: %+v", got)
	}
}

// TestSeedBuild: a build of the program brings its skills once, and another
// build looks whether it has others.
func TestSeedBuild(t *testing.T) {
	t.Parallel()
	l := Open(Options{Home: t.TempDir()})
	bring := func(text, build string, want int) {
		t.Helper()
		s, err := l.Seed(bundleOf(map[string]string{"c/a/SKILL.md": plainSkill("a", text)}), build)
		if err != nil || s.Total != want {
			t.Errorf("%+v, %v; want %d looked at", s, err, want)
		}
	}
	bring("", "build 1", 1)
	bring("x: other\n", "build 1", 0) // cannot be, hence is not looked for
	bring("", "build 2", 0)           // the same set
	bring("x: other\n", "build 2", 0)
	bring("x: other\n", "build 3", 1)
	bring("x: other\n", "", 0)
	bring("", "", 1)
}
