package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/backend/backendtest"
	"github.com/hermes-go/hermes/internal/confine"
)

// TestMain lets this binary be the copy that confines itself.
func TestMain(m *testing.M) {
	if code, ok := confine.Child(os.Args); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// enforced fails where nothing can be enforced: a check that passes without
// having looked says the wrong thing.
func enforced(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the sandbox is for Linux")
	}
	if err := confine.Look().Err(); err != nil {
		t.Fatalf("the sandbox cannot be checked here: %v", err)
	}
}

type place struct {
	backend.Env
	cwd, home, private string
}

func (p place) files() backend.FileSystem { return p.Env.(backend.FileSystem) }

// testEnv opens an environment whose directories all lie outside of /tmp, which
// is open to it.
func testEnv(t testing.TB, set settings, bubblewrap bool) place {
	t.Helper()
	base, err := os.MkdirTemp("/var/lib", "hermes-sandbox-test-")
	if err != nil {
		base, err = os.MkdirTemp(os.Getenv("HOME"), ".hermes-sandbox-test-")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	p := place{cwd: filepath.Join(base, "work"), home: filepath.Join(base, "home"), private: filepath.Join(base, "home", ".hermes")}
	for _, dir := range []string{p.cwd, p.private, filepath.Join(p.home, ".ssh")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	once := &backend.Once{}
	_, _ = once.Do(t.Context(), name, func() (any, error) {
		l := confine.Look()
		if !bubblewrap {
			l.Bubblewrap, l.NoWrap = "", "not wanted"
		}
		return l, nil
	})
	e, err := open(t.Context(), backend.Options{
		Cwd: p.cwd, Home: p.private, Once: once,
		Decode: func(into any) error {
			if s, ok := into.(*settings); ok {
				*s = set
			}
			return nil
		},
		Vars: func() []string { return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "MY_V=passed"} },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	p.Env = e
	return p
}

func TestConformance(t *testing.T) {
	t.Parallel()
	enforced(t)
	open := func(t *testing.T) backend.Env { return testEnv(t, settings{}, false).Env }
	t.Run("commands", func(t *testing.T) { t.Parallel(); backendtest.Env(t, open) })
	t.Run("beside others", func(t *testing.T) { t.Parallel(); backendtest.Spawn(t, open) })
	t.Run("files", func(t *testing.T) {
		p := testEnv(t, settings{}, false)
		backendtest.Files(t, p.files(), p.cwd)
	})
}

// TestWithBubblewrap is the same with bubblewrap around it, where that works.
func TestWithBubblewrap(t *testing.T) {
	t.Parallel()
	enforced(t)
	if l := confine.Look(); l.Bubblewrap == "" {
		t.Fatalf("bubblewrap cannot be checked here: %s", l.NoWrap)
	}
	backendtest.Env(t, func(t *testing.T) backend.Env { return testEnv(t, settings{}, true).Env })
}

// TestHolds tries to get out.
func TestHolds(t *testing.T) {
	t.Parallel()
	enforced(t)
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	_, port, err := net.SplitHostPort(server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, wrapped := range []bool{false, true} {
		t.Run(fmt.Sprintf("bubblewrap %v", wrapped), func(t *testing.T) {
			t.Parallel()
			p := testEnv(t, settings{}, wrapped)
			secret := filepath.Join(p.private, ".env")
			for _, name := range []string{secret, filepath.Join(p.home, ".ssh", "id_ed25519"), filepath.Join(p.home, "notes")} {
				if err := os.WriteFile(name, []byte("top secret"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			sleeper := exec.Command("sleep", "60")
			if err := sleeper.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _, _ = sleeper.Process.Kill(), sleeper.Wait() }()
			for what, script := range map[string]string{
				"read the program's keys":     "cat " + secret,
				"read an ssh key":             "cat ~/.ssh/id_ed25519",
				"read another file":           "cat ~/notes",
				"list the home":               "ls " + p.home + "/.ssh && false || ls -A " + p.home + "/.ssh | grep .",
				"read through a link":         "ln -s ~/notes l && cat l",
				"read through a hard link":    "ln ~/notes h && cat h",
				"write outside":               "echo x >~/new",
				"append outside":              "echo x >>~/notes",
				"empty a file outside":        "truncate -s 0 ~/notes",
				"remove outside":              "rm -f ~/notes; [ ! -e ~/notes ] && cat ~/notes",
				"move outside":                "echo x >m; mv m ~/m",
				"write a shell start-up file": "echo evil >>~/.bashrc",
				"write to the system":         "touch /usr/bin/hermes-was-here",
				"read shadowed passwords":     "cat /etc/shadow",
				"make a device":               "mknod d c 1 1 && cat d",
				"end another program":         fmt.Sprintf("kill %d", sleeper.Process.Pid),
				"look into another program":   fmt.Sprintf("cat /proc/%d/environ | tr -d '\\0' | grep .", os.Getpid()),
				"reach the network":           "exec 3<>/dev/tcp/127.0.0.1/" + port,
				"become root":                 "mount -t tmpfs none /mnt",
			} {
				got, exit := backendtest.Shell(t, p, script)
				if exit.Code == 0 || strings.Contains(got, "top secret") {
					t.Errorf("%s: got %q, %+v", what, got, exit)
				}
			}
			if b, err := os.ReadFile(filepath.Join(p.home, "notes")); string(b) != "top secret" {
				t.Errorf("changed outside: %q, %v", b, err)
			}
			for what, script := range map[string]string{
				"its own files":          "echo x >f && cat f && mkdir d && mv f d/ && rm -r d",
				"temporary files":        "f=$(mktemp) && echo x >$f && rm $f",
				"programs of the system": "ls /usr >/dev/null && id >/dev/null && sort </dev/null",
				"settings of the system": "cat /etc/passwd >/dev/null",
				"a variable let through": "[ $MY_V = passed ]", // F-053
				"null and random":        "head -c 4 /dev/urandom >/dev/null",
			} {
				if got, exit := backendtest.Shell(t, p, script); exit.Code != 0 {
					t.Errorf("%s: got %q, %+v", what, got, exit)
				}
			}
		})
	}
}

// TestFilesHold: the file tools are held to the same paths, through links too.
func TestFilesHold(t *testing.T) {
	t.Parallel()
	enforced(t)
	p := testEnv(t, settings{}, false)
	secret := filepath.Join(p.private, ".env")
	if err := os.WriteFile(secret, []byte("KEY=1"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(p.cwd, "link")
	if err := os.Symlink(secret, link); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for _, name := range []string{secret, link} {
		if _, err := p.files().Open(ctx, name); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("open %s: %v", name, err)
		}
		if err := p.files().WriteFile(ctx, name, []byte("x"), backend.WriteOptions{}); err == nil {
			t.Errorf("wrote %s", name)
		}
	}
	if b, err := os.ReadFile(secret); string(b) != "KEY=1" {
		t.Errorf("changed: %q, %v", b, err)
	}
	if err := p.files().WriteFile(ctx, filepath.Join(p.cwd, "a"), []byte("x"), backend.WriteOptions{}); err != nil {
		t.Errorf("within: %v", err)
	}
}

// TestDeclared: what the configuration declares is open, and the network with it.
func TestDeclared(t *testing.T) {
	t.Parallel()
	enforced(t)
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	_, port, err := net.SplitHostPort(server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	p := testEnv(t, settings{Read: []string{"~/docs"}, Write: []string{"~/out"}, Network: true, Creds: []string{"token.json", ".env"}}, false)
	for _, dir := range []string{"docs", "out"} {
		if err := os.Mkdir(filepath.Join(p.home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"docs/a", ".hermes/.env"} {
		if err := os.WriteFile(filepath.Join(p.home, name), []byte("content"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for script, want := range map[string]int{
		"cat ~/docs/a": 0, "echo x >~/docs/b": 1, "echo x >~/out/b": 0, "cat ~/.hermes/.env": 1,
		"exec 3<>/dev/tcp/127.0.0.1/" + port: 0,
	} {
		if got, exit := backendtest.Shell(t, p, script); exit.Code != want {
			t.Errorf("%s: got %q, %+v", script, got, exit)
		}
	}
}

func TestToolDir(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]string{
		"/home/u/.pyenv/shims": "/home/u/.pyenv", "/home/u/bin": "/home/u/bin", "/opt/x/bin": "/opt/x/bin", "/home/u/.config/x/bin": "/home/u/.config/x/bin",
		"/home/u/.ssh/bin": "/home/u/.ssh/bin", "/home/other/bin": "/home/other/bin", "/home/other/.pyenv/shims": "/home/other/.pyenv", "/home/other/.ssh/bin": "/home/other/.ssh/bin",
	} {
		if got := toolDir(dir, "/home/u"); got != want {
			t.Errorf("%s: got %s", dir, got)
		}
	}
}

func TestLevel(t *testing.T) {
	t.Parallel()
	for want, l := range map[string]confine.Level{
		"no Landlock": {},
		"Not held: emptying files, device controls, signals to other programs, abstract sockets, sockets of local services while the network is on": {Landlock: 2, NoWrap: "not installed"},
		"no bubblewrap (not installed)":                               {Landlock: 7, NoWrap: "not installed"},
		"Not held: sockets of local services while the network is on": {Landlock: 7, Bubblewrap: "/usr/bin/bwrap"},
		"bubblewrap: /run and hidden directories":                     {Landlock: 9, Bubblewrap: "/usr/bin/bwrap"},
	} {
		if got := l.String(); !strings.Contains(got, want) {
			t.Errorf("%+v: %s", l, got)
		}
	}
}
