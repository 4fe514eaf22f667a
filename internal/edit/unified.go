package edit

import (
	"fmt"
	"strings"
)

const (
	diffContext = 3
	maxDiffRows = 5000 // of output; what is cut is said
)

// Diff shows what changed as a unified diff, with from and to as the names in
// its head; empty when nothing did. The common beginning and end are skipped
// without being cut into lines, so that a small change to a large file costs
// little, and the output is bounded.
func Diff(from, to, old, new string) string {
	if old == new {
		return ""
	}
	head := commonHead(old, new)
	tail := commonTail(old[head:], new[head:])
	first := strings.Count(old[:head], "\n")
	a, b := cutLines(old[head:len(old)-tail]), cutLines(new[head:len(new)-tail])
	w := diffWriter{a: a, b: b, first: first}
	w.before = lastLines(old[:head], diffContext)
	w.after = firstLines(old[len(old)-tail:], diffContext)
	w.out = &strings.Builder{}
	fmt.Fprintf(w.out, "--- %s\n+++ %s\n", from, to)
	w.write(lineOps(a, b))
	return w.out.String()
}

// commonHead is the length of the common beginning in whole lines.
func commonHead(a, b string) int {
	n := commonPrefix(a, b)
	if n == len(a) && n == len(b) {
		return n
	}
	return 1 + strings.LastIndexByte(a[:n], '\n')
}

// commonPrefix goes in blocks first: comparing strings is many times as fast
// as comparing bytes one by one.
func commonPrefix(a, b string) int {
	const block = 4096
	n := 0
	for n+block <= min(len(a), len(b)) && a[n:n+block] == b[n:n+block] {
		n += block
	}
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// commonTail is the length of the common end in whole lines.
func commonTail(a, b string) int {
	const block = 4096
	n, limit := 0, min(len(a), len(b))
	for n+block <= limit && a[len(a)-n-block:len(a)-n] == b[len(b)-n-block:len(b)-n] {
		n += block
	}
	for n < limit && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	// Both rests must end with a line: what follows them begins one.
	for n > 0 {
		if endsLine(a[:len(a)-n]) && endsLine(b[:len(b)-n]) {
			return n
		}
		i := strings.IndexByte(a[len(a)-n:], '\n')
		if i < 0 {
			return 0
		}
		n -= i + 1
	}
	return 0
}

func endsLine(s string) bool { return s == "" || s[len(s)-1] == '\n' }

// cutLines keeps each line's newline, so that a missing last one is a difference.
func cutLines(s string) []string {
	if s == "" {
		return nil
	}
	out := strings.SplitAfter(s, "\n")
	if out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

func lastLines(s string, n int) []string {
	at := len(s)
	for ; n > 0 && at > 0; n-- {
		at = 1 + strings.LastIndexByte(s[:at-1], '\n')
	}
	return cutLines(s[at:])
}

func firstLines(s string, n int) []string {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		i := strings.IndexByte(s[at:], '\n')
		if i < 0 {
			at = len(s)
			break
		}
		at += i + 1
	}
	return cutLines(s[:at])
}

type diffWriter struct {
	a, b          []string
	before, after []string // context from the parts that were skipped
	first         int      // lines before a
	out           *strings.Builder
	rows, cut     int
}

// write groups the ops into hunks that are more than twice the context apart.
func (w *diffWriter) write(ops []op) {
	for i := 0; i < len(ops); {
		if ops[i].kind == opKeep {
			i++
			continue
		}
		start := max(0, i-diffContext)
		end, quiet := i, 0
		for j := i; j < len(ops) && quiet <= 2*diffContext; j++ {
			if ops[j].kind == opKeep {
				quiet++
			} else {
				quiet, end = 0, j+1
			}
		}
		stop := min(len(ops), end+diffContext)
		var before, after []string
		if lack := diffContext - (i - start); lack > 0 && start == 0 {
			before = w.before[max(0, len(w.before)-lack):]
		}
		if lack := diffContext - (stop - end); lack > 0 && stop == len(ops) {
			after = w.after[:min(lack, len(w.after))]
		}
		w.hunk(ops[start:stop], before, after)
		i = stop
	}
	if w.cut > 0 {
		fmt.Fprintf(w.out, "... %d more lines of this diff are not shown\n", w.cut)
	}
}

func (w *diffWriter) hunk(ops []op, before, after []string) {
	context := len(before) + len(after)
	na, nb := context, context
	for _, o := range ops {
		if o.kind != opAdd {
			na++
		}
		if o.kind != opDrop {
			nb++
		}
	}
	at := func(i, n int) string {
		line := w.first + i - len(before) + 1
		switch n {
		case 0:
			return fmt.Sprintf("%d,0", line-1)
		case 1:
			return fmt.Sprint(line)
		}
		return fmt.Sprintf("%d,%d", line, n)
	}
	w.row(fmt.Sprintf("@@ -%s +%s @@\n", at(ops[0].a, na), at(ops[0].b, nb)))
	for _, l := range before {
		w.row(" " + l)
	}
	for _, o := range ops {
		switch o.kind {
		case opKeep:
			w.row(" " + w.a[o.a])
		case opDrop:
			w.row("-" + w.a[o.a])
		case opAdd:
			w.row("+" + w.b[o.b])
		}
	}
	for _, l := range after {
		w.row(" " + l)
	}
}

func (w *diffWriter) row(s string) {
	if w.rows++; w.rows > maxDiffRows {
		w.cut++
		return
	}
	w.out.WriteString(s)
	if !endsLine(s) {
		w.out.WriteString("\n\\ No newline at end of file\n")
	}
}
