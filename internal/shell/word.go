package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// arg is one argument as far as it is known before the command runs.
type arg struct {
	s       string // with hole for each part that is not known
	unknown bool   // s has a hole
	glob    bool   // s is a pattern
	quoted  bool   // some of it was quoted: it is an argument even when empty
	proc    *syntax.ProcSubst
	subst   *syntax.CmdSubst // the substitution behind a hole
	word    *syntax.Word     // where it stands
}

// hole stands for an unknown part of an argument.
const hole = "\x00"

// item stands for a hole inside shell text that is parsed again: the place
// where find, xargs and parallel put what they found. A hole itself would end
// the text.
const item = "\uE0FF"

// variable is what a name stands for in this command.
type variable struct {
	value *syntax.Word
	set   bool // value counts, nil being empty
	items []*syntax.Word
	loop  bool
	text  string // already evaluated
	fixed bool
}

// lit is the text of a word that is nothing but text, else "".
func lit(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	return w.Lit()
}

// fields evaluates a word as the shell would: braces, parameters, splitting.
func (j *judge) fields(w *syntax.Word) []arg {
	if w == nil {
		return nil
	}
	if a, ok := plain(w); ok {
		return []arg{a}
	}
	const most = 1000 // {1..100000} and its like: enough has been seen
	var all []arg
	whole := w
	braces := slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		l, ok := p.(*syntax.Lit)
		return ok && strings.Contains(l.Value, "{")
	})
	if braces {
		w = &syntax.Word{Parts: slices.Clone(w.Parts)} // the tree itself must stay walkable
	}
	if !braces || !syntax.SplitBraces(w) {
		b := builder{j: j}
		b.parts(w.Parts, false, true)
		all = b.finish()
		for i := range all {
			all[i].word = whole
		}
		return all
	}
	for one, err := range expand.BracesSeq(nil, w) {
		if err != nil || len(all) >= most || j.tired(1) {
			all = append(all, arg{s: hole, unknown: true}) // there may be more
			break
		}
		b := builder{j: j}
		b.parts(one.Parts, false, true)
		all = append(all, b.finish()...)
	}
	for i := range all {
		all[i].word = whole
	}
	return all
}

// plain is a word that is nothing but text: most are, and what they say never
// depends on how much there was to evaluate before.
func plain(w *syntax.Word) (arg, bool) {
	if len(w.Parts) != 1 {
		return arg{}, false
	}
	switch p := w.Parts[0].(type) {
	case *syntax.Lit:
		if !strings.ContainsAny(p.Value, "\\*?[~{"+item) {
			return arg{s: p.Value, word: w}, true
		}
	case *syntax.SglQuoted:
		if !p.Dollar && !strings.Contains(p.Value, item) {
			return arg{s: p.Value, quoted: true, word: w}, true
		}
	case *syntax.DblQuoted:
		if len(p.Parts) == 1 && !p.Dollar {
			if l, ok := p.Parts[0].(*syntax.Lit); ok && !strings.ContainsAny(l.Value, "\\"+item) {
				return arg{s: l.Value, quoted: true, word: w}, true
			}
		}
	}
	return arg{}, false
}

// word evaluates without splitting, as in assignments and redirections.
func (j *judge) word(w *syntax.Word) arg {
	if w == nil {
		return arg{quoted: true}
	}
	if a, ok := plain(w); ok {
		return a
	}
	b := builder{j: j}
	b.parts(w.Parts, false, false)
	got := b.finish()
	if len(got) == 0 {
		return arg{quoted: true}
	}
	return got[0]
}

// builder collects the fields of one word.
type builder struct {
	j     *judge
	done  []arg
	cur   arg
	began bool
	text  strings.Builder
	deep  int
}

func (b *builder) add(s string) {
	b.began = b.began || s != ""
	if b.deep > 0 && len(s) > 64 && b.j.tired(len(s)/64) {
		b.cur.unknown, s = true, hole
	}
	b.text.WriteString(s)
}

// literalPart reports whether a part is what it says: its cost is that of its length.
func literalPart(p syntax.WordPart) bool {
	switch p.(type) {
	case *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted:
		return true
	}
	return false
}

func (b *builder) hole() {
	b.cur.unknown = true
	b.add(hole)
}

func (b *builder) cut() {
	if b.began || b.cur.quoted {
		b.cur.s = b.text.String()
		if strings.Contains(b.cur.s, item) {
			b.cur.s, b.cur.unknown = strings.ReplaceAll(b.cur.s, item, hole), true
		}
		b.done = append(b.done, b.cur)
	}
	b.cur, b.began = arg{}, false
	b.text.Reset()
}

func (b *builder) finish() []arg {
	b.cut()
	return b.done
}

func (b *builder) parts(parts []syntax.WordPart, quoted, split bool) {
	for i, p := range parts {
		if (b.deep > 0 || !literalPart(p)) && b.j.tired(1) {
			b.hole()
			return
		}
		switch p := p.(type) {
		case *syntax.Lit:
			b.literal(p.Value, quoted, i == 0 && !b.began)
		case *syntax.SglQuoted:
			b.cur.quoted = true
			if p.Dollar {
				b.add(unescape(p.Value))
			} else {
				b.add(p.Value)
			}
		case *syntax.DblQuoted:
			b.cur.quoted = true
			b.parts(p.Parts, true, false)
		case *syntax.ParamExp:
			b.param(p, quoted, split)
		case *syntax.CmdSubst:
			if s, ok := b.j.output(p.Stmts); ok {
				b.splitInto(s, quoted || !split)
				continue
			}
			b.cur.subst = p
			b.hole()
		case *syntax.ProcSubst:
			b.cur.proc = p
			b.add("/dev/fd/63")
		case *syntax.ExtGlob:
			b.cur.glob = true
			b.add("*")
		default: // arithmetic and what is still to come
			b.hole()
		}
	}
}

// literal takes backslashes off and sees patterns and a leading ~.
func (b *builder) literal(s string, quoted, first bool) {
	if first && !quoted && strings.HasPrefix(s, "~") {
		user, rest, slash := strings.Cut(s, "/")
		switch {
		case user == "~" && b.j.env.Home != "":
			b.add(b.j.env.Home)
		case user == "~root":
			b.add("/root")
		default:
			b.hole()
		}
		if !slash {
			return
		}
		s = "/" + rest
	}
	for s != "" {
		special := `\*?[`
		if quoted {
			special = `\`
		}
		i := strings.IndexAny(s, special)
		if i < 0 {
			b.add(s)
			return
		}
		if i > 0 {
			b.add(s[:i])
		}
		c := s[i]
		s = s[i+1:]
		switch {
		case c == '\\' && s == "":
			b.add(`\`)
		case c == '\\' && quoted && strings.IndexByte("$`\"\\\n", s[0]) < 0:
			b.add(`\`)
		case c == '\\':
			if s[0] != '\n' {
				b.cur.quoted = true
				b.add(s[:1])
			}
			s = s[1:]
		case c != '[' || strings.Contains(s, "]"):
			b.cur.glob = true
			b.add(string(c))
		default:
			b.add("[")
		}
	}
}

// param evaluates a parameter when its value is written in the command, or is
// one of the few that everybody knows.
func (b *builder) param(p *syntax.ParamExp, quoted, split bool) {
	if p.Param == nil || p.Excl || p.Length || p.Width || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 {
		b.hole()
		return
	}
	if _, cut := b.j.vars["IFS"]; cut && split && !quoted {
		b.hole() // where it is cut into words is not followed
		return
	}
	deflt := p.Exp != nil && (p.Exp.Op == syntax.DefaultUnset || p.Exp.Op == syntax.DefaultUnsetOrNull || p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull)
	if p.Exp != nil && !deflt {
		b.hole()
		return
	}
	values, ok := b.j.lookup(p.Param.Value, b.deep)
	switch {
	case ok && len(values) == 1:
		if values[0].unknown {
			b.hole()
			return
		}
		b.cur.glob = b.cur.glob || values[0].glob && !quoted
		b.splitInto(values[0].s, quoted || !split)
	case ok && len(values) > 1 && !b.began && !quoted:
		// A loop over known items: as if all of them stood here.
		for i, v := range values {
			if i > 0 {
				b.cut()
			}
			b.cur.glob, b.cur.unknown = v.glob, v.unknown
			b.add(v.s)
		}
	case ok && len(values) > 1:
		// The gravest item is the one that leads out of the directory.
		pick := values[0]
		for _, v := range values {
			if v.unknown || strings.HasPrefix(v.s, "/") || strings.Contains(v.s, "..") {
				pick = v
			}
		}
		if pick.unknown {
			b.hole()
			return
		}
		b.cur.glob = b.cur.glob || pick.glob
		b.add(pick.s)
	case deflt && p.Exp.Word != nil && !ok:
		inner := builder{j: b.j, deep: b.deep + 1}
		inner.parts(p.Exp.Word.Parts, true, false)
		for _, a := range inner.finish() {
			b.cur.unknown = b.cur.unknown || a.unknown
			b.add(a.s)
		}
	default:
		b.hole()
	}
}

func (b *builder) splitInto(s string, whole bool) {
	if len(s) > 64 && b.j.tired(len(s)/64) {
		b.hole()
		return
	}
	if whole {
		b.add(s)
		return
	}
	if s != "" && strings.ContainsRune(" \t\n", rune(s[0])) {
		b.cut()
	}
	for i, f := range strings.Fields(s) {
		if i > 0 {
			b.cut()
		}
		if strings.ContainsAny(f, "*?[") {
			b.cur.glob = true
		}
		b.add(f)
	}
	if s != "" && strings.ContainsRune(" \t\n", rune(s[len(s)-1])) {
		b.cut()
	}
}

// lookup returns the values a parameter may have.
func (j *judge) lookup(name string, deep int) ([]arg, bool) {
	v, assigned := j.vars[name]
	switch {
	case assigned && v.fixed:
		return []arg{{s: v.text}}, true
	case assigned && deep > maxDepth:
		return nil, false
	case assigned && v.set:
		if v.value == nil {
			return []arg{{}}, true
		}
		b := builder{j: j, deep: deep + 1}
		b.parts(v.value.Parts, false, false)
		if got := b.finish(); len(got) > 0 {
			return got[:1], true
		}
		return []arg{{}}, true
	case assigned && v.loop:
		var all []arg
		for _, w := range v.items {
			b := builder{j: j, deep: deep + 1}
			b.parts(w.Parts, false, true)
			all = append(all, b.finish()...)
		}
		return all, len(all) > 0
	case assigned:
		return nil, false
	}
	switch name {
	case "IFS":
		return []arg{{s: " \t\n"}}, true
	case "HOME":
		if j.env.Home != "" {
			return []arg{{s: j.env.Home}}, true
		}
	case "PWD":
		if d := j.dir(); d.known && d.dir != "" {
			return []arg{{s: d.dir}}, true
		}
	case "HERMES_HOME":
		if j.env.Private != "" {
			return []arg{{s: j.env.Private}}, true
		}
	case "TMPDIR":
		if len(j.env.Tmp) > 0 {
			return []arg{{s: j.env.Tmp[0]}}, true
		}
	}
	return nil, false
}

// output is what statements print, when that is written in them: echo and
// printf of known words, and asking for the path of a program.
func (j *judge) output(stmts []*syntax.Stmt) (string, bool) {
	if len(stmts) != 1 || j.depth > maxDepth {
		return "", false
	}
	st := stmts[0]
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(call.Assigns) > 0 || len(st.Redirs) > 0 && (len(call.Args) > 1 || lit(call.Args[0]) != "cat") {
		return "", false
	}
	j.depth++
	defer func() { j.depth-- }()
	var argv []arg
	for _, w := range call.Args {
		argv = append(argv, j.fields(w)...)
	}
	if len(argv) == 1 && argv[0].s == "cat" { // what is fed is handed on
		return j.fedText(st)
	}
	s, ok := j.printed(argv)
	return s, ok
}

// printed is what a command prints, when its words say it.
func (j *judge) printed(argv []arg) (string, bool) {
	words := make([]string, 0, len(argv))
	for _, a := range argv {
		if a.unknown || a.glob || a.proc != nil {
			return "", false
		}
		words = append(words, a.s)
	}
	switch {
	case len(words) == 0:
		return "", false
	case words[0] == "echo":
		words = words[1:]
		escapes := false
		for len(words) > 0 && len(words[0]) > 1 && words[0][0] == '-' && strings.Trim(words[0][1:], "neE") == "" {
			escapes = escapes || strings.Contains(words[0], "e")
			words = words[1:]
		}
		s := strings.Join(words, " ")
		if escapes {
			s = unescape(s)
		}
		return s, true
	case words[0] == "printf" && len(words) > 1:
		// a nil configuration is one that all callers share and write
		s, _, err := expand.Format(&expand.Config{}, words[1], words[2:])
		return s, err == nil && !strings.Contains(s, hole)
	case len(words) == 2 && words[0] == "which", len(words) == 3 && words[0] == "command" && words[1] == "-v", len(words) == 3 && words[0] == "type" && words[1] == "-p":
		return words[len(words)-1], true
	case words[0] == "pwd" && j.dir().known && j.dir().dir != "":
		return j.dir().dir, true
	}
	return "", false
}

// unescape reads backslash escapes. Text with a NUL ends there, as in C.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	got, _, err := expand.Format(&expand.Config{}, strings.ReplaceAll(s, "%", "%%"), nil)
	if err != nil {
		return s
	}
	got, _, _ = strings.Cut(got, hole)
	return got
}

// resolve makes a path absolute and clean. known is false when a hole or an
// unknown directory leaves open where it leads; the path is then the part
// before.
func (j *judge) resolve(s string) (abs string, known bool) {
	known = true
	if i := strings.Index(s, hole); i >= 0 {
		s, known = s[:i], false
	}
	if !path.IsAbs(s) {
		d := j.dir()
		if !d.known || d.dir == "" {
			return s, false
		}
		if s == "" && !known {
			return "", false
		}
		return path.Clean(d.dir + "/" + s), known
	}
	return path.Clean(s), known
}
