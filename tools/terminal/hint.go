package terminal

import (
	"regexp"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hermes-go/hermes/internal/shell"
)

// meaning explains an exit code that says something other than "it failed".
func meaning(f *syntax.File, code int) string {
	if code == 0 {
		return ""
	}
	if c, ok := shell.Last(f); ok {
		if m := known(c, code); m != "" {
			return m
		}
	}
	switch code {
	case 126:
		return "the command was found but could not be run: it is not executable, or not for this machine"
	case 127:
		return "the command was not found"
	case 137:
		return "it was killed (KILL), often because memory ran out"
	case 139:
		return "it crashed: an access to memory that is not its own"
	case 143:
		return "it was asked to end (TERM)"
	}
	return ""
}

func known(c shell.Command, code int) string {
	switch c.Name {
	case "grep", "egrep", "fgrep", "rg", "ag", "ack", "zgrep", "pgrep":
		if code == 1 {
			return "nothing matched; this is no failure"
		}
	case "diff", "colordiff", "cmp":
		if code == 1 {
			return "the files differ; this is no failure"
		}
	case "find":
		if code == 1 {
			return "some directories could not be read; what was found is complete otherwise"
		}
	case "test", "[":
		if code == 1 {
			return "the condition is false; this is no failure"
		}
	case "git":
		if code == 1 {
			if sub := at(c.Args, 0); sub == "diff" || sub == "grep" {
				return "git " + sub + " ends with 1 for differences or no match; this is no failure"
			}
			return "git ends with 1 for differences, no match or an error; the output says which"
		}
	case "curl":
		switch code {
		case 6:
			return "the host's name could not be resolved"
		case 7:
			return "nothing answers at that address and port"
		case 22:
			return "the server answered with an error (400 or above)"
		case 28:
			return "the time limit ran out"
		}
	}
	return ""
}

// harmless reports whether a code is an answer rather than a failure.
func harmless(f *syntax.File, code int) bool {
	c, ok := shell.Last(f)
	return ok && strings.HasSuffix(known(c, code), "this is no failure")
}

// prompts are texts with which programs wait for a person.
var prompts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(\[y/n\]|\(y/n\)|\(yes/no[^)]*\)|\[yes/no\]|password[^:\n]*:|passphrase[^:\n]*:|press (any key|enter)[^\n]*|(username|login|name|continue|proceed|overwrite|are you sure)[^\n]*\?)[ :>]*$`)
})

// hint says what a person would have noticed.
func hint(list []shell.Command, text string, code int) string {
	tail := text[max(0, len(text)-300):]
	tail = strings.TrimSpace(tail[strings.LastIndexByte(tail, '\n')+1:])
	reads := false
	for _, c := range list {
		if c.Name == "read" && len(c.Args) > 1 && strings.HasPrefix(c.Args[0], "-p") {
			reads = true
		}
	}
	switch {
	case reads || tail != "" && prompts().MatchString(tail):
		return "The command seems to ask for input, and input is empty here. Give the answer as an option or through a pipe, or run it with background=true and pty=true and answer with process submit."
	case code != 0 && (strings.Contains(text, "a terminal is required to read the password") || strings.Contains(text, "a password is required") || strings.Contains(text, "no tty present")):
		return "sudo needs a password that is not known here: tell the user what to run, or have SUDO_PASSWORD set."
	case code == 127 && strings.Contains(text, "command not found"):
		return ""
	}
	return ""
}
