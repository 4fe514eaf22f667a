package archtest

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/internal/peertest"
)

// What package initialisation may cost, in milliseconds: all of it, and any
// one package of ours.
const (
	startLimit = 3.0
	oursLimit  = 0.1
)

var inited = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, (\S+) ms clock`)

// TestStart reads what the runtime says of package initialisation. Each
// package counts with the least of several runs: what it costs when nobody
// else wants the processor.
func TestStart(t *testing.T) {
	t.Parallel()
	hermes := peertest.Hermes(t)
	least := map[string]float64{}
	for range 12 {
		cmd := exec.Command(hermes, "version")
		cmd.Env = []string{"GODEBUG=inittrace=1", "HOME=" + t.TempDir()}
		var stderr strings.Builder
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("hermes version: %v\n%s", err, stderr.String())
		}
		for _, m := range inited.FindAllStringSubmatch(stderr.String(), -1) {
			ms, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			if old, ok := least[m[1]]; !ok || ms < old {
				least[m[1]] = ms
			}
		}
	}
	if len(least) == 0 {
		t.Fatal("the runtime said nothing of package initialisation")
	}
	sum, said := 0.0, ""
	for name, ms := range least {
		sum += ms
		if ms >= 0.05 {
			said += fmt.Sprintf("%.3f ms %s\n", ms, name)
		}
		if strings.HasPrefix(name, module) && ms > oursLimit {
			t.Errorf("%s takes %.3f ms at every start; at most %.1f", name, ms, oursLimit)
		}
	}
	if sum > startLimit {
		t.Errorf("package initialisation takes %.2f ms; at most %.1f\n%s", sum, startLimit, said)
	}
	t.Logf("package initialisation: %.2f ms in %d packages", sum, len(least))
}
