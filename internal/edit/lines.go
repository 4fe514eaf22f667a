package edit

import "hash/maphash"

// lines is a text as lines, with one hash of each for every way of comparing
// them, made when first asked for. Finding a block of lines is then linear in
// the text whatever the block looks like.
type lines struct {
	text []string
	seed maphash.Seed
	keys [keyKinds][]uint64
}

func newLines(text []string) *lines {
	return &lines{text: text, seed: maphash.MakeSeed()}
}

func (l *lines) hash(line string, kind keyKind) uint64 {
	return maphash.String(l.seed, keyOf(line, kind))
}

func (l *lines) hashes(kind keyKind) []uint64 {
	if l.keys[kind] == nil {
		l.keys[kind] = l.pattern(l.text, kind)
	}
	return l.keys[kind]
}

func (l *lines) pattern(text []string, kind keyKind) []uint64 {
	out := make([]uint64, len(text))
	for i, s := range text {
		out[i] = l.hash(s, kind)
	}
	return out
}

// find returns where a block begins, places that overlap an earlier one left
// out, at most limit of them if limit is not 0.
func (l *lines) find(block []string, kind keyKind, limit int) []int {
	if len(block) == 0 || len(block) > len(l.text) {
		return nil
	}
	text, pat := l.hashes(kind), l.pattern(block, kind)
	// Knuth, Morris, Pratt: no restart, so many equal lines cost nothing.
	back := make([]int, len(pat))
	for i, k := 1, 0; i < len(pat); i++ {
		for k > 0 && pat[i] != pat[k] {
			k = back[k-1]
		}
		if pat[i] == pat[k] {
			k++
		}
		back[i] = k
	}
	var out []int
	for i, k := 0, 0; i < len(text); i++ {
		for k > 0 && text[i] != pat[k] {
			k = back[k-1]
		}
		if text[i] == pat[k] {
			k++
		}
		if k == len(pat) {
			out = append(out, i-k+1)
			if len(out) == limit {
				break
			}
			k = 0
		}
	}
	return out
}

// splice replaces n lines from i.
func (l *lines) splice(i, n int, with []string) {
	l.text = replaceRange(l.text, i, n, with)
	for kind := range l.keys {
		if l.keys[kind] != nil {
			l.keys[kind] = replaceRange(l.keys[kind], i, n, l.pattern(with, keyKind(kind)))
		}
	}
}

func replaceRange[T any](s []T, i, n int, with []T) []T {
	if len(with) == n {
		copy(s[i:], with)
		return s
	}
	tail := s[i+n:]
	if grow := len(with) - n; grow > 0 {
		s = append(s, with[:grow]...) // room; overwritten below
		copy(s[i+len(with):], tail)
		copy(s[i:], with)
		return s
	}
	copy(s[i:], with)
	m := copy(s[i+len(with):], tail)
	return s[:i+len(with)+m]
}
