package hostshell

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/backend/backendtest"
	"github.com/hermes-go/hermes/internal/shellstate"
)

func testEnv(t testing.TB, o backend.Options) *Env {
	t.Helper()
	if o.Cwd == "" {
		o.Cwd = t.TempDir()
	}
	if o.Vars == nil {
		home := t.TempDir()
		o.Vars = func() []string { return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LANG=C.UTF-8"} }
	}
	e, err := Open(context.Background(), Options{Kind: "local", Options: o})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	return e
}

func TestSnapshot(t *testing.T) {
	t.Parallel()
	home, cache := t.TempDir(), t.TempDir()
	rc := `echo noise; echo noise >&2
export FROM_RC="yes it is" PATH="$PATH:/opt/rc/bin"
greet() { echo "hello $1"; }
__kept() { :; }
_dropped() { :; }
alias twice='echo two'
alias rm='rm -i'
unset LESS
set -u
`
	if err := os.WriteFile(filepath.Join(home, ".bashrc"), []byte(rc), 0o600); err != nil {
		t.Fatal(err)
	}
	o := backend.Options{Home: cache, Once: &backend.Once{}, Vars: func() []string {
		return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "A_TOKEN=given-to-us", "LESS=-R"}
	}}
	check := func(e *Env) {
		t.Helper()
		for script, want := range map[string]string{
			"echo $FROM_RC":                     "yes it is\n",
			"greet you":                         "hello you\n",
			"twice":                             "two\n",
			"type -t rm":                        "file\n",
			"declare -F __kept _dropped; greet": "__kept\nhello \n",
			"echo ${PATH##*:}":                  "/opt/rc/bin\n",
			"echo [$UNSET]":                     "[]\n",
			"echo $A_TOKEN [$LESS]":             "given-to-us []\n",
		} {
			if got, _ := backendtest.Shell(t, e, script); got != want {
				t.Errorf("%s: got %q, want %q", script, got, want)
			}
		}
	}
	check(testEnv(t, o))
	kept, err := filepath.Glob(filepath.Join(cache, "cache", "shell-*.json"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept %v, %v", kept, err)
	}
	if info, err := os.Stat(kept[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if b, err := os.ReadFile(kept[0]); err != nil || strings.Contains(string(b), "given-to-us") || !strings.Contains(string(b), "yes it is") {
		t.Errorf("on disk, %v: %s", err, b)
	}
	o.Once = nil
	check(testEnv(t, o)) // from the disk

	o.Decode = func(into any) error { into.(*settings).AutoSourceBashrc = false; return nil }
	if got, _ := backendtest.Shell(t, testEnv(t, o), "echo [$FROM_RC]"); got != "[]\n" {
		t.Errorf("read although switched off: %q", got)
	}
}

func TestSanePath(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"/opt/bin": "/opt/bin:" + shellstate.SanePath, "": shellstate.SanePath, "/usr/bin:/x": "/usr/bin:/x"} {
		if got := shellstate.Value(withSanePath([]string{"PATH=" + in}), "PATH"); got != want {
			t.Errorf("%q: got %q", in, got)
		}
	}
}

// TestFlatMemory reads 100 MB of output.
func TestFlatMemory(t *testing.T) {
	e := testEnv(t, backend.Options{})
	n := 0
	out := writerFunc(func(p []byte) (int, error) { n += len(p); return len(p), nil })
	r := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			n = 0
			if _, err := e.Exec(context.Background(), backend.Cmd{Script: "yes | head -c 100000000", Output: out}); err != nil {
				b.Fatal(err)
			}
			if n != 100_000_000 {
				b.Fatalf("got %d bytes", n)
			}
			if b.Elapsed() > 0 {
				break // once is enough
			}
		}
	})
	if a := r.AllocedBytesPerOp(); a > 1<<20 {
		t.Errorf("%d bytes allocated", a)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
