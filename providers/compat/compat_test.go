package compat

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/fakemodel"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/tool"
)

func client(t testing.TB, s *fakemodel.Server) provider.Client {
	t.Helper()
	k, _ := provider.Lookup("custom")
	c, err := provider.Open(context.Background(), provider.Endpoint{Kind: k, Wire: provider.ChatCompletions, BaseURL: s.V1(), Key: "k-test-1234"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// quick is a retry policy that does not wait; it tells what it would have.
func quick(waits *[]time.Duration) provider.RetryPolicy {
	return provider.RetryPolicy{
		Jitter: func() float64 { return 0 },
		Sleep: func(ctx context.Context, d time.Duration) error {
			if waits != nil {
				*waits = append(*waits, d)
			}
			return ctx.Err()
		},
	}
}

func ask(text string, tools ...string) *provider.Request {
	r := &provider.Request{Model: "m", System: "sys", Messages: []chat.Message{chat.UserText(text)}}
	for _, name := range tools {
		r.Tools = append(r.Tools, tool.Definition{Type: "function", Function: tool.Function{Name: name, Parameters: json.RawMessage(`{"type":"object"}`)}})
	}
	return r
}

func collect(t testing.TB, c provider.Client, r *provider.Request) chat.Message {
	t.Helper()
	m, err := provider.Collect(c.Stream(context.Background(), r))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestOneTextAnswer(t *testing.T) { // case 1, wire side
	s := fakemodel.New(t, fakemodel.Text("hello, world"))
	m := collect(t, client(t, s), ask("hi"))
	if m.Content.String() != "hello, world" || m.Role != chat.Assistant || m.FinishReason != chat.FinishStop {
		t.Errorf("got %+v", m)
	}
	if m.Usage == nil || *m.Usage != (chat.Usage{Input: 10, Output: 5, Calls: 1}) {
		t.Errorf("usage %+v", m.Usage)
	}
	reqs := s.Requests()
	if len(reqs) != 1 || strings.Join(reqs[0].Roles(), ",") != "system,user" {
		t.Fatalf("requests %v", reqs)
	}
	if got := reqs[0].Header.Get("Authorization"); got != "Bearer k-test-1234" {
		t.Errorf("authorization %q", got)
	}
}

func TestCase14ArgumentsAreRawText(t *testing.T) {
	s := fakemodel.New(t, fakemodel.UseTool("f", `{"a":1,}`), fakemodel.Reply{Whole: `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"x","function":{"name":"f","arguments":{"a":1}}}]},"finish_reason":"tool_calls"}]}`})
	c := client(t, s)
	if m := collect(t, c, ask("x", "f")); m.ToolCalls[0].Function.Arguments != `{"a":1,}` {
		t.Errorf("got %+v", m.ToolCalls)
	}
	if m := collect(t, c, ask("x", "f")); m.ToolCalls[0].Function.Arguments != `{"a":1}` || m.FinishReason != chat.FinishToolCalls {
		t.Errorf("case 13: got %+v", m.ToolCalls)
	}
}

func TestCase24RetryAfterIsCapped(t *testing.T) {
	s := fakemodel.New(t, fakemodel.Fail(429, "", "Retry-After", "999"), fakemodel.Text("ok"))
	var waits []time.Duration
	m := collect(t, provider.Retrying(client(t, s), quick(&waits)), ask("x"))
	if m.Content.String() != "ok" || len(waits) != 1 || waits[0] != 120*time.Second {
		t.Errorf("message %q, waits %v", m.Content.String(), waits)
	}
}

func TestCase25ThreeServerErrors(t *testing.T) {
	s := fakemodel.New(t, fakemodel.Fail(500, ""), fakemodel.Fail(500, ""), fakemodel.Fail(500, ""), fakemodel.Text("too late"))
	var waits []time.Duration
	_, err := provider.Collect(provider.Retrying(client(t, s), quick(&waits)).Stream(context.Background(), ask("x")))
	var e *provider.Error
	if !errors.As(err, &e) || e.Attempts != 3 || e.Class != provider.ClassServer {
		t.Fatalf("got %#v", err)
	}
	if n := len(s.Requests()); n != 3 {
		t.Errorf("%d requests", n)
	}
	if !strings.HasSuffix(err.Error(), "(tried 3 times)") {
		t.Errorf("the error does not say how often: %v", err)
	}
	if len(waits) != 2 || waits[0] != 2*time.Second || waits[1] != 4*time.Second {
		t.Errorf("waits %v", waits)
	}
}

func TestErrorsAreClassified(t *testing.T) {
	for _, c := range []struct {
		name   string
		reply  fakemodel.Reply
		class  provider.Class
		sent   int
		detail func(*provider.Error) bool
	}{
		{"case 26: 401", fakemodel.Fail(401, ""), provider.ClassAuth, 1, nil},
		{"case 29: 402", fakemodel.Fail(402, ""), provider.ClassBilling, 1, nil},
		{"case 30: overflow", fakemodel.Fail(400, `{"error":{"message":"This model's maximum context length is 32768 tokens."}}`), provider.ClassContextOverflow, 1, func(e *provider.Error) bool { return e.Window == 32768 }},
		{"case 32: 413", fakemodel.Fail(413, ""), provider.ClassPayloadTooLarge, 1, nil},
		{"case 33: no such model", fakemodel.Fail(404, `{"error":{"message":"The model 'm' does not exist","code":"model_not_found"}}`), provider.ClassModelNotFound, 1, nil},
		{"case 34: key limit", fakemodel.Fail(403, `{"error":{"message":"Key limit exceeded"}}`), provider.ClassBilling, 1, nil},
		{"case 36: no choices", fakemodel.Reply{Whole: `{"choices":[]}`}, provider.ClassInvalid, 3, nil},
		{"F-123: the service's words", fakemodel.Fail(402, `{"error":{"message":"You are out of credits."}}`), provider.ClassBilling, 1, func(e *provider.Error) bool {
			return e.Error() == "HTTP 402: You are out of credits."
		}},
		{"a web page", fakemodel.Fail(502, "<html><head><title>Bad gateway</title></head></html>"), provider.ClassServer, 3, func(e *provider.Error) bool { return e.Message == "Bad gateway" }},
		{"a web page as answer", fakemodel.Reply{Whole: "<html><title>Login</title>", Header: map[string]string{"Content-Type": "text/html"}}, provider.ClassFormat, 1, func(e *provider.Error) bool {
			return strings.HasPrefix(e.Message, "the answer is a web page (Login); check the address: http://")
		}},
		{"in the stream", fakemodel.Reply{Events: []string{`{"error":{"code":502,"message":"upstream"}}`}}, provider.ClassServer, 3, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := fakemodel.New(t, c.reply).Repeat()
			_, err := provider.Collect(provider.Retrying(client(t, s), quick(nil)).Stream(context.Background(), ask("x")))
			var e *provider.Error
			if !errors.As(err, &e) || e.Class != c.class {
				t.Fatalf("got %#v", err)
			}
			if n := len(s.Requests()); n != c.sent {
				t.Errorf("%d requests, want %d", n, c.sent)
			}
			if c.detail != nil && !c.detail(e) {
				t.Errorf("detail: %+v", e)
			}
		})
	}
}

func TestCase37CutStreams(t *testing.T) {
	text := fakemodel.Reply{Text: "a longer text, in several pieces"}
	for _, c := range []struct {
		name      string
		replies   []fakemodel.Reply
		content   string
		truncated bool
		sent      int
	}{
		{"before anything", []fakemodel.Reply{fakemodel.CutAfter(0, text), fakemodel.CutAfter(1, text), text}, "a longer text, in several pieces", false, 3},
		{"after text", []fakemodel.Reply{fakemodel.CutAfter(3, text)}, "a longer text, i", true, 1},
		{"in a tool call", []fakemodel.Reply{fakemodel.CutAfter(3, fakemodel.UseTool("f", `{"path":"/a/long/path"}`)), fakemodel.UseTool("f", "{}")}, "", false, 2},
		{"in a tool call after text", []fakemodel.Reply{fakemodel.CutAfter(4, fakemodel.Reply{Text: "see:", Calls: []fakemodel.Call{{Name: "f", Args: `{"path":"/a/long/path"}`}}}), fakemodel.Text("again")}, "again", false, 2},
		{"clean end without a finish", []fakemodel.Reply{{Events: []string{`{"choices":[{"delta":{"content":"half"}}]}`}}}, "half", true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := fakemodel.New(t, c.replies...)
			var final *chat.Message
			var shown strings.Builder
			truncated := false
			for chunk, err := range provider.Retrying(client(t, s), quick(nil)).Stream(context.Background(), ask("x", "f")) {
				if err != nil {
					t.Fatal(err)
				}
				if chunk.Retry != nil {
					shown.Reset()
				}
				shown.WriteString(chunk.Text)
				if chunk.Final != nil {
					final, truncated = chunk.Final, chunk.Truncated != nil
				}
			}
			if final == nil || final.Content.String() != c.content || truncated != c.truncated || shown.String() != c.content {
				t.Fatalf("final %+v, truncated %v, shown %q", final, truncated, shown.String())
			}
			if truncated && (final.FinishReason != chat.FinishLength || len(final.ToolCalls) != 0) {
				t.Errorf("finish %q", final.FinishReason)
			}
			if n := len(s.Requests()); n != c.sent {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestF118SameIndex(t *testing.T) { // and case 38
	call := func(id, name, args string) string {
		b, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"tool_calls": []any{map[string]any{"index": 0, "id": id, "function": map[string]any{"name": name, "arguments": args}}}}}}})
		return string(b)
	}
	end := `{"choices":[{"delta":{},"finish_reason":"stop"}]}`
	for _, c := range []struct {
		name   string
		events []string
		want   string
	}{
		{"F-118", []string{call("a", "f", "{}"), call("b", "f", "{}"), call("c", "g", "{}")}, "a f {};b f {};c g {}"},
		{"F-119", []string{call("a", "f", `{"d":1}{"d":2}`)}, `a f {"d":1};+ f {"d":2}`},
		{"F-120 name resent", []string{call("a", "f", ""), call("a", "f", `{"x"`), call("a", "f", `:1}`)}, `a f {"x":1}`},
		{"id in every piece", []string{call("a", "f", `{"x"`), call("a", "", `:1}`)}, `a f {"x":1}`},
		{"a fresh id in every piece", []string{call("a", "f", `{"x"`), call("b", "", `:1}`)}, `a f {"x":1}`},
		{"id in two pieces", []string{call("call_", "f", ""), call("12", "", "{}")}, `call_12 f {}`},
		{"name in two pieces", []string{call("a", "read_", ""), call("", "file", "{}")}, `a read_file {}`},
		{"second name", []string{call("", "f", "{}"), call("", "g", "{}")}, `+ f {};+ g {}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := fakemodel.New(t, fakemodel.Reply{Events: append(c.events, end, "[DONE]")})
			m := collect(t, client(t, s), ask("x", "f", "g", "read_file"))
			var got []string
			for _, tc := range m.ToolCalls {
				id := tc.ID
				if strings.HasPrefix(id, "call_") && len(id) > 20 {
					id = "+"
				}
				got = append(got, id+" "+tc.Function.Name+" "+tc.Function.Arguments)
			}
			if strings.Join(got, ";") != c.want {
				t.Errorf("got %s, want %s", strings.Join(got, ";"), c.want)
			}
			if m.FinishReason != chat.FinishToolCalls {
				t.Errorf("finish %q", m.FinishReason)
			}
		})
	}
}

func TestF125TextIsNoCall(t *testing.T) {
	const text = "Write it so: <tool_call>{\"name\": \"f\", \"arguments\": {\"command\": \"ls\"}}</tool_call> or {\"tool_calls\":[{\"function\":{\"name\":\"f\"}}]}"
	s := fakemodel.New(t, fakemodel.Text(text))
	if m := collect(t, client(t, s), ask("x", "f")); len(m.ToolCalls) != 0 || m.Content.String() != text || m.FinishReason != chat.FinishStop {
		t.Errorf("got %+v", m)
	}
}

func TestThinkTagsLeaveTheText(t *testing.T) {
	s := fakemodel.New(t, fakemodel.Reply{Chunks: []string{"<thi", "nk>let me", " see</th", "ink>\n\nThe answer uses <think> tags."}})
	m := collect(t, client(t, s), ask("x"))
	if m.Content.String() != "The answer uses <think> tags." || m.Reasoning != "let me see" {
		t.Errorf("content %q, reasoning %q", m.Content.String(), m.Reasoning)
	}
}

func TestOneBadToolIsDropped(t *testing.T) { // pain 11
	s := fakemodel.New(t,
		fakemodel.Fail(400, `{"error":{"message":"Invalid schema","param":"tools[1].function.parameters","type":"invalid_request_error"}}`),
		fakemodel.Text("ok"), fakemodel.Text("ok"))
	c := client(t, s)
	r := ask("x", "good", "bad", "fine")
	r.Tools[0].Function.Parameters = json.RawMessage(`{"type":`) // not even JSON: never sent
	r.Tools = append(r.Tools, ask("", "last").Tools...)
	var notices []string
	for range 2 {
		for chunk, err := range c.Stream(context.Background(), r) {
			if err != nil {
				t.Fatal(err)
			}
			if chunk.Notice != "" {
				notices = append(notices, chunk.Notice)
			}
		}
	}
	if len(notices) != 2 || !strings.Contains(notices[0], "good") || !strings.Contains(notices[1], "fine") {
		t.Errorf("notices %q", notices)
	}
	for i, want := range []string{"bad,fine,last", "bad,last", "bad,last"} {
		if got := strings.Join(s.Requests()[i].Tools(), ","); got != want {
			t.Errorf("request %d: tools %s, want %s", i, got, want)
		}
	}
}

func TestServiceWithoutTools(t *testing.T) { // pain 12
	s := fakemodel.New(t, fakemodel.Fail(400, `{"error":{"message":"registry.ollama.ai/library/m does not support tools"}}`), fakemodel.Text("ok"), fakemodel.Text("ok"))
	c := client(t, s)
	collect(t, c, ask("x", "f"))
	collect(t, c, ask("x", "f"))
	if reqs := s.Requests(); len(reqs) != 3 || len(reqs[1].Tools()) != 0 || len(reqs[2].Tools()) != 0 {
		t.Errorf("%d requests", len(reqs))
	}
}

func TestCancelReturnsTheCallersError(t *testing.T) { // case 40, wire side
	s := fakemodel.New(t, fakemodel.Reply{Text: "the rest never comes", Hang: true, After: 2})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var last error
	for _, err := range provider.Retrying(client(t, s), quick(nil)).Stream(ctx, ask("x")) {
		last = err
		cancel()
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("got %v", last)
	}
}

// A model that repeats itself for ever is stopped, and its text is kept.
func TestEndlessAnswer(t *testing.T) {
	t.Parallel()
	piece, err := json.Marshal(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"content": strings.Repeat("again ", 1<<18)}}}})
	if err != nil {
		t.Fatal(err)
	}
	s := fakemodel.New(t, fakemodel.Reply{Events: slices.Repeat([]string{string(piece)}, 30)})
	var final chat.Message
	var cut error
	for c, err := range client(t, s).Stream(context.Background(), ask("x")) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Final != nil {
			final, cut = *c.Final, c.Truncated
		}
	}
	if n := len(final.Content.String()); n < 16<<20 || n > 18<<20 || cut == nil || !strings.Contains(cut.Error(), "does not stop") {
		t.Errorf("%d bytes, cut by %v", n, cut)
	}
}
