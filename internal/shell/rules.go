package shell

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// ruleFor returns what judges a command by name.
func ruleFor(name string) func(*judge, *invocation) {
	switch name {
	case "rm", "unlink", "shred", "rmdir", "srm", "trash", "rimraf", "del-cli", "trash-put", "rip", "rmtrash", "safe-rm", "grm":
		return removing
	case "mkfs", "mke2fs", "mkswap", "wipefs", "blkdiscard", "fdisk", "sfdisk", "parted", "gdisk", "sgdisk":
		return disks
	case "dd", "dcfldd", "dc3dd":
		return copyingBlocks
	case "kill":
		return killing
	case "pkill", "killall", "killall5", "skill":
		return killingByName
	case "shutdown", "reboot", "halt", "poweroff", "init", "telinit":
		return power
	case "systemctl", "service", "launchctl", "rc-service", "initctl":
		return services
	case "chmod":
		return permissions
	case "chown", "chgrp":
		return owner
	case "tee", "sponge":
		return writingAll
	case "cp", "mv", "install", "ln", "rsync", "scp":
		return copying
	case "sed", "gsed", "perl":
		return editing
	case "truncate", "fallocate":
		return truncating
	case "git":
		return git
	case "curl", "wget":
		return fetching
	case "mysql", "psql", "sqlite3", "sqlite", "mariadb", "influx", "cqlsh", "isql", "sqlplus", "usql", "pgcli", "mycli", "litecli", "trino", "presto", "hive", "beeline", "spark-sql", "snowsql", "clickhouse-client", "duckdb", "cockroach", "sqlcmd", "bq":
		return sql
	case "nc", "ncat", "netcat", "socat":
		return connecting
	case "awk", "gawk", "mawk", "nawk":
		return awk
	case "crontab", "at", "batch":
		return scheduling
	case "hermes":
		return gateway
	case "docker", "podman", "docker-compose", "podman-compose":
		return containers
	case "kubectl", "oc":
		return clusters
	case "redis-cli", "valkey-cli", "mongo", "mongosh":
		return keyValue
	case "tar", "gtar", "bsdtar":
		return archives
	case "unzip":
		return zips
	case "less", "more", "vim", "vi", "nvim", "view", "ed", "ex", "gvim", "vimdiff", "rvim":
		return editors
	case "history", "unset", "set":
		return traces
	case "mkfifo", "mknod", "mkdir", "touch":
		return making
	case "npm", "pnpm":
		return packageScripts
	case "make", "gmake":
		return makeRuns
	case "ansible", "salt", "pdsh", "pssh", "parallel-ssh", "clush":
		return onMany
	}
	if strings.HasPrefix(name, "mkfs.") {
		return disks
	}
	return nil
}

// has reports whether a short option is given, alone or among others.
func (v *invocation) has(short byte, long ...string) bool {
	for _, a := range v.args() {
		if a.s == "--" {
			return false
		}
		if len(a.s) > 1 && a.s[0] == '-' && a.s[1] != '-' && strings.IndexByte(a.s, short) > 0 {
			return true
		}
		for _, l := range long {
			if name, _, _ := strings.Cut(a.s, "="); len(name) > 3 && strings.HasPrefix(l, name) {
				return true
			}
		}
	}
	return false
}

// operands are the arguments that are no options.
func (v *invocation) operands() []arg {
	var all []arg
	for i, a := range v.args() {
		if a.s == "--" && !a.quoted {
			return append(all, v.args()[i+1:]...)
		}
		if len(a.s) < 2 || a.s[0] != '-' {
			all = append(all, a)
		}
	}
	return all
}

func removing(j *judge, v *invocation) {
	recursive := v.has('r', "--recursive") || v.has('R')
	switch v.name() {
	case "trash", "rimraf", "del-cli", "trash-put", "rip", "rmtrash":
		recursive = true
	}
	if v.name() == "rmdir" {
		return // only empty directories
	}
	if v.more {
		j.ask("delete-unknown", v.node, "what it deletes is only known once it runs")
	}
	for _, a := range v.operands() {
		if p, _ := j.resolve(a.s); rawDisk().MatchString(p) {
			j.hard("raw-disk", v.node, "it would overwrite a disk: "+p)
			continue
		}
		j.remove(v.node, a, recursive, false)
	}
}

func disks(j *judge, v *invocation) {
	if strings.HasPrefix(v.name(), "mk") {
		if ops := v.operands(); len(ops) > 0 {
			if p, known := j.resolve(ops[len(ops)-1].s); known && (j.temporary(p) || j.inTree(p)) {
				return // an image file
			}
		}
		j.hard("format-disk", v.node, "it would format a disk")
		return
	}
	for _, a := range v.args() {
		if a.s == "-l" || a.s == "--list" || a.s == "-p" || a.s == "print" || a.s == "--print" || a.s == "-V" || a.s == "--version" || a.s == "-d" || a.s == "--dump" || a.s == "-v" {
			return
		}
	}
	if v.name() == "wipefs" && !v.has('a', "--all") && !v.has('o', "--offset") {
		return // it only lists
	}
	if v.name() == "blkdiscard" {
		j.hard("raw-disk", v.node, "it would empty a disk")
		return
	}
	if len(v.args()) > 0 {
		j.ask("disk", v.node, "it changes disks or their partitions")
	}
}

func copyingBlocks(j *judge, v *invocation) {
	for _, a := range v.args() {
		if to, ok := strings.CutPrefix(a.s, "of="); ok {
			if a.unknown && (to == hole || strings.HasPrefix(to, "/dev/")) {
				j.ask("disk", v.node, "where it writes is only known once it runs")
				continue
			}
			a.s = to
			j.write(v.node, a)
		}
		if from, ok := strings.CutPrefix(a.s, "if="); ok && rawDisk().MatchString(from) {
			j.ask("disk", v.node, "it reads a disk past its files and their permissions")
		}
	}
}

func permissions(j *judge, v *invocation) {
	ops := v.operands()
	for _, a := range v.args() {
		if len(a.s) > 1 && a.s[0] == '-' && strings.Trim(a.s[1:], "rwxXst") == "" { // chmod -x: a mode
			ops = append([]arg{a}, ops...)
			break
		}
	}
	for i, a := range ops {
		if i == 0 {
			m := strings.TrimLeft(a.s, "0")
			everybody := m == "777" || m == "666"
			for _, clause := range strings.Split(a.s, ",") {
				who, what, ok := strings.Cut(clause, "+")
				if !ok {
					who, what, ok = strings.Cut(clause, "=")
				}
				if ok && strings.ContainsAny(who, "oa") && strings.Contains(what, "w") {
					everybody = true
				}
				if ok && strings.Contains(what, "s") && strings.ContainsAny(who, "ug") {
					j.ask("permissions", v.node, "it lets a program run with the rights of its owner")
				}
			}
			if len(m) == 4 && m[0] >= '4' && strings.Trim(m, "01234567") == "" {
				j.ask("permissions", v.node, "it lets a program run with the rights of its owner")
			}
			if everybody {
				j.ask("permissions", v.node, "it lets everybody write")
			}
			continue
		}
		j.protect(v, a, "permissions", "it changes permissions of the system")
	}
}

func owner(j *judge, v *invocation) {
	ops := v.operands()
	if len(ops) > 0 && v.has('R', "--recursive") && strings.HasPrefix(ops[0].s, "root") {
		j.ask("permissions", v.node, "it gives whole directories to root")
	}
	for _, a := range ops[min(1, len(ops)):] {
		j.protect(v, a, "permissions", "it changes who owns files of the system")
	}
}

// protect asks before something is done to a file of the system.
func (j *judge) protect(v *invocation, a arg, rule, reason string) {
	p, known := j.resolve(a.s)
	if known && !j.inTree(p) && !j.temporary(p) && (system(p) || j.hitsVital(p, a.glob)) {
		j.ask(rule, v.node, reason+": "+p)
	}
}

func writingAll(j *judge, v *invocation) {
	for _, a := range v.operands() {
		j.write(v.node, a)
	}
}

func copying(j *judge, v *invocation) {
	ops := v.operands()
	for i, a := range v.args() {
		if (a.s == "-t" || a.s == "--target-directory") && i+1 < len(v.args()) {
			ops = append(ops, v.args()[i+1])
		} else if to, ok := strings.CutPrefix(a.s, "--target-directory="); ok {
			ops = append(ops, arg{s: to, unknown: a.unknown})
		}
	}
	if len(ops) == 0 {
		return
	}
	if v.name() == "rsync" {
		for _, a := range v.args() {
			if strings.HasPrefix(a.s, "--del") {
				j.remove(v.node, ops[len(ops)-1], true, false)
			}
		}
	}
	if v.name() == "mv" {
		for _, a := range ops[:len(ops)-1] {
			j.protect(v, a, "system-file", "it moves files of the system away")
			if p, known := j.resolve(a.s); known && secretFile(p, j.env) {
				j.ask("secret-file", v.node, "it moves a file that holds keys or start-up commands: "+p)
			}
		}
	}
	to := ops[len(ops)-1]
	switch p, known := j.resolve(to.s); {
	case v.name() == "mv" && to.s == "/dev/null":
		for _, a := range ops[:len(ops)-1] {
			j.remove(v.node, a, true, false)
		}
	case v.name() == "cp" && len(ops) > 1 && ops[0].s == "/dev/null" && known:
		j.empties(v.node, p)
	}
	if strings.Contains(to.s, ":") && !strings.HasPrefix(to.s, "/") {
		_, there, _ := strings.Cut(to.s, ":")
		if p := path.Clean(there); there != "" && (p == "/" || system(p) || secretFile(p, j.env)) {
			j.ask("system-file", v.node, "it writes to a file of another machine's system: "+p)
		}
		return
	}
	j.write(v.node, to)
	for _, a := range ops[:len(ops)-1] { // into a directory, under the same name
		in := arg{s: to.s + "/" + base(a.s), unknown: to.unknown || a.unknown}
		if p, known := j.resolve(in.s); known && own(p, j.env) {
			j.write(v.node, in)
		}
	}
}

// empties asks before a file outside of the working tree is emptied.
func (j *judge) empties(n syntax.Node, p string) {
	if path.IsAbs(p) && !strings.HasPrefix(p, "/dev/") && !j.inTree(p) && !j.temporary(p) && within(j.env.Home, p) {
		j.ask("truncate", n, "it empties a file outside the working tree: "+p)
	}
}

func truncating(j *judge, v *invocation) {
	for _, a := range v.operands() {
		p, known := j.resolve(a.s)
		if !known || !j.inTree(p) && !j.temporary(p) && strings.Contains(a.s, "/") {
			j.ask("truncate", v.node, "it empties a file outside the working tree")
			return
		}
	}
}

func fetching(j *judge, v *invocation) {
	args := v.args()
	for i, a := range args {
		next := func() arg {
			if i+1 < len(args) {
				return args[i+1]
			}
			return arg{}
		}
		switch {
		case a.s == "-o" || a.s == "--output" || v.name() == "wget" && (a.s == "-O" || a.s == "--output-document"):
			j.fetched[base(next().s)] = true
			if next().s != "-" && next().s != "" {
				j.write(v.node, next())
			}
		case len(a.s) > 2 && a.s[0] == '-' && a.s[1] != '-' && strings.HasSuffix(a.s, "o") && v.name() == "curl":
			j.fetched[base(next().s)] = true
			j.write(v.node, next())
		case v.name() == "curl" && strings.HasPrefix(a.s, "--output="), v.name() == "wget" && strings.HasPrefix(a.s, "--output-document="):
			_, to, _ := strings.Cut(a.s, "=")
			j.fetched[base(to)] = true
			j.write(v.node, arg{s: to, unknown: a.unknown})
		case len(a.s) > 2 && (v.name() == "curl" && strings.HasPrefix(a.s, "-o") || v.name() == "wget" && strings.HasPrefix(a.s, "-O")):
			j.fetched[base(a.s[2:])] = true
			if a.s[2:] != "-" {
				j.write(v.node, arg{s: a.s[2:], unknown: a.unknown})
			}
		case strings.Contains(a.s, "://"):
			u, _, _ := strings.Cut(a.s, "?")
			j.fetched[base(u)] = true
		case a.subst != nil && j.secretIn(a.subst) != "":
			j.ask("secret-file", v.node, "it sends a file with keys in it to another machine: "+j.secretIn(a.subst))
		default:
			if file := uploaded(v.name(), a.s, next().s); file != "" {
				if file == "-" || file == "/dev/stdin" {
					if p := j.fedSecret(v); p != "" {
						j.ask("secret-file", v.node, "it sends a file with keys in it to another machine: "+p)
					}
				} else if p, known := j.resolve(file); known && (secretFile(p, j.env) || strings.HasPrefix(p, "/etc/")) {
					j.ask("secret-file", v.node, "it sends a file with keys in it to another machine: "+p)
				}
			}
		}
	}
}

// uploaded is the file that an option of curl or wget sends, or "".
func uploaded(program, option, next string) string {
	name, value, joined := strings.Cut(option, "=")
	switch {
	case !strings.HasPrefix(option, "-"):
		return ""
	case !strings.HasPrefix(option, "--"):
		name, value, joined = option[:min(2, len(option))], option[min(2, len(option)):], len(option) > 2
	}
	if !joined {
		value = next
	}
	switch {
	case program == "wget" && (name == "--post-file" || name == "--body-file"), program == "curl" && (name == "-T" || name == "--upload-file"):
		return value
	case program == "curl" && (name == "-d" || name == "-F" || strings.HasPrefix(name, "--data") || strings.HasPrefix(name, "--form") || name == "--json"):
		if _, file, ok := strings.Cut(value, "@"); ok {
			return file
		}
	}
	return ""
}

// connecting knows programs that can give a shell to another machine.
func connecting(j *judge, v *invocation) {
	if p := j.fedSecret(v); p != "" {
		j.ask("secret-file", v.node, "it sends a file with keys in it to another machine: "+p)
	}
	for _, a := range v.args() {
		s := strings.ToUpper(a.s)
		if v.name() == "socat" && (strings.HasPrefix(s, "EXEC:") || strings.HasPrefix(s, "SYSTEM:") || strings.HasPrefix(s, "SHELL:")) ||
			v.name() != "socat" && (strings.HasPrefix(a.s, "--exec") || strings.HasPrefix(a.s, "--sh-exec") || len(a.s) > 1 && a.s[0] == '-' && a.s[1] != '-' && strings.ContainsAny(a.s, "ec")) {
			j.ask("network", v.node, "it lets another machine run commands here")
			return
		}
	}
}

func scheduling(j *judge, v *invocation) {
	if v.name() == "crontab" && v.has('l') {
		return
	}
	if _, kind := j.input(v); v.name() == "crontab" && len(v.args()) == 0 && kind == inputNone && !v.fed {
		return
	}
	j.ask("schedule", v.node, "it schedules or unschedules commands that run later, unseen")
}

func gateway(j *judge, v *invocation) {
	for _, a := range v.args() {
		if strings.HasPrefix(a.s, "--yolo") && a.s != "--yolo=false" {
			j.ask("gateway", v.node, "it starts an agent that asks nobody")
			return
		}
	}
	ops := v.operands()
	word := func(i int) string {
		if i < len(ops) {
			return ops[i].s
		}
		return ""
	}
	if word(0) == "config" && (word(1) == "set" || word(1) == "unset") {
		for _, key := range []string{"approvals", "command_allowlist", "security"} {
			if a := word(2); strings.HasPrefix(a, key) || strings.HasPrefix(a, hole) {
				j.ask("gateway", v.node, "it changes what the agent may do without asking")
				return
			}
		}
	}
	if word(0) == "update" || word(0) == "gateway" && (word(1) == "stop" || word(1) == "restart" || word(1) == "run" || word(1) == "uninstall") {
		j.ask("gateway", v.node, "it stops, replaces or doubles the agent itself")
	}
}
