// Package shell judges a command by its parse tree: what every simple command
// in it would do, to what, and how sure that is. It never runs anything and
// reads no file. It is a gate against accidents and clumsy tricks, not a
// boundary: a program that a command starts can do whatever its user can.
package shell

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Class is how a command is to be treated.
type Class string

// The classes, mildest first.
const (
	Free     Class = "free"     // ordinary work
	Ask      Class = "ask"      // a person decides
	Hardline Class = "hardline" // never run by an agent, whatever the settings
)

// Env is what the judge knows of the place where the command would run.
type Env struct {
	Dir     string   // working directory
	Tree    string   // inside it, deleting is ordinary work; "": Dir
	Home    string   // what ~ stands for
	Tmp     []string // directories for temporary files, beside /tmp and /var/tmp
	Private string   // the program's own directory, with keys in it; "": none
}

// Finding is one thing that was found, at a line and column counted from 1.
type Finding struct {
	Rule   string
	Reason string // for a person, and for the model
	Text   string // the part of the command that it is about
	Line   int
	Col    int
	Class  Class
}

func (f Finding) String() string {
	return fmt.Sprintf("%s (line %d, column %d: %s)", f.Reason, f.Line, f.Col, f.Text)
}

// Verdict is the judgement of a whole command: the gravest of its findings.
type Verdict struct {
	Class    Class
	Findings []Finding
}

// Rules returns the names of the rules that were met, each once.
func (v Verdict) Rules() []string {
	var names []string
	seen := map[string]bool{}
	for _, f := range v.Findings {
		if !seen[f.Rule] {
			seen[f.Rule] = true
			names = append(names, f.Rule)
		}
	}
	return names
}

// SyntaxError says where a command stops being shell.
type SyntaxError struct {
	Line, Col int
	Reason    string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("syntax error at line %d, column %d: %s", e.Line, e.Col, e.Reason)
}

// Parse reads a command as bash does. The error is a *SyntaxError.
func Parse(command string) (*syntax.File, error) {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err == nil {
		return f, nil
	}
	s := &SyntaxError{Line: 1, Col: 1, Reason: err.Error()}
	var parse syntax.ParseError
	var lang syntax.LangError
	switch {
	case errors.As(err, &parse):
		s.Line, s.Col, s.Reason = int(parse.Pos.Line()), int(parse.Pos.Col()), parse.Text
	case errors.As(err, &lang):
		s.Line, s.Col = int(lang.Pos.Line()), int(lang.Pos.Col())
	}
	return nil, s
}

// Judge says how a command is to be treated. What cannot be read as shell, or
// what it would run is not known before it runs, is for a person to decide.
func Judge(command string, env Env) Verdict {
	f, err := Parse(command)
	if err != nil {
		var s *SyntaxError
		errors.As(err, &s)
		return Verdict{Ask, []Finding{{Rule: "unparsable", Reason: "it cannot be read as a shell command: " + s.Reason, Text: clip(command), Line: s.Line, Col: s.Col, Class: Ask}}}
	}
	return JudgeFile(f, env)
}

// JudgeFile is Judge for a command that has been parsed.
func JudgeFile(f *syntax.File, env Env) (v Verdict) {
	defer func() {
		if p := recover(); p != nil { // the parser's library gives up on some trees
			v = Verdict{Ask, []Finding{{Rule: "unparsable", Reason: fmt.Sprintf("it could not be judged: %v", p), Line: 1, Col: 1, Class: Ask}}}
		}
	}()
	if env.Tree == "" {
		env.Tree = env.Dir
	}
	for _, p := range []*string{&env.Tree, &env.Home, &env.Private} {
		if *p != "" {
			*p = path.Clean(*p)
		}
	}
	j := &judge{env: env, dirs: []place{{env.Dir, true}}}
	j.file(f)
	v = Verdict{Class: Free, Findings: j.found}
	for _, x := range j.found {
		if v.Class != Hardline {
			v.Class = x.Class
		}
	}
	return v
}

// judge is one judgement on its way.
type judge struct {
	env   Env
	found []Finding

	vars    map[string]variable
	funcs   map[string]bool
	stdin   map[*syntax.Stmt]*syntax.Stmt // what feeds a statement through a pipe
	dirs    []place                       // where relative paths lead; the last counts
	fetched map[string]bool               // files that this command downloads
	made    map[string]written            // files that it writes
	away    int                           // inside commands that run in a container

	slab  []arg      // room for the arguments of many commands
	work  int        // done so far
	spare int        // of the allowance of this statement
	depth int        // of commands inside the text of others
	at    syntax.Pos // where such text stands; findings inside it point there
}

// place is a directory, as far as it is known.
type place struct {
	dir   string
	known bool
}

// maxWork bounds the evaluation of words, so that text which doubles itself
// stays unknown instead of filling the memory.
const maxWork = 20_000

// allowance is what every statement may spend beyond that, so that what stands
// behind costly text is judged like what stands before it.
const allowance = 400

// tired counts the work of expanding words, and reports whether there has been
// too much of it.
func (j *judge) tired(n int) bool {
	if j.work += n; j.work <= maxWork {
		return false
	}
	j.spare -= n
	return j.spare < 0
}

// maxDepth bounds commands inside commands; nobody means to nest deeper.
const maxDepth = 8

func (j *judge) report(c Class, rule string, n syntax.Node, reason string) {
	if j.away > 0 {
		c = Ask
	}
	pos := n.Pos()
	if j.at.IsValid() {
		pos = j.at
	}
	f := Finding{Rule: rule, Reason: reason, Text: textOf(n), Line: int(pos.Line()), Col: int(pos.Col()), Class: c}
	for _, have := range j.found {
		if have == f {
			return
		}
	}
	j.found = append(j.found, f)
}

func (j *judge) ask(rule string, n syntax.Node, reason string)  { j.report(Ask, rule, n, reason) }
func (j *judge) hard(rule string, n syntax.Node, reason string) { j.report(Hardline, rule, n, reason) }

// textOf prints a part of the tree on one line.
func textOf(n syntax.Node) string {
	var b strings.Builder
	switch x := n.(type) { // what the printer does not take by itself
	case *syntax.Redirect:
		if x.Word != nil {
			return clip(x.Op.String() + " " + textOf(x.Word))
		}
	case *syntax.Assign:
		if x.Name != nil && x.Value != nil {
			return clip(x.Name.Value + "=" + textOf(x.Value))
		}
	}
	if syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, n) != nil {
		return ""
	}
	return clip(strings.Join(strings.Fields(b.String()), " "))
}

func clip(s string) string {
	const most = 120
	if r := []rune(s); len(r) > most {
		return string(r[:most-3]) + "..."
	}
	return s
}
