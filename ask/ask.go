// Package ask is the human on the other side: what may be asked of a person
// and what they may answer. It shows nothing and reads nothing; the fronts do
// that. Nobody to ask is an answer of its own, and for anything that needs
// approval it means no.
package ask

import (
	"context"
	"errors"
)

// Kind says what sort of answer is wanted.
type Kind string

// The kinds of requests.
const (
	Question Kind = "question" // free text or one of Choices
	Approval Kind = "approval" // a Scope for exactly Action
	Secret   Kind = "secret"   // text that is never shown, logged or sent to a model
)

// Request is one question to a person.
type Request struct {
	Kind    Kind
	Text    string   // what is asked, or why approval is needed
	Choices []string // offered answers of a question; a person may write another

	Action  string   // Approval: the exact action, e.g. the command as it will run
	Reasons []string // Approval: what was found, for the person
	Keys    []string // Approval: the kinds of what was found; an entry of the allowlist may stand for each
	Exact   string   // Approval: what "session" and "always" are remembered under; "": Keys
	NoSave  bool     // Approval: "always" is not offered
	Name    string   // Secret: the variable or password it is for
}

// Scope is how far an approval reaches.
type Scope string

// The answers to an approval.
const (
	Deny    Scope = "deny"
	Once    Scope = "once"
	Session Scope = "session"
	Always  Scope = "always"
)

// Answer is what the person said.
type Answer struct {
	Text  string // Question and Secret
	Scope Scope  // Approval; "" counts as Deny
}

// Approved reports whether the answer lets the action run.
func (a Answer) Approved() bool { return a.Scope == Once || a.Scope == Session || a.Scope == Always }

// Reasons why no answer came.
var (
	ErrNobody  = errors.New("nobody can be asked here")
	ErrTimeout = errors.New("nobody answered in time")
)

// Asker brings a request to a person. Without an answer it returns ErrNobody,
// ErrTimeout or the context's error, and the action must not run.
type Asker interface {
	Ask(ctx context.Context, r Request) (Answer, error)
}

// Nobody is the Asker of contexts without a person.
type Nobody struct{}

var _ Asker = Nobody{}

// Ask returns ErrNobody.
func (Nobody) Ask(context.Context, Request) (Answer, error) { return Answer{Scope: Deny}, ErrNobody }
