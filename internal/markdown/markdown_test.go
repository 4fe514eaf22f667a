package markdown

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/internal/cells"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.md")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []Options{{Width: 60, Color: true}, {Width: 40}, {}} {
			name := fmt.Sprintf("%s.%d.%t.txt", strings.TrimSuffix(file, ".md"), o.Width, o.Color)
			got := strings.ReplaceAll(strings.Join(Render(string(src), o), "\n")+"\n", "\x1b", "␛")
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
			}
		}
	}
}

// TestPieces: however an answer is cut into pieces, it looks the same.
func TestPieces(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile("testdata/answer.md")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Width: 60, Color: true}
	want := Render(string(src), o)
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		s := NewStream(o)
		var got []string
		for rest := string(src); rest != ""; {
			n := min(1+random.IntN(40), len(rest))
			s.Write(rest[:n])
			rest = rest[n:]
			s.Open(10)
			got = append(got, s.Take()...)
		}
		s.Close()
		got = append(got, s.Take()...)
		if !slices.Equal(got, want) {
			t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if s.Taken() != len(src) {
			t.Errorf("%d of %d bytes are taken", s.Taken(), len(src))
		}
	}
}

func TestBlocksAreFinishedEarly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, source string
		done         []string
		open         string
	}{
		{"a paragraph waits for its end", "one\ntwo\nthr", nil, "one\ntwo\nthr"},
		{"an empty line ends it", "one\n\ntwo", []string{"one"}, "\ntwo"},
		{"a heading ends with its line", "# one\ntwo", []string{"one"}, "\ntwo"},
		{"code is final line by line", "```\none\ntwo\nthr", []string{"    one", "    two"}, "    thr"},
		{"items are final one by one", "- one\n- two\n- thr", []string{"• one"}, "• two\n• thr"},
		{"items after a paragraph", "list:\n- one\n- two\n", []string{"list:", "", "• one"}, "• two"},
		{"items apart", "1. one\n\n2. two\n3. x", []string{"1. one"}, "\n2. two\n3. x"},
		{"an item may go on after an empty line", "- one\n\n  more\n\n", nil, "• one\n\n  more"},
		{"text ends a list", "- one\n\ntext\n\n", []string{"• one", "", "text"}, ""},
		{"a table waits", "|a|b|\n|-|-|\n|1|2|\n", nil, "a │ b\n──┼──\n1 │ 2"},
		{"a rule is no item", "a\n\n---\n\nb", []string{"a", "", strings.Repeat("─", 40)}, "\nb"},
		{"an underlined title", "Title\n---\nb", nil, "Title\n\nb"},
		{"code in code", "````\n```\n````\nx", []string{"    ```"}, "\nx"},
	} {
		s := NewStream(Options{})
		s.Write(c.source)
		if got := s.Take(); !slices.Equal(got, c.done) {
			t.Errorf("%s: done %q, want %q", c.name, got, c.done)
		}
		if got := strings.Join(s.Open(100), "\n"); got != c.open {
			t.Errorf("%s: open %q, want %q", c.name, got, c.open)
		}
	}
}

func TestNothingObeyed(t *testing.T) {
	t.Parallel()
	for _, src := range []string{"a \x1b]52;c;x\x07 b", "&#27;[2J", "```\n\x1b[2J\n```", "[x](<\x1b[2J>)", "`\x1b[2J`", "| \x1b[2J |\n|-|\n", "<b \x1b[2J>"} {
		if got := strings.Join(Render(src, Options{Width: 40}), "\n"); strings.ContainsRune(got, 0x1b) {
			t.Errorf("%q became %q", src, got)
		}
	}
}

// FuzzStream: no source breaks the renderer, pieces do not matter, nothing is
// wider than it may be but code and tables.
func FuzzStream(f *testing.F) {
	src, err := os.ReadFile("testdata/answer.md")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(src), 7)
	f.Add("- a\n\n\n- b\n~~~\n~~~~\n* * *\n1)", 1)
	f.Fuzz(func(t *testing.T, source string, piece int) {
		piece = max(piece%50, 1)
		o := Options{Width: 30}
		want := Render(source, o)
		s := NewStream(o)
		for rest := source; rest != ""; {
			n := min(piece, len(rest))
			s.Write(rest[:n])
			s.Open(5)
			rest = rest[n:]
		}
		s.Close()
		if got := s.Take(); !slices.Equal(got, want) {
			t.Errorf("%q in pieces of %d: got %q, want %q", source, piece, got, want)
		}
		for _, line := range want {
			if cells.Clean(line) != line {
				t.Errorf("%q: %q commands the terminal", source, line)
			}
		}
	})
}

func BenchmarkStream(b *testing.B) {
	src, err := os.ReadFile("testdata/answer.md")
	if err != nil {
		b.Fatal(err)
	}
	long := strings.Repeat(string(src)+"\n\n", 50)
	b.SetBytes(int64(len(long)))
	for b.Loop() {
		s := NewStream(Options{Width: 80, Color: true})
		for i := 0; i < len(long); i += 4 { // a token
			s.Write(long[i:min(i+4, len(long))])
		}
		s.Close()
		s.Take()
	}
}
