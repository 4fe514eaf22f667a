package edit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// disk is a ReadFunc over a map.
func disk(files map[string]string) ReadFunc {
	return func(path string) (string, bool, error) {
		text, ok := files[path]
		return text, ok, nil
	}
}

// land carries out the changes on a copy of the files, as a caller would.
func land(files map[string]string, changes []Change) map[string]string {
	out := map[string]string{}
	for k, v := range files {
		out[k] = v
	}
	for _, c := range changes {
		switch c.Op {
		case Delete:
			delete(out, c.Path)
		case Move:
			delete(out, c.Path)
			out[c.To] = c.New
		default:
			out[c.Path] = c.New
		}
	}
	return out
}

func text(rows ...string) string { return strings.Join(rows, "\n") + "\n" }

func TestPatch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files map[string]string
		patch string
		want  map[string]string
		ops   string
	}{
		{
			"update",
			map[string]string{"f": "a\nb\nc\n"},
			text("*** Begin Patch", "*** Update File: f", "@@", " a", "-b", "+B", " c", "*** End Patch"),
			map[string]string{"f": "a\nB\nc\n"},
			"update f",
		},
		{
			"no markers, no @@, spaces flexible",
			map[string]string{"f": "a\nb\n"},
			text("***Update  File:f", "-b", "+B"),
			map[string]string{"f": "a\nB\n"},
			"update f",
		},
		{
			"F-008",
			map[string]string{"f": "import x\n\ndef main():\n    run()\n\ndef other():\n    pass\n"},
			text("*** Begin Patch", "*** Update File: f", "@@ def main():", "+    log()", "*** End Patch"),
			map[string]string{"f": "import x\n\ndef main():\n    log()\n    run()\n\ndef other():\n    pass\n"},
			"update f",
		},
		{
			"addition only, no hint",
			map[string]string{"f": "a\n"},
			text("*** Update File: f", "@@", "+b"),
			map[string]string{"f": "a\nb\n"},
			"update f",
		},
		{
			"hint @@ chooses",
			map[string]string{"f": "def a():\n    return 1\ndef b():\n    return 1\n"},
			text("*** Update File: f", "@@ def b(): @@", "-    return 1", "+    return 2"),
			map[string]string{"f": "def a():\n    return 1\ndef b():\n    return 2\n"},
			"update f",
		},
		{
			"nested hints",
			map[string]string{"f": "class A:\n  def m:\n    x\nclass B:\n  def m:\n    x\n"},
			text("*** Update File: f", "@@ class B:", "@@ def m:", "-    x", "+    y"),
			map[string]string{"f": "class A:\n  def m:\n    x\nclass B:\n  def m:\n    y\n"},
			"update f",
		},
		{
			"blank context lines",
			map[string]string{"f": "a\n\nb\n\nc\n"},
			text("*** Begin Patch", "*** Update File: f", "@@", " a", "", "-b", "+B", "", " c", "", "*** End Patch"),
			map[string]string{"f": "a\n\nB\n\nc\n"},
			"update f",
		},
		{
			"context-only hunk is ignored",
			map[string]string{"f": "a\nb\nc\n"},
			text("*** Update File: f", "@@", " a", "@@", "-c", "+C"),
			map[string]string{"f": "a\nb\nC\n"},
			"update f",
		},
		{
			"CRLF patch, LF file",
			map[string]string{"f": "a\nb\n"},
			"*** Begin Patch\r\n*** Update File: f\r\n@@\r\n-b\r\n+B\r\n*** End Patch\r\n",
			map[string]string{"f": "a\nB\n"},
			"update f",
		},
		{
			"LF patch, CRLF file",
			map[string]string{"f": "a\r\nb\r\nc\r\n"},
			text("*** Update File: f", "@@", " a", "-b", "+B", "+B2"),
			map[string]string{"f": "a\r\nB\r\nB2\r\nc\r\n"},
			"update f",
		},
		{
			"tabs",
			map[string]string{"f": "f {\n\tif x {\n\t\ty()\n\t}\n}\n"},
			text("*** Update File: f", "@@", "     if x {", "-        y()", "+        z()", "+        w()", "     }"),
			map[string]string{"f": "f {\n\tif x {\n\t\tz()\n\t\tw()\n\t}\n}\n"},
			"update f",
		},
		{
			"add", nil,
			text("*** Begin Patch", "*** Add File: d/x", "+a", "+", "+b", "*** End Patch"),
			map[string]string{"d/x": "a\n\nb\n"},
			"add d/x",
		},
		{
			"add empty", nil, text("*** Add File: x"), map[string]string{"x": ""}, "add x",
		},
		{
			"add with no newline", nil, text("*** Add File: x", "+a", `\ No newline at end of file`), map[string]string{"x": "a"}, "add x",
		},
		{
			"delete", map[string]string{"f": "a"}, text("*** Delete File: f"), map[string]string{}, "delete f",
		},
		{
			"move", map[string]string{"f": "a\n"}, text("*** Move File: f -> d/g"), map[string]string{"d/g": "a\n"}, "move f",
		},
		{
			"move and change",
			map[string]string{"f": "a\nb\n"},
			text("*** Update File: f", "*** Move to: g", "@@", "-a", "+A"),
			map[string]string{"g": "A\nb\n"},
			"move f",
		},
		{
			"sections compose",
			map[string]string{"f": "a\nb\n"},
			text("*** Update File: f", "@@", "-a", "+A", "*** Update File: ./f", "@@", " A", "-b", "+B", "*** Move File: f -> g", "*** Update File: g", "@@", "-B", "+C"),
			map[string]string{"g": "A\nC\n"},
			"move f",
		},
		{
			"delete then add",
			map[string]string{"f": "a\n"},
			text("*** Delete File: f", "*** Add File: f", "+b"),
			map[string]string{"f": "b\n"},
			"update f",
		},
		{
			"swap",
			map[string]string{"a": "1\n", "b": "2\n"},
			text("*** Move File: a -> t", "*** Move File: b -> a", "*** Move File: t -> b"),
			map[string]string{"a": "2\n", "b": "1\n"},
			"update a, update b",
		},
		{
			"end of file",
			map[string]string{"f": "x\ny\nx\n"},
			text("*** Update File: f", "@@", "-x", "+z", "*** End of File"),
			map[string]string{"f": "x\ny\nz\n"},
			"update f",
		},
		{
			"file without last newline keeps that",
			map[string]string{"f": "a\nb"},
			text("*** Update File: f", "@@", "-b", "+c", "+d"),
			map[string]string{"f": "a\nc\nd"},
			"update f",
		},
		{
			"earlier hunk's lines are no candidates",
			map[string]string{"f": "one\nx\n"},
			text("*** Update File: f", "@@", " one", "+x", "+two", "@@", "-x", "+y"),
			map[string]string{"f": "one\nx\ntwo\ny\n"},
			"update f",
		},
		{
			"F-007 plain unified",
			map[string]string{"f": "w\nx\n"},
			text("--- a/f", "+++ b/f", "@@", "-x", "+y"),
			map[string]string{"f": "w\ny\n"},
			"update f",
		},
		{
			"unified picks by line",
			map[string]string{"f": "x\n1\nx\n2\nx\n"},
			text("--- a/f\t2026-01-01", "+++ b/f\t2026-01-02", "@@ -3 +3 @@ func f", "-x", "+y"),
			map[string]string{"f": "x\n1\ny\n2\nx\n"},
			"update f",
		},
		{
			"unified with wrong numbers",
			map[string]string{"f": "a\nb\nc\nd\n"},
			text("--- f", "+++ f", "@@ -9,1 +9,9 @@", " b", "-c", "+C", " d"),
			map[string]string{"f": "a\nb\nC\nd\n"},
			"update f",
		},
		{
			"git diff of every kind",
			map[string]string{"u": "a\n", "d": "x\n", "r": "1\n2\n3\n", "p": "p\n"},
			text("From: me", "",
				"diff --git a/u b/u", "index 1..2 100644", "--- a/u", "+++ b/u", "@@ -1 +1,2 @@", " a", "+b",
				"diff --git a/n b/n", "new file mode 100755", "index 0..1", "--- /dev/null", "+++ b/n", "@@ -0,0 +1 @@", "+n", `\ No newline at end of file`,
				"diff --git a/e b/e", "new file mode 100644", "index 0..e69de29",
				"diff --git a/d b/d", "deleted file mode 100644", "index 1..0", "--- a/d", "+++ /dev/null", "@@ -1 +0,0 @@", "-x",
				"diff --git a/r b/s", "similarity index 90%", "rename from r", "rename to s", "--- a/r", "+++ b/s", "@@ -1,3 +1,3 @@", " 1", "-2", "+two", " 3",
				`diff --git "a/p" "b/\303\244"`, "similarity index 100%", "rename from p", `rename to "\303\244"`,
				"-- ", "2.40"),
			map[string]string{"u": "a\nb\n", "n": "n", "e": "", "s": "1\ntwo\n3\n", "ä": "p\n"},
			"update u, add n, add e, delete d, move r, move p",
		},
		{
			"removed line that looks like a header",
			map[string]string{"f": "-- a\nb\n"},
			text("--- a/f", "+++ b/f", "@@ -1,2 +1,2 @@", "--- a", "+++ a", " b"),
			map[string]string{"f": "++ a\nb\n"},
			"update f",
		},
		{
			"newline put at the end",
			map[string]string{"f": "a"},
			text("--- a/f", "+++ b/f", "@@ -1 +1 @@", "-a", `\ No newline at end of file`, "+a"),
			map[string]string{"f": "a\n"},
			"update f",
		},
		{
			"insertion without context",
			map[string]string{"f": "a\nb\n"},
			text("--- a/f", "+++ b/f", "@@ -1,0 +2 @@", "+x"),
			map[string]string{"f": "a\nx\nb\n"},
			"update f",
		},
		{
			"in a fence",
			map[string]string{"f": "a\n"},
			text("```diff", "--- a/f", "+++ b/f", "@@ -1 +1 @@", "-a", "+b", "```"),
			map[string]string{"f": "b\n"},
			"update f",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := ParsePatch(tt.patch)
			if err != nil {
				t.Fatal(err)
			}
			out, err := p.Apply(disk(tt.files))
			if err != nil {
				t.Fatal(err)
			}
			var ops []string
			for _, c := range out.Changes {
				ops = append(ops, string(c.Op)+" "+c.Path)
			}
			if got := strings.Join(ops, ", "); got != tt.ops {
				t.Errorf("changes %s, want %s", got, tt.ops)
			}
			got := land(tt.files, out.Changes)
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", tt.want) {
				t.Errorf("files\n got %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestPatchErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, patch string
		want        []string // in the text of the error
		status      string
	}{
		{
			"F-009", text("*** Update File: f", "@@", "-a", "+A", "@@", "-old", "+b", "@@", "-v", "+w", "@@", " c"),
			[]string{"f: hunk 2: noop: already applied", "f: hunk 3: ambiguous", "lines 4, 5", "no files were modified"},
			"f/1 ok 1 exact, f/2 noop 2 , f/3 ambiguous 4 exact, f/4 noop 0 ",
		},
		{
			"case 49", text("*** Update File: f", "@@", "-a", "+A", "*** Update File: g", "@@", "-compute(x)", "+y", "*** Delete File: zz"),
			[]string{"g: hunk 1: no_match", "nearest is line 1", "zz: no such file"},
			"f/1 ok 1 exact, g/1 no_match 0 ",
		},
		{"case 50", text("*** Move File: f -> g"), []string{"already exists"}, ""},
		{"add over a file", text("*** Add File: f", "+x"), []string{"f: already exists"}, ""},
		{"hint is missing", text("*** Update File: f", "@@ def nope", "+x"), []string{`the hint "def nope" is not in the file`}, "f/1 no_match 0 "},
		{"hint is not unique", text("*** Update File: f", "@@ v", "+x"), []string{"stands in 2 lines", "lines 4, 5"}, "f/1 ambiguous 4 "},
		{"nothing but context", text("*** Update File: f", "@@", " a"), []string{"no hunk changes anything"}, "f/1 noop 0 "},
		{"update of nothing", text("*** Update File: zz", "@@", "-a"), []string{"zz: no such file"}, ""},
		{"delete shows other lines", text("--- a/f", "+++ /dev/null", "@@ -1,1 +0,0 @@", "-a"), []string{"does not show all"}, "f/1 ok 1 exact"},
		{"back and forth", text("*** Move File: f -> x", "*** Move File: x -> f"), []string{"changes nothing"}, ""},
	}
	files := map[string]string{"f": "a\nb\nc\nv\nv\n", "g": "compute(y)\n"}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := ParsePatch(tt.patch)
			if err != nil {
				t.Fatal(err)
			}
			out, err := p.Apply(disk(files))
			var pe *PatchError
			if !errors.As(err, &pe) {
				t.Fatalf("no error: %+v", out)
			}
			if len(out.Changes) > 0 {
				t.Errorf("changes in spite of the error: %+v", out.Changes)
			}
			for _, w := range tt.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q is not in %q", w, err)
				}
			}
			var status []string
			for _, h := range out.Hunks {
				status = append(status, fmt.Sprintf("%s/%d %s %d %s", h.Path, h.Index, h.Status, h.Line, h.Strategy))
			}
			if got := strings.Join(status, ", "); got != tt.status {
				t.Errorf("hunks\n got %s\nwant %s", got, tt.status)
			}
		})
	}
}

func TestParsePatchErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, patch, want string }{
		{"prose", "please change x to y", "*** Update File: PATH"},
		{"empty", "", "no file header"},
		{"update without hunks", text("*** Update File: f"), "at least one hunk"},
		{"move without target", text("*** Move File: f"), "SRC -> DST"},
		{"add without plus", text("*** Add File: f", "abc"), "begins with +"},
		{"all at once", text("*** Add File: f", "abc", "*** Move File: g", "*** Update File: h"), "h: Update File"},
		{"binary", text("diff --git a/x b/x", "index 1..2", "Binary files a/x and b/x differ"), "binary"},
		{"mode only", text("diff --git a/x b/x", "old mode 100644", "new mode 100755"), "mode"},
		{"stray text", text("*** Begin Patch", "hello", "*** Update File: f", "@@", "-a"), "expected a file header"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := ParsePatch(tt.patch)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestPathsAndResolve(t *testing.T) {
	t.Parallel()
	p, err := ParsePatch(text("*** Update File: ./r/x.md", "@@", "-a", "+b", "*** Update File: r//x.md", "@@", "-c", "+d", "*** Move File: a -> b"))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Paths(); !slices.Equal(got, []string{"r/x.md", "a", "b"}) { // F-013
		t.Errorf("paths %q", got)
	}
	if err := p.Resolve(func(s string) (string, error) { return "/w/" + s, nil }); err != nil {
		t.Fatal(err)
	}
	if got := p.Paths(); !slices.Equal(got, []string{"/w/r/x.md", "/w/a", "/w/b"}) {
		t.Errorf("paths %q", got)
	}
	stop := errors.New("stop")
	if err := p.Resolve(func(string) (string, error) { return "", stop }); !errors.Is(err, stop) {
		t.Errorf("error %v", err)
	}
}

// F-010: three calls on one file, each seeing what the one before left.
func TestPatchCallsInARow(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for _, patch := range []string{
		text("*** Add File: p.txt", "+one"),
		text("*** Update File: p.txt", "@@", "-one", "+two"),
		text("*** Delete File: p.txt"),
	} {
		p, err := ParsePatch(patch)
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Apply(disk(files))
		if err != nil {
			t.Fatal(err)
		}
		files = land(files, out.Changes)
	}
	if len(files) != 0 {
		t.Errorf("left: %q", files)
	}
}
