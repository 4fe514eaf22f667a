package todo

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/tool"
	"github.com/hermes-go/hermes/tool/tooltest"
)

type loop string

func (l loop) LastResult(string) (string, bool) { return string(l), l != "" }

func session(last string) *tool.Session {
	s := tool.NewServices(nil)
	tool.ProvideAs(s, tool.NewTasks(nil))
	tool.ProvideAs[agent.Loop](s, loop(last))
	return &tool.Session{ID: "s", Services: s}
}

func TestTodo(t *testing.T) {
	t.Parallel()
	r := tool.Builtin()
	tooltest.Matches[args](t, r, "todo")
	s := session("")
	for _, step := range []struct{ name, args, want string }{
		{"read empty", `{}`, `{"todos":[],"summary":{"cancelled":0,"completed":0,"in_progress":0,"pending":0,"total":0}}`},
		{"write", `{"todos":[{"id":"a","content":"A","status":"in_progress"},{"id":"b","content":"B","status":"pending"}]}`, `"in_progress":1,"pending":1,"total":2`},
		{
			"86 duplicate ids: the last one, at its place", `{"todos":[{"id":"a","content":"old","status":"pending"},{"id":"b","content":"B","status":"pending"},{"id":"a","content":"new","status":"pending"}]}`,
			`[{"id":"b","content":"B","status":"pending"},{"id":"a","content":"new","status":"pending"}]`,
		},
		{
			"merge updates and adds with defaults", `{"merge":true,"todos":[{"id":"b","status":"completed"},{"id":"c"}]}`,
			`[{"id":"b","content":"B","status":"completed"},{"id":"a","content":"new","status":"pending"},{"id":"c","content":"(no description)","status":"pending"}]`,
		},
		{"merge ignores an unknown state", `{"merge":true,"todos":[{"id":"c","status":"later"}]}`, `{"id":"c","content":"(no description)","status":"pending"}`},
		{"no object", `{"todos":[5]}`, `field todos[0]`},
		{"read", `{}`, `"total":3`},
	} {
		res := r.Dispatch(t.Context(), &tool.Call{Name: "todo", Args: json.RawMessage(step.args), Session: s})
		if !strings.Contains(string(res.JSON), step.want) {
			t.Errorf("%s: got %s, want %s", step.name, res.JSON, step.want)
		}
	}
	tl, _ := r.Lookup("todo")
	if got := tl.Carry(s); got != "The open items of the task list:\n- [ ] a. new\n- [ ] c. (no description)\n" {
		t.Errorf("carried %q", got)
	}
}

func TestRestoredFromTheConversation(t *testing.T) {
	t.Parallel()
	s := session(`{"todos":[{"id":"x","content":"kept","status":"pending"}],"summary":{}}`)
	res := tool.Builtin().Dispatch(t.Context(), &tool.Call{Name: "todo", Args: json.RawMessage(`{"merge":true,"todos":[{"id":"x","status":"completed"}]}`), Session: s})
	if !strings.Contains(string(res.JSON), `{"id":"x","content":"kept","status":"completed"}`) {
		t.Errorf("got %s", res.JSON)
	}
}
