package store

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// expr is a parsed query: one of the groups must match.
type expr []group

// group is a conjunction.
type group struct {
	must, not []term
}

// term is one thing to look for.
type term struct {
	phrase string   // as it was written, for the word index to cut into words by its own rules
	words  []string // the same cut by ours, folded
	prefix bool     // the last word may go on
	substr bool     // of a script without spaces: found inside longer stretches, too
	text   string   // if substr: folded, what must stand in the text
}

// HasWords reports whether text, as a query, holds anything to look for.
func HasWords(text string) bool { return len(parse(text)) > 0 }

// maxQuery bounds the work for a query; people and models ask in words.
const maxQuery = 2048

// parse reads a query. It accepts every text: operators without operands are
// left out, and what is neither a word nor an operator parts words.
func parse(text string) expr {
	if len(text) > maxQuery {
		text = text[:maxQuery]
	}
	text = strings.ToValidUTF8(text, " ")
	var out expr
	var g group
	negate := false
	flush := func() {
		if len(g.must) > 0 { // nothing can be found by what it is not
			out = append(out, g)
		}
		g, negate = group{}, false
	}
	for tok := range tokens(text) {
		if !tok.quoted {
			switch tok.text {
			case "OR":
				flush()
				continue
			case "AND":
				continue
			case "NOT":
				negate = len(g.must) > 0
				continue
			}
		}
		t, ok := newTerm(tok)
		if !ok {
			continue
		}
		if negate {
			g.not = append(g.not, t)
		} else {
			g.must = append(g.must, t)
		}
		negate = false
	}
	flush()
	return out
}

// token is a piece of a query between spaces, or a quoted phrase.
type token struct {
	text   string
	quoted bool
	star   bool // followed by *
}

func tokens(s string) func(yield func(token) bool) {
	return func(yield func(token) bool) {
		for {
			s = strings.TrimLeftFunc(s, unicode.IsSpace)
			if s == "" {
				return
			}
			if s[0] == '"' {
				if end := strings.IndexByte(s[1:], '"'); end >= 0 {
					t := token{text: s[1 : end+1], quoted: true}
					s = s[end+2:]
					if strings.HasPrefix(s, "*") {
						t.star = true
						s = s[1:]
					}
					if !yield(t) {
						return
					}
					continue
				}
				s = s[1:] // a quote that nothing closes
				continue
			}
			end := strings.IndexFunc(s, func(r rune) bool { return r == '"' || unicode.IsSpace(r) })
			if end < 0 {
				end = len(s)
			}
			t := token{text: s[:end]}
			s = s[end:]
			if strings.HasSuffix(t.text, "*") {
				t.star = true
				t.text = strings.TrimRight(t.text, "*")
			}
			if !yield(t) {
				return
			}
		}
	}
}

func newTerm(tok token) (term, bool) {
	t := term{phrase: strings.ReplaceAll(tok.text, "\x00", " "), words: splitWords(tok.text), prefix: tok.star}
	if len(t.words) == 0 {
		return term{}, false
	}
	if strings.IndexFunc(tok.text, unspaced) >= 0 {
		t.substr = true
		t.text = strings.Join(strings.Fields(fold(strings.TrimFunc(t.phrase, func(r rune) bool { return !wordRune(r) }))), " ")
	}
	return t, true
}

// quote makes a phrase of FTS5's query language of any text.
func quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// onWords is the query for the word index, "" if it takes another one. What a
// substring term excludes is left to be judged on the text.
func (g group) onWords() string {
	must := make([]string, len(g.must))
	for i, t := range g.must {
		if t.substr {
			return ""
		}
		must[i] = t.onWords()
	}
	q := "(" + strings.Join(must, " AND ") + ")"
	var not []string
	for _, t := range g.not {
		if !t.substr {
			not = append(not, t.onWords())
		}
	}
	if len(not) > 0 {
		q = "(" + q + " NOT (" + strings.Join(not, " OR ") + "))"
	}
	return q
}

func (t term) onWords() string {
	if t.prefix {
		return quote(t.phrase) + " *"
	}
	return quote(t.phrase)
}

// pieces are texts of three characters or more that stand in every text t is
// found in; the trigram index knows those. short are those below three.
func (t term) pieces() (long, short []string) {
	all := t.words
	if t.substr {
		all = []string{t.text}
	}
	for _, w := range all {
		if utf8.RuneCountInString(w) >= 3 {
			long = append(long, w)
		} else {
			short = append(short, w)
		}
	}
	return long, short
}
