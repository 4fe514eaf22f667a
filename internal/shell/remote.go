package shell

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// verbs are the words of a program that has subcommands, up to a --. Options
// in takes, with a space on both sides, are followed by a value.
func (v *invocation) verbs(takes string) []string {
	var words []string
	args := v.args()
	for i := 0; i < len(args); i++ {
		switch s := args[i].s; {
		case s == "--":
			return words
		case strings.HasPrefix(s, "-"):
			if strings.Contains(takes, " "+s+" ") {
				i++
			}
		default:
			words = append(words, s)
		}
	}
	return words
}

// archives judges tar: where it unpacks to, and the programs it runs.
func archives(j *judge, v *invocation) {
	extracts := v.has('x', "--extract", "--get")
	args := v.args()
	if len(args) > 0 && !strings.HasPrefix(args[0].s, "-") {
		extracts = extracts || strings.Contains(args[0].s, "x")
	}
	if v.has(0xff, "--remove-files") {
		for _, a := range v.operands() {
			if a.s != "" && !strings.HasSuffix(a.s, ".tar") && !strings.Contains(a.s, ".t") {
				j.remove(v.node, a, true, false)
			}
		}
	}
	for i, a := range args {
		name, value, joined := strings.Cut(a.s, "=")
		to := arg{s: value, unknown: a.unknown}
		if !joined && i+1 < len(args) {
			to = args[i+1]
		}
		switch {
		case strings.HasPrefix(name, "--checkpoint-a"), strings.HasPrefix(name, "--info-s"), strings.HasPrefix(name, "--rsh"), a.s == "-F":
			if !strings.HasPrefix(name, "--checkpoint-a") || strings.Contains(to.s, "exec") || to.unknown {
				j.ask("inline-code", v.node, "tar is told to run another command")
			}
		case strings.HasPrefix(name, "--to-c"), strings.HasPrefix(name, "--use-c"), a.s == "-I":
			if to.unknown {
				j.ask("unknown-command", v.node, "tar is told to run another command")
			} else if j.text(to.s, v.node); strings.HasPrefix(name, "--to-c") {
				j.ask("inline-code", v.node, "tar is told to run another command")
			}
		case extracts && (a.s == "-C" || strings.HasPrefix(name, "--dir")):
			j.unpack(v, to)
		case extracts && strings.HasPrefix(a.s, "-C"):
			j.unpack(v, arg{s: a.s[2:], unknown: a.unknown})
		}
	}
	if d := j.dir(); extracts && d.known && (d.dir == "/" || system(d.dir)) {
		j.unpack(v, arg{s: "."})
	}
}

func (j *judge) unpack(v *invocation, to arg) {
	if p, known := j.resolve(to.s); known && !j.inTree(p) && !j.temporary(p) && (p == "/" || system(p) || secretFile(p, j.env)) {
		j.ask("system-file", v.node, "it unpacks over files of the system: "+p)
	}
}

func zips(j *judge, v *invocation) {
	for i, a := range v.args() {
		if a.s == "-d" && i+1 < len(v.args()) {
			j.unpack(v, v.args()[i+1])
		}
	}
}

var editorRuns = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|[|:%$.\d]|\b(sil(ent)?!?|r(ead)?))\s*!|\bw(rite)?\s+!|\bexe\w*\b.*!|\b(system|systemlist|libcall|job_start|term_start|jobstart)\s*\(|(^|[|:\s])(lua|luado|py|py3|python3?|perl|ruby|ter(minal)?)\s`)
})

// editors judges the commands that vim and its kin are given to carry out.
func editors(j *judge, v *invocation) {
	args := v.args()
	if name := v.name(); v.super && name != "less" && name != "more" && name != "view" || name == "ed" || name == "ex" {
		for _, a := range v.operands() {
			j.write(v.node, a)
		}
	}
	for i, a := range args {
		text, plus := strings.CutPrefix(a.s, "+")
		switch {
		case (a.s == "-c" || a.s == "--cmd") && i+1 < len(args):
			a = args[i+1]
			text = a.s
		case plus:
		case strings.HasPrefix(a.s, "-c"):
			text = a.s[2:]
		default:
			continue
		}
		if editorRuns().MatchString(text) || a.unknown && strings.HasPrefix(text, hole) {
			j.ask("inline-code", v.node, "it runs a command from inside an editor")
			return
		}
	}
}

// runsValue tells of variables and of settings of git whose value is a
// command that is run later.
func runsValue(name string) bool {
	switch name {
	case "GIT_SSH_COMMAND", "GIT_SSH", "GIT_PAGER", "PAGER", "MANPAGER", "GIT_EDITOR", "EDITOR", "VISUAL", "GIT_SEQUENCE_EDITOR", "GIT_EXTERNAL_DIFF",
		"GIT_ASKPASS", "SSH_ASKPASS", "GIT_PROXY_COMMAND", "LESSOPEN", "LESSCLOSE":
		return true
	}
	name = strings.ToLower(name)
	section, rest, ok := strings.Cut(name, ".")
	if !ok {
		return false
	}
	key := rest[strings.LastIndexByte(rest, '.')+1:]
	switch section {
	case "core":
		return slices.Contains([]string{"pager", "editor", "sshcommand", "fsmonitor", "hookspath", "askpass", "gitproxy", "alternaterefscommand"}, key)
	case "pager", "alias":
		return true
	case "sequence":
		return key == "editor"
	case "diff", "difftool", "merge", "mergetool":
		return key == "external" || key == "command" || key == "textconv" || key == "driver" || key == "cmd"
	case "filter":
		return key == "clean" || key == "smudge" || key == "process"
	case "credential":
		return key == "helper"
	case "gpg":
		return key == "program"
	case "interactive":
		return key == "difffilter"
	case "uploadpack":
		return key == "packobjectshook"
	case "remote":
		return key == "uploadpack" || key == "receivepack" || key == "vcs"
	case "protocol":
		return strings.HasPrefix(rest, "ext.")
	}
	return false
}

// plainValue knows the commands that are commonly given so: pagers, editors,
// ssh with a key. For some names the value may also be yes or no.
func plainValue(value string) bool {
	f := strings.Fields(value)
	if len(f) == 0 {
		return true
	}
	if strings.ContainsAny(value, ";|&<>()$`!\n\\") {
		return false
	}
	switch f[0] {
	case "cat", "less", "more", "true", "false", ":", "echo", "vi", "vim", "nvim", "nano", "emacs", "code", "delta", "diff-so-fancy", "head",
		"store", "cache", "osxkeychain", "manager", "wincred", "libsecret", "never", "user", "0", "1":
		return len(f) == 1 || !slices.ContainsFunc(f[1:], func(s string) bool {
			return s[0] == '+' || !strings.HasPrefix(s, "-") || s == "-c" || s == "--cmd" || s == "--eval"
		})
	case "ssh":
		return !strings.Contains(strings.ToLower(value), "command") && !slices.ContainsFunc(f[1:], func(s string) bool { return strings.HasPrefix(s, "-F") })
	}
	return false
}

// setsCommand asks when a variable or setting would make a program run a
// command that is not one of the usual.
func (j *judge) setsCommand(n syntax.Node, name string, value arg) {
	if strings.HasPrefix(strings.ToLower(name), "alias.") && !value.unknown && !strings.HasPrefix(value.s, "!") {
		return // another word for a command of git
	}
	if runsValue(name) && !plainValue(value.s) {
		j.ask("unknown-command", n, name+" makes another program run a command")
	}
}

// secretIn finds a file with keys in it that a part of a command reads, or "".
func (j *judge) secretIn(n syntax.Node) string {
	found := ""
	look := func(w *syntax.Word) {
		if p, known := j.resolve(j.word(w).s); found == "" && known && (secretFile(p, j.env) || p == "/etc/shadow") {
			found = p
		}
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if name := first(n); (name == "env" || name == "printenv") && len(n.Args) == 1 {
				found = "the environment"
			}
			if len(n.Args) == 0 || lit(n.Args[0]) == "echo" || lit(n.Args[0]) == "printf" {
				return true
			}
			for _, w := range n.Args[1:] {
				look(w)
			}
		case *syntax.Redirect:
			if n.Op == syntax.RdrIn {
				look(n.Word)
			}
		}
		return true
	})
	return found
}

func first(call *syntax.CallExpr) string {
	if len(call.Args) == 0 {
		return ""
	}
	return lit(call.Args[0])
}

// fedSecret is a file with keys in it that a command is fed, or "".
func (j *judge) fedSecret(v *invocation) string {
	if v.stmt == nil {
		return ""
	}
	for _, r := range v.stmt.Redirs {
		if r.Op == syntax.RdrIn {
			return j.secretIn(r)
		}
	}
	if from := j.stdin[v.stmt]; from != nil {
		return j.secretIn(from)
	}
	return ""
}
