package skill

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

// zipOf packs files; a name that ends in @ is a link.
func zipOf(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for name, data := range files {
		h := &zip.FileHeader{Name: strings.TrimSuffix(name, "@")}
		h.SetMode(0o644)
		if strings.HasSuffix(name, "@") {
			h.SetMode(fs.ModeSymlink | 0o777)
		}
		w, err := z.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestImportRefuses(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"up":            {"../evil/SKILL.md": body("evil")},
		"absolute":      {"/tmp/evil/SKILL.md": body("evil")},
		"windows":       {`a\..\b/SKILL.md`: body("evil")},
		"drive":         {"C:/x/SKILL.md": body("evil")},
		"link":          {"a/SKILL.md": body("a"), "a/references/l@": "/etc/passwd"},
		"state of ours": {".archive/a/SKILL.md": body("a")},
		"no directory":  {"SKILL.md": body("a")},
		"no skill":      {"a/README.md": "x"},
		"newer":         {"skills.json": `{"version":2}`, "a/SKILL.md": body("a")},
		"damaged":       {"skills.json": `{"version":1,"skills":[{"name":"a","dir":"a","sums":{"SKILL.md":"00","references/r.md":"11"}}]}`, "a/SKILL.md": body("a")},
	} {
		l := library(t)
		out, err := l.Import(ByUser, zipOf(t, files), true)
		if err == nil {
			t.Errorf("%s: imported %+v", name, out)
		}
		if n := len(l.List().Skills); n != 0 {
			t.Errorf("%s: %d skills are there", name, n)
		}
	}
}

func TestExportImport(t *testing.T) {
	t.Parallel()
	l := library(t)
	put(t, l.Dir(), "c/a/SKILL.md", body("a"))
	put(t, l.Dir(), "c/a/scripts/run", "#!/bin/sh\n")
	put(t, l.Dir(), "c/a/assets/x.bin", "\x00\xff")
	if err := os.Chmod(filepath.Join(l.Dir(), "c/a/scripts/run"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Create(ByAgent, "made", "", body("made")); err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if _, err := l.Export(&buf, l.List().Skills); err != nil {
		t.Fatal(err)
	}
	to := library(t)
	put(t, to.Dir(), "elsewhere/a/SKILL.md", body("a")+"other\n") // the same skill, sorted elsewhere
	out, err := to.Import(ByUser, buf.Bytes(), false)
	if err != nil || !reflect.DeepEqual(out.Differs, []string{"a"}) || len(out.Added) != 0 || len(to.List().Skills) != 1 {
		t.Errorf("got %+v, %v", out, err)
	}
	if out, err = to.Import(ByUser, buf.Bytes(), true); err != nil || !reflect.DeepEqual(out.Replaced, []string{"a"}) || !reflect.DeepEqual(out.Added, []string{"made"}) {
		t.Errorf("got %+v, %v", out, err)
	}
	if got := textOf(t, to, "elsewhere/a/assets/x.bin"); got != "\x00\xff" {
		t.Errorf("binary: %q", got)
	}
	if info, err := os.Stat(filepath.Join(to.Dir(), "elsewhere/a/scripts/run")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("script: %v, %v", info, err)
	}
	if u := to.Usages()["made"]; u.CreatedBy != ByAgent {
		t.Errorf("made by %q", u.CreatedBy)
	}
	if out, err = to.Import(ByUser, buf.Bytes(), false); err != nil || len(out.Same) != 2 {
		t.Errorf("again: %+v, %v", out, err)
	}
}

// The record of the original is read, added to by several at once, and never
// lost when it is damaged.
func TestUsage(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	l := Open(Options{Home: home, Now: func() time.Time { return time.Date(2026, 5, 2, 0, 0, 0, 0, time.UTC) }})
	put(t, l.Dir(), "a/SKILL.md", body("a"))
	put(t, l.Dir(), usageName, `{"a":{"created_by":null,"use_count":3,"view_count":7,"last_used_at":"2026-05-01T10:00:00.123456+00:00","state":"stale","pinned":false,"odd":[1]},"old":{"agent_created":true}}`)
	s := l.List().Skills[0]
	if u := l.Usage(s); u.Uses != 3 || u.State != Stale || u.LastUsed.Day() != 1 {
		t.Errorf("read %+v", u)
	}
	if l.Usages()["old"].CreatedBy != ByAgent {
		t.Error("the original's older form is not understood")
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			other := Open(Options{Home: home, Trouble: func(err error) { t.Error(err) }})
			for range 5 {
				other.Used(s)
			}
		})
	}
	wg.Wait()
	if u := l.Usage(s); u.Uses != 23 || u.State != Active {
		t.Errorf("counted %+v", u)
	}
	var raw map[string]map[string]any
	if err := json.Unmarshal([]byte(textOf(t, l, usageName)), &raw); err != nil || raw["a"]["view_count"] != 7.0 || raw["a"]["odd"] == nil {
		t.Errorf("file: %v, %v", raw, err)
	}
	put(t, l.Dir(), usageName, `{"a": broken`)
	l.Used(s)
	if u := l.Usage(s); u.Uses != 1 || textOf(t, l, usageName+".corrupt") != `{"a": broken` {
		t.Errorf("after damage: %+v", u)
	}
}

// A history whose last line was cut off goes on.
func TestHistoryCutOff(t *testing.T) {
	t.Parallel()
	l := library(t)
	s, err := l.Create(ByAgent, "a", "", body("a"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(l.historyLog("a"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"number":2,"at":"2026`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.Patch(ByAgent, s, "", "Do it.", "Do it well.", false); err != nil {
		t.Fatal(err)
	}
	all, err := l.History("a")
	if err != nil || len(all) != 2 || all[1].What != "patched SKILL.md" {
		t.Fatalf("%+v, %v", all, err)
	}
	// Damage is told, and nothing is written.
	put(t, l.Dir(), ".history/files/"+all[0].Files["SKILL.md"].Sum[:2]+"/"+all[0].Files["SKILL.md"].Sum, "rubbish")
	if _, err := l.Revert(ByUser, "a", 1); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("got %v", err)
	}
	if got := textOf(t, l, "a/SKILL.md"); !strings.Contains(got, "well") {
		t.Errorf("file: %q", got)
	}
	for _, name := range []string{"../x", "a/b", ".x", ""} {
		if _, err := l.History(name); err == nil {
			t.Errorf("%q is a name", name)
		}
	}
}

// FuzzReadImport: whatever a file holds, its skills stay below the directory
// that they are brought into.
func FuzzReadImport(f *testing.F) {
	for _, name := range []string{"a/SKILL.md", "../a/SKILL.md", "/a/SKILL.md", "skills/c/a/SKILL.md", "a/../../b/SKILL.md", ".a/SKILL.md", "a//SKILL.md"} {
		var buf bytes.Buffer
		z := zip.NewWriter(&buf)
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(body("a")))
		}
		if err != nil || z.Close() != nil {
			f.Fatal(err)
		}
		f.Add(buf.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := readImport(data)
		if err != nil {
			return
		}
		for _, c := range all {
			for rel := range c.files {
				if p := c.Dir + "/" + rel; !filepath.IsLocal(filepath.FromSlash(p)) || strings.HasPrefix(p, ".") || len(c.texts[rel]) > maxBundle {
					t.Errorf("%q is brought in", p)
				}
			}
			if c.Name == "" || len(c.files) == 0 {
				t.Errorf("a skill of nothing: %+v", c.Carried)
			}
		}
	})
}
