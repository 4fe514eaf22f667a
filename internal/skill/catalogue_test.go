package skill

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// put writes a file below dir.
func put(t testing.TB, dir, rel, text string) string {
	t.Helper()
	p := filepath.Join(dir, filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return p
}

func plainSkill(name, more string) string {
	return "---\nname: " + name + "\ndescription: about " + name + "\n" + more + "---\n# " + name + "\n"
}

func listed(l *Listing) string {
	var out []string
	for _, s := range l.Skills {
		out = append(out, fmt.Sprintf("%s/%s:%s", s.Category, s.Name, s.State))
	}
	return strings.Join(out, " ")
}

func TestCatalogueCases20And24(t *testing.T) {
	t.Parallel()
	home, ext := t.TempDir(), t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside")
	put(t, home, "top/SKILL.md", plainSkill("top", ""))
	put(t, home, "cat/a/SKILL.md", plainSkill("other-name", ""))
	put(t, home, "cat/a/references/SKILL.md", plainSkill("inner", "")) // F-079
	put(t, home, "cat/sub/common/x/SKILL.md", plainSkill("deep", ""))  // F-079
	put(t, home, "cat/bad/SKILL.md", "---\nname: [x\n---\nB")
	put(t, home, "cat/mac/SKILL.md", plainSkill("mac", "platforms: [plan9]\n"))
	put(t, home, ".archive/old/SKILL.md", plainSkill("old", ""))
	put(t, home, "node_modules/n/SKILL.md", plainSkill("n", ""))
	put(t, home, "lower/skill.md", plainSkill("lower", ""))
	put(t, outside, "SKILL.md", plainSkill("o", ""))
	put(t, ext, "b/SKILL.md", plainSkill("top", ""))
	put(t, ext, "c/SKILL.md", plainSkill("ext", ""))
	for link, to := range map[string]string{"cat/linked": outside, "cat/loop": filepath.Join(home, "cat"), "zz": filepath.Join(home, "cat", "a")} {
		if err := os.Symlink(to, filepath.Join(home, link)); err != nil {
			t.Fatal(err)
		}
	}
	c := NewCatalogue(Root{home, Home}, Root{ext, External}, Root{ext + "/", External}, Root{filepath.Join(ext, "none"), Agents})
	if len(c.Roots()) != 3 {
		t.Errorf("roots %v", c.Roots())
	}
	l := c.List()
	want := "/ext:ok /lower:ok /top:ok /top:shadowed cat/bad:broken cat/mac:unsupported cat/o:ok cat/other-name:ok cat/sub/common/deep:ok"
	if got := listed(l); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if again := c.List(); again != l {
		t.Error("an unchanged tree was put together again")
	}
	for _, tt := range []struct{ name, want string }{
		{"other-name", "cat/a"},
		{"a", "cat/a"},
		{"Other Name", "cat/a"},
		{"cat/a", "cat/a"},
		{"cat/sub/common/x/SKILL.md", "cat/sub/common/x"},
		{"o", "cat/linked"}, // F-069
		{"linked", "cat/linked"},
		{"top", "top"}, // 20
		{"nope", "there is no such skill"},
		{"old", "there is no such skill"},
		{".archive/old", "begin with a dot"}, // 24
		{"../outside", "no plain path"},      // F-072
		{"a/../../b", "no plain path"},
		{"/abs/x", "below the skills directory"},
		{"~/x", "below the skills directory"},
		{`a\b`, "backslash"},
		{"", "empty"},
		{"*", "there is no such skill"},
	} {
		s, err := l.Find(tt.name)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = s.Rel
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("find %q: got %s, want %s", tt.name, got, tt.want)
		}
	}
	if s, _ := l.Find("top"); s.Root.Source != Home {
		t.Errorf("top is of %s", s.Root.Source)
	}

	// 20: removing the first reveals the second; a change is seen at once.
	if err := os.RemoveAll(filepath.Join(home, "top")); err != nil {
		t.Fatal(err)
	}
	put(t, ext, "c/SKILL.md", plainSkill("renamed", ""))
	l = c.List()
	if s, err := l.Find("top"); err != nil || s.Root.Source != External || s.State != OK {
		t.Errorf("top: %+v, %v", s, err)
	}
	if _, err := l.Find("renamed"); err != nil {
		t.Error(err)
	}
}

func TestAmbiguous(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	put(t, home, "a/x/SKILL.md", plainSkill("x", ""))
	put(t, home, "b/x/SKILL.md", plainSkill("x", ""))
	l := NewCatalogue(Root{home, Home}).List()
	if _, err := l.Find("x"); err == nil || !strings.Contains(err.Error(), "a/x or b/x") {
		t.Errorf("got %v", err)
	}
	if s, err := l.Find("b/x"); err != nil || s.State != Shadowed {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestLongDescriptionCases13And14F081(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	put(t, home, "a/SKILL.md", "---\nname: a\ndescription: "+strings.Repeat("é", 1500)+"\n---\nB")
	put(t, home, "b/SKILL.md", "---\nname: b\ndescription: |\n  one\n  two\n---\nB")
	l := NewCatalogue(Root{home, Home}).List()
	a := l.Skills[0]
	if n := []rune(a.Listed()); len(n) != 1024 || !strings.HasSuffix(a.Listed(), "é...") {
		t.Errorf("listed with %d characters", len(n))
	}
	if n := []rune(a.Short()); len(n) != 60 || !strings.HasSuffix(a.Short(), "...") {
		t.Errorf("short with %d characters", len(n))
	}
	if got := l.Skills[1].Short(); got != "one two" {
		t.Errorf("short %q", got)
	}
}

func TestIndexCases33And34(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	put(t, home, "z/s2/SKILL.md", "---\nname: s2\ndescription: "+strings.Repeat("x", 100)+"\n---\n")
	put(t, home, "z/s1/SKILL.md", plainSkill("s1", "metadata: {hermes: {fallback_for_tools: [web_search]}}\n"))
	put(t, home, "z/DESCRIPTION.md", "---\ndescription: \"Things of z\"\n---\n")
	put(t, home, "m/n/s3/SKILL.md", plainSkill("s3", ""))
	put(t, home, "top/SKILL.md", "---\nname: top\n---\n")
	put(t, home, "m/DESCRIPTION.md", "# Title\n\nNo front matter.\n")
	l := NewCatalogue(Root{home, Home}).List()
	got := l.Index(IndexOptions{})
	want := "<available_skills>\n  general:\n    - top\n  m/n:\n    - s3: about s3\n  z: Things of z\n    - s1: about s1\n    - s2: " + strings.Repeat("x", 57) + "...\n</available_skills>\n\n" + closing
	if !strings.HasPrefix(got, "## Skills (mandatory)\n") || !strings.HasSuffix(got, want) {
		t.Errorf("got %s", got)
	}
	if got := l.Index(IndexOptions{Tools: []string{"web_search"}}); strings.Contains(got, "s1") {
		t.Error("17: the fallback is shown beside what it stands in for")
	}
	if got := l.Index(IndexOptions{Off: func(*Skill) bool { return true }}); got != "" {
		t.Errorf("34: got %q", got)
	}
	if got := l.Index(IndexOptions{Budget: 150}); !strings.Contains(got, "z: Things of z\n    - s1, s2\n") || !strings.Contains(got, "names only") {
		t.Errorf("names: got %s", got)
	}
	if got := l.Index(IndexOptions{Budget: 118}); !strings.Contains(got, "  z: 2 skills\n") {
		t.Errorf("counts: got %s", got)
	}
	if got := l.Index(IndexOptions{Budget: 105}); !strings.Contains(got, "<available_skills>\n  (and 3 more categories)\n  (too many") {
		t.Errorf("cut: got %s", got)
	}
}

// TestIndexFirst: what is pinned or in use keeps its line when room is short,
// and two sessions of one day have one index.
func TestIndexFirst(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	lib := Open(Options{Home: t.TempDir(), Now: func() time.Time { return now }})
	for i := range 60 {
		put(t, lib.Dir(), fmt.Sprintf("c%d/s%02d/SKILL.md", i%3, i), plainSkill(fmt.Sprintf("s%02d", i), ""))
	}
	l := lib.List()
	used, err := l.Find("s07")
	if err != nil {
		t.Fatal(err)
	}
	lib.Used(used)
	pinned, err := l.Find("s10")
	if err != nil {
		t.Fatal(err)
	}
	if err := lib.Pin(pinned, true); err != nil {
		t.Fatal(err)
	}
	index := func(budget int) string { return lib.List().Index(IndexOptions{First: lib.First(), Budget: budget}) }
	full := index(0)
	if !strings.Contains(full, "    - s04: about s04\n    - s07: about s07\n") {
		t.Error("with room enough the order is that of names")
	}
	for budget, want := range map[int]string{
		700: "  c1:\n    - s07: about s07\n    - s10: about s10\n    - s01, s04, s13,",
		250: "  c1: 20 skills\n    - s07: about s07\n    - s10: about s10\n  c2:",
		150: "  c1: 20 skills\n    - s07, s10\n  c2:",
		120: "  c1: 20 skills\n  c2: 20 skills\n",
	} {
		if got := index(budget); !strings.Contains(got, want) {
			t.Errorf("%d: got %s", budget, got)
		}
	}
	before := index(250)
	now = now.Add(time.Hour)
	lib.Used(used)
	if index(250) != before {
		t.Error("another use changed the index")
	}
	now = now.Add(31 * 24 * time.Hour)
	if got := index(250); strings.Contains(got, "s07") || !strings.Contains(got, "s10: about") {
		t.Errorf("a month later: %s", got)
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	var all []*Skill
	for _, n := range [][2]string{{"arxiv", "Search papers on arXiv by topic"}, {"pdf", "Read, merge and split PDF files"}, {"git-workflow", "Branch, commit and open pull requests"}, {"notes", "Take notes of papers"}, {"wetter", "天气查询"}} {
		all = append(all, &Skill{Name: n[0], Description: n[1]})
	}
	all[1].Tags = []string{"Documents"}
	for _, tt := range []struct{ query, want string }{
		{"paper", "arxiv notes"}, {"merge pdfs", "pdf"}, {"document", "pdf"}, {"commit", "git-workflow"}, {"天气", "wetter"}, {"zzz", ""}, {"", "arxiv pdf git-workflow notes wetter"},
	} {
		var got []string
		for _, s := range Search(all, tt.query) {
			got = append(got, s.Name)
		}
		slices.Sort(got)
		want := strings.Fields(tt.want)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", tt.query, got, want)
		}
	}
}

func TestLocateCase25(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	put(t, home, "a/SKILL.md", plainSkill("a", ""))
	put(t, home, "a/references/r.md", "r")
	put(t, home, "secret", "s")
	for link, to := range map[string]string{"a/references/l": filepath.Join(home, "secret"), "a/out": home, "a/dead": filepath.Join(home, "none")} {
		if err := os.Symlink(to, filepath.Join(home, link)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := NewCatalogue(Root{home, Home}).List().Find("a")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		rel string
		ok  bool
	}{
		{"references/r.md", true},
		{"references/new/x.md", true},
		{"SKILL.md", true},
		{"../../.env", false},
		{"references/../../x", false},
		{"/etc/passwd", false},
		{"references/l", false},
		{"out/secret", false},
		{"out/new", false},
		{"dead", false},
		{"", false},
		{`..\x`, false},
	} {
		p, err := s.Locate(tt.rel)
		if (err == nil) != tt.ok {
			t.Errorf("%q: got %s, %v", tt.rel, p, err)
		}
	}
}

func TestLinkedText(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	secret := put(t, home, "secret", "s")
	l := Open(Options{Home: home})
	put(t, home, "skills/a/real.md", plainSkill("a", ""))
	put(t, home, "skills/b/x", "")
	for link, to := range map[string]string{"a": "real.md", "b": secret} {
		if err := os.Symlink(to, filepath.Join(home, "skills", link, "SKILL.md")); err != nil {
			t.Fatal(err)
		}
	}
	if got := listed(l.List()); got != "/a:ok /b:broken" {
		t.Error(got)
	}
	b, err := l.List().Find("b")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := l.Load(t.Context(), b, ""); err == nil {
		t.Errorf("the text was served: %s", got.Content)
	}
}

func TestSessionsShareCatalogue(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for i := range 20 {
		put(t, home, fmt.Sprintf("c/s%d/SKILL.md", i), plainSkill(fmt.Sprintf("s%d", i), ""))
	}
	c := NewCatalogue(Root{home, Home})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 10 {
				if i == 0 {
					put(t, home, "c/s0/SKILL.md", plainSkill("s0", strings.Repeat("#\n", j+1)))
				}
				if n := len(c.List().Skills); n != 20 {
					t.Errorf("%d skills", n)
				}
			}
		})
	}
	wg.Wait()
}

// many makes a tree of n skills as they are in the wild.
func many(tb testing.TB, n int) string {
	home := tb.TempDir()
	for i := range n {
		put(tb, home, fmt.Sprintf("cat%02d/skill-%d/SKILL.md", i%25, i), fmt.Sprintf(`---
name: skill-%d
description: Does the thing number %d for people who need it done; use when somebody asks for it
version: 1.0.0
author: Somebody
license: MIT
platforms: [linux, macos]
metadata:
  hermes:
    tags: [Thing, Number, Example]
    related_skills: [other]
    requires_tools: [terminal]
---

# Skill %d

## When to Use

%s
`, i, i, i, strings.Repeat("Words that say how it is done.\n", 60)))
	}
	return home
}

// TestThousandSkills holds the catalogue to what it promises: 60 ms cold, 5 ms
// warm, 5 ms for the index of 1,000 skills, 1 ms to find one by name. The best
// of some runs counts; the machine is shared.
func TestThousandSkills(t *testing.T) {
	home := many(t, 1000)
	took := map[string]time.Duration{}
	best := func(what string, fn func()) {
		began := time.Now()
		fn()
		if d := time.Since(began); took[what] == 0 || d < took[what] {
			took[what] = d
		}
	}
	for range 5 {
		c := NewCatalogue(Root{home, Home})
		var l *Listing
		best("cold", func() { l = c.List() })
		if len(l.Skills) != 1000 || l.Skills[0].State != OK {
			t.Fatalf("%d skills", len(l.Skills))
		}
		best("warm", func() { c.List() })
		best("index", func() { l.Index(IndexOptions{}) })
		best("find", func() {
			if _, err := l.Find("skill-777"); err != nil {
				t.Error(err)
			}
		})
	}
	t.Logf("%v on %d processors", took, runtime.GOMAXPROCS(0))
	for what, limit := range map[string]time.Duration{"cold": 60 * time.Millisecond, "warm": 5 * time.Millisecond, "index": 5 * time.Millisecond, "find": time.Millisecond} {
		if took[what] > limit*slack {
			t.Errorf("%s took %v, the limit is %v", what, took[what], limit)
		}
	}
}

// slack is for machines that are slower than the one the limits are for, and
// for the race detector.
const slack = 10

// The limits that the benchmarks are measured against, for 1,000 skills (and
// ten times as much for 10,000).
func perLimit(b *testing.B, limit time.Duration) {
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(limit), "of-limit")
}

func BenchmarkCold(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			home := many(b, n)
			b.ReportAllocs()
			for b.Loop() {
				if l := NewCatalogue(Root{home, Home}).List(); len(l.Skills) != n {
					b.Fatal(len(l.Skills))
				}
			}
			perLimit(b, time.Duration(n)*60*time.Microsecond)
			took, began := b.Elapsed()/time.Duration(b.N), time.Now()
			for range 3 {
				bare(b, home)
			}
			b.ReportMetric(float64(took)/float64(time.Since(began)/3), "of-bare")
		})
	}
}

// bare is what any program has to do to read the skills: walk the tree and read
// the files.
func bare(b *testing.B, home string) {
	err := filepath.WalkDir(home, func(p string, e os.DirEntry, err error) error {
		if err == nil && e.Name() == "SKILL.md" {
			_, err = os.ReadFile(p)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}

func BenchmarkWarm(b *testing.B) {
	c := NewCatalogue(Root{many(b, 1000), Home})
	c.List()
	for b.Loop() {
		c.List()
	}
	perLimit(b, 5*time.Millisecond)
}

func BenchmarkIndex(b *testing.B) {
	l := NewCatalogue(Root{many(b, 1000), Home}).List()
	for b.Loop() {
		l.Index(IndexOptions{})
	}
	perLimit(b, 5*time.Millisecond)
}

func BenchmarkView(b *testing.B) {
	lib := OpenTree(many(b, 1000))
	l := lib.List()
	for b.Loop() {
		s, err := l.Find("skill-777")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := lib.Load(b.Context(), s, ""); err != nil {
			b.Fatal(err)
		}
	}
	perLimit(b, time.Millisecond)
}

// TestMemory: 10,000 skills are to stay below 120 MB. What is kept of one is a
// small part of that, and does not hold on to its text.
func TestMemory(t *testing.T) {
	const n = 1000
	home := many(t, n)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	l := NewCatalogue(Root{home, Home}).List()
	runtime.GC()
	runtime.ReadMemStats(&after)
	kept := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("%d skills: %d bytes kept of each, %d allocated", len(l.Skills), kept/n, (after.TotalAlloc-before.TotalAlloc)/n)
	if len(l.Skills) != n || kept > n*4000 {
		t.Errorf("%d skills keep %d bytes each", len(l.Skills), kept/n)
	}
	runtime.KeepAlive(l)
}
