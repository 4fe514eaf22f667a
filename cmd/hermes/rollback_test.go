//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/internal/fakemodel"
)

// TestKillDuringRollback kills the program at several moments of a rollback of
// many files. The next start finds the tree restored or untouched, finishes
// what was half done, and the checkpoint of what was there before is kept.
func TestKillDuringRollback(t *testing.T) {
	t.Parallel()
	const files = 120
	rounds := 6
	if testing.Short() {
		rounds = 3
	}
	for round := range rounds {
		home, tree := t.TempDir(), t.TempDir()
		name := func(i int) string { return filepath.Join(tree, fmt.Sprintf("d%d", i%7), fmt.Sprintf("f%d.txt", i)) }
		put := func(path, text string) {
			t.Helper()
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		put(filepath.Join(tree, "go.mod"), "module x\n")
		for i := range files {
			put(name(i), fmt.Sprint("original ", i))
		}
		model := fakemodel.New(t,
			fakemodel.UseTools(
				fakemodel.Call{Name: "write_file", Args: fmt.Sprintf(`{"path":%q,"content":"made by the agent"}`, filepath.Join(tree, "made.txt"))},
				fakemodel.Call{Name: "terminal", Args: `{"command":"for f in d*/*; do echo spoilt > $f; done"}`},
			), fakemodel.Text("spoilt"))
		put(filepath.Join(home, "config.yaml"), fmt.Sprintf("model: {provider: custom, default: fake, base_url: %q}\n", model.V1()))
		run := func(kill time.Duration, args ...string) (string, error) {
			t.Helper()
			c := hermesCommand(t, home, args...)
			c.Dir = tree
			var out strings.Builder
			c.Stdout, c.Stderr = &out, &out
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			if kill > 0 {
				at := time.AfterFunc(kill, func() { _ = c.Process.Kill() })
				defer at.Stop()
			}
			err := c.Wait()
			return out.String(), err
		}
		if out, err := run(0, "chat", "--yolo", "-q", "spoil it"); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if out, err := run(time.Duration(40+60*round)*time.Millisecond, "rollback", "1"); err != nil && !strings.Contains(err.Error(), "killed") {
			t.Fatalf("%v\n%s", err, out)
		}
		list, err := run(0, "rollback")
		if err != nil {
			t.Fatalf("round %d: %v\n%s", round, err, list)
		}
		original, spoilt := 0, 0
		for i := range files {
			text, err := os.ReadFile(name(i))
			switch {
			case err != nil:
				t.Errorf("round %d: %v", round, err)
			case string(text) == fmt.Sprint("original ", i):
				original++
			case string(text) == "spoilt\n":
				spoilt++
			default:
				t.Errorf("round %d: %s holds %q", round, name(i), text)
			}
		}
		if original != files && spoilt != files {
			t.Errorf("round %d: %d files are restored, %d are not\n%s", round, original, spoilt, list)
		}
		if _, err := os.Stat(filepath.Join(tree, "made.txt")); (err == nil) == (original == files) {
			t.Errorf("round %d: made.txt: %v, and %d files are restored", round, err, original)
		}
		if left, err := filepath.Glob(filepath.Join(tree, "d*", ".hermes-restore-*")); err != nil || len(left) > 0 {
			t.Errorf("round %d: %v %v", round, left, err)
		}
		if original != files {
			continue
		}
		// What was there before the rollback is not lost either.
		out, err := run(0, "rollback", "1", "--json")
		var r struct {
			Restored, Failed []string
		}
		if err != nil || json.Unmarshal([]byte(out), &r) != nil || len(r.Failed) > 0 || len(r.Restored) < files {
			t.Errorf("round %d: %v\n%s", round, err, out)
		}
	}
}
