package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/delegate"
	"github.com/hermes-go/hermes/internal/fakemodel"
	"github.com/hermes-go/hermes/internal/store"
)

// family is a model for a parent and its children, told apart by what they are
// told they are.
func family(t *testing.T, parent []fakemodel.Reply, child func(task string, m []chat.Message, r fakemodel.Request) fakemodel.Reply) *fakemodel.Server {
	t.Helper()
	next := 0
	return fakemodel.New(t, fakemodel.Reply{Func: func(r fakemodel.Request) fakemodel.Reply {
		m := r.Messages()
		if strings.HasPrefix(m[0].Content.String(), "You are a child agent") {
			return child(m[1].Content.String(), m, r)
		}
		if next++; next > len(parent) {
			return fakemodel.Reply{Text: "nothing more"}
		}
		return parent[next-1]
	}}).Repeat()
}

func delegateCall(args string) fakemodel.Reply {
	return fakemodel.Reply{Calls: []fakemodel.Call{{ID: "d1", Name: "delegate_task", Args: args}}}
}

func toolNames(t *testing.T, r fakemodel.Request) []string {
	t.Helper()
	var body struct {
		Tools []struct{ Function struct{ Name string } }
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range body.Tools {
		names = append(names, x.Function.Name)
	}
	return names
}

// talk runs one turn and returns the results of its calls.
func talk(t *testing.T, c *Conversation, text string) (ends []agent.ToolEnd, done agent.Done) {
	t.Helper()
	for e, err := range c.Turn(t.Context(), text) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.(type) {
		case agent.ToolEnd:
			ends = append(ends, e)
		case agent.Done:
			done = e
		}
	}
	return ends, done
}

// Children are sessions below their parent, each with its own terminal; they
// have what the parent has but for the listed tools, and what they take counts
// for it.
func TestChildren(t *testing.T) {
	t.Parallel()
	var tools []string
	model := family(t, []fakemodel.Reply{
		delegateCall(`{"tasks":[{"goal":"first","context":"look here"},{"goal":"second"}]}`), {Text: "Both are done."},
	}, func(task string, m []chat.Message, r fakemodel.Request) fakemodel.Reply {
		n := 1
		if strings.Contains(task, "second") {
			n = 2
		} else if len(m) == 2 {
			tools = toolNames(t, r)
		}
		switch len(m) {
		case 2:
			return fakemodel.Reply{Calls: []fakemodel.Call{{ID: "c", Name: "terminal", Args: fmt.Sprintf(`{"command":"mkdir -p d%d && cd d%d && export WHO=%d; pwd"}`, n, n, n)}}}
		case 4:
			return fakemodel.Reply{Calls: []fakemodel.Call{{ID: "e", Name: "terminal", Args: `{"command":"echo in $(basename $PWD) who=$WHO"}`}, {ID: "f", Name: "write_file", Args: fmt.Sprintf(`{"path":"out%d.txt","content":"x"}`, n)}}}
		}
		return fakemodel.Reply{Text: "REPORT " + m[len(m)-2].Content.String()}
	})
	a := home(t, map[string]string{"config.yaml": fmt.Sprintf("model: {provider: custom, default: fake, base_url: %q}\napprovals: {mode: \"off\"}\ncaps: {session: {tokens: 1000000}}\n", model.V1())})
	c, err := a.Converse(t.Context(), Ask{})
	if err != nil {
		t.Fatal(err)
	}
	ends, done := talk(t, c, "do both")
	if done.Status != agent.OK || done.Text != "Both are done." {
		t.Fatalf("%+v", done)
	}
	var out struct{ Results []delegate.Result }
	if err := json.Unmarshal(ends[0].Result, &out); err != nil {
		t.Fatal(err)
	}
	db, _ := a.DB()
	for i, r := range out.Results {
		if r.Status != delegate.Completed || r.Calls != 3 || len(r.Trace) != 3 || !strings.Contains(*r.Summary, fmt.Sprintf("in d%d who=%d", i+1, i+1)) {
			t.Errorf("%+v", r)
			continue
		}
		if want := filepath.Join(a.WorkDir, fmt.Sprintf("d%d/out%d.txt", i+1, i+1)); len(r.Written) != 1 || filepath.Base(r.Written[0]) != filepath.Base(want) {
			t.Errorf("written %v", r.Written)
		}
		s, err := db.Session(t.Context(), r.Session)
		if err != nil || s.Parent != c.ID || s.EndReason != store.EndDelegated || s.Messages < 6 || s.Usage.Calls != 3 {
			t.Errorf("%+v, %v", s, err)
		}
	}
	if slices.Contains(tools, "delegate_task") || slices.Contains(tools, "memory") || slices.Contains(tools, "clarify") || !slices.Contains(tools, "terminal") || !slices.Contains(tools, "read_file") {
		t.Errorf("a child's tools: %v", tools)
	}
	rows, err := c.Caps(t.Context())
	if err != nil || len(rows) != 1 || !strings.Contains(rows[0], "caps.session.tokens: 120 tokens of 1000000 tokens") { // 8 calls of 15 tokens
		t.Errorf("%v, %v", rows, err)
	}
	list, err := db.List(t.Context(), store.Filter{Limit: 10})
	if err != nil || len(list) != 1 {
		t.Errorf("children are listed as conversations: %+v, %v", list, err)
	}
}

// F-058: a child with a narrower set has that set, and an empty one is none.
func TestF058ToolsetsNarrow(t *testing.T) {
	t.Parallel()
	var tools []string
	model := family(t, []fakemodel.Reply{
		delegateCall(`{"goal":"read","toolsets":["file"]}`), delegateCall(`{"goal":"talk","toolsets":["clarify"]}`), delegateCall(`{"goal":"x","toolsets":["nosuch"]}`), {Text: "ok"},
	}, func(_ string, _ []chat.Message, r fakemodel.Request) fakemodel.Reply {
		tools = toolNames(t, r)
		return fakemodel.Reply{Text: "read"}
	})
	a := home(t, map[string]string{"config.yaml": fmt.Sprintf("model: {provider: custom, default: fake, base_url: %q}\n", model.V1())})
	c, err := a.Converse(t.Context(), Ask{})
	if err != nil {
		t.Fatal(err)
	}
	ends, _ := talk(t, c, "go")
	if slices.Sort(tools); !slices.Equal(tools, []string{"patch", "read_file", "search_files", "write_file"}) {
		t.Errorf("%v", tools)
	}
	for i, want := range map[int]string{1: "none of the toolsets clarify has a tool", 2: "nosuch"} {
		if ends[i].Err == nil || !strings.Contains(string(ends[i].Result), want) {
			t.Errorf("%s", ends[i].Result)
		}
	}
}

// An orchestrator may delegate, a leaf below it may not.
func TestOrchestrator(t *testing.T) {
	t.Parallel()
	model := family(t, []fakemodel.Reply{delegateCall(`{"goal":"lead","role":"orchestrator"}`), {Text: "led"}},
		func(task string, m []chat.Message, r fakemodel.Request) fakemodel.Reply {
			has := slices.Contains(toolNames(t, r), "delegate_task")
			if lead := strings.Contains(task, "lead"); has != lead {
				t.Errorf("%q has delegate_task: %t", task, has)
			}
			if has && len(m) == 2 {
				return delegateCall(`{"goal":"follow","role":"orchestrator"}`)
			}
			return fakemodel.Reply{Text: "done: " + task}
		})
	a := home(t, map[string]string{"config.yaml": fmt.Sprintf("model: {provider: custom, default: fake, base_url: %q}\ndelegation: {max_spawn_depth: 2}\n", model.V1())})
	c, err := a.Converse(t.Context(), Ask{})
	if err != nil {
		t.Fatal(err)
	}
	ends, _ := talk(t, c, "go")
	if len(ends) != 1 || ends[0].Err != nil || !strings.Contains(string(ends[0].Result), `"completed"`) {
		t.Errorf("%+v", ends)
	}
}

// Case 49: of three delegate_task calls with a limit of two, two are run and
// stored. A child's dangerous command is refused: nobody can be asked.
func TestCase49AndNobodyToAsk(t *testing.T) {
	t.Parallel()
	three, precious := fakemodel.Reply{}, ""
	for i := range 3 {
		three.Calls = append(three.Calls, fakemodel.Call{ID: fmt.Sprint("d", i), Name: "delegate_task", Args: fmt.Sprintf(`{"goal":"task %d"}`, i)})
	}
	model := family(t, []fakemodel.Reply{three, {Text: "ok"}}, func(_ string, m []chat.Message, _ fakemodel.Request) fakemodel.Reply {
		if len(m) == 2 {
			return fakemodel.Reply{Calls: []fakemodel.Call{{ID: "c", Name: "terminal", Args: fmt.Sprintf(`{"command":"rm -rf %s"}`, precious)}}}
		}
		return fakemodel.Reply{Text: m[len(m)-1].Content.String()}
	})
	a := home(t, map[string]string{"config.yaml": fmt.Sprintf("model: {provider: custom, default: fake, base_url: %q}\ndelegation: {max_concurrent_children: 2}\n", model.V1())})
	precious = filepath.Join(a.Home, "precious")
	if err := os.Mkdir(precious, 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := a.Converse(t.Context(), Ask{Interactive: true})
	if err != nil {
		t.Fatal(err)
	}
	ends, _ := talk(t, c, "go")
	if len(ends) != 2 || len(c.History[1].ToolCalls) != 2 {
		t.Errorf("%d results, %d calls stored", len(ends), len(c.History[1].ToolCalls))
	}
	if !strings.Contains(string(ends[0].Result), "BLOCKED") {
		t.Errorf("%s", ends[0].Result)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Errorf("a child deleted it: %v", err)
	}
}
