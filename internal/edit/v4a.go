package edit

import "strings"

// marker reads a line "*** Word File: rest", spaces flexible, words not.
// kind is "begin", "end", "eof", "to" or an Op.
func marker(row string) (kind, rest string, ok bool) {
	row, ok = strings.CutPrefix(row, "***")
	if !ok {
		return "", "", false
	}
	row = strings.TrimSpace(row)
	head, rest, colon := strings.Cut(row, ":")
	switch words := strings.Fields(head); strings.Join(words, " ") {
	case "Begin Patch":
		return "begin", "", !colon
	case "End Patch":
		return "end", "", !colon
	case "End of File":
		return "eof", "", !colon
	case "Move to":
		return "to", rest, colon
	case "Update File":
		return string(Update), rest, colon
	case "Add File":
		return string(Add), rest, colon
	case "Delete File":
		return string(Delete), rest, colon
	case "Move File":
		return string(Move), rest, colon
	}
	return "", "", false
}

// isV4A looks for a file header; begin and end markers may be missing.
func (p *parser) isV4A() bool {
	for _, row := range p.rows {
		kind, _, ok := marker(row)
		if ok && kind != "eof" && kind != "to" {
			return true
		}
	}
	return false
}

func (p *parser) v4a() {
	begun := false
	for _, row := range p.rows {
		if kind, _, ok := marker(row); ok && kind == "begin" {
			begun = true
		}
	}
	inside := !begun
	for p.at < len(p.rows) {
		row := p.rows[p.at]
		kind, rest, ok := marker(row)
		start := p.at
		p.at++
		switch {
		case ok && kind == "begin":
			inside = true
		case ok && kind == "end":
			inside = !begun
		case !inside || strings.TrimSpace(row) == "" || strings.HasPrefix(row, "```"):
		case !ok || kind == "eof" || kind == "to":
			p.fault(start, "expected a file header such as *** Update File: PATH, found %q", cutRunes(row, 60))
			p.skipBody()
		default:
			p.section(Op(kind), rest, start)
		}
	}
}

func (p *parser) section(kind Op, rest string, start int) {
	s := Section{Op: kind, Path: cleanPath(rest)}
	switch kind {
	case Add:
		s.Text = p.addBody()
	case Delete:
		p.skipBody()
	case Move:
		from, to, ok := strings.Cut(rest, "->")
		if !ok {
			p.fault(start, "write *** Move File: SRC -> DST")
		}
		s.Path, s.To = cleanPath(from), cleanPath(to)
		s.Hunks = p.hunks()
	case Update:
		if p.at < len(p.rows) {
			if k, to, ok := marker(p.rows[p.at]); ok && k == "to" {
				s.To = cleanPath(to)
				p.at++
			}
		}
		s.Hunks = p.hunks()
	}
	p.out.Sections = append(p.out.Sections, s)
}

// skipBody goes to the next header.
func (p *parser) skipBody() {
	for p.at < len(p.rows) {
		if kind, _, ok := marker(p.rows[p.at]); ok && kind != "eof" && kind != "to" {
			return
		}
		p.at++
	}
}

// addBody joins the + lines; the file ends with a newline unless the patch
// says otherwise. A blank row between them is a blank line whose + was lost.
func (p *parser) addBody() string {
	var lines []string
	end, blanks := "\n", 0
	for ; p.at < len(p.rows); p.at++ {
		row := p.rows[p.at]
		if kind, _, ok := marker(row); ok && kind != "to" {
			if kind == "eof" {
				continue
			}
			break
		}
		switch {
		case strings.HasPrefix(row, "+"):
			for ; blanks > 0; blanks-- {
				lines = append(lines, "")
			}
			lines = append(lines, row[1:])
		case strings.HasPrefix(row, `\`):
			end = ""
		case strings.TrimSpace(row) == "":
			blanks++
		case strings.HasPrefix(row, "@@") && len(lines) == 0:
		default:
			p.fault(p.at, "every line of an added file begins with +, found %q", cutRunes(row, 60))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + end
}

// hunks reads up to the next file header.
func (p *parser) hunks() []Hunk {
	var out []Hunk
	var h Hunk
	begun, blanks := false, 0
	flush := func() {
		if len(h.Lines) > 0 {
			out = append(out, h)
			h = Hunk{}
		}
		begun, blanks = false, 0
	}
	for ; p.at < len(p.rows); p.at++ {
		row := p.rows[p.at]
		if kind, _, ok := marker(row); ok {
			if kind == "eof" {
				h.AtEnd = true
				flush()
				continue
			}
			if kind != "to" {
				break
			}
		}
		switch {
		case strings.HasPrefix(row, "@@"):
			flush() // a header without lines is one more hint for the next
			begun = true
			h.head(row)
		case row == "":
			// A blank context line whose space was lost; blank rows at the
			// end of a hunk only separate it from what follows.
			blanks++
		default:
			for ; blanks > 0; blanks-- {
				if len(h.Lines) > 0 {
					h.add(' ', "")
				}
			}
			h.read(row)
			begun = true
		}
	}
	if begun && len(h.Lines) == 0 {
		p.fault(p.at-1, "a hunk without lines")
	}
	flush()
	return out
}

// head reads "@@ hint", "@@ hint @@" or the numbers of a unified diff.
func (h *Hunk) head(row string) {
	row = strings.TrimSpace(strings.TrimPrefix(row, "@@"))
	if line, _, _, _, ok := rangeHead(row); ok {
		h.Line = line
		return
	}
	row = strings.TrimSpace(strings.TrimSuffix(row, "@@"))
	if row != "" {
		h.Hints = append(h.Hints, row)
	}
}

// read takes one line of a hunk's body; text without a sign is context.
func (h *Hunk) read(row string) {
	switch row[0] {
	case '+', '-', ' ':
		h.add(row[0], row[1:])
	case '\\':
		h.cut()
	default:
		h.add(' ', row)
	}
}

func (h *Hunk) add(kind byte, text string) {
	h.Lines = append(h.Lines, HunkLine{kind, text})
}

// cut notes "\ No newline at end of file" for the side of the line before.
func (h *Hunk) cut() {
	if len(h.Lines) == 0 {
		return
	}
	h.AtEnd = true
	switch h.Lines[len(h.Lines)-1].Kind {
	case '-':
		h.oldCut = true
	case '+':
		h.newCut = true
	default:
		h.oldCut, h.newCut = true, true
	}
}
