package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/hermes-go/hermes/ask"
	"github.com/hermes-go/hermes/internal/cells"
)

// askTerminal puts a request to the person at the terminal. Anything but a
// clear yes to an approval is a no.
func askTerminal(ctx context.Context, e *env, r ask.Request) ask.Answer {
	fmt.Fprintln(e.err)
	for _, line := range questionLines(r) {
		fmt.Fprintln(e.err, line)
	}
	if r.Kind == ask.Secret {
		fmt.Fprint(e.err, questionPrompt(r))
		b, err := term.ReadPassword(int(e.in.Fd()))
		fmt.Fprintln(e.err)
		if err != nil {
			return ask.Answer{Scope: ask.Deny}
		}
		return ask.Answer{Text: strings.TrimSpace(string(b))}
	}
	line, err := readLine(ctx, e, questionPrompt(r))
	if err != nil {
		return noAnswer(r)
	}
	answer, ok := readAnswer(r, line)
	if !ok {
		return ask.Answer{Scope: ask.Deny}
	}
	return answer
}

// questionLines is what a person needs to know before they answer. Nothing of
// it is obeyed by the terminal.
func questionLines(r ask.Request) []string {
	var out []string
	add := func(text string) { out = append(out, strings.Split(cells.Clean(text), "\n")...) }
	switch r.Kind {
	case ask.Approval:
		add("Approval needed: " + r.Text)
		for _, reason := range r.Reasons {
			add("  - " + reason)
		}
		add("\n    " + strings.ReplaceAll(r.Action, "\n", "\n    "))
	case ask.Secret:
		if r.Name != "" && !strings.Contains(r.Text, r.Name) {
			add(r.Text + " (" + r.Name + ")")
		} else {
			add(r.Text)
		}
	default:
		add(r.Text)
		for i, choice := range r.Choices {
			add(fmt.Sprintf("  %d. %s", i+1, choice))
		}
	}
	return out
}

func questionPrompt(r ask.Request) string {
	switch {
	case r.Kind == ask.Secret:
		return "(not shown, empty to skip): "
	case r.Kind != ask.Approval:
		return "> "
	case r.NoSave:
		return "[o]nce, [s]ession, [d]eny (default deny): "
	}
	return "[o]nce, [s]ession, [a]lways, [d]eny (default deny): "
}

// readAnswer understands what was typed; not ok: it was no answer to this.
func readAnswer(r ask.Request, line string) (answer ask.Answer, ok bool) {
	line = strings.TrimSpace(line)
	switch r.Kind {
	case ask.Approval:
		scope, ok := readScope(strings.ToLower(line), r.NoSave)
		return ask.Answer{Scope: scope}, ok
	case ask.Question:
		if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(r.Choices) {
			line = r.Choices[n-1]
		}
	}
	return ask.Answer{Text: line}, true
}

func readScope(word string, noSave bool) (scope ask.Scope, ok bool) {
	switch word {
	case "o", "once", "y", "yes":
		return ask.Once, true
	case "s", "session":
		return ask.Session, true
	case "a", "always":
		if noSave {
			return ask.Session, true
		}
		return ask.Always, true
	case "", "d", "deny", "n", "no":
		return ask.Deny, true
	}
	return ask.Deny, false
}

// noAnswer is what a person says who turns a question away.
func noAnswer(r ask.Request) ask.Answer {
	if r.Kind == ask.Question {
		return ask.Answer{Text: "The user did not answer; use your best judgement."}
	}
	return ask.Answer{Scope: ask.Deny}
}

// typed is a line read from stdin, or why none came.
type typed struct {
	line string
	err  error
}

// readLine reads one line of stdin; an interrupt ends the wait. The read
// itself cannot be cancelled: the next call takes up one that is still open.
func readLine(ctx context.Context, e *env, prompt string) (string, error) {
	fmt.Fprint(e.err, prompt)
	if e.reader == nil {
		e.reader = bufio.NewReader(e.in)
	}
	if e.reading == nil {
		reading := make(chan typed, 1)
		e.reading = reading
		go func() {
			line, err := e.reader.ReadString('\n')
			if errors.Is(err, io.EOF) && line != "" {
				err = nil
			}
			reading <- typed{strings.TrimSpace(line), err}
		}()
	}
	select {
	case t := <-e.reading:
		e.reading = nil
		return t.line, t.err
	case <-ctx.Done():
		fmt.Fprintln(e.err)
		return "", context.Cause(ctx)
	}
}
