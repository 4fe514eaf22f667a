package providertest

import (
	"slices"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/fakemodel"
)

func testText(t *testing.T, s Suite) {
	server := fakemodel.New(t, fakemodel.Reply{Text: "Hello, you <there> & all.", Usage: &fakemodel.Usage{Input: 100, Output: 7, CacheRead: 40}})
	got := s.answer(t, server, s.ask("hi"))
	if got.text != "Hello, you <there> & all." || got.final.Content.String() != got.text {
		t.Errorf("text %q, final %q", got.text, got.final.Content.String())
	}
	if got.final.Role != chat.Assistant || got.final.FinishReason != chat.FinishStop || len(got.final.ToolCalls) != 0 {
		t.Errorf("final %+v", got.final)
	}
	if want := (chat.Usage{Input: 60, Output: 7, CacheRead: 40, Calls: 1}); got.final.Usage == nil || *got.final.Usage != want {
		t.Errorf("usage %+v, want %+v", got.final.Usage, want)
	}
	req := server.Requests()[0]
	if !strings.Contains(string(req.Body), "You are a test.") || req.Model() != s.Model {
		t.Errorf("request to model %q: %s", req.Model(), req.Body)
	}
}

func testUnicode(t *testing.T, s Suite) {
	server := fakemodel.New(t, fakemodel.Text("Grüße, 世界 🌍"))
	got := s.answer(t, server, s.ask("broken: \xff\xfe and 世界"))
	if got.text != "Grüße, 世界 🌍" {
		t.Errorf("text %q", got.text)
	}
	if body := string(server.Requests()[0].Body); strings.ToValidUTF8(body, "") != body || !strings.Contains(body, "世界") {
		t.Error("the request is no valid UTF-8")
	}
}

// testReasoning: F-121, what the model thought is kept and sent back in the
// form that its service demands.
func testReasoning(t *testing.T, s Suite) {
	server := fakemodel.New(t,
		fakemodel.Reply{Reasoning: "First I think.", Signature: "sig-1", Calls: []fakemodel.Call{{ID: "call_a", Name: "weather", Args: `{"location":"Bonn"}`}}},
		fakemodel.Text("Sunny."))
	r := s.ask("weather?", Weather())
	got := s.answer(t, server, r)
	if got.reasoning != "First I think." || got.final.Reasoning != got.reasoning {
		t.Errorf("reasoning %q, final %q", got.reasoning, got.final.Reasoning)
	}
	if got.text != "" {
		t.Errorf("text %q", got.text)
	}
	r.Messages = append(r.Messages, *got.final, chat.ToolResult(got.final.ToolCalls[0].ID, "weather", "sunny"))
	s.answer(t, server, r)
	if s.Replayed != nil {
		s.Replayed(t, *got.final, server.Requests()[1])
	}
}

func testTools(t *testing.T, s Suite) {
	server := fakemodel.New(t,
		fakemodel.Reply{Text: "Let me see.", Calls: []fakemodel.Call{{ID: "call_a", Name: "weather", Args: `{"location":"Bonn <Rhein>","days":2}`}}},
		fakemodel.Text("Sunny."))
	r := s.ask("weather?", Weather())
	got := s.answer(t, server, r)
	if !slices.Equal(got.started, []string{"weather"}) {
		t.Errorf("started %q", got.started)
	}
	if len(got.final.ToolCalls) != 1 || got.final.FinishReason != chat.FinishToolCalls || got.text != "Let me see." {
		t.Fatalf("final %+v", got.final)
	}
	call := got.final.ToolCalls[0]
	if call.Function.Name != "weather" || !sameJSON(call.Function.Arguments, `{"location":"Bonn <Rhein>","days":2}`) || call.ID == "" {
		t.Errorf("call %+v", call)
	}
	if names := server.Requests()[0].Tools(); !slices.Equal(names, []string{"weather"}) {
		t.Errorf("offered %q", names)
	}
	r.Messages = append(r.Messages, *got.final, chat.ToolResult(call.ID, "weather", `sunny, 20°C`))
	s.answer(t, server, r)
	body := string(server.Requests()[1].Body)
	for _, want := range []string{"sunny, 20°C", "Bonn <Rhein>", "Let me see."} {
		if !strings.Contains(body, want) {
			t.Errorf("the second request lacks %q: %s", want, body)
		}
	}
}

func testParallel(t *testing.T, s Suite) {
	server := fakemodel.New(t, fakemodel.UseTools(
		fakemodel.Call{Name: "weather", Args: `{"location":"a"}`}, fakemodel.Call{Name: "weather", Args: `{"location":"b"}`}, fakemodel.Call{Name: "weather", Args: `{}`},
	))
	got := s.answer(t, server, s.ask("weather?", Weather()))
	if len(got.final.ToolCalls) != 3 || len(got.started) != 3 {
		t.Fatalf("calls %+v, started %q", got.final.ToolCalls, got.started)
	}
	ids := map[string]bool{}
	for i, want := range []string{`{"location":"a"}`, `{"location":"b"}`, `{}`} {
		c := got.final.ToolCalls[i]
		ids[c.ID] = true
		if !sameJSON(c.Function.Arguments, want) {
			t.Errorf("call %d: %s", i, c.Function.Arguments)
		}
	}
	if len(ids) != 3 {
		t.Errorf("ids %v", ids)
	}
}

// testMissingIDs: a call whose service gives no id has the same one each time.
func testMissingIDs(t *testing.T, s Suite) {
	var ids []string
	for range 2 {
		server := fakemodel.New(t, fakemodel.Reply{NoIDs: true, Calls: []fakemodel.Call{{Name: "weather", Args: `{"location":"a"}`}, {Name: "weather", Args: `{"location":"b"}`}}})
		got := s.answer(t, server, s.ask("weather?", Weather()))
		if len(got.final.ToolCalls) != 2 {
			t.Fatalf("calls %+v", got.final.ToolCalls)
		}
		ids = append(ids, got.final.ToolCalls[0].ID, got.final.ToolCalls[1].ID)
	}
	if ids[0] == "" || ids[0] == ids[1] || ids[0] != ids[2] || ids[1] != ids[3] {
		t.Errorf("ids %q", ids)
	}
}

// testWhole: a server that does not stream answers with JSON whatever it was
// asked for.
func testWhole(t *testing.T, s Suite) {
	server := fakemodel.New(t, fakemodel.Reply{Func: func(req fakemodel.Request) fakemodel.Reply {
		return fakemodel.Reply{Whole: fakemodel.Whole(req.Wire, fakemodel.Reply{
			Text: "All at once.", Reasoning: "Quick.", Calls: []fakemodel.Call{{ID: "call_a", Name: "weather", Args: `{"location":"a"}`}},
		})}
	}})
	got := s.answer(t, server, s.ask("hi", Weather()))
	if got.text != "All at once." || got.reasoning != "Quick." || len(got.final.ToolCalls) != 1 || !sameJSON(got.final.ToolCalls[0].Function.Arguments, `{"location":"a"}`) {
		t.Errorf("text %q, reasoning %q, final %+v", got.text, got.reasoning, got.final)
	}
	if got.final.Usage.Output != 5 || got.final.FinishReason != chat.FinishToolCalls {
		t.Errorf("usage %+v, finish %s", got.final.Usage, got.final.FinishReason)
	}
}

func testFinish(t *testing.T, s Suite) {
	for _, want := range []string{chat.FinishStop, chat.FinishLength, chat.FinishFilter} {
		server := fakemodel.New(t, fakemodel.Reply{Text: "Well", Finish: want})
		if got := s.answer(t, server, s.ask("hi")); got.final.FinishReason != want {
			t.Errorf("finish %q, want %q", got.final.FinishReason, want)
		}
	}
}
