//go:build unix

package main

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// timeout(1) sends its signal to the process and to its group: the second must
// not cut off what the first began.
func TestSignalWithEcho(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	script := filepath.Join(h.tmp, "script")
	if err := os.WriteFile(script, []byte(`{"calls":[{"name":"terminal","arguments":{"command":"sleep 600"}}]}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		c := h.command("chat", "--json", "--provider", "offline", "--script", script, "-q", "go")
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines, last := bufio.NewScanner(out), ""
		for lines.Scan() {
			if last = lines.Text(); strings.Contains(last, `"tool_start"`) {
				for range 3 {
					if err := c.Process.Signal(s); err != nil {
						t.Error(err)
					}
				}
			}
		}
		_ = c.Wait() // the exit code says it
		if code := c.ProcessState.ExitCode(); code != 130 || !strings.Contains(last, `"type":"done"`) || !strings.Contains(last, `"status":"interrupted"`) {
			t.Errorf("%v: exit %d, last line %s", s, code, last)
		}
	}
}

func TestWithoutHomeOrDirectory(t *testing.T) {
	t.Parallel()
	h := newHouse(t)

	c := h.command("version")
	c.Env = slices.DeleteFunc(c.Env, func(v string) bool { return strings.HasPrefix(v, "HOME=") })
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("without HOME: %v\n%s", err, out)
	}

	c = h.command("chat", "-q", "hello")
	c.Args = append([]string{"sh", "-c", `mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"`, c.Path}, c.Args[1:]...)
	c.Path = "/bin/sh"
	errs, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	said, _ := io.ReadAll(errs) // the exit code counts
	if err := c.Wait(); err != nil || !strings.Contains(string(said), "gone is gone; working in "+h.tmp) {
		t.Errorf("in a removed directory: %v\n%s", err, said)
	}
}
