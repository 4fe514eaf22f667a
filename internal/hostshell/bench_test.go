package hostshell

import (
	"context"
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/hermes-go/hermes/backend"
)

func bareBash(t testing.TB) func() {
	sh, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	return func() {
		if err := exec.Command(sh, "--noprofile", "--norc", "-c", "true").Run(); err != nil {
			t.Fatal(err)
		}
	}
}

func BenchmarkBareBash(b *testing.B) {
	run := bareBash(b)
	for range b.N {
		run()
	}
}

func BenchmarkTrue(b *testing.B) {
	e := testEnv(b, backend.Options{})
	for range b.N {
		if _, err := e.Exec(context.Background(), backend.Cmd{Script: "true", Output: io.Discard}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAboveBash reports how much longer a command takes than a bare
// shell, both measured in turn so that a busy machine slows both.
func BenchmarkAboveBash(b *testing.B) {
	run := bareBash(b)
	e := testEnv(b, backend.Options{Vars: os.Environ})
	e.set.AutoSourceBashrc = false
	var bare, ours []time.Duration
	for range b.N {
		t0 := time.Now()
		run()
		t1 := time.Now()
		if _, err := e.Exec(context.Background(), backend.Cmd{Script: "true", Output: io.Discard}); err != nil {
			b.Fatal(err)
		}
		bare, ours = append(bare, t1.Sub(t0)), append(ours, time.Since(t1))
	}
	slices.Sort(bare)
	slices.Sort(ours)
	// The lower quarter: the part of the runs that nobody else got in the way of.
	b.ReportMetric(float64((ours[len(ours)/4] - bare[len(bare)/4]).Microseconds()), "µs-above")
	b.ReportMetric(float64(bare[len(bare)/4].Microseconds()), "µs-bare")
}

func BenchmarkSpawn(b *testing.B) {
	e := testEnv(b, backend.Options{})
	for range b.N {
		p, err := e.Spawn(context.Background(), backend.Cmd{Script: "true"}, backend.SpawnOptions{Ready: func(backend.ProcessID) error { return nil }})
		if err != nil {
			b.Fatal(err)
		}
		<-p.Done()
	}
}

func BenchmarkWriteFile(b *testing.B) {
	name := b.TempDir() + "/f"
	for range b.N {
		if err := (Files{}).WriteFile(context.Background(), name, []byte("some text\n"), backend.WriteOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
