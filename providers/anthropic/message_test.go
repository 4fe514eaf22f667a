package anthropic

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/fakemodel"
	"github.com/hermes-go/hermes/internal/wire"
	"github.com/hermes-go/hermes/provider"
)

func build(t *testing.T, base string, r *provider.Request, a wire.Adapted) string {
	t.Helper()
	e := provider.Endpoint{BaseURL: base, Key: "sk-test"}
	out, err := (&format{e: e, own: own(e)}).Build(r, nil, a)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(out.Body.Bytes()) {
		t.Fatalf("no JSON: %s", out.Body.Bytes())
	}
	return string(out.Body.Bytes())
}

const anthropicURL = "https://api.anthropic.com"

func TestThinkingIsReplayedWithinATurn(t *testing.T) {
	t.Parallel()
	thought := func(id, details string) chat.Message {
		m := chat.AssistantText("")
		m.ToolCalls = []chat.ToolCall{chat.NewCall(id, "f", "{}")}
		m.ReasoningDetails = json.RawMessage(details)
		return m
	}
	r := &provider.Request{Model: "claude-opus-4-5", Messages: []chat.Message{
		chat.UserText("one"), thought("a", `[{"type":"thinking","thinking":"old","signature":"s1"}]`), chat.ToolResult("a", "f", "r"), chat.AssistantText("done"),
		chat.UserText("two"), thought("b", `[{"type":"thinking","thinking":"","signature":"s2"},{"type":"redacted_thinking","data":"zz"}]`), chat.ToolResult("b", "f", "r"),
		thought("c", `[{"type":"thinking","thinking":"plain"},{"type":"reasoning.text","text":"a router's"}]`), chat.ToolResult("c", "f", "r"),
	}}
	body := build(t, anthropicURL, r, wire.Adapted{})
	for want, there := range map[string]bool{
		`"s1"`: false, `{"type":"thinking","thinking":"","signature":"s2"},{"type":"redacted_thinking","data":"zz"},{"type":"tool_use"`: true,
		`{"type":"text","text":"plain"},{"type":"tool_use"`: true, "a router's": false,
	} {
		if strings.Contains(body, want) != there {
			t.Errorf("%s: %v in %s", want, !there, body)
		}
	}
	if body := build(t, anthropicURL, r, wire.Adapted{NoThinking: true}); strings.Contains(body, "thinking") {
		t.Errorf("after a refused signature: %s", body)
	}
	if body := build(t, "https://api.minimax.io/anthropic", r, wire.Adapted{}); strings.Contains(body, "thinking") || strings.Contains(body, "plain") {
		t.Errorf("another service: %s", body)
	}
	if body := build(t, "https://api.kimi.com/coding", r, wire.Adapted{}); strings.Contains(body, "s2") || !strings.Contains(body, `"thinking":"plain"`) {
		t.Errorf("Kimi: %s", body)
	}
}

// TestCallsWithoutThinking: Claude refuses a budget when the turn's calls have
// no thinking before them.
func TestCallsWithoutThinking(t *testing.T) {
	t.Parallel()
	call := chat.AssistantText("")
	call.ToolCalls = []chat.ToolCall{chat.NewCall("a", "f", "{}")}
	r := &provider.Request{Model: "claude-sonnet-4-5", Messages: []chat.Message{chat.UserText("x"), call, chat.ToolResult("a", "f", "r")}, Options: provider.Options{Effort: "low"}}
	if body := build(t, anthropicURL, r, wire.Adapted{}); strings.Contains(body, "budget") || strings.Contains(body, "temperature") {
		t.Errorf("got %s", body)
	}
	r.Messages[1].ReasoningDetails = json.RawMessage(`[{"type":"thinking","thinking":"t","signature":"s"}]`)
	if body := build(t, anthropicURL, r, wire.Adapted{}); !strings.Contains(body, "budget") {
		t.Errorf("got %s", body)
	}
	if body := build(t, anthropicURL, r, wire.Adapted{NoThinking: true}); strings.Contains(body, "budget") {
		t.Errorf("after a refused signature: %s", body)
	}
}

func TestRefusedSignatureIsLeftOutOnce(t *testing.T) {
	t.Parallel()
	s := fakemodel.New(t, fakemodel.Fail(400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid signature in thinking block"}}`), fakemodel.Text("ok"))
	c, err := provider.Open(context.Background(), provider.Endpoint{Wire: provider.AnthropicMessages, BaseURL: s.URL, Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := provider.Collect(c.Stream(context.Background(), &provider.Request{Model: "claude-opus-4-5", Messages: []chat.Message{chat.UserText("x")}}))
	if err != nil || m.Content.String() != "ok" || len(s.Requests()) != 2 {
		t.Errorf("got %+v, %v", m, err)
	}
}

func TestPairsAndPlaceholders(t *testing.T) {
	t.Parallel()
	orphan := chat.AssistantText("")
	orphan.ToolCalls = []chat.ToolCall{chat.NewCall("never|answered", "f", "{}")}
	call := chat.AssistantText("")
	call.ToolCalls = []chat.ToolCall{chat.NewCall("fc:1|x", "f", `not json`)}
	r := &provider.Request{Model: "claude-opus-4-5", Messages: []chat.Message{
		chat.AssistantText("hello"), chat.ToolResult("gone", "f", "r"), orphan, chat.UserText(" "), chat.UserText("again"), call, chat.ToolResult("fc:1|x", "f", ""),
	}}
	want := `"messages":[{"role":"user","content":[{"type":"text","text":"(empty message)"}]},` +
		`{"role":"assistant","content":[{"type":"text","text":"hello"},{"type":"text","text":"(empty)"}]},` +
		`{"role":"user","content":[{"type":"text","text":"(empty message)"},{"type":"text","text":"again"}]},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"fc_1_x","name":"f","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"fc_1_x","content":"(no output)"}]}]`
	if body := build(t, anthropicURL, r, wire.Adapted{}); !strings.Contains(body, want) {
		t.Errorf("got %s", body)
	}
}

func TestFourBreakpoints(t *testing.T) {
	t.Parallel()
	r := &provider.Request{Model: "claude-opus-4-5", System: "s", Options: provider.Options{CacheTTL: "5m"}}
	for range 6 {
		r.Messages = append(r.Messages, chat.UserText("u"), chat.AssistantText("a"))
	}
	if n := strings.Count(build(t, anthropicURL, r, wire.Adapted{}), "cache_control"); n != 4 {
		t.Errorf("%d breakpoints", n)
	}
	r.Options.CacheTTL = ""
	if n := strings.Count(build(t, anthropicURL, r, wire.Adapted{}), "cache_control"); n != 0 {
		t.Errorf("%d breakpoints when off", n)
	}
}

func TestThinkingOptions(t *testing.T) {
	t.Parallel()
	warm := 0.3
	for _, c := range []struct {
		model, effort string
		want, not     string
	}{
		{"claude-opus-4-6", "xhigh", `"thinking":{"display":"summarized","type":"adaptive"},"output_config":{"effort":"max"},"temperature"`, "budget"},
		{"claude-opus-4-7", "xhigh", `"output_config":{"effort":"xhigh"},"max_tokens":128000`, "temperature"},
		{"claude-opus-4.7", "", `"max_tokens":128000`, "temperature"},
		{"claude-sonnet-4-5", "low", `"thinking":{"type":"enabled","budget_tokens":4000},"temperature":1,"max_tokens":64000`, "output_config"},
		{"claude-haiku-4-5", "high", `"temperature":0.3`, "thinking"},
		{"claude-sonnet-4-5", "none", `"temperature":0.3`, "thinking"},
		{"claude-3-5-sonnet", "high", `"max_tokens":8192`, "thinking"},
	} {
		body := build(t, anthropicURL, &provider.Request{Model: c.model, Messages: []chat.Message{chat.UserText("x")}, Options: provider.Options{Effort: c.effort, Temperature: &warm}}, wire.Adapted{})
		want := strings.TrimSuffix(c.want, `,"temperature"`)
		if !strings.Contains(body, want) || strings.Contains(body, c.not) {
			t.Errorf("%s %s: %s", c.model, c.effort, body)
		}
	}
}

func TestOddEvents(t *testing.T) {
	t.Parallel()
	s := fakemodel.New(t, fakemodel.Reply{Events: []string{
		"ping\n" + `{"type":"ping"}`,
		`{"type":"message_start","message":{"usage":{"input_tokens":5,"cache_read_input_tokens":2}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"zz"}}`, `{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"f","input":{"a":1}}}`, `{"type":"content_block_stop","index":1}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}`, `{"type":"message_stop"}`,
	}}, fakemodel.Reply{Events: []string{`{"type":"message_start","message":{}}`, "error\n" + `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}})
	c, err := provider.Open(context.Background(), provider.Endpoint{Wire: provider.AnthropicMessages, BaseURL: s.URL + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	r := &provider.Request{Model: "m", Messages: []chat.Message{chat.UserText("x")}}
	m, err := provider.Collect(c.Stream(context.Background(), r))
	if err != nil || m.ToolCalls[0].Function.Arguments != `{"a":1}` || string(m.ReasoningDetails) != `[{"type":"redacted_thinking","data":"zz"}]` {
		t.Errorf("got %+v, %v", m, err)
	}
	if *m.Usage != (chat.Usage{Input: 5, Output: 9, CacheRead: 2, Calls: 1}) {
		t.Errorf("usage %+v", *m.Usage)
	}
	if _, err = provider.Collect(c.Stream(context.Background(), r)); err == nil || !strings.Contains(err.Error(), "Overloaded") {
		t.Errorf("got %v", err)
	}
}
