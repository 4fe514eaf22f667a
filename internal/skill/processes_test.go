package skill

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var soak = flag.Duration("soak", time.Second, "for how long two processes work on the skills of one home")

// worker is what each process does: it makes, patches, extends and deletes
// skills of its own, and counts in a line of a skill that both share. It ends
// with how far it counted.
func worker(home, who string, until time.Time) error {
	l := Open(Options{Home: home, Trouble: func(err error) { fmt.Fprintln(os.Stderr, err) }})
	shared, err := l.List().Find("shared")
	if err != nil {
		return err
	}
	n := 0
	for time.Now().Before(until) || n < 5 {
		line := func(n int) string { return fmt.Sprintf("%s: %d\n", who, n) }
		if _, _, err := l.Patch(ByAgent, shared, "", line(n), line(n+1), false); err != nil {
			return fmt.Errorf("patch %d: %w", n, err)
		}
		n++
		name := fmt.Sprintf("%s-%d", who, n%3)
		s, err := l.List().Find(name)
		switch {
		case errors.Is(err, ErrNotFound):
			if s, err = l.Create(ByAgent, name, "cat", body(name)); err != nil {
				return fmt.Errorf("create: %w", err)
			}
			if _, err := l.WriteFile(ByAgent, s, "references/r.md", strings.Repeat(who, 1000)); err != nil {
				return fmt.Errorf("write: %w", err)
			}
		case err != nil:
			return err
		default:
			if _, err := l.Delete(ByAgent, s); err != nil {
				return fmt.Errorf("delete: %w", err)
			}
		}
		l.Used(shared)
	}
	for i := range 3 { // all of them are there at the end
		name := fmt.Sprintf("%s-%d", who, i)
		if _, err := l.List().Find(name); errors.Is(err, ErrNotFound) {
			if _, err := l.Create(ByAgent, name, "cat", body(name)); err != nil {
				return err
			}
		}
	}
	fmt.Println(n)
	return nil
}

// TestTwoProcesses: no edit of two writers is lost, no reader sees half a file,
// and the catalogue is right at the end. For a minute of it:
//
//	go test ./internal/skill -run TestTwoProcesses -soak 60s -v
func TestTwoProcesses(t *testing.T) {
	if args := flag.Args(); len(args) == 3 {
		ns, err := strconv.ParseInt(args[2], 10, 64)
		if err == nil {
			err = worker(args[0], args[1], time.Unix(0, ns))
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	home := t.TempDir()
	l := Open(Options{Home: home})
	if _, err := l.Create(ByAgent, "shared", "", body("shared")+"\nann: 0\n\nbob: 0\n"); err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(*soak)
	type result struct {
		who string
		out []byte
		err error
	}
	results := make(chan result)
	for _, who := range []string{"ann", "bob"} {
		go func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestTwoProcesses$", home, who, strconv.FormatInt(end.UnixNano(), 10))
			out, err := cmd.CombinedOutput()
			results <- result{who, out, err}
		}()
	}
	reads := 0
	var lines []string
	for left := 2; left > 0; {
		select {
		case r := <-results:
			if left--; r.err != nil {
				t.Errorf("%s: %v\n%s", r.who, r.err, r.out)
			}
			count, _, _ := strings.Cut(string(r.out), "\n")
			lines = append(lines, r.who+": "+count+"\n")
		default:
			data, err := os.ReadFile(filepath.Join(l.Dir(), "shared", "SKILL.md"))
			if _, checkErr := CheckText(string(data)); err != nil || checkErr != nil || !strings.Contains(string(data), "ann: ") || !strings.Contains(string(data), "bob: ") {
				t.Fatalf("read %q: %v, %v", data, err, checkErr)
			}
			for _, s := range l.List().Skills {
				if s.State != OK {
					t.Errorf("%s is %s: %s", s.Path, s.State, s.Reason)
				}
			}
			reads++
		}
	}
	data, err := os.ReadFile(filepath.Join(l.Dir(), "shared", "SKILL.md"))
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, line := range lines {
		if !strings.Contains(string(data), line) {
			t.Errorf("an edit is lost: %q is not in %s", line, data)
		}
		_, count, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, _ := strconv.Atoi(count)
		total += n
	}
	var names []string
	for _, s := range l.List().Skills {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	if want := "ann-0 ann-1 ann-2 bob-0 bob-1 bob-2 shared"; strings.Join(names, " ") != want {
		t.Errorf("at the end there are %v", names)
	}
	all, err := l.History("shared")
	if err != nil || len(all) != total+1 {
		t.Errorf("%d versions of %d changes, %v", len(all), total+1, err)
	}
	if u := l.Usages()["shared"]; u.Uses != total || u.Changes != total {
		t.Errorf("used %d times, changed %d times; counted %+v", total, total, u)
	}
	left, err := filepath.Glob(filepath.Join(l.Dir(), "shared", ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	t.Logf("%d edits by two processes, %d looks of a third", total, reads)
}
