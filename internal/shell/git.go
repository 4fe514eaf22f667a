package shell

import (
	"slices"
	"strings"
)

func git(j *judge, v *invocation) {
	args := v.args()
	unasked := false // clean needs no -f
	for len(args) > 0 && strings.HasPrefix(args[0].s, "-") {
		switch s := args[0].s; {
		case s == "-c" || strings.HasPrefix(s, "-c") && strings.Contains(s, "=") || strings.HasPrefix(s, "--config-env"):
			setting, rest := arg{s: strings.TrimPrefix(strings.TrimPrefix(s, "--config-env"), "-c"), unknown: args[0].unknown}, args[1:]
			if !strings.Contains(s, "=") && len(rest) > 0 {
				setting, rest = rest[0], rest[1:]
			}
			args = rest
			name, value, _ := strings.Cut(strings.TrimPrefix(setting.s, "="), "=")
			unasked = unasked || strings.EqualFold(name, "clean.requireForce")
			if strings.HasPrefix(s, "--config-env") {
				value = hole
			}
			if runsValue(name) && !plainValue(value) || setting.unknown {
				j.ask("unknown-command", v.node, "git is told to run another command")
			}
		case s == "-C" || s == "--git-dir" || s == "--work-tree" || s == "--namespace":
			args = args[min(2, len(args)):]
		case s == "--exec-path" || strings.HasPrefix(s, "--exec-path="):
			if s != "--exec-path" {
				j.ask("unknown-command", v.node, "git is told to run other programs")
			}
			args = args[1:]
		default:
			args = args[1:]
		}
	}
	if len(args) == 0 {
		return
	}
	if args[0].unknown {
		j.ask("unknown-command", v.node, "what git is to do is only known once it runs")
		return
	}
	for _, a := range args[1:] {
		if strings.HasPrefix(a.s, "ext::") || strings.HasPrefix(a.s, "-O") && args[0].s == "grep" && len(a.s) > 2 || strings.HasPrefix(a.s, "--open-files-in-pager=") {
			j.ask("unknown-command", v.node, "git is told to run another command")
		}
	}
	if rule, reason := gitDeed(v.with(args), unasked); rule != "" {
		j.ask(rule, v.node, reason)
	}
	if args[0].s == "config" {
		gitSetting(j, v.with(args))
	}
}

// gitDeed says what a subcommand of git would destroy. Here args are those
// after its name.
func gitDeed(v *invocation, unasked bool) (rule, reason string) {
	const (
		uncommitted = "it discards changes that are not committed"
		unmerged    = "it discards commits or history"
		files       = "it deletes files that git does not know"
		others      = "it rewrites or deletes what others may have"
	)
	rest := func(words ...string) bool {
		return slices.ContainsFunc(v.args(), func(a arg) bool {
			name, _, _ := strings.Cut(a.s, "=")
			return slices.Contains(words, a.s) || slices.Contains(words, name)
		})
	}
	words := v.verbs(" --source -s -b -B --orphan -m -u -o --format --expire --conflict --unified --inter-hunk-context -U -t ")
	first := ""
	if len(words) > 0 {
		first = words[0]
	}
	dash := slices.ContainsFunc(v.args(), func(a arg) bool { return a.s == "--" })
	switch v.argv[0].s {
	case "reset":
		if rest("--hard", "--merge", "--keep") {
			return "git-discard", uncommitted
		}
	case "push":
		force := v.has('f', "--force-with-lease", "--force-if-includes") || rest("--force", "--mirror", "--delete", "-d", "--prune", "--all-force")
		for _, a := range v.operands() {
			force = force || strings.HasPrefix(a.s, "+") || strings.HasPrefix(a.s, ":")
		}
		if force && !rest("--dry-run", "-n") {
			return "git-force", others
		}
	case "clean":
		if (unasked || v.has('f', "--force") || v.more) && !v.has('n', "--dry-run") {
			return "git-discard", files
		}
	case "branch":
		if v.has('D') || rest("-f", "--force", "-M", "-C") {
			return "git-discard", "it deletes or moves a branch even if it is not merged"
		}
	case "checkout", "switch":
		switch {
		case forced(v) || rest("--discard-changes", "--ours", "--theirs") || first == "." || first == ":/" || first == "*":
			return "git-discard", uncommitted
		case v.argv[0].s == "switch" || rest("--orphan", "--detach", "-p", "--patch", "--track", "-t", "--no-track") || v.has('b') || v.has('B'):
		case rest("--pathspec-from-file"), len(words) > 1, dash && len(v.operands()) > 0 && v.args()[len(v.args())-1].s != "--":
			return "git-discard", uncommitted
		}
	case "checkout-index":
		if v.has('f', "--force") {
			return "git-discard", uncommitted
		}
	case "read-tree":
		if rest("--reset", "-u") {
			return "git-discard", uncommitted
		}
	case "restore":
		if rest("--staged") && !rest("--worktree", "-W") || v.has('S') && !v.has('W', "--worktree") || rest("-p", "--patch", "--help", "-h") {
			return "", ""
		}
		if len(v.operands()) > 0 || rest("--pathspec-from-file") {
			return "git-discard", uncommitted
		}
	case "rm":
		if v.has('f', "--force") && !rest("--cached", "--dry-run", "-n") {
			return "git-discard", uncommitted
		}
	case "stash":
		if first == "drop" || first == "clear" {
			return "git-discard", "it deletes stashed changes"
		}
	case "worktree":
		if first == "remove" && v.has('f', "--force") {
			return "git-discard", uncommitted
		}
	case "submodule":
		if first == "deinit" && v.has('f', "--force") || first == "update" && v.has('f', "--force") {
			return "git-discard", uncommitted
		}
	case "reflog":
		if first == "expire" || first == "delete" {
			return "git-discard", unmerged
		}
	case "gc":
		if slices.ContainsFunc(v.args(), func(a arg) bool { return a.s == "--prune=now" || a.s == "--prune=all" || a.s == "--aggressive=now" }) {
			return "git-discard", unmerged
		}
	case "prune":
		if !v.has('n', "--dry-run") {
			return "git-discard", unmerged
		}
	case "update-ref":
		if v.has('d', "--delete", "--stdin") || len(words) < 3 {
			return "git-discard", unmerged
		}
	case "filter-branch", "filter-repo", "fast-import", "replace":
		if v.argv[0].s != "replace" || first != "" {
			return "git-discard", "it rewrites history"
		}
	case "credential":
		if first == "fill" {
			return "secret-read", "it shows a stored password"
		}
	}
	return "", ""
}

// forced reports whether checkout or switch is told to throw changes away. A
// name may follow -b at once.
func forced(v *invocation) bool {
	for _, a := range v.args() {
		switch {
		case a.s == "--":
			return false
		case len(a.s) > 4 && strings.HasPrefix("--force", a.s):
			return true
		case len(a.s) > 1 && a.s[0] == '-' && a.s[1] != '-':
			letters := a.s[1:]
			if i := strings.IndexAny(letters, "bBcC"); i >= 0 {
				letters = letters[:i]
			}
			if strings.Contains(letters, "f") {
				return true
			}
		}
	}
	return false
}

// gitSetting judges settings that make git run something, or trust somebody.
func gitSetting(j *judge, v *invocation) {
	ops := v.operands()
	if len(ops) > 0 && (ops[0].s == "set" || ops[0].s == "add") {
		ops = ops[1:]
	}
	if len(ops) < 2 {
		return
	}
	name := strings.ToLower(ops[0].s)
	j.setsCommand(v.node, ops[0].s, ops[1])
	if strings.HasPrefix(name, "include") || strings.HasPrefix(name, "url.") || name == "http.sslverify" && ops[1].s == "false" || name == "safe.directory" && ops[1].s == "*" || name == "http.proxy" || ops[0].unknown {
		j.ask("secret-file", v.node, "it changes whom git trusts: "+strings.ReplaceAll(ops[0].s, hole, "?"))
	}
}
