package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/tool"
)

// meet is the loop's rule for calls that must not run at once.
func meet(a, b []tool.Effect) bool {
	covers := func(outer, key string) bool {
		outer, key = path.Clean(outer), path.Clean(key)
		return outer == key || strings.HasPrefix(key, strings.TrimSuffix(outer, "/")+"/")
	}
	for _, x := range a {
		for _, y := range b {
			if (x.Write || y.Write) && (covers(x.Key, y.Key) || covers(y.Key, x.Key)) {
				return true
			}
		}
	}
	return false
}

// TestEffects is case 33.
func TestEffects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		a, b []tool.Effect
		want bool
	}{
		{"reads of one file", Reads("a"), Reads("a"), false},
		{"read and write of one file", Reads("a"), Writes("./a"), true},
		{"writes of different files", Writes("a"), Writes("b"), false},
		{"read of a parent", Reads("d"), Writes("d/x"), true},
		{"absolute and relative", Reads("/w/d/x"), Writes("d/x"), true},
		{"relative through ..", Writes("../w/x"), Writes("x"), true},
		{"above the directory", Writes("../x"), Reads("/y/z"), true},
		{"home and absolute", Writes("~/x"), Writes("/home/u/x"), true},
		{"absolute, different", Writes("/a/x"), Writes("/a/y"), false},
		{"search below", ReadsBelow("."), Writes("d/x"), true},
		{"search below, absolute write", ReadsBelow("."), Writes("/w/d/x"), true},
		{"search elsewhere", ReadsBelow("/a"), Writes("/b/x"), false},
		{"search and relative write", ReadsBelow("/a"), Writes("x"), true},
		{"searches", ReadsBelow("."), ReadsBelow("."), false},
		{"backslashes", Writes(`d\x`), Reads("d/x"), true},
		{"drives", Writes(`C:\d\x`), Reads("C:/d/x"), true},
		{"other letters", Writes("D/X"), Writes("/w/d/x"), true},
		{"cd", Reads("a"), []tool.Effect{{Key: "cwd", Write: true}}, true},
	} {
		if got := meet(c.a, c.b); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
		if got := meet(c.b, c.a); got != c.want {
			t.Errorf("%s, the other way round: %v", c.name, got)
		}
	}
}

// links is a file system of names only, with links that may point anywhere.
type links struct {
	backend.FileSystem
	to map[string]string
}

func (l links) RealPath(_ context.Context, name string) (string, error) {
	for range 20 {
		moved := false
		for from, to := range l.to {
			if rel, ok := strings.CutPrefix(name, from); ok && (rel == "" || rel[0] == '/') {
				name, moved = path.Clean(to+rel), true
				break
			}
		}
		if !moved {
			return name, nil
		}
	}
	return "", errors.New("too many links")
}

func (links) Lstat(context.Context, string) (fs.FileInfo, error) { return nil, fs.ErrNotExist }

type noEnv struct{ backend.Env }

func (noEnv) Exec(context.Context, backend.Cmd) (backend.Exit, error) {
	return backend.Exit{Code: 1}, nil
}

// FuzzMayWrite holds that no spelling and no link reaches a guarded file.
func FuzzMayWrite(f *testing.F) {
	for _, s := range []string{"x", "/etc/passwd", "~/.ssh/id_rsa", "../../../etc/hosts", "l/passwd", "l/../etc/x", "//etc", "~", `["/etc/x"]`, "s/config", "~/.SSH/x", "/proc/self/mem", "m/n/../../h/.bashrc"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, given string) {
		l := links{to: map[string]string{"/w/l": "/etc", "/w/s": "/h/.ssh", "/w/m": "/", "/w/h": "/h"}}
		v := &View{FS: l, Env: noEnv{}, cwd: "/w", home: "/h", realHome: "/h", homes: []string{"/h/.hermes"}}
		p, err := v.Resolve(t.Context(), given)
		if err != nil || v.MayWrite(p) != nil {
			return
		}
		for _, bad := range []string{"/etc", "/proc", "/sys", "/boot", "/h/.ssh", "/h/.bashrc", "/h/.hermes/.env"} {
			real := strings.ToLower(p.Real)
			if real == bad || strings.HasPrefix(real, bad+"/") {
				t.Errorf("%q may write %s", given, p.Real)
			}
		}
		if path.Clean(p.Real) != p.Real || !strings.HasPrefix(p.Real, "/") {
			t.Errorf("%q is %q", given, p.Real)
		}
	})
}

// FuzzMayRead holds that no spelling and no link shows a private key.
func FuzzMayRead(f *testing.F) {
	for _, s := range []string{"x", "/etc/shadow", "~/.ssh/id_rsa", "../h/.ssh/id_rsa", "l/shadow", "s/id_rsa", "//etc//shadow", "~/.SSH/ID_RSA", "m/h/.aws/credentials", "~/.ssh/id_rsa.pub", "p/.npmrc"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, given string) {
		l := links{to: map[string]string{"/w/l": "/etc", "/w/s": "/h/.ssh", "/w/m": "/", "/w/h": "/h"}}
		v := &View{FS: l, Env: noEnv{}, cwd: "/w", home: "/h", realHome: "/h", homes: []string{"/h/.hermes"}}
		p, err := v.Resolve(t.Context(), given)
		if err != nil || v.MayRead(p) != nil {
			return
		}
		for _, bad := range []string{"/etc/shadow", "/h/.ssh/id_rsa", "/h/.aws/credentials", "/h/.netrc", "/h/.hermes/auth.json"} {
			if strings.EqualFold(p.Real, bad) {
				t.Errorf("%q may read %s", given, p.Real)
			}
		}
	})
}

// What has such a name in somebody's work is no key of theirs.
func TestPersonal(t *testing.T) {
	t.Parallel()
	v := &View{FS: links{}, Env: noEnv{}, cwd: "/h/project", home: "/h", realHome: "/h", homes: []string{"/h/.hermes"}}
	for name, read := range map[string]bool{
		".npmrc": true, "testdata/id_rsa": true, "~/.npmrc": false, "~/.ssh/config": true, "~/.ssh/work": false, "~/.bashrc": true, "/etc/passwd": true, "/etc/gshadow": false,
		"~/.config/gcloud/access_tokens.db": false, "~/Library/Keychains/login.keychain-db": false,
	} {
		p, err := v.Resolve(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := v.MayRead(p); (err == nil) != read {
			t.Errorf("reading %s: %v", name, err)
		}
	}
	for name, write := range map[string]bool{".npmrc": true, ".env": true, "~/.bashrc": false, "~/.config/fish/config.fish": false, "~/.config/git/config": false, "~/.config/nvim/init.lua": true, "~/.kube/x": false} {
		p, err := v.Resolve(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := v.MayWrite(p); (err == nil) != write {
			t.Errorf("writing %s: %v", name, err)
		}
	}
}

func TestUnder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, dir, rel string
		ok             bool
	}{
		{"/a/b", "/a", "b", true},
		{"/a", "/a", ".", true},
		{"/ab", "/a", "", false},
		{"/A/b/c", "/a", "b/c", true},
		{"/", "/a", "", false},
		{"/x", "/", "x", true},
	} {
		if rel, ok := under(c.name, c.dir); rel != c.rel || ok != c.ok {
			t.Errorf("%s under %s: %q, %v", c.name, c.dir, rel, ok)
		}
	}
}

func TestLock(t *testing.T) {
	t.Parallel()
	v := &View{shared: &shared{locks: map[string]*lock{}}}
	unlock, err := v.Lock(t.Context(), "b", "a", "a")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := v.Lock(ctx, "c", "b"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	unlock()
	unlock, err = v.Lock(t.Context(), "c", "b")
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	if n := len(v.shared.locks); n != 0 {
		t.Errorf("%d locks are left", n)
	}
}

func TestBounded(t *testing.T) {
	t.Parallel()
	b := newBounded[int, string](3)
	for i := range 100 {
		b.put(i, fmt.Sprint(i))
		if i%2 == 0 {
			b.drop(i)
		}
	}
	if _, ok := b.get(99); !ok || len(b.by) > 3 || len(b.order) > 6 {
		t.Errorf("%v, order %v", b.by, b.order)
	}
}

func TestNameScore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want, have string
		score      int
	}{
		{"Main.go", "main.go", 100},
		{"main.py", "main.go", 90},
		{"main", "main_test.go", 70},
		{"conf", "my_conf.yaml", 60},
		{"my_config.yaml", "config", 40},
		{"servers.go", "service.go", 30},
		{"abc.go", "xyz.go", 0},
	} {
		if got := nameScore(c.want, c.have); got != c.score {
			t.Errorf("%s and %s: %d", c.want, c.have, got)
		}
	}
}

func TestMaskKeys(t *testing.T) {
	t.Parallel()
	const begin, end = "-----BEGIN PRIVATE KEY-----\n", "-----END PRIVATE KEY-----"
	for _, c := range []struct {
		name, before, shown, want string
	}{
		{"within", begin + "AA\n", "BB\n" + end + "\nafter", "***\n" + end + "\nafter"},
		{"after", begin + "AA\n" + end + "\n", "BB", "BB"},
		{"a certificate", "-----BEGIN CERTIFICATE-----\n", "BB", "BB"},
		{"no key", "text\n", "BB", "BB"},
	} {
		lines := strings.Split(c.shown, "\n")
		masked := MaskKeys(c.before, lines)
		if got := strings.Join(lines, "\n"); got != c.want || masked != (c.want != c.shown) {
			t.Errorf("%s: %q, %v", c.name, got, masked)
		}
	}
}

func TestDeviceNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"/dev/zero": true, "/dev/fd/0": true, "/proc/1/fd/0": true, "/proc/self/fd/2": true, "/proc/self/task/1/fd/1": true,
		"/dev/shm/x": false, "/dev": false, "/proc/self/fd/5": false, "/proc/cpuinfo": false, "/device/x": false, filepath.Join("/", "x"): false,
	} {
		if got := device(name) != ""; got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
