// Command bench measures the whole program against its limits in one run:
// start, one-shot, tool rounds, dispatch, definitions and a thousand sessions
// at once. What it compares with (a program that only prints, a bare bash, a
// bare HTTP exchange) it builds and runs itself, in turn with ours, so that a
// busy machine slows both. It writes no file and exits 1 when a limit is
// missed. Benchmarks of single packages stand beside their code.
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "sessions" {
		exit(runSessions(os.Args[2], os.Args[3])) // the bench runs itself, to measure its memory
		return
	}
	exit(run())
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// result is one line of the table.
type result struct {
	what     string
	value    float64
	limit    float64
	unit     string
	measured string // the figures behind the value
}

func (r result) ok() bool { return r.value <= r.limit }

func run() error {
	dir, err := os.MkdirTemp("", "hermes-bench-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(dir)
	b := &bench{dir: dir}
	if err := b.prepare(); err != nil {
		return err
	}
	defer b.server.close()
	var results []result
	for _, measure := range []func() ([]result, error){b.start, b.rounds, dispatch, definitions, b.sessions} {
		r, err := measure()
		if err != nil {
			return err
		}
		results = append(results, r...)
	}
	return report(results)
}

// report prints the table and says which limits were missed.
func report(results []result) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "what\tmeasured\tlimit\t\tfrom")
	var errs []error
	for _, r := range results {
		verdict := "ok"
		if !r.ok() {
			verdict = "MISSED"
			errs = append(errs, fmt.Errorf("%s: %.2f %s, at most %g", r.what, r.value, r.unit, r.limit))
		}
		fmt.Fprintf(w, "%s\t%.2f %s\t%g %s\t%s\t%s\n", r.what, r.value, r.unit, r.limit, r.unit, verdict, r.measured)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print table: %w", err)
	}
	return errors.Join(errs...)
}

// median is the middle of some durations.
func median(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
