package anthropic

import (
	"bytes"
	"encoding/json"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/wire"
	"github.com/hermes-go/hermes/provider"
)

// Answer implements wire.Format.
func (f *format) Answer(_ *provider.Request, d *wire.Draft) wire.Answer {
	return &answer{d: d, open: map[int]*block{}}
}

type answer struct {
	d        *wire.Draft
	open     map[int]*block
	thoughts []*block
	any      bool
	ended    bool
}

// block is a content block, of the stream or of a whole answer.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`

	streamed bool // arguments came in pieces
}

// thought is a block of thinking as the service wants it back: text that is
// empty is written, a signature that is not there is not.
func (b *block) thought() json.RawMessage {
	if b.Type == "redacted_thinking" {
		return wire.Raw(struct {
			Type string `json:"type"`
			Data string `json:"data"`
		}{b.Type, b.Data})
	}
	return wire.Raw(struct {
		Type      string `json:"type"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature,omitempty"`
	}{b.Type, b.Thinking, b.Signature})
}

type usage struct {
	Input  *int `json:"input_tokens"`
	Output *int `json:"output_tokens"`
	Read   *int `json:"cache_read_input_tokens"`
	Write  *int `json:"cache_creation_input_tokens"`
}

type body struct {
	Type       string          `json:"type"`
	Content    []block         `json:"content"`
	StopReason string          `json:"stop_reason"`
	Usage      usage           `json:"usage"`
	Error      json.RawMessage `json:"error"`
}

// Event implements wire.Answer.
func (a *answer) Event(ev wire.Event) (bool, error) {
	var e struct {
		Type    string          `json:"type"`
		Index   int             `json:"index"`
		Message body            `json:"message"`
		Block   block           `json:"content_block"`
		Usage   usage           `json:"usage"`
		Error   json.RawMessage `json:"error"`
		Delta   struct {
			Type        string `json:"type"`
			Text        string `json:"text"`
			Thinking    string `json:"thinking"`
			Signature   string `json:"signature"`
			PartialJSON string `json:"partial_json"`
			StopReason  string `json:"stop_reason"`
		} `json:"delta"`
	}
	if len(bytes.TrimSpace(ev.Data)) == 0 || string(ev.Data) == "[DONE]" {
		return false, nil
	}
	if err := json.Unmarshal(ev.Data, &e); err != nil {
		return false, wire.NoAnswer("the service answers with what is no JSON")
	}
	if e.Type == "error" || !wire.IsNull(e.Error) {
		return false, &wire.Failure{Body: bytes.Clone(ev.Data)}
	}
	switch e.Type {
	case "message_start":
		a.usage(e.Message.Usage)
	case "content_block_start":
		a.start(e.Index, e.Block)
	case "content_block_delta":
		b := a.open[e.Index]
		if b == nil { // a service that forgets the start
			b = a.start(e.Index, block{Type: map[string]string{"thinking_delta": "thinking", "text_delta": "text"}[e.Delta.Type]})
		}
		switch e.Delta.Type {
		case "text_delta":
			a.d.Text(e.Delta.Text)
		case "thinking_delta":
			b.Thinking += e.Delta.Thinking
			a.d.Reasoning(e.Delta.Thinking)
		case "signature_delta":
			b.Signature += e.Delta.Signature
		case "input_json_delta":
			b.streamed = b.streamed || e.Delta.PartialJSON != ""
			a.d.Call(wire.Piece{Index: e.Index, Args: e.Delta.PartialJSON})
		}
	case "content_block_stop":
		a.stop(e.Index)
	case "message_delta":
		a.usage(e.Usage)
		a.finish(e.Delta.StopReason)
	case "message_stop":
		a.ended = true
		return true, nil
	}
	return false, nil
}

func (a *answer) start(index int, b block) *block {
	a.any = true
	p := &b
	a.open[index] = p
	switch b.Type {
	case "text":
		a.d.Text(b.Text)
	case "thinking":
		a.d.Reasoning(b.Thinking)
		a.thoughts = append(a.thoughts, p)
	case "redacted_thinking":
		a.thoughts = append(a.thoughts, p)
	case "tool_use":
		a.d.Call(wire.Piece{Index: index, ID: b.ID, Name: b.Name})
	}
	return p
}

// stop takes the arguments of a call that came whole with its start.
func (a *answer) stop(index int) {
	b := a.open[index]
	if b == nil {
		return
	}
	delete(a.open, index)
	if b.Type == "tool_use" && !b.streamed {
		args := "{}"
		if !wire.IsNull(b.Input) {
			args = string(b.Input)
		}
		a.d.Call(wire.Piece{Index: index, Args: args})
	}
}

// Whole implements wire.Answer.
func (a *answer) Whole(raw []byte) error {
	var m body
	if err := json.Unmarshal(raw, &m); err != nil {
		return wire.NoAnswer("the service answers with what is no JSON")
	}
	if m.Type == "error" || !wire.IsNull(m.Error) {
		return &wire.Failure{Body: raw}
	}
	a.ended = true
	a.usage(m.Usage)
	for i, b := range m.Content {
		a.start(i, b)
		a.stop(i)
	}
	a.finish(m.StopReason)
	return nil
}

// usage takes what is given: output counts up, the rest comes once.
func (a *answer) usage(u usage) {
	set := func(to *int, from *int) {
		if from != nil && *from > 0 {
			*to = *from
		}
	}
	set(&a.d.Usage.Input, u.Input)
	set(&a.d.Usage.Output, u.Output)
	set(&a.d.Usage.CacheRead, u.Read)
	set(&a.d.Usage.CacheWrite, u.Write)
}

func (a *answer) finish(reason string) {
	switch reason {
	case "":
		return
	case "tool_use":
		a.d.Finish = chat.FinishToolCalls
	case "max_tokens", "model_context_window_exceeded":
		a.d.Finish = chat.FinishLength
	case "refusal":
		a.d.Finish = chat.FinishFilter
	default:
		a.d.Finish = chat.FinishStop
	}
	a.ended = true
}

// End implements wire.Answer.
func (a *answer) End() (bool, error) {
	if len(a.thoughts) > 0 {
		list := make([]json.RawMessage, len(a.thoughts))
		for i, b := range a.thoughts {
			list[i] = b.thought()
		}
		a.d.Extra.ReasoningDetails = wire.Raw(list)
	}
	if a.ended && !a.any && a.d.Finish != chat.FinishFilter && a.d.Finish != chat.FinishStop {
		return true, wire.NoAnswer("the answer has no content")
	}
	return a.ended, nil
}
