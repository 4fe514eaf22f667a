// Package providertest is what every wire must pass: text, reasoning, tools
// and their replay, errors, cancelling, broken streams, and that a key goes to
// its own host only. It runs a wire against fakemodel and is linked into no
// program.
package providertest

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/fakemodel"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/tool"
)

// Key is the key that every test sends.
const Key = "sk-test-0123456789"

// Suite describes the wire under test. The package that implements it must be
// linked into the test.
type Suite struct {
	Wire   provider.Wire
	Kind   string // whose quirks apply; "": custom
	Path   string // of the base URL, e.g. "/v1"
	Model  string
	Effort string // asks for reasoning

	// Replayed checks a request that has an answer with reasoning and a tool
	// call in its history. nil checks nothing.
	Replayed func(t *testing.T, first chat.Message, next fakemodel.Request)

	// Golden is the name under testdata of the body that Conversation gives;
	// "": none.
	Golden string
}

// Run runs every test.
func Run(t *testing.T, s Suite) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, s Suite)
	}{
		{"text", testText},
		{"unicode", testUnicode},
		{"reasoning", testReasoning},
		{"tools", testTools},
		{"parallel tools", testParallel},
		{"missing ids", testMissingIDs},
		{"unstreamed", testWhole},
		{"finish reasons", testFinish},
		{"errors", testErrors},
		{"cancel", testCancel},
		{"break", testBreak},
		{"cut stream", testCut},
		{"silence", testStall},
		{"keys and hosts", testHosts},
		{"same bytes", testStable},
		{"bad schema", testBadSchema},
		{"golden", testGolden},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, s)
		})
	}
}

func (s Suite) endpoint(url string) provider.Endpoint {
	name := s.Kind
	if name == "" {
		name = "custom"
	}
	k, ok := provider.Lookup(name)
	if !ok {
		k = provider.Kind{Name: name}
	}
	return provider.Endpoint{Kind: k, Wire: s.Wire, BaseURL: url + s.Path, Key: Key}
}

func (s Suite) open(t testing.TB, server *fakemodel.Server) provider.Client {
	t.Helper()
	return s.openAt(t, s.endpoint(server.URL))
}

func (s Suite) openAt(t testing.TB, e provider.Endpoint) provider.Client {
	t.Helper()
	c, err := provider.Open(context.Background(), e)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (s Suite) ask(text string, tools ...tool.Definition) *provider.Request {
	return &provider.Request{
		Model: s.Model, System: "You are a test.", Messages: []chat.Message{chat.UserText(text)}, Tools: tools,
		Options: provider.Options{Effort: s.Effort},
	}
}

// Weather is a tool definition with some of what services choke on.
func Weather() tool.Definition {
	return tool.Definition{Type: "function", Function: tool.Function{
		Name: "weather", Description: "Looks up the weather.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"location":{"type":"string"},"days":{"type":["integer","null"]},"tags":{"type":"array"}},"required":["location"]}`),
	}}
}

// seen is what a consumer sees of an answer.
type seen struct {
	text, reasoning string
	started         []string
	final           *chat.Message
	truncated       *provider.Error
	notices         []string
	err             error
}

func watch(ctx context.Context, c provider.Client, r *provider.Request) seen {
	var s seen
	for chunk, err := range c.Stream(ctx, r) {
		if err != nil {
			s.err = err
			break
		}
		if chunk.Retry != nil {
			s.text, s.reasoning, s.started = "", "", nil
		}
		s.text += chunk.Text
		s.reasoning += chunk.Reasoning
		if chunk.CallStarted != "" {
			s.started = append(s.started, chunk.CallStarted)
		}
		if chunk.Notice != "" {
			s.notices = append(s.notices, chunk.Notice)
		}
		if chunk.Final != nil {
			s.final, s.truncated = chunk.Final, chunk.Truncated
		}
	}
	return s
}

func (s Suite) answer(t testing.TB, server *fakemodel.Server, r *provider.Request) seen {
	t.Helper()
	got := watch(context.Background(), s.open(t, server), r)
	if got.err != nil {
		t.Fatal(got.err)
	}
	if got.final == nil {
		t.Fatal("no final message")
	}
	return got
}

// Conversation is a request with everything in it that a wire translates.
func Conversation(model string) *provider.Request {
	temperature := 0.5
	first := chat.AssistantText("Let me look.")
	first.ToolCalls = []chat.ToolCall{
		chat.NewCall("call_1", "weather", `{"location": "Köln <Dom>", "days": 2}`), chat.NewCall("call_2", "weather", `{"location":`),
	}
	first.Reasoning = "They want the weather."
	image := chat.Message{Role: chat.User, Content: chat.Content{Parts: []chat.Part{
		{Type: "text", Text: "And what is this?"},
		{Type: "image_url", ImageURL: "data:image/png;base64,aGk="},
		{Type: "image_url", ImageURL: "https://example.com/a.png"},
	}}}
	return &provider.Request{
		Model: model, System: "You are a test & nothing else.",
		Messages: []chat.Message{
			chat.UserText("How is the weather?"), first,
			chat.ToolResult("call_1", "weather", `{"sky":"clear"}`), chat.ToolResult("call_2", "weather", "broken arguments"),
			chat.AssistantText("Clear."), image,
		},
		Tools:   []tool.Definition{Weather()},
		Options: provider.Options{SessionID: "s1", MaxTokens: 1000, Temperature: &temperature, CacheTTL: "5m", Effort: "medium"},
	}
}
