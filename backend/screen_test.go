package backend

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

func clean(t testing.TB, s string, piece int) string {
	t.Helper()
	var b bytes.Buffer
	sc := NewScreen(&b)
	for p := []byte(s); len(p) > 0; {
		n := min(piece, len(p))
		if _, err := sc.Write(p[:n]); err != nil {
			t.Fatal(err)
		}
		p = p[n:]
	}
	if err := sc.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestScreen(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200_000)
	many := strings.Repeat("line\n", 10_000)
	for name, c := range map[string]struct{ in, want string }{
		"plain":                     {"a\nb\n", "a\nb\n"},
		"no last line break":        {"a\nb", "a\nb"},
		"F-047 redraw":              {"10%\r20%\r30%\n", "30%\n"},
		"F-047 colour":              {"\x1b[31mred\x1b[0m\n", "red\n"},
		"F-047 NUL":                 {"a\x00b\n", "a\\0b\n"},
		"CRLF":                      {"a\r\nb\r\n", "a\nb\n"},
		"shorter over longer":       {"abcdef\rxy\n", "xycdef\n"},
		"erase to the end":          {"abcdef\rxy\x1b[K\n", "xy\n"},
		"erase the line":            {"abcdef\x1b[2K\rxy\n", "xy\n"},
		"backspace":                 {"abc\b\bX\n", "aXc\n"},
		"spinner":                   {"|\b/\b-\bdone\n", "done\n"},
		"up and over":               {"one\ntwo\n\x1b[2A\rONE\x1b[K\n\x1b[Bthree\n", "ONE\ntwo\nthree\n"},
		"several bars":              {"a 1%\nb 1%\n\x1b[2Aa 9%\nb 9%\n\x1b[2Aa ok\nb ok\n", "a ok\nb ok\n"},
		"erase below":               {"menu\n1\n2\n3\x1b[3A\r\x1b[Jpicked\n", "picked\n"},
		"column":                    {"abc\x1b[1GX\x1b[10Gend\n", "Xbc      end\n"},
		"title and link":            {"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b\n", "alinkb\n"},
		"modes":                     {"\x1b[?25l\x1b[?2004hx\x1b[?25h\x1b(B\x1b=\n", "x\n"},
		"bell and form feed":        {"a\a\fb\n", "ab\n"},
		"tab kept":                  {"a\tb\n", "a\tb\n"},
		"not UTF-8":                 {"a\xffb\xc3(\n", "a\uFFFDb\uFFFD(\n"},
		"wide characters over":      {"héé→\rHé\n", "Héé→\n"},
		"cut sequence":              {"a\x1b[3", "a"},
		"broken sequence":           {"a\x1b[3\nb\n", "a\nb\n"},
		"only controls":             {"\r\r\r\b\b", ""},
		"empty":                     {"", ""},
		"a long line":               {long + "\n" + long, long + "\n" + long},
		"many lines":                {many, many},
		"many lines, then a redraw": {many + "1%\r2%\r\x1b[Kdone\n", many + "done\n"},
		"up too far":                {"a\nb\x1b[99AX\n", "aX\nb"},
	} {
		for _, piece := range []int{1, 3, 1 << 20} {
			if got := clean(t, c.in, piece); got != c.want {
				t.Errorf("%s, %d bytes at a time: got %.200q, want %.200q", name, piece, got, c.want)
			}
		}
	}
}

func FuzzScreen(f *testing.F) {
	for _, s := range []string{"10%\r20%\n", "\x1b[31mred\x1b[0m", "a\nb\x1b[1AX\x1b[K", "\x1b]0;t\x07", "\xe2\x82", "a\x00\b\b\x1b[2J\x1b[5P"} {
		f.Add([]byte(s), 1)
	}
	f.Fuzz(func(t *testing.T, in []byte, piece int) {
		piece = max(1, piece%64)
		got := clean(t, string(in), piece)
		if !utf8.ValidString(got) {
			t.Errorf("not UTF-8: %q", got)
		}
		for _, c := range []byte(got) {
			if c < 0x20 && c != '\n' && c != '\t' || c == 0x7f {
				t.Fatalf("a control is left: %q from %q", got, in)
			}
		}
		if whole := clean(t, string(in), len(in)+1); whole != got {
			t.Errorf("%q: %q in pieces, %q at once", in, got, whole)
		}
		if len(got) > 1000*(len(in)+1) {
			t.Errorf("%d bytes grew to %d", len(in), len(got))
		}
	})
}

type memFile struct {
	bytes.Buffer
	fail, committed, discarded bool
}

func (m *memFile) Write(p []byte) (int, error) {
	if m.fail {
		return 0, errors.New("disk full")
	}
	return m.Buffer.Write(p)
}
func (m *memFile) Commit() (string, error) { m.committed = true; return "name", nil }
func (m *memFile) Discard()                { m.discarded = true }

func TestKeep(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 10, 100, 101, 139, 160, 161, 500, 100_000} {
		for _, piece := range []int{1, 7, 1 << 20} {
			var in strings.Builder
			for i := range n {
				in.WriteRune([]rune("abcé→")[i%5])
			}
			file := &memFile{}
			k := &Keep{Limit: 100, File: func() (SpillFile, error) { return file, nil }}
			r := []rune(in.String())
			for i := 0; i < n; i += piece {
				_, _ = k.Write([]byte(string(r[i:min(n, i+piece)])))
			}
			want := in.String()
			if n > 100 {
				want = fmt.Sprintf("%s\n\n... [OUTPUT TRUNCATED - %d chars omitted out of %d total] ...\n\n%s", string(r[:40]), n-100, n, string(r[n-60:]))
			}
			if got := k.Text(); got != want {
				t.Errorf("%d by %d: got %.300q, want %.300q", n, piece, got, want)
			}
			name, err := k.Close()
			if (name != "") != (n > 100) || err != nil || n > 100 && file.String() != in.String() {
				t.Errorf("%d by %d: file %q, %v", n, piece, name, err)
			}
		}
	}
	file := &memFile{fail: true}
	k := &Keep{Limit: 10, File: func() (SpillFile, error) { return file, nil }}
	for range 100 {
		_, _ = k.Write([]byte("0123456789"))
	}
	if name, err := k.Close(); name != "" || err == nil || !file.discarded || !strings.HasSuffix(k.Text(), "456789") {
		t.Errorf("a full disk: %q, %v", name, err)
	}
}

func TestKeepEndless(t *testing.T) {
	t.Parallel()
	file := &memFile{}
	k := &Keep{Limit: 10, MaxBytes: 1000, File: func() (SpillFile, error) { return file, nil }}
	for range 10_000 {
		_, _ = k.Write([]byte("€uro"))
	}
	name, err := k.Close()
	kept, cut := k.Cut()
	if name == "" || err != nil || !cut || kept != int64(file.Len()) || kept < 990 || kept > 1000 || !utf8.Valid(file.Bytes()) {
		t.Errorf("file %q, %v; %d bytes (said %d), cut %v", name, err, file.Len(), kept, cut)
	}
	if !strings.HasSuffix(k.Text(), "€uro") || k.Total() != 40_000 {
		t.Errorf("shown %q of %d", k.Text(), k.Total())
	}
}

func TestMasker(t *testing.T) {
	t.Parallel()
	mask := func(s string) string { return strings.ReplaceAll(s, "hunter2\nhunter3", "***") }
	in := strings.Repeat("some text before\nhunter2\nhunter3\n", 10_000)
	for _, piece := range []int{1000, 65536, 1 << 22} {
		var b bytes.Buffer
		m := &Masker{To: &b, Mask: mask}
		for p := in; p != ""; {
			n := min(piece, len(p))
			_, _ = m.Write([]byte(p[:n]))
			p = p[n:]
		}
		_ = m.Close()
		if b.String() != mask(in) {
			t.Errorf("%d at a time: %d bytes, hunter left: %d", piece, b.Len(), strings.Count(b.String(), "hunter"))
		}
	}
}

// TestFlatMemory passes much output through all of it. The 100 MB of a real
// command are read in backends/local.
func TestFlatMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	k := &Keep{Limit: 50_000, File: func() (SpillFile, error) { return discard{}, nil }}
	s := NewScreen(k)
	p := bytes.Repeat([]byte("some line of output, as programs print it\n"), 32<<10/42)
	peak := uint64(0)
	for i, n := 0, 0; n < 16<<20; i++ {
		_, _ = s.Write(p)
		n += len(p)
		if i%64 == 0 {
			runtime.ReadMemStats(&after)
			peak = max(peak, after.HeapAlloc)
		}
	}
	if grown := int64(peak) - int64(before.HeapAlloc); grown > 8<<20 {
		t.Errorf("the heap grew by %d MB", grown>>20)
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Commit() (string, error)     { return os.DevNull, nil }
func (discard) Discard()                    {}

func BenchmarkScreen(b *testing.B) {
	for name, line := range map[string]string{
		"lines": "some line of output, as programs print it\n", "short": "y\n", "colour": "\x1b[32mok\x1b[0m  package/name 0.01s\n", "redraw": "\r 50% [=====>    ]",
	} {
		b.Run(name, func(b *testing.B) {
			p := bytes.Repeat([]byte(line), 32<<10/len(line))
			b.SetBytes(int64(len(p)))
			s := NewScreen(io.Discard)
			for range b.N {
				_, _ = s.Write(p)
			}
		})
	}
}
