package shell

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

var properties = flag.Int("properties", 2500, "how many random and mutated commands are judged; a full run takes 100000")

// neverRun are commands that are hardline wherever they stand in command position.
var neverRun = []string{
	"rm -rf /", "rm -rf ~", "rm -rf /etc /usr", "mkfs.ext4 /dev/sda1", "dd if=/dev/zero of=/dev/sda", "reboot", "shutdown -h now", "kill -9 -1", "poweroff", "cat x > /dev/sda", "init 0", "systemctl poweroff",
}

// harmless are commands around them.
var around = []string{"ls -la", "echo 'a b'", "cd sub", "make -j4 2>&1 | tail", "x=1", "[ -f a ]", "grep -rn 'rm -rf /' docs", "git commit -m \"reboot\"", "true", "printf '%s\\n' $x"}

// dress puts a command into one of the forms in which it still runs.
func dress(r *rand.Rand, command string) string {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	switch r.IntN(26) {
	case 0:
		return around[r.IntN(len(around))] + "; " + command
	case 1:
		return around[r.IntN(len(around))] + " && " + command + " || true"
	case 2:
		return "( " + command + " )"
	case 3:
		return "{ " + command + "; }"
	case 4:
		return "if true; then " + command + "; fi"
	case 5:
		return "for i in 1 2; do " + command + "; done"
	case 6:
		return "while true; do " + command + "\ndone"
	case 7:
		return "echo $( " + command + " )"
	case 8:
		return "sh -c " + quote(command)
	case 9:
		return "bash -lc " + quote(command)
	case 10:
		return "eval " + quote(command)
	case 11:
		return "f() { " + command + "; }; f"
	case 12:
		return command + " | tee log"
	case 13:
		return "! " + command
	case 14:
		return "trap " + quote(command) + " EXIT"
	case 15:
		return "bash <<'END'\n" + command + "\nEND"
	case 16:
		return "echo " + quote(command) + " | sh"
	case 17:
		return "cat <( " + command + " )"
	case 18:
		return "x=$( " + command + " )"
	case 19:
		return "case a in a) " + command + ";; esac"
	case 20:
		return command + " &"
	case 21:
		return "env A=1 bash -c " + quote(command)
	case 22:
		return "sudo sh -c " + quote(command)
	case 23:
		return "timeout 5 bash -c " + quote(command)
	case 24:
		return "find . -exec sh -c " + quote(command) + " \\;"
	default:
		return "# a note\n" + command + "\n" + around[r.IntN(len(around))]
	}
}

// A command that must never run is stopped in whatever form it stands: it may
// become a matter of asking where nesting gets too deep, but never free.
func TestNeverFree(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range *properties {
		command := neverRun[r.IntN(len(neverRun))]
		for range r.IntN(4) {
			command = dress(r, command)
		}
		if v := Judge(command, testEnv); v.Class == Free {
			t.Errorf("free: %s", command)
		}
	}
}

// Whatever is thrown at it, the judge answers, soon, and a hardline program in
// command position of what the parser sees is never free.
func TestMutations(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	var seeds []string
	for _, c := range cases {
		seeds = append(seeds, c.command)
	}
	for _, s := range corpus(t) {
		seeds = append(seeds, s.command)
	}
	const odd = "\x00\x01 \t\n'\"`$(){}[]<>|&;*?~!#\\=/-+éж\u202e\uE0FF09azAZ"
	letters := []rune(odd)
	for range *properties {
		b := []rune(seeds[r.IntN(len(seeds))])
		for range 1 + r.IntN(6) {
			at := r.IntN(len(b) + 1)
			switch r.IntN(5) {
			case 0: // put something in
				b = append(b[:at:at], append([]rune{letters[r.IntN(len(letters))]}, b[at:]...)...)
			case 1: // leave something out
				if at < len(b) {
					b = append(b[:at:at], b[at+1:]...)
				}
			case 2: // cut off
				if r.IntN(4) == 0 {
					b = b[:at]
				}
			case 3: // join with another
				b = append(b[:at:at], append([]rune(seeds[r.IntN(len(seeds))]), b[at:]...)...)
			default: // double a part
				if at < len(b) {
					end := at + r.IntN(len(b)-at)
					b = append(b, b[at:end]...)
				}
			}
		}
		command := string(b)
		start := time.Now()
		v := Judge(command, testEnv)
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%q took %v", command, took)
		}
		if (v.Class == Free) != (len(v.Findings) == 0) {
			t.Errorf("%q: %+v", command, v)
		}
		for _, f := range v.Findings {
			if strings.HasPrefix(f.Reason, "it could not be judged") {
				t.Errorf("%q: %s", command, f.Reason)
			}
		}
		if v.Class == Free && runsNever(command) {
			t.Errorf("free: %q", command)
		}
	}
}

// runsNever reports, by the plainest reading of the tree, whether a program
// that is never run stands in command position with nothing that would take
// the danger away.
func runsNever(command string) bool {
	f, err := Parse(command)
	if err != nil {
		return false
	}
	found := false
	syntax.Walk(f, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		var words []string
		for _, w := range call.Args {
			words = append(words, lit(w))
		}
		switch name := words[0][strings.LastIndexByte(words[0], '/')+1:]; name {
		case "reboot", "poweroff", "halt":
			found = found || len(words) == 1
		case "rm":
			for _, w := range words[1:] {
				found = found || w == "/"
			}
		case "mkfs.ext4":
			found = found || len(words) > 1 && strings.HasPrefix(words[len(words)-1], "/dev/sd")
		}
		return true
	})
	return found
}

// A long command is judged like a short one: what stands at the end of a
// script, or behind text that is costly to evaluate, counts as much.
func TestLongIsNotWeaker(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{
		"long":     strings.Repeat("echo some words here; x=1\n", 8000),
		"costly":   strings.Repeat("echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}\n", 100),
		"doubling": "a=$b$b$b$b$b$b; b=$c$c$c$c$c$c$c; c=$a$a$a$a$a; echo $a$a$a\n",
		"deep":     strings.Repeat("(", 200) + "true" + strings.Repeat(")", 200) + "\n",
	} {
		for _, command := range neverRun {
			if v := Judge(before+command, testEnv); v.Class != Hardline {
				t.Errorf("%s: %s is %s behind it", name, command, v.Class)
			}
		}
	}
}

func BenchmarkJudgeUsual(b *testing.B) {
	for _, c := range []struct{ name, command string }{
		{"short", "git status"},
		{"usual", "cd sub && FOO=1 make -j4 2>&1 | tail -n 20"},
		{"find", `find . -name '*.go' -not -path './vendor/*' -exec grep -ln "func main" {} +`},
		{"quoted", `bash -lc 'for f in *.txt; do echo "$f"; sed -i "s/a/b/" "$f"; done' && git commit -am "done"`},
	} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				Judge(c.command, testEnv)
			}
		})
	}
}

// BenchmarkJudgeLong judges 100 KB of script; most of it is the parser's.
func BenchmarkJudgeLong(b *testing.B) {
	var s strings.Builder
	for s.Len() < 100_000 {
		s.WriteString("for f in src/*.c; do\n  if [ -f \"$f\" ]; then cc -O2 -c \"$f\" -o \"build/${f%.c}.o\" || exit 1; fi\ndone\necho \"step $n done\" >> build/log.txt\nmkdir -p out/$n && cp -r build/*.o out/$n/\n")
	}
	command := s.String()
	for name, run := range map[string]func(){
		"parse": func() {
			if _, err := Parse(command); err != nil {
				b.Fatal(err)
			}
		},
		"judge": func() { Judge(command, testEnv) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(command)))
			b.ReportAllocs()
			for range b.N {
				run()
			}
		})
	}
}
