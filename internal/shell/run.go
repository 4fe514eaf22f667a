package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// runner returns what judges a command whose arguments or input are a program.
func runner(name string) func(*judge, *invocation) {
	if isShell(name) {
		return runShell
	}
	if _, ok := languageOf(name); ok || name == "pwsh" || name == "powershell" {
		return runInterpreter
	}
	switch name {
	case "parallel":
		return runParallel
	case "eval":
		return runEval
	case "source", ".":
		return runSource
	case "find":
		return runFind
	case "fd", "fdfind":
		return runFd
	case "su", "runuser":
		return runSu
	case "ssh":
		return runSSH
	case "trap":
		return runTrap
	case "script":
		return runScript
	case "alias":
		return runAlias
	case "cd", "pushd", "popd":
		return runCd
	}
	return nil
}

func isShell(name string) bool {
	switch name {
	case "sh", "bash", "zsh", "ksh", "dash", "ash", "mksh", "fish", "rbash":
		return true
	}
	return false
}

// runShell judges a shell: its -c text, else what it is fed.
func runShell(j *judge, v *invocation) {
	args := v.args()
	for len(args) > 0 {
		a := args[0]
		switch {
		case a.unknown && strings.HasPrefix(a.s, hole):
			j.ask("unknown-command", v.node, "what the shell runs is only known once it runs")
			return
		case a.s == "--rcfile" || a.s == "--init-file" || a.s == "-o" || a.s == "+o" || a.s == "-O" || a.s == "+O":
			args = args[min(2, len(args)):]
		case strings.HasPrefix(a.s, "--") && len(a.s) > 2:
			args = args[1:]
		case a.s == "--":
			j.scriptArg(v, args[1:])
			return
		case len(a.s) > 1 && (a.s[0] == '-' || a.s[0] == '+'):
			if a.s[0] == '-' && strings.Contains(a.s, "c") {
				j.inline(v, args[1:])
				return
			}
			if strings.Contains(a.s, "s") {
				j.fedShell(v)
				return
			}
			args = args[1:]
		default:
			j.scriptArg(v, args)
			return
		}
	}
	j.scriptArg(v, nil)
}

// inline judges the text after -c.
func (j *judge) inline(v *invocation, args []arg) {
	for len(args) > 0 && len(args[0].s) > 1 && args[0].s[0] == '-' { // bash -c -e 'text'
		args = args[1:]
	}
	switch {
	case len(args) == 0:
		if v.more {
			j.ask("unknown-command", v.node, "what the shell runs is only known once it runs")
		}
	case args[0].unknown || args[0].glob:
		j.ask("unknown-command", v.node, "what the shell runs is only known once it runs")
	default:
		// $0, $1 ... inside the text are the arguments that follow it.
		saved := j.vars
		j.vars = map[string]variable{}
		for k, x := range saved {
			j.vars[k] = x
		}
		for i, a := range args[1:] {
			if i < 10 && !a.unknown {
				j.vars[string(rune('0'+i))] = variable{text: a.s, fixed: true}
			}
		}
		j.text(args[0].s, v.node)
		j.vars = saved
	}
}

func (j *judge) scriptArg(v *invocation, args []arg) {
	switch {
	case len(args) == 0:
		j.fedShell(v)
	case args[0].proc != nil:
		if text, ok := j.output(args[0].proc.Stmts); ok {
			j.text(text, v.node)
		} else if !harmlessEval(args[0].proc.Stmts) {
			j.ask("remote-code", v.node, "it runs what another command prints")
		}
	case args[0].unknown && !strings.Contains(strings.TrimSuffix(args[0].s, hole), "/"):
		j.ask("unknown-command", v.node, "which script it runs is only known once it runs")
	case args[0].s == "-" || args[0].s == "/dev/stdin" || strings.HasPrefix(args[0].s, "/dev/fd/"):
		j.fedShell(v)
	case j.fetched[base(args[0].s)]:
		j.ask("remote-code", v.node, "it runs a file that the same command downloads")
	default:
		j.runsMade(v, args[0].s)
	}
}

// fedShell judges a shell that reads its program from its standard input.
func (j *judge) fedShell(v *invocation) {
	switch text, kind := j.input(v); kind {
	case inputKnown:
		j.text(text, v.node)
	case inputUnknown:
		j.ask("pipe-shell", v.node, "it runs as shell commands what only comes to be known while it runs")
	case inputNone:
		if v.bare && j.away == 0 {
			j.ask("inline-code", v.node, "it opens a shell from inside another program, or as another user")
		}
	case inputFile:
	}
}

type inputKind int

const (
	inputNone    inputKind = iota // nothing is fed
	inputFile                     // a file by name
	inputKnown                    // text that is written in the command
	inputUnknown                  // anything else
)

// input finds what a command reads.
func (j *judge) input(v *invocation) (string, inputKind) {
	if v.fed {
		return "", inputUnknown
	}
	if v.stmt == nil {
		return "", inputNone
	}
	for i := len(v.stmt.Redirs) - 1; i >= 0; i-- {
		r := v.stmt.Redirs[i]
		if r.N != nil && r.N.Value != "0" {
			continue
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			if r.Hdoc == nil {
				return "", inputKnown
			}
			a := j.word(r.Hdoc)
			if quotedDelimiter(r.Word) {
				a = arg{s: rawText(r.Hdoc)}
			}
			if a.unknown {
				return a.s, inputUnknown
			}
			return a.s, inputKnown
		case syntax.WordHdoc:
			if a := j.word(r.Word); !a.unknown {
				return a.s, inputKnown
			}
			return "", inputUnknown
		case syntax.RdrIn:
			a := j.word(r.Word)
			if m, ok := j.made[base(a.s)]; ok && m.known {
				return m.text, inputKnown
			} else if a.proc != nil {
				if s, ok := j.output(a.proc.Stmts); ok {
					return s, inputKnown
				}
				return "", inputUnknown
			} else if ok || j.fetched[base(a.s)] || strings.HasPrefix(a.s, "/dev/fd/") {
				return "", inputUnknown
			}
			return "", inputFile
		case syntax.DplIn:
			return "", inputUnknown
		}
	}
	if from := j.stdin[v.stmt]; from != nil {
		if s, ok := j.output([]*syntax.Stmt{from}); ok {
			return s, inputKnown
		}
		return "", inputUnknown
	}
	return "", inputNone
}

func quotedDelimiter(w *syntax.Word) bool { return w.Lit() == "" || strings.Contains(w.Lit(), `\`) }

func rawText(w *syntax.Word) string {
	var b strings.Builder
	for _, p := range w.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			b.WriteString(l.Value)
		}
	}
	return b.String()
}

func runEval(j *judge, v *invocation) {
	var words []string
	for _, a := range v.args() {
		if a.unknown || a.glob {
			if a.subst != nil && harmlessEval(a.subst.Stmts) {
				continue
			}
			j.ask("unknown-command", v.node, "eval runs what only comes to be known while it runs")
			return
		}
		words = append(words, a.s)
	}
	if v.more {
		j.ask("unknown-command", v.node, "eval runs what only comes to be known while it runs")
		return
	}
	if len(words) > 0 {
		j.text(strings.Join(words, " "), v.node)
	}
}

// harmlessEval knows programs that are meant to be used as
// eval "$(program init bash)": what they print is no more theirs to choose
// than what they do when they are run.
func harmlessEval(stmts []*syntax.Stmt) bool {
	if len(stmts) != 1 {
		return false
	}
	call, ok := stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(stmts[0].Redirs) > 0 {
		return false
	}
	switch name := base(lit(call.Args[0])); name {
	case "ssh-agent", "dircolors", "lesspipe", "opam", "resize", "luarocks", "thefuck", "register-python-argcomplete":
		return true
	case "docker", "kubectl", "gh", "glab", "npm", "pnpm", "helm", "minikube", "brew", "conda", "mamba", "micromamba", "mise", "pyenv", "rbenv", "direnv", "docker-machine", "uv", "poetry",
		"op", "doppler", "fly", "flyctl", "hatch", "pipx", "rustup", "argocd", "k3d", "kind", "aws", "git":
	case "", "echo", "printf", "eval", "ssh":
		return false
	default:
		if readsFiles(name) || judged(name) {
			return false
		}
	}
	for _, w := range call.Args[1:] {
		switch lit(w) {
		case "init", "virtualenv-init", "shellenv", "env", "docker-env", "podman-env", "hook", "activate", "shell.bash", "shell.zsh", "completion", "completions", "shell", "alias", "generate-shell-completion", "shell-init", "shell-hook", "export":
			return true
		}
	}
	return false
}

func runSource(j *judge, v *invocation) {
	args := v.args()
	if len(args) == 0 {
		return
	}
	j.scriptArg(v, args)
}

func runSu(j *judge, v *invocation) {
	if text, ok := commandText(v.args()); ok {
		c := v.with(v.argv)
		c.super = true
		j.inline(c, text)
		return
	}
	j.ask("unknown-command", v.node, "it opens a shell as another user")
}

// runSSH judges what would run elsewhere as if it ran here.
func runSSH(j *judge, v *invocation) {
	args := v.args()
	for len(args) > 0 && strings.HasPrefix(args[0].s, "-") {
		if strings.HasPrefix(args[0].s, "-R") || strings.HasSuffix(args[0].s, "R") {
			j.ask("network", v.node, "it opens this machine to others")
		}
		takes := strings.ContainsAny(args[0].s[len(args[0].s)-1:], "BbcDEeFIiJLlmOopQRSWw") && len(args[0].s) == 2
		args = args[1:]
		if takes && len(args) > 0 {
			args = args[1:]
		}
	}
	if len(args) < 2 {
		if _, kind := j.input(v); len(args) == 1 && kind != inputNone {
			j.fedShell(v)
		}
		return
	}
	var words []string
	for _, a := range args[1:] {
		if a.unknown {
			j.ask("unknown-command", v.node, "what runs on the other machine is only known once it runs")
			return
		}
		words = append(words, a.s)
	}
	dirs := j.dirs
	j.dirs = []place{{}}
	j.text(strings.Join(words, " "), v.node)
	j.dirs = dirs
}

func runTrap(j *judge, v *invocation) {
	for _, a := range v.args() {
		if a.s == "--" || strings.HasPrefix(a.s, "-") {
			continue
		}
		if a.unknown {
			j.ask("unknown-command", v.node, "what it runs is only known once it runs")
		} else if a.s != "" && len(v.args()) > 1 {
			j.text(a.s, v.node)
		}
		return
	}
}

func runScript(j *judge, v *invocation) {
	if text, ok := commandText(v.args()); ok {
		j.inline(v, text)
	}
}

// commandText finds the shell text given by -c or --command, and what follows.
func commandText(args []arg) ([]arg, bool) {
	for i, a := range args {
		switch text, joined := strings.CutPrefix(a.s, "--command="); {
		case joined:
			a.s = text
			return append([]arg{a}, args[i+1:]...), true
		case a.s == "--command", len(a.s) > 1 && a.s[0] == '-' && a.s[1] != '-' && strings.HasSuffix(a.s, "c"):
			return args[i+1:], true
		case len(a.s) > 2 && strings.HasPrefix(a.s, "-c"):
			a.s = a.s[2:]
			return append([]arg{a}, args[i+1:]...), true
		}
	}
	return nil, false
}

func runAlias(j *judge, v *invocation) {
	for _, a := range v.args() {
		if _, text, ok := strings.Cut(a.s, "="); ok && !a.unknown {
			j.text(text, v.node)
		}
	}
}

// runCd follows a change of directory, so that later relative paths are
// judged by where they lead.
func runCd(j *judge, v *invocation) {
	last := len(j.dirs) - 1
	var to *arg
	for _, a := range v.args() {
		if a.s == "--" || a.s == "-P" || a.s == "-L" || a.s == "-e" {
			continue
		}
		to = &a
		break
	}
	switch {
	case v.name() == "popd" || to != nil && (to.s == "-" || to.unknown || to.glob || strings.HasPrefix(to.s, "+")):
		j.dirs[last] = place{}
	case to == nil:
		j.dirs[last] = place{j.env.Home, j.env.Home != ""}
	default:
		dir, known := j.resolve(to.s)
		j.dirs[last] = place{dir, known}
	}
}
