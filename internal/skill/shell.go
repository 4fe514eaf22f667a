package skill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Limits of the commands in one skill.
const (
	shellMost   = 20
	shellAll    = 60 * time.Second
	shellOutput = 4000
	shellTotal  = 16_000
)

var snippet = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("!`([^`\n]*)`") })

// shell puts what commands print in their place, in the order of the text and
// outside of fenced code, where they are examples. The tokens reach a command
// as variables, so that no path is read as code.
func (l *Library) shell(ctx context.Context, s *Skill, text, session string, fill func(string) string) string {
	ctx, cancel := context.WithTimeout(ctx, shellAll)
	defer cancel()
	var env []string
	if l.Env != nil {
		env = l.Env()
	}
	env = append(env[:len(env):len(env)], "HERMES_SKILL_DIR="+s.Dir, "HERMES_SESSION_ID="+session)
	limit := l.ShellLimit
	if limit <= 0 {
		limit = 10 * time.Second
	}
	limit = max(limit, time.Second)
	run, total := 0, 0
	var out strings.Builder
	fenced := ""
	for line := range strings.Lines(text) {
		if mark := fenceMark(line); mark != "" && (fenced == "" || strings.HasPrefix(mark, fenced)) {
			if fenced == "" {
				fenced = mark
			} else {
				fenced = ""
			}
		} else if fenced == "" {
			at := 0
			for _, m := range snippet().FindAllStringSubmatchIndex(line, -1) {
				out.WriteString(fill(line[at:m[0]]))
				at = m[1]
				cmd := strings.TrimSpace(line[m[2]:m[3]])
				run++
				switch {
				case cmd == "":
				case run > shellMost || total > shellTotal:
					out.WriteString("[inline-shell error: too many commands in one skill]")
				default:
					said := runSnippet(ctx, s.Dir, cmd, env, limit)
					total += len(said)
					out.WriteString(said)
				}
			}
			out.WriteString(fill(line[at:]))
			continue
		}
		out.WriteString(fill(line))
	}
	return out.String()
}

// fenceMark is the run of backticks or tildes that a line begins with.
func fenceMark(line string) string {
	line = strings.TrimLeft(line, " ")
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// runSnippet never fails: what went wrong is what it says.
func runSnippet(ctx context.Context, dir, cmd string, env []string, limit time.Duration) string {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c := exec.CommandContext(ctx, "bash", "-c", cmd)
	c.Dir, c.Env = dir, env
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	group(c)
	c.WaitDelay = time.Second
	err := c.Run()
	if ctx.Err() != nil {
		return fmt.Sprintf("[inline-shell timeout after %gs: %s]", limit.Seconds(), cmd)
	}
	said := strings.TrimRight(stdout.String(), "\n")
	if said == "" {
		said = strings.TrimRight(stderr.String(), "\n")
	}
	said = strings.ToValidUTF8(said, "\uFFFD")
	if utf8.RuneCountInString(said) > shellOutput {
		said = string([]rune(said)[:shellOutput]) + "...[truncated]"
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		said += fmt.Sprintf("[exit %d]", exit.ExitCode())
	case err != nil:
		return fmt.Sprintf("[inline-shell error: %v]", err)
	}
	return said
}
