package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// file judges a whole tree: one pass to learn what is assigned, defined and
// piped where, one to look at every statement, in order, at any depth.
func (j *judge) file(f *syntax.File) {
	saved := *j
	j.vars, j.funcs, j.stdin = map[string]variable{}, map[string]bool{}, map[*syntax.Stmt]*syntax.Stmt{}
	for k, v := range saved.vars {
		j.vars[k] = v
	}
	if j.fetched == nil {
		j.fetched = map[string]bool{}
	}
	j.learn(f)
	j.visit(f)
	j.vars, j.funcs, j.stdin = saved.vars, saved.funcs, saved.stdin
}

// text judges shell text found inside a command: the argument of sh -c, of
// eval, a here-document. n is where it stands.
func (j *judge) text(script string, n syntax.Node) {
	if j.depth >= maxDepth || j.tired(len(script)/16+100) {
		j.ask("too-deep", n, "commands are nested too deeply to be judged")
		return
	}
	f, err := Parse(script)
	if err != nil {
		j.ask("unparsable", n, "the inner command cannot be read as shell: "+err.Error())
		return
	}
	at, dirs := j.at, j.dirs
	if !j.at.IsValid() {
		j.at = n.Pos()
	}
	j.dirs = append([]place(nil), j.dirs...)
	j.depth++
	j.file(f)
	j.depth--
	j.at, j.dirs = at, dirs
}

func (j *judge) learn(f *syntax.File) {
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Word:
			_, text := plain(n)
			return !text
		case *syntax.FuncDecl:
			for _, name := range append([]*syntax.Lit{n.Name}, n.Names...) {
				if name != nil {
					j.funcs[name.Value] = true
				}
			}
			if callsItself(n) {
				j.hard("fork-bomb", n, "it starts itself over and over until the machine stops")
			}
		case *syntax.CallExpr:
			for _, a := range n.Assigns {
				if len(n.Args) > 0 && a.Name != nil && a.Name.Value == "IFS" {
					continue // for that command only
				}
				j.assign(a)
			}
			if len(n.Args) > 0 && lit(n.Args[0]) == "read" {
				for _, w := range n.Args[1:] {
					j.vars[lit(w)] = variable{}
				}
			}
		case *syntax.DeclClause:
			reference := false
			for _, a := range n.Args {
				o := lit(a.Value)
				reference = reference || a.Naked && strings.HasPrefix(o, "-") && strings.Contains(o, "n")
				j.assign(a)
				if reference && a.Name != nil {
					j.vars[a.Name.Value] = variable{} // it stands for whatever another one holds
				}
			}
		case *syntax.ForClause:
			if it, ok := n.Loop.(*syntax.WordIter); ok && it.Name != nil {
				j.vars[it.Name.Value] = variable{items: it.Items, loop: true}
			}
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				syntax.Walk(n.Y, func(m syntax.Node) bool {
					if st, ok := m.(*syntax.Stmt); ok {
						j.stdin[st] = n.X
					}
					_, inner := m.(*syntax.CmdSubst)
					return !inner
				})
			}
		}
		return true
	})
}

// callsItself recognises :(){ :|:& };: by what it does: a function that runs
// itself on both sides of a pipe or in the background.
func callsItself(f *syntax.FuncDecl) bool {
	if f.Name == nil {
		return false
	}
	calls, apart := 0, false
	syntax.Walk(f.Body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if len(n.Args) > 0 && lit(n.Args[0]) == f.Name.Value {
				calls++
			}
		case *syntax.Stmt:
			apart = apart || n.Background
		}
		return true
	})
	return calls >= 2 && apart
}

func (j *judge) assign(a *syntax.Assign) {
	if a.Name == nil {
		return
	}
	name := a.Name.Value
	if a.Value != nil && watched(name) {
		j.setsVariable(a, name, j.word(a.Value))
	}
	if _, twice := j.vars[name]; twice || a.Append || a.Index != nil || a.Array != nil {
		j.vars[name] = variable{} // which value counts is not known
		return
	}
	j.vars[name] = variable{value: a.Value, set: true}
}

// visit looks at every statement. Directories changed inside a subshell do
// not count after it.
func (j *judge) visit(root syntax.Node) {
	var open []int // length of dirs to go back to, -1: none
	syntax.Walk(root, func(n syntax.Node) bool {
		if n == nil {
			last := len(open) - 1
			if open[last] >= 0 {
				j.dirs = j.dirs[:open[last]]
			}
			open = open[:last]
			return true
		}
		back := -1
		switch n := n.(type) {
		case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.FuncDecl:
			back = len(j.dirs)
			j.dirs = append(j.dirs, j.dir())
		case *syntax.Stmt:
			j.stmt(n)
		case *syntax.Word:
			if _, ok := plain(n); ok {
				return false // nothing in it runs
			}
		}
		open = append(open, back)
		return true
	})
}

func (j *judge) dir() place { return j.dirs[len(j.dirs)-1] }

func (j *judge) stmt(st *syntax.Stmt) {
	j.spare = allowance
	for _, r := range st.Redirs {
		j.redirect(r)
	}
	call, ok := st.Cmd.(*syntax.CallExpr)
	if st.Cmd == nil || ok && len(call.Args) > 0 && (lit(call.Args[0]) == ":" || lit(call.Args[0]) == "true" || lit(call.Args[0]) == "cat" && len(call.Args) == 2 && lit(call.Args[1]) == "/dev/null") {
		for _, r := range st.Redirs {
			if p, known := j.resolve(j.word(r.Word).s); known && (r.Op == syntax.RdrOut || r.Op == syntax.RdrClob || r.Op == syntax.RdrAll) {
				j.empties(r, p)
			}
		}
	}
	if !ok || len(call.Args) == 0 {
		return
	}
	if cap(j.slab)-len(j.slab) < len(call.Args) {
		j.slab = make([]arg, 0, max(256, len(call.Args)))
	}
	argv := j.slab[len(j.slab) : len(j.slab) : len(j.slab)+len(call.Args)]
	j.slab = j.slab[:len(j.slab)+len(call.Args)]
	for _, w := range call.Args {
		if a, ok := plain(w); ok {
			argv = append(argv, a)
		} else {
			argv = append(argv, j.fields(w)...)
		}
	}
	j.call(&invocation{argv: argv, node: call, stmt: st})
	j.download(st, argv)
}

// written is a file that a command writes, as far as what is in it is known.
type written struct {
	text  string
	known bool
}

// download remembers the files into which a statement puts what comes from
// another machine, and what it writes into others: by redirection, or through
// tee.
func (j *judge) download(st *syntax.Stmt, argv []arg) {
	var names []string
	more := false // it is added to what is there
	for _, r := range st.Redirs {
		switch r.Op {
		case syntax.AppOut, syntax.AppAll:
			more = true
			names = append(names, base(j.word(r.Word).s))
		case syntax.RdrOut, syntax.RdrClob, syntax.RdrAll:
			names = append(names, base(j.word(r.Word).s))
		}
	}
	from := st
	if len(argv) > 0 && argv[0].s == "tee" {
		from = j.stdin[st]
		for _, a := range argv[1:] {
			if a.s == "-a" || a.s == "--append" {
				more = true
			}
			names = append(names, base(a.s))
		}
	}
	if len(names) == 0 {
		return
	}
	if j.fetches(st) {
		for _, name := range names {
			j.fetched[name] = true
		}
		return
	}
	var got written
	switch {
	case from == nil: // tee of a here-document
		got.text, got.known = j.fedText(st)
	case from == st && len(argv) > 0 && argv[0].s == "cat":
		got.text, got.known = j.fedText(st)
	case from == st:
		got.text, got.known = j.printed(argv)
	default:
		got.text, got.known = j.output([]*syntax.Stmt{from})
	}
	for _, name := range names {
		if j.made == nil {
			j.made = map[string]written{}
		}
		now := got
		if before, ok := j.made[name]; ok && more {
			now = written{before.text + got.text, before.known && got.known}
		}
		j.made[name] = now
	}
}

// fedText is what a statement reads, where that is written in the command.
func (j *judge) fedText(st *syntax.Stmt) (string, bool) {
	text, kind := j.input(&invocation{stmt: st})
	return text, kind == inputKnown
}

// runsMade judges running, as shell, a file that the same command writes.
func (j *judge) runsMade(v *invocation, name string) bool {
	m, ok := j.made[base(name)]
	switch {
	case !ok:
		return false
	case m.known && (strings.HasPrefix(m.text, "#!") && !strings.Contains(strings.SplitN(m.text, "\n", 2)[0], "sh")):
		return false // a program in another language
	case m.known:
		j.text(m.text, v.node)
	default:
		j.ask("unknown-command", v.node, "it runs a file that the same command writes")
	}
	return true
}

// fetches reports whether curl or wget is in a statement or in what feeds it.
func (j *judge) fetches(st *syntax.Stmt) bool {
	found := false
	syntax.Walk(st, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			name := base(lit(call.Args[0]))
			found = found || name == "curl" || name == "wget"
		}
		return !found
	})
	if from := j.stdin[st]; !found && from != nil && from != st {
		return j.fetches(from)
	}
	return found
}

// invocation is one simple command, or one that another command runs.
type invocation struct {
	argv  []arg
	node  syntax.Node
	stmt  *syntax.Stmt // with its redirections; nil when there are none
	more  bool         // arguments not known here follow, as with xargs
	fed   bool         // its standard input is data we do not know
	super bool         // it runs as another user

	bare  bool   // a shell with nothing to run is a shell for somebody
	raw   []arg  // argv before unknown values were put in for place
	place string // what xargs replaces by what it reads
}

func (v *invocation) name() string {
	name := v.argv[0].s
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	return name
}

func (v *invocation) args() []arg { return v.argv[1:] }

func (v *invocation) with(argv []arg) *invocation {
	c := *v
	c.argv = argv
	return &c
}

// judged reports whether a command of that name is looked at closely.
func judged(name string) bool {
	_, wraps := wrappers()[name]
	return wraps || runner(name) != nil || ruleFor(name) != nil || len(deedsOf(name)) > 0 || len(carriers()[name]) > 0
}

// call judges one invocation: first what it runs in turn, then what it does.
func (j *judge) call(v *invocation) {
	for len(v.argv) > 0 && v.argv[0].s == "" && !v.argv[0].quoted && !v.argv[0].unknown {
		v = v.with(v.argv[1:])
	}
	if len(v.argv) == 0 {
		return
	}
	if head := v.argv[0]; (head.unknown || head.glob) && !somewhere(head) {
		j.ask("unknown-command", v.node, "what it runs is only known once it runs")
		return
	}
	if j.funcs[v.argv[0].s] && !judged(v.name()) {
		return // its body is judged where it is defined; a known name may also mean the program
	}
	if j.depth > 4*maxDepth {
		j.ask("too-deep", v.node, "commands are nested too deeply to be judged")
		return
	}
	j.depth++
	j.program(v, v.name())
	j.depth--
}

// somewhere reports whether of a program only the directory is not known, as
// in $VIRTUAL_ENV/bin/pip: it is judged by its name.
func somewhere(head arg) bool {
	i := strings.LastIndexByte(head.s, '/')
	return !head.glob && i > 0 && i < len(head.s)-1 && !strings.Contains(head.s[i:], hole) && head.s[i-1] != hole[0]
}

// program judges a command whose program is known.
func (j *judge) program(v *invocation, name string) {
	w, wraps := wrappers()[name]
	if w.vars || w.super {
		for _, a := range v.args() {
			if name, value, ok := strings.Cut(a.s, "="); ok && watched(name) {
				j.setsVariable(v.node, name, arg{s: value, unknown: a.unknown})
			}
		}
	}
	if wraps {
		inner, _ := unwrap(v)
		j.deeds(v)
		if inner != nil && !j.repeated(v, inner) {
			j.call(inner)
		}
		return
	}
	if head := v.argv[0].s; strings.Contains(head, "/") {
		if j.fetched[base(head)] {
			j.ask("remote-code", v.node, "it runs a file that the same command downloads")
			return
		}
		if j.runsMade(v, head) {
			return
		}
	}
	j.reading(v)
	j.outputs(v)
	j.optionTexts(v)
	j.carried(v)
	switch name {
	case "curl", "wget", "http", "https", "xh", "aria2c", "gh", "glab":
		requesting(j, v)
	}
	j.handsShell(v)
	run, rule := runner(name), ruleFor(name)
	if run != nil {
		run(j, v)
	} else if rule != nil {
		rule(j, v)
	}
	if known := j.deeds(v); !known && run == nil && rule == nil && len(carriers()[name]) == 0 {
		j.stranger(v)
	}
}

// deeds asks about what the table knows of the program. It reports whether
// that is anything.
func (j *judge) deeds(v *invocation) bool {
	known := deedsOf(v.name())
	for _, d := range known {
		if d.meant(v) {
			j.report(d.class(), d.rule, v.node, d.reason)
			break
		}
	}
	return len(known) > 0
}
