package shell

import (
	"strings"
	"sync"
)

// wrapper describes a program that runs the command in its arguments.
type wrapper struct {
	takes string // short options that take a value
	long  string // long options that take a value, with a space on both sides
	skip  int    // operands before the command
	vars  bool   // operands NAME=value may come first
	super bool   // it runs the command as another user
	more  bool   // it adds arguments of its own
	show  string // short options with which nothing runs
	shell bool   // a shell reads its operands
	login bool   // with -s or -i and no command it opens a shell
	place string // what it replaces in its operands by a value of its own
}

var wrappers = sync.OnceValue(func() map[string]wrapper {
	return map[string]wrapper{
		"sudo":    {takes: "ughpCTrtDRU", long: " --user --group --host --prompt --close-from --command-timeout --role --type --chdir --chroot --other-user ", vars: true, super: true, show: "lvkKV", login: true},
		"doas":    {takes: "uC", super: true, login: true},
		"pkexec":  {long: " --user ", super: true},
		"env":     {takes: "uCP", long: " --unset --chdir ", vars: true},
		"timeout": {takes: "sk", long: " --signal --kill-after ", skip: 1},
		"nice":    {takes: "n", long: " --adjustment "},
		"ionice":  {takes: "cnp", long: " --class --classdata --pid "},
		"chrt":    {takes: "TPD", skip: 1},
		"taskset": {skip: 1},
		"nohup":   {}, "setsid": {}, "time": {takes: "fo"}, "builtin": {}, "busybox": {}, "toybox": {},
		"caffeinate": {takes: "tw"}, "command": {show: "vV"}, "exec": {takes: "a"},
		"stdbuf":   {takes: "ioe", long: " --input --output --error "},
		"unshare":  {takes: "SGRw"},
		"chroot":   {long: " --userspec --groups ", skip: 1, super: true},
		"strace":   {takes: "abeIopsSuEPXO"},
		"ltrace":   {takes: "aeFlnopsuwxX"},
		"xvfb-run": {takes: "efnps"},
		"watch":    {takes: "n", long: " --interval ", shell: true},
		"flock":    {takes: "wE", long: " --timeout --wait --conflict-exit-code ", skip: 1},
		"xargs":    {takes: "adEIJLnPs", long: " --arg-file --delimiter --max-args --max-procs --max-chars --process-slot-var ", more: true},
		"setpriv":  {}, "unbuffer": {}, "fakeroot": {}, "entr": {}, "prlimit": {takes: "p"}, "chronic": {}, "rlwrap": {}, "torsocks": {}, "torify": {}, "tsocks": {}, "proxychains": {takes: "f"}, "proxychains4": {takes: "f"},
		"setarch": {skip: 1}, "linux32": {}, "linux64": {}, "numactl": {takes: "CmNi"}, "cpulimit": {takes: "lpe"}, "cgexec": {takes: "g"}, "runcon": {takes: "urtl", skip: 1}, "dbus-run-session": {}, "dbus-launch": {},
		"tini": {}, "dumb-init": {}, "catchsegv": {}, "valgrind": {}, "firejail": {}, "proot": {takes: "rbw"}, "sshpass": {takes: "pfdP"}, "autossh": {takes: "M"}, "eatmydata": {}, "faketime": {takes: "f", skip: 1},
		"daemonize": {takes: "acElopuv"}, "hyperfine": {takes: "wmMrpscn", shell: true}, "watchexec": {takes: "wef", shell: true}, "nodemon": {takes: "wex", shell: true}, "start-stop-daemon": {takes: "xpuncgkrR", long: " --exec --pidfile --user --name --chdir --startas --signal "},
		"gosu": {skip: 1, super: true}, "su-exec": {skip: 1, super: true},
		"nsenter":     {takes: "tSG", long: " --target --setuid --setgid ", super: true},
		"systemd-run": {takes: "puEHM", long: " --property --unit --setenv --host --machine --slice --description --uid --gid --nice --working-directory --on-active --on-boot --on-calendar "},
	}
})

// unwrap takes a wrapper off. ok is false when there is none, and inner nil
// when the wrapper runs nothing.
func unwrap(v *invocation) (inner *invocation, ok bool) {
	w, ok := wrappers()[v.name()]
	if !ok {
		return nil, false
	}
	args, skip := v.args(), w.skip
	shell := false
	for len(args) > 0 {
		a := args[0]
		switch {
		case a.unknown && a.s == hole:
			// An option or the command: judged as the command, which asks.
			return v.with(args), true
		case a.s == "-" && v.name() == "env": // as -i
			args = args[1:]
		case a.s == "--":
			args = args[1:]
			return operands(v, w, args, skip), true
		case strings.HasPrefix(a.s, "--"):
			name, value, has := strings.Cut(a.s, "=")
			args = args[1:]
			switch {
			case v.name() == "env" && name == "--split-string":
				if !has && len(args) > 0 {
					value, args = args[0].s, args[1:]
				}
				return operands(v, w, append(split(value), args...), skip), true
			case v.name() == "xargs" && name == "--replace":
				w.place = "{}"
				if value != "" {
					w.place = value
				}
			case w.login && (name == "--shell" || name == "--login"):
				shell = true
			}
			if !has && strings.Contains(w.long, " "+name+" ") && len(args) > 0 {
				args = args[1:]
			}
		case len(a.s) > 1 && a.s[0] == '-':
			if v.name() == "env" && strings.Contains(a.s, "S") {
				_, text, _ := strings.Cut(a.s, "S")
				args = args[1:]
				if text == "" && len(args) > 0 {
					text, args = args[0].s, args[1:]
				}
				return operands(v, w, append(split(text), args...), skip), true
			}
			if strings.ContainsAny(a.s[1:2], w.show) && w.show != "" {
				return nil, true
			}
			shell = shell || w.login && strings.ContainsAny(a.s[1:], "si")
			args = args[1:]
			if v.name() == "xargs" {
				w.place = replaced(w.place, a.s, args)
			}
			if i := strings.IndexAny(a.s[1:], w.takes); w.takes != "" && i >= 0 && i == len(a.s)-2 && len(args) > 0 {
				args = args[1:]
			}
		default:
			return operands(v, w, args, skip), true
		}
	}
	if shell {
		return v.with([]arg{{s: "sh"}}), true
	}
	return operands(v, w, nil, skip), true
}

// replaced is the text that an option of xargs says to be replaced.
func replaced(before, option string, rest []arg) string {
	switch {
	case (option == "-I" || option == "-J") && len(rest) > 0:
		return rest[0].s
	case strings.HasPrefix(option, "-I"), strings.HasPrefix(option, "-i") && len(option) > 2:
		return option[2:]
	case option == "-i":
		return "{}"
	}
	return before
}

func operands(v *invocation, w wrapper, args []arg, skip int) *invocation {
	for w.vars && len(args) > 0 && strings.Contains(args[0].s, "=") && !strings.HasPrefix(args[0].s, "=") {
		args = args[1:]
	}
	if len(args) <= skip {
		return nil
	}
	inner := v.with(args[skip:])
	if v.name() == "flock" && strings.HasPrefix(inner.argv[0].s, "-") {
		if text, ok := commandText(inner.argv); ok {
			inner.argv = append([]arg{{s: "sh"}, {s: "-c"}}, text...)
		}
	}
	if w.shell {
		inner.argv = shellText(inner.argv)
	}
	if w.more {
		inner.raw, inner.place = inner.argv, w.place
	}
	inner.argv = fill(inner.argv, w.place)
	inner.super = v.super || w.super
	switch v.name() {
	case "exec", "command", "builtin", "time", "xvfb-run", "dbus-run-session", "setarch", "linux32", "linux64", "faketime", "watch":
	default:
		inner.bare = true
	}
	inner.more = v.more || w.more
	inner.fed = v.fed || w.more
	return inner
}

// shellText is a shell that reads words joined by spaces, where that makes a
// difference.
func shellText(words []arg) []arg {
	var all []string
	unknown, plain := false, true
	for _, a := range words {
		if strings.HasPrefix(a.s, ":::") || strings.HasPrefix(a.s, "::::") { // what follows is data
			if len(all) == 0 {
				return []arg{{s: hole, unknown: true}}
			}
			break
		}
		all = append(all, a.s)
		unknown = unknown || a.unknown
		plain = plain && !strings.ContainsAny(a.s, " \t\n;|&<>()$`'\"\\")
	}
	if plain {
		return words
	}
	return []arg{{s: "sh"}, {s: "-c"}, {s: strings.Join(all, " "), unknown: unknown, quoted: true}}
}

// split cuts text at spaces, as env -S does.
func split(text string) []arg {
	var all []arg
	for _, f := range strings.Fields(text) {
		all = append(all, arg{s: strings.Trim(f, `'"`), unknown: strings.Contains(f, hole)})
	}
	return all
}
