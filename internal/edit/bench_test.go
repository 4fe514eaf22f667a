package edit

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// source is a program of n lines with one function in the middle that the
// benchmarks look for.
func source(n int, end string) string {
	var b strings.Builder
	for i := 0; b.Len() == 0 || i < n; i += 5 {
		if i/5 == n/10 {
			b.WriteString("func target(a, b int) (int, error) {\n\tsum := compute(alpha,  a)\n\tnote(“done — ready”)\n\treturn sum + b, nil\n}\n")
			continue
		}
		fmt.Fprintf(&b, "func f%d(x int) error {\n\tif x > %d {\n\t\treturn fmt.Errorf(\"value %%d too large\", x)\n\t}\n}\n", i, i*7)
	}
	return strings.ReplaceAll(b.String(), "\n", end)
}

type strategyCase struct {
	name, old, new, strategy string
}

func strategyCases() []strategyCase {
	return []strategyCase{
		{"exact", "\treturn sum + b, nil\n", "\treturn 0, nil\n", Exact},
		{"line_trimmed", "return sum + b, nil \n}", "return 0, nil\n}", LineTrimmed},
		{"whitespace_normalized", "compute(alpha, a)", "compute(beta, a)", WhitespaceNormal},
		{"indentation_flexible", "(“done — ready”)\nreturn sum", "(“done — ready”)\nreturn mum", IndentationFlexible},
		{"escape_normalized", `“done — ready”)\n\treturn sum + b`, `“done — ready”)\n\treturn 0`, EscapeNormal},
		{"trimmed_boundary", "\n\n\nsum := compute(alpha,  a)\n\n", "\n\n\nsum := 3\n\n", TrimmedBoundary},
		{"unicode_normalized", `note("done -- ready")`, `note("done -- steady")`, UnicodeNormal},
		{"block_anchor", "func target(a, b int) (int, error) {\n\tsum := compute(alfa, a)\n\tnote(\"done, ready\")\n\treturn sum + b, nil\n}", "func target(a, b int) (int, error) {\n\tsum := compute(alfa, a)\n\tnote(\"done, ready\")\n\treturn 0, nil\n}", BlockAnchor},
		{"context_aware", "func target(a, b int) (int, err) {\n\tsum := compute(alpha, a)\n\tnote(\"done -- ready\")\n\treturn sum + b, nil\n}", "func target(a, b int) (int, err) {\n\tsum := compute(alpha, a)\n\tnote(\"done -- ready\")\n\treturn 0, nil\n}", ContextAware},
		{"nothing", "func missing(p *thing) string {\n\tq := p.other()\n\treturn q.String()\n}", "x", ""},
		{"nothing, one line", "return fmt.Errorf(\"valve %d is too narrow\", y)", "x", ""},
	}
}

func BenchmarkReplace10k(b *testing.B) {
	content := source(10_000, "\n")
	for _, c := range strategyCases() {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				res, err := Replace(content, c.old, c.new, false)
				var missing *NotFoundError
				if res.Strategy != c.strategy || c.strategy == "" && !errors.As(err, &missing) {
					b.Fatal(res.Strategy, err)
				}
			}
		})
	}
}

func BenchmarkReplace10kCRLF(b *testing.B) {
	content := source(10_000, "\r\n")
	for b.Loop() {
		if _, err := Replace(content, "return sum + b, nil \n}", "return 0, nil\n}", false); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPatch10k(b *testing.B) {
	content := source(10_000, "\n")
	var text strings.Builder
	text.WriteString("*** Update File: f\n")
	for i := range 100 {
		fmt.Fprintf(&text, "@@\n-func f%d(x int) error {\n+func g%d(x int) error {\n", i*50, i*50)
	}
	for b.Loop() {
		p, err := ParsePatch(text.String())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Apply(disk(map[string]string{"f": content})); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDiff10k(b *testing.B) {
	content := source(10_000, "\n")
	other := strings.ReplaceAll(content, "x > 7", "x >= 7")
	for b.Loop() {
		Diff("a/f", "b/f", content, other)
	}
}

// big is 50 MB of source.
func big(end string) []byte {
	unit := source(100_000, end)
	out := make([]byte, 0, 51<<20)
	for len(out) < 50<<20 {
		out = append(out, unit...)
	}
	return append(out, "the one and only last line"+end...)
}

func wholeEdit(data []byte) error {
	txt, err := Decode(data, "")
	if err != nil {
		return err
	}
	old := txt.Content
	res, err := Replace(old, "the one and only last line", "another line", false)
	if err != nil {
		return err
	}
	txt.Content = res.Content
	if _, err := txt.Encode(); err != nil {
		return err
	}
	if d := Diff("a/f", "b/f", old, res.Content); !strings.Contains(d, "+another line") {
		return fmt.Errorf("diff %q", d)
	}
	return nil
}

func BenchmarkEdit50MB(b *testing.B) {
	for name, end := range map[string]string{"LF": "\n", "CRLF": "\r\n"} {
		data := big(end)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := wholeEdit(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The aims with room for a busy machine: nothing here may grow with the square
// of its input.
func TestBounds(t *testing.T) {
	if testing.Short() {
		t.Skip("timing")
	}
	repeat := strings.Repeat
	content := source(10_000, "\n")
	same := repeat("}\n", 200_000)
	longLine := repeat("abc ", 1<<18)
	type edit struct {
		name, content, old, new string
	}
	cases := []edit{
		{"equal lines, long pattern", same, repeat("}\n", 5000) + "x\n", "y"},
		{"equal lines, spaced pattern", same, repeat(" }\n", 5000) + "x\n", "y"},
		{"equal anchors", same, "}\n" + repeat("abcdefghij\n", 1000) + "}\n", "y"},
		{"one long line", longLine, longLine[:1<<19] + "x", "y"},
		{"long similar lines", repeat(repeat("abcdefgh ", 500)+"\n", 1000), repeat("abcdefgx ", 500), "y"},
		{"many places, all of them similar", repeat("alpha beta gamma delta 1\n", 50_000), "alpha beta gamma delta 2\nalpha beta gamma delta 3", "y"},
		{"blanks", repeat(" \t", 1<<20), " x ", "y"},
		{"indents", repeat(repeat(" ", 100)+"x\n", 20_000), "y\nz", "q"},
		{"typography", repeat("“—”…\n", 200_000), `"--"...x`, "y"},
		{"big old against small text", "a\n", repeat("line of text\n", 100_000), "y"},
		{"backslashes", repeat(`\n`, 1<<19), repeat(`\n`, 1000) + "x", `y\n`},
		{"whole file rewritten by lines", content, repeat(" ", 2) + repeat(content, 1), repeat("other\n", 20_000)},
	}
	for _, c := range cases {
		start := time.Now()
		_, err := Replace(c.content, c.old, c.new, false)
		if d := time.Since(start); d > 2*time.Second {
			t.Errorf("%s took %v (%v)", c.name, d, err)
		} else {
			t.Logf("%-40s %v", c.name, d.Round(100*time.Microsecond))
		}
	}
	for _, c := range strategyCases() {
		start := time.Now()
		_, _ = Replace(content, c.old, c.new, false)
		if d := time.Since(start); d > 200*time.Millisecond {
			t.Errorf("%s on 10,000 lines took %v", c.name, d)
		}
	}
	start := time.Now()
	Diff("a", "b", repeat("a\nb\nc\n", 100_000), repeat("c\na\nd\n", 100_000))
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("diff took %v", d)
	}
	start = time.Now()
	p, err := ParsePatch("--- a/f\n+++ b/f\n@@ -1,900000 +1,900000 @@\n" + repeat("--- x\n+++ y\n", 100_000) + repeat("--- x\n+++ y\n@@\n", 100_000))
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("parse took %v %v", d, err)
	}
	_ = p
}

func TestBigFileMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("50 MB")
	}
	for _, end := range []string{"\n", "\r\n"} {
		data := big(end)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		start := time.Now()
		if err := wholeEdit(data); err != nil {
			t.Fatal(err)
		}
		d := time.Since(start)
		runtime.ReadMemStats(&after)
		// All that was allocated bounds what was alive at once.
		total := int(after.TotalAlloc-before.TotalAlloc)>>20 + len(data)>>20
		t.Logf("%q: %v, %d MB with the file itself", end, d, total)
		if d > 3*time.Second || total > 200 {
			t.Errorf("%q: %v, %d MB", end, d, total)
		}
	}
}
