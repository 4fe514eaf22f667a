package searchfiles

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// pattern is a regular expression in every form in which it is needed. Go's
// syntax is what counts; ripgrep gets the parsed expression, written so that
// both agree on what it means.
type pattern struct {
	re      *regexp.Regexp
	tree    *syntax.Regexp
	literal string // all of the expression, when it is plain text
	must    string // text that every match holds, or ""
	rust    string // for ripgrep
}

func newPattern(text string) (*pattern, error) {
	if text == "" {
		return nil, fmt.Errorf("pattern is empty: give a regular expression, or use target=files with * to list files")
	}
	// Without OneLine, ^ and $ are the ends of a line.
	tree, err := syntax.Parse(text, syntax.Perl&^syntax.OneLine)
	if err != nil {
		return nil, explain(text, err)
	}
	if spansLines(tree) {
		return nil, fmt.Errorf("pattern %q holds a line break: a match lies within one line, so search for one of the lines", text)
	}
	lineEnds(tree)
	p := &pattern{tree: tree}
	if p.re, err = regexp.Compile(tree.String()); err != nil {
		return nil, explain(text, err)
	}
	simple := tree.Simplify()
	p.must = required(simple)
	if s, ok := plain(simple); ok {
		p.literal = s
	}
	p.rust = rustForm(text, syntax.Perl&^syntax.OneLine)
	return p, nil
}

// anchor is text by which files and lines that cannot match are passed over.
func (p *pattern) anchor() string {
	if p.literal != "" {
		return p.literal
	}
	return p.must
}

func explain(text string, err error) error {
	hint := "write a backslash before ( ) [ ] { } . * + ? | when they are meant as they are"
	switch {
	case strings.Contains(text, "(?=") || strings.Contains(text, "(?!") || strings.Contains(text, "(?<=") || strings.Contains(text, "(?<!"):
		hint = "look-around is not known here: search for the text without it and look at the results"
	case strings.Contains(err.Error(), "invalid escape sequence"):
		hint = "back-references and some escapes are not known here: write the character itself, or \\x{...}"
	}
	return fmt.Errorf("bad pattern %q: %v; %s", text, strings.TrimPrefix(err.Error(), "error parsing regexp: "), hint)
}

// spansLines finds a line break that is asked for by name.
func spansLines(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral && strings.ContainsRune(string(re.Rune), '\n') ||
		re.Op == syntax.OpCharClass && len(re.Rune) == 2 && re.Rune[0] == '\n' && re.Rune[1] == '\n' {
		return true
	}
	for _, sub := range re.Sub {
		if spansLines(sub) {
			return true
		}
	}
	return false
}

// lineEnds makes the ends of the text those of a line: lines are all there is.
func lineEnds(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpBeginText:
		re.Op = syntax.OpBeginLine
	case syntax.OpEndText:
		re.Op = syntax.OpEndLine
	}
	for _, sub := range re.Sub {
		lineEnds(sub)
	}
}

// plain is the text that an expression stands for, when it is nothing else.
func plain(re *syntax.Regexp) (string, bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune), re.Flags&syntax.FoldCase == 0
	case syntax.OpCapture:
		return plain(re.Sub[0])
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range re.Sub {
			s, ok := plain(sub)
			if !ok {
				return "", false
			}
			b.WriteString(s)
		}
		return b.String(), true
	}
	return "", false
}

// required is the longest text that stands in every match.
func required(re *syntax.Regexp) string {
	if s, ok := plain(re); ok {
		return s
	}
	best := ""
	switch re.Op {
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpConcat:
		run := ""
		for _, sub := range re.Sub {
			if s, ok := plain(sub); ok {
				run += s
				if len(run) > len(best) {
					best = run
				}
				continue
			}
			run = ""
			if s := required(sub); len(s) > len(best) {
				best = s
			}
		}
	}
	return best
}

// mark stands for a word boundary while an expression is written out.
const (
	markWord   = '\U000F0001'
	markNoWord = '\U000F0002'
)

// rustForm writes an expression for ripgrep, whose \b would otherwise know
// other letters than ours. "" when it cannot be written.
func rustForm(text string, flags syntax.Flags) string {
	if strings.ContainsRune(text, markWord) || strings.ContainsRune(text, markNoWord) {
		return ""
	}
	tree, err := syntax.Parse(text, flags)
	if err != nil {
		return ""
	}
	lineEnds(tree)
	markWords(tree)
	s := tree.String()
	s = strings.ReplaceAll(s, fmt.Sprintf(`\x{%x}`, markWord), `(?-u:\b)`)
	return strings.ReplaceAll(s, fmt.Sprintf(`\x{%x}`, markNoWord), `(?-u:\B)`)
}

func markWords(re *syntax.Regexp) {
	set := func(r rune) { *re = syntax.Regexp{Op: syntax.OpLiteral, Rune: []rune{r}} }
	switch re.Op {
	case syntax.OpWordBoundary:
		set(markWord)
	case syntax.OpNoWordBoundary:
		set(markNoWord)
	}
	for _, sub := range re.Sub {
		markWords(sub)
	}
}
