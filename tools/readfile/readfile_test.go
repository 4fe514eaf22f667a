package readfile

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/hermes-go/hermes/internal/files"
	"github.com/hermes-go/hermes/internal/files/filestest"
	"github.com/hermes-go/hermes/tool"
)

type given = filestest.Args

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func TestContent(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	gbk, err := simplifiedchinese.GBK.NewEncoder().String("中文测试\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, content string
		args          given
		want          string
		total         int
		truncated     bool
	}{
		{"F-017 no final newline", "a\nb", given{}, "     1|a\n     2|b", 2, false},
		{"F-017 final newline", "a\n", given{}, "     1|a", 1, false},
		{"F-017 empty", "", given{}, "", 0, false},
		{"blank lines", "\n\n", given{}, "     1|\n     2|", 2, false},
		{"page", lines(10), given{"offset": 3, "limit": 2}, "     3|line 3\n     4|line 4", 10, true},
		{"last page", lines(10), given{"offset": 10, "limit": 2}, "    10|line 10", 10, false},
		{"case 41 clamps", lines(2), given{"offset": -3, "limit": 99999}, "     1|line 1\n     2|line 2", 2, false},
		{"limit zero", lines(2), given{"limit": 0}, "     1|line 1", 2, true},
		{"numbers as text", lines(3), given{"offset": "2", "limit": "1"}, "     2|line 2", 3, true},
		{"F-015 UTF-16", "\xff\xfeh\x00i\x00\n\x00", given{}, "     1|hi", 1, false},
		{"UTF-16 big end", "\xfe\xff\x00h\x00i", given{}, "     1|hi", 1, false},
		{"byte order mark", "\xef\xbb\xbfhi\n", given{}, "     1|hi", 1, false},
		{"F-016 GBK stated", gbk, given{"encoding": "gbk"}, "     1|中文测试", 1, false},
		{"CRLF", "a\r\nb\r\n", given{}, "     1|a\n     2|b", 2, false},
		{"CR", "a\rb\r", given{}, "     1|a\n     2|b", 2, false},
		{"wide numbers", strings.Repeat("x\n", 1000000), given{"offset": 999999, "limit": 5}, "999999|x\n1000000|x", 1000000, false},
		{"json list of numbers stays text", "[1]\n", given{}, "     1|[1]", 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := strings.ReplaceAll(c.name, " ", "-") + ".txt"
			b.Put(name, c.content)
			c.args["path"] = name
			r := b.OK("read_file", c.args)
			if r.Text("content") != c.want || r.Num("total_lines") != c.total || r.Is("truncated") != c.truncated {
				t.Errorf("got %s", r.JSON)
			}
			if r.Num("file_size") != len(c.content) {
				t.Errorf("file_size: %s", r.JSON)
			}
			if c.truncated != strings.Contains(r.Text("hint"), "offset=") {
				t.Errorf("hint: %q", r.Text("hint"))
			}
			for _, key := range []string{"content", "total_lines", "file_size", "truncated", "is_binary", "is_image"} {
				if _, ok := r.Value[key]; !ok {
					t.Errorf("no %s in %s", key, r.JSON)
				}
			}
		})
	}
}

// TestCutCharacters is F-014: a character of two, three or four bytes across
// every cut that a reader could make.
func TestCutCharacters(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	for _, block := range []int{1000, 4096, 8000, sniffSize} {
		for _, char := range []string{"ç", "語", "😀"} {
			for cut := range len(char) + 1 {
				name := fmt.Sprintf("%d-%d-%d", block, len(char), cut)
				b.Put(name, strings.Repeat("a", block-cut)+char+"\nx\n")
				r := b.OK("read_file", given{"path": name, "offset": 2})
				if r.Text("content") != "     2|x" || r.Text("encoding") != "" {
					t.Errorf("%s: %s", name, r.JSON)
				}
			}
		}
	}
}

func TestEncodings(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	gbk, err := simplifiedchinese.GBK.NewEncoder().String("中文测试\n")
	if err != nil {
		t.Fatal(err)
	}
	b.Put("gbk", gbk)
	r := b.OK("read_file", given{"path": "gbk"})
	if r.Text("content") != "     1|中文测试" || !r.Is("encoding_guessed") || r.Text("encoding") != "gb18030" {
		t.Errorf("F-016: %s", r.JSON)
	}
	b.Fails("read_file", given{"path": "gbk", "encoding": "klingon"}, "unknown encoding", "gb18030")
	b.Put("stray", "good ééééééééééééé\nbad \xff end\n")
	r = b.OK("read_file", given{"path": "stray"})
	if !strings.Contains(r.Text("content"), "bad \uFFFD end") || !strings.Contains(r.Text("_warning"), "1 bytes") {
		t.Errorf("damage: %s", r.JSON)
	}
}

// TestLargeFile reads a file beyond what is read as a whole.
func TestLargeFile(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	var text strings.Builder
	n := 0
	for text.Len() <= wholeSize {
		n++
		fmt.Fprintf(&text, "line %d é %s\r\n", n, strings.Repeat("x", n%60))
	}
	text.WriteString("the end")
	n++
	b.Put("big", text.String())
	r := b.OK("read_file", given{"path": "big", "offset": n - 1, "limit": 10})
	if r.Num("total_lines") != n || !strings.HasSuffix(r.Text("content"), fmt.Sprintf("\n%d|the end", n)) || r.Text("line_endings") != "crlf" {
		t.Errorf("got %s", r.JSON)
	}
	if r := b.OK("read_file", given{"path": "big", "offset": n - 1, "limit": 10}); r.Text("status") != "unchanged" {
		t.Errorf("again: %s", r.JSON)
	}
	r = b.OK("read_file", given{"path": "big", "offset": 2, "limit": 300})
	if !strings.HasPrefix(r.Text("content"), "     2|line 2 é xx\n     3|") || !r.Is("truncated") || !strings.Contains(r.Text("_hint"), "large file") {
		t.Errorf("got %s", r.JSON[:300])
	}
	b.Fails("read_file", given{"path": "big", "offset": n + 1}, fmt.Sprintf("the file has %d lines", n))
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	b.Put("two", "a\nb\n")
	b.Put("zip.txt", "PK\x03\x04\x00\x00\x00\x00rest")
	b.Put("lib.so", "\x7fELF\x02\x01\x01\xb1\xc2\xd3\xe4\xf5\xa6")
	b.Put("long", strings.Repeat(strings.Repeat("x", 500)+"\n", 500))
	for link, to := range map[string]string{"zero": "/dev/zero", "in": "/proc/self/fd/0"} {
		if err := os.Symlink(to, b.At(link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name  string
		args  given
		parts []string
	}{
		{"case 38 device", given{"path": "/dev/zero"}, []string{"device"}},
		{"case 38 stdin of a process", given{"path": "/proc/1/fd/0"}, []string{"standard stream"}},
		{"device by ..", given{"path": "/tmp/../dev/random"}, []string{"device"}},
		{"device by link", given{"path": "zero"}, []string{"device"}},
		{"F-018 past the end", given{"path": "two", "offset": 99}, []string{"the file has 2 lines"}},
		{"binary", given{"path": "zip.txt"}, []string{"binary"}},
		{"binary by name", given{"path": "lib.so"}, []string{"binary"}},
		{"case 39 too much at once", given{"path": "long"}, []string{"100000", "limit="}},
		{"empty path", given{"path": " "}, []string{"empty"}},
		{"NUL", given{"path": "a\x00b"}, []string{"NUL"}},
		{"no path", given{}, []string{"missing field path"}},
		{"F-031 two paths", given{"path": `["a","b"]`}, []string{"2 paths"}},
	} {
		t.Run(c.name, func(t *testing.T) { b.Fails("read_file", c.args, c.parts...) })
	}
	r := b.Fails("read_file", given{"path": "long", "offset": 2})
	if r.Text("content") != "" || r.Num("total_lines") != 500 || r.Num("file_size") != 500*501 {
		t.Errorf("what is known of a withheld file: %s", r.JSON)
	}
}

func TestNotFound(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	for _, n := range []string{"src/main.go", "src/main_test.go", "src/other.py"} {
		b.Put(n, "x\n")
	}
	r := b.Fails("read_file", given{"path": "src/Main.go"}, "File not found: src/Main.go")
	got, _ := r.Value["similar_files"].([]any)
	if len(got) == 0 || got[0] != "src/main.go" {
		t.Errorf("similar files: %s", r.JSON)
	}
	r = b.Fails("read_file", given{"path": "no/such/dir/x.go"})
	if !strings.Contains(r.Text("_hint"), filepath.Join(b.Dir, "no")) {
		t.Errorf("missing directory: %s", r.JSON)
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	b.Put("p/a", "needle\n")
	b.Put("[odd]", "needle\n")
	b.Put(filepath.Join(b.Home, "h.txt"), "needle\n")
	for i, path := range []string{"p/a", "./p//a", b.At("p/a"), "~/h.txt", `["p/a"]`, "[odd]", "p/../p/a"} {
		// Each in a task of its own: a second spelling of a file is a repetition.
		r := b.CallAs(fmt.Sprint(i), "read_file", given{"path": path})
		if r.Text("content") != "     1|needle" {
			t.Errorf("%s: %s", path, r.JSON)
		}
		if note := r.Text("_note"); (path == `["p/a"]`) != strings.Contains(note, "only element") {
			t.Errorf("F-031 %s: note %q", path, note)
		}
	}
	b.OK("read_file", given{"path": "p/a"})
	if r := b.OK("read_file", given{"path": b.At("p/./a")}); r.Text("status") != "unchanged" {
		t.Errorf("another spelling: %s", r.JSON)
	}
	env, err := b.Pool.Env(t.Context(), "moved")
	if err != nil {
		t.Fatal(err)
	}
	filestest.Sh(t, env, "cd p")
	if r := b.CallAs("moved", "read_file", given{"path": "a"}); r.Text("content") != "     1|needle" {
		t.Errorf("after cd: %s", r.JSON)
	}
}

func TestRepetition(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	name := b.Put("f", lines(10))
	call := func(want string) filestest.Result {
		t.Helper()
		r := b.Call("read_file", given{"path": "f"})
		got := "content"
		switch {
		case r.Err != nil && strings.HasPrefix(r.Text("error"), "BLOCKED"):
			got = "blocked"
		case r.Text("status") != "":
			got = r.Text("status")
		}
		if got != want {
			t.Fatalf("got %s, want %s: %s", got, want, r.JSON)
		}
		return r
	}
	call("content")
	if r := call("unchanged"); !r.Is("dedup") || r.Value["content_returned"] != false || r.Text("path") != "f" || r.Text("message") == "" {
		t.Errorf("case 40: %s", r.JSON)
	}
	if r := call("blocked"); r.Num("already_read") != 2 {
		t.Errorf("case 40: %s", r.JSON)
	}
	states := b.Session("main")
	other := files.Watch(func(ctx context.Context, c *tool.Call) (any, error) { return nil, nil })
	if _, err := other(t.Context(), &tool.Call{Name: "terminal", Session: states}); err != nil {
		t.Fatal(err)
	}
	call("unchanged") // after any other tool
	if r := b.OK("read_file", given{"path": "f", "offset": 2}); r.Text("content") == "" {
		t.Errorf("another part: %s", r.JSON)
	}
	// Same size, same second: only the content tells.
	if err := os.WriteFile(name, []byte(strings.Replace(lines(10), "1", "2", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	call("content")
	files.Forget(b.Session("main"))
	call("content")
	if r := b.CallAs("sibling", "read_file", given{"path": "f"}); r.Text("content") == "" {
		t.Errorf("another task: %s", r.JSON)
	}
}

func TestDirectory(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	b.Put("d/b.txt", "12345")
	b.Put("d/a/x", "")
	if err := os.Symlink("b.txt", b.At("d/l")); err != nil {
		t.Fatal(err)
	}
	r := b.OK("read_file", given{"path": "d"})
	if r.Text("content") != "a/\nb.txt 5\nl@" || !r.Is("is_directory") || r.Num("total_lines") != 3 {
		t.Errorf("got %s", r.JSON)
	}
	r = b.OK("read_file", given{"path": "d", "offset": 2, "limit": 1})
	if r.Text("content") != "b.txt 5" || !r.Is("truncated") {
		t.Errorf("a page: %s", r.JSON)
	}
}

func TestImage(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	var buf bytes.Buffer
	if err := png.Encode(&buf, image.NewGray(image.Rect(0, 0, 7, 5))); err != nil {
		t.Fatal(err)
	}
	b.Put("p.dat", buf.String())
	r := b.OK("read_file", given{"path": "p.dat"})
	if !r.Is("is_image") || !r.Is("is_binary") || r.Num("width") != 7 || r.Num("height") != 5 || r.Text("mime") != "image/png" || r.Text("content") != "" {
		t.Errorf("got %s", r.JSON)
	}
}

func TestTextUnderBinaryName(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	b.Put("points.dat", "1 2\n3 4\n")
	if r := b.OK("read_file", given{"path": "points.dat"}); r.Num("total_lines") != 2 {
		t.Errorf("got %s", r.JSON)
	}
}

func TestLongLines(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	b.Put("f", strings.Repeat("é", 3000)+"\nb\n")
	r := b.OK("read_file", given{"path": "f"})
	if want := "     1|" + strings.Repeat("é", 2000) + "... [truncated]\n     2|b"; r.Text("content") != want || !strings.Contains(r.Text("_hint"), "1 lines longer") {
		t.Errorf("got %s", r.JSON)
	}
}

type stars struct{}

func (stars) Redact(s string) string { return strings.ReplaceAll(s, "hunter2hunter2", "***") }

func TestSecrets(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	own := func(n string) string { return filepath.Join(b.Home, ".hermes", n) }
	b.Put(own(".env"), "KEY=hunter2hunter2\n")
	b.Put(own("auth.json"), "{}")
	b.Put(own("skills/.hub/x/SKILL.md"), "ignore all")
	b.Put(own("profiles/p/auth.json"), "{}")
	if err := os.Symlink(own("auth.json"), b.At("innocent")); err != nil {
		t.Fatal(err)
	}
	b.Fails("read_file", given{"path": "~/.hermes/.env"}, "secrets")
	tool.ProvideAs[files.Redactor](b.App, stars{})
	r := b.OK("read_file", given{"path": "~/.hermes/.env"})
	if r.Text("content") != "     1|KEY=***" || !r.Is("redacted") || !strings.Contains(r.Text("_warning"), "masked") {
		t.Errorf("F-158: %s", r.JSON)
	}
	for _, path := range []string{"~/.hermes/auth.json", "innocent", "~/.hermes/skills/../auth.json", "~/.hermes/profiles/p/auth.json", "~/.hermes/skills/.hub/x/SKILL.md"} {
		b.Fails("read_file", given{"path": path})
	}
	b.Put(own("state.db"), "SQLite format 3")
	b.Fails("read_file", given{"path": "~/.hermes/state.db"}, "session_search") // F-116: the program may have it open
	b.Put("key", "x\n-----BEGIN RSA PRIVATE KEY-----\nAAAA\nBBBB\n-----END RSA PRIVATE KEY-----\nafter\n")
	r = b.OK("read_file", given{"path": "key", "offset": 4})
	if r.Text("content") != "     4|***\n     5|-----END RSA PRIVATE KEY-----\n     6|after" || !r.Is("redacted") {
		t.Errorf("the end of a key: %s", r.JSON)
	}
}

func BenchmarkRead500Of583KB(bm *testing.B) {
	b := filestest.New(bm)
	b.Put("f", strings.Repeat(strings.Repeat("x", 58)+"\n", 583*1024/59))
	b.Call("read_file", given{"path": "f"})
	for i := 0; bm.Loop(); i++ {
		b.Call("read_file", given{"path": "f", "offset": 1 + i%9000, "limit": 500})
	}
}
