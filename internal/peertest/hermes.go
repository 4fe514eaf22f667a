// Package peertest starts programs for tests: ours, built as it is released,
// and those of other people that we test against. It holds no test of the
// program by itself but the integration tests beside it, and no shipped code
// imports it.
package peertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Root is the module's folder.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil {
			return d, nil
		}
		if d == filepath.Dir(d) {
			return "", fmt.Errorf("no go.mod above %s", dir)
		}
	}
}

var built = sync.OnceValues(build)

// Hermes builds the program as it is released and returns where it is. Several
// test programs may do so at once: the file is replaced as a whole.
func Hermes(t testing.TB) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Build is Hermes for programs that are no test.
func Build() (string, error) { return built() }

func build() (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, ".cache", "bin")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the folder of built programs: %w", err)
	}
	mine := filepath.Join(dir, fmt.Sprintf("building-%d", os.Getpid()))
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", mine, "./cmd/hermes")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", errors.Join(fmt.Errorf("build hermes: %w\n%s", err, out), os.RemoveAll(mine))
	}
	path := filepath.Join(dir, "hermes")
	if err := os.Rename(mine, path); err != nil {
		return "", fmt.Errorf("place hermes: %w", err)
	}
	return path, nil
}

// Home is a home for one test with a configuration of its own.
type Home struct {
	Dir, Work string
	Env       []string // added to the environment
}

// NewHome makes a home with a config.yaml.
func NewHome(t testing.TB, config string) *Home {
	t.Helper()
	root := t.TempDir()
	h := &Home{Dir: filepath.Join(root, "home"), Work: filepath.Join(root, "work")}
	for _, d := range []string{h.Dir, h.Work} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if config != "" {
		h.Write(t, filepath.Join(h.Dir, "config.yaml"), config)
	}
	return h
}

// Write writes a file; a relative name is one of the working directory.
func (h *Home) Write(t testing.TB, name, text string) {
	t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(h.Work, name)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Run runs the program in this home and returns what it printed and its exit
// code.
func (h *Home) Run(t testing.TB, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	hermes := Hermes(t) // before the clock runs
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, hermes, args...)
	cmd.Dir = h.Work
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.Dir, "HERMES_HOME=" + h.Dir, "TMPDIR=" + h.Work, "LANG=C.UTF-8"}, h.Env...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}
