// Package shellstate is the text that carries a shell's state from one command
// to the next, wherever the shell runs: what is put around a script so that it
// reports directory and exported variables, and how that report is read. It
// starts no process and keeps nothing.
package shellstate

import (
	"slices"
	"strings"
)

// SanePath are the system's own directories of programs.
const SanePath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// BareName is what a shell is called, wherever it lies and on every system.
func BareName(shell string) string {
	name := shell[strings.LastIndexAny(shell, `/\`)+1:]
	if cut := len(name) - len(".exe"); cut > 0 && strings.EqualFold(name[cut:], ".exe") {
		name = name[:cut]
	}
	return name
}

// IsBash tells by its name whether a shell is bash.
func IsBash(shell string) bool { return strings.EqualFold(BareName(shell), "bash") }

// Args are what the shell is called with to run a script, given as text or,
// with file set, by the name of a file. It goes by its bare name, which is
// what its messages begin with.
func Args(shell, script string, file bool) []string {
	a := []string{BareName(shell)}
	if IsPowerShell(shell) {
		return append(a, "-NoLogo", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File", script)
	}
	if IsBash(shell) {
		a = append(a, "--noprofile", "--norc")
	}
	if file {
		return append(a, script)
	}
	return append(a, "-c", script)
}

// MaxArg is the longest script that is given as an argument: Linux allows
// 128 KiB for each, Windows less for all.
const MaxArg = 100 << 10

// Wrap makes a script report the state that outlasts it: directory and
// exported variables, NUL between them, to the given place. The trap serves
// every end but a killed shell. A script with a trap of its own may replace
// ours, so there the report stands at its end too.
//
// Only builtins are used, so reporting starts no process; what they print is
// read by ParseState. "builtin" keeps functions of the same name out.
func Wrap(shell, script, place string) string {
	if IsPowerShell(shell) {
		return wrapPowerShell(script, place)
	}
	b := ""
	if IsBash(shell) {
		b = "builtin "
	}
	report := "{ " + b + "pwd -P; " + b + "printf '\\0'; " + b + "export -p; " + b + "printf '\\0'; } >" + place + " 2>/dev/null"
	var s strings.Builder
	s.Grow(len(script) + 2*len(report) + 80)
	s.WriteString("trap -- ")
	s.WriteString(Quote(report))
	s.WriteString(" EXIT; ") // on the script's first line: line numbers in messages stay right
	s.WriteString(script)
	if strings.Contains(script, "trap") {
		s.WriteString("\n__hermes_status=$?; " + report + "; exit $__hermes_status")
	}
	s.WriteString("\n")
	return s.String()
}

// Unreported makes a script that leaves no state.
func Unreported(shell, script string) string {
	if IsPowerShell(shell) {
		return wrapPowerShell(script, "")
	}
	return script + "\n"
}

// Quote makes one shell word of any text.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// ParseState reads what Wrap's report printed. ok is false when it is not
// whole: the shell was killed, or replaced by exec.
func ParseState(b []byte) (dir, exports string, ok bool) {
	dir, rest, ok := strings.Cut(string(b), "\x00")
	if !ok {
		return "", "", false
	}
	exports, _, ok = strings.Cut(rest, "\x00")
	return strings.TrimSuffix(dir, "\n"), exports, ok
}

// ParseExports reads the output of "export -p". Bash writes
//
//	declare -x NAME="double quoted" or $'with escapes'
//
// and other shells
//
//	export NAME='single quoted'
//
// one after another; values may span lines. Variables without a value are not
// exported yet and left out.
func ParseExports(s string) ([]string, bool) {
	var vars []string
	for s != "" {
		word, rest, _ := strings.Cut(s, " ")
		switch word {
		case "declare":
			if !strings.HasPrefix(rest, "-") {
				return nil, false
			}
			_, rest, _ = strings.Cut(rest, " ") // the flags
		case "export":
		default:
			return nil, false
		}
		i := strings.IndexAny(rest, "=\n")
		if i < 0 {
			return vars, true
		}
		name := rest[:i]
		s = rest[i+1:]
		if rest[i] == '\n' {
			continue
		}
		val, after, ok := parseValue(s)
		if !ok {
			return nil, false
		}
		s = after
		switch name {
		case "_", "SHLVL", "PWD":
		default:
			vars = append(vars, name+"="+val)
		}
	}
	return vars, true
}

// parseValue reads one quoted value up to the end of its line.
func parseValue(s string) (val, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\n':
			return b.String(), s[i+1:], true
		case c == '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("\"\\$`\n", s[i+1]) >= 0 {
					i++
				}
				b.WriteByte(s[i])
			}
			i++
		case c == '\'':
			end := strings.IndexByte(s[i+1:], '\'')
			if end < 0 {
				return "", "", false
			}
			b.WriteString(s[i+1 : i+1+end])
			i += end + 2
		case c == '$' && strings.HasPrefix(s[i:], "$'"):
			n, ok := ansiC(&b, s[i+2:])
			if !ok {
				return "", "", false
			}
			i += 2 + n
		case c == '\\' && i+1 < len(s):
			b.WriteByte(s[i+1])
			i += 2
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String(), "", true
}

// ansiC reads the inside of $'...' as bash prints it, and reports how many
// bytes it took, the closing quote included.
func ansiC(b *strings.Builder, s string) (int, bool) {
	const plain = "abefnrtv\\'\"?"
	const means = "\a\b\x1b\f\n\r\t\v\\'\"?"
	for i := 0; i < len(s); i++ {
		if s[i] == '\'' {
			return i + 1, true
		}
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if k := strings.IndexByte(plain, s[i]); k >= 0 {
			b.WriteByte(means[k])
			continue
		}
		if s[i] == 'E' {
			b.WriteByte(0x1b)
			continue
		}
		n, v := 0, 0
		for n < 3 && i+n < len(s) && s[i+n] >= '0' && s[i+n] <= '7' {
			v = v*8 + int(s[i+n]-'0')
			n++
		}
		if n == 0 {
			return 0, false
		}
		b.WriteByte(byte(v))
		i += n - 1
	}
	return 0, false
}

// Value returns the last value of a variable.
func Value(vars []string, name string) string {
	for i := len(vars) - 1; i >= 0; i-- {
		if n, v, ok := strings.Cut(vars[i], "="); ok && n == name {
			return v
		}
	}
	return ""
}

// Without takes the variables given for one command out again: they have the
// value they had before.
func Without(vars, before, given []string) []string {
	for _, g := range given {
		name, _, _ := strings.Cut(g, "=")
		is := func(v string) bool { return strings.HasPrefix(v, name+"=") }
		vars = slices.DeleteFunc(vars, is)
		if i := slices.IndexFunc(before, is); i >= 0 {
			vars = append(vars, before[i])
		}
	}
	return vars
}

// Guard is a script that ends process groups when its input ends: a line
// "+ ID" adds one, "- ID" lets it go. Only "kill -s" means the same everywhere
// for groups.
const Guard = `# ends the commands of hermes when hermes is killed
all=
while read -r what id; do
	case $what in
	+) all="$all $id" ;;
	-) rest=; for i in $all; do [ "$i" = "$id" ] || rest="$rest $i"; done; all=$rest ;;
	esac
done
exec 2>/dev/null
for i in $all; do kill -s TERM -- "-$i"; kill -s CONT -- "-$i"; done
for _ in 1 2 3 4 5 6 7 8 9 10; do
	rest=; for i in $all; do kill -s 0 -- "-$i" && rest="$rest $i"; done; all=$rest
	[ "$all" ] || exit 0
	sleep 0.1
done
for i in $all; do kill -s KILL -- "-$i"; done
`
