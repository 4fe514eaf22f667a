package flock

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// TestMain lets the test binary be the other process.
func TestMain(m *testing.M) {
	path := os.Getenv("FLOCK_TEST_HOLD")
	if path == "" {
		os.Exit(m.Run())
	}
	l, err := Acquire(context.Background(), path)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin) // until it is closed, or we are killed
	l.Release()
}

func holder(t *testing.T, path string) (*exec.Cmd, io.Closer) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), "FLOCK_TEST_HOLD="+path)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return c, in
}

func TestAnotherProcess(t *testing.T) {
	t.Parallel()
	for _, killed := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "l")
		other, in := holder(t, path)
		if _, err := Try(path); !errors.Is(err, ErrHeld) {
			t.Fatalf("try: %v", err)
		}
		stop, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("enough"))
		if _, err := Acquire(stop, path); !errors.Is(err, ErrHeld) || err.Error() != "lock "+path+": another process holds it (enough)" {
			t.Fatalf("a wait that was given up: %v", err)
		}
		got := make(chan error, 1)
		go func() {
			l, err := Acquire(t.Context(), path)
			if err == nil {
				l.Release()
			}
			got <- err
		}()
		if killed {
			_ = other.Process.Kill()
		} else {
			_ = in.Close()
		}
		if err := <-got; err != nil {
			t.Errorf("killed %v: %v", killed, err)
		}
		_ = other.Wait() // killed on purpose
	}
}

// A file that its holder removes is one lock all the same.
func TestRemoved(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "l")
	inside, most := 0, 0
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				l, err := Acquire(t.Context(), path)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				inside++
				most = max(most, inside)
				mu.Unlock()
				mu.Lock()
				inside--
				mu.Unlock()
				l.Remove()
			}
		})
	}
	wg.Wait()
	if most != 1 {
		t.Errorf("%d had it at once", most)
	}
	if _, err := os.Stat(path); removable && !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is left: %v", err)
	}
}
