//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// F-055: a container is started with a user that the home is not of. The
// program works, or ends at once with the path and the users.
func TestF055HomeOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run a program as somebody else")
	}
	t.Parallel()
	// Where everybody may go: the tests' own directories are root's.
	dir, err := os.MkdirTemp("/tmp", "hermes-owner-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program, err := os.ReadFile(filepath.Join(binDir, "hermes"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "hermes"), program, 0o755)
	}
	home := filepath.Join(dir, "data")
	if err == nil {
		err = os.Mkdir(home, 0o700)
	}
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	run := func() (string, error) {
		cmd := exec.Command(filepath.Join(dir, "hermes"), "chat", "--provider", "offline", "-Q", "-q", "run echo hello")
		cmd.Dir = "/"
		cmd.Env = []string{"HERMES_HOME=" + home, "HOME=/nonexistent", "TMPDIR=" + dir, "PATH=" + os.Getenv("PATH")}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1002, Gid: 1002}}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := run()
	if err == nil || strings.Count(out, "Error:") != 1 || !strings.Contains(out, home+" belongs to user 0, and this program runs as user 1002") || !strings.Contains(out, "chown -R 1002 "+home) {
		t.Errorf("a home that cannot be entered: %v\n%s", err, out)
	}
	if err := os.Chown(home, 1002, 1002); err != nil {
		t.Fatal(err)
	}
	if out, err := run(); err != nil || !strings.Contains(out, "hello") {
		t.Errorf("after that: %v\n%s", err, out)
	}
}
