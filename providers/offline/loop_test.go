package offline

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/tool"
)

// forgetful is a transcript that keeps nothing.
type forgetful struct{}

func (forgetful) Append(context.Context, string, ...chat.Message) error { return nil }
func (forgetful) Draft(string, string) error                            { return nil }

func turns(t *testing.T, c provider.Client, texts []string) []agent.Done {
	t.Helper()
	r := tool.New()
	for _, name := range []string{"read_file", "weather"} {
		err := r.Add(tool.Tool{Name: name, Toolset: "test", Schema: json.RawMessage(schemas[name]), Run: func(_ context.Context, c *tool.Call) (any, error) {
			return map[string]json.RawMessage{"result": json.RawMessage(`"` + c.Name + ` ran"`), "args": c.Args}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	a := agent.New(agent.Deps{Tools: r, Transcript: forgetful{}})
	s := &agent.Session{Session: &tool.Session{ID: "s", Enabled: r.Names(), Services: tool.NewServices(nil)}, Client: c, Model: "offline"}
	var all []agent.Done
	for _, text := range texts {
		for e, err := range a.Turn(t.Context(), s, chat.UserText(text)) {
			if err != nil {
				t.Fatal(err)
			}
			if d, ok := e.(agent.Done); ok {
				all = append(all, d)
			}
		}
	}
	return all
}

func TestInTheLoop(t *testing.T) {
	t.Parallel()
	done := turns(t, model{}, []string{"read a and at the same time read b then use the weather tool for days=soon Graz", "hello"})
	for i, want := range []string{"read_file a says: read_file ran\n\nread_file b says: read_file ran\n\nweather failed: ", "This is the offline model"} {
		if done[i].Status != agent.OK || !strings.HasPrefix(done[i].Text, want) {
			t.Errorf("turn %d: %s %q, %v", i+1, done[i].Status, done[i].Text, done[i].Err)
		}
	}
	if done[0].Usage.Calls != 3 || done[0].Usage.Input == 0 {
		t.Errorf("usage %+v", done[0].Usage)
	}
}

func TestScriptInTheLoop(t *testing.T) {
	t.Parallel()
	c, _ := scripted(t, `{"calls": [{"name": "read_file", "arguments": {"path": "a"}}]}
{"finish": "length", "text": "It was "}
{"text": "read."}
{"text": "second"}`)
	done := turns(t, c, []string{"go", "on", "and on"})
	for i, want := range []string{"It was read.", "second", ended} {
		if done[i].Status != agent.OK || done[i].Text != want {
			t.Errorf("turn %d: %s %q, %v", i+1, done[i].Status, done[i].Text, done[i].Err)
		}
	}
}
