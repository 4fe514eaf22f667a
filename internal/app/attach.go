package app

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/refs"
)

// attach puts what a person's message refers to with @ behind it. The error
// means that it must not be sent.
func (c *Conversation) attach(ctx context.Context, text string, yield func(agent.Event, error) bool) (string, error) {
	if c.parent != nil || c.ask.Platform != "cli" || !refs.Has(text) {
		return text, nil
	}
	out, err := refs.Expand(ctx, text, refs.Options{
		Dir: c.app.WorkDir, Home: c.app.Home, UserHome: c.app.UserHome, Window: c.Window,
		Redact: c.app.Secrets.Redactor().Redact, Git: c.app.git,
	})
	if err != nil {
		return "", err
	}
	for _, w := range out.Warnings {
		yield(agent.Notice{Text: w}, nil)
	}
	return out.Text, nil
}

// git runs git in the working directory, without anything that the repository
// may have configured to run.
func (a *App) git(ctx context.Context, args ...string) (string, error) {
	const limit = 30 * time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("git took longer than %s", limit))
	defer cancel()
	args = append([]string{"-c", "core.fsmonitor=false", "-c", "core.pager=cat", "-c", "core.hooksPath=/dev/null"}, args...)
	i := len(args) - 1
	for args[i] != "diff" && args[i] != "log" {
		i--
	}
	args = append(args[:i+1:i+1], append([]string{"--no-ext-diff", "--no-textconv", "--no-color"}, args[i+1:]...)...)
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = a.WorkDir, a.childEnv(""), time.Second
	out, err := cmd.Output()
	if cause := context.Cause(ctx); cause != nil {
		return "", cause
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		said, _, _ := strings.Cut(strings.TrimSpace(string(exit.Stderr)), "\n")
		return "", fmt.Errorf("git: %s", said)
	}
	return strings.ToValidUTF8(string(out), "\uFFFD"), err
}
