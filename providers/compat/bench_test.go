package compat

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/fakemodel"
	"github.com/hermes-go/hermes/internal/wire"
	"github.com/hermes-go/hermes/provider"
)

// long is a session of about 50 KB in 60 messages, with 30 tools.
func long() *provider.Request {
	r := ask("start")
	for i := range 20 {
		m := chat.AssistantText("")
		m.ToolCalls = []chat.ToolCall{chat.NewCall(fmt.Sprintf("call_%d", i), "tool_1", `{"path":"/a/b/c.go","limit":200}`)}
		r.Messages = append(r.Messages, m, chat.ToolResult(m.ToolCalls[0].ID, "tool_1", strings.Repeat("some output of a tool\n", 100)), chat.AssistantText("It says so."))
	}
	for i := range 30 {
		r.Tools = append(r.Tools, ask("", fmt.Sprintf("tool_%d", i)).Tools...)
		r.Tools[i].Function.Description = strings.Repeat("what it does. ", 20)
	}
	return r
}

// BenchmarkBuild is the cost of a request before it is sent.
func BenchmarkBuild(b *testing.B) {
	k, _ := provider.Lookup("custom")
	f := &format{e: provider.Endpoint{Kind: k, BaseURL: "http://127.0.0.1:1/v1"}, row: find("custom")}
	r := long()
	tools := make([]wire.Tool, len(r.Tools))
	for i, d := range r.Tools {
		tools[i] = wire.Tool{Name: d.Function.Name, About: d.Function.Description, Parameters: d.Function.Parameters}
	}
	for b.Loop() {
		out, err := f.Build(r, tools, wire.Adapted{})
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(out.Body.Len()))
	}
}

// canned answers every request from memory.
type canned struct{ body string }

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(c.body)), Request: r}, nil
}

func stream(chunks int) string {
	var b strings.Builder
	for range chunks {
		b.WriteString(`data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"some text "},"finish_reason":null}]}` + "\n\n")
	}
	b.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n")
	return b.String()
}

// BenchmarkRound is the whole client without a network: 50 KB asked, 20 pieces
// answered.
func BenchmarkRound(b *testing.B) {
	k, _ := provider.Lookup("custom")
	c, err := provider.Open(context.Background(), provider.Endpoint{Kind: k, Wire: provider.ChatCompletions, BaseURL: "http://127.0.0.1:1/v1", HTTP: &http.Client{Transport: canned{stream(20)}}})
	if err != nil {
		b.Fatal(err)
	}
	r := long()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := provider.Collect(c.Stream(context.Background(), r)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPiece is one piece of a stream.
func BenchmarkPiece(b *testing.B) {
	k, _ := provider.Lookup("custom")
	c, err := provider.Open(context.Background(), provider.Endpoint{Kind: k, Wire: provider.ChatCompletions, BaseURL: "http://127.0.0.1:1/v1", HTTP: &http.Client{Transport: canned{stream(1000)}}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := provider.Collect(c.Stream(context.Background(), ask("x"))); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/piece")
}

// BenchmarkLoopback is a round over TCP to a server that answers at once; what
// is left of it without the client is net/http on both sides.
func BenchmarkLoopback(b *testing.B) {
	s := fakemodel.New(b, fakemodel.Reply{Text: "hello"}).Repeat()
	c := client(b, s)
	r := ask("hi")
	for b.Loop() {
		if _, err := provider.Collect(c.Stream(context.Background(), r)); err != nil {
			b.Fatal(err)
		}
	}
}
