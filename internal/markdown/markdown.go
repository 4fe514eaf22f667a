// Package markdown turns Markdown into lines for a terminal. A finished block
// is rendered once; a Stream keeps only the block that is still being written
// open, so that an answer costs no more the longer it gets. It writes nothing
// and colours no source code: the lexers for that cost more than a whole start.
package markdown

import (
	"strconv"
	"strings"

	"github.com/hermes-go/hermes/internal/cells"
)

// Options say how lines look.
type Options struct {
	Width int  // columns; 0: lines are not wrapped
	Color bool // with escape sequences for colours and weight
	Bare  bool // code stands as it is, with nothing around it
}

// Render returns the lines of a whole document.
func Render(source string, o Options) []string {
	s := NewStream(o)
	s.Write(source)
	s.Close()
	return s.Take()
}

// render returns the lines of some blocks.
func render(source string, o Options) []string {
	r := &renderer{Options: o}
	r.blocks(parse(cells.Clean(source)), true, margin{})
	return r.lines
}

// margin is what stands before the lines of a block.
type margin struct {
	first, rest string // as text
	bar         bool   // of a quotation: dim
}

func (m margin) width() int { return cells.Width(m.rest) }

type renderer struct {
	Options
	lines []string
}

// put adds a line that is painted already.
func (r *renderer) put(m *margin, line string) {
	lead := m.first
	m.first = m.rest
	if m.bar {
		lead = r.paint(lead, faint)
	}
	r.lines = append(r.lines, strings.TrimRight(lead+line, " "))
}

// blocks puts blocks, with an empty line between them when they stand apart.
func (r *renderer) blocks(all []*block, apart bool, m margin) {
	for i, b := range all {
		if i > 0 && apart {
			r.gap(&m)
		}
		r.block(b, &m)
	}
}

func (r *renderer) gap(m *margin) {
	r.put(&margin{first: m.rest, rest: m.rest, bar: m.bar}, "")
}

func (r *renderer) block(b *block, m *margin) {
	switch b.kind {
	case title:
		r.running(b, m, heading)
	case paragraph:
		r.running(b, m, 0)
	case listing:
		if b.fenced {
			r.fence(m, "```"+b.lang)
		}
		for _, line := range b.lines {
			r.put(m, r.codeLine(line))
		}
		if b.fenced {
			r.fence(m, "```")
		}
	case rule:
		width := 40
		if r.Width > 0 {
			width = min(width, max(r.Width-m.width(), 3))
		}
		r.put(m, r.paint(strings.Repeat("─", width), faint))
	case quotation:
		r.blocks(b.children, true, margin{m.first + "│ ", m.rest + "│ ", true})
		m.first = m.rest
	case list:
		r.list(b, m)
	case table:
		r.table(b, m)
	case markup: // as it is written
		for _, line := range b.lines {
			r.text(m, []span{{line, faint}})
		}
	}
}

// fence shows where code begins and ends; without colours the indentation
// tells.
func (r *renderer) fence(m *margin, line string) {
	if r.fenced() {
		r.put(m, r.paint(line, faint))
	}
}

func (o Options) fenced() bool { return o.Color && !o.Bare }

// codeLine is a line of code, never wrapped: it is there to be copied.
func (o Options) codeLine(line string) string {
	if o.Bare {
		return line
	}
	if !o.Color {
		return strings.TrimRight("    "+line, " ")
	}
	return o.paint(line, code)
}

func (r *renderer) list(l *block, m *margin) {
	for i, it := range l.children {
		if i > 0 && l.loose {
			r.gap(m)
		}
		mark := "• "
		if l.ordered {
			mark = strconv.Itoa(l.start+i) + l.mark + " "
		}
		r.blocks(it.children, l.loose, margin{m.first + mark, m.rest + strings.Repeat(" ", cells.Width(mark)), m.bar})
		if len(it.children) == 0 {
			r.put(&margin{first: m.first, bar: m.bar}, strings.TrimSpace(mark))
		}
		m.first = m.rest
	}
}

func (r *renderer) table(t *block, m *margin) {
	widths := make([]int, len(t.align))
	rows := make([][][]span, len(t.rows))
	for i, row := range t.rows {
		base := style(0)
		if i == 0 {
			base = bold
		}
		for c, cell := range row {
			spans := spansOf(cell, base)
			rows[i] = append(rows[i], spans)
			widths[c] = max(widths[c], cells.Width(plain(spans)))
		}
	}
	r.narrow(widths, m)
	for i, row := range rows {
		r.row(row, widths, t.align, m)
		if i == 0 {
			marks := make([]string, len(widths))
			for c, w := range widths {
				marks[c] = strings.Repeat("─", w)
			}
			r.put(m, r.paint(strings.Join(marks, "─┼─"), faint))
		}
	}
}

// narrow shrinks the widest columns until the table fits.
func (r *renderer) narrow(widths []int, m *margin) {
	const least = 6
	if r.Width <= 0 {
		return
	}
	for {
		sum, widest := m.width()+3*(len(widths)-1), 0
		for c, w := range widths {
			sum += w
			if w > widths[widest] {
				widest = c
			}
		}
		if sum <= r.Width || widths[widest] <= least {
			return
		}
		widths[widest] -= min(sum-r.Width, max(widths[widest]/8, 1))
	}
}

// row prints one row of a table; cells that are too long take several lines.
func (r *renderer) row(row [][]span, widths []int, sides []align, m *margin) {
	columns := make([][][]span, len(widths))
	height := 1
	for c := range widths {
		columns[c] = wrap(row[c], widths[c])
		height = max(height, len(columns[c]))
	}
	for i := range height {
		parts := make([]string, len(widths))
		for c, w := range widths {
			var line []span
			if i < len(columns[c]) {
				line = columns[c][i]
			}
			space := max(w-cells.Width(plain(line)), 0)
			before := 0
			switch sides[c] {
			case alignRight:
				before = space
			case alignCenter:
				before = space / 2
			}
			parts[c] = strings.Repeat(" ", before) + r.paintAll(line) + strings.Repeat(" ", space-before)
		}
		r.put(m, strings.Join(parts, r.paint(" │ ", faint)))
	}
}

func (r *renderer) running(b *block, m *margin, base style) {
	r.text(m, spansOf(strings.Join(b.lines, "\n"), base))
}

// text puts spans, wrapped.
func (r *renderer) text(m *margin, spans []span) {
	width := 0
	if r.Width > 0 {
		width = max(r.Width-m.width(), 10)
	}
	for _, line := range wrap(spans, width) {
		r.put(m, r.paintAll(line))
	}
}
