package shell

import "strings"

func killing(j *judge, v *invocation) {
	args := v.args()
	if len(args) > 0 && (args[0].s == "-l" || args[0].s == "-L" || args[0].s == "--list") {
		return
	}
	signalled := false // the first option is a signal, later ones are groups
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.s == "-s" || a.s == "-n" || a.s == "--signal":
			i++
			signalled = true
		case a.s == "--":
			signalled = true
		case a.s == "-1" && i > 0: // as the first argument it is a signal
			j.hard("kill-all", v.node, "it would end every process there is")
		case strings.HasPrefix(a.s, "-") && !signalled:
			signalled = true
		case a.s == "1":
			j.ask("kill", v.node, "it signals the first process of the machine")
		case a.s == "0":
			j.ask("kill", v.node, "it ends everything that was started with it")
		case a.subst != nil && strings.Contains(textOf(a.subst), "pgrep"), a.subst != nil && strings.Contains(textOf(a.subst), "pidof"), a.subst != nil && strings.HasPrefix(textOf(a.subst), "$(ps "):
			j.ask("kill", v.node, "it ends processes that are searched for by name")
		}
	}
	if v.more {
		j.ask("kill", v.node, "which processes it ends is only known once it runs")
	}
}

func killingByName(j *judge, v *invocation) {
	if v.name() == "killall5" {
		j.hard("kill-all", v.node, "it would end every process there is")
		return
	}
	for _, a := range v.args() {
		switch {
		case a.s == "-9" || a.s == "-KILL" || a.s == "-SIGKILL" || a.s == "-u" || a.s == "-U":
			j.ask("kill", v.node, "it ends processes by name, without letting them finish")
			return
		case essential(a.s):
			j.ask("kill", v.node, "it ends processes that the machine, or this program, needs")
			return
		case strings.Contains(a.s, "hermes") || strings.Contains(a.s, "gateway") || strings.Contains(a.s, "cli.py"):
			j.ask("gateway", v.node, "it may end the agent itself")
			return
		case a.unknown || a.s == "." || a.s == ".*":
			j.ask("kill", v.node, "which processes it ends is only known once it runs")
			return
		}
	}
}

func power(j *judge, v *invocation) {
	switch v.name() {
	case "init", "telinit":
		for _, a := range v.args() {
			if a.s == "0" || a.s == "6" || a.unknown {
				j.hard("power", v.node, "it would stop the machine")
			} else if len(a.s) == 1 && strings.Contains("12345sS", a.s) {
				j.ask("power", v.node, "it stops most of what runs on the machine")
			}
		}
		return
	}
	for _, a := range v.args() {
		if a.s == "--help" || a.s == "--version" || a.s == "-c" && v.name() == "shutdown" {
			return
		}
	}
	j.hard("power", v.node, "it would stop the machine")
}

// essential are processes without which others stop working.
func essential(name string) bool {
	switch strings.Trim(name, "^$") {
	case "systemd", "init", "sshd", "dbus-daemon", "NetworkManager", "Xorg", "gnome-shell", "kwin", "plasmashell", "auditd", "rsyslogd", "cron", "crond", "dockerd", "containerd", "launchd", "WindowServer", "bash", "sh", "zsh", ".", ".*", "python", "python3":
		return true
	}
	return false
}

func services(j *judge, v *invocation) {
	for _, a := range v.operands() {
		switch a.s {
		case "poweroff", "reboot", "halt", "kexec":
			if v.name() == "systemctl" {
				j.hard("power", v.node, "it would stop the machine")
				return
			}
		case "stop", "restart", "disable", "mask", "kill", "isolate", "unload", "bootout", "emergency", "rescue", "suspend", "hibernate":
			j.ask("service", v.node, "it stops or disables a service")
			return
		}
		if a.unknown {
			j.ask("service", v.node, "what it does to which service is only known once it runs")
			return
		}
	}
}
