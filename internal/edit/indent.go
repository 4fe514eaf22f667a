package edit

import (
	"math"
	"sort"
	"strings"
)

// indents knows, from the lines that were matched, which indentation of the
// file stands for which of the model's.
type indents struct {
	m, o   []string         // indentation by line
	at     map[string][]int // indentation in o to its lines, rising
	ratio  float64          // characters in the file for one in o
	fill   string           // what the file indents with
	same   bool             // both sides agree: nothing to translate
	lowest string           // the shortest indentation in o
}

const maxIndent = 512

func newIndents(m, o []string, midLine bool) *indents {
	d := &indents{same: true, at: map[string][]int{}}
	d.m, d.o = make([]string, len(o)), make([]string, len(o))
	first := true
	for i := range min(len(m), len(o)) {
		if i == 0 && midLine || isBlank(o[i]) || isBlank(m[i]) {
			continue
		}
		d.m[i], d.o[i] = indentOf(m[i]), indentOf(o[i])
		d.same = d.same && d.m[i] == d.o[i]
		d.at[d.o[i]] = append(d.at[d.o[i]], i)
		if first || len(d.o[i]) < len(d.lowest) {
			d.lowest = d.o[i]
		}
		first = false
	}
	d.same = d.same || first
	if !d.same {
		d.measure()
	}
	return d
}

// measure works out the ratio and the filling from the pairs of indentations.
func (d *indents) measure() {
	var tabsM, spacesM, tabsO bool
	lo, hi := -1, -1
	for o, at := range d.at {
		m := d.m[at[0]]
		tabsM = tabsM || strings.Contains(m, "\t")
		spacesM = spacesM || strings.Contains(m, " ")
		tabsO = tabsO || strings.Contains(o, "\t")
		if o == "" && m != "" {
			continue // text given without any indentation measures nothing
		}
		if lo < 0 || len(o) < len(d.o[lo]) {
			lo = at[0]
		}
		if hi < 0 || len(o) > len(d.o[hi]) {
			hi = at[0]
		}
	}
	if tabsM {
		d.fill = "\t"
	} else if spacesM {
		d.fill = " "
	}
	d.ratio = 1
	if hi >= 0 {
		dm, do := len(d.m[hi])-len(d.m[lo]), len(d.o[hi])-len(d.o[lo])
		switch {
		case dm > 0 && do > 0:
			d.ratio = float64(dm) / float64(do)
		case tabsM != tabsO && d.o[hi] != "" && d.m[hi] != "":
			d.ratio = float64(len(d.m[hi])) / float64(len(d.o[hi]))
		}
	}
}

// apply gives a new line the file's indentation; near is the old line beside
// which it stands.
func (d *indents) apply(line string, near int) string {
	if d.same || isBlank(line) {
		return line
	}
	x := indentOf(line)
	if len(x) > maxIndent {
		return line
	}
	body := line[len(x):]
	for n := len(x); n >= 0; n-- {
		if at := d.at[x[:n]]; at != nil {
			return d.m[nearest(at, near)] + d.convert(x[n:]) + body
		}
	}
	// Shallower than anything matched, or in other characters.
	base := d.m[d.at[d.lowest][0]]
	if diff := len(x) - len(d.lowest); diff > 0 {
		return base + d.convert(x[:diff]) + body
	} else if drop := int(math.Round(float64(-diff) * d.ratio)); drop < len(base) {
		return base[:len(base)-drop] + body
	}
	return body
}

func (d *indents) convert(rest string) string {
	fill := d.fill
	if rest == "" || fill == "" {
		return rest
	}
	ratio := d.ratio
	switch {
	case fill == "\t" && rest[0] == '\t':
		ratio = 1
	case fill == " " && rest[0] == '\t' && ratio == 1:
		ratio = 4
	case fill == "\t" && rest[0] == ' ' && ratio >= 1:
		ratio = 0.25
	}
	n := max(1, int(math.Round(float64(len(rest))*ratio)))
	return strings.Repeat(fill, min(n, 8*maxIndent))
}

// nearest picks the line of a rising list that is closest to i.
func nearest(at []int, i int) int {
	j := sort.SearchInts(at, i)
	switch {
	case j == len(at):
		return at[j-1]
	case j > 0 && i-at[j-1] <= at[j]-i:
		return at[j-1]
	}
	return at[j]
}
