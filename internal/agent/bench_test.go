package agent

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/tool"
)

// nowhere is a transcript that keeps nothing.
type nowhere struct{}

func (nowhere) Append(context.Context, string, ...chat.Message) error { return nil }
func (nowhere) Draft(string, string) error                            { return nil }

// clientFunc answers by the messages it is sent.
type clientFunc func(ctx context.Context, r *provider.Request, yield func(provider.Chunk, error) bool)

func (f clientFunc) Stream(ctx context.Context, r *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) { f(ctx, r, yield) }
}

// twoCalls calls two tools at first, then answers in 20 chunks.
func twoCalls(wait time.Duration) clientFunc {
	args := `{"path":"/x"}`
	first := &chat.Message{Role: chat.Assistant, ToolCalls: []chat.ToolCall{call("a", "get", args), call("b", "read_file", args)}, FinishReason: chat.FinishToolCalls}
	const piece = "twenty pieces of it "
	last := chat.AssistantText(strings.Repeat(piece, 20))
	return func(ctx context.Context, r *provider.Request, yield func(provider.Chunk, error) bool) {
		if wait > 0 {
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return
			}
		}
		final := first
		if r.Messages[len(r.Messages)-1].Role == chat.Tool {
			final = &last
			for range 20 {
				if !yield(provider.Chunk{Text: piece}, nil) {
					return
				}
			}
		}
		yield(provider.Chunk{Final: final}, nil)
	}
}

func longHistory(n int) []chat.Message {
	var m []chat.Message
	for i := 0; len(m) < n; i++ {
		id := fmt.Sprint("call_", i)
		m = append(m,
			chat.UserText(strings.Repeat("please look ", 20)),
			chat.Message{Role: chat.Assistant, ToolCalls: []chat.ToolCall{call(id, "get", `{"path":"/some/where"}`)}},
			chat.ToolResult(id, "get", `{"text":"`+strings.Repeat("all the lines ", 50)+`"}`),
			chat.AssistantText(strings.Repeat("found it ", 20)))
	}
	return m[:n]
}

// The loop's own share of a turn of two calls and two tools.
func BenchmarkTurn(b *testing.B) {
	for _, n := range []int{0, 100, 1000, 10000} {
		b.Run(fmt.Sprint("history ", n), func(b *testing.B) {
			tools := newBench()
			a := New(Deps{Tools: tools.registry, Transcript: nowhere{}})
			history := longHistory(n)
			s := &Session{Session: &tool.Session{ID: "s", Services: tool.NewServices(nil), Enabled: tools.registry.Names()}, Client: twoCalls(0)}
			b.ReportAllocs()
			for b.Loop() {
				s.History = history[:n:n]
				for _, err := range a.Turn(b.Context(), s, chat.UserText("go")) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
