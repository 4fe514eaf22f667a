//go:build unix

package agent

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/tool"
)

// A thousand conversations at once cost little more than their waiting: two
// calls of 500 ms each are over in less than 1.5 s, or would be if this
// machine had its processors to itself.
func TestThousandTurns(t *testing.T) {
	const turns, wait, limit = 1000, 500 * time.Millisecond, 1500 * time.Millisecond
	tools := newBench()
	a := New(Deps{Tools: tools.registry, Transcript: nowhere{}})
	client := twoCalls(wait)
	var wg sync.WaitGroup
	began, work := time.Now(), processorTime(t)
	for i := range turns {
		wg.Go(func() {
			s := &Session{Session: &tool.Session{ID: fmt.Sprint(i), Services: tool.NewServices(nil), Enabled: tools.registry.Names()}, Client: client}
			var done Done
			for e, err := range a.Turn(t.Context(), s, chat.UserText("go")) {
				if err != nil {
					t.Error(err)
				}
				if d, ok := e.(Done); ok {
					done = d
				}
			}
			if done.Status != OK || len(s.History) != 5 {
				t.Errorf("%v", done)
			}
		})
	}
	time.Sleep(wait / 2)
	var most runtime.MemStats
	runtime.ReadMemStats(&most)
	goroutines := runtime.NumGoroutine()
	wg.Wait()
	took := time.Since(began)
	work = processorTime(t) - work
	t.Logf("%d turns in %v, of which work %v; %d MB of heap, %d MB of stack, %d goroutines",
		turns, took.Round(time.Millisecond), work.Round(time.Millisecond), most.HeapInuse>>20, most.StackInuse>>20, goroutines)
	if took >= limit && work >= limit-2*wait && !raceDetector() {
		t.Errorf("%v, %v of it work: more than %v", took, work, limit)
	}
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// raceDetector reports whether the program is built with it, which takes ten
// times as long.
func raceDetector() bool {
	info, _ := debug.ReadBuildInfo()
	return info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
