package edit

import (
	"strings"
	"testing"
)

func TestMerge(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, base, ours, theirs, want string
		conflict                       bool
	}{
		{"nothing", "a\nb\n", "a\nb\n", "a\nb\n", "a\nb\n", false},
		{"ours only", "a\nb\nc\n", "a\nB\nc\n", "a\nb\nc\n", "a\nB\nc\n", false},
		{"theirs only", "a\nb\nc\n", "a\nb\nc\n", "a\nc\nd\n", "a\nc\nd\n", false},
		{"both, apart", "a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\nf\n", "A\nb\nc\nd\nE\nf\n", false},
		{"both the same", "a\nb\nc\n", "a\nX\nc\n", "a\nX\nc\nd\n", "a\nX\nc\nd\n", false},
		{"both, differently", "a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n", "", true},
		{"one deletes what the other changes", "a\nb\nc\n", "a\nc\n", "a\nY\nc\n", "", true},
		{"insertions at one place", "a\nz\n", "a\n1\nz\n", "a\n2\nz\n", "", true},
		{"no last line end", "a\nx\nb", "A\nx\nb", "a\nx\nb\nc", "A\nx\nb\nc", false},
		{"line ends of ours", "a\nb\nc\n", "a\r\nb\r\nC\r\n", "A\nb\nc\n", "A\r\nb\r\nC\r\n", false},
		{"empty base", "", "a\n", "a\n", "a\n", false},
		{"all gone", "a\nb\n", "", "a\nb\n", "", false},
	} {
		got, ok := Merge(tt.base, tt.ours, tt.theirs)
		if ok == tt.conflict {
			t.Errorf("%s: conflict %v, want %v", tt.name, !ok, tt.conflict)
		}
		if !tt.conflict && got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func FuzzMerge(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nB\nc\n", "a\nb\nc\nd\n")
	f.Add("x\r\ny\n", "", "x\n")
	f.Fuzz(func(t *testing.T, base, ours, theirs string) {
		if got, ok := Merge(base, ours, ours); !ok || got != ours {
			t.Errorf("both did the same: %q, %v", got, ok)
		}
		if got, ok := Merge(base, ours, base); !ok || got != ours {
			t.Errorf("only we did something: %q, %v", got, ok)
		}
		// A line that both sides kept is kept.
		if got, ok := Merge(base, ours, theirs); ok && base != "" && strings.HasPrefix(ours, base) && strings.HasPrefix(theirs, base) && !strings.Contains(ours, "\r") && !strings.HasPrefix(got, base) {
			t.Errorf("%q lost the base", got)
		}
	})
}
