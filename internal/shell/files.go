package shell

import (
	"path"
	"regexp"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hermes-go/hermes/internal/sensitive"
)

func base(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }

// vital are the directories without which a machine or an account is gone.
func (j *judge) vital() []string {
	dirs := []string{
		"/", "/home", "/root", "/etc", "/usr", "/var", "/bin", "/sbin", "/boot", "/lib", "/lib64", "/opt", "/dev", "/proc", "/sys",
		"/Users", "/System", "/Library", "/Applications", "/private",
	}
	if j.env.Home != "" {
		dirs = append(dirs, j.env.Home)
	}
	return dirs
}

// hitsVital reports whether removing p, which may be a pattern, removes a
// vital directory or everything in one.
func (j *judge) hitsVital(p string, glob bool) bool {
	dir, last := path.Dir(p), path.Base(p)
	for _, d := range j.vital() {
		if p == d {
			return true
		}
		if glob && dir == d && strings.Trim(last, "*.?[]!^") == "" && last != "?" {
			return true // everything in it, also written as {*,.*}
		}
		if glob && d != "/" {
			if ok, err := path.Match(p, d); err == nil && ok {
				return true
			}
		}
	}
	return false
}

// system are the directories that belong to the machine, not to a task.
func system(p string) bool {
	for _, d := range [...]string{
		"/etc", "/usr", "/bin", "/sbin", "/boot", "/lib", "/lib64", "/var/lib", "/var/log", "/var/spool", "/opt", "/sys", "/proc", "/dev", "/root/.ssh",
		"/System", "/Library", "/private/etc",
	} {
		if p == d || within(d, p) {
			return true
		}
	}
	return false
}

// within reports whether p, which is clean, lies below dir.
func within(dir, p string) bool {
	if dir == "" || len(p) <= len(dir) || p[len(dir)] != '/' || p[:len(dir)] != dir {
		return false
	}
	return dir != "/" && dir != "."
}

// temporary reports whether p lies in a place for temporary files.
func (j *judge) temporary(p string) bool {
	for _, d := range [...]string{"/tmp", "/var/tmp", "/private/tmp", "/dev/shm"} {
		if within(d, p) {
			return true
		}
	}
	for _, d := range j.env.Tmp {
		if within(d, p) {
			return true
		}
	}
	return false
}

// inTree reports whether p lies in the working tree. A home directory or the
// root is no tree of work.
func (j *judge) inTree(p string) bool {
	return within(j.env.Tree, p) && j.env.Tree != j.env.Home && !system(j.env.Tree)
}

func (j *judge) atHome() bool {
	return j.env.Home != "" && j.env.Tree == j.env.Home
}

// made reports whether a directory is one that tools make and remake.
func made(p string) bool {
	switch path.Base(p) {
	case "build", "dist", "target", "out", "node_modules", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".nox", ".next", ".nuxt",
		".turbo", ".parcel-cache", ".gradle", "coverage", ".coverage", "htmlcov", "venv", ".venv", "bin-debug", "DerivedData", ".eggs":
		return true
	}
	return strings.HasSuffix(p, ".egg-info") || strings.HasPrefix(path.Base(p), "cmake-build-")
}

// rawDisk reports whether p is a disk rather than a file on one.
var rawDisk = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^/dev/(sd|nvme|hd|mmcblk|vd|xvd|disk|rdisk|dm-|md|loop|mapper/)`)
})

// remove judges deleting one argument. found says that it stands for files
// below it, chosen by tests.
func (j *judge) remove(n syntax.Node, a arg, recursive, found bool) {
	p, known := j.resolve(a.s)
	if a.unknown && strings.HasPrefix(a.s, hole+"/") && strings.Trim(a.s[1:], "/*.") == "" {
		j.ask("delete-unknown", n, "it may delete everything, if the variable in it is empty")
		return
	}
	if path.IsAbs(p) {
		whole := p
		if found {
			whole = p + "/*"
		}
		if known && (!found || recursive) && j.hitsVital(whole, a.glob || found) {
			j.hard("root-delete", n, "it would delete a directory that the machine or the account needs: "+p)
			return
		}
	}
	switch {
	case !path.IsAbs(p):
		if recursive || j.dir().known {
			j.ask("delete-unknown", n, "what it deletes is only known once it runs")
		}
	case j.env.Private != "" && (p == j.env.Private || within(j.env.Private, p)) && !j.inTree(p):
		j.ask("delete-outside", n, "it deletes the agent's own files: "+p)
	case j.temporary(p):
	case j.inTree(p):
		rest := strings.TrimPrefix(p, j.env.Tree+"/")
		switch {
		case rest == ".git" || strings.HasPrefix(rest, ".git/") && recursive:
			j.ask("delete-tree", n, "it deletes the history of the working tree")
		case recursive && a.glob && matchesGit(rest):
			j.ask("delete-tree", n, "it deletes the history of the working tree")
		case a.glob && (rest == "*" || recursive && rest == ".*") || recursive && !known && rest == "":
			j.ask("delete-tree", n, "it deletes everything in the working tree")
		}
	case known && !found && made(p) && !system(path.Dir(p)) && strings.Count(p, "/") > 2:
	case known && !recursive && !found && j.atHome() && within(j.env.Home, p) && !strings.HasPrefix(path.Base(p), "."):
		// Single files of a person who works in the home directory itself.
	case !known:
		j.ask("delete-unknown", n, "what it deletes is only known once it runs")
	case p == j.env.Tree && recursive:
		j.ask("delete-tree", n, "it deletes the whole working tree")
	case p == j.env.Tree: // find . -name x -delete
	default:
		j.ask("delete-outside", n, "it deletes outside the working tree: "+p)
	}
}

// matchesGit reports whether a pattern at the top of the tree takes .git along.
func matchesGit(pattern string) bool {
	if !strings.HasPrefix(pattern, ".") {
		return false
	}
	ok, err := path.Match(strings.ReplaceAll(pattern, "[!", "[^"), ".git")
	return err == nil && ok && pattern != ".*"
}

// write judges writing to a file.
func (j *judge) write(n syntax.Node, a arg) {
	p, known := j.resolve(a.s)
	if !strings.HasPrefix(p, "/dev/") {
		j.writeFile(n, p, known)
		return
	}
	switch p {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero", "/dev/full":
		return
	}
	if strings.HasPrefix(p, "/dev/fd/") || strings.HasPrefix(p, "/dev/shm/") {
		return
	}
	if strings.HasPrefix(p, "/dev/tcp/") || strings.HasPrefix(p, "/dev/udp/") {
		j.ask("network", n, "it sends data over the network without a program that could be seen")
		return
	}
	if rawDisk().MatchString(p) {
		j.hard("raw-disk", n, "it would overwrite a disk: "+p)
		return
	}
	j.writeFile(n, p, known)
}

// writeFile is write for what is no device.
func (j *judge) writeFile(n syntax.Node, p string, known bool) {
	switch {
	case !known && (p == "" || !path.IsAbs(p)):
		// Where it goes is not known; most such names are made from dates and counters.
	case path.IsAbs(p) && j.temporary(p) && !own(p, j.env):
	case secretFile(p, j.env):
		j.ask("secret-file", n, "it writes to a file that holds keys or start-up commands: "+p)
	case system(p) && !j.inTree(p):
		j.ask("system-file", n, "it writes to a file of the system: "+p)
	}
}

// secretFile knows files with keys in them, and those that are run at every
// login or by git.
func secretFile(p string, env Env) bool { return own(p, env) || sensitive.Startup(p) }

// own knows the files that say what the program may do, and with which keys.
func own(p string, env Env) bool {
	if env.Private == "" || path.Dir(p) != env.Private {
		return false
	}
	b := path.Base(p)
	return b == "config.yaml" || b == "auth.json" || b == ".env"
}

func (j *judge) redirect(r *syntax.Redirect) {
	switch r.Op {
	case syntax.RdrIn:
		if p := j.word(r.Word).s; strings.HasPrefix(p, "/dev/tcp/") || strings.HasPrefix(p, "/dev/udp/") {
			j.ask("network", r, "it reads from the network without a program that could be seen")
		} else {
			j.readsKeys(r, p)
		}
		return
	case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.DplOut:
	default:
		return
	}
	a := j.word(r.Word)
	if r.Op == syntax.DplOut && strings.Trim(a.s, "0123456789-") == "" {
		return
	}
	j.write(r, a)
}
