package searchfiles

import (
	"regexp"
	"strings"
	"testing"
)

// slow is what find means: the first line that the expression matches.
func slow(re *regexp.Regexp, text string) int {
	at := 0
	for line := range strings.SplitSeq(text, "\n") {
		if at == len(text) && at > 0 {
			break // after the last line feed there is no line
		}
		if text != "" && re.MatchString(line) {
			return at
		}
		at += len(line) + 1
	}
	return -1
}

var texts = []string{
	"", "\n", "\n\n", "a", "a\n", "foo\nbar\nfoobar\n", "fooobar\nx", "日本\nfoo\n", "x日foo\n", "foo日本\n", "  func main() {\n}\n",
	"a b\tc_d 1-2\n", "foo\n\nbar", "xx\xffyy\nfoo\n", "TODO: x\ntodo: y\n", "aaaaaaaaaaaaaaaaaab\n", "foo bar\nbar foo\n", "_\n-\n",
}

var expressions = []string{
	"foo", "^foo", "foo$", "^foo$", "^$", "fo+", "fo*b", "f.o", "f.*r", "[a-f]oo", "[^a]oo", `\bfoo\b`, `\Bfoo`, `foo\B`, `\bbar`, "foo|bar", "(?i)todo",
	`func \w+\(`, `\d-\d`, `\s`, `\S`, "日", "[日本]", ".", "a{3,5}b", "(a|b)+c", `\Afoo`, `foo\z`, "x?", "foo bar|bar", "(?i:FOO)bar", "[[:alpha:]]+_", `\x66oo`, "", "^", "$",
	`a\b`, `\b`, `(^|[^a-z])foo($|[^a-z])`, `[^\n]x`,
}

func TestAutomaton(t *testing.T) {
	t.Parallel()
	for _, expr := range expressions {
		if expr == "" {
			continue
		}
		for _, text := range texts {
			check(t, expr, text)
		}
	}
}

func check(t *testing.T, expr, text string) {
	t.Helper()
	p, err := newPattern(expr)
	if err != nil {
		return
	}
	a, err := newAutomaton(p)
	if err != nil {
		t.Fatal(err)
	}
	s := &scanner{p: p, auto: a}
	want := slow(p.re, text)
	if got, _ := a.find([]byte(text), 0); got != want {
		t.Errorf("%q in %q: the automaton says %d, Go %d", expr, text, got, want)
	}
	if text == "" {
		return
	}
	if p.literal != "" {
		s.auto = nil
	}
	if got, _ := s.next([]byte(text), 0); got != want {
		t.Errorf("%q in %q: the search says %d, Go %d (literal %q, must %q)", expr, text, got, want, p.literal, p.must)
	}
}

func FuzzAutomaton(f *testing.F) {
	for i, e := range expressions {
		f.Add(e, texts[i%len(texts)])
	}
	f.Fuzz(func(t *testing.T, expr, text string) {
		if len(expr) > 60 || len(text) > 2000 {
			return
		}
		check(t, expr, text)
	})
}

func FuzzRules(f *testing.F) {
	f.Add("*.o\n!keep.o\n/build/\na/**/b\n# c\n\\#x\n[", "a/x/b", true)
	f.Fuzz(func(t *testing.T, file, name string, dir bool) {
		name = strings.Trim(name, "/")
		if name == "" {
			return
		}
		r := parseRules([]byte(file))
		l := &level{files: [3]*rules{nil, nil, r}}
		if v := r.judge(name, dir); (v == ignored) != l.ignores(name, dir) {
			t.Errorf("%q about %q: %v", file, name, v)
		}
	})
}

func TestRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rules, name string
		dir, want   bool
	}{
		{"*.o", "a.o", false, true},
		{"*.o", "d/a.o", false, true},
		{"*.o\n!keep.o", "keep.o", false, false},
		{"!keep.o\n*.o", "keep.o", false, true},
		{"/build", "build", true, true},
		{"/build", "d/build", true, false},
		{"build/", "build", false, false},
		{"build/", "d/build", true, true},
		{"a/b", "a/b", false, true},
		{"a/b", "x/a/b", false, false},
		{"**/b", "x/y/b", false, true},
		{"a/**/b", "a/x/y/b", false, true},
		{"a/**", "a", true, false},
		{"a/**", "a/b", false, true},
		{"# x", "# x", false, false},
		{`\#x`, "#x", false, true},
		{`\!x`, "!x", false, true},
		{"x  ", "x", false, true},
		{`x\ `, "x ", false, true},
		{"x\r\n", "x", false, true},
		{"[", "[", false, false},
		{"*.tar.gz", "x.tar.gz", false, true},
		{"?.txt", "a.txt", false, true},
		{"d*", "d/e", false, false},
		{"[ab].c", "b.c", false, true},
	} {
		l := &level{files: [3]*rules{nil, nil, parseRules([]byte(c.rules))}}
		if got := l.ignores(c.name, c.dir); got != c.want {
			t.Errorf("%q about %q: %v", c.rules, c.name, got)
		}
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	sorted := []string{"a", "a/b", "a/b/c", "a/bb", "a b", "a.txt", "ab", "b"}
	for i := range sorted {
		for j := range sorted {
			got := before(sorted[i], sorted[j])
			if (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("%q and %q: %d", sorted[i], sorted[j], got)
			}
		}
	}
}
