//go:build !windows

package ssh

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hermes-go/hermes/backend"
)

// BenchmarkTrue is a command over a connection that stands against the ssh
// program over one that it shares, in turn, so that a busy machine slows both.
func BenchmarkTrue(b *testing.B) {
	program, err := exec.LookPath("ssh")
	if err != nil {
		b.Skip(err)
	}
	l := newLab(b)
	e := l.open(b)
	ours := func() {
		if _, err := e.Exec(context.Background(), backend.Cmd{Script: "true", Output: io.Discard}); err != nil {
			b.Fatal(err)
		}
	}
	ours()
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	args := []string{
		"-F", "none", "-o", "ControlMaster=auto", "-o", "ControlPath=" + filepath.Join(dir, "c"), "-o", "ControlPersist=60", "-o", "BatchMode=yes",
		"-o", "UserKnownHostsFile=" + filepath.Join(l.home, "known_hosts"), "-i", l.Key, "-p", fmt.Sprint(l.Port), l.User + "@127.0.0.1",
	}
	theirs := func() {
		if out, err := exec.Command(program, append(slices.Clone(args), "true")...).CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	theirs()
	defer func() { _ = exec.Command(program, append([]string{"-O", "exit"}, args...)...).Run() }()
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
	b.ReportMetric(float64(a[len(a)/2].Microseconds()), "µs-shared-ssh")
	b.ReportMetric(float64(c[len(c)/2].Microseconds()), "µs-ours")
	b.ReportMetric(float64(c[len(c)/2])/float64(a[len(a)/2]), "times")
}
