package docker

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

// BenchmarkTrue is a command in a warm container against `docker exec` of the
// same, in turn, so that a busy machine slows both.
func BenchmarkTrue(b *testing.B) {
	program, err := exec.LookPath("docker")
	if err != nil {
		b.Skip(err)
	}
	l := newLab(b)
	e := l.open(b, "bench", nil)
	ours := func() {
		if _, err := e.Exec(context.Background(), backend.Cmd{Script: "true", Output: io.Discard}); err != nil {
			b.Fatal(err)
		}
	}
	ours()
	theirs := func() {
		cmd := exec.Command(program, "exec", e.place.id, "true")
		cmd.Env = append(os.Environ(), "DOCKER_HOST="+l.Host)
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
	}
	var a, c []time.Duration
	for range b.N {
		t0 := time.Now()
		theirs()
		t1 := time.Now()
		ours()
		a, c = append(a, t1.Sub(t0)), append(c, time.Since(t1))
	}
	slices.Sort(a)
	slices.Sort(c)
	b.ReportMetric(float64(a[len(a)/2].Microseconds()), "µs-docker-exec")
	b.ReportMetric(float64(c[len(c)/2].Microseconds()), "µs-ours")
	b.ReportMetric(float64(c[len(c)/2])/float64(a[len(a)/2]), "times")
}
