package terminal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hermes-go/hermes/ask"
	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/tool"
)

// sudo prepares a command with sudo in it: every sudo gets its password from a
// helper program, not from the command's input, so that no two of them share a
// line and nothing else ever reads it. Without sudo, or with one that needs no
// password, the script stays as it is.
func (w *work) sudo(ctx context.Context) (script string, vars []string, done func(), err error) {
	none := func() {}
	ends := w.sudoWords()
	if len(ends) == 0 || os.Getuid() == 0 {
		return w.Command, nil, none, nil
	}
	if i, ok := w.env.(backend.Isolated); ok && i.Isolated() {
		return w.Command, nil, none, nil
	}
	// 127: there is no sudo; its own message is the best answer.
	probe, err := w.env.Exec(ctx, backend.Cmd{Script: "sudo -n true", Timeout: 3 * time.Second})
	if err != nil || probe.Code == 0 || probe.Code == 127 {
		return w.Command, nil, none, nil
	}
	password, err := w.password(ctx)
	if err != nil {
		return "", nil, none, err
	}
	helper, done, err := askpass(password)
	if err != nil {
		return "", nil, none, refuse("error", "sudo could not be given its password: "+err.Error())
	}
	var b strings.Builder
	last := 0
	for _, end := range ends {
		b.WriteString(w.Command[last:end] + " -A")
		last = end
	}
	b.WriteString(w.Command[last:])
	return b.String(), []string{"SUDO_ASKPASS=" + helper}, done, nil
}

// sudoWords are the places where a sudo in command position ends. One that
// says itself where its password comes from is left alone.
func (w *work) sudoWords() []int {
	var ends []int
	for _, c := range w.list {
		for i, name := range c.Wrappers {
			end := c.Ends[i]
			if name != "sudo" || end <= 0 || end > len(w.Command) || !strings.HasSuffix(w.Command[:end], "sudo") {
				continue
			}
			next, _, _ := strings.Cut(strings.TrimLeft(w.Command[end:], " \t"), " ")
			switch next {
			case "-n", "-S", "-A", "--non-interactive", "--stdin", "--askpass":
			default:
				ends = append(ends, end)
			}
		}
	}
	slices.Sort(ends)
	return slices.Compact(ends)
}

// password is the configured one, the one the person typed before, or asked
// for now.
func (w *work) password(ctx context.Context) (string, error) {
	if vars, err := tool.Use[tool.Variables](w.Session.Services); err == nil {
		if p, _, ok := vars.Lookup("SUDO_PASSWORD"); ok {
			return p, nil
		}
	}
	w.task.mu.Lock()
	defer w.task.mu.Unlock()
	if w.task.asked {
		return w.task.password, nil
	}
	asker, err := tool.Use[ask.Asker](w.Session.Services)
	if err == nil {
		var a ask.Answer
		a, err = asker.Ask(ctx, ask.Request{Kind: ask.Secret, Name: "sudo", Text: "Password for sudo, to run: " + w.mask(w.Command)})
		if err == nil && a.Text == "" {
			err = errors.New("no password was given")
		}
		if err == nil {
			w.task.password, w.task.asked = a.Text, true
			return a.Text, nil
		}
	}
	return "", refuse("blocked", "BLOCKED: sudo needs a password, and it is not known here ("+err.Error()+"). Do without sudo, or tell the user what to run.")
}

// sudoSaid forgets a password that was refused.
func (t *task) sudoSaid(text string) {
	if !strings.Contains(text, "incorrect password") && !strings.Contains(text, "Sorry, try again") {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.password, t.asked = "", false
}

// askpass makes a program that prints the password, for the length of one
// command, in a directory that only this user can enter.
func askpass(password string) (string, func(), error) {
	dir, err := os.MkdirTemp("", "hermes-askpass-")
	if err != nil {
		return "", nil, err
	}
	done := func() { _ = os.RemoveAll(dir) } // the directory is private; nothing better is left to do
	name := filepath.Join(dir, "askpass")
	script := "#!/bin/sh\nprintf '%s\\n' '" + strings.ReplaceAll(password, "'", `'\''`) + "'\n"
	if err := os.WriteFile(name, []byte(script), 0o700); err != nil {
		done()
		return "", nil, err
	}
	return name, done, nil
}
