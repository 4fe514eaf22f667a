package docker

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/backend/backendtest"
	"github.com/hermes-go/hermes/internal/peertest"
	"github.com/hermes-go/hermes/internal/remote"
)

// lab is a daemon with what its environments are made of.
type lab struct {
	*peertest.Docker
	engine *engine
	home   string
}

func newLab(t testing.TB) *lab {
	if runtime.GOOS != "linux" || testing.Short() {
		t.Skip("a daemon of our own is for Linux, and for long runs")
	}
	d := peertest.StartDocker(t)
	e, err := newEngine([]string{"DOCKER_HOST=" + d.Host})
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.MkdirTemp("", "hermes-docker-home-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	return &lab{d, e, home}
}

func (l *lab) options(task string, change func(*settings)) backend.Options {
	return backend.Options{
		Task: task, Home: l.home, Cwd: l.home,
		Passed: func() []string { return []string{"MY_V=passed"} },
		Decode: func(into any) error {
			s := into.(*settings)
			s.Image, s.Volumes, s.Network, s.Persistent, s.Disk = l.Image, l.Volumes, false, false, 100
			if change != nil {
				change(s)
			}
			return nil
		},
	}
}

func (l *lab) open(t testing.TB, task string, change func(*settings)) *env {
	t.Helper()
	e, err := open(l.options(task, change), l.engine)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	return e
}

var count struct {
	sync.Mutex
	n int
}

func newTask() string {
	count.Lock()
	defer count.Unlock()
	count.n++
	return fmt.Sprintf("task%d", count.n)
}

// TestDocker needs a daemon, so all that needs one is below it.
func TestDocker(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	// One container is enough: what an environment remembers is on this side.
	shared, err := open(l.options(newTask(), nil), l.engine)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = shared.Close(context.Background()) })
	open := func(t *testing.T) backend.Env {
		e := remote.New(remote.Options{Options: backend.Options{Cwd: "/root"}, Kind: kind, Place: shared.place, Name: "the container"})
		t.Cleanup(func() { _ = e.Close(context.Background()) })
		return e
	}
	t.Run("conformance", func(t *testing.T) {
		t.Run("commands", func(t *testing.T) { t.Parallel(); backendtest.Env(t, open) })
		t.Run("beside others", func(t *testing.T) { t.Parallel(); backendtest.Spawn(t, open) })
		t.Run("files", func(t *testing.T) {
			t.Parallel()
			backendtest.Shell(t, shared, "mkdir -p /workspace/files")
			backendtest.Files(t, shared, "/workspace/files")
		})
	})
	t.Run("held", l.held)
	t.Run("files of the home", l.credentials)
	t.Run("reuse", l.reuse)
	t.Run("stopped", l.stopped)
}

// held tries what a container must not be able to do.
func (l *lab) held(t *testing.T) {
	e := l.open(t, newTask(), func(s *settings) { s.Memory = 1024; s.Env = map[string]string{"FIXED": "yes"} })
	if !e.Isolated() {
		t.Error("it counts as able to change this machine")
	}
	for what, script := range map[string]string{
		"change the machine's programs": "touch /usr/bin/hermes-was-here",
		"mount":                         "mount -t tmpfs none /mnt",
		"make a device":                 "mknod /root/d c 1 1",
		"see the machine's processes":   fmt.Sprintf("grep -q test /proc/%d/cmdline", os.Getpid()),
		"have a network":                "ls /sys/class/net | grep -v '^lo$'",
		"fill its temporary directory":  "head -c 600M /dev/zero >/tmp/full",
	} {
		if got, exit := backendtest.Shell(t, e, script); exit.Code == 0 {
			t.Errorf("%s: got %.200q, %+v", what, got, exit)
		}
	}
	for script, want := range map[string]string{
		"echo $MY_V-$FIXED":                 "passed-yes\n", // F-053
		"rm -f /tmp/full; echo next":        "next\n",       // after a full disk
		"grep NoNewPrivs /proc/self/status": "NoNewPrivs:\t1\n",
	} {
		if got, _ := backendtest.Shell(t, e, script); got != want {
			t.Errorf("%s: got %q", script, got)
		}
	}
	var made struct {
		HostConfig struct {
			PidsLimit, Memory, NanoCpus int64
			CapDrop                     []string
		}
	}
	if err := l.engine.call(t.Context(), http.MethodGet, "/containers/"+e.place.id+"/json", nil, &made); err != nil {
		t.Fatal(err)
	}
	if h := made.HostConfig; h.PidsLimit != 256 || h.Memory != 1024<<20 || h.NanoCpus != 1e9 || len(h.CapDrop) != 1 {
		t.Errorf("limits: %+v", h)
	}
	// Nothing of it stands on a command line.
	if got, _ := backendtest.Shell(t, e, "export HUSH=very-secret; true"); got != "" {
		t.Errorf("got %q", got)
	}
	if got, exit := backendtest.Shell(t, e, `[ $HUSH = very-secret ]; echo $?; cat /proc/[0-9]*/cmdline | tr '\0' '\n' | grep -v HUSH | grep very-secre[t]`); got != "0\n" {
		t.Errorf("on a command line: %q, %+v", got, exit)
	}
}

func (l *lab) credentials(t *testing.T) {
	for _, name := range []string{"token.json", ".env"} {
		if err := os.WriteFile(filepath.Join(l.home, name), []byte("content"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := l.options(newTask(), func(*settings) {})
	o.Files = func() []string { return []string{"token.json", ".env"} }
	asked, err := open(o, l.engine)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = asked.Close(t.Context()) }()
	if got, _ := backendtest.Shell(t, asked, "cat ~/.hermes/token.json; cat ~/.hermes/.env 2>/dev/null"); got != "content" {
		t.Errorf("what a skill asks for: %q", got)
	}
	e := l.open(t, newTask(), func(s *settings) { s.Creds = []string{"token.json", ".env"} })
	for script, want := range map[string]string{
		"cat ~/.hermes/token.json":                          "content",
		"cat ~/.hermes/.env 2>/dev/null; echo $?":           "1\n",
		"echo x 2>/dev/null >~/.hermes/token.json; echo $?": "1\n",
	} {
		if got, _ := backendtest.Shell(t, e, script); got != want {
			t.Errorf("%s: got %q", script, got)
		}
	}
	work := t.TempDir()
	o = l.options(newTask(), func(s *settings) { s.MountCwd = true })
	o.Cwd = work
	m, err := open(o, l.engine)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(t.Context()) }()
	if got, _ := backendtest.Shell(t, m, "pwd; echo made >f"); got != "/workspace\n" || m.Isolated() {
		t.Errorf("got %q, isolated %v", got, m.Isolated())
	}
	if b, err := os.ReadFile(filepath.Join(work, "f")); string(b) != "made\n" {
		t.Errorf("got %q, %v", b, err)
	}
}

func (l *lab) names(t *testing.T) map[string]listed {
	t.Helper()
	all, err := (&container{engine: l.engine, o: backend.Options{Home: l.home}}).list(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]listed{}
	for _, c := range all {
		by[c.Labels[labelTask]] = c
	}
	return by
}

// reuse: a task comes back to its container; what dead programs left is ended.
func (l *lab) reuse(t *testing.T) {
	keep := func(s *settings) { s.Persistent = true }
	ctx := t.Context()
	e := l.open(t, "kept", keep)
	backendtest.Shell(t, e, "echo here >/root/f; echo too >/workspace/g")
	first := l.names(t)["kept"].ID
	if err := e.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if c := l.names(t)["kept"]; c.ID != first || c.State == "running" {
		t.Errorf("closed: %+v", c)
	}
	gone := l.open(t, "gone", nil)
	backendtest.Shell(t, gone, "true")
	if err := gone.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if c, ok := l.names(t)["gone"]; ok {
		t.Errorf("one that is not kept is still there: %+v", c)
	}
	e = l.open(t, "kept", keep)
	if got, _ := backendtest.Shell(t, e, "cat /root/f /workspace/g"); got != "here\ntoo\n" {
		t.Errorf("got %q", got)
	}
	if c := l.names(t)["kept"]; c.ID != first {
		t.Errorf("it is another: %+v", c)
	}
	// As if this program had died.
	orphan := l.open(t, "orphan", nil)
	backendtest.Shell(t, orphan, "true")
	c := l.names(t)["orphan"]
	if err := l.engine.call(ctx, http.MethodPost, "/containers/"+c.ID+"/rename?name=hermes-00000000-"+fmt.Sprint(os.Getpid())+"-000000000000", nil, nil); err != nil {
		t.Fatal(err)
	}
	backendtest.Shell(t, l.open(t, newTask(), nil), "true")
	if c, ok := l.names(t)["orphan"]; ok {
		t.Errorf("the orphan is still there: %+v", c)
	}
	// The container is removed under our hands: the next command has a new one.
	if err := e.Env.Close(ctx); err != nil {
		t.Fatal(err)
	}
	e = l.open(t, "kept", keep)
	backendtest.Shell(t, e, "export STAYS=1; cd /workspace")
	if err := l.engine.call(ctx, http.MethodDelete, "/containers/"+l.names(t)["kept"].ID+"?force=true", nil, nil); err != nil {
		t.Fatal(err)
	}
	if got, exit := backendtest.Shell(t, e, "echo $STAYS; pwd"); got != "1\n/workspace\n" {
		t.Errorf("got %q, %+v", got, exit)
	}
}

// stopped: the daemon goes while a command runs, and comes back.
func (l *lab) stopped(t *testing.T) {
	e := l.open(t, newTask(), nil)
	started := make(chan struct{})
	ended := make(chan backend.Exit, 1)
	go func() {
		var once sync.Once
		exit, err := e.Exec(context.Background(), backend.Cmd{Script: "echo x; sleep 60", Output: writerFunc(func(p []byte) (int, error) { once.Do(func() { close(started) }); return len(p), nil })})
		if err != nil {
			t.Error(err)
			once.Do(func() { close(started) })
		}
		ended <- exit
	}()
	<-started
	l.Stop()
	select {
	case exit := <-ended:
		if exit.Reason != backend.Lost || exit.Code != backend.CodeLost || len(exit.Notes) != 1 || !strings.Contains(exit.Notes[0], "broke while the command ran") {
			t.Errorf("got %+v", exit)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the command does not end")
	}
	if _, err := e.Exec(t.Context(), backend.Cmd{Script: "true"}); err == nil || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("without a daemon: %v", err)
	}
	if _, err := e.Stat(t.Context(), "/"); err == nil {
		t.Error("without a daemon it has files")
	}
	l.Start(t)
	if got, _ := backendtest.Shell(t, e, "echo back"); got != "back\n" {
		t.Errorf("got %q", got)
	}
	if _, err := e.Stat(t.Context(), "/"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestAbsent(t *testing.T) {
	t.Parallel()
	environ := []string{"DOCKER_HOST=unix://" + filepath.Join(t.TempDir(), "none.sock")}
	if err := probe(t.Context(), backend.Options{}, environ); err == nil || !strings.Contains(err.Error(), "cannot be reached") || !strings.Contains(err.Error(), "terminal.backend local") {
		t.Errorf("got %v", err)
	}
	e, err := newEngine(environ)
	if err != nil {
		t.Fatal(err)
	}
	env, err := open(backend.Options{Home: t.TempDir()}, e)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := env.Exec(t.Context(), backend.Cmd{Script: "true"}); err == nil || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("got %v", err)
	}
	if _, err := newEngine([]string{"DOCKER_HOST=ssh://x"}); err == nil {
		t.Error("ssh is not spoken")
	}
}

func TestContained(t *testing.T) {
	t.Parallel()
	for want, s := range map[*bool]settings{
		yes(true): {Volumes: []string{"/usr:/usr:ro", "/a:/b:z,ro"}}, yes(false): {Volumes: []string{"/a:/b"}}, yes(false): {MountCwd: true}, yes(false): {Volumes: []string{"/a:/b:rw"}},
	} {
		if got := s.contained(); got != *want {
			t.Errorf("%+v: %v", s, got)
		}
	}
}

func yes(b bool) *bool { return &b }

func TestOwner(t *testing.T) {
	t.Parallel()
	if mine, lives := owner("/" + ownName()); !mine || !lives {
		t.Errorf("our own: %v, %v", mine, lives)
	}
	if mine, lives := owner("/hermes-00000000-1-000000000000"); mine || lives {
		t.Errorf("of a program that is gone: %v, %v", mine, lives)
	}
	if mine, lives := owner("/my-own-name"); mine || !lives {
		t.Errorf("renamed by somebody: %v, %v", mine, lives)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
