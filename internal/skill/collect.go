package skill

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/hermes-go/hermes/ask"
)

// Setup keeps what people give for skills. A value goes in and never comes out
// of it.
type Setup interface {
	Keep(name, value string) error  // writes a variable to the home's .env file
	Skip(task, name string)         // the person did not want to give it now
	Skipped(task, name string) bool // they are not asked twice in one conversation
}

// Collect asks for the variables that a loaded skill lacks, and looks again at
// what it needs. question returns "" for one that the person skips. Nobody sees a
// value but question and keep.
func (l *Library) Collect(ctx context.Context, to *Loaded, task string, keep Setup, question func(context.Context, Variable) (string, error)) error {
	for _, v := range to.Needs.Variables {
		if !slices.Contains(to.Needs.MissingVars, v.Name) {
			continue
		}
		if keep.Skipped(task, v.Name) {
			to.Skipped = true
			continue
		}
		value, err := question(ctx, v)
		if err != nil {
			to.Skipped = !errors.Is(err, ask.ErrNobody)
			return err
		}
		if value = strings.TrimSpace(value); value == "" {
			keep.Skip(task, v.Name)
			to.Skipped = true
			continue
		}
		if err := keep.Keep(v.Name, value); err != nil {
			return err
		}
	}
	to.Needs = l.needs(&to.Doc)
	return nil
}

// Request is the question for a variable.
func Request(v Variable) ask.Request {
	text := v.Prompt
	if v.RequiredFor != "" {
		text += ", for " + v.RequiredFor
	}
	if v.Help != "" {
		text += ". " + v.Help
	}
	return ask.Request{Kind: ask.Secret, Name: v.Name, Text: text}
}
