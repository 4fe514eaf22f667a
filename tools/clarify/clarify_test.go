package clarify

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/ask"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/tool"
	"github.com/hermes-go/hermes/tool/tooltest"
)

type loop struct{}

func (loop) LastResult(string) (string, bool) { return "", false }

type asker struct{ got *ask.Request }

func (a asker) Ask(_ context.Context, r ask.Request) (ask.Answer, error) {
	*a.got = r
	return ask.Answer{Text: "the second"}, nil
}

func asked(t *testing.T, a ask.Asker, args string) string {
	t.Helper()
	s := tool.NewServices(nil)
	tool.ProvideAs[agent.Loop](s, loop{})
	tool.ProvideAs(s, a)
	return string(tool.Builtin().Dispatch(t.Context(), &tool.Call{Name: "clarify", Args: json.RawMessage(args), Session: &tool.Session{Services: s}}).JSON)
}

func TestClarify(t *testing.T) {
	t.Parallel()
	tooltest.Matches[args](t, tool.Builtin(), "clarify")
	var got ask.Request
	out := asked(t, asker{&got}, `{"question":" Which? ","choices":["a"," ","b","c","d","e"]}`) // case 88
	if out != `{"question":"Which?","choices_offered":["a","b","c","d"],"user_response":"the second"}` {
		t.Errorf("got %s", out)
	}
	if got.Kind != ask.Question || got.Text != "Which?" || len(got.Choices) != 4 {
		t.Errorf("asked %+v", got)
	}
	if out := asked(t, asker{&got}, `{"question":"Open?"}`); !strings.Contains(out, `"choices_offered":null`) {
		t.Errorf("open question: %s", out)
	}
	if out := asked(t, asker{&got}, `{"question":"  "}`); out != `{"error":"the question is empty"}` {
		t.Errorf("empty: %s", out)
	}
	if out := asked(t, ask.Nobody{}, `{"question":"Anyone?"}`); !strings.Contains(out, "nobody can be asked here; use your best judgement") {
		t.Errorf("nobody: %s", out)
	}
}
