package edit

import (
	"strconv"
	"strings"
)

const devNull = "/dev/null"

func (p *parser) isUnified() bool {
	for i, row := range p.rows {
		if strings.HasPrefix(row, "diff --git ") || p.headerAt(i) {
			return true
		}
	}
	return false
}

// headerAt: "--- " and "+++ " in a row begin a file.
func (p *parser) headerAt(i int) bool {
	return i+1 < len(p.rows) && strings.HasPrefix(p.rows[i], "--- ") && strings.HasPrefix(p.rows[i+1], "+++ ")
}

// unified reads plain and git diffs; prose around the files is skipped.
func (p *parser) unified() {
	for p.at < len(p.rows) {
		switch row := p.rows[p.at]; {
		case strings.HasPrefix(row, "diff --git "):
			p.gitFile()
		case p.headerAt(p.at):
			s := p.fileHeader()
			p.unifiedBody(&s)
			p.out.Sections = append(p.out.Sections, s)
		case strings.HasPrefix(row, "@@ -"):
			p.fault(p.at, "a hunk without a file: write --- and +++ lines before it")
			p.at++
		default:
			p.at++
		}
	}
}

// gitFile reads the extended header, then the hunks if there are any.
func (p *parser) gitFile() {
	start := p.at
	s := Section{Op: Update}
	oldName, newName := gitNames(p.rows[p.at])
	what := ""
	p.at++
	for p.at < len(p.rows) && !strings.HasPrefix(p.rows[p.at], "diff --git ") && !p.headerAt(p.at) {
		row := p.rows[p.at]
		p.at++
		word := func(prefix string) bool {
			rest, ok := strings.CutPrefix(row, prefix)
			if ok {
				what = rest
			}
			return ok
		}
		switch {
		case word("new file mode "):
			s.Op, s.Mode = Add, what
		case word("deleted file mode "):
			s.Op = Delete
		case word("new mode "):
			s.Mode = what
		case word("rename from "):
			s.Op, oldName = Move, unquoteName(what)
		case word("rename to "):
			s.Op, newName = Move, unquoteName(what)
		case strings.HasPrefix(row, "copy from "), strings.HasPrefix(row, "copy to "):
			p.fault(p.at-1, "copies are not supported: add the file instead")
		case strings.HasPrefix(row, "GIT binary patch"), strings.HasPrefix(row, "Binary files "):
			p.fault(p.at-1, "binary changes are not supported")
		}
	}
	if p.headerAt(p.at) {
		h := p.fileHeader()
		if s.Op == Update && h.Op != Update {
			s.Op = h.Op
		}
		if s.Op != Move {
			oldName, newName = h.Path, h.Path
		}
		p.unifiedBody(&s)
	} else if s.Op == Update {
		if s.Mode != "" {
			p.fault(start, "a change of the mode alone is not supported")
		}
		if s.Mode == "" && len(p.problems) == 0 {
			p.fault(start, "a file without any change")
		}
	}
	s.Path = cleanPath(newName)
	if s.Op == Move {
		s.Path, s.To = cleanPath(oldName), cleanPath(newName)
	}
	p.finishUnified(&s)
	p.out.Sections = append(p.out.Sections, s)
}

// gitNames guesses the two names of a "diff --git" line; they are only used
// where no other line gives them.
func gitNames(row string) (string, string) {
	rest := strings.TrimPrefix(row, "diff --git ")
	if strings.HasPrefix(rest, `"`) {
		if q, err := strconv.QuotedPrefix(rest); err == nil {
			a, b := unquoteName(q), unquoteName(strings.TrimSpace(rest[len(q):]))
			return stripSide(a, "a/"), stripSide(b, "b/")
		}
	}
	// Without renaming both names are equal, so the line is two halves.
	if n := len(rest); n%2 == 1 && rest[n/2] == ' ' {
		return stripSide(rest[:n/2], "a/"), stripSide(rest[n/2+1:], "b/")
	}
	a, b, _ := strings.Cut(rest, " b/")
	return stripSide(a, "a/"), b
}

func stripSide(name, side string) string { return strings.TrimPrefix(name, side) }

// fileHeader reads the --- and +++ lines.
func (p *parser) fileHeader() Section {
	from, to := headerName(p.rows[p.at][4:]), headerName(p.rows[p.at+1][4:])
	p.at += 2
	sides := (strings.HasPrefix(from, "a/") || from == devNull) && (strings.HasPrefix(to, "b/") || to == devNull)
	if sides {
		from, to = stripSide(from, "a/"), stripSide(to, "b/")
	}
	s := Section{Op: Update, Path: to}
	switch {
	case from == devNull:
		s.Op = Add
	case to == devNull:
		s.Op, s.Path = Delete, from
	}
	s.Path = cleanPath(s.Path)
	return s
}

// headerName cuts the time stamp that diff writes behind a tab.
func headerName(s string) string {
	name, _, _ := strings.Cut(s, "\t")
	return unquoteName(strings.TrimSpace(name))
}

func unquoteName(s string) string {
	if strings.HasPrefix(s, `"`) {
		if out, err := strconv.Unquote(s); err == nil {
			return out
		}
	}
	return s
}

// unifiedBody reads the hunks of one file. The numbers in the heads are hints:
// a body goes on until something else begins, whatever they say.
func (p *parser) unifiedBody(s *Section) {
	for p.at < len(p.rows) && strings.HasPrefix(p.rows[p.at], "@@") {
		row := strings.TrimSpace(strings.TrimPrefix(p.rows[p.at], "@@"))
		line, oldN, newN, _, numbered := rangeHead(row)
		var h Hunk
		if numbered {
			h.Line = line
			if oldN == 0 {
				h.Line = line + 1 // an empty old side stands behind the line it names
			}
		} else if hint := strings.TrimSpace(strings.TrimSuffix(row, "@@")); hint != "" {
			h.Hints = []string{hint}
		}
		p.at++
		p.unifiedHunk(&h, oldN, newN, numbered)
		s.Hunks = append(s.Hunks, h)
	}
	p.finishUnified(s)
}

func (p *parser) unifiedHunk(h *Hunk, oldN, newN int, numbered bool) {
	blanks, fits := 0, false
	for ; p.at < len(p.rows); p.at++ {
		row := p.rows[p.at]
		if strings.HasPrefix(row, "@@") || strings.HasPrefix(row, "diff --git ") {
			return
		}
		full := numbered && oldN <= 0 && newN <= 0
		if !fits && p.headerAt(p.at) && p.headAfter(p.at+2) {
			if fits = numbered && p.bodyFits(oldN, newN); !fits {
				return
			}
		}
		if row == "" {
			if full {
				return
			}
			blanks++
			continue
		}
		if full && (row == "-- " || row == "--" || strings.IndexByte("+- \\", row[0]) < 0) {
			return
		}
		for ; blanks > 0; blanks-- {
			h.add(' ', "")
			oldN, newN = oldN-1, newN-1
		}
		h.read(row)
		switch row[0] {
		case '+':
			newN--
		case '-':
			oldN--
		case '\\':
		default:
			oldN, newN = oldN-1, newN-1
		}
	}
	// Blank rows that the numbers account for are blank lines.
	for ; numbered && blanks > 0 && oldN > 0 && newN > 0; blanks-- {
		h.add(' ', "")
		oldN, newN = oldN-1, newN-1
	}
}

// headAfter: row i may follow the two lines of a file header.
func (p *parser) headAfter(i int) bool {
	return i >= len(p.rows) || strings.HasPrefix(p.rows[i], "@@")
}

// bodyFits: the rows up to the next head are exactly what the numbers still
// ask for, so that what looks like a file header is a removed and an added line.
func (p *parser) bodyFits(oldN, newN int) bool {
	for i := p.at; i < len(p.rows) && (oldN > 0 || newN > 0); i++ {
		row := p.rows[i]
		switch {
		case row == "" || row[0] == ' ':
			oldN, newN = oldN-1, newN-1
		case row[0] == '-':
			oldN--
		case row[0] == '+':
			newN--
		case row[0] == '\\':
		default:
			return false
		}
	}
	return oldN == 0 && newN == 0
}

// rangeHead reads "-l,n +l,n @@ rest".
func rangeHead(s string) (line, oldN, newN int, rest string, ok bool) {
	head, rest, _ := strings.Cut(s, "@@")
	f := strings.Fields(head)
	if len(f) != 2 || f[0][0] != '-' || f[1][0] != '+' {
		return 0, 0, 0, "", false
	}
	num := func(s string) (int, int, bool) {
		a, b, has := strings.Cut(s[1:], ",")
		l, err := strconv.Atoi(a)
		n := 1
		if has && err == nil {
			n, err = strconv.Atoi(b)
		}
		return l, n, err == nil && l >= 0 && n >= 0
	}
	line, oldN, ok1 := num(f[0])
	_, newN, ok2 := num(f[1])
	return line, oldN, newN, strings.TrimSpace(rest), ok1 && ok2
}

// finishUnified turns the single hunk of a new file into its text.
func (p *parser) finishUnified(s *Section) {
	if s.Op != Add || len(s.Hunks) == 0 {
		return
	}
	var b strings.Builder
	cut := false
	for _, h := range s.Hunks {
		for _, l := range h.Lines {
			if l.Kind != '+' {
				p.fault(p.at-1, "%s is new but its hunk has old lines", s.Path)
				return
			}
			b.WriteString(l.Text + "\n")
		}
		cut = h.newCut
	}
	s.Text, s.Hunks = b.String(), nil
	if cut {
		s.Text = strings.TrimSuffix(s.Text, "\n")
	}
}
