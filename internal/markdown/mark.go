package markdown

import (
	"slices"
	"strconv"
	"strings"
)

// What a line begins, by its marks.

func blank(text string) bool { return strings.TrimSpace(text) == "" }

func indent(text string) int { return len(text) - len(strings.TrimLeft(text, " ")) }

// marker begins an item of a list.
type marker struct {
	ordered bool
	number  int
	mark    string // items of one list have the same
	width   int    // where the item's text begins
	rest    string // the text in the same line
}

// markerOf reads the marker at the start of a line.
func markerOf(text string) (m marker, ok bool) {
	left := indent(text)
	bare := text[left:]
	if left >= 4 || bare == "" || isRule(bare) {
		return m, false
	}
	digits := len(bare) - len(strings.TrimLeft(bare, "0123456789"))
	set := "-*+"
	if digits > 0 {
		set, m.ordered = ".)", true
	}
	if digits > 9 || digits == len(bare) || !strings.Contains(set, bare[digits:digits+1]) {
		return m, false
	}
	m.number, _ = strconv.Atoi(bare[:digits]) // at most nine digits; none is 0
	m.mark = bare[digits : digits+1]
	after := bare[digits+1:]
	m.rest = strings.TrimLeft(after, " ")
	space := len(after) - len(m.rest)
	switch {
	case m.rest == "":
		space = 1
	case space == 0:
		return m, false
	case space > 4: // code begins the item
		space, m.rest = 1, after[1:]
	}
	m.width = left + digits + 1 + space
	return m, true
}

// interrupts says whether the item may follow a paragraph at once.
func (m marker) interrupts() bool { return !blank(m.rest) && (!m.ordered || m.number == 1) }

// fenceOf is the run of characters that opens a fence.
func fenceOf(bare string) string {
	if bare == "" || bare[0] != '`' && bare[0] != '~' {
		return ""
	}
	n := len(bare) - len(strings.TrimLeft(bare, bare[:1]))
	if n < 3 || bare[0] == '`' && strings.Contains(bare[n:], "`") {
		return ""
	}
	return bare[:n]
}

// closes says whether a line ends what a fence began.
func closes(bare, fence string) bool {
	closing := strings.TrimRight(bare, " \r")
	return len(closing) >= len(fence) && strings.Trim(closing, fence[:1]) == ""
}

func isHeading(bare string) bool {
	rest := strings.TrimLeft(bare, "#")
	n := len(bare) - len(rest)
	return n >= 1 && n <= 6 && (rest == "" || rest[0] == ' ')
}

func headingText(bare string) string {
	text := strings.TrimSpace(strings.TrimLeft(bare, "#"))
	if open := strings.TrimRight(text, "#"); open == "" || strings.HasSuffix(open, " ") {
		text = strings.TrimSpace(open)
	}
	return text
}

// isRule says whether a line is three or more of one mark and nothing else.
func isRule(bare string) bool {
	return bare != "" && strings.ContainsRune("-*_", rune(bare[0])) &&
		strings.Trim(bare, bare[:1]+" \r") == "" && strings.Count(bare, bare[:1]) > 2
}

// isUnderline says whether a line makes a title of the paragraph before it.
func isUnderline(text string) bool {
	bare := strings.TrimSpace(text)
	return indent(text) < 4 && bare != "" && (strings.Trim(bare, "=") == "" || strings.Trim(bare, "-") == "")
}

// Elements whose tags begin a block of HTML.
const htmlBlocks = " address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt " +
	"fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link main menu " +
	"menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead title tr track ul "

// htmlEnd says whether a line begins a block of HTML, and what ends it: "" an
// empty line. A tag that may stand within text begins one where nothing stands
// before it.
func htmlEnd(bare string, alone bool) (end string, ok bool) {
	low := strings.ToLower(bare)
	for _, open := range []string{"<script", "<pre", "<style", "<textarea"} {
		if rest, ok := strings.CutPrefix(low, open); ok && (rest == "" || strings.ContainsRune(" >", rune(rest[0]))) {
			return "</" + open[1:] + ">", true
		}
	}
	switch {
	case strings.HasPrefix(low, "<!--"):
		return "-->", true
	case strings.HasPrefix(low, "<?"):
		return "?>", true
	case strings.HasPrefix(low, "<![cdata["):
		return "]]>", true
	case len(low) > 2 && low[:2] == "<!" && isLetter(low[2]):
		return ">", true
	case low == "" || low[0] != '<':
		return "", false
	}
	name := tagName(strings.TrimPrefix(low[1:], "/"))
	if name != "" && strings.Contains(htmlBlocks, " "+name+" ") {
		return "", true
	}
	return "", alone && name != "" && tagLength(bare) == len(strings.TrimRight(bare, " "))
}

// tagName reads the name of an element; "" when there is none.
func tagName(text string) string {
	n := 0
	for n < len(text) && (isLetter(text[n]) || n > 0 && (isDigit(text[n]) || text[n] == '-')) {
		n++
	}
	if n < len(text) && !strings.ContainsRune(" \n/>", rune(text[n])) {
		return ""
	}
	return text[:n]
}

// align says to which side the cells of a column go.
type align byte

const (
	alignLeft align = iota
	alignCenter
	alignRight
)

// alignments reads the line below the head of a table; nil when it is none.
func alignments(text string) []align {
	if indent(text) >= 4 || strings.Trim(text, "|:- ") != "" || !strings.ContainsAny(text, "|:") {
		return nil
	}
	var all []align
	for _, cell := range cellsOf(text) {
		dashes := strings.TrimSuffix(strings.TrimPrefix(cell, ":"), ":")
		if dashes == "" || strings.Trim(dashes, "-") != "" {
			return nil
		}
		switch left, right := cell[0] == ':', cell[len(cell)-1] == ':'; {
		case left && right:
			all = append(all, alignCenter)
		case right:
			all = append(all, alignRight)
		default:
			all = append(all, alignLeft)
		}
	}
	return all
}

// cellsOf parts a row of a table at its bars.
func cellsOf(text string) []string {
	text = strings.TrimPrefix(strings.TrimSpace(text), "|")
	var cells []string
	var cell strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			if i++; text[i] != '|' {
				cell.WriteByte('\\')
			}
			cell.WriteByte(text[i])
		case text[i] == '|':
			cells = append(cells, strings.TrimSpace(cell.String()))
			cell.Reset()
		default:
			cell.WriteByte(text[i])
		}
	}
	if last := strings.TrimSpace(cell.String()); last != "" || !strings.HasSuffix(text, "|") {
		cells = append(cells, last)
	}
	return cells
}

// fit gives a row as many cells as the head has.
func fit(cells []string, n int) []string {
	if len(cells) > n {
		return cells[:n]
	}
	return slices.Concat(cells, make([]string, n-len(cells)))
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
