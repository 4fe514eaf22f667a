package store

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-go/hermes/chat"
)

// The test binary starts itself as a worker: a process of its own on a home
// that others share.
var (
	workerDoes = flag.String("store.worker", "", "be a worker that does this (for the tests' own use)")
	workerPath = flag.String("store.path", "", "the worker's database")
	workerName = flag.String("store.name", "", "the worker's session")
	workerTime = flag.Duration("store.time", time.Second, "how long the worker works")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *workerDoes == "" {
		os.Exit(m.Run())
	}
	work := map[string]func(context.Context, *DB) error{"write500": write500, "acknowledge": acknowledge, "everything": everything, "readonly": readOnly}[*workerDoes]
	d, err := Open(*workerPath, Options{Notice: func(err error) { fmt.Println("notice:", err) }})
	if err == nil {
		err = errors.Join(work(context.Background(), d), d.Close())
	}
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

func worker(t *testing.T, does, path, name string, more ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exec.CommandContext(t.Context(), self, append([]string{"-store.worker", does, "-store.path", path, "-store.name", name}, more...)...)
}

// together runs workers at once and returns what they print.
func together(t *testing.T, cmds ...*exec.Cmd) string {
	t.Helper()
	var wg sync.WaitGroup
	out := make([]string, len(cmds))
	for i, c := range cmds {
		wg.Go(func() {
			b, err := c.CombinedOutput()
			out[i] = string(b)
			if err != nil {
				t.Errorf("worker %d: %v\n%s", i, err, b)
			}
		})
	}
	wg.Wait()
	return strings.Join(out, "")
}

// Case 61: two processes write 500 messages each into a home that neither
// finds there.
func TestTwoProcessesWrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	if out := together(t, worker(t, "write500", path, "a"), worker(t, "write500", path, "b")); out != "" {
		t.Errorf("said: %s", out)
	}
	d := openAt(t, path)
	for _, id := range []string{"a", "b"} {
		r, err := d.Load(t.Context(), id)
		if err != nil || len(r.Messages) != 500 || r.Session.Messages != 500 || r.Messages[499].Content.Text != "499" {
			t.Errorf("%s: %d messages, %v", id, len(r.Messages), err)
		}
	}
}

func write500(ctx context.Context, d *DB) error {
	if err := d.Create(ctx, Session{ID: *workerName}); err != nil {
		return err
	}
	for i := range 500 {
		if err := d.Append(ctx, *workerName, chat.UserText(fmt.Sprint(i))); err != nil {
			return err
		}
	}
	return nil
}

// What Append acknowledged is there after kill -9, and nothing half.
func TestKilled(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	for round := range 8 {
		name := fmt.Sprint("s", round)
		cmd := worker(t, "acknowledge", path, name)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		acked, last := 0, 1+rand.IntN(120)
		for lines.Scan() {
			if !strings.HasPrefix(lines.Text(), "ok ") {
				t.Fatal(lines.Text())
			}
			if acked++; acked == last {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				break
			}
		}
		for lines.Scan() {
			acked++ // acknowledged before the kill arrived
		}
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait() // killed, as it should be
		d := openAt(t, path)
		r, err := d.Load(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		// Two messages an append; one append may have happened unacknowledged.
		if n := len(r.Messages); n < 2*acked || n > 2*acked+2 || n%2 != 0 || r.Session.Messages != n {
			t.Errorf("round %d: %d acknowledged, %d messages, counted %d", round, acked, n, r.Session.Messages)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if p, err := openAt(t, path).Check(t.Context()); err != nil || len(p) > 0 {
		t.Errorf("check: %v, %v", p, err)
	}
}

func acknowledge(ctx context.Context, d *DB) error {
	if err := d.Create(ctx, Session{ID: *workerName}); err != nil {
		return err
	}
	for i := 0; ; i++ {
		if err := d.Append(ctx, *workerName, chat.UserText(fmt.Sprint("question 备份方案 ", i)), chat.AssistantText("answer")); err != nil {
			return err
		}
		fmt.Println("ok", i)
	}
}

// Eight processes chat, search, prune and back up one home.
func TestEightProcesses(t *testing.T) {
	t.Parallel()
	long := 2 * time.Second
	if *thorough {
		long = time.Minute
	}
	path := filepath.Join(t.TempDir(), "state.db")
	var cmds []*exec.Cmd
	for i := range 8 {
		cmds = append(cmds, worker(t, "everything", path, fmt.Sprint("p", i), "-store.time", long.String()))
	}
	out := together(t, cmds...)
	d := openAt(t, path)
	seen := 0
	for line := range strings.Lines(out) {
		var id string
		var n int
		if _, err := fmt.Sscanf(line, "wrote %s %d", &id, &n); err != nil {
			t.Errorf("a process said: %s", line)
			continue
		}
		seen++
		r, err := d.Load(t.Context(), id)
		if err != nil || len(r.Messages) != n {
			t.Errorf("%s: %d messages, want %d, %v", id, len(r.Messages), n, err)
			continue
		}
		for k, m := range r.Messages {
			if !strings.HasSuffix(m.Content.Text, fmt.Sprint(" ", k)) {
				t.Errorf("%s: message %d is %q", id, k, m.Content.Text)
				break
			}
		}
	}
	if seen != 8 {
		t.Errorf("%d of 8 finished:\n%s", seen, out)
	}
	if p, err := d.Check(t.Context()); err != nil || len(p) > 0 {
		t.Errorf("check: %v, %v", p, err)
	}
}

// everything chats in one session that stays, and between two messages does
// what else is done to a home.
func everything(ctx context.Context, d *DB) error {
	mine := *workerName
	if err := d.Create(ctx, Session{ID: mine, Title: "the same title"}); err != nil {
		return err
	}
	n := 0
	for end := time.Now().Add(*workerTime); time.Now().Before(end); n++ {
		if err := d.Append(ctx, mine, chat.UserText(fmt.Sprint("word 备份方案 ", mine, " ", n))); err != nil {
			return err
		}
		var err error
		switch rand.IntN(12) {
		case 0:
			for _, e := range d.Search(ctx, Query{Text: "word OR 备份"}) {
				err = errors.Join(err, e)
			}
		case 1:
			short := fmt.Sprintf("%s-%d", mine, n)
			err = errors.Join(d.Create(ctx, Session{ID: short, Title: "short"}), d.Append(ctx, short, chat.UserText("word")), d.End(ctx, short, EndQuery))
		case 2:
			_, err = d.Prune(ctx, Prune{Before: time.Now().Add(time.Hour)})
		case 3:
			if rand.IntN(10) == 0 {
				copied := fmt.Sprintf("%s-%s-%d", d.Path(), mine, n)
				err = errors.Join(d.Backup(ctx, copied), os.Remove(copied))
			}
		case 4:
			_, err = d.List(ctx, Filter{})
		case 5:
			_, err = d.Latest(ctx, "cli")
		case 6:
			err = d.AddUsage(ctx, mine, chat.Usage{Input: 1}, Billing{}, Cost{})
		case 7:
			var r *Record
			if r, err = d.Load(ctx, mine); err == nil && len(r.Messages) != n+1 {
				err = fmt.Errorf("read %d messages, wrote %d", len(r.Messages), n+1)
			}
		case 8:
			if err = d.Append(ctx, mine, chat.UserText("to be undone")); err == nil {
				_, err = d.Undo(ctx, mine, 1)
			}
		}
		if err != nil {
			return err
		}
	}
	fmt.Println("wrote", mine, n)
	return nil
}

// A home that may be read but not written.
func TestReadOnlyHome(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for p := dir; len(p) > len(os.TempDir()); p = filepath.Dir(p) {
		if err := os.Chmod(p, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// The worker runs as nobody, who cannot reach the test binary where it is.
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "worker")
	if err := os.WriteFile(exe, bin, 0o755); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	d := openAt(t, filepath.Join(home, "state.db"))
	say(t, d, "s", chat.UserText("written before"))
	for _, live := range []bool{true, false} {
		if !live {
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
		}
		for name, mode := range map[string]os.FileMode{home: 0o555, d.Path(): 0o444} {
			if err := os.Chmod(name, mode); err != nil {
				t.Fatal(err)
			}
		}
		for _, tail := range []string{"-wal", "-shm"} {
			if err := os.Chmod(d.Path()+tail, 0o444); err != nil && live {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(t.Context(), exe, "-store.worker", "readonly", "-store.path", d.Path())
		cmd.Dir = dir
		asNobody(cmd)
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Count(string(out), "notice:") > 2 || !strings.Contains(string(out), "kept nowhere") || !strings.Contains(string(out), "cannot be written") || !strings.Contains(string(out), "found 1 loaded 1") {
			t.Errorf("live %v: %v\n%s", live, err, out)
		}
	}
	if err := os.Chmod(home, 0o755); err != nil {
		t.Fatal(err)
	}
}

func readOnly(ctx context.Context, d *DB) error {
	for range 3 {
		// Nothing can be kept, which is an error of its own; reading goes on.
		var t *Trouble
		if err := d.Append(ctx, "s", chat.UserText("more")); !errors.As(err, &t) || t.Fault != ReadOnly {
			return fmt.Errorf("append: %w", err)
		}
	}
	n := 0
	for _, err := range d.Search(ctx, Query{Text: "written"}) {
		if err != nil {
			return err
		}
		n++
	}
	r, err := d.Load(ctx, "s")
	if err != nil {
		return err
	}
	fmt.Println("found", n, "loaded", len(r.Messages))
	return nil
}
