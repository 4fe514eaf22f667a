package offline

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/provider"
)

func sorted(t *testing.T, s string) string {
	t.Helper()
	var v any
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return encode(v)
}

// results are what real tools answer.
var results = map[string]string{
	"read_file":    `{"content":"     1|bread\n     2|lemons","total_lines":2,"file_size":13,"truncated":false}`,
	"terminal":     `{"output":"no such file","exit_code":2,"error":null}`,
	"search_files": `{"total_count":2,"matches":[{"path":"a.go","line":3,"content":"// TODO"},{"path":"b.go","line":9,"content":"TODO: x"}]}`,
	"write_file":   `{"bytes_written":5,"dirs_created":false}`,
	"memory":       `{"success":true,"target":"memory","entries":["tea"],"entry_count":1,"message":"Entry added."}`,
	"todo":         `{"todos":[{"id":"1","content":"buy","status":"pending"},{"id":"2","content":"cook","status":"pending"}],"summary":{"total":2}}`,
	"clarify":      `{"question":"which?","choices_offered":["red","green"],"user_response":"green"}`,
	"skill_view":   `{"success":true,"name":"brief","description":"A morning brief.","content":"---\nname: brief\n---\n# Brief\n\n1. Read the calendar.\n2. Write three lines.\n"}`,
	"weather":      `{"location":"Vienna","temperature":21,"units":"metric"}`,
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	result := func(c chat.ToolCall) string { return results[c.Function.Name] }
	fails := func(chat.ToolCall) string { return `{"error":"File not found: x"}` }
	long := func(chat.ToolCall) string {
		return `{"content":` + encode(strings.Repeat("a line of text\n", 200)) + `}`
	}
	for _, c := range []struct {
		id, text string
		offered  []string
		results  func(chat.ToolCall) string
	}{
		{"help", "hi", all, result},
		{"help-few", "hi", []string{"todo", "weather"}, result},
		{"help-none", "hi", nil, result},
		{"steps", "read a then run ls x then search for TODO in .", all, result},
		{"at-once", "write hi to a and at the same time remember tea", all, result},
		{"todo", "plan: buy; cook", all, result},
		{"clarify", "ask me which?: red | green", all, result},
		{"skill", "use the brief skill to prepare my day", all, result},
		{"plain-json", "use the weather tool for Vienna", []string{"weather"}, result},
		{"error", "read x then run y", all, fails},
		{"same-tool", "read x then read y", all, fails},
		{"long", "read x", all, long},
		{"not-text", "read x", all, func(chat.ToolCall) string { return "plain words" }},
		{"empty", "read x", all, func(chat.ToolCall) string { return `{"content":""}` }},
		{"empty-directory", "list x", all, func(chat.ToolCall) string { return `{"content":"","_hint":"the directory is empty"}` }},
		{"not-offered", "use the wether tool for Vienna then use the zzz tool then read x", []string{"weather"}, result},
		{"skill-not-offered", "use the brief skill", []string{"todo"}, result},
		{"nothing-remembered", "what do you remember?", all, result},
	} {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			_, final := run(t, c.text, defs(c.offered...), c.results)
			golden(t, c.id, final)
		})
	}
}

const memoryBlock = "══════════════════════════════════════════════\nMEMORY (your personal notes) [2% — 33/2200 chars]\n══════════════════════════════════════════════\ntea is at four\n§\nthe\n\nbuild: make"

func TestRemembers(t *testing.T) {
	t.Parallel()
	user := "══════════════════════════════════════════════\nUSER PROFILE (who the user is) [1% — 9/1375 chars]\n══════════════════════════════════════════════\nlikes tea"
	for _, c := range []struct{ id, system string }{
		{"memory-both", "You are Hermes.\n\n" + memoryBlock + "\n\n" + user + "\n\n## Skills (mandatory)\nall of them"},
		{"memory-last", "You are Hermes.\n\n" + memoryBlock},
		{"memory-count-differs", "You are Hermes.\n\n" + strings.Replace(user, "9/1375", "900/1375", 1) + "\n\nConversation started: today"},
	} {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			m := ask(t, model{}, &provider.Request{System: c.system, Messages: []chat.Message{chat.UserText("What do you remember about me?")}})
			golden(t, c.id, m.Content.String())
		})
	}
}

// The loop's own remarks are no messages of the person, and what a person says
// meanwhile is.
func TestTurns(t *testing.T) {
	t.Parallel()
	call := chat.Message{Role: chat.Assistant, ToolCalls: []chat.ToolCall{chat.NewCall("c1", "read_file", `{"path":"a"}`)}}
	read := chat.ToolResult("c1", "read_file", results["read_file"])
	steered := chat.ToolResult("c1", "read_file", results["read_file"]+"\n\nUser guidance: read b")
	for _, c := range []struct {
		id      string
		offered []string
		m       []chat.Message
		want    string // calls or text
	}{
		{"remark", all, []chat.Message{chat.UserText("read a"), call, read, chat.UserText("[System: Use them now.]")}, "read_file says:\n     1|bread"},
		{"closing", nil, []chat.Message{chat.UserText("read a then read b"), call, read, chat.UserText("[System: No more tool calls are possible in this turn.]")}, "No more tool calls were possible"},
		{"steer", all, []chat.Message{chat.UserText("read a"), call, steered}, `read_file {"path":"b"}`},
		{"next-turn", all, []chat.Message{chat.UserText("read a"), call, read, chat.AssistantText("done"), chat.UserText("read c")}, `read_file {"path":"c"}`},
		{"lost-result", all, []chat.Message{chat.UserText("read a"), call}, "read_file gave no result."},
		{"no-message", all, nil, "This is the offline model"},
	} {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			m := ask(t, model{}, &provider.Request{Messages: c.m, Tools: defs(c.offered...)})
			got := m.Content.String()
			for _, c := range m.ToolCalls {
				got += c.Function.Name + " " + c.Function.Arguments
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestCallIDs(t *testing.T) {
	t.Parallel()
	r := &provider.Request{Messages: []chat.Message{chat.UserText("read a and at the same time read b")}, Tools: defs(all...)}
	one, two := ask(t, model{}, r), ask(t, model{}, r)
	if one.ToolCalls[0].ID != "call_1_1" || one.ToolCalls[1].ID != "call_1_2" || two.ToolCalls[0].ID != "call_1_1" {
		t.Errorf("ids: %v and %v", one.ToolCalls, two.ToolCalls)
	}
	// After a compaction fewer messages are left than there were.
	kept := chat.Message{Role: chat.Assistant, ToolCalls: []chat.ToolCall{chat.NewCall("call_3_1", "read_file", "{}")}}
	r.Messages = []chat.Message{kept, chat.ToolResult("call_3_1", "read_file", "{}"), chat.UserText("read a")}
	if m := ask(t, model{}, r); m.ToolCalls[0].ID != "call_4_1" {
		t.Errorf("id %s is taken", m.ToolCalls[0].ID)
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	r := &provider.Request{System: strings.Repeat("s", 400), Messages: []chat.Message{chat.UserText("hi")}, Tools: defs(all...)}
	var text strings.Builder
	n := 0
	var final *chat.Message
	for c, err := range (model{}).Stream(t.Context(), r) {
		if err != nil || final != nil {
			t.Fatalf("after the final chunk or an error: %+v, %v", c, err)
		}
		n++
		text.WriteString(c.Text)
		final = c.Final
	}
	if n < 4 || final == nil || final.Content.String() != text.String() || final.FinishReason != chat.FinishStop {
		t.Fatalf("%d chunks, final %+v", n, final)
	}
	if u := final.Usage; u == nil || u.Input < 150 || u.Output != estimate(text.Len()) || u.Calls != 1 {
		t.Errorf("usage %+v", u)
	}
	for _, err := range (model{}).Stream(t.Context(), r) {
		if err != nil {
			t.Fatal(err)
		}
		break // leaving early is allowed
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := provider.Collect((model{}).Stream(ctx, r)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestPieces(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "short", strings.Repeat("wörter und ", 20), strings.Repeat("界", 100), "a\n\n\nb" + strings.Repeat(" ", 50)} {
		if got := strings.Join(pieces(s), ""); got != s {
			t.Errorf("%q became %q", s, got)
		}
		for _, p := range pieces(s) {
			if len(p) > 5*pieceBytes || strings.ToValidUTF8(p, "") != p {
				t.Errorf("piece %q", p)
			}
		}
	}
}

func TestKind(t *testing.T) {
	t.Parallel()
	k, ok := provider.Lookup("offline")
	if !ok || !k.Keyless || k.Wire != provider.Offline || k.Default != "offline" || k.Rank != 0 {
		t.Fatalf("%+v", k)
	}
	c, err := provider.Open(t.Context(), provider.Endpoint{Kind: k})
	if err != nil || c != (model{}) {
		t.Errorf("opened %T, %v", c, err)
	}
	if m, err := k.Models(t.Context(), provider.Endpoint{}); err != nil || len(m) != 1 || m[0].ID != "offline" {
		t.Errorf("models %v, %v", m, err)
	}
	if _, err := provider.Open(t.Context(), provider.Endpoint{Kind: k, Script: "testdata/nowhere"}); err == nil {
		t.Error("a missing script was opened")
	}
}
