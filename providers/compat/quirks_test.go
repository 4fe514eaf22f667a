package compat

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

// built is the request that a service would get.
func built(t *testing.T, kind string, r *provider.Request) map[string]any {
	t.Helper()
	k, ok := provider.Lookup(kind)
	if !ok {
		t.Fatalf("no %s", kind)
	}
	e := provider.Endpoint{Kind: k, BaseURL: k.BaseURL, Key: "sk-test"}
	out, err := (&format{e: e, row: rowFor(e)}).Build(r, nil, wire.Adapted{})
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(out.Body.Bytes(), &v); err != nil {
		t.Fatalf("%v: %s", err, out.Body.Bytes())
	}
	v["headers"] = out.Header
	return v
}

func request(model string, o provider.Options) *provider.Request {
	return &provider.Request{Model: model, System: "sys", Messages: []chat.Message{chat.UserText("hi")}, Options: o}
}

func TestQuirks(t *testing.T) {
	t.Parallel()
	warm := 0.7
	for _, c := range []struct {
		name, kind, model string
		options           provider.Options
		want              string // fields of the request, "-name" for one that must not be there
	}{
		{"new name of the limit", "openai", "gpt-4.1", provider.Options{MaxTokens: 9}, `"max_completion_tokens":9 -max_tokens`},
		{"old name", "deepseek", "deepseek-chat", provider.Options{MaxTokens: 9}, `"max_tokens":9 -max_completion_tokens`},
		{"no limit", "custom", "m", provider.Options{}, `-max_tokens -temperature -reasoning_effort`},
		{"NVIDIA's default", "nvidia", "m", provider.Options{}, `"max_tokens":16384`},
		{"Kimi's default and temperature", "kimi", "kimi-k2", provider.Options{Temperature: &warm}, `"max_tokens":32000 -temperature`},
		{"Claude's ceiling", "openrouter", "anthropic/claude-opus-4.6", provider.Options{}, `"max_tokens":128000`},
		{"no ceiling", "openrouter", "openai/gpt-5", provider.Options{}, `-max_tokens`},
		{"temperature", "custom", "m", provider.Options{Temperature: &warm}, `"temperature":0.7`},
		{"no temperature for reasoning models", "openai", "gpt-5", provider.Options{Temperature: &warm}, `-temperature`},
		{"OpenAI's effort", "openai", "gpt-5", provider.Options{Effort: "high"}, `"reasoning_effort":"high"`},
		{"not for others", "openai", "gpt-4.1", provider.Options{Effort: "high"}, `-reasoning_effort`},
		{"OpenRouter's effort", "openrouter", "anthropic/claude-opus-4.6", provider.Options{Effort: "low"}, `"reasoning":{"effort":"low","enabled":true}`},
		{"OpenRouter, off", "openrouter", "deepseek/deepseek-r1", provider.Options{Effort: "none"}, `"reasoning":{"enabled":false}`},
		{"OpenRouter, a model without", "openrouter", "meta-llama/llama-3", provider.Options{Effort: "low"}, `-reasoning`},
		{"Kimi's switches", "kimi", "kimi-k2", provider.Options{Effort: "high"}, `"thinking":{"type":"enabled"} "reasoning_effort":"high"`},
		{"Kimi, off", "kimi", "kimi-k2", provider.Options{Effort: "none"}, `"thinking":{"type":"disabled"} -reasoning_effort`},
		{"custom, off", "custom", "m", provider.Options{Effort: "none"}, `"think":false`},
		{"F-122", "gemini", "gemini-2.5-flash", provider.Options{Effort: "none"}, `-reasoning_effort -reasoning`},
		{"Nous", "nous", "Hermes-4", provider.Options{Effort: "medium"}, `"tags":["product=hermes-agent"] "reasoning":{"effort":"medium","enabled":true}`},
		{"cache key", "openai", "gpt-5", provider.Options{SessionID: "s1"}, `"prompt_cache_key":"s1"`},
		{"no cache key elsewhere", "groq", "m", provider.Options{SessionID: "s1"}, `-prompt_cache_key`},
		{"Mistral counts unasked", "mistral", "m", provider.Options{}, `-stream_options "stream":true`},
		{"extra fields win", "custom", "m", provider.Options{MaxTokens: 9, Extra: map[string]json.RawMessage{"max_tokens": json.RawMessage("7"), "stream_options": json.RawMessage("null"), "provider": json.RawMessage(`{"only":["x"]}`)}}, `"max_tokens":7 -stream_options "provider":{"only":["x"]}`},
	} {
		body := built(t, c.kind, request(c.model, c.options))
		for _, want := range strings.Fields(c.want) {
			if name, absent := strings.CutPrefix(want, "-"); absent {
				if v, there := body[name]; there {
					t.Errorf("%s: %s is %v", c.name, name, v)
				}
				continue
			}
			name, value, _ := strings.Cut(want, ":")
			name = strings.Trim(name, `"`)
			got, err := json.Marshal(body[name])
			if err != nil || string(got) != value {
				t.Errorf("%s: %s is %s, want %s", c.name, name, got, value)
			}
		}
	}
}

func TestDeveloperRole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, model, want string }{
		{"openai", "gpt-5", "developer"}, {"openai", "gpt-5-codex", "developer"}, {"openai", "gpt-4.1", "system"}, {"openrouter", "openai/gpt-5", "system"},
	} {
		messages := built(t, c.kind, request(c.model, provider.Options{}))["messages"].([]any)
		if got := messages[0].(map[string]any)["role"]; got != c.want {
			t.Errorf("%s %s: %v", c.kind, c.model, got)
		}
	}
}

func TestCase60Breakpoints(t *testing.T) {
	t.Parallel()
	r := request("anthropic/claude-opus-4.6", provider.Options{CacheTTL: "1h"})
	for range 5 {
		r.Messages = append(r.Messages, chat.AssistantText("a"), chat.UserText("b"))
	}
	count := func(body map[string]any) string {
		var marks []string
		for i, m := range body["messages"].([]any) {
			raw, _ := json.Marshal(m)
			if strings.Contains(string(raw), `"cache_control":{"ttl":"1h","type":"ephemeral"}`) {
				marks = append(marks, string(rune('a'+i)))
			}
		}
		return strings.Join(marks, "")
	}
	if got := count(built(t, "openrouter", r)); got != "ajkl" {
		t.Errorf("marked %s", got)
	}
	r.Model = "openai/gpt-5"
	if got := count(built(t, "openrouter", r)); got != "" {
		t.Errorf("gpt: marked %s", got)
	}
	r.Model, r.Options.CacheTTL = "anthropic/claude-opus-4.6", ""
	if got := count(built(t, "openrouter", r)); got != "" {
		t.Errorf("off: marked %s", got)
	}
}

// TestF121Echo: what a service thought goes back to the services that demand
// it, and one's thoughts are never passed off as another's.
func TestF121Echo(t *testing.T) {
	t.Parallel()
	own, other := chat.AssistantText("x"), chat.AssistantText("x")
	thought := "hm"
	own.ReasoningContent, own.Reasoning = &thought, thought
	other.Reasoning, other.ReasoningDetails = "another's", json.RawMessage(`[{"type":"thinking","thinking":"another's","signature":"s"}]`)
	for _, c := range []struct {
		kind, model string
		message     chat.Message
		want        any
	}{
		{"deepseek", "deepseek-reasoner", own, "hm"},
		{"deepseek", "deepseek-reasoner", other, " "},
		{"kimi", "kimi-k2", chat.AssistantText("x"), " "},
		{"openrouter", "moonshotai/kimi-k2", other, " "},
		{"openai", "gpt-5", own, nil},
		{"groq", "deepseek-r1-distill", own, nil},
		{"custom", "m", own, "hm"},
		{"custom", "m", other, nil},
	} {
		r := request(c.model, provider.Options{})
		r.Messages = append(r.Messages, c.message)
		messages := built(t, c.kind, r)["messages"].([]any)
		m := messages[2].(map[string]any)
		if m["reasoning_content"] != c.want || m["reasoning_details"] != nil || m["reasoning"] != nil || m["finish_reason"] != nil {
			t.Errorf("%s %s: %v", c.kind, c.model, m)
		}
	}
}

func TestUnknownFieldsAreKept(t *testing.T) {
	t.Parallel()
	s := fakemodel.New(t, fakemodel.Reply{Events: []string{
		`{"choices":[{"delta":{"role":"assistant","content":"a","odd":"x","reasoning_details":[{"type":"reasoning.text","index":0,"text":"one "}]}}]}`,
		`{"choices":[{"delta":{"odd":"y","list":[1],"reasoning_details":[{"type":"reasoning.text","index":0,"text":"two","signature":"sig"}]}}]}`,
		`{"choices":[{"delta":{"list":[2],"nothing":null,"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"ts"}}}],"reasoning_details":[{"type":"reasoning.encrypted","id":"e","data":"zzz"}]}}]}`,
		`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, "[DONE]",
	}}, fakemodel.Text("ok"))
	c := client(t, s)
	r := ask("x", "f")
	m := collect(t, c, r)
	if string(m.Extra["odd"]) != `"xy"` || string(m.Extra["list"]) != `[1,2]` || len(m.Extra) != 2 || m.Reasoning != "one two" {
		t.Errorf("got %+v", m)
	}
	m.Extra["_ours"] = json.RawMessage("1")
	r.Messages = append(r.Messages, m, chat.ToolResult("c", "f", "r"))
	collect(t, c, r)
	body := string(s.Requests()[1].Body)
	for _, want := range []string{
		`"odd":"xy"`, `"reasoning_details":[{"index":0,"signature":"sig","text":"one two","type":"reasoning.text"},{"data":"zzz","id":"e","type":"reasoning.encrypted"}]`,
		`"extra_content":{"google":{"thought_signature":"ts"}}`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("lacks %s: %s", want, body)
		}
	}
	if strings.Contains(body, "_ours") || strings.Contains(body, `"nothing"`) {
		t.Errorf("holds what is ours: %s", body)
	}
	strict := built(t, "groq", r)
	raw, _ := json.Marshal(strict["messages"])
	for _, no := range []string{"odd", "extra_content", "reasoning_details", `"name":"f","role"`} {
		if strings.Contains(string(raw), no) {
			t.Errorf("a strict service gets %s: %s", no, raw)
		}
	}
}

func TestARefusedFieldIsLeftOut(t *testing.T) {
	t.Parallel()
	s := fakemodel.New(t,
		fakemodel.Fail(400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}}`),
		fakemodel.Fail(400, `{"error":{"message":"Unsupported value: 'temperature' does not support 0.5"}}`),
		fakemodel.Text("ok"), fakemodel.Text("ok"))
	c := client(t, s)
	warm := 0.5
	r := request("m", provider.Options{MaxTokens: 5, Temperature: &warm})
	collect(t, c, r)
	collect(t, c, r)
	reqs := s.Requests()
	if len(reqs) != 4 {
		t.Fatalf("%d requests", len(reqs))
	}
	for _, req := range reqs[2:] {
		body := req.JSON()
		if body["max_completion_tokens"] != 5.0 || body["max_tokens"] != nil || body["temperature"] != nil {
			t.Errorf("got %s", req.Body)
		}
	}
}

func TestNoStreamIsRemembered(t *testing.T) {
	t.Parallel()
	s := fakemodel.New(t, fakemodel.Fail(400, `{"error":{"message":"streaming is not supported by this model"}}`), fakemodel.Text("ok"), fakemodel.Text("ok"))
	c := client(t, s)
	for range 2 {
		if m := collect(t, c, ask("x")); m.Content.String() != "ok" {
			t.Errorf("got %+v", m)
		}
	}
	if reqs := s.Requests(); len(reqs) != 3 || reqs[1].Stream || reqs[2].Stream {
		t.Errorf("%d requests", len(reqs))
	}
}

func TestOpenRouterHeaders(t *testing.T) {
	t.Parallel()
	k, _ := provider.Lookup("openrouter")
	e := provider.Endpoint{Kind: k, BaseURL: k.BaseURL, Key: "sk-or"}
	h := (&format{e: e, row: rowFor(e)}).header(nil)
	for _, name := range []string{"HTTP-Referer", "X-OpenRouter-Title", "X-OpenRouter-Categories"} {
		if h.Get(name) == "" {
			t.Errorf("no %s", name)
		}
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	s := fakemodel.New(t)
	k, _ := provider.Lookup("custom")
	got, err := provider.ListModels(context.Background(), provider.Endpoint{Kind: k, Wire: provider.ChatCompletions, BaseURL: s.V1()})
	if err != nil || len(got) != 1 || got[0] != (provider.Model{ID: "fake-model", ContextWindow: 128000}) {
		t.Errorf("got %+v, %v", got, err)
	}
}
