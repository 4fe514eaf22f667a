package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/tool"
)

func TestBudgetOfTheTree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tree := NewBudget(3)
	child := newWorld(t, calls(call("", "get", "{}")))
	w.session.Tree, child.session.Tree = tree, tree
	for range 3 { // more turns than the tree has calls: each has its own
		done, _ := w.say("go")
		want(t, "status", done.Status, OK)
	}
	done, _ := child.say("go")
	want(t, "status", done.Status, OutOfBudget)
	wantErr(t, done.Err, "children together")
	want(t, "requests", len(child.model.requests), 4) // two that were left, and the summary, asked for twice
}

func TestBusy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, text("ok"))
	w.turn(t.Context(), "go", func(Event) bool {
		for _, err := range w.agent.Turn(t.Context(), w.session, chat.UserText("me too")) {
			want(t, "busy", errors.Is(err, ErrBusy), true)
		}
		return true
	})
}

// Section 7: results of one batch that are too long together.
func TestResultBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, calls(call("", "big", `{"n":90000}`), call("", "big", `{"n":90001}`), call("", "big", `{"n":90002}`), call("", "big", `{"n":300}`)), text("ok"))
	w.say("go")
	total := 0
	r := toolTexts(w.session.History)
	for i, x := range r {
		total += len(x)
		want(t, fmt.Sprint("spilled ", i), strings.Contains(x, "Truncated"), i == 2)
	}
	if total > 200_000 {
		t.Errorf("%d characters", total)
	}
	want(t, "small", len(r[3]), 300)
}

func TestLastResult(t *testing.T) {
	t.Parallel()
	w := newWorld(t, calls(call("a", "todo", `{"text":"plan"}`)), calls(call("b", "look_back", `{"text":"todo"}`), call("c", "get", `{"n":1}`), call("d", "get", `{"n":2}`)), text("ok"))
	w.session.History = []chat.Message{chat.UserText("x")}
	w.store.messages = slices.Clone(w.session.History)
	w.say("go")
	r := toolTexts(w.session.History)
	want(t, "found", strings.Contains(r[1], `"found":true`) && strings.Contains(r[1], "plan"), true)

	failed := &turn{s: &Session{History: []chat.Message{chat.ToolResult("", "todo", `{"todos":[]}`), chat.ToolResult("", "todo", `{"error":"skipped"}`)}}}
	last, _ := failed.LastResult("todo")
	want(t, "no error", last, `{"todos":[]}`)
}

func TestBuffer(t *testing.T) {
	t.Parallel()
	b := newBuffer()
	for i := range 100_000 {
		b.push(Text{"0123456789"})
		if i%1000 == 0 {
			b.push(ToolProgress{ID: "a", Update: tool.Update{Text: fmt.Sprint(i)}})
		}
	}
	b.push(ToolStart{ID: "a"})
	b.push(ToolProgress{ID: "a", Update: tool.Update{Text: "new"}})
	b.push(Reasoning{"x"})
	b.push(Reasoning{"y"})
	b.close(Done{})
	b.push(Text{"too late"})
	var kinds []string
	for {
		e, ok := b.next()
		if !ok {
			break
		}
		kinds = append(kinds, fmt.Sprintf("%T", e)[len("agent."):])
		if x, ok := e.(Reasoning); ok {
			want(t, "reasoning", x.Text, "xy")
		}
	}
	want(t, "events", strings.Join(kinds, " "), "Text ToolProgress Text ToolStart ToolProgress Reasoning Done")
}

// A tool that reports after its turn is over is not heard.
func TestLateProgress(t *testing.T) {
	t.Parallel()
	w := newWorld(t, calls(call("a", "late", "{}")), text("ok"))
	var late *tool.Call
	w.tools.add("late", tool.ReadsNothing, func(_ context.Context, c *tool.Call, _ benchArgs) (any, error) {
		late = c
		return nil, nil
	})
	w.session.Enabled = append(w.session.Enabled, "late")
	w.store.onAppend = func(m []chat.Message) {}
	w.turn(t.Context(), "go", func(e Event) bool {
		if _, ok := e.(Done); ok {
			late.Progress(tool.Update{Text: "hello?"})
		}
		return true
	})
}

// Images stay what they are on every path that joins messages.
func TestImages(t *testing.T) {
	t.Parallel()
	image := chat.Message{Role: chat.User, Content: chat.Content{Parts: []chat.Part{{Type: "image_url", ImageURL: "data:image/png;base64,AA=="}}}}
	w := newWorld(t, text("ok"))
	w.agent.Hooks = hookFunc(func(HookEvent) HookResult { return HookResult{Context: []string{"ctx"}} })
	w.session.History = []chat.Message{chat.UserText("look"), image, chat.UserText("")}
	w.store.messages = slices.Clone(w.session.History)
	w.say("at this")
	b, err := json.Marshal(w.model.requests[0].Messages)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "sent", string(b), `[{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}},{"type":"text","text":"at this"},{"type":"text","text":"ctx"}]}]`)
	want(t, "kept", len(w.session.History[1].Content.Parts), 1)
}

// What was shown or sent is in the transcript, or in its draft, at every event.
func TestKilled(t *testing.T) {
	t.Parallel()
	script := []answer{
		{text: "let me see", calls: []chat.ToolCall{call("a", "get", `{}`), call("b", "terminal", `{}`)}},
		{text: "part ", finish: chat.FinishLength, pieces: 5},
		{text: "and the rest", retry: "reset", pieces: 4},
	}
	w := newWorld(t, script...)
	for i := range w.model.script {
		w.model.script[i].do = func(r *provider.Request) { // sent: all of it is stored
			stored := dump(Sendable(w.store.messages))
			sent := r.Messages
			if last := len(sent) - 1; strings.HasPrefix(sent[last].Content.Text, "[System:") {
				sent = sent[:last]
			}
			want(t, "stored before sent", stored, dump(sent))
		}
	}
	var answer string
	w.turn(t.Context(), "go", func(e Event) bool {
		w.store.mu.Lock()
		defer w.store.mu.Unlock()
		kept := w.store.draft
		for _, m := range w.store.messages {
			kept += "\n" + m.Content.String()
		}
		switch e := e.(type) {
		case Text:
			answer += e.Text
		case Retry:
			answer = answer[:e.Keep]
		case ToolStart, ToolEnd:
			answer = ""
		}
		// Later pieces may have followed; what was shown must be there.
		if flat := strings.ReplaceAll(kept, "\n", ""); !strings.Contains(flat, "void") && answer != "" && !containsPieces(flat, answer) {
			t.Errorf("%T: %q is not kept in %q", e, answer, kept)
		}
		return true
	})
}

func containsPieces(kept, shown string) bool {
	for i := range len(shown) + 1 {
		if strings.Contains(kept, shown[:i]) && strings.Contains(kept, shown[i:]) {
			return true
		}
	}
	return strings.Contains(shown, "void words") // being taken back by now
}

func TestAux(t *testing.T) {
	t.Parallel()
	m := model(answer{text: "a title", usage: &chat.Usage{Input: 3, Calls: 1}})
	x := &Aux{Open: func(s Slot) (provider.Client, string, error) {
		if s != SlotTitle {
			return nil, "", errors.New("none")
		}
		return m, "small", nil
	}}
	got, err := x.Ask(t.Context(), SlotTitle, "sys", "user", 0)
	want(t, "answer", got, "a title")
	want(t, "error", err, nil)
	want(t, "max", m.requests[0].Options.MaxTokens, defaultAuxMaxTokens)
	want(t, "purpose", m.requests[0].Purpose, string(SlotTitle))
	_, err = x.Ask(t.Context(), SlotVision, "", "", 0)
	wantErr(t, err, "side call vision")
}
