package edit

import (
	"fmt"
	"strings"
)

// Status is what became of a hunk.
type Status string

const (
	StatusOK        Status = "ok"
	StatusNoMatch   Status = "no_match"
	StatusAmbiguous Status = "ambiguous"
	StatusNoop      Status = "noop" // it only shows context, or is already applied
)

// HunkResult is the fate of one hunk.
type HunkResult struct {
	Path     string `json:"path"`
	Index    int    `json:"index"` // from 1 within its section
	Status   Status `json:"status"`
	Line     int    `json:"line,omitempty"`  // from 1, in the file as the hunks before left it
	Lines    []int  `json:"lines,omitempty"` // the places of an ambiguous one
	Strategy string `json:"strategy,omitempty"`
	Message  string `json:"message,omitempty"`
}

// Change is what a patch as a whole does to one file.
type Change struct {
	Op   Op
	Path string
	To   string // of a move
	Old  string // empty for an added file
	New  string // empty for a deleted file
	Mode string // a mode that the patch asks for, or empty
}

// Outcome is a patch applied in memory: what to write, file by file.
type Outcome struct {
	Changes []Change
	Hunks   []HunkResult
}

// PatchError lists everything that keeps a patch from applying.
type PatchError struct {
	Problems []string
	Hunks    []HunkResult
}

func (e *PatchError) Error() string {
	return "the patch does not apply, no files were modified:\n- " + strings.Join(e.Problems, "\n- ")
}

// ReadFunc gives the text of a file as the patch finds it.
type ReadFunc func(path string) (content string, exists bool, err error)

// Apply runs the whole patch in memory. Sections compose: each sees what the
// ones before it did. If anything fails there are no changes at all: the
// Outcome then only holds the fate of each hunk, and the error is a
// *PatchError with every problem.
func (p *Patch) Apply(read ReadFunc) (*Outcome, error) {
	a := &applier{read: read, files: map[string]*file{}, budget: similarityBudget}
	for i := range p.Sections {
		a.section(&p.Sections[i])
	}
	out := &Outcome{Hunks: a.hunks}
	if len(a.problems) == 0 {
		out.Changes = a.changes()
		if len(out.Changes) == 0 {
			a.problem("the patch changes nothing")
		}
	}
	if len(a.problems) > 0 {
		out.Changes = nil
		return out, &PatchError{Problems: a.problems, Hunks: a.hunks}
	}
	return out, nil
}

// file is one path as the patch leaves it so far.
type file struct {
	path            string
	was             string
	existed, exists bool
	origin          string // where its content lay before the patch
	mode            string
	buf             *buffer
}

type applier struct {
	read     ReadFunc
	files    map[string]*file
	order    []*file
	hunks    []HunkResult
	problems []string
	budget   int
}

func (a *applier) problem(format string, args ...any) {
	if len(a.problems) < maxProblems {
		a.problems = append(a.problems, fmt.Sprintf(format, args...))
	}
}

// file reads a path at its first mention; nil when that fails.
func (a *applier) file(path string) *file {
	if f := a.files[path]; f != nil {
		return f
	}
	text, exists, err := a.read(path)
	if err != nil {
		a.problem("%s: %v", path, err)
		return nil
	}
	f := &file{path: path, was: text, existed: exists, exists: exists, origin: path}
	if exists {
		f.buf = newBuffer(text)
	}
	a.files[path] = f
	a.order = append(a.order, f)
	return f
}

func (a *applier) section(s *Section) {
	f := a.file(s.Path)
	if f == nil {
		return
	}
	if s.Op == Add {
		if f.exists {
			a.problem("%s: already exists; use Update File, or delete it first", s.Path)
			return
		}
		f.exists, f.origin, f.mode, f.buf = true, s.Path, s.Mode, newBuffer(s.Text)
		return
	}
	if !f.exists {
		a.problem("%s: no such file", s.Path)
		return
	}
	if s.Mode != "" {
		f.mode = s.Mode
	}
	effect := a.applyHunks(s, f)
	switch {
	case s.Op == Delete:
		if len(s.Hunks) > 0 && len(f.buf.text) > 0 {
			a.problem("%s: would be deleted, but the patch does not show all of its lines", s.Path)
		}
		f.exists, f.buf = false, nil
	case s.To != "":
		a.move(f, s.To)
	case !effect:
		a.problem("%s: no hunk changes anything", s.Path)
	}
}

func (a *applier) move(f *file, to string) {
	dst := a.file(to)
	if dst == nil {
		return
	}
	if dst.exists {
		a.problem("%s: cannot move to %s: it already exists", f.path, to)
		return
	}
	dst.exists, dst.origin, dst.mode, dst.buf = true, f.origin, f.mode, f.buf
	f.exists, f.buf = false, nil
}

// applyHunks reports on every hunk, also after one has failed. It tells
// whether any was meant to change something.
func (a *applier) applyHunks(s *Section, f *file) bool {
	f.buf.fresh = make([]bool, len(f.buf.text))
	effect := false
	drift := 0
	for i := range s.Hunks {
		h := &s.Hunks[i]
		r := HunkResult{Path: s.Path, Index: i + 1}
		switch {
		case !h.effect():
			r.Status = StatusNoop
			r.Message = "changes nothing and was skipped"
		default:
			effect = true
			p := a.place(f.buf, h, drift)
			r.Status, r.Strategy, r.Lines, r.Message = p.status, p.strategy, p.lines, p.message
			if p.status != StatusNoMatch {
				r.Line = p.at + 1
			}
			if p.status == StatusOK {
				drift += f.buf.apply(h, p.at)
			} else {
				a.problem("%s: hunk %d: %s", s.Path, i+1, p.describe())
			}
		}
		a.hunks = append(a.hunks, r)
	}
	return effect
}

// changes compares the end with the beginning.
func (a *applier) changes() []Change {
	moved := map[string]bool{}
	for _, f := range a.order {
		if f.exists && !f.existed && f.origin != f.path && !a.files[f.origin].exists {
			moved[f.origin] = true
		}
	}
	var out []Change
	for _, f := range a.order {
		c := Change{Path: f.path, Old: f.was, Mode: f.mode}
		if f.exists {
			c.New = f.buf.String()
		}
		switch {
		case f.exists && !f.existed && f.origin != f.path && moved[f.origin]:
			c.Op, c.Path, c.To, c.Old = Move, f.origin, f.path, a.files[f.origin].was
		case f.exists && !f.existed:
			c.Op, c.Old = Add, ""
		case f.exists && (c.New != f.was || f.mode != ""):
			c.Op = Update
		case f.existed && !f.exists && !moved[f.path]:
			c.Op = Delete
		default:
			continue
		}
		out = append(out, c)
	}
	return out
}
