//go:build !windows

package hostshell

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/backend"
)

// helper is this test binary run as a program that is killed.
const helper = "HERMES_LOCAL_TEST_HELPER"

func TestMain(m *testing.M) {
	backend.Register(backend.Kind{Name: "local", Alive: Alive, End: End, Self: func() backend.ProcessID { return Self("local") }})
	if what := os.Getenv(helper); what != "" {
		runHelper(what, os.Getenv(helper+"_DIR"))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func runHelper(what, dir string) {
	ctx := context.Background()
	vars := func() []string { return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir} }
	p := &backend.Pool{Dir: filepath.Join(dir, "jobs"), Open: func(ctx context.Context, task string) (backend.Env, error) {
		return Open(ctx, Options{Kind: "local", Options: backend.Options{Task: task, Cwd: dir, Home: dir, Vars: vars}})
	}}
	e, err := p.Env(ctx, "t")
	if err != nil {
		panic(err)
	}
	switch what {
	case "write":
		for i := 0; ; i++ {
			fill := strings.Repeat(fmt.Sprintf("%08d", i), 1<<15)
			if err := e.(backend.FileSystem).WriteFile(ctx, filepath.Join(dir, "file"), []byte(fill), backend.WriteOptions{}); err != nil {
				panic(err)
			}
			fmt.Println("ready")
		}
	case "spill":
		for i := 0; ; i++ {
			k := &backend.Keep{Limit: 10, File: func() (backend.SpillFile, error) { return e.(backend.Spiller).Spill("call") }}
			fmt.Println("ready")
			if _, err := e.Exec(ctx, backend.Cmd{Script: "seq 100000; echo end", Output: k}); err != nil {
				panic(err)
			}
			if _, err := k.Close(); err != nil {
				panic(err)
			}
		}
	case "jobs":
		for i := 0; ; i++ {
			b, err := p.Jobs().Start(ctx, e, backend.Cmd{Script: "touch " + dir + "/began-$$; sleep 300"}, backend.JobOptions{Task: "t"})
			if err != nil {
				panic(err)
			}
			fmt.Println("ready", b.Info().PID)
			if i >= 20 {
				select {}
			}
		}
	case "foreground":
		for range 12 {
			go func() {
				_, err := e.Exec(ctx, backend.Cmd{Script: "touch " + dir + "/began-$$; sh -c 'trap \"\" TERM; touch " + dir + "/began-$$; sleep 300' & echo ready; sleep 301", Output: os.Stdout})
				panic(err)
			}()
		}
		select {}
	case "gate":
		_, err := e.(backend.Spawner).Spawn(ctx, backend.Cmd{Script: "touch " + dir + "/began"}, backend.SpawnOptions{Ready: func(id backend.ProcessID) error {
			fmt.Println("ready", id.PID)
			select {}
		}})
		panic(err)
	}
}

// killed starts a helper, waits for its n-th line and kills it a little later.
func killed(t *testing.T, what, dir string, n int) []string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), helper+"="+what, helper+"_DIR="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var lines []string
	sc := bufio.NewScanner(out)
	for len(lines) < n && sc.Scan() {
		lines = append(lines, sc.Text())
	}
	time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait() // it was killed
	if len(lines) < n {
		t.Fatalf("the helper ended: %s", errs.String())
	}
	return lines
}

func TestKilledWhileWriting(t *testing.T) {
	t.Parallel()
	dir := realTemp(t)
	for range 8 {
		killed(t, "write", dir, 1+rand.IntN(3))
		b, err := os.ReadFile(filepath.Join(dir, "file"))
		if err != nil || len(b) != 8<<15 || !bytes.Equal(b[:8], b[len(b)-8:]) {
			t.Fatalf("a torn file: %d bytes, %v", len(b), err)
		}
	}
}

func TestKilledWhileSpilling(t *testing.T) {
	t.Parallel()
	dir := realTemp(t)
	for range 6 {
		killed(t, "spill", dir, 1+rand.IntN(4))
	}
	whole := 0
	list, err := os.ReadDir(filepath.Join(dir, "cache", "terminal"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		b, err := os.ReadFile(filepath.Join(dir, "cache", "terminal", d.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(d.Name(), ".txt") {
			whole++
			if !bytes.HasPrefix(b, []byte("1\n2\n")) || !bytes.HasSuffix(b, []byte("\n100000\nend\n")) {
				t.Errorf("%s is torn", d.Name())
			}
		}
	}
	t.Logf("%d whole files of %d", whole, len(list))
}

// TestKilledWithJobs checks that everything that runs is written down, by
// number and start time.
func TestKilledWithJobs(t *testing.T) {
	t.Parallel()
	for range 3 {
		dir := realTemp(t)
		lines := killed(t, "jobs", dir, 1+rand.IntN(5))
		p := &backend.Pool{Dir: filepath.Join(dir, "jobs")}
		left, err := p.Jobs().Left()
		if err != nil {
			t.Fatal(err)
		}
		known := map[int]backend.Record{}
		for _, r := range left {
			known[r.ID.PID] = r
		}
		for _, l := range lines {
			pid, err := strconv.Atoi(strings.TrimPrefix(l, "ready "))
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := known[pid]; !ok {
				t.Errorf("%d runs unseen", pid)
			}
		}
		began, err := filepath.Glob(filepath.Join(dir, "began-*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range began {
			pid, _ := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
			if _, ok := known[pid]; !ok && startOf(pid) != "" {
				t.Errorf("%d began and is not written down", pid)
			}
		}
		for _, r := range left {
			// One that was still held at its gate ends with the program, by itself.
			err := p.Jobs().EndLeft(context.Background(), r.Session)
			if err != nil && (!errors.Is(err, backend.ErrNoJob) || startOf(r.ID.PID) == r.ID.Start) {
				t.Error(err)
			}
			if startOf(r.ID.PID) == r.ID.Start {
				t.Errorf("%d was not ended", r.ID.PID)
			}
		}
		if left, err := p.Jobs().Left(); len(left) != 0 || err != nil {
			t.Errorf("afterwards: %v, %v", left, err)
		}
	}
}

// TestKilledInForeground: what nobody could find afterwards ends with the
// program, whatever it makes of signals.
func TestKilledInForeground(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5, 12} {
		dir := realTemp(t)
		killed(t, "foreground", dir, n)
		began, err := filepath.Glob(filepath.Join(dir, "began-*"))
		if err != nil || len(began) < n {
			t.Fatalf("%d commands began, not %d: %v", len(began), n, err)
		}
		for _, name := range began {
			pid, _ := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
			id := backend.ProcessID{Kind: "local", PID: pid, Start: startOf(pid)}
			if id.Start != "" && !gone(context.Background(), id, 10*time.Second) {
				t.Errorf("%s still runs", name)
			}
		}
	}
}

// TestGuardOfTheGuard: when somebody ended it, another one takes over.
func TestGuardOfTheGuard(t *testing.T) {
	t.Parallel()
	sh, err := findShell()
	if err != nil {
		t.Fatal(err)
	}
	var g guard
	if err := g.hold(sh, 1<<22+1); err != nil {
		t.Fatal(err)
	}
	first := g.in
	_ = first.Close()
	cmd := exec.Command("sleep", "300")
	cmd.SysProcAttr = ownGroup()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := g.hold(sh, cmd.Process.Pid); err != nil || g.in == first {
		t.Fatalf("no other one: %v", err)
	}
	g.drop(1<<22 + 1)
	_ = g.in.Close() // as when the program ends
	if err := cmd.Wait(); err == nil {
		t.Error("it ended by itself")
	}
}

// TestKilledBeforeWritingDown: the command does not begin.
func TestKilledBeforeWritingDown(t *testing.T) {
	t.Parallel()
	dir := realTemp(t)
	lines := killed(t, "gate", dir, 1)
	pid, err := strconv.Atoi(strings.TrimPrefix(lines[0], "ready "))
	if err != nil {
		t.Fatal(err)
	}
	if start := startOf(pid); start != "" && !gone(context.Background(), backend.ProcessID{Kind: "local", PID: pid, Start: start}, 10*time.Second) {
		t.Error("it waits for ever")
	}
	if _, err := os.Stat(filepath.Join(dir, "began")); err == nil {
		t.Error("it began")
	}
}

// TestAnotherProcessOfThatNumber: a number alone names nobody.
func TestAnotherProcessOfThatNumber(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sleep", "30")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	id := backend.ProcessID{Kind: "local", PID: cmd.Process.Pid, Start: startOf(cmd.Process.Pid)}
	if !Alive(id) {
		t.Error("a live process counts as dead")
	}
	id.Start += "1"
	if Alive(id) {
		t.Error("another start time counts as the same process")
	}
	if err := End(context.Background(), id); err != nil || startOf(cmd.Process.Pid) == "" {
		t.Errorf("ended a stranger: %v", err)
	}
}
