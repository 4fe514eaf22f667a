package shell

import (
	"slices"
	"strings"
	"sync"
)

// carrier is a program one of whose subcommands runs the command after it.
type carrier struct {
	words  []string // the subcommand; empty: the operands are the command
	takes  string   // options that are followed by a value, long and short
	skip   int      // operands before the command
	dashed bool     // the command stands after a --
	away   bool     // it runs in another place: nothing here is at stake
	shell  bool     // a shell reads its words
}

var carriers = sync.OnceValue(func() map[string][]carrier {
	container := carrier{words: []string{"exec"}, takes: " -e --env -u --user -w --workdir --env-file --detach-keys --index ", skip: 1, away: true}
	compose := carrier{words: []string{"compose", "exec"}, takes: container.takes + "-f --file -p --project-name ", skip: 1, away: true}
	composeRun := carrier{words: []string{"compose", "run"}, takes: compose.takes + "-v --volume --name --entrypoint -p --publish ", skip: 1, away: true}
	pod := carrier{words: []string{"exec"}, takes: " -n --namespace -c --container --context --kubeconfig ", dashed: true, away: true}
	script := carrier{takes: " -p --package -w --workspace "}
	return map[string][]carrier{
		"npx": {script}, "bunx": {script}, "pnpx": {script}, "uvx": {{takes: " --from --with --python -p "}},
		"npm":    {{words: []string{"exec"}, takes: script.takes}, {words: []string{"x"}, takes: script.takes}},
		"pnpm":   {{words: []string{"exec"}}, {words: []string{"dlx"}}},
		"yarn":   {{words: []string{"exec"}}, {words: []string{"dlx"}}, {words: []string{"run"}}},
		"bun":    {{words: []string{"x"}}},
		"bundle": {{words: []string{"exec"}}}, "poetry": {{words: []string{"run"}}}, "pipenv": {{words: []string{"run"}}}, "pdm": {{words: []string{"run"}}},
		"hatch": {{words: []string{"run"}}}, "rye": {{words: []string{"run"}}}, "pipx": {{words: []string{"run"}}},
		"uv":    {{words: []string{"run"}, takes: " --with --python -p --project --env-file --extra --group --directory --from "}, {words: []string{"tool", "run"}}},
		"conda": {{words: []string{"run"}, takes: " -n --name -p --prefix "}}, "mamba": {{words: []string{"run"}, takes: " -n -p "}},
		"rbenv": {{words: []string{"exec"}}}, "pyenv": {{words: []string{"exec"}}}, "asdf": {{words: []string{"exec"}}}, "mise": {{words: []string{"exec"}, dashed: true}, {words: []string{"x"}, dashed: true}},
		"direnv": {{words: []string{"exec"}, skip: 1}}, "op": {{words: []string{"run"}, dashed: true}}, "doppler": {{words: []string{"run"}, dashed: true}},
		"aws-vault": {{words: []string{"exec"}, skip: 1}}, "chamber": {{words: []string{"exec"}, dashed: true}}, "dotenv": {{takes: " -f -e -c -p "}},
		"docker": {container, compose, composeRun}, "podman": {container, compose}, "nerdctl": {container}, "lxc": {{words: []string{"exec"}, skip: 1, away: true}}, "incus": {{words: []string{"exec"}, skip: 1, away: true}},
		"docker-compose": {{words: []string{"exec"}, takes: compose.takes, skip: 1, away: true}, {words: []string{"run"}, takes: composeRun.takes, skip: 1, away: true}},
		"kubectl":        {pod}, "oc": {pod}, "multipass": {{words: []string{"exec"}, skip: 1, away: true}}, "toolbox": {{words: []string{"run"}, takes: " -c --container "}},
		"distrobox": {{words: []string{"enter"}, dashed: true, away: true}}, "distrobox-enter": {{dashed: true, away: true}}, "heroku": {{words: []string{"run"}, takes: " -a --app ", shell: true, away: true}},
		"mosh": {{dashed: true, away: true}}, "pm2": {{words: []string{"start"}}}, "forever": {{words: []string{"start"}}},
		"cargo": {{words: []string{"watch"}, dashed: true}}, "nix-shell": {{takes: " -p "}}, "wsl": {{dashed: true}},
		"git": {{words: []string{"bisect", "run"}}, {words: []string{"submodule", "foreach"}, shell: true}},
		"tmux": {
			{words: []string{"new-session"}, takes: tmuxTakes, shell: true},
			{words: []string{"new"}, takes: tmuxTakes, shell: true},
			{words: []string{"new-window"}, takes: tmuxTakes, shell: true},
			{words: []string{"neww"}, takes: tmuxTakes, shell: true},
			{words: []string{"split-window"}, takes: tmuxTakes, shell: true},
			{words: []string{"splitw"}, takes: tmuxTakes, shell: true},
			{words: []string{"send-keys"}, takes: tmuxTakes, shell: true},
			{words: []string{"send"}, takes: tmuxTakes, shell: true},
			{words: []string{"run-shell"}, takes: tmuxTakes, shell: true},
			{words: []string{"run"}, takes: tmuxTakes, shell: true},
			{words: []string{"respawn-pane"}, takes: tmuxTakes, shell: true},
			{words: []string{"if-shell"}, takes: tmuxTakes, shell: true},
		},
		"screen": {{takes: " -S -t -T -c -e -h -p -s -r -x -X -ls "}},
	}
})

const tmuxTakes = " -t -s -n -c -e -F -x -y -l -S -L -f "

// carried judges the command that another program is told to run. It reports
// whether there was one.
func (j *judge) carried(v *invocation) bool {
	for _, c := range carriers()[v.name()] {
		inner, ok := c.command(v)
		if !ok {
			continue
		}
		if len(inner) == 0 {
			return true
		}
		if c.shell {
			for i, a := range inner { // what tmux types at the end
				if a.s == "Enter" || a.s == "C-m" || a.s == "KPEnter" {
					inner = inner[:i]
					break
				}
			}
			inner = shellText(inner)
			if len(inner) == 0 {
				return true
			}
		}
		run := v.with(inner)
		run.stmt, run.bare = v.stmt, v.bare || !c.away && !c.shell
		if c.away {
			j.elsewhere(func() { j.call(run) })
		} else {
			j.call(run)
		}
		return true
	}
	return false
}

// elsewhere judges what happens in a container: what would end the machine
// here only ends that one, and paths lead somewhere else.
func (j *judge) elsewhere(judge func()) {
	dirs, env := j.dirs, j.env
	j.dirs, j.away = []place{{}}, j.away+1
	j.env.Tree, j.env.Dir = "", ""
	judge()
	j.dirs, j.env, j.away = dirs, env, j.away-1
}

// command finds the command that is carried; not ok: nothing is carried.
func (c carrier) command(v *invocation) ([]arg, bool) {
	args, want, skip := v.args(), c.words, c.skip
	for i := 0; i < len(args); i++ {
		s := args[i].s
		switch {
		case s == "--":
			if len(want) > 0 {
				return nil, false
			}
			rest := args[i+1:]
			if !c.dashed {
				rest = rest[min(skip, len(rest)):]
			}
			return rest, true
		case len(s) > 1 && s[0] == '-':
			if strings.Contains(c.takes, " "+s+" ") {
				i++
			}
		case len(want) > 0:
			if s != want[0] {
				return nil, false
			}
			want = want[1:]
		case c.dashed:
		case skip > 0:
			skip--
		default:
			return args[i:], true
		}
	}
	return nil, len(want) == 0 && len(c.words) > 0 && !c.dashed
}

// texts are options whose value is a command that a shell reads.
var texts = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"complete": {"-C"}, "mapfile": {"-C"}, "readarray": {"-C"}, "bind": {"-x"},
		"split": {"--filter"}, "sort": {"--compress-program"}, "rg": {"--pre"}, "fzf": {"--preview", "--bind"}, "man": {"-P", "--pager", "-H"},
		"tcpdump": {"-z"}, "zip": {"-TT", "--unzip-command"}, "rsync": {"-e", "--rsh", "--rsync-path"}, "npx": {"-c", "--call"}, "npm": {"-c", "--call", "--script-shell"}, "vagrant": {"-c", "--command"},
		"nodemon": {"--exec", "-x"}, "cargo": {"-s", "--shell"}, "git": {"--exec", "-x", "--extcmd", "--upload-pack", "--receive-pack", "--tree-filter", "--index-filter", "--msg-filter", "--env-filter", "--commit-filter", "--parent-filter", "--tag-name-filter"},
		"nix-shell": {"--run", "--command"}, "nix": {"-c", "--command"}, "fly": {"-C", "--command"}, "flyctl": {"-C", "--command"}, "gcloud": {"--command"}, "gdb": {"-ex", "--eval-command"}, "sg": {"-c"}, "newgrp": {"-c"},
		"hyperfine": {"-p", "--prepare", "-s", "--setup", "-c", "--cleanup", "--conclude"}, "lftp": {"-e", "-c"}, "openvpn": {"--up", "--down"},
		"ssh": {"ProxyCommand", "LocalCommand", "KnownHostsCommand"}, "dpkg": {"--pre-invoke", "--post-invoke"}, "xdg-terminal": {"-e"}, "xterm": {"-e"}, "gnome-terminal": {"-e"}, "konsole": {"-e"}, "expect": {"-c"}, "lldb": {"-o"},
	}
})

// optionTexts judges the options of a program that say what it is to run.
func (j *judge) optionTexts(v *invocation) {
	options := texts()[v.name()]
	if len(options) == 0 {
		return
	}
	args := v.args()
	for i, a := range args {
		name, value, joined := strings.Cut(a.s, "=")
		if joined && !strings.HasPrefix(name, "-") { // ssh -o ProxyCommand=...
			if v.name() != "ssh" || !slices.ContainsFunc(options, func(o string) bool { return strings.EqualFold(o, strings.TrimPrefix(name, "-o")) }) {
				continue
			}
		} else if v.name() == "ssh" && strings.HasPrefix(name, "-o") {
			name = name[2:]
			if !slices.ContainsFunc(options, func(o string) bool { return strings.EqualFold(o, name) }) {
				continue
			}
		} else if !slices.Contains(options, name) {
			continue
		}
		text := arg{s: value, unknown: a.unknown}
		if !joined {
			if i+1 >= len(args) {
				continue
			}
			text = args[i+1]
		}
		switch v.name() {
		case "gdb":
			text.s = strings.TrimPrefix(strings.TrimPrefix(text.s, "shell "), "!")
			if text.s == args[min(i+1, len(args)-1)].s {
				if strings.HasPrefix(text.s, "python") || strings.HasPrefix(text.s, "call") {
					j.ask("inline-code", v.node, "it runs a program given on the command line")
				}
				continue
			}
		case "fzf":
			if name == "--bind" && !strings.Contains(text.s, "execute") && !strings.Contains(text.s, "become") && !strings.Contains(text.s, "reload") {
				continue
			}
			text.s = strings.NewReplacer("{}", item, "{q}", item, "{+}", item).Replace(text.s)
			if _, inner, ok := strings.Cut(text.s, "("); ok && name == "--bind" {
				text.s = strings.TrimSuffix(inner, ")")
			}
		case "bind":
			_, text.s, _ = strings.Cut(text.s, ":")
		case "lftp", "expect", "lldb":
			if strings.ContainsAny(text.s, "!") || strings.Contains(text.s, "spawn") || strings.Contains(text.s, "shell") {
				j.ask("inline-code", v.node, "it runs a command from inside another program")
			}
			continue
		}
		if f := strings.Fields(text.s); len(f) > 0 && isShell(base(f[0])) && (len(f) == 1 || strings.HasPrefix(f[1], "#")) {
			j.ask("inline-code", v.node, "it opens a shell from inside another program, or as another user")
			continue
		}
		if text.unknown {
			j.ask("unknown-command", v.node, "what "+v.name()+" is told to run is only known once it runs")
			continue
		}
		j.text(text.s, v.node)
	}
}

// packageScripts judges npm and its kin where they change what their scripts
// run; running the scripts of a project is ordinary work.
func packageScripts(j *judge, v *invocation) {
	w := v.verbs("")
	for i, s := range w {
		if name, text, ok := strings.Cut(s, "="); ok && (strings.HasPrefix(name, "scripts.") || name == "script-shell" || name == "ignore-scripts") {
			j.scriptText(v, name, text)
		} else if (s == "script-shell" || s == "set-script") && i+1 < len(w) {
			j.scriptText(v, s, w[len(w)-1])
		}
	}
}

func (j *judge) scriptText(v *invocation, name, text string) {
	if name == "script-shell" && !isShell(base(text)) {
		j.ask("unknown-command", v.node, "scripts of packages are to be run by another program")
		return
	}
	j.text(text, v.node)
}

// makeRuns judges rules that are given to make on the command line.
func makeRuns(j *judge, v *invocation) {
	args := v.args()
	for i, a := range args {
		switch name, value, joined := strings.Cut(a.s, "="); {
		case name == "--eval" || name == "-E":
			if !joined && i+1 < len(args) {
				value = args[i+1].s
			}
			for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == '\n' || r == ';' }) {
				if _, recipe, ok := strings.Cut(part, ":"); ok && strings.TrimSpace(recipe) == "" {
					continue
				}
				j.text(strings.TrimLeft(part, "\t @-"), v.node)
			}
		case joined && (name == "SHELL" || name == ".SHELLFLAGS"):
			if !isShell(base(value)) {
				j.ask("unknown-command", v.node, "make is told to run another command")
			}
		case (a.s == "-f" || a.s == "--file" || a.s == "--makefile") && i+1 < len(args) && (args[i+1].s == "-" || args[i+1].s == "/dev/stdin" || args[i+1].proc != nil):
			j.ask("pipe-shell", v.node, "it runs rules that only come to be known while it runs")
		}
	}
}

// onMany judges programs that run a command on other machines.
func onMany(j *judge, v *invocation) {
	args := v.args()
	module := ""
	for i, a := range args {
		if (a.s == "-m" || a.s == "--module-name") && i+1 < len(args) {
			module = args[i+1].s
		}
		if v.name() == "salt" && (a.s == "cmd.run" || a.s == "cmd.shell") && i+1 < len(args) {
			j.text(args[i+1].s, v.node)
		}
		if (a.s == "-a" || a.s == "--args") && v.name() == "ansible" && i+1 < len(args) && (module == "" || strings.HasSuffix(module, "shell") || strings.HasSuffix(module, "command") || strings.HasSuffix(module, "raw")) {
			j.text(args[i+1].s, v.node)
		}
	}
	switch module[strings.LastIndexByte(module, '.')+1:] {
	case "reboot", "service", "systemd", "user", "file", "apt", "yum", "copy", "cron", "lineinfile", "mount", "iptables", "package", "template":
		j.ask("remote-delete", v.node, "it changes many machines at once")
	}
	if v.name() != "ansible" && v.name() != "salt" && len(args) > 0 {
		rest := args
		for len(rest) > 0 && strings.HasPrefix(rest[0].s, "-") {
			rest = rest[min(2, len(rest)):]
		}
		if len(rest) > 0 {
			words := shellText(rest)
			if len(words) > 0 {
				j.call(v.with(words))
			}
		}
	}
}
