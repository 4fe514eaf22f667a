package markdown

import (
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hermes-go/hermes/internal/cells"
)

// token is a piece of running text. One with a delimiter is a run of marks of
// which some may yet turn out to be text.
type token struct {
	span
	run         byte // * _ ~: marks of emphasis; [: of a link; !: of a picture; 0: text
	length      int  // of the whole run
	left        int  // of it, not yet used
	open, close bool // what the run can do
}

// inline parses running text.
type inline struct {
	src      string
	at       int
	text     int // where text begins that is in no token yet
	tokens   []token
	brackets []int        // tokens that may begin a link
	missing  map[int]bool // lengths of runs of ` that never come again
}

// spansOf parses running text into spans.
func spansOf(src string, base style) []span {
	p := &inline{src: src, missing: map[int]bool{}}
	for p.at < len(src) {
		n := strings.IndexAny(src[p.at:], "\\`*_~[]!<&")
		if n < 0 {
			break
		}
		p.at += n
		p.mark()
	}
	p.at = len(src)
	p.flush()
	p.emphasize(0)
	var out []span
	var text strings.Builder
	var last style
	end := func() {
		if text.Len() > 0 {
			out = append(out, span{text.String(), last})
			text.Reset()
		}
	}
	for _, t := range p.tokens {
		if t.style |= base; t.text != "" && t.style != last {
			end()
			last = t.style
		}
		text.WriteString(t.text)
	}
	end()
	return out
}

// flush makes a token of the text before the current place.
func (p *inline) flush() {
	if p.text < p.at {
		p.tokens = append(p.tokens, token{span: span{p.src[p.text:p.at], 0}})
	}
	p.text = p.at
}

// put replaces the next n bytes by a token.
func (p *inline) put(n int, t token) {
	p.flush()
	p.at += n
	p.text = p.at
	p.tokens = append(p.tokens, t)
}

// mark looks at the character at the current place, which may mean something.
func (p *inline) mark() {
	rest := p.src[p.at:]
	switch rest[0] {
	case '\\':
		if len(rest) > 1 && (isPunct(rest[1]) || rest[1] == '\n') {
			p.put(2, token{span: span{rest[1:2], 0}})
			return
		}
	case '&':
		if text, n := entity(rest); n > 0 {
			p.put(n, token{span: span{text, 0}})
			return
		}
	case '`':
		p.codeSpan(rest)
		return
	case '*', '_', '~':
		p.run(rest)
		return
	case '!':
		if strings.HasPrefix(rest, "![") {
			p.bracket(2, '!')
			return
		}
	case '[':
		p.bracket(1, '[')
		return
	case ']':
		p.link(rest)
		return
	case '<':
		if label, ok := autolink(rest); ok {
			p.put(len(label)+2, token{span: span{label, under}})
			return
		}
		if n := tagLength(rest); n > 0 {
			p.put(n, token{span: span{rest[:n], 0}})
			return
		}
	}
	p.at++
}

func (p *inline) codeSpan(rest string) {
	n := len(rest) - len(strings.TrimLeft(rest, "`"))
	for from := n; !p.missing[n]; {
		i := strings.IndexByte(rest[from:], '`')
		if i < 0 {
			p.missing[n] = true
			break
		}
		from += i
		m := len(rest[from:]) - len(strings.TrimLeft(rest[from:], "`"))
		if m != n {
			from += m
			continue
		}
		text := strings.ReplaceAll(rest[n:from], "\n", " ")
		if len(text) > 2 && text[0] == ' ' && text[len(text)-1] == ' ' && !blank(text) {
			text = text[1 : len(text)-1]
		}
		p.put(from+n, token{span: span{text, code}})
		return
	}
	p.at += n
}

// run takes a run of marks of emphasis.
func (p *inline) run(rest string) {
	n := len(rest) - len(strings.TrimLeft(rest, rest[:1]))
	if rest[0] == '~' && n > 2 {
		p.at += n
		return
	}
	before, _ := utf8.DecodeLastRuneInString(p.src[:p.at])
	after, _ := utf8.DecodeRuneInString(rest[n:])
	space := func(r rune) bool { return r == utf8.RuneError || unicode.IsSpace(r) } // an error: there is nothing
	punct := func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }
	left := !space(after) && (!punct(after) || space(before) || punct(before))
	right := !space(before) && (!punct(before) || space(after) || punct(after))
	t := token{span: span{rest[:n], 0}, run: rest[0], length: n, left: n, open: left, close: right}
	if rest[0] == '_' { // not within a word
		t.open = left && (!right || punct(before))
		t.close = right && (!left || punct(after))
	}
	p.put(n, t)
}

func (p *inline) bracket(n int, run byte) {
	p.put(n, token{span: span{p.src[p.at : p.at+n], 0}, run: run})
	p.brackets = append(p.brackets, len(p.tokens)-1)
}

// link ends a link or a picture, unless the bracket is text. Where it leads is
// shown, unless its text says so.
func (p *inline) link(rest string) {
	n := len(p.brackets)
	if n == 0 {
		p.at++
		return
	}
	first := p.brackets[n-1]
	p.brackets = p.brackets[:n-1]
	to, length, ok := target(rest[1:])
	if !ok {
		p.at++
		return
	}
	p.flush()
	p.emphasize(first + 1)
	open := &p.tokens[first]
	mark := under
	if open.run == '!' {
		mark, open.text = 0, "🖼 "
	} else {
		open.text = ""
		p.brackets = slices.DeleteFunc(p.brackets, func(i int) bool { return p.tokens[i].run == '[' }) // no link stands in a link
	}
	var label strings.Builder
	for i := first + 1; i < len(p.tokens); i++ {
		p.tokens[i].style |= mark
		label.WriteString(p.tokens[i].text)
	}
	shown := token{}
	if said := label.String(); said != to && "mailto:"+said != to {
		shown.span = span{" (" + to + ")", faint}
	}
	p.put(1+length, shown)
}

// emphasize pairs the runs from a token on and marks what stands between.
func (p *inline) emphasize(from int) {
	openers := map[byte][]int{}
	for c := from; c < len(p.tokens); c++ {
		closer := &p.tokens[c]
		if strings.IndexByte("*_~", closer.run) < 0 {
			continue
		}
		for closer.close && closer.left > 0 {
			o := p.opener(openers[closer.run], closer)
			if o < 0 {
				break
			}
			p.pair(o, c)
			for run, stack := range openers { // those between are text
				for len(stack) > 0 && (stack[len(stack)-1] > o || stack[len(stack)-1] == o && p.tokens[o].left == 0) {
					stack = stack[:len(stack)-1]
				}
				openers[run] = stack
			}
		}
		if closer.open && closer.left > 0 {
			openers[closer.run] = append(openers[closer.run], c)
		}
	}
	for i := from; i < len(p.tokens); i++ {
		if t := &p.tokens[i]; t.length > 0 {
			t.text, t.run, t.length = t.text[:t.left], 0, 0
		}
	}
}

// opener finds the run that a closing one belongs to; -1 when there is none.
func (p *inline) opener(stack []int, closer *token) int {
	for i := len(stack) - 1; i >= 0; i-- {
		o := &p.tokens[stack[i]]
		switch {
		case closer.run == '~':
			if o.length == closer.length {
				return stack[i]
			}
		case (o.close || closer.open) && (o.length+closer.length)%3 == 0 && (o.length%3 != 0 || closer.length%3 != 0):
		default:
			return stack[i]
		}
	}
	return -1
}

func (p *inline) pair(o, c int) {
	opener, closer := &p.tokens[o], &p.tokens[c]
	used, mark := 1, italic
	switch {
	case closer.run == '~':
		used, mark = closer.length, struck
	case opener.left > 1 && closer.left > 1:
		used, mark = 2, bold
	}
	opener.left -= used
	closer.left -= used
	for i := o + 1; i < c; i++ {
		p.tokens[i].style |= mark
	}
}

// target reads where a link leads: (to "title").
func target(rest string) (to string, n int, ok bool) {
	if rest == "" || rest[0] != '(' {
		return "", 0, false
	}
	space := func() { n += len(rest[n:]) - len(strings.TrimLeft(rest[n:], " \n")) }
	n = 1
	space()
	from := n
	if strings.HasPrefix(rest[n:], "<") {
		end := strings.IndexAny(rest[n+1:], ">\n")
		if end < 0 || rest[n+1+end] != '>' {
			return "", 0, false
		}
		from, n = n+1, n+1+end
		to = rest[from:n]
		n++
	} else {
		for depth := 0; n < len(rest); n++ {
			switch c := rest[n]; {
			case c == '\\' && n+1 < len(rest) && isPunct(rest[n+1]):
				n++
				continue
			case c == '(':
				if depth++; depth > 32 {
					return "", 0, false
				}
				continue
			case c == ')' && depth > 0:
				depth--
				continue
			case c > ' ' && c != ')':
				continue
			}
			break
		}
		n = min(n, len(rest))
		to = rest[from:n]
	}
	before := n
	space()
	if n > before && n < len(rest) && strings.IndexByte("\"'(", rest[n]) >= 0 {
		end := map[byte]byte{'"': '"', '\'': '\'', '(': ')'}[rest[n]]
		for n++; n < len(rest) && rest[n] != end; n++ {
			if rest[n] == '\\' {
				n++
			}
		}
		n = min(n+1, len(rest))
		space()
	}
	if n >= len(rest) || rest[n] != ')' {
		return "", 0, false
	}
	return resolve(to), n + 1, true
}

// autolink reads an address between angle brackets.
func autolink(rest string) (label string, ok bool) {
	end := strings.IndexAny(rest, "> \n")
	if end < 0 || rest[end] != '>' || strings.IndexByte(rest[1:end], '<') >= 0 {
		return "", false
	}
	label = rest[1:end]
	scheme, _, ok := strings.Cut(label, ":")
	if ok && len(scheme) > 1 && len(scheme) <= 32 && isLetter(scheme[0]) && strings.IndexFunc(scheme, func(r rune) bool {
		return r >= utf8.RuneSelf || !isLetter(byte(r)) && !isDigit(byte(r)) && !strings.ContainsRune("+.-", r)
	}) < 0 {
		return label, true
	}
	name, host, ok := strings.Cut(label, "@")
	return label, ok && name != "" && host != "" && !strings.ContainsAny(name, "\\:\"") && !strings.ContainsAny(host, "@\\:\"")
}

// tagLength is the length of the tag, comment or the like at the start of
// text; 0 when there is none.
func tagLength(text string) int {
	if len(text) < 3 || text[0] != '<' {
		return 0
	}
	if strings.HasPrefix(text, "<!--") {
		if end := strings.Index(text[4:], "-->"); end >= 0 {
			return end + 7
		}
		return 0
	}
	if named := strings.TrimPrefix(text[1:], "/"); text[1] != '!' && text[1] != '?' && tagName(named) == "" {
		return 0
	}
	quote := byte(0)
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '<':
			return 0
		case c == '>':
			return i + 1
		}
	}
	return 0
}

// entity reads a character that is written by its name or number.
func entity(text string) (string, int) {
	end := strings.IndexByte(text[:min(len(text), 40)], ';')
	if end < 2 {
		return "", 0
	}
	said := text[:end+1]
	if shown := html.UnescapeString(said); shown != said && (shown == ";" || !strings.HasSuffix(shown, ";")) {
		return cells.Clean(shown), end + 1 // it can stand for a control character
	}
	return "", 0
}

// resolve reads escapes and entities in text that has no other marks.
func resolve(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && isPunct(text[i+1]) {
			i++
		} else if text[i] == '&' {
			if shown, n := entity(text[i:]); n > 0 {
				b.WriteString(shown)
				i += n - 1
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return cells.Clean(b.String())
}

func isPunct(c byte) bool {
	return c > ' ' && c < 0x7f && !isLetter(c) && !isDigit(c)
}
