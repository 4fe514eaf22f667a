package wire

import (
	"encoding/json"
	"strings"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/provider"
)

// Draft is an answer while it arrives: formats put in what they read, the
// consumer gets it as chunks, and in the end it is a message.
type Draft struct {
	Calls  Calls
	Usage  chat.Usage
	Finish string       // normalised, "" until the service says
	Extra  chat.Message // fields that a format sets itself: ReasoningContent, ReasoningDetails, CodexReasoningItems, Extra

	yield     func(provider.Chunk, error) bool
	stopped   bool
	size      int // bytes taken
	salt      int
	scrub     Scrubber
	text      strings.Builder
	reasoning strings.Builder
}

func newDraft(r *provider.Request, yield func(provider.Chunk, error) bool) *Draft {
	d := &Draft{yield: yield, salt: len(r.Messages)}
	d.Calls.Known = func(name string) bool {
		for i := range r.Tools {
			if r.Tools[i].Function.Name == name {
				return true
			}
		}
		return false
	}
	return d
}

func (d *Draft) chunk(c provider.Chunk) bool {
	if d.stopped {
		return false
	}
	d.stopped = !d.yield(c, nil)
	return !d.stopped
}

// Text takes a piece of text, in which reasoning may stand between tags.
func (d *Draft) Text(piece string) {
	if piece == "" {
		return
	}
	d.size += len(piece)
	text, reasoning := d.scrub.Feed(piece)
	d.Reasoning(reasoning)
	d.plain(text)
}

func (d *Draft) plain(text string) {
	if text != "" {
		d.text.WriteString(text)
		d.chunk(provider.Chunk{Text: text})
	}
}

// Reasoning takes a piece of reasoning.
func (d *Draft) Reasoning(piece string) {
	if piece != "" {
		d.size += len(piece)
		d.reasoning.WriteString(piece)
		d.chunk(provider.Chunk{Reasoning: piece})
	}
}

// Call takes a piece of a tool call.
func (d *Draft) Call(p Piece) {
	d.size += len(p.Args)
	if name := d.Calls.Add(p); name != "" {
		d.chunk(provider.Chunk{CallStarted: name})
	}
}

// Silent reports whether nothing at all has come.
func (d *Draft) Silent() bool {
	return d.text.Len() == 0 && d.reasoning.Len() == 0 && d.Calls.Len() == 0
}

// delivered reports whether the consumer has text.
func (d *Draft) delivered() bool { return strings.TrimSpace(d.text.String()) != "" }

// final yields the message. cut is why the answer is not whole.
func (d *Draft) final(cut *provider.Error) {
	text, reasoning := d.scrub.Flush()
	d.Reasoning(reasoning)
	d.plain(text)
	m := d.Extra
	m.Role = chat.Assistant
	m.Content = chat.Text(d.text.String())
	m.Reasoning = d.reasoning.String()
	m.ToolCalls = d.Calls.Finish(d.salt)
	m.FinishReason = d.finish(len(m.ToolCalls) > 0)
	if cut != nil {
		m.ToolCalls, m.FinishReason = nil, chat.FinishLength
		cut.Partial = true
	}
	usage := d.Usage
	usage.Calls = 1
	m.Usage = &usage
	m = m.Sanitize()
	d.chunk(provider.Chunk{Final: &m, Truncated: cut})
}

// finish makes reason and calls agree: services say "stop" and call a tool, or
// "tool_calls" and call none.
func (d *Draft) finish(calls bool) string {
	switch {
	case calls && (d.Finish == "" || d.Finish == chat.FinishStop):
		return chat.FinishToolCalls
	case !calls && (d.Finish == "" || d.Finish == chat.FinishToolCalls):
		return chat.FinishStop
	}
	return d.Finish
}

// SetExtra keeps a field that no one here knows.
func (d *Draft) SetExtra(name string, raw json.RawMessage) {
	if d.Extra.Extra == nil {
		d.Extra.Extra = map[string]json.RawMessage{}
	}
	d.Extra.Extra[name] = raw
}
