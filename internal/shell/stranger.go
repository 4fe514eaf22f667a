package shell

import "strings"

// handsShell asks where a program that is no shell and no wrapper is given a
// shell to run: whatever it is, it runs commands that are not seen.
func (j *judge) handsShell(v *invocation) {
	switch name := v.name(); {
	case readsFiles(name) && name != "tar" && name != "openssl" && name != "cpio", isShell(name), printsOnly(name), j.away > 0:
		return
	}
	for _, a := range v.args() {
		if !strings.Contains(a.s, "sh") {
			continue
		}
		first, rest, _ := strings.Cut(strings.TrimLeft(a.s[strings.IndexByte(a.s, '=')+1:], "!"), " ")
		if isShell(base(first)) && (strings.Contains(first, "/") || strings.HasPrefix(rest, "-c")) || strings.Contains(a.s, "/bin/sh") || strings.Contains(a.s, "/bin/bash") {
			j.ask("inline-code", v.node, "it opens a shell from inside another program, or as another user")
			return
		}
	}
}

// printsOnly are programs that look at names and texts and run nothing.
func printsOnly(program string) bool {
	switch program {
	case "echo", "printf", "ls", "stat", "file", "test", "[", "which", "whereis", "type", "man", "command", "readlink", "realpath", "dirname", "basename", "export", "local", "declare", "typeset", "readonly", "set", "git", "chmod", "chown", "mkdir", "touch", "rm", "mv", "trap", "alias", "cd", "env", "ssh", "md5sum", "sha1sum", "sha256sum", "ldd", "nm", "objdump", "readelf", "pgrep", "ps", "pidof", "lsof", "dpkg", "rpm", "apk", "brew", "grep", "diff", "make", "cmake", "su", "runuser", "watch", "docker", "podman", "nerdctl", "docker-compose", "kubectl", "oc", "npx", "jq", "yq", "logger", "say", "notify-send", "wall", "shellcheck", "shfmt", "bat", "code", "let", "return", "exit", "fd", "find", "script", "systemd-run", "useradd", "usermod", "chsh", "adduser", "netcat", "tmux", "screen", "parallel":
		return true
	}
	return false
}

// stranger judges a program that nothing is known of by the words with which
// programs commonly say what they are about to do.
func (j *judge) stranger(v *invocation) {
	if readsFiles(v.name()) || names(v.name()) {
		return
	}
	words := v.verbs("")
	for _, a := range v.args() {
		if a.s == "--help" || a.s == "-h" || a.s == "help" || a.s == "--dry-run" {
			return
		}
		if !strings.Contains(a.s, "dev/") {
			continue
		}
		if p, known := j.resolve(a.s); known && rawDisk().MatchString(p) && !strings.HasPrefix(p, "/dev/loop") && !strings.HasPrefix(p, "/dev/mapper/") {
			j.ask("disk", v.node, "it works on a whole disk, and it is not known how")
			return
		}
	}
	for i, w := range words {
		if i > 2 {
			break
		}
		if i < 2 && destroys(w, v.super) || i > 0 && destroysNoun(w) {
			j.ask("delete-unknown", v.node, "it says that it deletes or stops something, and it is not known what")
			return
		}
	}
	if v.super {
		for _, a := range v.args() {
			switch strings.TrimLeft(a.s, "-") {
			case "delete", "delete-all", "erase", "wipe", "purge", "factory-reset", "uninstall", "destroy", "disable", "force-reset":
				if strings.HasPrefix(a.s, "-") {
					j.ask("delete-unknown", v.node, "it says that it deletes or stops something, and it is not known what")
					return
				}
			}
		}
	}
}

// destroys knows the verbs; with the rights of another user more of them count.
func destroys(verb string, super bool) bool {
	switch verb {
	case "destroy", "obliterate", "nuke", "factory-reset", "deprovision", "delete-all", "wipe", "purge-all", "erase", "destroy-all", "terminate":
		return true
	case "delete", "purge", "remove", "uninstall", "stop", "disable", "reset", "format", "kill", "revoke", "flush", "halt", "poweroff", "reboot", "shutdown", "restart", "deluser", "unregister", "unload", "uninit", "autoremove":
		return super || verb == "delete"
	}
	return false
}

// destroysNoun knows the verbs that stand behind what they are about, as in
// nats stream rm.
func destroysNoun(verb string) bool {
	switch verb {
	case "delete", "rm", "del", "destroy", "purge", "uninstall", "drop":
		return true
	}
	return strings.HasPrefix(verb, "delete-")
}

// names reports whether the operands of a program are names or texts, never
// what it is to do.
func names(program string) bool {
	switch program {
	case "echo", "printf", "ls", "dir", "vdir", "cd", "pushd", "mkdir", "touch", "stat", "file", "test", "[", "[[", "which", "whereis", "type", "man", "info", "tldr", "apropos", "whatis", "help", "export", "local", "declare", "typeset", "readonly", "read", "set", "unset", "shift", "return", "exit", "let", "wait",
		"basename", "dirname", "realpath", "readlink", "wc", "tr", "seq", "expr", "sleep", "date", "cal", "bc", "du", "df", "tree", "md5sum", "sha1sum", "sha256sum", "sha512sum", "cksum", "say", "figlet", "cowsay", "notify-send", "logger", "wall", "yes", "true", "false", ":",
		"git", "hg", "svn", "fossil", "jj", "rspec", "jest", "vitest", "pytest", "mocha", "phpunit", "go", "rustc", "gcc", "g++", "clang", "cc", "javac", "java", "tsc", "eslint", "prettier", "black", "ruff", "mypy", "make", "ninja", "cmake", "meson", "bazel", "just", "task", "invoke", "fab", "rake",
		"code", "subl", "open", "xdg-open", "start", "pgrep", "pidof", "ps", "top", "htop", "lsof", "lsblk", "blkid", "findmnt", "smartctl", "pvs", "pvdisplay", "pvscan", "pvck", "vgs", "vgdisplay", "lvs", "lvdisplay", "ioping", "dumpe2fs", "e2freefrag", "xfs_info", "xfs_db", "exfatlabel", "ntfsinfo", "photorec", "testdisk", "veracrypt", "hdparm", "udevadm", "iostat", "hexyl", "nvtop", "sync", "partprobe", "lspci", "lsusb", "dmesg", "journalctl", "compgen", "complete", "dig", "nslookup", "host", "ping", "traceroute", "whois", "nmap", "telnet", "ftp", "http", "curl", "wget", "look", "spell", "aspell", "translate", "trans", "dict", "fzf", "locate", "mdfind", "pip", "pip3", "pipenv", "composer", "bower", "yarn", "npm", "bun", "deno", "mvn", "gradle", "sbt", "lein", "flutter", "dart", "nvm", "fnm", "asdf", "rustup", "tmux", "screen", "zellij":
		return true
	}
	return false
}
