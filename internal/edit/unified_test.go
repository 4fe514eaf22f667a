package edit

import (
	"fmt"
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	numbers := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%d\n", i+1)
		}
		return b.String()
	}
	big := numbers(20)
	tests := []struct{ name, old, new, want string }{
		{"equal", "a\n", "a\n", ""},
		{"one line", "a\n", "b\n", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"},
		{"context", big, strings.Replace(big, "10\n", "ten\n", 1), "--- a/f\n+++ b/f\n@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n"},
		{"no newline", "a\nb", "a\nb\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"},
		{"from nothing", "", "a\nb\n", "--- a/f\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"to nothing", "a\n", "", "--- a/f\n+++ b/f\n@@ -1 +0,0 @@\n-a\n"},
		{
			"two hunks", big, strings.NewReplacer("\n3\n", "\n", "\n18\n", "\n18\nx\n").Replace(big),
			"--- a/f\n+++ b/f\n@@ -1,6 +1,5 @@\n 1\n 2\n-3\n 4\n 5\n 6\n@@ -16,5 +15,6 @@\n 16\n 17\n 18\n+x\n 19\n 20\n",
		},
		{"carriage returns", "a\r\nb\r\n", "a\r\nc\r\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Diff("a/f", "b/f", tt.old, tt.new); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
	if d := Diff("a", "b", numbers(20000), strings.Repeat("x\n", 20000)); strings.Count(d, "\n") > maxDiffRows+5 || !strings.Contains(d, "more lines of this diff") {
		t.Errorf("a huge diff has %d lines", strings.Count(d, "\n"))
	}
}
