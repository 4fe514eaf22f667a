package agent

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/hermes-go/hermes/chat"
)

// EventJSON is an event as `chat --json` prints it and cassettes have it.
type EventJSON struct {
	Type      string          `json:"type"`
	SessionID string          `json:"session_id,omitempty"`
	Text      *string         `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Args      json.RawMessage `json:"args,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Failed    bool            `json:"failed,omitempty"`
	Seconds   float64         `json:"seconds,omitempty"`
	Choices   []string        `json:"choices,omitempty"`
	Action    string          `json:"action,omitempty"`
	Attempt   int             `json:"attempt,omitempty"`
	After     string          `json:"after,omitempty"`
	Void      bool            `json:"void,omitempty"`
	Keep      int             `json:"keep,omitempty"` // bytes of the text since the last call that stay valid
	Before    int             `json:"before,omitempty"`
	Now       int             `json:"now,omitempty"`
	Status    Status          `json:"status,omitempty"`
	Usage     *chat.Usage     `json:"usage,omitempty"`
	Error     *string         `json:"error,omitempty"`
}

// ToJSON is an event as it is printed and recorded.
func ToJSON(e Event, sessionID string) EventJSON {
	switch e := e.(type) {
	case Text:
		return EventJSON{Type: "text", Text: &e.Text}
	case Reasoning:
		return EventJSON{Type: "reasoning", Text: &e.Text}
	case ToolStart:
		return EventJSON{Type: "tool_start", ID: e.ID, Name: e.Name, Args: e.Args}
	case ToolProgress:
		return EventJSON{Type: "tool_progress", ID: e.ID, Name: e.Name, Text: &e.Update.Text}
	case ToolEnd:
		return EventJSON{Type: "tool_end", ID: e.ID, Name: e.Name, Result: e.Result, Failed: e.Err != nil, Seconds: e.Took.Round(time.Microsecond).Seconds()}
	case Asked:
		return EventJSON{Type: "asked", Text: &e.Request.Text, Name: string(e.Request.Kind), Choices: e.Request.Choices, Action: e.Request.Action}
	case Notice:
		return EventJSON{Type: "notice", Text: &e.Text}
	case Retry:
		return EventJSON{Type: "retry", Text: &e.Reason, Attempt: e.Attempt, After: e.After, Void: e.Void, Keep: e.Keep}
	case Compacted:
		return EventJSON{Type: "compacted", Before: e.Before, Now: e.After}
	case Done:
		out := EventJSON{Type: "done", Status: e.Status, Text: &e.Text, Usage: &e.Usage, SessionID: sessionID}
		if e.Err != nil {
			text := e.Err.Error()
			out.Error = &text
		}
		return out
	}
	return EventJSON{Type: fmt.Sprintf("%T", e)}
}
