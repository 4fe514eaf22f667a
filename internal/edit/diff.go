package edit

import "sort"

// opKind is what happens to a line (or a token).
type opKind byte

const (
	opKeep opKind = iota
	opDrop
	opAdd
)

// op speaks of line a of the old side (keep, drop) or b of the new (keep, add).
type op struct {
	kind opKind
	a, b int
}

// maxEdits bounds the shortest-path search; what needs more edits is first cut
// at lines that occur once on both sides, and what is left is replaced whole.
const maxEdits = 200

// lineOps compares two lists of lines. The result is always right; it is
// shortest for small differences and merely good for large ones.
func lineOps(a, b []string) []op {
	ids := make(map[string]int, len(a))
	number := func(l []string) []int {
		out := make([]int, len(l))
		for i, s := range l {
			id, ok := ids[s]
			if !ok {
				id = len(ids)
				ids[s] = id
			}
			out[i] = id
		}
		return out
	}
	d := differ{a: number(a), b: number(b)}
	d.compare(0, len(a), 0, len(b), true)
	return d.out
}

type differ struct {
	a, b []int
	out  []op
}

// compare appends the ops for a[al:ah] against b[bl:bh].
func (d *differ) compare(al, ah, bl, bh int, split bool) {
	for al < ah && bl < bh && d.a[al] == d.b[bl] {
		d.out = append(d.out, op{opKeep, al, bl})
		al, bl = al+1, bl+1
	}
	tail := 0
	for al < ah && bl < bh && d.a[ah-1] == d.b[bh-1] {
		ah, bh, tail = ah-1, bh-1, tail+1
	}
	switch {
	case al == ah || bl == bh:
		d.replace(al, ah, bl, bh)
	case d.shortest(al, ah, bl, bh):
	case split:
		d.anchored(al, ah, bl, bh)
	default:
		d.replace(al, ah, bl, bh)
	}
	for i := range tail {
		d.out = append(d.out, op{opKeep, ah + i, bh + i})
	}
}

func (d *differ) replace(al, ah, bl, bh int) {
	for i := al; i < ah; i++ {
		d.out = append(d.out, op{opDrop, i, bl})
	}
	for j := bl; j < bh; j++ {
		d.out = append(d.out, op{opAdd, ah, j})
	}
}

// shortest is the greedy search for the shortest edit script; false when it
// is longer than maxEdits.
func (d *differ) shortest(al, ah, bl, bh int) bool {
	n, m := ah-al, bh-bl
	limit := min(n+m, maxEdits)
	off := limit + 1
	v := make([]int, 2*limit+3)
	var trace [][]int // the part of v that round e could reach, before it ran
	for e := 0; e <= limit; e++ {
		trace = append(trace, append([]int(nil), v[off-e-1:off+e+2]...))
		for k := -e; k <= e; k += 2 {
			x := v[off+k-1] + 1
			if k == -e || k != e && v[off+k-1] < v[off+k+1] {
				x = v[off+k+1]
			}
			y := x - k
			for x < n && y < m && d.a[al+x] == d.b[bl+y] {
				x, y = x+1, y+1
			}
			v[off+k] = x
			if x >= n && y >= m {
				d.walk(trace, al, bl, n, m)
				return true
			}
		}
	}
	return false
}

// walk goes back along the trace and appends the ops in order.
func (d *differ) walk(trace [][]int, al, bl, x, y int) {
	from := len(d.out)
	for e := len(trace) - 1; e >= 0; e-- {
		v := trace[e] // v[k+e+1] is the furthest x on diagonal k before round e
		at := func(k int) int { return v[k+e+1] }
		k := x - y
		prev := k - 1
		if k == -e || k != e && at(k-1) < at(k+1) {
			prev = k + 1
		}
		px := at(prev)
		py := px - prev
		if e == 0 {
			px, py = 0, 0
		}
		for x > px && y > py {
			x, y = x-1, y-1
			d.out = append(d.out, op{opKeep, al + x, bl + y})
		}
		if e == 0 {
			break
		}
		if x == px {
			y--
			d.out = append(d.out, op{opAdd, al + x, bl + y})
		} else {
			x--
			d.out = append(d.out, op{opDrop, al + x, bl + y})
		}
	}
	part := d.out[from:]
	for i, j := 0, len(part)-1; i < j; i, j = i+1, j-1 {
		part[i], part[j] = part[j], part[i]
	}
}

// anchored cuts at the lines that occur exactly once on both sides and stand
// in the same order, and compares what lies between.
func (d *differ) anchored(al, ah, bl, bh int) {
	type seen struct{ na, nb, b int }
	once := make(map[int]*seen, ah-al)
	for i := al; i < ah; i++ {
		s := once[d.a[i]]
		if s == nil {
			s = &seen{}
			once[d.a[i]] = s
		}
		s.na++
	}
	for j := bl; j < bh; j++ {
		if s := once[d.b[j]]; s != nil {
			s.nb++
			s.b = j
		}
	}
	var pairs []op
	for i := al; i < ah; i++ {
		if s := once[d.a[i]]; s.na == 1 && s.nb == 1 {
			pairs = append(pairs, op{opKeep, i, s.b})
		}
	}
	for _, p := range longestRising(pairs) {
		d.compare(al, p.a, bl, p.b, false)
		d.out = append(d.out, p)
		al, bl = p.a+1, p.b+1
	}
	d.compare(al, ah, bl, bh, false)
}

// longestRising keeps the longest run of pairs whose b rises too.
func longestRising(pairs []op) []op {
	var tops []int // index of the pair that ends the best run of each length
	before := make([]int, len(pairs))
	for i, p := range pairs {
		n := sort.Search(len(tops), func(t int) bool { return pairs[tops[t]].b >= p.b })
		before[i] = -1
		if n > 0 {
			before[i] = tops[n-1]
		}
		if n == len(tops) {
			tops = append(tops, i)
		} else {
			tops[n] = i
		}
	}
	out := make([]op, len(tops))
	if len(tops) > 0 {
		for i, n := tops[len(tops)-1], len(tops)-1; n >= 0; i, n = before[i], n-1 {
			out[n] = pairs[i]
		}
	}
	return out
}
