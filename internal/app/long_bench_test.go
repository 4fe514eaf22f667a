package app

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/fakemodel"
	"github.com/hermes-go/hermes/internal/store"
)

// BenchmarkLongSession goes on with a conversation of 10,000 messages: resuming
// it, and a turn of its own beside the model's time. Its aims: 50 ms, 10 ms, 100 MB.
func BenchmarkLongSession(b *testing.B) {
	model := fakemodel.New(b, fakemodel.Text("ok")).Repeat()
	a := benchApp(b, benchHome(b, fmt.Sprintf("model: {provider: custom, default: fake, base_url: %q, context_length: 10000000}\n", model.V1())))
	db, err := a.DB()
	if err != nil {
		b.Fatal(err)
	}
	if err := db.Create(b.Context(), store.Session{ID: "long", SystemPrompt: "x"}); err != nil {
		b.Fatal(err)
	}
	var m []chat.Message
	for i := range 2500 {
		call := chat.NewCall(fmt.Sprintf("c%d", i), "terminal", fmt.Sprintf(`{"command":"echo %d"}`, i))
		ask := chat.AssistantText("")
		ask.ToolCalls = []chat.ToolCall{call}
		m = append(m, chat.UserText(fmt.Sprintf("question %d about the shed and its roof", i)), ask,
			chat.ToolResult(call.ID, "terminal", fmt.Sprintf(`{"output":"line %d of a longer output of some command","exit_code":0}`, i)), chat.AssistantText("An answer of ordinary length, as they are."))
	}
	if err := db.Append(b.Context(), "long", m...); err != nil {
		b.Fatal(err)
	}
	b.Run("resume", func(b *testing.B) {
		for b.Loop() {
			c, err := a.Converse(b.Context(), Ask{Resume: "long"})
			if err != nil || len(c.History) < len(m) {
				b.Fatal(err)
			}
		}
	})
	b.Run("turn", func(b *testing.B) {
		c, err := a.Converse(b.Context(), Ask{Resume: "long"})
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			for _, err := range c.Turn(b.Context(), "hi") {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		b.ReportMetric(float64(s.HeapAlloc)/(1<<20), "MB-heap")
	})
}
