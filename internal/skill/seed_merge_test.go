package skill

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
)

func textOf(t *testing.T, l *Library, rel string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(l.Dir(), rel))
	if errors.Is(err, os.ErrNotExist) {
		return "(gone)"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

const steps = "1. one\n2. two\n3. three\n4. four\n5. five\n"

// TestSeedMerges is F-077: an edit here does not freeze a bundled skill.
func TestSeedMergesF077(t *testing.T) {
	t.Parallel()
	l := library(t)
	texts := map[string]string{
		"c/a/SKILL.md": body("a") + steps, "c/a/scripts/s.sh": "#!/bin/sh\n" + steps, "c/a/references/gone.md": "old\n", "c/a/references/kept.md": "old\n",
		"c/a/references/both.md": steps, "c/a/assets/x.bin": "\x00a", "c/a/references/mine-gone.md": "x\n",
	}
	seed(t, l, bundleOf(texts))
	// The user changes a step, a file, an asset, and takes one away.
	put(t, l.Dir(), "c/a/SKILL.md", body("a")+strings.Replace(steps, "two", "TWO", 1))
	put(t, l.Dir(), "c/a/references/kept.md", "mine\n")
	put(t, l.Dir(), "c/a/references/own.md", "mine\n")
	put(t, l.Dir(), "c/a/references/both.md", strings.Replace(steps, "three", "mine", 1))
	put(t, l.Dir(), "c/a/assets/x.bin", "\x00mine")
	if err := os.Remove(filepath.Join(l.Dir(), "c/a/references/mine-gone.md")); err != nil {
		t.Fatal(err)
	}
	// The next release changes another step, a script, drops one file, brings one.
	texts["c/a/SKILL.md"] = body("a") + strings.Replace(steps, "five", "FIVE", 1)
	texts["c/a/scripts/s.sh"] += "echo new\n"
	delete(texts, "c/a/references/gone.md")
	texts["c/a/references/new.md"] = "new\n"
	texts["c/a/references/both.md"] = strings.Replace(steps, "three", "theirs", 1)
	texts["c/a/assets/x.bin"] = "\x00theirs"
	bundle := bundleOf(texts)
	got := seed(t, l, bundle)
	if want := []Conflict{{"a", "assets/x.bin"}, {"a", "references/both.md"}}; !reflect.DeepEqual(got.Merged, []string{"a"}) || !reflect.DeepEqual(got.Conflicts, want) {
		t.Errorf("got %+v", got)
	}
	for rel, want := range map[string]string{
		"SKILL.md":                body("a") + strings.NewReplacer("two", "TWO", "five", "FIVE").Replace(steps),
		"scripts/s.sh":            "#!/bin/sh\n" + steps + "echo new\n",
		"references/gone.md":      "(gone)",
		"references/mine-gone.md": "(gone)",
		"references/kept.md":      "mine\n",
		"references/own.md":       "mine\n",
		"references/new.md":       "new\n",
		"references/both.md":      strings.Replace(steps, "three", "mine", 1),
		"assets/x.bin":            "\x00mine",
	} {
		if got := textOf(t, l, "c/a/"+rel); got != want {
			t.Errorf("%s: %q, want %q", rel, got, want)
		}
	}
	if info, err := os.Stat(filepath.Join(l.Dir(), "c/a/scripts/s.sh")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("script: %v, %v", info, err)
	}
	// The conflicts stay known until the file is as bundled, or the skill is.
	open, err := l.Conflicts(bundle)
	if err != nil || len(open) != 2 {
		t.Errorf("open: %v, %v", open, err)
	}
	put(t, l.Dir(), "c/a/references/both.md", texts["c/a/references/both.md"])
	if open, err = l.Conflicts(bundle); err != nil || !reflect.DeepEqual(open, []Conflict{{"a", "assets/x.bin"}}) {
		t.Errorf("open: %v, %v", open, err)
	}
	// The release after that is merged with what came before it.
	texts["c/a/SKILL.md"] = body("a") + strings.NewReplacer("five", "FIVE", "four", "FOUR").Replace(steps)
	if got := seed(t, l, bundleOf(texts)); !reflect.DeepEqual(got.Merged, []string{"a"}) || got.Conflicts != nil {
		t.Errorf("then: %+v", got)
	}
	if got, want := textOf(t, l, "c/a/SKILL.md"), body("a")+strings.NewReplacer("two", "TWO", "five", "FIVE", "four", "FOUR").Replace(steps); got != want {
		t.Errorf("then: %q, want %q", got, want)
	}
	// What was there before can be had again.
	all, err := l.History("a")
	if err != nil || len(all) != 4 || all[1].By != ByProgram {
		t.Fatalf("history: %+v, %v", all, err)
	}
	if _, err := l.Revert(ByUser, "a", 1); err != nil {
		t.Fatal(err)
	}
	if got, want := textOf(t, l, "c/a/SKILL.md"), body("a")+strings.Replace(steps, "two", "TWO", 1); got != want {
		t.Errorf("reverted: %q", got)
	}
	if got := textOf(t, l, "c/a/references/new.md"); got != "(gone)" {
		t.Errorf("reverted: %q", got)
	}
}

// A run that ends in the midst of an update is gone on with.
func TestSeedCutOff(t *testing.T) {
	t.Parallel()
	for _, pristine := range []bool{true, false} {
		l := library(t)
		texts := map[string]string{"a/SKILL.md": body("a") + "x\n", "a/references/r.md": "0\n", "a/references/s.md": "s\n"}
		seed(t, l, bundleOf(texts))
		if !pristine {
			put(t, l.Dir(), "a/SKILL.md", body("a")+"x\nmine\n")
		}
		texts["a/references/r.md"], texts["a/references/s.md"] = "0\n0\n", "t\n"
		manifest := textOf(t, l, manifestName)
		want := textOf(t, l, "a/SKILL.md")
		seed(t, l, bundleOf(texts))
		// As it was after the first file was written.
		put(t, l.Dir(), manifestName, manifest)
		put(t, l.Dir(), "a/references/s.md", "s\n")
		put(t, l.Dir(), pendingName, `{"skill":"a","pristine":`+map[bool]string{true: "true", false: "false"}[pristine]+`,"files":{"references/r.md":"`+sumOf([]byte("0\n0\n"))+`","references/s.md":"`+sumOf([]byte("t\n"))+`"}}`)
		if err := os.Remove(filepath.Join(l.Dir(), stampName)); err != nil {
			t.Fatal(err)
		}
		got := seed(t, l, bundleOf(texts))
		if len(got.Updated)+len(got.Merged) != 1 || got.Conflicts != nil {
			t.Errorf("pristine %v: %+v", pristine, got)
		}
		if a, b := textOf(t, l, "a/references/r.md"), textOf(t, l, "a/references/s.md"); a != "0\n0\n" || b != "t\n" || textOf(t, l, "a/SKILL.md") != want {
			t.Errorf("pristine %v: %q, %q", pristine, a, b)
		}
		if textOf(t, l, pendingName) != "(gone)" {
			t.Error("the update still pends")
		}
	}
}

// A home of the original, or of an earlier release, has no base: what was
// changed there stays as it is.
func TestSeedWithoutBase(t *testing.T) {
	t.Parallel()
	l := library(t)
	texts := map[string]string{"a/SKILL.md": body("a") + "x\n", "b/SKILL.md": body("b") + "x\n"}
	seed(t, l, bundleOf(texts))
	if err := os.Remove(filepath.Join(l.Dir(), baseName)); err != nil {
		t.Fatal(err)
	}
	put(t, l.Dir(), "a/SKILL.md", body("a")+"mine\n")
	texts["a/SKILL.md"], texts["b/SKILL.md"] = body("a")+"y\n", body("b")+"y\n"
	got := seed(t, l, bundleOf(texts))
	if !slices.Equal(got.Modified, []string{"a"}) || !slices.Equal(got.Updated, []string{"b"}) {
		t.Errorf("got %+v", got)
	}
	if a, b := textOf(t, l, "a/SKILL.md"), textOf(t, l, "b/SKILL.md"); a != body("a")+"mine\n" || b != texts["b/SKILL.md"] {
		t.Errorf("%q, %q", a, b)
	}
}

// Several processes that start at once bring everything, and once.
func TestSeedTogether(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	texts := map[string]string{}
	for i := range 20 {
		texts[fmt.Sprintf("c/s%02d/SKILL.md", i)] = body(fmt.Sprintf("s%02d", i))
	}
	for range 2 { // fresh, and then with a change on both sides
		var wg sync.WaitGroup
		out := make([]Seeded, 4)
		errs := make([]error, len(out))
		for i := range out {
			wg.Go(func() { out[i], errs[i] = Open(Options{Home: home}).Seed(bundleOf(texts), "") })
		}
		wg.Wait()
		brought := 0
		for i, o := range out {
			brought += len(o.Copied) + len(o.Merged)
			if errs[i] != nil || o.Failed != nil {
				t.Errorf("%+v, %v", o, errs[i])
			}
		}
		if brought != 20 {
			t.Errorf("brought %d", brought)
		}
		for rel := range texts {
			put(t, filepath.Join(home, "skills"), rel, "---\n# mine\n"+texts[rel][4:])
			texts[rel] += "new\n"
		}
	}
	l := Open(Options{Home: home})
	if n := len(l.List().Skills); n != 20 {
		t.Errorf("%d skills", n)
	}
}
