package patch

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/internal/files/filestest"
)

// tenThousand is a file of 10,000 lines like code; no two lines are alike.
func tenThousand() string {
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, "\tvalue%d := compute(%d, \"item %d\") // step %d\n", i, i*7, i, i%13)
	}
	return b.String()
}

// BenchmarkPatch10000Lines has one case for each strategy and one for no match.
func BenchmarkPatch10000Lines(bm *testing.B) {
	line := func(i int) string {
		return fmt.Sprintf("\tvalue%d := compute(%d, \"item %d\") // step %d", i, i*7, i, i%13)
	}
	two := line(9000) + "\n" + line(9001)
	three := two + "\n" + line(9002)
	for _, c := range []struct{ name, old string }{
		{"exact", two},
		{"line_trimmed", strings.ReplaceAll(two, "\t", "  ") + " "},
		{"whitespace", strings.ReplaceAll(two, " := ", "  :=   ")},
		{"escape", strings.ReplaceAll(two, "\n", `\n`)},
		{"unicode", strings.NewReplacer("\"item", "“item", "\")", "”)").Replace(two)},
		{"block_anchor", strings.Replace(three, "compute(63007", "compote(63007", 1)},
		{"no match", "func somethingElse() {\n\treturn nil\n}"},
		{"nearly a match", strings.ReplaceAll(three, "compute", "calculate")},
	} {
		bm.Run(c.name, func(bm *testing.B) {
			b := filestest.New(bm)
			text := tenThousand()
			for bm.Loop() {
				bm.StopTimer()
				b.Put("f", text)
				bm.StartTimer()
				b.Call("patch", given{"path": "f", "old_string": c.old, "new_string": "\tnew()"})
			}
		})
	}
}

// TestLargeFile is the bound on a file of 50 MB: time loosely, for busy
// machines; memory as it is.
func TestLargeFile(t *testing.T) {
	if testing.Short() {
		t.Skip("50 MB")
	}
	b := filestest.New(t)
	line := strings.Repeat("x", 79) + "\n"
	b.Put("f", strings.Repeat(line, 50<<20/80)+"the needle\n"+line)
	runtime.GC()
	var peak uint64
	stop, done := make(chan struct{}), make(chan struct{})
	var start runtime.MemStats
	runtime.ReadMemStats(&start)
	go func() {
		defer close(done)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	began := time.Now()
	b.OK("patch", given{"path": "f", "old_string": "the needle", "new_string": "found"})
	took := time.Since(began)
	close(stop)
	<-done
	grown := (peak - start.HeapAlloc) >> 20
	t.Logf("%v, %d MB above the start", took, grown)
	if took > 5*time.Second || grown > 200 {
		t.Errorf("a patch of 50 MB took %v and %d MB", took, grown)
	}
}
