//go:build !windows

package singularity

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/backend/backendtest"
)

// fake stands in for the program: it writes down how it was called, and runs
// commands on this machine with the environment that was marked for them.
const fake = `#!/bin/bash
echo "$*" | head -1 >>"${0%/*}/log"
case "$1 $2" in
"instance start") case "$*" in *broken*) echo "FATAL: no such image" >&2; exit 255 ;; esac ;;
"exec --cleanenv")
	shift 3
	keep=(PATH="$PATH" HOME="$HOME")
	while IFS= read -r -d '' v; do case $v in APPTAINERENV_*) keep+=("${v#APPTAINERENV_}") ;; esac; done </proc/self/environ
	exec env -i "${keep[@]}" "$@" ;;
esac
`

func lab(t *testing.T, change func(*settings)) (env, func() string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "apptainer")
	if err := os.WriteFile(path, []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "token.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := open(backend.Options{
		Task: "t", Home: home, Passed: func() []string { return []string{"MY_V=passed"} },
		Decode: func(into any) error { change(into.(*settings)); return nil },
	}, path, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "OPENAI_API_KEY=secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	return e, func() string {
		b, err := os.ReadFile(filepath.Join(dir, "log"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(b), home, "HOME")
	}
}

// TestShape holds how the program is called; no real one was run.
func TestShape(t *testing.T) {
	t.Parallel()
	e, log := lab(t, func(s *settings) { s.Image, s.Creds = "docker://x", []string{"token.json", ".env"} })
	if got, _ := backendtest.Shell(t, e, `cd /; echo ${MY_V:-MISSING} ${OPENAI_API_KEY-none}`); got != "passed none\n" { // F-053
		t.Errorf("got %q", got)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
	lines := strings.Split(strings.TrimSpace(log()), "\n")
	start := strings.Join(strings.Fields(lines[0])[:11], " ")
	if !strings.HasPrefix(start, "instance start --containall --no-home --overlay HOME/sandboxes/singularity/") || !strings.Contains(lines[0], " --memory 5120M --cpus 1 --bind HOME/token.json:/root/.hermes/token.json:ro docker://x hermes-") {
		t.Errorf("started by %s", lines[0])
	}
	name := lines[0][strings.LastIndexByte(lines[0], ' ')+1:]
	if !strings.HasPrefix(lines[1], "exec --cleanenv instance://"+name+" sh -c ") || lines[len(lines)-1] != "instance stop "+name {
		t.Errorf("called as %q", lines)
	}
	if strings.Contains(log(), "passed") {
		t.Error("a value stands on a command line")
	}
}

// TestConformance runs the suite through the stand-in.
func TestConformance(t *testing.T) {
	t.Parallel()
	backendtest.Env(t, func(t *testing.T) backend.Env {
		e, _ := lab(t, func(s *settings) { s.Persistent = false })
		return e
	})
}

func TestBroken(t *testing.T) {
	t.Parallel()
	e, _ := lab(t, func(s *settings) { s.Image = "broken" })
	if _, err := e.Exec(t.Context(), backend.Cmd{Script: "true"}); err == nil || !strings.Contains(err.Error(), "FATAL: no such image") {
		t.Errorf("got %v", err)
	}
	if _, err := find([]string{"PATH=/nonexistent"}); err == nil {
		t.Error("found what is not there")
	}
}
