package patch

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hermes-go/hermes/internal/edit"
)

const (
	maxDiff = 40_000 // bytes of a diff that is shown
	maxRow  = 2_000  // bytes of one of its lines
)

// diffOf shows a change with the labels a/ and b/; an empty name is a file
// that is not there.
func diffOf(from, to, old, new string) string {
	label := func(side, name string) string {
		if name == "" {
			return "/dev/null"
		}
		return side + "/" + name
	}
	if longLines(old) || longLines(new) {
		return fmt.Sprintf("--- %s\n+++ %s\n... the lines are too long for a diff: %d bytes before, %d after\n", label("a", from), label("b", to), len(old), len(new))
	}
	return bound(edit.Diff(label("a", from), label("b", to), old, new))
}

func moved(from, to string) string { return fmt.Sprintf("rename from %s\nrename to %s\n", from, to) }

// longLines tells of a text whose lines would make a diff as long as itself.
func longLines(text string) bool {
	const large = 1 << 20
	return len(text) > large && len(text)/(strings.Count(text, "\n")+1) > large/8
}

// bound cuts long lines, and the end of a long diff.
func bound(diff string) string {
	if len(diff) <= maxRow {
		return diff
	}
	var b strings.Builder
	for row := range strings.SplitAfterSeq(diff, "\n") {
		if b.Len() > maxDiff {
			b.WriteString("... the rest of this diff is not shown\n")
			break
		}
		if len(row) > maxRow {
			cut := maxRow
			for !utf8.RuneStart(row[cut]) {
				cut--
			}
			row = row[:cut] + "...\n"
		}
		b.WriteString(row)
	}
	return b.String()
}
