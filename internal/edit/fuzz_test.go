package edit

import (
	"strings"
	"testing"
)

// FuzzReplace checks what must hold for any input: one place unless all was
// asked for, an effect, and nothing changed above or below the first and last
// place.
func FuzzReplace(f *testing.F) {
	f.Add("a\nb\n", "b", "c", false)
	f.Add("aaa", "aa", "b", true)
	f.Add("\tif x:\r\n\t\ty\r\n", "if x:\n  y", "if x:\n  z\n  w", false)
	f.Add("wait — “done” now\n", `wait -- "done" now`, `wait -- "done" later`, false)
	f.Add("alpha\nbeta\n", `alpha\nbeta`, `A\nB`, false)
	f.Add("a\rb\r", "b\nc", "x", true)
	f.Add("f(\na  b\nc\n)\n", "f(\na b\nd\n)", "f(\nx\n)", false)
	f.Add("a\r\nb\nc\r\n", "a \nb\nc", "a\nnew\nc", false)
	f.Fuzz(func(t *testing.T, content, old, new string, all bool) {
		res, err := Replace(content, old, new, all)
		if err != nil {
			if res.Content != "" {
				t.Fatalf("content with an error: %q", res.Content)
			}
			_ = err.Error()
			return
		}
		if res.Count < 1 || !all && res.Count != 1 || res.Content == content || res.Strategy == "" {
			t.Fatalf("%+v", res)
		}
		first, last := res.Spots[0], res.Spots[len(res.Spots)-1]
		v, w := newView(content), newView(res.Content)
		if v.style == eolCR || w.style == eolCR {
			return // lines cannot be told from the outside
		}
		head := lineStart(v.text, first.Line)
		if !strings.HasPrefix(res.Content, content[:v.offset(head)]) {
			t.Fatalf("%q changed above line %d: %q", content, first.Line, res.Content)
		}
		if res.Count <= maxSpots {
			tail := content[v.offset(lineStart(v.text, last.Line+last.Lines)):]
			if !strings.HasSuffix(res.Content, tail) {
				t.Fatalf("%q changed below line %d: %q", content, last.Line+last.Lines-1, res.Content)
			}
		}
		if res.Strategy == Exact && v.uniform() && v.style == eolLF {
			n := 1
			if all {
				n = -1
			}
			if want := strings.Replace(content, v.clean(old), v.clean(new), n); res.Content != want {
				t.Fatalf("got %q, want %q", res.Content, want)
			}
		}
	})
}

// lineStart is where line n, from 1, begins.
func lineStart(s string, n int) int {
	at := 0
	for ; n > 1; n-- {
		i := strings.IndexByte(s[at:], '\n')
		if i < 0 {
			return len(s)
		}
		at += i + 1
	}
	return at
}

// FuzzParsePatch reads anything and applies what can be read: an error means
// no changes, success means at least one.
func FuzzParsePatch(f *testing.F) {
	for _, s := range []string{
		text("*** Begin Patch", "*** Update File: f", "@@ def a", " a", "-b", "+B", "", "*** End of File", "*** Add File: n", "+x", "*** Move File: g -> h", "*** Delete File: f", "*** End Patch"),
		text("*** Update File: f", "*** Move to: z", "@@ b", "+c", `\ No newline at end of file`),
		text("--- a/f", "+++ b/f", "@@ -1,2 +1,3 @@ x", " a", "-b", "+c", "+d", `\ No newline at end of file`),
		text("diff --git a/f b/q", "rename from f", "rename to q", "diff --git a/x b/x", "new file mode 100644", "--- /dev/null", "+++ b/x", "@@ -0,0 +1 @@", "+x"),
	} {
		f.Add(s, "a\nb\nc\n", "x\r\ny\r\n")
	}
	f.Fuzz(func(t *testing.T, patch, one, two string) {
		p, err := ParsePatch(patch)
		if err != nil {
			return
		}
		p.Paths()
		files := map[string]string{"f": one, "g": two}
		out, err := p.Apply(disk(files))
		if err != nil && len(out.Changes) > 0 || err == nil && len(out.Changes) == 0 {
			t.Fatalf("%v with %+v", err, out.Changes)
		}
		for _, c := range out.Changes {
			if was, ok := files[c.Path]; ok && c.Op != Add && was != c.Old {
				t.Fatalf("%s: old content %q, was %q", c.Path, c.Old, was)
			}
		}
		land(files, out.Changes)
	})
}

// FuzzUnified takes the output for input: the diff of two texts applies to the
// first and gives the second.
func FuzzUnified(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nB\nc")
	f.Add("", "-- x\n++ y\n@@\n")
	f.Add("x\nx\nx\n", "x\nx\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		d := Diff("a/f", "b/f", a, b)
		if strings.ContainsRune(a+b, '\r') || strings.Count(d, "\n") > maxDiffRows {
			return // line ends are not part of a patch; a cut diff is for reading
		}
		if d == "" {
			if a != b {
				t.Fatal("no diff")
			}
			return
		}
		p, err := ParsePatch(d)
		if err != nil {
			t.Fatalf("%v\n%s", err, d)
		}
		out, err := p.Apply(disk(map[string]string{"f": a}))
		if err != nil {
			t.Fatalf("%v\n%s", err, d)
		}
		if got := out.Changes[0].New; got != b {
			t.Fatalf("from %q got %q want %q\n%s", a, got, b, d)
		}
	})
}
