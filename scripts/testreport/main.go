// Command testreport reads the output of go test -json, prints what a person
// wants to see of it (one line for each package, the whole output of what
// failed) and counts. A test that was skipped fails the run unless its reason
// says that another system is needed, or that root cannot run it: those are
// listed, to be run as somebody else. A check that did not run proves nothing.
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
	flag.Parse()
	r.root = *again != "" && os.Geteuid() == 0
	if err := r.read(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
	if r.root {
		if err := os.WriteFile(*again, []byte(strings.Join(r.again, "")), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "testreport:", err)
			os.Exit(1)
		}
	}
	if !r.summary(os.Stdout) {
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
	broken         map[string]bool     // packages with a failed test
	output         map[string][]string // by package and test, until it ends
}

func (r *report) read(in io.Reader, out io.Writer) error {
	r.output, r.broken = map[string][]string{}, map[string]bool{}
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
		return
	case "pass":
		if e.Test != "" {
			r.passed++
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

// fail shows what a failed test said. A package that failed without a failed
// test (a build, a panic, a timeout) counts as one, with all it has said.
func (r *report) fail(e event, out io.Writer) {
	if e.Test != "" {
		r.failed++
		r.broken[e.Package] = true
		fmt.Fprint(out, strings.Join(r.output[e.Package+"\x00"+e.Test], ""))
		return
	}
	if !r.broken[e.Package] {
		r.failed++
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
	fmt.Fprintln(out)
	return failed == 0 && r.passed > 0
}
