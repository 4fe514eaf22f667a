package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/provider"
)

type compactor func([]chat.Message, Reason) ([]chat.Message, error)

func (f compactor) Compact(_ context.Context, _ *Session, m []chat.Message, why Reason) ([]chat.Message, error) {
	return f(m, why)
}

func TestCompaction(t *testing.T) {
	t.Parallel()
	long := func() []chat.Message {
		var m []chat.Message
		for range 20 {
			m = append(m, chat.UserText(strings.Repeat("q", 1000)), chat.AssistantText("a"))
		}
		return m
	}
	tail := func(m []chat.Message, _ Reason) ([]chat.Message, error) { return slices.Clone(m[len(m)-1:]), nil }
	tooLong := answer{err: &provider.Error{Class: provider.ClassContextOverflow, Message: "too long"}}
	cases := map[string]struct {
		compactor compactor
		script    []answer
		window    int
		status    Status
		requests  int
		compacted int
		errPart   string
	}{
		"30 overflow": {compactor: tail, script: []answer{tooLong, text("ok")}, status: OK, requests: 2, compacted: 1},
		"30 overflow that stays": {
			compactor: func(m []chat.Message, _ Reason) ([]chat.Message, error) {
				return append([]chat.Message{chat.UserText(m[0].Content.Text[8:])}, m[1:]...), nil
			},
			script: []answer{tooLong}, status: Partial, requests: 4, compacted: 3, errPart: "nothing is lost",
		},
		"32 not shorter": {
			compactor: func(m []chat.Message, _ Reason) ([]chat.Message, error) { return m, nil },
			script:    []answer{tooLong}, status: Partial, requests: 1, errPart: "cannot become shorter",
		},
		"not sound": {
			compactor: func([]chat.Message, Reason) ([]chat.Message, error) {
				return []chat.Message{chat.ToolResult("x", "get", "")}, nil
			},
			script: []answer{tooLong}, status: Partial, requests: 1, errPart: "not sound",
		},
		"failing": {
			compactor: func([]chat.Message, Reason) ([]chat.Message, error) { return nil, errors.New("no summary") },
			script:    []answer{tooLong}, status: Partial, requests: 1, errPart: "no summary",
		},
		"panicking":        {compactor: func([]chat.Message, Reason) ([]chat.Message, error) { panic("x") }, script: []answer{tooLong}, status: Failed, requests: 1},
		"window fills up":  {compactor: tail, script: []answer{text("ok")}, window: 5000, status: OK, requests: 1, compacted: 1},
		"window not full":  {compactor: tail, script: []answer{text("ok")}, window: 50000, status: OK, requests: 1},
		"filled by tokens": {compactor: tail, script: []answer{{calls: []chat.ToolCall{call("", "get", "{}")}, usage: &chat.Usage{Input: 190000}}, text("ok")}, window: 200000, status: OK, requests: 2, compacted: 1},
		"cannot, and fits": {
			compactor: func([]chat.Message, Reason) ([]chat.Message, error) { return nil, errors.New("no summary") },
			script:    []answer{text("ok")}, window: 5000, status: OK, requests: 1,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.script...)
			w.session.History, w.session.Window = long(), c.window
			w.session.MaxCalls = 2
			w.agent.Compactor = compactor(func(m []chat.Message, why Reason) ([]chat.Message, error) {
				want(t, "reason", why, map[bool]Reason{true: Threshold, false: Overflow}[c.window > 0])
				out, err := c.compactor(m, why)
				if err == nil && checkPairs(out) != nil && name != "not sound" { // the tail may begin in the middle of a round
					out = append([]chat.Message{m[len(m)-2]}, out...)
				}
				return out, err
			})
			var events []Event
			for e, err := range w.agent.Turn(t.Context(), w.session, chat.UserText("go")) {
				if err != nil {
					t.Fatal(err)
				}
				events = append(events, e)
			}
			done := events[len(events)-1].(Done)
			want(t, "status", done.Status, c.status)
			want(t, "requests", len(w.model.requests), c.requests)
			want(t, "compacted", len(of[Compacted](events)), c.compacted)
			if c.errPart != "" {
				wantErr(t, done.Err, c.errPart)
			}
		})
	}
	want(t, "threshold of a small window", ThresholdOf(32768, 0), 32768*85/100)
	want(t, "threshold", ThresholdOf(128000, 0), 64000)
	want(t, "threshold of a large window", ThresholdOf(1000000, 0), 500000)
}
