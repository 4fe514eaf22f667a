package edit

import (
	"fmt"
	"path"
	"strings"
)

// Op is what a section of a patch does to its file.
type Op string

const (
	Add    Op = "add"
	Update Op = "update"
	Delete Op = "delete"
	Move   Op = "move"
)

// Patch is a parsed patch: sections in the order of the text.
type Patch struct {
	Format   string // "v4a" or "unified"
	Sections []Section
}

// Section is what a patch says about one file.
type Section struct {
	Op    Op
	Path  string // slashes, cleaned; the source of a move
	To    string // the destination when the file moves, also for Update
	Hunks []Hunk // of an Update (or Move, or Delete in a unified diff)
	Text  string // of an Add
	Mode  string // "100755" and the like, where a git diff says so
}

// Hunk is one change: its lines, and what the patch says about where.
type Hunk struct {
	Hints []string // lines that stand before the place, outermost first
	Line  int      // where the place should begin, from 1; 0 unknown
	AtEnd bool     // the place ends the file
	Lines []HunkLine

	oldCut bool // the patch says that the old side ends without a newline
	newCut bool // and the new side
}

// HunkLine is a line of a hunk: ' ', '-' or '+' and its text.
type HunkLine struct {
	Kind byte
	Text string
}

// ParsePatch reads a V4A patch or a unified diff, whichever the text is. The
// error names every fault found, with its line in the patch.
func ParsePatch(text string) (*Patch, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if inner, ok := inFence(text); ok {
		text = inner
	}
	p := &parser{rows: strings.Split(strings.TrimSuffix(text, "\n"), "\n")}
	switch {
	case p.isV4A():
		p.out.Format = "v4a"
		p.v4a()
	case p.isUnified():
		p.out.Format = "unified"
		p.unified()
	default:
		return nil, &ParseError{Problems: []string{
			"no file header found: write *** Update File: PATH, *** Add File: PATH, *** Delete File: PATH or *** Move File: SRC -> DST," +
				" or a unified diff with --- and +++ lines",
		}}
	}
	if len(p.out.Sections) == 0 && len(p.problems) == 0 {
		p.fault(0, "the patch names no file")
	}
	p.check()
	if len(p.problems) > 0 {
		return nil, &ParseError{Problems: p.problems}
	}
	return &p.out, nil
}

// ParseError lists what is wrong with the text of a patch.
type ParseError struct{ Problems []string }

func (e *ParseError) Error() string {
	return "the patch cannot be read, no files were modified: " + strings.Join(e.Problems, "; ")
}

// Paths lists every path that the patch touches, each once, in its order:
// what a caller checks and locks before applying.
func (p *Patch) Paths() []string {
	seen := map[string]bool{}
	var out []string
	for _, s := range p.Sections {
		for _, name := range []string{s.Path, s.To} {
			if name != "" && !seen[name] {
				seen[name] = true
				out = append(out, name)
			}
		}
	}
	return out
}

// Resolve rewrites every path, so that two spellings of one file become one
// before the sections are put together.
func (p *Patch) Resolve(fn func(string) (string, error)) error {
	for i := range p.Sections {
		s := &p.Sections[i]
		for _, name := range []*string{&s.Path, &s.To} {
			if *name == "" {
				continue
			}
			to, err := fn(*name)
			if err != nil {
				return fmt.Errorf("path %s: %w", *name, err)
			}
			*name = to
		}
	}
	return nil
}

const maxProblems = 50

type parser struct {
	rows     []string
	at       int
	out      Patch
	problems []string
}

// fault notes a problem at a row (from 0).
func (p *parser) fault(row int, format string, args ...any) {
	if len(p.problems) < maxProblems {
		p.problems = append(p.problems, fmt.Sprintf("line %d: ", row+1)+fmt.Sprintf(format, args...))
	}
}

// check looks for sections that cannot mean anything.
func (p *parser) check() {
	for i := range p.out.Sections {
		s := &p.out.Sections[i]
		bad := func(format string, args ...any) {
			if len(p.problems) < maxProblems {
				p.problems = append(p.problems, s.Path+": "+fmt.Sprintf(format, args...))
			}
		}
		switch {
		case s.Path == "":
			bad("a file header without a path")
		case s.Op == Update && s.To == "" && len(s.Hunks) == 0:
			bad("Update File needs at least one hunk")
		case s.Op == Move && s.To == "":
			bad("Move File needs SRC -> DST")
		case s.To != "" && s.To == s.Path:
			s.To = ""
			if s.Op == Move || len(s.Hunks) == 0 {
				bad("moved onto itself")
			}
		}
		for j, h := range s.Hunks {
			if len(h.Lines) == 0 {
				bad("hunk %d has no lines", j+1)
			}
		}
	}
}

func cleanPath(name string) string {
	name = strings.TrimSpace(name)
	if len(name) >= 2 && strings.IndexByte("\"'`", name[0]) >= 0 && name[len(name)-1] == name[0] {
		name = name[1 : len(name)-1]
	}
	if name == "" {
		return ""
	}
	return path.Clean(name)
}

// effect tells whether a hunk changes anything at all.
func (h *Hunk) effect() bool {
	if h.oldCut != h.newCut {
		return true
	}
	o, n := h.sides()
	if len(o) != len(n) {
		return true
	}
	for i := range o {
		if o[i] != n[i] {
			return true
		}
	}
	return false
}

// says tells whether the new side is telling enough to be recognised.
func (h *Hunk) says() bool {
	kept := 0
	for _, l := range h.Lines {
		if l.Kind == '+' && !isBlank(l.Text) {
			return true
		}
		if l.Kind == ' ' {
			kept++
		}
	}
	return kept > 1
}

// sides are the lines before and after.
func (h *Hunk) sides() (o, n []string) {
	for _, l := range h.Lines {
		if l.Kind != '+' {
			o = append(o, l.Text)
		}
		if l.Kind != '-' {
			n = append(n, l.Text)
		}
	}
	return o, n
}

// ops are the lines in the form that merge reads.
func (h *Hunk) ops() []op {
	var out []op
	a, b := 0, 0
	for _, l := range h.Lines {
		switch l.Kind {
		case ' ':
			out = append(out, op{opKeep, a, b})
			a, b = a+1, b+1
		case '-':
			out = append(out, op{opDrop, a, b})
			a++
		case '+':
			out = append(out, op{opAdd, a, b})
			b++
		}
	}
	return out
}
