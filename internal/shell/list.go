package shell

import (
	"mvdan.cc/sh/v3/syntax"
)

// Command is one simple command as it stands in a script, without what
// wraps it: "sudo env A=1 timeout 5 ls -l" is ls with wrappers.
type Command struct {
	Name       string   // without directories; "" when it is not known
	Args       []string // "\x00" stands for what is not known
	Wrappers   []string // sudo, env, timeout ..., outermost first
	Ends       []int    // where the words of the wrappers end in the script, in bytes
	Background bool     // it, or what it is part of, runs beside the rest
}

// Commands lists the simple commands of a script in their order. Those inside
// the text of others, as with sh -c, are not among them.
func Commands(f *syntax.File) []Command {
	j := &judge{vars: map[string]variable{}, dirs: []place{{}}}
	var all []Command
	var beside []syntax.Node
	var open []syntax.Node
	syntax.Walk(f, func(n syntax.Node) bool {
		if n == nil {
			last := open[len(open)-1]
			open = open[:len(open)-1]
			if len(beside) > 0 && beside[len(beside)-1] == last {
				beside = beside[:len(beside)-1]
			}
			return true
		}
		open = append(open, n)
		st, ok := n.(*syntax.Stmt)
		if !ok {
			return true
		}
		if st.Background {
			beside = append(beside, st)
		}
		if call, ok := st.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			c := j.list(call)
			c.Background = len(beside) > 0
			all = append(all, c)
		}
		return true
	})
	return all
}

// list takes the wrappers off a call.
func (j *judge) list(call *syntax.CallExpr) Command {
	v := &invocation{node: call}
	for _, w := range call.Args {
		v.argv = append(v.argv, j.fields(w)...)
	}
	var c Command
	for range maxDepth {
		if len(v.argv) == 0 || v.argv[0].unknown || v.argv[0].glob {
			break
		}
		inner, ok := unwrap(v)
		if !ok || inner == nil {
			break
		}
		c.Wrappers = append(c.Wrappers, v.name())
		c.Ends = append(c.Ends, endOf(v.argv[0]))
		v = inner
	}
	if len(v.argv) == 0 {
		return c
	}
	if !v.argv[0].unknown && !v.argv[0].glob {
		c.Name = v.name()
	}
	for _, a := range v.args() {
		c.Args = append(c.Args, a.s)
	}
	return c
}

func endOf(a arg) int {
	if a.word == nil {
		return -1
	}
	return int(a.word.End().Offset())
}

// Last is the command whose exit code is that of the script, if that can be
// told from its form.
func Last(f *syntax.File) (Command, bool) {
	if len(f.Stmts) == 0 {
		return Command{}, false
	}
	st := f.Stmts[len(f.Stmts)-1]
	for {
		if st.Negated || st.Background {
			return Command{}, false
		}
		switch x := st.Cmd.(type) {
		case *syntax.BinaryCmd:
			st = x.Y
		case *syntax.CallExpr:
			if len(x.Args) == 0 {
				return Command{}, false
			}
			j := &judge{vars: map[string]variable{}, dirs: []place{{}}}
			c := j.list(x)
			return c, c.Name != ""
		default:
			return Command{}, false
		}
	}
}
