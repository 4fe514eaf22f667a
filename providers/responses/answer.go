package responses

import (
	"bytes"
	"encoding/json"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/wire"
	"github.com/hermes-go/hermes/provider"
)

// Answer implements wire.Format.
func (f *format) Answer(_ *provider.Request, d *wire.Draft) wire.Answer {
	return &answer{d: d, args: map[int]bool{}, said: map[int]bool{}}
}

type answer struct {
	d         *wire.Draft
	args      map[int]bool // items whose arguments came in pieces
	said      map[int]bool // items whose text came in pieces
	reasoning []json.RawMessage
	messages  []json.RawMessage
	phased    bool // an item says what part of the work it belongs to
	items     int
	ended     bool
}

type item struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Phase     string `json:"phase"`
	Content   []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
	Summary []struct {
		Text string `json:"text"`
	} `json:"summary"`
}

type response struct {
	Status     string            `json:"status"`
	Output     []json.RawMessage `json:"output"`
	Error      json.RawMessage   `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
		InMore struct {
			Cached int `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		OutMore struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	} `json:"usage"`
}

// Event implements wire.Answer.
func (a *answer) Event(ev wire.Event) (bool, error) {
	var e struct {
		Type     string          `json:"type"`
		Index    int             `json:"output_index"`
		Part     int             `json:"summary_index"`
		Delta    json.RawMessage `json:"delta"`
		Args     string          `json:"arguments"`
		Item     json.RawMessage `json:"item"`
		Response json.RawMessage `json:"response"`
		Error    json.RawMessage `json:"error"`
		Message  string          `json:"message"`
	}
	data := bytes.TrimSpace(ev.Data)
	if len(data) == 0 || string(data) == "[DONE]" {
		return false, nil
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return false, wire.NoAnswer("the service answers with what is no JSON")
	}
	switch e.Type {
	case "response.output_item.added":
		var it item
		if json.Unmarshal(e.Item, &it) == nil && it.Type == "function_call" {
			a.d.Call(wire.Piece{Index: e.Index, ID: it.CallID, Name: it.Name, Extra: itemID(it)})
		}
	case "response.output_text.delta", "response.refusal.delta":
		a.said[e.Index] = true
		a.d.Text(wire.TextOf(e.Delta))
	case "response.reasoning_summary_part.added":
		if e.Part > 0 {
			a.d.Reasoning("\n\n")
		}
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		a.said[e.Index] = true
		a.d.Reasoning(wire.TextOf(e.Delta))
	case "response.function_call_arguments.delta":
		a.args[e.Index] = true
		a.d.Call(wire.Piece{Index: e.Index, Args: wire.TextOf(e.Delta)})
	case "response.output_item.done":
		a.item(e.Index, e.Item)
	case "response.completed", "response.incomplete", "response.failed", "response.done", "response.cancelled":
		return true, a.response(e.Response)
	case "error":
		return false, &wire.Failure{Body: bytes.Clone(data)}
	default:
		if e.Type == "" && !wire.IsNull(e.Error) {
			return false, &wire.Failure{Body: bytes.Clone(data)}
		}
	}
	return false, nil
}

func itemID(it item) map[string]json.RawMessage {
	if it.ID == "" {
		return nil
	}
	return map[string]json.RawMessage{"response_item_id": wire.Raw(it.ID)}
}

// item takes a finished item: what was not streamed, and what must be kept.
func (a *answer) item(index int, raw json.RawMessage) {
	var it item
	if json.Unmarshal(raw, &it) != nil {
		return
	}
	a.items++
	switch it.Type {
	case "reasoning":
		a.reasoning = append(a.reasoning, withoutID(raw))
		if !a.said[index] {
			for i, s := range it.Summary {
				if i > 0 {
					a.d.Reasoning("\n\n")
				}
				a.d.Reasoning(s.Text)
			}
		}
	case "message":
		a.messages = append(a.messages, withoutID(raw))
		a.phased = a.phased || it.Phase != ""
		if !a.said[index] {
			for _, p := range it.Content {
				a.d.Text(p.Text + p.Refusal)
			}
		}
	case "function_call":
		if !a.args[index] {
			a.d.Call(wire.Piece{Index: index, ID: it.CallID, Name: it.Name, Args: it.Arguments, Extra: itemID(it)})
		}
	}
}

func withoutID(raw json.RawMessage) json.RawMessage {
	fields := wire.Fields(raw)
	delete(fields, "id")
	var b wire.Body
	b.Merge(fields)
	out, err := b.Bytes()
	if err != nil {
		return raw
	}
	return out
}

// response takes the end of an answer, or the whole of one.
func (a *answer) response(raw json.RawMessage) error {
	var r response
	if err := json.Unmarshal(raw, &r); err != nil {
		return wire.NoAnswer("the service answers with what is no JSON")
	}
	if r.Status == "failed" || !wire.IsNull(r.Error) {
		return &wire.Failure{Body: raw}
	}
	a.ended = true
	if a.items == 0 && a.d.Silent() {
		for i, it := range r.Output {
			a.item(i, it)
		}
	}
	a.d.Usage = chat.Usage{
		Input: max(0, r.Usage.Input-r.Usage.InMore.Cached), Output: r.Usage.Output, CacheRead: r.Usage.InMore.Cached, Reasoning: r.Usage.OutMore.Reasoning,
	}
	if r.Status == "incomplete" {
		a.d.Finish = chat.FinishLength
		if r.Incomplete.Reason == "content_filter" {
			a.d.Finish = chat.FinishFilter
		}
	}
	return nil
}

// Whole implements wire.Answer.
func (a *answer) Whole(body []byte) error { return a.response(body) }

// End implements wire.Answer.
func (a *answer) End() (bool, error) {
	if len(a.reasoning) > 0 {
		a.d.Extra.CodexReasoningItems = wire.Raw(a.reasoning)
	}
	if a.phased { // else the text says the same in fewer bytes
		a.d.Extra.CodexMessageItems = wire.Raw(a.messages)
	}
	if a.ended && a.items == 0 && a.d.Silent() && a.d.Finish == "" {
		return true, wire.NoAnswer("the answer has no output")
	}
	return a.ended, nil
}
