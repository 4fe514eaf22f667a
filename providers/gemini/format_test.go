package gemini

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

func TestThinkingConfig(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ model, effort, want string }{
		{"gemini-2.5-flash", "high", `{"includeThoughts":true}`},
		{"gemini-2.5-flash", "none", `null`}, // F-122
		{"gemini-3-flash-preview", "medium", `{"includeThoughts":true,"thinkingLevel":"medium"}`},
		{"gemini-3-flash-preview", "xhigh", `{"includeThoughts":true,"thinkingLevel":"high"}`},
		{"gemini-3-pro-preview", "medium", `{"includeThoughts":true,"thinkingLevel":"high"}`},
		{"gemini-3-pro-preview", "minimal", `{"includeThoughts":true,"thinkingLevel":"low"}`},
		{"gemini-3-pro-preview", "", `null`},
		{"gemini-2.0-flash", "high", `null`},
	} {
		if got, err := json.Marshal(thinking(c.model, c.effort)); err != nil || string(got) != c.want {
			t.Errorf("%s %s: %s", c.model, c.effort, got)
		}
	}
}

func TestSignaturesAndResults(t *testing.T) {
	t.Parallel()
	m := chat.AssistantText("text")
	m.Extra = map[string]json.RawMessage{"extra_content": signed("on the text")}
	m.ToolCalls = []chat.ToolCall{chat.NewCall("a", "f", `{"x":1}`), chat.NewCall("b", "g", "broken")}
	r := &provider.Request{Model: "models/gemini-3-pro-preview", Messages: []chat.Message{
		chat.UserText("x"), m, chat.ToolResult("a", "", `{"ok":true}`), chat.ToolResult("b", "", "[1]"), chat.ToolResult("gone", "", "?"),
	}}
	out, err := (&format{provider.Endpoint{BaseURL: "https://generativelanguage.googleapis.com/v1beta", Key: "k"}}).Build(r, nil, wire.Adapted{})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"role":"model","parts":[{"text":"text","thoughtSignature":"on the text"},{"functionCall":{"name":"f","args":{"x":1}},"thoughtSignature":"` + unsigned + `"},{"functionCall":{"name":"g","args":{}}}]},` +
		`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"ok":true}}},{"functionResponse":{"name":"g","response":{"result":"[1]"}}}]}]`
	if !strings.Contains(string(out.Body.Bytes()), want) {
		t.Errorf("got %s", out.Body.Bytes())
	}
	if out.URL != "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse" || out.Header.Get("X-Goog-Api-Key") != "k" {
		t.Errorf("to %s, headers %v", out.URL, out.Header)
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		reply fakemodel.Reply
		class provider.Class
		text  string
	}{
		{"blocked", fakemodel.Reply{Events: []string{`{"promptFeedback":{"blockReason":"SAFETY"}}`}}, provider.ClassPolicy, ""},
		{"unreadable call", fakemodel.Reply{Events: []string{`{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL"}]}`}}, provider.ClassInvalid, ""},
		{"a list of chunks", fakemodel.Reply{Whole: `[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]},{"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":"STOP"}]}]`}, "", "ab"},
		{"error in the stream", fakemodel.Reply{Events: []string{`{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`}}, provider.ClassOverloaded, ""},
	} {
		s := fakemodel.New(t, c.reply)
		client, err := provider.Open(context.Background(), provider.Endpoint{Wire: provider.Gemini, BaseURL: s.URL + "/v1beta"})
		if err != nil {
			t.Fatal(err)
		}
		m, err := provider.Collect(client.Stream(context.Background(), &provider.Request{Model: "gemini-2.5-pro", Messages: []chat.Message{chat.UserText("x")}}))
		var e *provider.Error
		if c.class != "" && (!errors.As(err, &e) || e.Class != c.class) || c.class == "" && (err != nil || m.Content.String() != c.text) {
			t.Errorf("%s: %+v, %#v", c.name, m, err)
		}
	}
}
