package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// watched knows the variables that setsVariable looks at.
func watched(name string) bool {
	switch name {
	case "HERMES_YOLO_MODE", "LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "PERL5OPT", "PERL5DB", "PYTHONSTARTUP", "PYTHONBREAKPOINT", "PYTHONINSPECT",
		"NODE_OPTIONS", "RUBYOPT", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "PROMPT_COMMAND", "PS0", "PS4", "HISTFILE", "HISTSIZE", "HISTFILESIZE", "GIT_CONFIG_PARAMETERS":
		return true
	}
	return strings.HasPrefix(name, "GIT_CONFIG_VALUE_") || runsValue(name)
}

// setsVariable judges what giving a variable a value does to the programs
// that see it.
func (j *judge) setsVariable(n syntax.Node, name string, value arg) {
	switch name {
	case "HERMES_YOLO_MODE":
		if v := strings.ToLower(value.s); v != "" && v != "0" && v != "false" && v != "no" && v != "off" {
			j.ask("gateway", n, "it makes an agent ask nobody")
		}
	case "LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "PERL5OPT", "PERL5DB", "PYTHONSTARTUP", "PYTHONBREAKPOINT", "PYTHONINSPECT":
		if value.s != "" && !(name == "PYTHONBREAKPOINT" && value.s == "0") {
			j.ask("unknown-command", n, name+" makes other programs run code")
		}
	case "NODE_OPTIONS", "RUBYOPT", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS":
		for f := range strings.FieldsSeq(value.s) {
			if strings.HasPrefix(f, "--require") || strings.HasPrefix(f, "--import") || strings.HasPrefix(f, "--loader") || strings.HasPrefix(f, "--experimental-loader") || strings.HasPrefix(f, "-r") || strings.HasPrefix(f, "-javaagent") || strings.HasPrefix(f, "-agentpath") || strings.Contains(f, "OnOutOfMemoryError") {
				j.ask("unknown-command", n, name+" makes other programs run code")
			}
		}
	case "PROMPT_COMMAND", "PS0", "PS4":
		switch {
		case value.unknown:
			j.ask("unknown-command", n, name+" makes the shell run a command")
		case name == "PROMPT_COMMAND":
			j.text(value.s, n)
		case strings.Contains(value.s, "$(") || strings.Contains(value.s, "`"):
			j.ask("unknown-command", n, name+" makes the shell run a command")
		}
	case "HISTFILE", "HISTSIZE", "HISTFILESIZE":
		if value.s == "/dev/null" || value.s == "" || value.s == "0" {
			j.ask("traces", n, "it hides what is done from the history")
		}
	case "GIT_CONFIG_PARAMETERS":
		for part := range strings.FieldsSeq(value.s) {
			if k, v, ok := strings.Cut(strings.Trim(part, `'"`), "="); ok && runsValue(k) && !plainValue(strings.Trim(v, `'"`)) {
				j.ask("unknown-command", n, name+" makes git run a command")
			}
		}
	default:
		if strings.HasPrefix(name, "GIT_CONFIG_VALUE_") && !plainValue(value.s) && strings.ContainsAny(value.s, "!;|&`$ ") {
			j.ask("unknown-command", n, name+" may make git run a command")
		}
	}
	if runsValue(name) {
		j.setsCommand(n, name, value)
	}
}

// output options whose value is a file that is written, for programs that are
// not known otherwise.
func (j *judge) outputs(v *invocation) {
	args := v.args()
	for i, a := range args {
		if a.s == "" || a.s[0] != '-' {
			continue
		}
		to := arg{}
		switch name, value, joined := strings.Cut(a.s, "="); {
		case a.s == "-o" || a.s == "-out" || a.s == "--output" || a.s == "--outfile" || a.s == "--out" || a.s == "--output-file":
			if i+1 < len(args) {
				to = args[i+1]
			}
		case joined && slices.Contains([]string{"--output", "--outfile", "--out", "--output-file"}, name):
			to = arg{s: value, unknown: a.unknown}
		}
		if strings.Contains(to.s, "/") && !strings.Contains(to.s, "=") && !strings.Contains(to.s, "://") {
			j.write(v.node, to)
		}
	}
}
