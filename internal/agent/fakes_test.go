package agent

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/provider"
)

// answer is one scripted reply of the model.
type answer struct {
	text      string
	reasoning string
	calls     []chat.ToolCall
	finish    string
	usage     *chat.Usage
	err       error // instead of the final message, after the text
	retry     string
	truncated bool
	mute      bool // no chunk for the text, only the final message
	started   bool // a tool call begins to stream before err
	wait      time.Duration
	hang      bool // until the context ends
	nothing   bool // the stream ends without a word
	panics    bool
	do        func(*provider.Request)
	pieces    int // of the text; 2 when 0
}

func text(s string) answer { return answer{text: s} }

func calls(c ...chat.ToolCall) answer { return answer{calls: c} }

func call(id, name, args string) chat.ToolCall { return chat.NewCall(id, name, args) }

func (a answer) final() *chat.Message {
	m := chat.AssistantText(a.text)
	m.Reasoning, m.ToolCalls, m.FinishReason, m.Usage = a.reasoning, a.calls, a.finish, a.usage
	if m.FinishReason == "" {
		m.FinishReason = chat.FinishStop
		if len(a.calls) > 0 {
			m.FinishReason = chat.FinishToolCalls
		}
	}
	return &m
}

// fakeModel plays a script; its last answer is given for ever.
type fakeModel struct {
	mu       sync.Mutex
	script   []answer
	requests []*provider.Request
}

var _ provider.Client = (*fakeModel)(nil)

func model(script ...answer) *fakeModel { return &fakeModel{script: script} }

func (f *fakeModel) next(r *provider.Request) answer {
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := *r
	seen.Messages = append([]chat.Message(nil), r.Messages...)
	f.requests = append(f.requests, &seen)
	if len(f.script) == 0 {
		return text("done")
	}
	a := f.script[0]
	if len(f.script) > 1 {
		f.script = f.script[1:]
	}
	return a
}

func (f *fakeModel) Stream(ctx context.Context, r *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		a := f.next(r)
		if a.do != nil {
			a.do(r)
		}
		if a.panics {
			panic("the client broke")
		}
		if a.nothing {
			return
		}
		if a.wait > 0 {
			select {
			case <-time.After(a.wait):
			case <-ctx.Done():
				yield(provider.Chunk{}, ctx.Err())
				return
			}
		}
		if a.retry != "" {
			if !yield(provider.Chunk{Text: "void words"}, nil) || !yield(provider.Chunk{Retry: &provider.Retry{Attempt: 1, Reason: errors.New(a.retry)}}, nil) {
				return
			}
		}
		if a.reasoning != "" && !yield(provider.Chunk{Reasoning: a.reasoning}, nil) {
			return
		}
		if !a.mute {
			for _, piece := range split(a.text, a.pieces) {
				if ctx.Err() != nil {
					yield(provider.Chunk{}, ctx.Err())
					return
				}
				if !yield(provider.Chunk{Text: piece}, nil) {
					return
				}
			}
		}
		if a.hang {
			<-ctx.Done()
			yield(provider.Chunk{}, ctx.Err())
			return
		}
		if (a.started || len(a.calls) > 0) && !yield(provider.Chunk{CallStarted: "x"}, nil) {
			return
		}
		if a.err != nil {
			yield(provider.Chunk{}, a.err)
			return
		}
		c := provider.Chunk{Final: a.final()}
		if a.truncated {
			c.Truncated = &provider.Error{Class: provider.ClassTimeout, Partial: true}
			c.Final.FinishReason = chat.FinishLength
		}
		yield(c, nil)
	}
}

func split(s string, n int) []string {
	if s == "" {
		return nil
	}
	if n == 0 {
		n = 2
	}
	size := max(1, len(s)/n)
	var out []string
	for len(s) > size {
		out, s = append(out, s[:size]), s[size:]
	}
	return append(out, s)
}

var errDisk = errors.New("no space left on device")

// memory is a transcript that can be full.
type memory struct {
	mu       sync.Mutex
	messages []chat.Message
	draft    string
	appends  int
	failFrom int // the append, counted from 1, from which on all fail; 0: none
	failTo   int // the last that fails; 0: all later ones
	noDraft  bool
	onAppend func(m []chat.Message)
}

var _ Transcript = (*memory)(nil)

func (t *memory) Append(_ context.Context, _ string, m ...chat.Message) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.appends++
	if t.failFrom > 0 && t.appends >= t.failFrom && (t.failTo == 0 || t.appends <= t.failTo) {
		return errDisk
	}
	if t.onAppend != nil {
		t.onAppend(m)
	}
	for _, x := range m {
		t.messages = append(t.messages, x.Clone())
	}
	t.draft = ""
	return nil
}

func (t *memory) Draft(_, piece string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.noDraft {
		return errDisk
	}
	if piece == "" {
		t.draft = ""
	}
	t.draft += piece
	return nil
}
