package store

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/effect"
)

func begin(call, what string, s effect.State) effect.Effect {
	return effect.Effect{Call: call, Tool: "terminal", Signature: what, Args: `{"command":"` + what + `"}`, State: s}
}

// Effects are found again by what they did in all parts of a conversation, and
// in no other one; undo and compaction leave them.
func TestEffects(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	d := open(t)
	for _, id := range []string{"a", "other"} {
		if err := d.Create(ctx, Session{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	plan := func(id string, e ...effect.Effect) []effect.Effect {
		t.Helper()
		earlier, err := d.AppendBeside(ctx, id, Beside{Begin: e}, chat.UserText("do"), chat.AssistantText("calls"))
		if err != nil || len(earlier) != len(e) {
			t.Fatalf("%v, %v", earlier, err)
		}
		return earlier
	}
	mark := func(id, call string, s effect.State) {
		t.Helper()
		if _, err := d.AppendBeside(ctx, id, Beside{Mark: []effect.Mark{{Call: call, State: s}}}, chat.ToolResult(call, "terminal", "{}")); err != nil {
			t.Fatal(err)
		}
	}
	if e := plan("a", begin("1", "push", effect.Running), begin("2", "tag", effect.Waiting)); e[0].State != "" || e[1].State != "" {
		t.Errorf("nothing was done before: %+v", e)
	}
	mark("a", "1", effect.Done)
	states, err := d.EffectStates(ctx, "a", []string{"1", "2", "3"})
	if err != nil || len(states) != 2 || states["1"] != effect.Done || states["2"] != effect.Waiting {
		t.Errorf("%v, %v", states, err)
	}
	mark("a", "2", effect.Running)
	if _, err := d.Undo(ctx, "a", 1); err != nil {
		t.Fatal(err)
	}
	// The same id again: the older record stays as it is.
	if e := plan("a", begin("1", "push", effect.Running))[0]; e.State != effect.Done || e.Call != "1" || e.Began.IsZero() || e.Ended.IsZero() {
		t.Errorf("after undo: %+v", e)
	}
	mark("a", "1", effect.Failed)
	if err := d.Split(ctx, "a", Session{ID: "b"}, chat.UserText("summed up")); err != nil {
		t.Fatal(err)
	}
	if e := plan("b", begin("9", "push", effect.Running))[0]; e.State != effect.Failed || e.Session != "a" {
		t.Errorf("after compaction: %+v", e)
	}
	if e := plan("other", begin("9", "push", effect.Running))[0]; e.State != "" {
		t.Errorf("of another conversation: %+v", e)
	}
	// A child's work belongs to the list, not to what is repeated.
	if err := d.Create(ctx, Session{ID: "child", Parent: "b"}); err != nil {
		t.Fatal(err)
	}
	if e := plan("child", begin("c", "push", effect.Running))[0]; e.State != "" {
		t.Errorf("a child repeats nothing of its parent: %+v", e)
	}
	list, err := d.Effects(ctx, "b")
	var got []string
	for _, e := range list {
		got = append(got, e.Session+e.Call+" "+string(e.State))
	}
	if want := "a1 done,a2 running,a1 failed,b9 running,childc running"; err != nil || strings.Join(got, ",") != want {
		t.Errorf("%v, %v; want %s", got, err, want)
	}
	if err := d.Delete(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if list, err := d.Effects(ctx, "b"); err != nil || len(list) != 2 {
		t.Errorf("after its session was deleted: %v, %v", list, err)
	}
}

// A file of an earlier version gets the table, and one that nobody may change
// is read without it.
func TestEffectsOfOlderFile(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "state.db")
	d, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	say(t, d, "s", chat.UserText("hello"))
	if err := d.writer.script(ctx, "DROP TABLE call_effects"); err != nil {
		t.Fatal(err)
	}
	if list, err := d.Effects(ctx, "s"); err != nil || len(list) != 0 {
		t.Errorf("without the table: %v, %v", list, err)
	}
	if s, err := d.EffectStates(ctx, "s", []string{"1"}); err != nil || len(s) != 0 {
		t.Errorf("without the table: %v, %v", s, err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if d, err = Open(path, Options{}); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.AppendBeside(ctx, "s", Beside{Begin: []effect.Effect{begin("1", "x", effect.Running)}}); err != nil {
		t.Error(err)
	}
	if list, err := d.Effects(ctx, "s"); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

func BenchmarkAppendWithEffect(b *testing.B) {
	d := open(b)
	ctx := b.Context()
	if err := d.Create(ctx, Session{ID: "s"}); err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		call := string(rune('a' + i%26))
		if _, err := d.AppendBeside(ctx, "s", Beside{Begin: []effect.Effect{begin(call, call, effect.Running)}}, chat.AssistantText("x")); err != nil {
			b.Fatal(err)
		}
		if _, err := d.AppendBeside(ctx, "s", Beside{Mark: []effect.Mark{{Call: call, State: effect.Done}}}, chat.ToolResult(call, "t", "{}")); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendWithoutEffect(b *testing.B) {
	d := open(b)
	ctx := b.Context()
	if err := d.Create(ctx, Session{ID: "s"}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := d.Append(ctx, "s", chat.AssistantText("x")); err != nil {
			b.Fatal(err)
		}
		if err := d.Append(ctx, "s", chat.ToolResult("c", "t", "{}")); err != nil {
			b.Fatal(err)
		}
	}
}
