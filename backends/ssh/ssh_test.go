//go:build !windows

package ssh

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/backend/backendtest"
	"github.com/hermes-go/hermes/internal/peertest"
	"github.com/hermes-go/hermes/internal/remote"
)

// lab is a server with a home that knows it.
type lab struct {
	*peertest.SSH
	home string
}

func newLab(t testing.TB) lab {
	s := peertest.StartSSH(t)
	l := lab{s, t.TempDir()}
	if err := os.WriteFile(filepath.Join(l.home, "known_hosts"), []byte(s.Known+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l lab) target() target {
	return target{host: "127.0.0.1", port: l.Port, user: l.User, key: l.Key, home: l.home, userHome: l.home}
}

func (l lab) open(t testing.TB, creds ...string) *env {
	t.Helper()
	e, err := open(backend.Options{Home: l.home, Passed: func() []string { return []string{"MY_V=passed"} }, Decode: func(into any) error {
		if s, ok := into.(*settings); ok {
			s.Creds = creds
		}
		return nil
	}}, l.target())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	return e
}

func TestConformance(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	shared := l.open(t)
	open := func(t *testing.T) backend.Env {
		e := remote.New(remote.Options{Options: backend.Options{Cwd: "~"}, Kind: kind, Place: shared.machine, Name: "127.0.0.1"})
		t.Cleanup(func() { _ = e.Close(context.Background()) })
		return e
	}
	t.Run("all", func(t *testing.T) {
		t.Run("commands", func(t *testing.T) { t.Parallel(); backendtest.Env(t, open) })
		t.Run("beside others", func(t *testing.T) { t.Parallel(); backendtest.Spawn(t, open) })
		t.Run("files", func(t *testing.T) { t.Parallel(); backendtest.Files(t, shared, t.TempDir()) })
	})
}

// TestDropped: the connection goes while a command runs.
func TestDropped(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	e := l.open(t)
	backendtest.Shell(t, e, "export STAYS=1; cd /usr")
	if _, err := e.Stat(t.Context(), "/usr"); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	exit, err := e.Exec(t.Context(), backend.Cmd{Script: "echo x; sleep 60", Output: writerFunc(func(p []byte) (int, error) { once.Do(func() { go l.Drop() }); return len(p), nil })})
	if err != nil || exit.Reason != backend.Lost || exit.Code != backend.CodeLost || len(exit.Notes) != 1 {
		t.Errorf("got %+v, %v", exit, err)
	}
	if got, exit := backendtest.Shell(t, e, "echo $STAYS; pwd"); got != "1\n/usr\n" {
		t.Errorf("then %q, %+v", got, exit)
	}
	if _, err := e.Stat(t.Context(), "/usr"); err != nil {
		t.Errorf("files: %v", err)
	}
}

// TestEnvironment: what was let through is there (F-053), and nothing of it on
// a command line.
func TestF053Environment(t *testing.T) {
	t.Parallel()
	e := newLab(t).open(t)
	if got, _ := backendtest.Shell(t, e, `echo ${MY_V:-MISSING}; export HUSH="very secret
of two lines"`); got != "passed\n" {
		t.Errorf("got %q", got)
	}
	if got, _ := backendtest.Shell(t, e, `echo "$HUSH"; cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' | grep -v HUSH | grep 'very secre[t]'`); got != "very secret\nof two lines\n" {
		t.Errorf("got %q", got)
	}
}

// TestF052LongNames: there is no control socket whose path could be too long.
func TestF052LongNames(t *testing.T) {
	l := newLab(t)
	deep := filepath.Join(t.TempDir(), strings.Repeat("deep/", 30))
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", deep)
	if got, _ := backendtest.Shell(t, l.open(t), "echo fine"); got != "fine\n" {
		t.Errorf("got %q", got)
	}
	if list, err := os.ReadDir(deep); err != nil || len(list) > 0 {
		t.Errorf("left %v, %v", list, err)
	}
	if got := (target{user: "hermes", host: "2001:db8:1111:2222:3333:4444:5555:6666", port: 22}).String(); got != "hermes@[2001:db8:1111:2222:3333:4444:5555:6666]:22" {
		t.Errorf("got %s", got)
	}
}

func TestKnownHosts(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	other := newLab(t)
	for want, known := range map[string]string{
		"is not known":     "",
		"HAS CHANGED":      strings.Replace(other.Known, fmt.Sprint(other.Port), fmt.Sprint(l.Port), 1) + "\n",
		"is not known: co": "somewhere.else ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ4Eb9h9zA5tVXQ4kYpN2yqN4mWZ8qE1j5hO3l8bC0aM\n",
	} {
		tt := l.target()
		tt.home = t.TempDir()
		if err := os.WriteFile(filepath.Join(tt.home, "known_hosts"), []byte(known), 0o600); err != nil {
			t.Fatal(err)
		}
		want, _, _ = strings.Cut(want, ":")
		if _, err := tt.dial(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestNotSetUp(t *testing.T) {
	t.Parallel()
	if _, err := read(backend.Options{}, nil); err == nil || !strings.Contains(err.Error(), "terminal.ssh_host") {
		t.Errorf("got %v", err)
	}
	l := newLab(t)
	tt := l.target()
	tt.key = ""
	if _, err := tt.dial(t.Context()); err == nil || !strings.Contains(err.Error(), "there is no key") {
		t.Errorf("without a key: %v", err)
	}
	tt = l.target()
	tt.port = 1
	if _, err := tt.dial(t.Context()); err == nil {
		t.Error("reached a closed port")
	}
}

// TestF054BroughtBack: credential files are brought over, and what was changed
// there is here after close; the program's own are not.
func TestF054BroughtBack(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	token, own := filepath.Join(l.home, "hermes-test-token.json"), filepath.Join(l.home, ".env")
	for _, f := range []string{token, own} {
		if err := os.WriteFile(f, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e := l.open(t, "hermes-test-token.json", ".env")
	got, _ := backendtest.Shell(t, e, "cat ~/.hermes/hermes-test-token.json; stat -c %a ~/.hermes/hermes-test-token.json; printf new >~/.hermes/hermes-test-token.json")
	if got != "old600\n" {
		t.Errorf("there: %q", got)
	}
	if _, err := e.Stat(t.Context(), filepath.Join(home(t, e), ".hermes", ".env")); err == nil {
		if b, _ := os.ReadFile(filepath.Join(home(t, e), ".hermes", ".env")); string(b) == "old" {
			t.Error("the program's own keys were brought over")
		}
	}
	if err := os.WriteFile(token, []byte("changed here"), 0o600); err != nil {
		t.Fatal(err)
	}
	there := filepath.Join(home(t, e), ".hermes", "hermes-test-token.json")
	t.Cleanup(func() { _ = os.Remove(there) })
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
	for f, want := range map[string]string{token: "new", token + ".mine": "changed here"} {
		if b, err := os.ReadFile(f); string(b) != want {
			t.Errorf("%s: %q, %v", f, b, err)
		}
	}
	// One that cannot be put in its place is kept and named.
	dir := filepath.Join(t.TempDir(), "token")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	err := putBack(dir, nil, []byte("precious"))
	if err == nil || !strings.Contains(err.Error(), "kept as ") {
		t.Fatalf("got %v", err)
	}
	_, kept, _ := strings.Cut(err.Error(), "kept as ")
	if b, err := os.ReadFile(kept); string(b) != "precious" {
		t.Errorf("kept %q, %v", b, err)
	}
}

func home(t *testing.T, e *env) string {
	h, err := e.Home(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestReadBig reads parts of a file by SFTP.
func TestReadBig(t *testing.T) {
	t.Parallel()
	e := newLab(t).open(t)
	name := filepath.Join(t.TempDir(), "big")
	want := strings.Repeat("0123456789abcdef", 1<<17)
	if err := e.WriteFile(t.Context(), name, []byte(want), backend.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	f, err := e.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, ok := f.(*file); !ok {
		t.Errorf("read by %T", f)
	}
	if got, err := io.ReadAll(f); string(got) != want || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	b := make([]byte, 16)
	if _, err := f.ReadAt(b, 1<<20); err != nil || string(b) != want[:16] {
		t.Errorf("got %q, %v", b, err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
