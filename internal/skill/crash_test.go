package skill

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestKilledWriters kills writers in the midst of their work: every skill can
// be read, none is half changed, and the next writer goes on.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	l := Open(Options{Home: home})
	if _, err := l.Create(ByAgent, "shared", "", body("shared")+"\nann: 0\n\nbob: 0\n"); err != nil {
		t.Fatal(err)
	}
	for range 8 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestTwoProcesses$", home, "ann", strconv.FormatInt(time.Now().Add(time.Hour).UnixNano(), 10))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		before, err := l.last("shared")
		if err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(20 * time.Second); ; { // it has begun when there is a version more
			if v, err := l.last("shared"); err != nil || v.Number > before.Number || time.Now().After(end) {
				break
			}
		}
		for range rand.IntN(3000) {
			l.List() // some time, at another place in its work each time
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // killed: the error is our own
		for _, s := range l.List().Skills {
			if s.State != OK {
				t.Errorf("%s is %s: %s", s.Path, s.State, s.Reason)
			}
		}
		data, err := os.ReadFile(filepath.Join(l.Dir(), "shared", "SKILL.md"))
		if _, checkErr := CheckText(string(data)); err != nil || checkErr != nil || !strings.Contains(string(data), "\nbob: 0\n") {
			t.Fatalf("read %q: %v, %v", data, err, checkErr)
		}
		// Where its count stands is where the next one has to begin.
		_, rest, _ := strings.Cut(string(data), "\nann: ")
		count, _, _ := strings.Cut(rest, "\n")
		s, err := l.List().Find("shared")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := l.Patch(ByAgent, s, "", "ann: "+count+"\n", "ann: 0\n", false); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Revert(ByUser, "shared", 1); err != nil {
			t.Fatal(err)
		}
	}
	// What was cut off is swept away once it is old.
	old := time.Now().Add(-2 * time.Hour)
	stale := put(t, l.Dir(), "shared/.SKILL.md.tmp.123", "half")
	if err := os.Chtimes(stale, old, old); err != nil {
		t.Fatal(err)
	}
	s, err := l.List().Find("shared")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.Patch(ByAgent, s, "", "Do it.", "Do it well.", false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(stale); err == nil {
		t.Error("the half file is still there")
	}
}
