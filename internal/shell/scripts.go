package shell

import (
	"regexp"
	"strings"
	"sync"
)

var sedRuns = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(\d+|\$|/[^/]*/|\d+,(\d+|\$))?\s*!?e(\s|$)|;\s*(\d+|\$|/[^/]*/)?e(\s|$)|^\s*(\d+|\$|/[^/]*/)?[{]?\s*s([/|#,!@:])(?:\\.|[^\\])*[/|#,!@:][gpiI0-9]*e[gpiI0-9]*\s*([;}]|$)`)
})

var sedWrites = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[;{/\d$])\s*[wW]\s+(\S+)`)
})

func editing(j *judge, v *invocation) {
	if v.name() != "perl" {
		for _, a := range v.args() {
			if sedRuns().MatchString(a.s) {
				j.ask("inline-code", v.node, "sed is told to run commands")
				break
			}
			if m := sedWrites().FindStringSubmatch(a.s); m != nil {
				j.write(v.node, arg{s: m[1], unknown: a.unknown})
			}
		}
	}
	if !v.has('i', "--in-place") {
		return
	}
	for _, a := range v.operands() {
		if strings.ContainsAny(a.s, "/~.") {
			j.write(v.node, a)
		}
	}
}

var awkRuns = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bsystem\s*\(|\|&?\s*getline|\|&?\s*"(\S*/)?(ba|da|z|k)?sh\b`)
})

var awkWrites = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`>>?\s*"([^"]+)"`)
})

func awk(j *judge, v *invocation) {
	for i, a := range v.args() {
		for _, m := range awkWrites().FindAllStringSubmatch(a.s, -1) {
			j.write(v.node, arg{s: m[1]})
		}
		if strings.Contains(a.s, `"/inet`) {
			j.ask("network", v.node, "it talks over the network from inside a program")
			return
		}
		if awkRuns().MatchString(a.s) {
			j.ask("inline-code", v.node, "it runs commands from inside a program")
			return
		}
		if a.s == "inplace" && i > 0 && v.args()[i-1].s == "-i" {
			ops := v.operands()
			for _, f := range ops[min(2, len(ops)):] {
				j.write(v.node, f)
			}
		}
	}
}
