package hostshell

import (
	"strings"
	"testing"

	"github.com/hermes-go/hermes/backend"
)

// TestLate: variables that are let through while the environment is open are
// there for the next command; what a command unset stays so.
func TestLate(t *testing.T) {
	t.Parallel()
	vars := []string{"PATH=/usr/bin:/bin", "HOME=" + t.TempDir()}
	e, err := Open(t.Context(), Options{Kind: "local", Options: backend.Options{Cwd: t.TempDir(), Home: t.TempDir(), Vars: func() []string { return vars }}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(t.Context())
	run := func(script string) string {
		var out strings.Builder
		if _, err := e.Exec(t.Context(), backend.Cmd{Script: script, Output: &out}); err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(out.String())
	}
	const ask = `echo "${LATE-none}"`
	if got := run(ask); got != "none" {
		t.Errorf("before: %q", got)
	}
	vars = append(vars, "LATE=here")
	if got := run(ask); got != "here" {
		t.Errorf("after: %q", got)
	}
	run("unset LATE")
	if got := run(ask); got != "none" {
		t.Errorf("unset: %q", got)
	}
}
