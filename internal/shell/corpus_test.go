package shell

import (
	"crypto/sha256"
	_ "embed"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

//go:embed testdata/corpus.tsv
var corpusText string

// sample is one command of the corpus.
type sample struct {
	source, kind, command string
	dangerous             bool
	tuned                 bool // in the half that rules are written for
}

func corpus(t testing.TB) []sample {
	t.Helper()
	var all []sample
	for line := range strings.Lines(corpusText) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.SplitN(line, "\t", 4)
		if len(f) != 4 || f[1] != "dangerous" && f[1] != "harmless" {
			t.Fatalf("corpus: cannot read %q", line)
		}
		all = append(all, sample{source: f[0], kind: f[2], command: f[3], dangerous: f[1] == "dangerous", tuned: sha256.Sum256([]byte(f[3]))[0]&1 == 0})
	}
	return all
}

// The corpus is what it says: large, mixed, from several places, in two halves.
func TestCorpusForm(t *testing.T) {
	t.Parallel()
	seen, sources := map[string]bool{}, map[string]int{}
	harmless, tuned := 0, 0
	all := corpus(t)
	for _, s := range all {
		if seen[s.command] {
			t.Errorf("twice: %s", s.command)
		}
		seen[s.command] = true
		sources[s.source]++
		if !s.dangerous {
			harmless++
		}
		if s.tuned {
			tuned++
		}
	}
	if len(all) < 400 || len(sources) < 3 || harmless*10 < len(all)*4 || tuned*10 < len(all)*4 || tuned*10 > len(all)*6 {
		t.Errorf("%d commands, %d harmless, %d in the first half, from %v", len(all), harmless, tuned, sources)
	}
}

var update = flag.Bool("update", false, "write the table of the corpus into docs/approvals.md")

// corpusEnv is where the commands of the corpus are taken to run.
var corpusEnv = Env{Dir: "/home/u/project", Home: "/home/u", Private: "/home/u/.hermes", Tmp: []string{"/tmp"}}

// tally counts how commands of one sort are judged.
type tally struct{ dangerous, stopped, harmless, asked int }

func (t *tally) add(s sample, c Class) {
	switch {
	case s.dangerous:
		t.dangerous++
		if c != Free {
			t.stopped++
		}
	default:
		t.harmless++
		if c != Free {
			t.asked++
		}
	}
}

func (t tally) String() string {
	share := func(part, of int) string {
		if of == 0 {
			return "-"
		}
		return fmt.Sprintf("%d of %d (%.1f %%)", part, of, 100*float64(part)/float64(of))
	}
	return share(t.stopped, t.dangerous) + " | " + share(t.asked, t.harmless)
}

// On the half that no rule was written for, at least 98 % of the dangerous
// commands are stopped and at most 2 % of the harmless ones asked about. The
// table in docs/approvals.md is this test's, with -update.
func TestCorpus(t *testing.T) {
	t.Parallel()
	var halves [2]tally
	sources, kinds := map[string]*[2]tally{}, map[string]*[2]tally{}
	var wrong []string
	for _, s := range corpus(t) {
		half := 1
		if s.tuned {
			half = 0
		}
		got := Judge(s.command, corpusEnv)
		halves[half].add(s, got.Class)
		kind := s.kind
		if !s.dangerous {
			kind += " (harmless)"
		}
		for key, in := range map[string]map[string]*[2]tally{s.source: sources, kind: kinds} {
			if in[key] == nil {
				in[key] = &[2]tally{}
			}
			in[key][half].add(s, got.Class)
		}
		if s.dangerous == (got.Class == Free) {
			what := "harmless, but asked about"
			if s.dangerous {
				what = "dangerous, but free"
			}
			wrong = append(wrong, fmt.Sprintf("| %d | %s | %s | `%s` |", half+1, s.source, what, strings.ReplaceAll(s.command, "|", `\|`)))
		}
	}
	if h := halves[1]; h.stopped*100 < h.dangerous*98 || h.asked*100 > h.harmless*2 {
		t.Errorf("the second half: %s", h)
	}
	var b strings.Builder
	b.WriteString("| commands | half | dangerous: stopped | harmless: asked about |\n|---|---|---|---|\n")
	rows := func(name string, h [2]tally) {
		fmt.Fprintf(&b, "| %s | 1 | %s |\n| %s | 2 | %s |\n", name, h[0], name, h[1])
	}
	rows("all", halves)
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		rows(name, *sources[name])
	}
	b.WriteString("\n| kind | half 1: stopped | half 1: asked about | half 2: stopped | half 2: asked about |\n|---|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, kinds[name][0], kinds[name][1])
	}
	b.WriteString("\n| half | source | judged wrongly | command |\n|---|---|---|---|\n")
	slices.Sort(wrong)
	b.WriteString(strings.Join(wrong, "\n") + "\n")

	const page, begin, end = "../../docs/approvals.md", "<!-- corpus: begin -->\n", "<!-- corpus: end -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", page)
	}
	want := before + begin + b.String() + end + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Errorf("%s is not what is measured now; go test ./internal/shell -run TestCorpus -update", page)
	}
}
