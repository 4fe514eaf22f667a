package markdown

import (
	"slices"
	"strings"
)

// kind is what a block is.
type kind uint8

const (
	paragraph kind = iota
	title
	listing // code
	rule
	quotation
	list
	item
	table
	markup
)

// block is one block of a document, as CommonMark has it, and GitHub's tables
// and tasks. References to links are text: their definitions stand in blocks
// of their own, which are long rendered or not yet there.
type block struct {
	kind  kind
	apart bool // an empty line stands before it

	lines    []string // of text, code or HTML
	lang     string   // of code between fences
	fenced   bool
	children []*block // of a quotation, a list, an item

	ordered, loose bool // of a list
	mark           string
	start          int

	rows  [][]string // of a table, the head first
	align []align
}

// line is a line of the source without the marks of what it stands in. A lazy
// one has no such marks: it can only go on with a paragraph.
type line struct {
	text string
	lazy bool
}

// deepest is how many quotations and lists stand in each other; what is deeper
// is text.
const deepest = 40

func parse(source string) []*block {
	var lines []line
	for text := range strings.SplitSeq(strings.TrimSuffix(source, "\n"), "\n") {
		lines = append(lines, line{text: strings.TrimRight(text, "\r")})
	}
	blocks, _ := blocksOf(lines, 0)
	return blocks
}

// blocksOf parses lines up to their end or to a lazy one that no paragraph
// takes up, and says how many it took.
func blocksOf(lines []line, depth int) (blocks []*block, taken int) {
	for taken < len(lines) {
		rest := lines[taken:]
		if blank(rest[0].text) {
			taken++
			continue
		}
		if rest[0].lazy {
			break
		}
		next, n := nextBlock(rest, depth)
		next[0].apart = taken > 0 && blank(lines[taken-1].text)
		blocks = append(blocks, next...)
		taken += n
	}
	return blocks, taken
}

// nextBlock parses the block that begins with the first line. A table may have
// a paragraph right before it.
func nextBlock(lines []line, depth int) ([]*block, int) {
	text := lines[0].text
	bare := strings.TrimLeft(text, " ")
	one := func(b *block, n int) ([]*block, int) { return []*block{b}, n }
	if indent(text) >= 4 {
		return one(indented(lines))
	}
	switch mark := fenceOf(bare); {
	case mark != "":
		return one(fenced(lines, mark))
	case isHeading(bare):
		return one(&block{kind: title, lines: []string{headingText(bare)}}, 1)
	case isRule(bare):
		return one(&block{kind: rule}, 1)
	case bare[0] == '>' && depth < deepest:
		return one(quoted(lines, depth))
	}
	if m, ok := markerOf(text); ok && depth < deepest {
		return one(listed(lines, m, depth))
	}
	if end, ok := htmlEnd(bare, true); ok {
		return one(verbatim(lines, end))
	}
	return flowing(lines)
}

// flowing parses a paragraph, and what only its later lines make it: a title
// that is underlined, a table.
func flowing(lines []line) ([]*block, int) {
	p := &block{kind: paragraph, lines: []string{strings.TrimSpace(lines[0].text)}}
	for n := 1; n < len(lines); n++ {
		l := lines[n]
		if blank(l.text) || !l.lazy && interrupts(l.text) && !isUnderline(l.text) {
			return []*block{p}, n
		}
		if !l.lazy && isUnderline(l.text) {
			p.kind = title
			return []*block{p}, n + 1
		}
		head := p.lines[len(p.lines)-1]
		if align := alignments(l.text); !l.lazy && align != nil && len(cellsOf(head)) == len(align) {
			t := &block{kind: table, align: align, rows: [][]string{cellsOf(head)}}
			for n++; n < len(lines) && !blank(lines[n].text) && !lines[n].lazy && !interrupts(lines[n].text); n++ {
				t.rows = append(t.rows, fit(cellsOf(lines[n].text), len(align)))
			}
			if p.lines = p.lines[:len(p.lines)-1]; len(p.lines) > 0 {
				return []*block{p, t}, n
			}
			return []*block{t}, n
		}
		p.lines = append(p.lines, strings.TrimSpace(l.text))
	}
	return []*block{p}, len(lines)
}

// interrupts says whether a line ends the paragraph before it.
func interrupts(text string) bool {
	if indent(text) >= 4 {
		return false
	}
	if m, ok := markerOf(text); ok && m.interrupts() {
		return true
	}
	return startsBlock(text)
}

// startsBlock says whether a line begins a block that is no list, whatever
// stands before it.
func startsBlock(text string) bool {
	bare := strings.TrimLeft(text, " ")
	if indent(text) >= 4 || bare == "" {
		return false
	}
	_, isHTML := htmlEnd(bare, false)
	return bare[0] == '>' || fenceOf(bare) != "" || isHeading(bare) || isRule(bare) || isHTML
}

func indented(lines []line) (*block, int) {
	b := &block{kind: listing}
	n := 0
	for n < len(lines) && !lines[n].lazy && (indent(lines[n].text) >= 4 || blank(lines[n].text)) {
		b.lines = append(b.lines, lines[n].text[min(4, indent(lines[n].text)):])
		n++
	}
	for blank(b.lines[len(b.lines)-1]) {
		b.lines = b.lines[:len(b.lines)-1]
		n--
	}
	return b, n
}

func fenced(lines []line, mark string) (*block, int) {
	left := indent(lines[0].text)
	lang, _, _ := strings.Cut(strings.TrimSpace(lines[0].text[left+len(mark):]), " ")
	b := &block{kind: listing, fenced: true, lang: resolve(lang)}
	for n := 1; n < len(lines); n++ {
		text := lines[n].text
		switch {
		case lines[n].lazy:
			return b, n
		case indent(text) < 4 && closes(strings.TrimLeft(text, " "), mark):
			return b, n + 1
		}
		b.lines = append(b.lines, text[min(left, indent(text)):])
	}
	return b, len(lines)
}

func quoted(lines []line, depth int) (*block, int) {
	var inner []line
	for _, l := range lines {
		bare := strings.TrimLeft(l.text, " ")
		if !l.lazy && indent(l.text) < 4 && strings.HasPrefix(bare, ">") {
			inner = append(inner, line{text: strings.TrimPrefix(bare[1:], " ")})
			continue
		}
		if !l.lazy && (blank(bare) || endsContainer(l.text)) {
			break
		}
		inner = append(inner, line{l.text, true})
	}
	b := &block{kind: quotation}
	var n int
	b.children, n = blocksOf(inner, depth+1)
	return b, n
}

// endsContainer says whether a line without the marks of a quotation or an item
// begins something else, rather than going on with its last paragraph.
func endsContainer(text string) bool {
	_, isItem := markerOf(text)
	return isItem || startsBlock(text)
}

func listed(lines []line, first marker, depth int) (*block, int) {
	l := &block{kind: list, ordered: first.ordered, mark: first.mark, start: first.number}
	n := 0
	for n < len(lines) && !lines[n].lazy {
		m, ok := markerOf(lines[n].text)
		if !ok || m.mark != first.mark {
			break
		}
		it := &block{kind: item, apart: n > 0 && blank(lines[n-1].text)}
		var taken int
		it.children, taken = blocksOf(inside(lines[n:], m), depth+1)
		it.task()
		l.children = append(l.children, it)
		l.loose = l.loose || it.apart || slices.ContainsFunc(it.children[min(1, len(it.children)):], func(b *block) bool { return b.apart })
		n += taken
		if len(it.children) == 0 { // an empty item ends before the lines after it
			for n+1 < len(lines) && blank(lines[n].text) {
				n++
			}
		}
	}
	return l, n
}

// inside collects the lines of the item that begins with the first.
func inside(lines []line, m marker) []line {
	inner := []line{{text: m.rest}}
	for n, l := range lines[1:] {
		before := inner[n].text
		switch {
		case l.lazy:
			inner = append(inner, l)
		case blank(l.text):
			if n == 0 && blank(m.rest) {
				return inner // it begins with one empty line at most
			}
			inner = append(inner, line{})
		case indent(l.text) >= m.width:
			inner = append(inner, line{text: l.text[m.width:]})
		case blank(before) || endsContainer(l.text):
			return inner
		default:
			inner = append(inner, line{l.text, true})
		}
	}
	return inner
}

// task turns the box at the start of an item into what it shows.
func (b *block) task() {
	if len(b.children) == 0 || b.children[0].kind != paragraph {
		return
	}
	text := &b.children[0].lines[0]
	shown := "☐ "
	switch (*text)[:min(4, len(*text))] {
	case "[ ] ":
	case "[x] ", "[X] ":
		shown = "☑ "
	default:
		return
	}
	*text = shown + strings.TrimLeft((*text)[4:], " ")
}

func verbatim(lines []line, end string) (*block, int) {
	b := &block{kind: markup}
	for n, l := range lines {
		if l.lazy || end == "" && blank(l.text) {
			return b, n
		}
		b.lines = append(b.lines, l.text)
		if end != "" && strings.Contains(strings.ToLower(l.text), end) {
			return b, n + 1
		}
	}
	return b, len(lines)
}
