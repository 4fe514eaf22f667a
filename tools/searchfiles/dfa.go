package searchfiles

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"regexp/syntax"
	"slices"
)

// automaton finds matching lines at the speed of a table look-up a byte, which
// Go's own engine does not reach. States are made when first needed. It knows
// ASCII only: a line with any other byte before its match is left to the
// regular expression itself, and so is everything once there are too many
// states. It belongs to one goroutine.
type automaton struct {
	prog   *syntax.Prog
	re     *regexp.Regexp
	states map[string]int32
	sets   []stateSet
	table  []int32 // next state by state | byte, or one of the codes below; states are multiples of 256
	on     map[uint32]bool
	asks   syntax.EmptyOp // what the expression wants to know of a place
	base   int32
	leaves [256]byte
}

// stateSet is what a state stands for: instructions still to be followed, and
// what was just before.
type stateSet struct {
	pcs   []uint32
	word  bool // the last byte belongs to a word
	begin bool // at the beginning of a line
}

// Codes in the table.
const (
	toMake  int32 = -1 - iota // not known yet
	matched                   // the line matches, whatever follows
	slowly                    // the line has to be looked at in another way
)

const maxStates = 2000

func newAutomaton(p *pattern) (*automaton, error) {
	prog, err := syntax.Compile(p.tree.Simplify())
	if err != nil {
		return nil, err
	}
	a := &automaton{prog: prog, re: p.re, states: map[string]int32{}, on: map[uint32]bool{}}
	for _, in := range prog.Inst {
		if in.Op == syntax.InstEmptyWidth {
			a.asks |= syntax.EmptyOp(in.Arg)
		}
	}
	a.state(stateSet{pcs: []uint32{uint32(prog.Start)}, begin: true})
	a.findBase()
	return a, nil
}

// state is the number of a set, made at its first use; slowly when there is no
// room for it.
func (a *automaton) state(s stateSet) int32 {
	s.word = s.word && a.asks&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0
	s.begin = s.begin && a.asks&(syntax.EmptyBeginLine|syntax.EmptyBeginText) != 0
	slices.Sort(s.pcs)
	key := make([]byte, 0, 4*len(s.pcs)+1)
	for _, pc := range s.pcs {
		key = binary.LittleEndian.AppendUint32(key, pc)
	}
	flags := byte(0)
	if s.word {
		flags |= 1
	}
	if s.begin {
		flags |= 2
	}
	key = append(key, flags)
	if n, ok := a.states[string(key)]; ok {
		return n
	}
	if len(a.sets) == maxStates {
		return slowly
	}
	n := int32(len(a.sets)) << 8
	a.states[string(key)] = n
	a.sets = append(a.sets, s)
	row := make([]int32, 256)
	for c := range row {
		row[c] = toMake
		if c >= 0x80 {
			row[c] = slowly
		}
	}
	a.table = append(a.table, row...)
	return n
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// step makes the transition of a state on a byte. A line feed is the end of
// the line and leads to the first state.
func (a *automaton) step(n int32, c byte) int32 {
	s := a.sets[n>>8]
	var flags syntax.EmptyOp
	end := c == '\n'
	if s.begin {
		flags |= syntax.EmptyBeginLine | syntax.EmptyBeginText
	}
	if end {
		flags |= syntax.EmptyEndLine | syntax.EmptyEndText
	}
	if s.word != (isWord(c) && !end) {
		flags |= syntax.EmptyWordBoundary
	} else {
		flags |= syntax.EmptyNoWordBoundary
	}
	clear(a.on)
	var next []uint32
	match := false
	var follow func(pc uint32)
	follow = func(pc uint32) {
		if a.on[pc] || match {
			return
		}
		a.on[pc] = true
		switch in := &a.prog.Inst[pc]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			follow(in.Out)
			follow(in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			follow(in.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^flags == 0 {
				follow(in.Out)
			}
		case syntax.InstMatch:
			match = true
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if !end && in.MatchRune(rune(c)) && !slices.Contains(next, in.Out) {
				next = append(next, in.Out)
			}
		}
	}
	for _, pc := range s.pcs {
		follow(pc)
	}
	switch {
	case match:
		return matched
	case end:
		return 0
	}
	if !slices.Contains(next, uint32(a.prog.Start)) {
		next = append(next, uint32(a.prog.Start)) // a match may begin anywhere
	}
	return a.state(stateSet{pcs: next, word: isWord(c)})
}

// find returns the first matching line from a position on, which begins a
// line; from is -1 when there is none. Lines end with a line feed.
func (a *automaton) find(buf []byte, at int) (from, to int) {
	s := int32(0)
	for i := at; ; {
		s, i = a.run(buf, i, s)
		if i == len(buf) {
			break
		}
		next := a.table[s|int32(buf[i])]
		if next == toMake {
			next = a.step(s, buf[i])
			a.table[s|int32(buf[i])] = next
		}
		if next < 0 {
			start, end := 1+bytes.LastIndexByte(buf[:i], '\n'), lineEnd(buf, i)
			if next == matched || a.re.Match(buf[start:end]) {
				return start, end
			}
			if i, next = end, 0; i == len(buf) {
				return -1, -1
			}
		}
		s = next
		i++
	}
	// The last line may lack its line feed.
	if start := 1 + bytes.LastIndexByte(buf, '\n'); start < len(buf) && start >= at && a.re.Match(buf[start:]) {
		return start, len(buf)
	}
	return -1, -1
}

// run follows the table as far as it is known: this is where the time goes.
// Most of a text is bytes that leave the automaton where nothing has begun to
// match; eight of those are passed at once.
func (a *automaton) run(buf []byte, i int, s int32) (int32, int) {
	table, base, leaves := a.table, a.base, &a.leaves
	for i+8 <= len(buf) {
		b := buf[i : i+8 : i+8]
		if s == base && leaves[b[0]]|leaves[b[1]]|leaves[b[2]]|leaves[b[3]]|leaves[b[4]]|leaves[b[5]]|leaves[b[6]]|leaves[b[7]] == 0 {
			i += 8
			continue
		}
		n := table[s|int32(b[0])]
		if n < 0 {
			return s, i
		}
		if s = table[n|int32(b[1])]; s < 0 {
			return n, i + 1
		}
		if n = table[s|int32(b[2])]; n < 0 {
			return s, i + 2
		}
		if s = table[n|int32(b[3])]; s < 0 {
			return n, i + 3
		}
		i += 4
	}
	for i < len(buf) {
		n := table[s|int32(buf[i])]
		if n < 0 {
			return s, i
		}
		s = n
		i++
	}
	return s, i
}

// findBase makes the state in which nothing has begun to match, and learns
// which bytes lead out of it.
func (a *automaton) findBase() {
	a.base = a.step(0, 1)
	for c := range a.leaves {
		a.leaves[c] = 1
		if a.base >= 0 && c < 0x80 {
			next := a.step(a.base, byte(c))
			a.table[a.base|int32(c)] = next
			if next == a.base {
				a.leaves[c] = 0
			}
		}
	}
}

func lineEnd(buf []byte, at int) int {
	if n := bytes.IndexByte(buf[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(buf)
}
