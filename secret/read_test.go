//go:build unix

package secret

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func pipeAt(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	pipe := pipeAt(t, "config.yaml")
	dir := filepath.Dir(pipe)
	for link, to := range map[string]string{"link": pipe, "a": "b", "b": "a", "null": os.DevNull, "zero": "/dev/zero"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"config.yaml": "config.yaml: it is a pipe, not a regular file", "link": "link: it is a pipe", "zero": "it is a device",
		".": "it is a directory", "a": "a: it is a loop of links", "none": "no such file",
	} {
		if b, err := ReadFile(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if b, err := ReadFile(filepath.Join(dir, "null")); err != nil || len(b) != 0 {
		t.Errorf("a link to the null device: %q, %v", b, err)
	}
	if err := UpdateFile(pipe, func(b []byte) ([]byte, error) { return b, nil }); !errors.Is(err, ErrIrregular) {
		t.Errorf("changing a pipe: %v", err)
	}
}

// TestEnvFromPipe: programs that keep keys elsewhere offer them in a pipe.
func TestEnvFromPipe(t *testing.T) {
	t.Parallel()
	path := pipeAt(t, ".env")
	done := make(chan error, 1)
	go func() { done <- os.WriteFile(path, []byte("A_KEY=from-a-pipe\n"), 0o600) }()
	s, err := Open(filepath.Dir(path), nil)
	if v, _, _ := s.Lookup("A_KEY"); v != "from-a-pipe" || err != nil {
		t.Errorf("A_KEY is %q, %v", v, err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	_, err = readEnv(path, 20*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "it is a pipe, and nobody wrote it to its end within 20ms") {
		t.Errorf("a pipe that nobody writes: %v", err)
	}
	if len(s.Glued()) != 0 {
		t.Error("a pipe is read for repairs")
	}
}
