package shell

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Dialect is a command language other than that of POSIX shells.
type Dialect int

// The dialects of Windows.
const (
	PowerShell Dialect = iota
	Cmd
)

// JudgeWindows judges a command for PowerShell or cmd.exe. There is no parse
// tree: the text is cut into commands and words as these shells do it, and
// what is substituted counts as not known. It is coarser than Judge, and asks
// more often.
func JudgeWindows(command string, d Dialect, env Env) Verdict {
	if env.Tree == "" {
		env.Tree = env.Dir
	}
	j := &judge{env: env, dirs: []place{{env.Dir, true}}, fetched: map[string]bool{}, vars: map[string]variable{}, funcs: map[string]bool{}}
	j.windows(command, d, nil)
	v := Verdict{Class: Free, Findings: j.found}
	for _, x := range j.found {
		if v.Class != Hardline {
			v.Class = x.Class
		}
	}
	return v
}

// windows judges text; at is where it stands when it is part of another command.
func (j *judge) windows(text string, d Dialect, at syntax.Node) {
	if j.depth >= maxDepth {
		j.ask("too-deep", at, "commands are nested too deeply to be judged")
		return
	}
	j.depth++
	defer func() { j.depth-- }()
	all, bad := winCommands(text, d)
	if bad != "" {
		j.ask("unparsable", winNode(1, 1, clip(text)), "it cannot be read as a command: "+bad)
		return
	}
	for _, c := range all {
		c.node = winNode(c.line, c.col, c.text)
		if at != nil {
			c.node = at
		}
		j.winCommand(c, d)
	}
}

func winNode(line, col uint, text string) syntax.Node {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{ValuePos: syntax.NewPos(0, line, col), ValueEnd: syntax.NewPos(uint(len(text)), line, col), Value: text}}}
}

// winCall is one command of a Windows shell.
type winCall struct {
	argv      []arg
	text      string
	line, col uint
	piped     bool // it reads what another prints
	called    bool // the call operator stands before it
	to        []arg
	node      syntax.Node
}

// winCommands cuts text into commands. bad says why it cannot.
func winCommands(text string, d Dialect) (all []winCall, bad string) {
	escape := byte('`')
	if d == Cmd {
		escape = '^'
	}
	var cur winCall
	var word strings.Builder
	began, quoted, unknown, glob, redirect := false, false, false, false, false
	line, col, start := uint(1), uint(1), -1
	endWord := func() {
		if began {
			a := arg{s: word.String(), quoted: quoted, unknown: unknown, glob: glob}
			if redirect {
				cur.to = append(cur.to, a)
			} else {
				cur.argv = append(cur.argv, a)
			}
			redirect = false
		}
		word.Reset()
		began, quoted, unknown, glob = false, false, false, false
	}
	endCommand := func(i int, pipe bool) {
		endWord()
		if len(cur.argv) > 0 || len(cur.to) > 0 {
			cur.text = clip(strings.TrimSpace(text[start:i]))
			all = append(all, cur)
		}
		cur, start = winCall{piped: pipe}, -1
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if start < 0 && c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			start, cur.line, cur.col = i, line, col
		}
		col++
		switch {
		case c == escape && i+1 < len(text):
			i++
			if text[i] == '\n' {
				line, col = line+1, 1
				continue
			}
			word.WriteByte(text[i])
			began = true
		case c == '\'' && d == PowerShell, c == '"':
			end := strings.IndexByte(text[i+1:], c)
			if end < 0 {
				return nil, "a quote is not closed"
			}
			inner := text[i+1 : i+1+end]
			if c == '"' && (d == PowerShell && strings.Contains(inner, "$") || strings.Contains(inner, "%")) {
				var u bool
				inner, u = winExpand(inner)
				unknown = unknown || u
			}
			word.WriteString(inner)
			line += uint(strings.Count(inner, "\n"))
			i += end + 1
			began, quoted = true, true
		case c == '\n' || c == '\r':
			endCommand(i, false)
			if c == '\n' {
				line, col = line+1, 1
			}
		case c == ' ' || c == '\t' || c == ',' && d == PowerShell:
			endWord()
		case c == '#' && d == PowerShell && !began:
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		case c == ';' && d == PowerShell || c == '|' || c == '&':
			if c == '&' && d == PowerShell && len(cur.argv) == 0 && !began { // the call operator
				cur.called = true
				continue
			}
			pipe := c == '|' && (i+1 >= len(text) || text[i+1] != '|')
			endCommand(i, pipe)
		case c == '{' || c == '}' || c == '(' || c == ')':
			if d == PowerShell && c == '(' && began && word.String() == "$" { // $( ... ): what it gives is not known
				word.Reset()
				word.WriteString(hole)
				unknown = true
			}
			endCommand(i, false)
		case c == '>':
			endWord()
			redirect = true
		default:
			began = true
			glob = glob || c == '*' || c == '?'
			word.WriteByte(c)
		}
		if began && !quoted && (c == '$' || c == '%') {
			rest := text[i:]
			name := winName(rest)
			if name == "" {
				continue
			}
			value, u := winExpand(name)
			s := strings.TrimSuffix(word.String(), string(c)) + value
			word.Reset()
			word.WriteString(s)
			unknown = unknown || u
			i += len(name) - 1
			col += uint(len(name) - 1)
		}
	}
	endCommand(len(text), false)
	return all, ""
}

// winName is the variable at the beginning of s: $name, $env:name or %name%.
func winName(s string) string {
	if s[0] == '%' {
		if end := strings.IndexByte(s[1:], '%'); end > 0 {
			return s[:end+2]
		}
		return ""
	}
	i := 1
	for i < len(s) && (s[i] == ':' || s[i] == '_' || s[i] >= 'a' && s[i] <= 'z' || s[i] >= 'A' && s[i] <= 'Z' || s[i] >= '0' && s[i] <= '9') {
		i++
	}
	if i == 1 {
		return ""
	}
	return s[:i]
}

// winExpand replaces the variables that everybody knows; unknown: others are left.
func winExpand(s string) (out string, unknown bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '$' && s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		name := winName(s[i:])
		if name == "" {
			if s[i] == '$' {
				unknown = true
			}
			b.WriteByte(s[i])
			continue
		}
		i += len(name) - 1
		switch strings.ToLower(strings.Trim(name, "$%")) {
		case "home", "env:userprofile", "userprofile", "env:home":
			b.WriteString("~")
		case "env:temp", "temp", "env:tmp", "tmp":
			b.WriteString("~/AppData/Local/Temp")
		case "env:systemdrive", "systemdrive", "env:homedrive":
			b.WriteString("C:")
		case "env:windir", "windir", "env:systemroot", "systemroot":
			b.WriteString("C:/Windows")
		case "env:programfiles", "programfiles":
			b.WriteString("C:/Program Files")
		case "profile":
			b.WriteString("~/Documents/PowerShell/profile.ps1")
		case "pwd":
			b.WriteString(".")
		case "null", "true", "false", "_":
			b.WriteString(name)
		default:
			b.WriteString(hole)
			unknown = true
		}
	}
	return b.String(), unknown
}

// winPath makes a path of Windows comparable: slashes, small letters, whole.
func (j *judge) winPath(s string) (p string, known bool) {
	if strings.Contains(s, hole) {
		return "", false
	}
	low := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, `\`, "/")) }
	s = low(s)
	home := low(j.env.Home)
	switch {
	case s == "~" || strings.HasPrefix(s, "~/"):
		s = home + s[1:]
	case len(s) > 1 && s[1] == ':' && len(s) == 2:
		s += "/"
	case len(s) > 1 && s[1] == ':', strings.HasPrefix(s, "/"):
	default:
		d := j.dir()
		if !d.known {
			return s, false
		}
		s = low(d.dir) + "/" + s
	}
	if len(s) > 2 && s[1] == ':' {
		return s[:2] + path.Clean("/"+s[2:]), true
	}
	return path.Clean(s), true
}

// winVital reports whether removing p takes Windows or an account away.
func (j *judge) winVital(p string, glob bool) bool {
	if glob {
		p = strings.TrimSuffix(strings.TrimSuffix(p, "*.*"), "*")
		if len(p) > 3 {
			p = strings.TrimSuffix(p, "/")
		}
	}
	home := strings.ToLower(strings.ReplaceAll(j.env.Home, `\`, "/"))
	if p == "/" || len(p) == 3 && p[1:] == ":/" || home != "" && p == home {
		return true
	}
	if len(p) > 3 && p[1] == ':' {
		switch p[2:] {
		case "/windows", "/windows/system32", "/users", "/program files", "/program files (x86)", "/programdata", "/boot", "/recovery":
			return true
		}
	}
	return false
}

func (j *judge) winInTree(p string) bool {
	tree := strings.ToLower(strings.ReplaceAll(j.env.Tree, `\`, "/"))
	home := strings.ToLower(strings.ReplaceAll(j.env.Home, `\`, "/"))
	return tree != "" && tree != home && strings.HasPrefix(p, strings.TrimSuffix(tree, "/")+"/") || strings.Contains(p, "/appdata/local/temp/") || strings.HasPrefix(p, "/tmp/") || strings.HasPrefix(p, "c:/temp/")
}

func (j *judge) winCommand(c winCall, d Dialect) {
	for _, to := range c.to {
		j.winWrite(c, to)
	}
	argv := c.argv
	for len(argv) > 0 && strings.HasPrefix(argv[0].s, "@") && d == Cmd {
		argv[0].s = argv[0].s[1:]
	}
	if len(argv) > 2 && argv[1].s == "=" && strings.HasPrefix(argv[0].s, hole) { // an assignment
		argv = argv[2:]
	}
	if len(argv) == 0 {
		return
	}
	if len(argv) == 1 && argv[0].unknown && argv[0].s == hole && !c.called { // a variable that is only printed, as a script block's
		return
	}
	if argv[0].unknown {
		j.ask("unknown-command", c.node, "what it runs is only known once it runs")
		return
	}
	name := strings.ToLower(base(strings.ReplaceAll(argv[0].s, `\`, "/")))
	for _, end := range []string{".exe", ".cmd", ".bat", ".com"} {
		name = strings.TrimSuffix(name, end)
	}
	if strings.HasPrefix(name, "[") {
		if low := strings.ToLower(c.text); strings.Contains(low, "::") && !strings.Contains(low, "[math]::") && !strings.Contains(low, "[datetime]::") && !strings.Contains(low, "[guid]::") && !strings.Contains(low, "[environment]::osversion") {
			j.ask("inline-code", c.node, "it calls .NET")
		}
		return
	}
	args := argv[1:]
	v := &invocation{argv: append([]arg{{s: name}}, lowered(args)...), node: c.node, fed: c.piped}
	switch name {
	case "remove-item", "ri", "rm", "rmdir", "rd", "del", "erase", "clear-content", "clc", "move-item", "mi", "move", "ren", "rename-item":
		j.winRemove(c, name, args, d)
	case "set-content", "add-content", "out-file", "new-item", "copy-item", "copy", "cp", "cpi", "xcopy", "robocopy", "ni", "tee-object", "set-acl":
		for i, a := range args {
			if !strings.HasPrefix(a.s, "-") && !(d == Cmd && strings.HasPrefix(a.s, "/")) && (i == len(args)-1 || !strings.HasPrefix(name, "cop") && name != "cp") {
				j.winWrite(c, a)
			}
		}
		if name == "robocopy" && slicesHas(args, "/mir", "/purge") {
			j.ask("delete-outside", c.node, "it deletes what is only in the target")
		}
	case "powershell", "pwsh":
		runPowerShell(j, &invocation{argv: append([]arg{{s: name}}, args...), node: c.node, fed: c.piped})
	case "cmd":
		for i, a := range args {
			if l := strings.ToLower(a.s); l == "/c" || l == "/k" || l == "/r" {
				var words []string
				for _, b := range args[i+1:] {
					words = append(words, b.s)
				}
				if text := strings.Join(words, " "); strings.Contains(text, hole) {
					j.ask("unknown-command", c.node, "what it runs is only known once it runs")
				} else {
					j.windows(text, Cmd, c.node)
				}
				break
			}
		}
	case "iex", "invoke-expression":
		switch {
		case c.piped:
			j.ask("pipe-shell", c.node, "it runs what only comes to be known while it runs")
		case len(args) == 1 && !args[0].unknown && args[0].quoted:
			j.windows(args[0].s, d, c.node)
		default:
			j.ask("unknown-command", c.node, "it runs what only comes to be known while it runs")
		}
	case "cd", "chdir", "set-location", "sl", "pushd", "push-location":
		for _, a := range args {
			if !strings.HasPrefix(a.s, "-") && a.s != "/d" {
				p, known := j.winPath(a.s)
				j.dirs[len(j.dirs)-1] = place{p, known}
			}
		}
	case "start-process", "saps", "start":
		rest := args
		for len(rest) > 0 && (strings.HasPrefix(rest[0].s, "-") || strings.HasPrefix(rest[0].s, "/") || rest[0].s == "") {
			rest = rest[1:]
		}
		if slicesHas(args, "runas") {
			j.ask("system", c.node, "it starts a program with the rights of an administrator")
		} else if len(rest) > 0 {
			inner := c
			inner.argv, inner.to = rest, nil
			j.winCommand(inner, d)
		}
	default:
		if len(winIndex()[name]) == 0 && (isShell(name) || judged(name)) {
			j.call(&invocation{argv: append([]arg{{s: name}}, args...), node: c.node, fed: c.piped})
			return
		}
		for _, x := range winIndex()[name] {
			if x.meant(v) {
				j.report(x.class(), x.rule, c.node, x.reason)
				return
			}
		}
	}
}

func slicesHas(args []arg, words ...string) bool {
	for _, a := range args {
		for _, w := range words {
			if strings.EqualFold(a.s, w) {
				return true
			}
		}
	}
	return false
}

func lowered(args []arg) []arg {
	low := append([]arg{}, args...)
	for i := range low {
		low[i].s = strings.ToLower(low[i].s)
	}
	return low
}

func (j *judge) winRemove(c winCall, name string, args []arg, d Dialect) {
	recursive := false
	var targets []arg
	for _, a := range args {
		l := strings.ToLower(a.s)
		switch {
		case strings.HasPrefix(l, "-") && (strings.HasPrefix("-recurse", l) || l == "-rf" || l == "-fr") && len(l) > 1, l == "/s" && d == Cmd:
			recursive = true
		case strings.HasPrefix(l, "-"), d == Cmd && strings.HasPrefix(l, "/") && len(l) <= 3:
		default:
			targets = append(targets, a)
		}
	}
	if strings.HasPrefix(name, "mov") || strings.HasPrefix(name, "ren") || name == "mi" {
		targets = targets[:min(1, len(targets))]
	}
	if c.piped && len(targets) == 0 {
		j.ask("delete-unknown", c.node, "what it deletes is only known once it runs")
	}
	for _, a := range targets {
		p, known := j.winPath(a.s)
		registry := strings.HasPrefix(strings.ToLower(a.s), "hk")
		switch {
		case registry:
			j.ask("system", c.node, "it changes the registry")
		case a.unknown || !known:
			j.ask("delete-unknown", c.node, "what it deletes is only known once it runs")
		case j.winVital(p, a.glob):
			j.hard("root-delete", c.node, "it would delete a directory that the machine or the account needs: "+a.s)
		case !j.winInTree(p):
			j.ask("delete-outside", c.node, "it deletes or moves what is outside the working tree: "+a.s)
		case recursive && (strings.HasSuffix(p, "/*") || strings.HasSuffix(p, "/.git")) && path.Dir(p) == strings.ToLower(strings.ReplaceAll(j.env.Tree, `\`, "/")):
			j.ask("delete-tree", c.node, "it deletes everything in the working tree, or its history")
		}
	}
}

func (j *judge) winWrite(c winCall, a arg) {
	low := strings.ToLower(a.s)
	if strings.HasPrefix(low, "hklm:") || strings.HasPrefix(low, "hkcu:") || strings.HasPrefix(low, "registry::") {
		j.ask("system", c.node, "it changes the registry")
		return
	}
	p, known := j.winPath(a.s)
	b := path.Base(p)
	switch {
	case !known || strings.HasSuffix(low, "$null") || low == "nul" || low == "&1":
	case strings.HasPrefix(p, "//./physicaldrive"), strings.HasPrefix(p, "/./physicaldrive"):
		j.hard("raw-disk", c.node, "it would overwrite a disk: "+a.s)
	case strings.Contains(p, "/windows/") || strings.Contains(p, "/program files") || strings.Contains(p, "/system32") || strings.Contains(p, "/startup/") || strings.Contains(p, "/programdata/"):
		j.ask("system-file", c.node, "it writes to a file of the system: "+a.s)
	case strings.HasSuffix(b, "profile.ps1"), strings.Contains(p, "/.ssh/"), strings.Contains(p, "/.aws/"), b == ".env", b == ".gitconfig", b == ".npmrc", b == "_netrc", secretFile(p, j.env):
		j.ask("secret-file", c.node, "it writes to a file that holds keys or start-up commands: "+a.s)
	}
}

// runPowerShell judges a call of PowerShell with its text.
func runPowerShell(j *judge, v *invocation) {
	args := v.args()
	for i, a := range args {
		l := strings.ToLower(a.s)
		switch {
		case l == "-" || a.unknown && a.s == hole:
			j.ask("unknown-command", v.node, "what it runs is only known once it runs")
			return
		case strings.HasPrefix("-encodedcommand", l) && len(l) > 2 && strings.HasPrefix(l, "-e") && l != "-ex" || l == "-e" || l == "-ec":
			j.ask("pipe-shell", v.node, "it runs commands that are encoded")
			return
		case strings.HasPrefix("-command", l) && len(l) > 1 && strings.HasPrefix(l, "-c"):
			j.powerText(v, args[i+1:])
			return
		case strings.HasPrefix("-file", l) && len(l) > 1 && strings.HasPrefix(l, "-f"):
			if i+1 < len(args) && j.fetched[base(args[i+1].s)] {
				j.ask("remote-code", v.node, "it runs a file that the same command downloads")
			}
			return
		case l == "-ep" || strings.HasPrefix("-executionpolicy", l) && len(l) > 3:
		case strings.HasPrefix(l, "-"):
		case i > 0 && strings.HasPrefix(strings.ToLower(args[i-1].s), "-ex"), i > 0 && strings.EqualFold(args[i-1].s, "-ep"), i > 0 && strings.HasPrefix(strings.ToLower(args[i-1].s), "-w"), i > 0 && strings.HasPrefix(strings.ToLower(args[i-1].s), "-v"):
		case strings.HasSuffix(l, ".ps1"):
			return
		default:
			j.powerText(v, args[i:])
			return
		}
	}
	switch text, kind := j.input(v); kind {
	case inputKnown:
		j.windows(text, PowerShell, v.node)
	case inputUnknown:
		j.ask("pipe-shell", v.node, "it runs what only comes to be known while it runs")
	case inputNone, inputFile:
	}
}

func (j *judge) powerText(v *invocation, words []arg) {
	var all []string
	for _, a := range words {
		if a.unknown {
			j.ask("unknown-command", v.node, "what it runs is only known once it runs")
			return
		}
		all = append(all, a.s)
	}
	j.windows(strings.Join(all, " "), PowerShell, v.node)
}
