package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// program is the built hermes in a home of its own.
type program struct{ path, home string }

func (p program) output(args ...string) (string, error) {
	cmd := exec.Command(p.path, args...)
	cmd.Dir = p.home
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "HERMES_HOME=" + p.home, "LANG=C.UTF-8"}
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("hermes %s: %w", strings.Join(args, " "), err)
	}
	return strings.ReplaceAll(string(out), p.home, "~/.hermes"), nil
}

// cliPage is the help of every command, found by following the help itself.
func cliPage(p program) (string, error) {
	var b strings.Builder
	b.WriteString("# Command line\n\nWhat `--help` says of every command. Exit codes: 0 done, 1 failed or partial, 2 wrong usage, 130 interrupted.\n")
	if err := addHelp(&b, p, nil); err != nil {
		return "", err
	}
	return b.String(), nil
}

func addHelp(b *strings.Builder, p program, path []string) error {
	text, err := p.output(append(append([]string{}, path...), "--help")...)
	if err != nil {
		return err
	}
	title := strings.Join(append([]string{"hermes"}, path...), " ")
	fmt.Fprintf(b, "\n%s %s\n\n```text\n%s\n```\n", strings.Repeat("#", min(len(path)+2, 4)), title, strings.TrimSpace(text))
	for _, name := range subcommands(text) {
		if name == "help" || name == "completion" {
			continue // cobra's own
		}
		if err := addHelp(b, p, append(path[:len(path):len(path)], name)); err != nil {
			return err
		}
	}
	return nil
}

var commandRow = regexp.MustCompile(`^  ([a-z][a-z0-9-]*)\s{2,}\S`)

// subcommands reads the list of commands in a help text.
func subcommands(help string) (names []string) {
	in := false
	for line := range strings.Lines(help) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasSuffix(line, "Commands:"):
			in = true
		case line == "":
			in = false
		case in:
			if m := commandRow.FindStringSubmatch(line); m != nil {
				names = append(names, m[1])
			}
		}
	}
	return names
}
