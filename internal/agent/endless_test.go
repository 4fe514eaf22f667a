package agent

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/provider"
)

// endless is a model whose answers a wire has cut for their length.
type endless struct{ asked int }

func (e *endless) Stream(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		e.asked++
		m := chat.AssistantText("on and on")
		m.FinishReason = chat.FinishLength
		cut := &provider.Error{Class: provider.ClassInvalid, Message: "the answer is longer than 16 MB and goes on"}
		_ = yield(provider.Chunk{Text: "on and on"}, nil) && yield(provider.Chunk{Final: &m, Truncated: cut}, nil)
	}
}

func TestEndlessAnswerIsNotContinued(t *testing.T) {
	t.Parallel()
	client := &endless{}
	w := newWorld(t)
	w.session.Client = client
	done, _ := w.say("hi")
	if client.asked != 1 {
		t.Errorf("asked %d times", client.asked)
	}
	if done.Status != Partial || done.Text != "on and on" || !strings.Contains(done.Err.Error(), "longer than 16 MB") {
		t.Errorf("got %+v", done)
	}
}
