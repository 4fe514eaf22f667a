package main

import (
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	t.Parallel()
	const skip = `{"Action":"output","Package":"p","Test":"A","Output":"    a_test.go:9: REASON\n"}` + "\n" + `{"Action":"skip","Package":"p","Test":"A"}` + "\n"
	const pass = `{"Action":"pass","Package":"p","Test":"B"}` + "\n" + `{"Action":"pass","Package":"p","Elapsed":1}` + "\n"
	tests := []struct {
		name, in string
		ok       bool
		want     string
	}{
		{"passes", pass, true, "1 passed, 0 failed\n"},
		{"nothing ran", `{"Action":"skip","Package":"p"}`, false, "0 passed, 0 failed\n"},
		{"skipped", strings.Replace(skip, "REASON", "tmux is missing", 1) + pass, false, "SKIPPED p A: tmux is missing\n"},
		{"skipped for another system", strings.Replace(skip, "REASON", "needs Windows", 1) + pass, true, "1 passed, 0 failed, 1 skipped\n"},
		{"helper", strings.Replace(skip, "REASON", "only run by TestKilled", 1) + pass, true, "1 passed, 0 failed, 1 skipped\n"},
		{"not for root, but nobody runs it again", strings.Replace(skip, "REASON", "root reads everything", 1) + pass, false, "SKIPPED p A"},
		{"failed", `{"Action":"output","Package":"p","Test":"A","Output":"why\n"}` + "\n" + `{"Action":"fail","Package":"p","Test":"A"}` + "\n" + `{"Action":"fail","Package":"p"}` + "\n" + pass, false, "why\nFAIL\tp\t0.00s\n"},
		{"panicked", `{"Action":"output","Package":"p","Test":"A","Output":"panic: x\n"}` + "\n" + `{"Action":"fail","Package":"p"}` + "\n" + pass, false, "panic: x\nFAIL\tp"},
		{"not built", `{"Action":"build-output","ImportPath":"p","Output":"p.go:1: no\n"}` + "\n" + `{"Action":"fail","Package":"p"}` + "\n" + pass, false, "p.go:1: no\nFAIL"},
		{"failed, then passed", `{"Action":"fail","Package":"p","Test":"B"}` + "\n" + `{"Action":"fail","Package":"p"}` + "\n" + pass, true, "1 passed, 0 failed, 1 flaky\n"},
		{"failed twice", strings.Repeat(`{"Action":"fail","Package":"p","Test":"B"}`+"\n", 2) + `{"Action":"pass","Package":"p","Test":"C"}`, false, "1 passed, 1 failed\n"},
		{"other text", "make: hello\n" + pass, true, "make: hello\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			var r report
			if err := r.read(strings.NewReader(tt.in), &out); err != nil {
				t.Fatal(err)
			}
			if ok := r.summary(&out); ok != tt.ok || !strings.Contains(out.String(), tt.want) {
				t.Errorf("ok is %v, output:\n%s", ok, out.String())
			}
		})
	}
}

func TestRetry(t *testing.T) {
	t.Parallel()
	const failed = `{"Action":"fail","Package":"p","Test":"B/one"}` + "\n" + `{"Action":"fail","Package":"p","Test":"B"}` + "\n" + `{"Action":"fail","Package":"p"}` + "\n"
	for _, tt := range []struct{ name, in, want string }{
		{"failed", failed, "p B\n"},
		{"passed again", failed + `{"Action":"pass","Package":"p","Test":"B/one"}` + "\n" + `{"Action":"pass","Package":"p","Test":"B"}`, ""},
		{"a package that did not run", failed + `{"Action":"fail","Package":"q"}`, ""},
		{"a panic: the tests behind it did not run", `{"Action":"output","Package":"p","Test":"B","Output":"panic: x\n"}` + "\n" + failed, ""},
		{"a race", `{"Action":"output","Package":"p","Test":"B","Output":"WARNING: DATA RACE\n"}` + "\n" + failed, ""},
		{"a test that was skipped", failed + `{"Action":"skip","Package":"q","Test":"C"}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var r report
			if err := r.read(strings.NewReader(tt.in), &strings.Builder{}); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(r.retry(), ""); got != tt.want {
				t.Errorf("%q", got)
			}
		})
	}
}
