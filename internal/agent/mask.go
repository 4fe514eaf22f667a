package agent

import (
	"encoding/json"
	"slices"

	"github.com/hermes-go/hermes/chat"
)

// masked is messages as they are stored and sent: a secret that a person typed
// or a model found out goes no further. What it is given is not changed.
func (t *turn) masked(m []chat.Message) []chat.Message {
	if t.Mask == nil {
		return m
	}
	m = slices.Clone(m)
	for i := range m {
		if m[i].Role == chat.Tool {
			continue // the results of tools have been masked where they were made
		}
		m[i].Content.Text = t.Mask.Known(m[i].Content.Text)
		m[i].Content.Parts = slices.Clone(m[i].Content.Parts)
		for j, p := range m[i].Content.Parts {
			if text := t.Mask.Known(p.Text); text != p.Text {
				m[i].Content.Parts[j] = chat.Part{Type: p.Type, Text: text}
			}
		}
		m[i].Reasoning = t.Mask.Known(m[i].Reasoning)
		if r := m[i].ReasoningContent; r != nil {
			text := t.Mask.Known(*r)
			m[i].ReasoningContent = &text
		}
		m[i].ToolCalls = slices.Clone(m[i].ToolCalls)
		for j, c := range m[i].ToolCalls {
			m[i].ToolCalls[j] = t.maskedCall(c)
		}
	}
	return m
}

// hide masks a text.
func (a *Agent) hide(text string) string {
	if a.Mask == nil {
		return text
	}
	return a.Mask.Known(text)
}

func (a *Agent) maskedCall(c chat.ToolCall) chat.ToolCall {
	c.Function.Arguments = a.maskArgs(c.Function.Arguments)
	return c
}

// maskArgs masks JSON text; it stays JSON.
func (a *Agent) maskArgs(args string) string {
	if a.Mask == nil {
		return args
	}
	out := a.Mask.Known(args)
	if out != args && json.Valid([]byte(args)) && !json.Valid([]byte(out)) {
		return `{"_redacted":"these arguments held a secret and are not kept"}`
	}
	return out
}

// veil masks an answer piece by piece: it holds back what may be the beginning
// of a secret until it is known whether it is.
type veil struct {
	mask Masker // nil: all passes
	held string
}

// pass takes a piece and returns what may be shown.
func (v *veil) pass(piece string) string {
	if v.mask == nil {
		return piece
	}
	text := v.held + piece
	n := len(text) - v.mask.Begun(text)
	v.held = text[n:]
	return v.mask.Known(text[:n])
}

// rest is what was held back and turned out to begin nothing.
func (v *veil) rest() string {
	if v.held == "" {
		return ""
	}
	text := v.held
	v.held = ""
	return v.mask.Known(text)
}

// maskEvents masks what a person is shown, but for the pieces of an answer,
// which a veil has masked.
func (a *Agent) maskEvents(emit func(Event)) func(Event) {
	if a.Mask == nil {
		return emit
	}
	return func(e Event) {
		switch x := e.(type) {
		case ToolStart:
			x.Args = json.RawMessage(a.maskArgs(string(x.Args)))
			e = x
		case Asked:
			r := x.Request
			r.Text, r.Action, r.Reasons = a.Mask.Known(r.Text), a.Mask.Known(r.Action), slices.Clone(r.Reasons)
			for i := range r.Reasons {
				r.Reasons[i] = a.Mask.Known(r.Reasons[i])
			}
			x.Request = r
			e = x
		case ToolEnd:
			x.Err = a.maskErr(x.Err)
			e = x
		case Notice:
			x.Text = a.Mask.Known(x.Text)
			e = x
		case Retry:
			x.Reason = a.Mask.Known(x.Reason)
			e = x
		}
		emit(e)
	}
}

// maskDone masks the end of a turn.
func (a *Agent) maskDone(d Done) Done {
	if a.Mask != nil {
		d.Text, d.Err = a.Mask.Known(d.Text), a.maskErr(d.Err)
	}
	return d
}

// maskedError is an error whose text held a secret: a service may repeat what
// it was sent.
type maskedError struct {
	error
	text string
}

func (e maskedError) Error() string { return e.text }
func (e maskedError) Unwrap() error { return e.error }

func (a *Agent) maskErr(err error) error {
	if err == nil {
		return nil
	}
	if text := a.Mask.Known(err.Error()); text != err.Error() {
		return maskedError{err, text}
	}
	return err
}
