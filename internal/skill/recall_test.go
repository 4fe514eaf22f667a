package skill

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func recallLibrary(home, build string) *Library {
	return Open(Options{Home: home, Build: build, Now: func() time.Time { return time.Now().Add(time.Hour) }})
}

// TestRecallCase36: the next program reads what the last one made of the files, as
// long as they and the program are the same.
func TestRecallCase36(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	good := put(t, home, "skills/c/good/SKILL.md", plainSkill("good", "platforms: [linux, macos, windows, plan9]\nmetadata:\n  hermes:\n    requires_toolsets: [web]\n"))
	put(t, home, "skills/c/odd/SKILL.md", "---\nname: odd\ndescription: a: b\n---\nx\n")
	put(t, home, "skills/c/bad/SKILL.md", "---\nname: [x\n---\nB")
	put(t, home, "skills/c/DESCRIPTION.md", "---\ndescription: the category\n---\n")
	o := IndexOptions{Toolsets: []string{"web"}}
	first := recallLibrary(home, "1").List()
	kept := filepath.Join(home, "cache", "skills.json")
	text, err := os.ReadFile(kept)
	if err != nil || !strings.Contains(string(text), "the category") {
		t.Fatalf("%s, %v", text, err)
	}
	if info, err := os.Stat(kept); err != nil || info.ModTime().IsZero() {
		t.Fatal(err)
	}
	same := func(l *Listing) {
		t.Helper()
		if got, want := l.Index(o), first.Index(o); got != want || listed(l) != listed(first) {
			t.Errorf("got\n%s\n%s\nwant\n%s\n%s", listed(l), got, listed(first), want)
		}
		for i, s := range l.Skills {
			want := first.Skills[i]
			if s.Reason != want.Reason || strings.Join(s.Warnings, "\n") != strings.Join(want.Warnings, "\n") || (s.Problem == nil) != (want.Problem == nil) {
				t.Errorf("got %+v, want %+v", s, want)
			}
		}
	}
	same(recallLibrary(home, "1").List())

	// What is kept is used: a text that no file has comes from there alone.
	if err := os.WriteFile(kept, []byte(strings.ReplaceAll(string(text), "about good", "ABOUT GOOD")), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := recallLibrary(home, "1").List().Index(o); !strings.Contains(got, "ABOUT GOOD") {
		t.Errorf("the kept text was not used:\n%s", got)
	}
	same(recallLibrary(home, "2").List()) // another program reads for itself, and keeps that
	same(recallLibrary(home, "2").List())

	for _, damage := range []string{"", "{", `{"Build":"2"}`, `{"Build":"2","Files":{"x":null}}`} {
		if err := os.WriteFile(kept, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		same(recallLibrary(home, "2").List())
	}

	if err := os.WriteFile(good, []byte(plainSkill("good", "platforms: [linux]\n")+"longer"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := recallLibrary(home, "2").List().Find("good"); err != nil || len(s.Platforms) != 1 {
		t.Errorf("a changed file: %+v, %v", s, err)
	}
	if err := os.Remove(good); err != nil {
		t.Fatal(err)
	}
	if l := recallLibrary(home, "2").List(); strings.Contains(listed(l), "good") {
		t.Errorf("a removed file: %s", listed(l))
	}
}

// TestRecallUnsettled: a file that was changed a moment ago may change again
// within the grain of its time stamp, and is read again.
func TestRecallUnsettled(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := put(t, home, "skills/a/SKILL.md", plainSkill("one", ""))
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return info.ModTime().Add(time.Millisecond) }
	Open(Options{Home: home, Build: "1", Now: now}).List()
	if err := os.WriteFile(path, []byte(plainSkill("two", "")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if l := Open(Options{Home: home, Build: "1", Now: now}).List(); listed(l) != "/two:ok" {
		t.Errorf("got %s", listed(l))
	}
}
