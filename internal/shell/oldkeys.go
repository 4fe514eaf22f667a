package shell

// Exact is what an approval of one command in its directory is saved as.
func Exact(dir, command string) string { return dir + "$ " + command }

// RulesOf returns the rules that an approval saved under key stands for. Keys
// of ours are the names of rules; the Python original saved the description of
// a pattern, and before that a piece of its regular expression. Keys of the
// original whose rule here reaches much further than they did are not in the
// table: such an approval is asked for once more.
func RulesOf(key string) []string {
	switch key {
	case "delete in root path", `rm\s+(-[^\s]*\s+)*/`:
		return []string{"delete-outside"}
	case "recursive delete", `rm\s+-[^\s]*r`, "recursive delete (long flag)", `rm\s+--recursive`:
		return []string{"delete-tree", "delete-unknown"}
	case "xargs with rm", `xargs\s+.*`:
		return []string{"delete-unknown"}
	case "find -exec rm", "find -delete", "find":
		return []string{"delete-tree"}
	case "world/other-writable permissions", `chmod\s+(-[^\s]*\s+)*(777|666|o\+[rwx]*w|a\+[rwx]*w)`,
		"recursive world/other-writable (long flag)", `chmod\s+--recursive`,
		"recursive chown to root", `chown\s+(-[^\s]*)?R\s+root`, "recursive chown to root (long flag)", `chown\s+--recursive`:
		return []string{"permissions"}
	case "disk copy", `dd\s+.*if=`:
		return []string{"disk"}
	case "SQL DROP", `DROP\s+(TABLE|DATABASE)`, "SQL DELETE without WHERE", `DELETE\s+FROM`, "SQL TRUNCATE", `TRUNCATE\s+(TABLE)?\s*\w`:
		return []string{"sql"}
	case "overwrite system config", `>\s*/etc/`, "copy/move file into /etc/", `(cp|mv|install)`,
		"in-place edit of system config", `sed\s+-[^\s]*i.*\s/etc/`, "in-place edit of system config (long flag)", `sed\s+--in-place`:
		return []string{"system-file"}
	case "overwrite system file via tee", "tee", "overwrite system file via redirection", `>>?\s*["\']?(?:/etc/`:
		return []string{"system-file", "secret-file"}
	case "stop/restart system service", `systemctl\s+(-[^\s]+\s+)*(stop|restart|disable|mask)`:
		return []string{"service"}
	case "force kill processes", `pkill\s+-9`,
		"kill process via pgrep expansion (self-termination)", "kill process via backtick pgrep expansion (self-termination)":
		return []string{"kill"}
	case "script execution via -e/-c flag", `(python[23]?|perl|ruby|node)\s+-[ec]\s+`,
		"script execution via heredoc", `(python[23]?|perl|ruby|node)\s+<<`:
		return []string{"inline-code"}
	case "pipe remote content to shell", "(curl|wget)":
		return []string{"pipe-shell"}
	case "execute remote script via process substitution", `(bash|sh|zsh|ksh)\s+<\s*<?\s*\(\s*(curl|wget)`,
		"chmod +x followed by immediate execution", `chmod\s+\+x`:
		return []string{"remote-code"}
	case "stop/restart hermes gateway (kills running agents)", `hermes\s+gateway\s+(stop|restart)`,
		"hermes update (restarts gateway, kills running agents)", `hermes\s+update`,
		"start gateway outside systemd (use 'systemctl --user restart hermes-gateway')", `.*(&\s*$|&\s*;|`, "nohup",
		"kill hermes/gateway process (self-termination)", "(pkill|killall)":
		return []string{"gateway"}
	case "git reset --hard (destroys uncommitted changes)", `git\s+reset\s+--hard`,
		"git clean with force (deletes untracked files)", `git\s+clean\s+-[^\s]*f`, "git branch force delete", `git\s+branch\s+-D`:
		return []string{"git-discard"}
	case "git force push (rewrites remote history)", "git force push short flag (rewrites remote history)", `git\s+push`:
		return []string{"git-force"}
	}
	return []string{key}
}
