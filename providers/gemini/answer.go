package gemini

import (
	"bytes"
	"encoding/json"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/wire"
	"github.com/hermes-go/hermes/provider"
)

// Answer implements wire.Format.
func (f *format) Answer(_ *provider.Request, d *wire.Draft) wire.Answer {
	return &answer{d: d}
}

type answer struct {
	d         *wire.Draft
	calls     int
	candidate bool
	reason    string
}

type chunk struct {
	Candidates []struct {
		Index   int `json:"index"`
		Content struct {
			Parts []part `json:"parts"`
		} `json:"content"`
		Finish  string `json:"finishReason"`
		Message string `json:"finishMessage"`
	} `json:"candidates"`
	Feedback struct {
		Block   string `json:"blockReason"`
		Message string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage *struct {
		Prompt     int `json:"promptTokenCount"`
		ToolPrompt int `json:"toolUsePromptTokenCount"`
		Candidates int `json:"candidatesTokenCount"`
		Thoughts   int `json:"thoughtsTokenCount"`
		Cached     int `json:"cachedContentTokenCount"`
	} `json:"usageMetadata"`
	Error json.RawMessage `json:"error"`
}

// Event implements wire.Answer. The format has no end mark: the stream ends
// after the chunk with a finish reason and whatever usage follows it.
func (a *answer) Event(ev wire.Event) (bool, error) {
	data := bytes.TrimSpace(ev.Data)
	if len(data) == 0 || string(data) == "[DONE]" {
		return false, nil
	}
	return false, a.take(data)
}

// Whole implements wire.Answer. Without alt=sse a stream is a list of chunks.
func (a *answer) Whole(body []byte) error {
	body = bytes.TrimSpace(body)
	list := []json.RawMessage{body}
	if len(body) > 0 && body[0] == '[' {
		if err := json.Unmarshal(body, &list); err != nil {
			return wire.NoAnswer("the service answers with what is no JSON")
		}
	}
	for _, raw := range list {
		if err := a.take(raw); err != nil {
			return err
		}
	}
	if a.candidate && a.reason == "" {
		a.reason = "STOP"
	}
	return nil
}

func (a *answer) take(data []byte) error {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return wire.NoAnswer("the service answers with what is no JSON")
	}
	if !wire.IsNull(c.Error) {
		return &wire.Failure{Body: bytes.Clone(data)}
	}
	if c.Feedback.Block != "" {
		message := "the prompt is blocked: " + c.Feedback.Block
		if c.Feedback.Message != "" {
			message += ": " + c.Feedback.Message
		}
		return &provider.Error{Class: provider.ClassPolicy, ToolIndex: -1, Code: c.Feedback.Block, Message: message}
	}
	if u := c.Usage; u != nil {
		a.d.Usage = chat.Usage{
			Input: max(0, u.Prompt+u.ToolPrompt-u.Cached), Output: u.Candidates + u.Thoughts, CacheRead: u.Cached, Reasoning: u.Thoughts,
		}
	}
	for i := range c.Candidates {
		one := &c.Candidates[i]
		if one.Index != 0 {
			continue
		}
		a.candidate = true
		for _, p := range one.Content.Parts {
			a.part(p)
		}
		if one.Finish != "" {
			a.reason = one.Finish
			a.d.Finish = finish(one.Finish)
		}
	}
	return nil
}

func (a *answer) part(p part) {
	switch {
	case p.Call != nil:
		args := "{}"
		if !wire.IsNull(p.Call.Args) {
			args = string(p.Call.Args)
		}
		piece := wire.Piece{Index: a.calls, ID: p.Call.ID, Name: p.Call.Name, Args: args}
		if p.Signature != "" {
			piece.Extra = map[string]json.RawMessage{"extra_content": signed(p.Signature)}
		}
		a.calls++
		a.d.Call(piece)
		return
	case p.Thought:
		a.d.Reasoning(p.Text)
	default:
		a.d.Text(p.Text)
	}
	if p.Signature != "" && !p.Thought {
		a.d.SetExtra("extra_content", signed(p.Signature))
	}
}

func finish(reason string) string {
	switch reason {
	case "MAX_TOKENS":
		return chat.FinishLength
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE":
		return chat.FinishFilter
	}
	return chat.FinishStop
}

// End implements wire.Answer.
func (a *answer) End() (bool, error) {
	switch {
	case a.reason == "":
		return false, nil
	case !a.candidate:
		return true, wire.NoAnswer("the answer has no candidates")
	case a.reason == "MALFORMED_FUNCTION_CALL" || a.reason == "UNEXPECTED_TOOL_CALL":
		if a.d.Calls.Len() == 0 {
			return true, wire.NoAnswer("the model made a tool call that cannot be read")
		}
	}
	return true, nil
}
