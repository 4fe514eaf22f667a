package store

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// doc is the text of a message, prepared for looking things up in it.
type doc struct {
	text   string
	folded string
	at     []int32 // for each byte of folded the offset in text it comes from; nil while both are the same
	words  []span
	cut    bool // words were found already
}

// span is a word: a stretch of folded.
type span struct{ start, end int32 }

func newDoc(content, toolName, toolCalls string) *doc {
	text := toContent(content, false).String()
	if toolName != "" || toolCalls != "" {
		text += " " + toolName + " " + toolCalls
	}
	return &doc{text: text}
}

// fold makes text comparable as the word index does: small letters, and Latin
// ones without their marks.
func fold(s string) string {
	f, _ := foldWith(s, false)
	return f
}

func foldWith(s string, offsets bool) (string, []int32) {
	same := true
	for i := 0; i < len(s) && same; i++ {
		same = s[i] < utf8.RuneSelf && (s[i] < 'A' || s[i] > 'Z')
	}
	if same {
		return s, nil
	}
	var b strings.Builder
	b.Grow(len(s))
	var at []int32
	if offsets {
		at = make([]int32, 0, len(s)+1)
	}
	for i, r := range s {
		f := foldRune(r)
		if f < 0 {
			continue
		}
		n := b.Len()
		b.WriteRune(f)
		if offsets {
			for ; n < b.Len(); n++ {
				at = append(at, int32(i))
			}
		}
	}
	return b.String(), at
}

// bare holds the small letter without marks for each of U+00C0 to U+017F, and
// the letter itself where it is one of its own.
const bare = "aaaaaaæceeeeiiiiðnooooo×øuuuuyþßaaaaaaæceeeeiiiiðnooooo÷øuuuuyþy" +
	"aaaaaaccccccccddđđeeeeeeeeeegggggggghhħħiiiiiiiiiıĳĳjjkkĸllllllŀŀłłnnnnnnŉŋŋooooooœœrrrrrrssssssssttttŧŧuuuuuuuuuuuuwwyyyzzzzzzſ"

var bareRunes = sync.OnceValue(func() []rune { return []rune(bare) })

func foldRune(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	case 0xC0 <= r && r < 0x180:
		return bareRunes()[r-0xC0]
	case 0x300 <= r && r <= 0x36F:
		return -1 // a mark written by itself
	}
	return unicode.ToLower(r)
}

// wordRune reports whether r belongs to a word.
func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.Co)
}

// unspaced reports whether r is of a script that writes words without spaces
// between them, or glues endings to them.
func unspaced(r rune) bool {
	return r > 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}

// splitWords returns the folded words of s. Where a script with spaces meets
// one without, a word ends: `使用postgres备份` holds the word postgres.
func splitWords(s string) []string {
	f := fold(s)
	var out []string
	for _, w := range cutWords(f) {
		out = append(out, f[w.start:w.end])
	}
	return out
}

func cutWords(folded string) []span {
	var out []span
	start, dense := -1, false
	for i, r := range folded {
		if !wordRune(r) {
			if start >= 0 {
				out = append(out, span{int32(start), int32(i)})
				start = -1
			}
			continue
		}
		u := unspaced(r)
		if start >= 0 && u != dense {
			out = append(out, span{int32(start), int32(i)})
			start = -1
		}
		if start < 0 {
			start, dense = i, u
		}
	}
	if start >= 0 {
		out = append(out, span{int32(start), int32(len(folded))})
	}
	return out
}

func (d *doc) prepare() {
	if d.cut {
		return
	}
	d.folded, d.at = foldWith(d.text, true)
	d.words = cutWords(d.folded)
	d.cut = true
}

// source returns the stretch of text that a stretch of folded stands for.
func (d *doc) source(s span) (int, int) {
	if d.at == nil {
		return int(s.start), int(s.end)
	}
	end := len(d.text)
	if int(s.end) < len(d.at) {
		end = int(d.at[s.end])
	}
	return int(d.at[s.start]), end
}

// find yields where t stands in d, as stretches of folded, from the left.
func (d *doc) find(t term, yield func(span) bool) {
	d.prepare()
	if t.substr {
		for i := 0; i < len(d.folded); {
			n := strings.Index(d.folded[i:], t.text)
			if n < 0 || !yield(span{int32(i + n), int32(i + n + len(t.text))}) {
				return
			}
			i += n + len(t.text)
		}
		return
	}
	for i := 0; i+len(t.words) <= len(d.words); i++ {
		if d.wordsAt(t, i) && !yield(span{d.words[i].start, d.words[i+len(t.words)-1].end}) {
			return
		}
	}
}

func (d *doc) wordsAt(t term, i int) bool {
	for k, want := range t.words {
		w := d.words[i+k]
		got := d.folded[w.start:w.end]
		if got == want || t.prefix && k == len(t.words)-1 && strings.HasPrefix(got, want) {
			continue
		}
		return false
	}
	return true
}

func (d *doc) has(t term) bool {
	found := false
	d.find(t, func(span) bool { found = true; return false })
	return found
}

func (d *doc) matches(e expr) bool {
	for _, g := range e {
		if d.matchesGroup(g) {
			return true
		}
	}
	return false
}

func (d *doc) matchesGroup(g group) bool {
	for _, t := range g.must {
		if !d.has(t) {
			return false
		}
	}
	for _, t := range g.not {
		if d.has(t) {
			return false
		}
	}
	return true
}
