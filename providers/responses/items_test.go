package responses

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/fakemodel"
	"github.com/hermes-go/hermes/internal/wire"
	"github.com/hermes-go/hermes/provider"
)

func build(t *testing.T, base string, r *provider.Request) (string, wire.Outgoing) {
	t.Helper()
	out, err := (&format{provider.Endpoint{BaseURL: base, Key: "k"}}).Build(r, nil, wire.Adapted{})
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(out.Body.Bytes()) {
		t.Fatalf("no JSON: %s", out.Body.Bytes())
	}
	return string(out.Body.Bytes()), out
}

func TestItemsAreReplayed(t *testing.T) {
	t.Parallel()
	m := chat.AssistantText("said")
	m.CodexReasoningItems = json.RawMessage(`[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e"},{"type":"reasoning","id":"rs_2","summary":[{"type":"summary_text","text":"x"}]}]`)
	m.CodexMessageItems = json.RawMessage(`[{"type":"message","id":"msg_1","phase":"commentary","role":"assistant","content":[{"type":"output_text","text":"said"}]}]`)
	m.ToolCalls = []chat.ToolCall{chat.NewCall("call_1|fc_1", "f", "")}
	r := &provider.Request{Model: "gpt-5", Messages: []chat.Message{chat.UserText("x"), m, chat.ToolResult("call_1|fc_1", "f", "r")}, Options: provider.Options{SessionID: "s", MaxTokens: 5}}
	body, _ := build(t, "https://api.openai.com/v1", r)
	want := `{"encrypted_content":"e","summary":[],"type":"reasoning"},` +
		`{"content":[{"type":"output_text","text":"said"}],"phase":"commentary","role":"assistant","type":"message"},` +
		`{"type":"function_call","call_id":"call_1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"call_1","output":"r"}]`
	if !strings.Contains(body, want) || strings.Contains(body, "rs_") || !strings.Contains(body, `"max_output_tokens":5`) {
		t.Errorf("got %s", body)
	}
	body, out := build(t, "https://chatgpt.com/backend-api/codex", r)
	if strings.Contains(body, "max_output_tokens") || out.Header.Get("Session_id") != "s" {
		t.Errorf("codex: %s", body)
	}
	r.Model = "grok-4"
	body, out = build(t, "https://api.x.ai/v1", r)
	if out.Header.Get("X-Grok-Conv-Id") != "s" || !strings.Contains(body, "encrypted_content") || strings.Contains(body, `"effort"`) {
		t.Errorf("grok: %s", body)
	}
}

func TestEnds(t *testing.T) {
	t.Parallel()
	item := `{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"m","phase":"final","content":[{"type":"output_text","text":"only whole"}]}}`
	for _, c := range []struct {
		name   string
		events []string
		text   string
		finish string
		class  provider.Class
	}{
		{"items that were not streamed", []string{item, `{"type":"response.completed","response":{"status":"completed","output":[]}}`}, "only whole", chat.FinishStop, ""},
		{"all in the end", []string{`{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"late"}]}]}}`}, "late", chat.FinishStop, ""},
		{"cut by the limit", []string{item, `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`}, "only whole", chat.FinishLength, ""},
		{"filtered", []string{item, `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}}`}, "only whole", chat.FinishFilter, ""},
		{"refused", []string{`{"type":"response.refusal.delta","output_index":0,"delta":"I won't"}`, `{"type":"response.completed","response":{"status":"completed"}}`}, "I won't", chat.FinishStop, ""},
		{"failed", []string{`{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"slow"}}}`}, "", "", provider.ClassRateLimit},
		{"error event", []string{`{"type":"error","code":"server_error","message":"oops"}`}, "", "", provider.ClassServer},
		{"nothing", []string{`{"type":"response.completed","response":{"status":"completed","output":[]}}`}, "", "", provider.ClassInvalid},
	} {
		s := fakemodel.New(t, fakemodel.Reply{Events: c.events})
		client, err := provider.Open(context.Background(), provider.Endpoint{Wire: provider.Responses, BaseURL: s.V1()})
		if err != nil {
			t.Fatal(err)
		}
		m, err := provider.Collect(client.Stream(context.Background(), &provider.Request{Model: "gpt-5", Messages: []chat.Message{chat.UserText("x")}}))
		var e *provider.Error
		if c.class != "" {
			if !errors.As(err, &e) || e.Class != c.class {
				t.Errorf("%s: %#v", c.name, err)
			}
			continue
		}
		if err != nil || m.Content.String() != c.text || m.FinishReason != c.finish {
			t.Errorf("%s: %+v, %v", c.name, m, err)
		}
		if strings.HasPrefix(c.text, "only") && !strings.Contains(string(m.CodexMessageItems), `"phase":"final"`) {
			t.Errorf("%s: items %s", c.name, m.CodexMessageItems)
		}
	}
}
