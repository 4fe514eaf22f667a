package writefile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hermes-go/hermes/internal/files"
	"github.com/hermes-go/hermes/internal/files/filestest"
	"github.com/hermes-go/hermes/tool"
	_ "github.com/hermes-go/hermes/tools/readfile" // what a task has read
)

type given = filestest.Args

func TestWrite(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	r := b.OK("write_file", given{"path": "a/b/c.txt", "content": "hi\n"})
	if b.Get("a/b/c.txt") != "hi\n" || r.Num("bytes_written") != 3 || !r.Is("dirs_created") || !r.Is("created") || r.Text("_warning") != "" {
		t.Errorf("new file: %s", r.JSON)
	}
	r = b.OK("write_file", given{"path": "a/b/c.txt", "content": "other\n"})
	if b.Get("a/b/c.txt") != "other\n" || r.Is("dirs_created") || r.Is("created") || r.Num("bytes_before") != 3 || r.Text("_warning") != "" {
		t.Errorf("own file again: %s", r.JSON)
	}
	if r = b.OK("write_file", given{"path": "a/b/c.txt", "content": "other\n"}); !r.Is("unchanged") {
		t.Errorf("the same again: %s", r.JSON)
	}
	r = b.OK("write_file", given{"path": "empty", "content": ""})
	if b.Get("empty") != "" || r.Num("bytes_written") != 0 || r.Is("dirs_created") {
		t.Errorf("case 42, F-024: %s", r.JSON)
	}
	b.OK("write_file", given{"path": "5.txt", "content": 5}) // coerced by the registry
	if got := b.Get("5.txt"); got != "5" {
		t.Errorf("got %q", got)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	b.Put("f", "old")
	b.Put("d/x", "")
	for _, c := range []struct {
		name  string
		args  given
		parts []string
	}{
		{"case 42 no content", given{"path": "f"}, []string{"missing field content"}},
		{"no path", given{"content": "x"}, []string{"missing field path"}},
		{"empty path", given{"path": "", "content": "x"}, []string{"empty"}},
		{"object as content", given{"path": "f", "content": given{"a": 1}}, []string{"content"}},
		{"null", given{"path": "f", "content": nil}, []string{"content"}},
		{"line numbers", given{"path": "f", "content": "     1|a\n     2|b\n"}, []string{"line numbers", "2 lines"}},
		{"line numbers from the middle", given{"path": "f", "content": "   999|a\n  1000|b"}, []string{"line numbers"}},
		{"the dedupe message", given{"path": "f", "content": files.Unchanged + " Use what you read then."}, []string{"not the file"}},
		{"a directory", given{"path": "d", "content": "x"}, []string{"directory"}},
		{"below a file", given{"path": "f/x", "content": "x"}, []string{"f"}},
		{"a device", given{"path": "/dev/full", "content": "x"}, []string{"denied"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.Fails("write_file", c.args, c.parts...)
			if got := b.Get("f"); got != "old" {
				t.Errorf("the file is %q now", got)
			}
		})
	}
	for _, fine := range []string{"1|a\n2|b\n", "     1|a\n     7|b\n", "     1|a\nfree text\n", "|a|b|\n|-|-|\n", "    12 | x\n"} {
		b.OK("write_file", given{"path": "fine", "content": fine})
	}
}

// TestSensitive is case 43 and what stands around it: by name, through links,
// through .., in other letters, in profiles.
func TestSensitive(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	b.Put(filepath.Join(b.Home, ".ssh/known_hosts"), "")
	b.Put(filepath.Join(b.Home, ".hermes/.env"), "A=1\n")
	b.Put(filepath.Join(b.Home, ".bashrc"), "")
	for link, to := range map[string]string{
		"ssh": filepath.Join(b.Home, ".ssh"), "rc": filepath.Join(b.Home, ".bashrc"), "etc": "/etc",
		"homelink": b.Home, "dangling": filepath.Join(b.Home, ".netrc"),
	} {
		if err := os.Symlink(to, b.At(link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{
		"/etc/passwd", "/etc/sudoers.d/x", "/boot/grub.cfg", "/usr/lib/systemd/x", "/private/etc/hosts", "/private/var/db/x",
		"/var/run/docker.sock", "/proc/self/comm", "/tmp/../etc/passwd", "//etc//passwd", "/sys/power/state",
		"~/.ssh/authorized_keys", "~/.ssh/deep/er", "~/.aws/credentials", "~/.config/gh/hosts.yml", "~/.bashrc", "~/.zshrc",
		"~/.profile", "~/.netrc", "~/.npmrc", "~/.pypirc", "~/.pgpass", "~/.SSH/id_rsa", "~/x/../.ssh/id_rsa",
		"~/.hermes/.env", "~/.hermes/auth.json", "~/.hermes/config.yaml", "~/.hermes/state.db", "~/.hermes/profiles/p/.env",
		"ssh/id_ed25519", "rc", "etc/hosts", "homelink/.ssh/x", "dangling", `["/etc/passwd"]`,
	} {
		r := b.Fails("write_file", given{"path": path, "content": "x"}, "denied")
		_ = r
	}
	if got := b.Get(filepath.Join(b.Home, ".hermes/.env")); got != "A=1\n" {
		t.Errorf(".env is %q", got)
	}
	for _, path := range []string{"~/.bashrc.bak", "~/.hermes/skills/x/SKILL.md", "etcetera", ".env", "~/.config/other/x"} {
		b.OK("write_file", given{"path": path, "content": "x"})
	}
	b.Vars["HERMES_WRITE_SAFE_ROOT"] = b.At("safe")
	b.OK("write_file", given{"path": "safe/x", "content": "x"})
	b.Fails("write_file", given{"path": "safe/../out", "content": "x"}, "SAFE_ROOT")
	b.Fails("write_file", given{"path": "safest", "content": "x"}, "SAFE_ROOT")
}

func TestFormKept(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	for _, c := range []struct{ name, old, content, want string }{
		{"F-015 UTF-16", "\xff\xfeh\x00i\x00\n\x00", "yo\n", "\xff\xfey\x00o\x00\n\x00"},
		{"byte order mark", "\xef\xbb\xbfa\n", "b\n", "\xef\xbb\xbfb\n"},
		{"byte order mark sent too", "\xef\xbb\xbfa\n", "\uFEFFb\n", "\xef\xbb\xbfb\n"},
		{"CRLF", "a\r\nb\r\n", "x\ny\n", "x\r\ny\r\n"},
		{"CRLF sent", "a\r\nb\r\n", "x\r\ny\n", "x\r\ny\n"},
		{"mixed ends", "a\r\nb\n", "x\ny\n", "x\ny\n"},
		{"binary", "\x00\x01\x02", "text", "text"},
		{"GBK", "\xd6\xd0\xce\xc4\xb2\xe2\xca\xd4\n", "测试\n", "\xb2\xe2\xca\xd4\n"},
	} {
		name := strings.ReplaceAll(c.name, " ", "-")
		b.Put(name, c.old)
		r := b.OK("write_file", given{"path": name, "content": c.content})
		if got := b.Get(name); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if r.Num("bytes_written") != len(c.want) {
			t.Errorf("%s: %s", c.name, r.JSON)
		}
	}
	b.Put("gbk", "\xd6\xd0\xce\xc4\xb2\xe2\xca\xd4\n")
	b.OK("read_file", given{"path": "gbk", "encoding": "shift_jis"})
	b.Fails("write_file", given{"path": "gbk", "content": "😀"}, "U+1F600", "shift_jis") // as stated by the reader
}

func TestModeAndLinksKept(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	b.Put("real/f", "old")
	if err := os.Chmod(b.At("real/f"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real/f", b.At("link")); err != nil {
		t.Fatal(err)
	}
	b.OK("write_file", given{"path": "link", "content": "new"})
	info, err := os.Stat(b.At("real/f"))
	if err != nil || info.Mode().Perm() != 0o755 || b.Get("real/f") != "new" {
		t.Errorf("F-023: %v, %v, %q", info, err, b.Get("real/f"))
	}
	if l, err := os.Readlink(b.At("link")); err != nil || l != "real/f" {
		t.Errorf("the link is %q, %v", l, err)
	}
	left, err := filepath.Glob(b.At("real/.*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestStale(t *testing.T) {
	t.Parallel()
	warn := func(r filestest.Result) string { return r.Text("_warning") }
	read := func(b *filestest.Bench, task string, a given) { b.CallAs(task, "read_file", a) }
	write := func(b *filestest.Bench, task string) filestest.Result {
		return b.CallAs(task, "write_file", given{"path": "f", "content": "by " + task})
	}
	for _, c := range []struct {
		name string
		do   func(b *filestest.Bench)
		want string
	}{
		{"read and unchanged", func(b *filestest.Bench) { read(b, "me", given{"path": "f"}) }, ""},
		{"written by me", func(b *filestest.Bench) { write(b, "me") }, ""},
		{"case 52 sibling after my read", func(b *filestest.Bench) { read(b, "me", given{"path": "f"}); write(b, "kid") }, "sibling task kid after you last read"},
		{"sibling, never read", func(b *filestest.Bench) { write(b, "kid") }, "sibling task kid, and this task has not read it"},
		{"somebody else", func(b *filestest.Bench) { read(b, "me", given{"path": "f"}); b.Put("f", "foreign") }, "changed since you last read"},
		{"sibling, then somebody else", func(b *filestest.Bench) {
			read(b, "me", given{"path": "f"})
			write(b, "kid")
			b.Put("f", "foreign")
		}, "another program"},
		{"touched only", func(b *filestest.Bench) { read(b, "me", given{"path": "f"}); b.Put("f", "one\ntwo\nthree\n") }, ""},
		{"a part", func(b *filestest.Bench) { read(b, "me", given{"path": "f", "limit": 1}) }, "only a part"},
		{"a part after the whole", func(b *filestest.Bench) {
			read(b, "me", given{"path": "f"})
			read(b, "me", given{"path": "f", "limit": 1})
		}, ""},
		{"never read", func(*filestest.Bench) {}, "had not been read"},
		{"guard off", func(b *filestest.Bench) { b.Vars["HERMES_DISABLE_FILE_STATE_GUARD"] = "1"; write(b, "kid") }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := filestest.New(t)
			b.Put("f", "one\ntwo\nthree\n")
			c.do(b)
			r := write(b, "me")
			if r.Err != nil || b.Get("f") != "by me" {
				t.Fatalf("not written: %s", r.JSON)
			}
			if got := warn(r); c.want == "" && got != "" && got != "the file held exactly this already; nothing was written" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestLint(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	lintOf := func(r filestest.Result) map[string]any { m, _ := r.Value["lint"].(map[string]any); return m }
	if m := lintOf(b.OK("write_file", given{"path": "a.json", "content": "{\"a\": }\n"})); m["status"] != "error" || m["output"] != "JSONDecodeError: invalid character '}' looking for beginning of value (line 1, column 7)" {
		t.Errorf("new file: %v", m)
	}
	if m := lintOf(b.OK("write_file", given{"path": "a.json", "content": "{\"b\": }\n"})); m["status"] != "error" || !strings.Contains(fmt.Sprint(m["message"]), "pre-existing") {
		t.Errorf("case 44: %v", m)
	}
	if m := lintOf(b.OK("write_file", given{"path": "a.json", "content": "{}"})); m["status"] != "ok" {
		t.Errorf("repaired: %v", m)
	}
	if m := lintOf(b.OK("write_file", given{"path": "a.txt", "content": "{"})); m != nil {
		t.Errorf("no language: %v", m)
	}
	if m := lintOf(b.OK("write_file", given{"path": "a.py", "content": "def f(:\n"})); m["status"] == "ok" {
		t.Errorf("python: %v", m)
	}
}

type stars struct{}

func (stars) Redact(s string) string { return strings.ReplaceAll(s, "hunter2hunter2", "***") }

func TestMaskedTextIsNotWrittenBack(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	tool.ProvideAs[files.Redactor](b.App, stars{})
	b.Put(".env", "A=1\nKEY=hunter2hunter2\n")
	b.OK("read_file", given{"path": ".env"})
	b.Fails("write_file", given{"path": ".env", "content": "A=2\nKEY=***\n"}, "KEY=***", "secret")
	if got := b.Get(".env"); got != "A=1\nKEY=hunter2hunter2\n" {
		t.Errorf("got %q", got)
	}
	b.OK("write_file", given{"path": ".env", "content": "A=2\nKEY=newvalue\n"})
	b.OK("write_file", given{"path": "doc.md", "content": "***\nKEY=***\n"})
}

// TestConcurrentWriters holds that one file has one writer at a time and that
// readers never see a mixture.
func TestConcurrentWriters(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	b.Put("f", strings.Repeat("0", 50_000))
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for range 10 {
				b.CallAs(fmt.Sprint(w), "write_file", given{"path": "f", "content": strings.Repeat(fmt.Sprint(w), 50_000)})
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for {
		s := b.Get("f")
		if len(s) != 50_000 || strings.Count(s, s[:1]) != len(s) {
			t.Fatal("a mixture")
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

func TestReadOnlyFile(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("permissions do not bind root; the suite also runs as an ordinary user")
	}
	b := filestest.New(t)
	if err := os.Chmod(b.Put("f", "old"), 0o444); err != nil {
		t.Fatal(err)
	}
	b.Fails("write_file", given{"path": "f", "content": "new"}, "permission denied")
}
