package patch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/internal/files"
	"github.com/hermes-go/hermes/internal/files/filestest"
	"github.com/hermes-go/hermes/tool"
	_ "github.com/hermes-go/hermes/tools/readfile" // what a task has read
	_ "github.com/hermes-go/hermes/tools/writefile"
)

type given = filestest.Args

// list is a field that holds texts.
func list(r filestest.Result, field string) string {
	var out []string
	all, _ := r.Value[field].([]any)
	for _, v := range all {
		out = append(out, fmt.Sprint(v))
	}
	return strings.Join(out, ",")
}

func TestReplace(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	for _, c := range []struct {
		name, file, old, new string
		all                  bool
		want, strategy       string
	}{
		{"exact", "a\nb\nc\n", "b", "B", false, "a\nB\nc\n", "exact"},
		{"delete", "a\nb\nc\n", "b\n", "", false, "a\nc\n", "exact"},
		{"case 45 all", "aa", "a", "b", true, "bb", "exact"},
		{"overlapping", "aaa", "aa", "b", true, "ba", "exact"},
		{"case 46 indented", "  a = 1\n  b = 2\n", "a = 1\nb = 2", "a = 1\nb = 3", false, "  a = 1\n  b = 3\n", "line_trimmed"},
		{"F-001", "alpha\nbeta\ngamma\n", `alpha\nbeta`, `A\nB`, false, "A\nB\ngamma\n", "escape_normalized"},
		{"F-004", "wait — “done” now\n", `wait -- "done" now`, `wait -- "done" later`, false, "wait — “done” later\n", "unicode_normalized"},
		{"F-005", "x\n", "x", `x=$'\"'`, false, "x=$'\\\"'\n", "exact"},
		{"F-006", strings.Repeat("line\n", 3000) + "end", "end", "END", false, strings.Repeat("line\n", 3000) + "END", "exact"},
		{"F-006 long line", strings.Repeat("x", 50_000) + "end", "end", "END", false, strings.Repeat("x", 50_000) + "END", "exact"},
		{"CRLF", "a\r\nb\r\n", "a\nb", "a\nc", false, "a\r\nc\r\n", ""},
		{"F-015 UTF-16", "\xff\xfeh\x00i\x00\n\x00", "hi", "yo", false, "\xff\xfey\x00o\x00\n\x00", "exact"},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := strings.ReplaceAll(c.name, " ", "-")
			b.Put(name, c.file)
			r := b.OK("patch", given{"mode": "replace", "path": name, "old_string": c.old, "new_string": c.new, "replace_all": c.all})
			if got := b.Get(name); got != c.want {
				t.Errorf("got %q", got)
			}
			if !r.Is("success") || list(r, "files_modified") != name || r.Num("replacements") < 1 || r.Text("diff") == "" ||
				c.strategy != "" && r.Text("strategy") != c.strategy || r.Num("bytes_after") != len(c.want) {
				t.Errorf("got %.400s", r.JSON)
			}
		})
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	b.Put("f", "a\nb\nc\n")
	r := b.OK("patch", given{"path": "f", "old_string": "b", "new_string": "B"})
	if want := "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"; r.Text("diff") != want {
		t.Errorf("got %q", r.Text("diff"))
	}
	b.Put("long", strings.Repeat("y", 5000)+"\n")
	r = b.OK("patch", given{"path": "long", "old_string": "yyyy\n", "new_string": "zzzz\n"})
	if n := len(r.Text("diff")); n > 5000 || !strings.Contains(r.Text("diff"), "...") {
		t.Errorf("a diff of %d bytes", n)
	}
	b.Put("many", strings.Repeat("x\n", 20_000))
	r = b.OK("patch", given{"path": "many", "old_string": "x", "new_string": "y", "replace_all": true})
	if n := len(r.Text("diff")); n > maxDiff+2*maxRow || r.Num("replacements") != 20_000 {
		t.Errorf("a diff of %d bytes, %d replacements", n, r.Num("replacements"))
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	b.Put("f", "one\ntwo\ntwo\nit's\n")
	b.Put("bin", "a\x00b")
	b.Put(filepath.Join(b.Home, ".bashrc"), "one\n")
	if err := os.Symlink(filepath.Join(b.Home, ".bashrc"), b.At("rc")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		args  given
		parts []string
	}{
		{"no path", given{"old_string": "a", "new_string": "b"}, []string{"path"}},
		{"no old_string", given{"path": "f", "new_string": "b"}, []string{"old_string"}},
		{"no new_string", given{"path": "f", "old_string": "one"}, []string{"new_string"}},
		{"no patch", given{"mode": "patch"}, []string{"field patch"}},
		{"bad mode", given{"mode": "sed"}, []string{"mode", "replace"}},
		{"missing file", given{"path": "F", "old_string": "a", "new_string": "b"}, []string{"File not found: F"}},
		{"case 45, F-012", given{"path": "f", "old_string": "two", "new_string": "b"}, []string{"2 matches", "lines 2, 3", "replace_all"}},
		{"case 47 no match", given{"path": "f", "old_string": "twoo\nthree", "new_string": "b"}, []string{"Could not find", "Did you mean", "   2| two"}},
		{"nothing near", given{"path": "f", "old_string": "QQQQQQ", "new_string": "b"}, []string{"Could not find"}},
		{"the same", given{"path": "f", "old_string": "one", "new_string": "one"}, []string{"nothing to do"}},
		{"empty", given{"path": "f", "old_string": "", "new_string": "one"}, []string{"empty"}},
		{"case 48 escape drift", given{"path": "f", "old_string": `  it\'s`, "new_string": `it\'s fine`}, []string{"escape drift"}},
		{"binary", given{"path": "bin", "old_string": "a", "new_string": "b"}, []string{"binary"}},
		{"sensitive", given{"path": "~/.bashrc", "old_string": "one", "new_string": "b"}, []string{"denied"}},
		{"sensitive by link", given{"path": "rc", "old_string": "one", "new_string": "b"}, []string{"denied"}},
		{"directory", given{"path": ".", "old_string": "one", "new_string": "b"}, []string{"directory"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := b.Fails("patch", c.args, c.parts...)
			if r.Is("success") || b.Get("f") != "one\ntwo\ntwo\nit's\n" {
				t.Errorf("got %s", r.JSON)
			}
		})
	}
	r := b.Fails("patch", given{"path": "f", "old_string": "QQQQQQ", "new_string": "b"})
	if !strings.Contains(r.Text("_hint"), "read_file") {
		t.Errorf("no way out: %s", r.JSON)
	}
}

func TestSeveral(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		files map[string]string
		patch string
		want  map[string]string
		lists string // modified;created;deleted
	}{
		{
			"all operations",
			map[string]string{"u": "a\nb\nc\n", "d": "gone\n", "m": "moved\n"},
			"*** Begin Patch\n*** Update File: u\n a\n-b\n+B\n*** Add File: sub/n\n+new\n*** Delete File: d\n*** Move File: m -> sub/deep/m2\n*** End Patch",
			map[string]string{"u": "a\nB\nc\n", "d": "<absent>", "m": "<absent>", "sub/deep/m2": "moved\n", "sub/n": "new\n"},
			"u,m -> sub/deep/m2;sub/n;d",
		},
		{
			"F-008 addition after a hint",
			map[string]string{"f": "x\ndef main():\n    pass\n"},
			"*** Update File: f\n@@ def main():\n+    log()",
			map[string]string{"f": "x\ndef main():\n    log()\n    pass\n"},
			"f;;",
		},
		{
			"F-007 unified",
			map[string]string{"f": "x\n"},
			"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+y\n",
			map[string]string{"f": "y\n"},
			"f;;",
		},
		{
			"move and change",
			map[string]string{"f": "x\ny\n"},
			"*** Update File: f\n*** Move to: g\n-x\n+X\n",
			map[string]string{"f": "<absent>", "g": "X\ny\n"},
			"f -> g;;",
		},
		{
			"F-013 one file in two spellings",
			map[string]string{"r/x": "a\nb\n"},
			"*** Update File: r/x\n-a\n+A\n*** Update File: ./r//x\n-b\n+B\n",
			map[string]string{"r/x": "A\nB\n"},
			"r/x;;",
		},
		{
			"CRLF and UTF-16 beside each other",
			map[string]string{"c": "a\r\nb\r\n", "w": "\xff\xfea\x00\n\x00"},
			"*** Update File: c\n-a\n+A\n*** Update File: w\n-a\n+A\n",
			map[string]string{"c": "A\r\nb\r\n", "w": "\xff\xfeA\x00\n\x00"},
			"c,w;;",
		},
		{
			"swap",
			map[string]string{"a": "1\n", "b": "2\n"},
			"*** Move File: a -> t\n*** Move File: b -> a\n*** Move File: t -> b\n",
			map[string]string{"a": "2\n", "b": "1\n", "t": "<absent>"},
			"",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := filestest.New(t)
			for n, s := range c.files {
				b.Put(n, s)
			}
			r := b.OK("patch", given{"mode": "patch", "patch": c.patch})
			for n, want := range c.want {
				if got := b.Get(n); got != want {
					t.Errorf("%s is %q, want %q", n, got, want)
				}
			}
			if got := list(r, "files_modified") + ";" + list(r, "files_created") + ";" + list(r, "files_deleted"); c.lists != "" && got != c.lists {
				t.Errorf("lists: %s", got)
			}
			if left := journals(t, b); len(left) > 0 {
				t.Errorf("journals left: %v", left)
			}
		})
	}
}

func journals(t *testing.T, b *filestest.Bench) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(b.Home, ".hermes/patches/*"))
	if err != nil {
		t.Fatal(err)
	}
	return left
}

func TestSeveralRefused(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	was := map[string]string{"a": "one\ntwo\n", "b": "x\n", "c": "v=1\nv=1\n"}
	for n, s := range was {
		b.Put(n, s)
	}
	if err := os.Symlink("a", b.At("l")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, patch string
		parts       []string
	}{
		{"case 49", "*** Update File: a\n-one\n+1\n*** Update File: b\n-nope\n+1\n*** Update File: zz\n-q\n+1\n", []string{"b: hunk 1", "zz: no such file", "no files were modified"}},
		{"case 50 move onto a file", "*** Move File: a -> b\n", []string{"already exists"}},
		{"case 51 add over a file", "*** Add File: b\n+y\n", []string{"already exists"}},
		{"delete nothing", "*** Delete File: zz\n", []string{"no such file"}},
		{"ambiguous", "*** Update File: c\n-v=1\n+v=2\n", []string{"ambiguous", "lines 1, 2"}},
		{"a hint that is not there", "*** Update File: a\n@@ def main():\n+x\n", []string{"a: hunk 1"}},
		{"sensitive, several", "*** Update File: a\n-one\n+1\n*** Add File: /etc/x\n+y\n*** Move File: b -> ~/.ssh/id_rsa\n", []string{"/etc/x", ".ssh/id_rsa", "no files were modified"}},
		{"F-007 headers", "@@\n-x\n+y\n", []string{"*** Update File"}},
		{"remove a link", "*** Delete File: l\n", []string{"symbolic link"}},
		{"no effect", "*** Update File: b\n-x\n+x\n", []string{"b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := b.Fails("patch", given{"mode": "patch", "patch": c.patch}, c.parts...)
			for n, want := range was {
				if got := b.Get(n); got != want {
					t.Errorf("%s is %q: %s", n, got, r.JSON)
				}
			}
			if strings.Contains(r.Text("error"), b.Dir) && c.name != "remove a link" {
				t.Errorf("paths are not as given: %s", r.Text("error"))
			}
		})
	}
	r := b.Fails("patch", given{"mode": "patch", "patch": "*** Update File: a\n@@\n-one\n+1\n@@\n-2\n+3\n@@\n two\n"})
	hunks, _ := r.Value["hunks"].([]any)
	if len(hunks) != 3 {
		t.Fatalf("F-009: %s", r.JSON)
	}
	for i, want := range []string{"ok", "no_match", "noop"} {
		if h := hunks[i].(map[string]any); h["status"] != want || h["path"] != "a" || h["index"] != float64(i+1) {
			t.Errorf("F-009: hunk %d is %v", i+1, h)
		}
	}
}

// TestThreeCalls is F-010.
func TestThreeCalls(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	for _, p := range []string{"*** Add File: p.txt\n+a\n", "*** Update File: p.txt\n-a\n+b\n", "*** Delete File: p.txt\n"} {
		b.OK("patch", given{"patch": p})
	}
	if got := b.Get("p.txt"); got != "<absent>" {
		t.Errorf("got %q", got)
	}
}

func TestStale(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	b.Put("f", "a\nb\n")
	b.OK("read_file", given{"path": "f"})
	b.CallAs("kid", "patch", given{"path": "f", "old_string": "a", "new_string": "A"})
	r := b.OK("patch", given{"path": "f", "old_string": "b", "new_string": "B"})
	if !strings.Contains(r.Text("_warning"), "sibling task kid") || b.Get("f") != "A\nB\n" {
		t.Errorf("case 52: %s", r.JSON)
	}
	r = b.OK("patch", given{"path": "f", "old_string": "B", "new_string": "C"})
	if r.Text("_warning") != "" {
		t.Errorf("my own write: %s", r.JSON)
	}
	b.Put("f", "foreign\n")
	r = b.Fails("patch", given{"path": "f", "old_string": "C", "new_string": "D"})
	if !strings.Contains(r.Text("_warning"), "changed since") {
		t.Errorf("the reason is not told: %s", r.JSON)
	}
}

func TestLint(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	b.Put("a.json", "{\"a\": 1}\n")
	r := b.OK("patch", given{"path": "a.json", "old_string": "1}", "new_string": "}"})
	if l, _ := r.Value["lint"].(map[string]any); l["status"] != "error" {
		t.Errorf("one file: %s", r.JSON)
	}
	r = b.OK("patch", given{"patch": "*** Add File: b.json\n+{}\n*** Add File: c.txt\n+x\n"})
	l, _ := r.Value["lint"].(map[string]any)
	if one, _ := l["b.json"].(map[string]any); len(l) != 1 || one["status"] != "ok" {
		t.Errorf("several files: %s", r.JSON)
	}
}

type stars struct{}

func (stars) Redact(s string) string { return strings.ReplaceAll(s, "hunter2hunter2", "***") }

func TestSecrets(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	tool.ProvideAs[files.Redactor](b.App, stars{})
	b.Put("f", "A=1\nKEY=hunter2hunter2\n")
	r := b.Fails("patch", given{"path": "f", "old_string": "A=1\nKEY=***", "new_string": "A=2"})
	if !strings.Contains(r.Text("_hint"), "masked") {
		t.Errorf("got %s", r.JSON)
	}
	r = b.OK("patch", given{"path": "f", "old_string": "A=1", "new_string": "A=2"})
	if strings.Contains(r.JSON, "hunter2") || !r.Is("redacted") {
		t.Errorf("got %s", r.JSON)
	}
	b.Fails("patch", given{"patch": "*** Update File: f\n@@ A=2\n-KEY=hunter2hunter2\n+KEY=***\n"}, "secret")
}

func TestModeKept(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	for _, n := range []string{"a", "b"} {
		if err := os.Chmod(b.Put(n, "x\n"), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	b.OK("patch", given{"patch": "*** Update File: a\n-x\n+y\n*** Update File: b\n*** Move to: c\n-x\n+y\n"})
	for _, n := range []string{"a", "c"} {
		if info, err := os.Stat(b.At(n)); err != nil || info.Mode().Perm() != 0o750 {
			t.Errorf("%s: %v, %v", n, info, err)
		}
	}
}
