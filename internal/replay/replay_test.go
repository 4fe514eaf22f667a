package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/effect"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/tool"
)

// script is a model that answers by a list of functions.
type script []func(ctx context.Context, yield func(provider.Chunk, error) bool)

func (s *script) Stream(ctx context.Context, _ *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		f := (*s)[0]
		*s = (*s)[1:]
		f(ctx, yield)
	}
}

func says(text string, calls ...chat.ToolCall) func(context.Context, func(provider.Chunk, error) bool) {
	return func(_ context.Context, yield func(provider.Chunk, error) bool) {
		for _, piece := range strings.SplitAfter(text, " ") {
			if piece != "" && !yield(provider.Chunk{Text: piece}, nil) {
				return
			}
		}
		m := chat.AssistantText(text)
		m.ToolCalls, m.FinishReason, m.Usage = calls, chat.FinishStop, &chat.Usage{Input: 1800, Output: 10, Calls: 1}
		yield(provider.Chunk{Final: &m}, nil)
	}
}

// shorter is a compactor and a journal for a test.
type shorter struct{ fail bool }

func (k *shorter) Compact(_ context.Context, _ *agent.Session, m []chat.Message, _ agent.Reason) ([]chat.Message, error) {
	if k.fail {
		return nil, errors.New("no summary today")
	}
	return []chat.Message{chat.UserText("summed up"), chat.AssistantText("yes"), m[len(m)-1]}, nil
}

func (*shorter) Plan(_ context.Context, _ string, begin []effect.Effect, _ ...chat.Message) ([]effect.Effect, error) {
	out := make([]effect.Effect, len(begin))
	for i := range out {
		if begin[i].Tool == "push" {
			out[i] = effect.Effect{Call: "old", State: effect.Unknown, Began: time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("x", 3600))}
		}
	}
	return out, nil
}
func (*shorter) Mark(context.Context, string, []effect.Mark, ...chat.Message) error { return nil }
func (*shorter) States(context.Context, string, []string) (map[string]effect.State, error) {
	return nil, nil
}

// TestEverythingThatIsRecordedPlays records a conversation in which all happens
// that the record has a line for, and runs it again.
func TestEverythingThatIsRecordedPlays(t *testing.T) {
	t.Parallel()
	tools := tool.New()
	add := func(name string, run tool.Handler) {
		if err := tools.Add(tool.Tool{Name: name, Toolset: "x", About: name, Run: run, Effects: tool.ReadsNothing}); err != nil {
			t.Fatal(err)
		}
	}
	s := &agent.Session{Session: &tool.Session{ID: "s", Services: tool.NewServices(nil), Enabled: []string{"get", "push", "wait", "fail"}}, Model: "m", System: "sys", Window: 2000}
	add("get", func(_ context.Context, c *tool.Call) (any, error) {
		if c.ID == "7" {
			s.Steer("use the other branch")
		}
		return map[string]int{"n": 1}, nil
	})
	add("fail", func(context.Context, *tool.Call) (any, error) { return nil, errors.New("422") })
	if err := tools.Add(tool.Tool{Name: "push", Toolset: "x", About: "push", Run: func(context.Context, *tool.Call) (any, error) {
		return "pushed", nil
	}}); err != nil {
		t.Fatal(err)
	}
	var ctx context.Context
	var cancel context.CancelCauseFunc
	add("wait", func(ctx context.Context, _ *tool.Call) (any, error) {
		cancel(agent.ErrInterrupted)
		<-ctx.Done()
		return nil, context.Cause(ctx)
	})
	k := &shorter{}
	model := &script{
		// Turn 1: parallel calls, failures, a refused effect, what was said meanwhile.
		says("I look. ", chat.NewCall("1", "get", "{}"), chat.NewCall("2", "fail", "{}"), chat.NewCall("3", "nosuch", "{}")),
		says("", chat.NewCall("4", "get", "{}"), chat.NewCall("5", "fail", "{}")),
		says("", chat.NewCall("6", "push", "{}")), // not begun: it may have run before
		func(_ context.Context, yield func(provider.Chunk, error) bool) {
			yield(provider.Chunk{Reasoning: "hm "}, nil)
			yield(provider.Chunk{Text: "void "}, nil)
			yield(provider.Chunk{Retry: &provider.Retry{Attempt: 1, After: "2s", Reason: errors.New("overloaded")}}, nil)
			says("", chat.NewCall("7", "get", `{"a":1}`))(context.Background(), yield)
		},
		says("Turn one is done."),
		// Turn 2: stopped in an answer.
		func(ctx context.Context, yield func(provider.Chunk, error) bool) {
			yield(provider.Chunk{Text: "It is "}, nil)
			cancel(agent.ErrInterrupted)
			yield(provider.Chunk{}, ctx.Err())
		},
		// Turn 3: stopped in a tool.
		says("Waiting. ", chat.NewCall("8", "wait", "{}"), chat.NewCall("9", "get", "{}")),
		// Turn 4: the service fails.
		func(_ context.Context, yield func(provider.Chunk, error) bool) {
			yield(provider.Chunk{}, &provider.Error{Class: provider.ClassAuth, Status: 401, Message: "no key", Attempts: 1, ToolIndex: -1})
		},
		// Turn 5: a limit of spending.
		func(_ context.Context, yield func(provider.Chunk, error) bool) {
			yield(provider.Chunk{}, fmt.Errorf("%w: too dear", provider.ErrBudget))
		},
	}
	s.Client = model
	var file bytes.Buffer
	r := NewRecorder(&file, nil, Head{Program: "test", Session: "s", CompactAt: 0.5, Compacts: true})
	for i, in := range []string{"one", "two", "three", "four", "five"} {
		ctx, cancel = context.WithCancelCause(t.Context())
		k.fail = i == 1
		for _, err := range r.Turn(ctx, agent.Deps{Tools: tools, Transcript: nowhere{}, Journal: k, Compactor: k, CompactAt: 0.5}, s, in) {
			if err != nil {
				t.Error(err)
			}
		}
		cancel(nil)
	}
	if err := r.Err(); err != nil || len(*model) != 0 {
		t.Fatalf("%v, %d answers left", err, len(*model))
	}
	if s.Client != model {
		t.Error("the session's client is not its own again")
	}
	for range 20 { // whatever the scheduler does
		c, err := Read(bytes.NewReader(file.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		var statuses []string
		if _, err := c.Run(t.Context(), 0, func(_ int, e json.RawMessage) {
			var d struct{ Type, Status string }
			if json.Unmarshal(e, &d) == nil && d.Type == "done" {
				statuses = append(statuses, d.Status)
			}
		}); err != nil {
			t.Fatalf("%v\n%s", err, file.String())
		}
		if got := strings.Join(statuses, " "); got != "ok interrupted interrupted failed budget" {
			t.Fatalf("turns ended %s", got)
		}
	}
	for _, want := range []string{`"compaction"`, `"steer"`, "NOT RUN", `"interrupted"`, "void"} {
		if !strings.Contains(file.String(), want) {
			t.Errorf("the record has no %s", want)
		}
	}
}

// A record that ends in the middle, as after a kill, plays as far as it goes;
// one with an event too many or too few differs.
func TestDamagedRecords(t *testing.T) {
	t.Parallel()
	tools := tool.New()
	if err := tools.Add(tool.Tool{Name: "get", Toolset: "x", About: "get", Run: func(context.Context, *tool.Call) (any, error) { return 1, nil }}); err != nil {
		t.Fatal(err)
	}
	s := &agent.Session{Session: &tool.Session{ID: "s", Services: tool.NewServices(nil), Enabled: []string{"get"}}, Client: &script{says("a ", chat.NewCall("1", "get", "{}")), says("end")}}
	var file bytes.Buffer
	r := NewRecorder(&file, func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("secret"), []byte("***")) }, Head{})
	for range r.Turn(t.Context(), agent.Deps{Tools: tools, Transcript: nowhere{}}, s, "the secret") {
	}
	if strings.Contains(file.String(), "secret") {
		t.Error("the secret is in the record")
	}
	lines := strings.SplitAfter(strings.TrimSpace(file.String()), "\n")
	run := func(lines []string) error {
		c, err := Read(strings.NewReader(strings.Join(lines, "")))
		if err == nil {
			_, err = c.Run(t.Context(), 0, func(int, json.RawMessage) {})
		}
		return err
	}
	for n := 2; n <= len(lines); n++ {
		if err := run(lines[:n]); err != nil {
			t.Errorf("the first %d lines: %v", n, err)
		}
	}
	last := len(lines) - 1
	without := append(append([]string{}, lines[:last-1]...), lines[last])
	var diff *Difference
	if err := run(without); !errors.As(err, &diff) || diff.Recorded != "" {
		t.Errorf("an event too few: %v", err)
	}
	more := append(append([]string{}, lines[:last]...), `{"event":{"type":"x"}}`+"\n", lines[last])
	if err := run(more); !errors.As(err, &diff) || diff.Replayed != "" {
		t.Errorf("an event too many: %v", err)
	}
	for _, bad := range []string{"", "{}", "nonsense", `{"cassette":{"version":99}}`, `{"cassette":{"version":1}}` + "\n" + `{"event":{}}`} {
		if err := run([]string{bad}); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"cassette":{"version":1}}` + "\n" + `{"turn":{"text":"x","tools":[{"name":"get"}]}}` + "\n" + `{"answer":{"chunks":[{"text":"a"},{"final":{"role":"assistant","content":"a"}}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, _ = c.Run(ctx, 50, func(int, json.RawMessage) {})
	})
}
