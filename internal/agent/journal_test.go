package agent

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/effect"
	"github.com/hermes-go/hermes/tool"
)

// journal is a record of effects beside a transcript; it works after the death
// of the program: what the next agent is given.
type journal struct {
	*memory
	lock     sync.Mutex
	list     []effect.Effect
	failMark bool
}

func (j *journal) Plan(ctx context.Context, id string, begin []effect.Effect, m ...chat.Message) ([]effect.Effect, error) {
	if err := j.Append(ctx, id, m...); err != nil {
		return nil, err
	}
	j.lock.Lock()
	defer j.lock.Unlock()
	earlier := make([]effect.Effect, len(begin))
	for i, e := range begin {
		for _, old := range j.list {
			if old.Signature == e.Signature {
				earlier[i] = old
			}
		}
	}
	j.list = append(j.list, begin...)
	return earlier, nil
}

func (j *journal) Mark(ctx context.Context, id string, marks []effect.Mark, m ...chat.Message) error {
	if j.failMark && len(m) == 0 {
		return errDisk
	}
	j.mark(marks)
	if len(m) == 0 {
		return nil
	}
	return j.Append(ctx, id, m...)
}

func (j *journal) mark(marks []effect.Mark) {
	j.lock.Lock()
	defer j.lock.Unlock()
	for _, k := range marks {
		for i := len(j.list) - 1; i >= 0; i-- {
			if j.list[i].Call == k.Call {
				j.list[i].State = k.State
				break
			}
		}
	}
}

func (j *journal) States(_ context.Context, _ string, calls []string) (map[string]effect.State, error) {
	j.lock.Lock()
	defer j.lock.Unlock()
	out := map[string]effect.State{}
	for _, c := range calls {
		for _, e := range j.list {
			if e.Call == c {
				out[c] = e.State
			}
		}
	}
	return out, nil
}

func (j *journal) String() string {
	j.lock.Lock()
	defer j.lock.Unlock()
	var out []string
	for _, e := range j.list {
		out = append(out, e.Call+" "+string(e.State))
	}
	return strings.Join(out, ", ")
}

func journalWorld(t *testing.T, script ...answer) (*world, *journal) {
	w := newWorld(t, script...)
	j := &journal{memory: w.store}
	w.agent.Transcript, w.agent.Journal = j, j
	return w, j
}

// Every call with a side effect is on record before it runs, and its end after
// it; one that waits for another is not called running before it begins.
func TestEffectsAreRecorded(t *testing.T) {
	t.Parallel()
	w, j := journalWorld(t,
		calls(call("a", "terminal", `{"text":"1"}`), call("b", "get", `{}`), call("c", "terminal", `{"text":"2"}`), call("d", "hold", `{}`)), text("done"))
	w.tools.add("hold", nil, func(context.Context, *tool.Call, benchArgs) (any, error) {
		if got := j.String(); got != "a done, c done, d running" {
			t.Errorf("while the last one runs: %s", got)
		}
		return nil, errors.New("it broke")
	})
	w.session.Enabled = append(w.session.Enabled, "hold")
	j.onAppend = func(m []chat.Message) {
		if m[0].Role == chat.Assistant && len(m[0].ToolCalls) > 0 && j.String() != "" {
			t.Error("the effects were stored before their message")
		}
	}
	if done, _ := w.say("go"); done.Status != OK {
		t.Errorf("%+v", done)
	}
	want(t, "journal", j.String(), "a done, c done, d failed")
}

// What the model reads after a crash says how far each call came.
func TestCrashTellsHowFarCallsCame(t *testing.T) {
	t.Parallel()
	w, j := journalWorld(t, text("I see."))
	asked := chat.Message{Role: chat.Assistant, ToolCalls: []chat.ToolCall{
		call("a", "terminal", `{"text":"1"}`), call("b", "terminal", `{"text":"2"}`), call("c", "get", `{}`), call("d", "memory", `{"text":"x"}`), call("e", "terminal", `{"text":"3"}`),
	}}
	w.session.History = []chat.Message{chat.UserText("go"), asked}
	w.store.messages = append([]chat.Message(nil), w.session.History...)
	j.list = []effect.Effect{{Call: "a", State: effect.Running}, {Call: "b", State: effect.Waiting}, {Call: "d", State: effect.Done}}
	w.say("and now?")
	texts := toolTexts(w.session.History)
	for i, wanted := range []string{
		"unknown: was running when the program died", "not run: the program stopped before this call began",
		"the call changes nothing and may be made again", "done: the call ran to its end", "unknown: was running when the program died",
	} {
		if !strings.Contains(texts[i], wanted) {
			t.Errorf("call %d: %s does not say %q", i, texts[i], wanted)
		}
	}
	want(t, "journal", j.String(), "a unknown, b not run, d done")
}

// An effect of unknown outcome is not begun again the first time; asked for
// twice it runs.
func TestUnknownEffectIsNotRepeatedWithoutAWord(t *testing.T) {
	t.Parallel()
	again := `{"text":"push"}`
	w, j := journalWorld(t, calls(call("b", "terminal", again)), calls(call("c", "terminal", again)), text("done"))
	j.list = []effect.Effect{{Call: "a", Signature: signature(call("a", "terminal", again)), State: effect.Unknown}}
	_, events := w.say("go on")
	ends := of[ToolEnd](events)
	if ends[0].Err == nil || !strings.Contains(string(ends[0].Result), "NOT RUN: this same call (a, begun") {
		t.Errorf("first: %s", ends[0].Result)
	}
	if ends[1].Err != nil {
		t.Errorf("second: %s", ends[1].Result)
	}
	want(t, "journal", j.String(), "a unknown, b not run, c done")
}

// F-114: a call that was done before the conversation was shortened is said to
// be a repetition; one that the model can still see is not.
func TestRepeatedEffectSaysSo(t *testing.T) {
	t.Parallel()
	again := `{"text":"push"}`
	w, j := journalWorld(t, calls(call("b", "terminal", again)), calls(call("c", "terminal", again)), text("done"))
	j.list = []effect.Effect{{Call: "a", Signature: signature(call("a", "terminal", again)), State: effect.Done}}
	_, events := w.say("go on")
	ends := of[ToolEnd](events)
	if !strings.Contains(string(ends[0].Result), `"_repeated":"the same call ran before as a at `) {
		t.Errorf("out of sight: %s", ends[0].Result)
	}
	if strings.Contains(string(ends[1].Result), "_repeated") {
		t.Errorf("in sight: %s", ends[1].Result)
	}
}

// A call whose beginning cannot be recorded does not begin.
func TestNoRecordNoEffect(t *testing.T) {
	t.Parallel()
	w, j := journalWorld(t, calls(call("a", "terminal", `{"text":"1"}`), call("b", "terminal", `{"text":"2"}`)), text("done"))
	j.failMark = true
	_, events := w.say("go")
	ends := of[ToolEnd](events)
	if ends[0].Err != nil || ends[1].Err == nil || !strings.Contains(string(ends[1].Result), "could not be recorded") {
		t.Errorf("%s; %s", ends[0].Result, ends[1].Result)
	}
	want(t, "journal", j.String(), "a done, b not run")
}
