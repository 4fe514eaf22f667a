package offline

import (
	"bytes"
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/provider"
)

// reply is one answer before it is streamed.
type reply struct {
	text, reasoning string
	calls           []chat.ToolCall
	finish          string          // "": what fits
	usage           *chat.Usage     // nil: estimated
	err             *provider.Error // ends the stream after the text
	delay           time.Duration
}

// pieceBytes is about how long a chunk of text is: short enough that an answer
// of one line comes in several.
const pieceBytes = 16

// play streams the reply.
func (p reply) play(ctx context.Context, r *provider.Request, yield func(provider.Chunk, error) bool) {
	if err := wait(ctx, p.delay); err != nil {
		yield(provider.Chunk{}, err)
		return
	}
	var chunks []provider.Chunk
	for _, s := range pieces(p.reasoning) {
		chunks = append(chunks, provider.Chunk{Reasoning: s})
	}
	for _, s := range pieces(p.text) {
		chunks = append(chunks, provider.Chunk{Text: s})
	}
	if p.err == nil {
		for _, c := range p.calls {
			chunks = append(chunks, provider.Chunk{CallStarted: c.Function.Name})
		}
		chunks = append(chunks, provider.Chunk{Final: p.message(r)})
	}
	for _, c := range chunks {
		if ctx.Err() != nil {
			yield(provider.Chunk{}, ctx.Err())
			return
		}
		if !yield(c, nil) {
			return
		}
	}
	if p.err != nil {
		err := *p.err
		err.Partial = p.text != ""
		yield(provider.Chunk{}, &err)
	}
}

func (p reply) message(r *provider.Request) *chat.Message {
	m := chat.AssistantText(p.text)
	m.Reasoning, m.ToolCalls, m.FinishReason, m.Usage = p.reasoning, p.calls, p.finish, p.usage
	if m.FinishReason == "" {
		m.FinishReason = chat.FinishStop
		if len(p.calls) > 0 {
			m.FinishReason = chat.FinishToolCalls
		}
	}
	if m.Usage == nil {
		m.Usage = &chat.Usage{
			Input: estimate(sizeOf(r)), Output: estimate(sizeOfMessage(m)), Reasoning: estimate(len(p.reasoning)), Calls: 1,
		}
	}
	return &m
}

func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pieces cuts a text after spaces, or within a word that is too long.
func pieces(s string) []string {
	var out []string
	for len(s) > pieceBytes {
		cut := strings.IndexAny(s[pieceBytes/2:], " \n") + 1
		if cut > 0 && cut <= 2*pieceBytes {
			cut += pieceBytes / 2
		} else {
			cut = pieceBytes
			for cut < len(s) && !utf8.RuneStart(s[cut]) {
				cut++
			}
		}
		out = append(out, s[:cut])
		s = s[cut:]
	}
	if s != "" {
		out = append(out, s)
	}
	return out
}

type jsonText struct{ bytes.Buffer }

func (t *jsonText) trimmed() string { return strings.TrimSuffix(t.String(), "\n") }
