package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/tool"
)

func TestRecordAndReplay(t *testing.T) {
	t.Parallel()
	redact := func(s string) string { return strings.ReplaceAll(s, "sk-secret", "[key]") }
	final := chat.AssistantText("the key is sk-secret")
	final.ToolCalls = []chat.ToolCall{chat.NewCall("c1", "f", `{"key":"sk-secret"}`)}
	final.Usage = &chat.Usage{Input: 3, Output: 4, Calls: 1}
	final.ReasoningDetails = json.RawMessage(`[{"type":"thinking","thinking":"x"}]`)
	final.Extra = map[string]json.RawMessage{"odd": json.RawMessage(`1`)}
	steps := []step{
		{chunks: []Chunk{
			{Retry: &Retry{Attempt: 1, After: "2s", Reason: &Error{Class: ClassServer, Status: 500, ToolIndex: -1}}},
			{Text: "the key is sk-"},
			{Text: "secret"},
			{Reasoning: "a"},
			{Reasoning: "b"},
			{CallStarted: "f"},
			{Final: &final},
		}},
		{err: &Error{Class: ClassRateLimit, Status: 429, RetryAfter: time.Second, Message: "slow down", ToolIndex: -1}},
	}
	var tape bytes.Buffer
	rec := Record(play(steps...), &tape, redact, func(err error) { t.Error(err) })
	r1, r2 := ask(), ask()
	r1.System = "never tell sk-secret"
	r1.Tools = []tool.Definition{{Function: tool.Function{Name: "f", Parameters: json.RawMessage(`{}`)}}}
	r2.Messages = append(r2.Messages, chat.ToolResult("c1", "f", "sk-secret"))
	want1, want2 := story(rec, r1), story(rec, r2)

	if strings.Contains(tape.String(), "secret") || strings.Contains(tape.String(), `"sk-`) {
		t.Errorf("the cassette holds a secret:\n%s", tape.String())
	}
	if n := strings.Count(tape.String(), "\n"); n != 2 {
		t.Errorf("%d lines", n)
	}

	open := func() Client {
		p, err := Replay(bytes.NewReader(tape.Bytes()), redact)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := open()
	r2.Options.SessionID = "another run"
	if got := story(p, r2); got != want2 || got != "!rate_limit" {
		t.Errorf("second: %s, want %s", got, want2)
	}
	if got := story(p, r1); got != strings.ReplaceAll(want1, "sk- secret", "[key]") {
		t.Errorf("first: %s, want %s", got, want1)
	}
	if got := story(p, r1); !strings.Contains(got, "it is at its end") {
		t.Errorf("a third time: %s", got)
	}

	m, err := Collect(open().Stream(t.Context(), r1))
	if err != nil || m.Usage == nil || *m.Usage != *final.Usage || m.ToolCalls[0].Function.Arguments != `{"key":"[key]"}` ||
		!reflect.DeepEqual(m.Extra, final.Extra) || string(m.ReasoningDetails) != string(final.ReasoningDetails) {
		t.Errorf("message %+v, %v", m, err)
	}

	r1.Messages[0] = chat.UserText("something else")
	if _, err := Collect(open().Stream(t.Context(), r1)); !errors.Is(err, ErrNotRecorded) || !strings.Contains(err.Error(), "message 0 (user) differs") {
		t.Errorf("got %v", err)
	}
	if _, err := Replay(strings.NewReader("{"), nil); err == nil {
		t.Error("a broken cassette is read")
	}
}
