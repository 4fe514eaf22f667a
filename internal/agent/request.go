package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/tool"
)

// ask sends the history to the model and returns its answer, cleaned up.
func (t *turn) ask(ctx context.Context, defs []tool.Definition) (chat.Message, error) {
	if err := t.applySteer(); err != nil {
		return chat.Message{}, err
	}
	req := &provider.Request{
		Model: t.s.Model, System: t.s.System, Messages: t.messages(), Tools: defs, Options: t.s.Options,
	}
	if t.answer.maxTokens > 0 {
		req.Options.MaxTokens = t.answer.maxTokens
	}
	req.Options.SessionID, req.Tokens = t.s.ID, t.size()
	t.calls++
	t.fire(ctx, "pre_api_request", map[string]any{"api_call_count": t.calls, "message_count": len(req.Messages), "tool_count": len(defs)})
	began := t.Now()
	msg, err := t.stream(ctx, req)
	if err != nil {
		return chat.Message{}, err
	}
	msg = msg.Sanitize()
	msg.Role = chat.Assistant
	t.count(msg.Usage)
	took := t.Now().Sub(began)
	t.Log.Info("model call", "session", t.s.ID, "call", t.calls, "model", t.s.Model, "dur", took, "finish", msg.FinishReason)
	t.fire(ctx, "post_api_request", map[string]any{
		"api_duration": took.Seconds(), "finish_reason": msg.FinishReason, "assistant_tool_call_count": len(msg.ToolCalls),
	})
	return msg, nil
}

// count adds up what a call cost; it counts as one even if the service does
// not say.
func (t *turn) count(u *chat.Usage) {
	used := chat.Usage{Calls: 1}
	if u != nil {
		used = *u
		used.Calls = max(used.Calls, 1)
	}
	t.usage, t.compactions = t.usage.Add(used), 0
	t.filled, t.filledAt = used.Prompt()+used.Output, len(t.s.History)+1 // the answer itself is counted
}

// arrived is what has come of an answer.
type arrived struct {
	text, thought strings.Builder
	called        bool // a tool call began: nothing can be made of a part
}

// stream passes on what arrives and returns the final message. An answer that
// breaks off after text is returned as far as it came, marked as cut.
func (t *turn) stream(ctx context.Context, req *provider.Request) (chat.Message, error) {
	got := &arrived{}
	text, thought := veil{mask: t.Mask}, veil{mask: t.Mask}
	rest := func() error { // what the veils held back
		if s := thought.rest(); s != "" {
			t.emit(Reasoning{s})
		}
		if s := text.rest(); s != "" {
			return t.show(s)
		}
		return nil
	}
	for c, err := range t.s.Client.Stream(ctx, req) {
		switch {
		case err != nil:
			if err := rest(); err != nil {
				return chat.Message{}, err
			}
			return got.broken(ctx, err)
		case ctx.Err() != nil && c.Final == nil: // a client that does not look at its context
			return chat.Message{}, context.Cause(ctx)
		case c.Retry != nil:
			got = &arrived{}
			text.held, thought.held = "", ""
			if err := t.void(retryOf(c.Retry)); err != nil {
				return chat.Message{}, err
			}
		}
		if c.Notice != "" {
			t.emit(Notice{c.Notice})
		}
		if c.Reasoning != "" {
			got.thought.WriteString(c.Reasoning)
			if s := thought.pass(c.Reasoning); s != "" {
				t.emit(Reasoning{s})
			}
		}
		got.called = got.called || c.CallStarted != ""
		if c.Text != "" {
			got.text.WriteString(c.Text)
			if s := text.pass(c.Text); s != "" {
				if err := t.show(s); err != nil {
					return chat.Message{}, err
				}
			}
		}
		if c.Final != nil {
			if err := rest(); err != nil {
				return chat.Message{}, err
			}
			return t.whole(c, got.text.String())
		}
	}
	if err := rest(); err != nil {
		return chat.Message{}, err
	}
	return got.broken(ctx, provider.ErrIncomplete)
}

// whole is the final message of a stream that has shown text so far.
func (t *turn) whole(c provider.Chunk, shown string) (chat.Message, error) {
	msg := *c.Final
	if c.Truncated != nil { // the connection's doing, not the output limit's
		msg.FinishReason, msg.ToolCalls = chat.FinishCut, nil
		if c.Truncated.Class == provider.ClassInvalid { // more of it would be no better
			t.answer.hopeless = c.Truncated
		}
	}
	text := msg.Content.String()
	if strings.TrimSpace(text) == "" && len(msg.ToolCalls) == 0 {
		msg.Content = chat.Text(shown)
		return msg, nil
	}
	if rest, ok := strings.CutPrefix(text, shown); ok && rest != "" { // a client that does not stream
		all := veil{mask: t.Mask}
		return msg, t.show(all.pass(rest) + all.rest())
	}
	return msg, nil
}

// broken makes the best of a stream that ended in err.
func (g *arrived) broken(ctx context.Context, err error) (chat.Message, error) {
	var pe *provider.Error
	partial := errors.Is(err, provider.ErrIncomplete) || errors.As(err, &pe) && pe.Partial
	if !partial || g.called || ctx.Err() != nil || strings.TrimSpace(g.text.String()) == "" {
		return chat.Message{}, err
	}
	m := chat.AssistantText(g.text.String())
	m.Reasoning, m.FinishReason = g.thought.String(), chat.FinishCut
	return m, nil
}

// show passes a piece of the answer on once it would survive a crash.
func (t *turn) show(text string) error {
	t.drafted = true
	if err := t.Transcript.Draft(t.s.ID, text); err != nil {
		return fmt.Errorf("store draft: %w", err)
	}
	t.emit(Text{text})
	return nil
}

// void takes back what was shown of the answer since the last piece was
// stored.
func (t *turn) void(r Retry) error {
	if err := t.dropDraft(); err != nil {
		return err
	}
	r.Void, r.Keep = true, len(t.hide(t.answer.text))
	t.emit(r)
	return nil
}

func (t *turn) dropDraft() error {
	if !t.drafted {
		return nil
	}
	if err := t.Transcript.Draft(t.s.ID, ""); err != nil {
		return fmt.Errorf("remove draft: %w", err)
	}
	t.drafted = false
	return nil
}

func retryOf(r *provider.Retry) Retry {
	why := "the request failed"
	if r.Reason != nil {
		why = r.Reason.Error()
	}
	if r.Model != "" {
		why += "; asking " + r.Model
	}
	return Retry{Attempt: r.Attempt, After: r.After, Reason: why}
}

// messages is the history as it may be sent, with the turn's own additions.
func (t *turn) messages() []chat.Message {
	m := Sendable(t.s.History)
	if len(t.context) > 0 {
		for i := len(m) - 1; i >= 0; i-- {
			if m[i].Role == chat.User {
				m[i] = withText(m[i], strings.Join(t.context, "\n\n"))
				break
			}
		}
	}
	if t.answer.remark == "" {
		return m
	}
	remark := chat.UserText(t.answer.remark)
	if last := len(m) - 1; last >= 0 && m[last].Role == chat.User {
		m[last] = joinContent(m[last], remark)
		return m
	}
	return append(m, remark)
}

// applySteer takes up what a person said while tools ran. The result before it
// stays stored as the tool gave it; the remark is stored as what it is,
// something the person said, and only travels as a part of the result.
func (t *turn) applySteer() error {
	last := len(t.s.History) - 1
	if last < 0 || t.s.History[last].Role != chat.Tool {
		return nil
	}
	text := t.s.PendingSteer()
	if text == "" {
		return nil
	}
	note := chat.UserText(SteerPrefix + text)
	note.Extra = map[string]rawJSON{steerField: rawJSON("true")}
	if err := t.append(note); err != nil {
		t.s.Steer(text)
		return err
	}
	return nil
}
