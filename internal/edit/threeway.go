package edit

import (
	"slices"
	"strings"
)

// Merge brings together what two sides did to a text. ok is false when both
// changed the same lines in different ways; nothing is merged then. Line ends
// are those of ours.
func Merge(base, ours, theirs string) (merged string, ok bool) {
	if strings.Contains(ours, "\r\n") && !strings.Contains(base+theirs, "\r\n") {
		base, theirs = strings.ReplaceAll(base, "\n", "\r\n"), strings.ReplaceAll(theirs, "\n", "\r\n")
	}
	split := func(s string) []string { return slices.Collect(strings.Lines(s)) }
	o, a, b := split(base), split(ours), split(theirs)
	inA, inB := kept(o, a), kept(o, b)
	var out strings.Builder
	at, atA, atB := 0, 0, 0
	for i := 0; i <= len(o); i++ {
		nextA, nextB := len(a), len(b)
		if i < len(o) {
			if nextA, nextB = inA[i], inB[i]; nextA < 0 || nextB < 0 {
				continue // one side changed this line: it belongs to the piece that is open
			}
		}
		was, we, they := o[at:i], a[atA:nextA], b[atB:nextB]
		switch {
		case slices.Equal(was, we):
			we = they
		case !slices.Equal(was, they) && !slices.Equal(we, they):
			return "", false
		}
		for _, line := range we {
			out.WriteString(line)
		}
		if i < len(o) {
			out.WriteString(o[i])
		}
		at, atA, atB = i+1, nextA+1, nextB+1
	}
	return out.String(), true
}

// kept says for each line of the old side where the new one has it, -1 for
// those that are gone.
func kept(old, now []string) []int {
	at := make([]int, len(old))
	for i := range at {
		at[i] = -1
	}
	for _, o := range lineOps(old, now) {
		if o.kind == opKeep {
			at[o.a] = o.b
		}
	}
	return at
}
