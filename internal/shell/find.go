package shell

import "strings"

func runFind(j *judge, v *invocation) {
	args := v.args()
	var roots []arg
	i := 0
	for ; i < len(args); i++ {
		s := args[i].s
		if strings.HasPrefix(s, "-") || s == "(" || s == "!" {
			if s == "-H" || s == "-L" || s == "-P" {
				continue
			}
			break
		}
		roots = append(roots, args[i])
	}
	if len(roots) == 0 {
		roots = []arg{{s: "."}}
	}
	keys := false   // it looks for files with keys in them
	narrow := false // some test decides which files it is about
	for k := i; k < len(args); k++ {
		switch args[k].s {
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex":
			if k+1 < len(args) {
				narrow = narrow || args[k+1].s != "*"
				keys = keys || j.keyFile("/home/"+strings.Trim(args[k+1].s, "*"))
			}
		case "-empty", "-mtime", "-mmin", "-size", "-newer", "-atime", "-ctime", "-user", "-perm":
			narrow = true
		}
	}
	for ; i < len(args); i++ {
		switch args[i].s {
		case "-delete":
			j.deleteFound(v, roots, narrow)
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(args) && args[end].s != ";" && args[end].s != "+" {
				end++
			}
			var inner []arg
			inner = append(inner, fill(args[i+1:end], "{}")...)
			i = end
			if len(inner) == 0 {
				continue
			}
			c := &invocation{argv: inner, node: v.node, super: v.super, bare: true}
			if keys && readsFiles(c.name()) {
				j.ask("secret-read", v.node, "it shows or copies keys or passwords")
			}
			switch c.name() {
			case "rm", "unlink", "shred", "rmdir":
				j.deleteFound(v, roots, narrow)
			default:
				j.call(c)
			}
		case "-fprint", "-fprintf", "-fls", "-fprint0":
			if i+1 < len(args) {
				j.write(v.node, args[i+1])
			}
		}
	}
}

// fill puts an unknown value where a command's arguments have a place for it.
func fill(argv []arg, place string) []arg {
	if place == "" || len(argv) == 0 {
		return argv
	}
	value := hole
	if isShell(base(argv[0].s)) {
		value = item
	}
	filled := make([]arg, 0, len(argv))
	for _, a := range argv {
		if strings.Contains(a.s, place) {
			exact := a.s == place
			a.s = strings.ReplaceAll(a.s, place, value)
			if value == hole || exact {
				a.s, a.unknown, a.quoted = strings.ReplaceAll(a.s, item, hole), true, true
			}
		}
		filled = append(filled, a)
	}
	return filled
}

// deleteFound judges the deleting of what find finds: files below its roots,
// chosen by its tests.
func (j *judge) deleteFound(v *invocation, roots []arg, narrow bool) {
	for _, r := range roots {
		j.remove(v.node, r, !narrow, true)
	}
}

func runFd(j *judge, v *invocation) {
	args := v.args()
	for i, a := range args {
		if a.s == "-x" || a.s == "-X" || a.s == "--exec" || a.s == "--exec-batch" {
			if rest := args[i+1:]; len(rest) > 0 {
				j.call(&invocation{argv: rest, node: v.node, more: true, bare: true, super: v.super})
			}
			return
		}
	}
}
