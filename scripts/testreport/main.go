// Command testreport reads the output of go test -json, prints what a person
// wants to see of it (one line for each package, the whole output of what
// failed) and counts. A test that was skipped fails the run unless its reason
// says that another system is needed, or that root cannot run it: those are
// listed, to be run as somebody else. A check that did not run proves nothing.
// A test that failed and passes when it is run again is told as flaky.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

func main() {
	var r report
	flag.BoolVar(&r.lenient, "lenient", false, "skipped tests are well: they ran elsewhere")
	again := flag.String("again", "", "write the tests that root cannot run to this `FILE`, a package and a test a line")
	failed := flag.String("failed", "", "write the failed tests to this `FILE`, a package and a test a line, if running them again can help")
	flag.Parse()
	r.root = *again != "" && os.Geteuid() == 0
	must(r.readAll(flag.Args(), os.Stdout))
	if r.root {
		must(os.WriteFile(*again, []byte(strings.Join(r.again, "")), 0o644))
	}
	if *failed != "" {
		must(os.WriteFile(*failed, []byte(strings.Join(r.retry(), "")), 0o644))
	}
	if !r.summary(os.Stdout) {
		os.Exit(1)
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
}

// event is one line of go test -json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// report is what was counted.
type report struct {
	passed, failed int
	skipped        []string // tests that should have run, with their reasons
	excused        int      // skipped with a good reason
	lenient, root  bool
	again          []string            // what root cannot run
	flaky          int                 // failed, and passed when run again
	broken         map[string]bool     // packages with a failed test
	fallen         map[string]bool     // failed tests of this run, by package and test
	crashed        bool                // more went wrong than the tests that failed
	output         map[string][]string // by package and test, until it ends
}

// readAll reads several runs, or the one on standard input.
func (r *report) readAll(names []string, out io.Writer) error {
	if len(names) == 0 {
		return r.read(os.Stdin, out)
	}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		err = r.read(f, out)
		_ = f.Close() // only read
		if err != nil {
			return err
		}
	}
	return nil
}

// read reads one run; what follows a failure of the same test in it is its
// second try.
func (r *report) read(in io.Reader, out io.Writer) error {
	r.output, r.broken, r.fallen = map[string][]string{}, map[string]bool{}, map[string]bool{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(out, lines.Text()) // not of go test: show it
			continue
		}
		r.add(e, out)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read test output: %w", err)
	}
	return nil
}

func (r *report) add(e event, out io.Writer) {
	key := e.Package + "\x00" + e.Test
	switch e.Action {
	case "build-output":
		fmt.Fprint(out, e.Output)
	case "output":
		if strings.HasPrefix(e.Output, "=== ") {
			return // RUN, PAUSE, CONT: noise here
		}
		r.output[key] = append(r.output[key], e.Output)
		r.crashed = r.crashed || slices.ContainsFunc(crashes, func(s string) bool { return strings.HasPrefix(e.Output, s) })
		return
	case "pass":
		if e.Test != "" {
			r.pass(key)
		} else {
			fmt.Fprintf(out, "ok  \t%s\t%.2fs\n", e.Package, e.Elapsed)
		}
	case "fail":
		r.fail(e, out)
		return
	case "skip":
		if e.Test != "" {
			r.skip(e, strings.Join(r.output[key], ""))
		}
	default:
		return
	}
	delete(r.output, key)
}

func (r *report) pass(key string) {
	r.passed++
	if r.fallen[key] {
		delete(r.fallen, key)
		r.failed--
		r.flaky++
	}
}

// crashes begin what a test binary says when the tests behind the failed one did
// not run, and when a fault is proved whatever a second try says.
var crashes = []string{"panic: ", "fatal error: ", "signal: ", "WARNING: DATA RACE"}

// retry lists the tests that failed, by their first names, unless something
// else went wrong that no second try cures.
func (r *report) retry() []string {
	if r.crashed || len(r.skipped) > 0 {
		return nil
	}
	var lines []string
	for key := range r.fallen {
		pkg, test, _ := strings.Cut(key, "\x00")
		if !strings.Contains(test, "/") {
			lines = append(lines, pkg+" "+test+"\n")
		}
	}
	slices.Sort(lines)
	return lines
}

// fail shows what a failed test said. A package that failed without a failed
// test (a build, a panic, a timeout) counts as one, with all it has said.
func (r *report) fail(e event, out io.Writer) {
	if e.Test != "" {
		if key := e.Package + "\x00" + e.Test; !r.fallen[key] {
			r.failed++
			r.fallen[key] = true
		}
		r.broken[e.Package] = true
		fmt.Fprint(out, strings.Join(r.output[e.Package+"\x00"+e.Test], ""))
		return
	}
	if !r.broken[e.Package] {
		r.failed++
		r.crashed = true
		for _, key := range slices.Sorted(maps.Keys(r.output)) {
			if strings.HasPrefix(key, e.Package+"\x00") {
				fmt.Fprint(out, strings.Join(r.output[key], ""))
			}
		}
	}
	fmt.Fprintf(out, "FAIL\t%s\t%.2fs\n", e.Package, e.Elapsed)
}

// fine are the beginnings of reasons that no installation can cure: another
// system, a helper that another test starts, a suite that does not apply.
var fine = []string{
	"needs windows", "needs darwin", "needs macos", "needs freebsd", "needs a case-insensitive file system",
	"only run by ", "not applicable", "this suite has none",
}

func (r *report) skip(e event, text string) {
	reason := "no reason given"
	for line := range strings.Lines(text) {
		if _, after, ok := strings.Cut(line, ".go:"); ok {
			if _, after, ok = strings.Cut(after, ": "); ok {
				reason = strings.TrimSpace(after)
			}
		}
	}
	lower := strings.ToLower(reason)
	forRoot := strings.Contains(lower, "root") || strings.Contains(lower, "permissions do not bind")
	switch {
	case r.lenient, slices.ContainsFunc(fine, func(s string) bool { return strings.HasPrefix(lower, s) }):
		r.excused++
	case r.root && forRoot:
		r.again = append(r.again, e.Package+" "+e.Test+"\n")
	default:
		r.skipped = append(r.skipped, fmt.Sprintf("%s %s: %s", e.Package, e.Test, reason))
	}
}

// summary prints the closing lines and says whether all is well.
func (r *report) summary(out io.Writer) bool {
	for _, s := range r.skipped {
		fmt.Fprintln(out, "SKIPPED", s)
	}
	if len(r.skipped) > 0 {
		fmt.Fprintf(out, "%d tests were skipped that should have run; \"make setup\" installs what they need\n", len(r.skipped))
	}
	failed := r.failed + len(r.skipped)
	if r.passed == 0 {
		fmt.Fprintln(out, "no test ran")
	}
	fmt.Fprintf(out, "%d passed, %d failed", r.passed, failed)
	if r.excused > 0 {
		fmt.Fprintf(out, ", %d skipped", r.excused)
	}
	if r.flaky > 0 {
		fmt.Fprintf(out, ", %d flaky", r.flaky)
	}
	fmt.Fprintln(out)
	return failed == 0 && r.passed > 0
}
