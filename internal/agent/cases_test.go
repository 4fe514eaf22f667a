package agent

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/provider"
)

const whole = `{"path":"/x"}`

func want[T comparable](t *testing.T, what string, got, wanted T) {
	t.Helper()
	if got != wanted {
		t.Errorf("%s: got %v, want %v", what, got, wanted)
	}
}

func wantErr(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("error %v does not say %q", err, part)
	}
}

// The numbers are those of the specified cases of the loop.
func TestCases(t *testing.T) {
	t.Parallel()
	length := func(a answer) answer { a.finish = chat.FinishLength; return a }
	cases := map[string]struct {
		script   []answer
		setup    func(*world)
		status   Status
		text     string
		errPart  string
		requests int
		ran      []string
		then     func(*testing.T, *world, []Event)
	}{
		"1 one answer": {
			script: []answer{text("hello there")}, status: OK, text: "hello there", requests: 1,
			then: func(t *testing.T, w *world, _ []Event) {
				want(t, "roles", roles(w.model.requests[0].Messages), "user")
				want(t, "system", w.model.requests[0].System, "You are a test.")
				want(t, "history", roles(w.session.History), "user assistant")
			},
		},
		"2 call then text": {
			script: []answer{calls(call("c1", "get", "{}")), text("ok")}, status: OK, text: "ok", requests: 2, ran: []string{"get "},
			then: func(t *testing.T, w *world, _ []Event) {
				m := w.model.requests[1].Messages
				want(t, "roles", roles(m), "user assistant tool")
				want(t, "id", m[2].ToolCallID, "c1")
			},
		},
		"8 duplicates run once": {
			script: []answer{calls(call("a", "get", whole), call("b", "get", whole)), text("ok")}, status: OK, text: "ok", requests: 2, ran: []string{"get /x"},
			then: func(t *testing.T, w *world, _ []Event) { want(t, "calls", len(w.session.History[1].ToolCalls), 1) },
		},
		"9 names repaired": {
			script: []answer{
				calls(call("a", "Read_File", `{"path":"/1"}`)), calls(call("b", "read-file", `{"path":"/2"}`)),
				calls(call("c", "ReadFile", `{"path":"/3"}`)), calls(call("d", "read_file_tool", `{"path":"/4"}`)), text("ok"),
			},
			status: OK, text: "ok", requests: 5, ran: []string{"read_file /1", "read_file /2", "read_file /3", "read_file /4"},
		},
		"10 unknown once": {
			script: []answer{calls(call("a", "zzz", "{}"), call("b", "get", "{}")), text("ok")}, status: OK, text: "ok", requests: 2,
			then: func(t *testing.T, w *world, ev []Event) {
				r := toolTexts(w.model.requests[1].Messages)
				if !strings.Contains(r[0], "does not exist. Available tools: ask_at_once, badeffects, big") || !strings.Contains(r[1], "skipped") {
					t.Errorf("results: %q", r)
				}
				want(t, "ends", len(of[ToolEnd](ev)), 2)
			},
		},
		"10 unknown three times": {
			script: []answer{calls(call("a", "zzz", "{}"))}, status: Partial, errPart: `"zzz"`, requests: 3,
			then: func(t *testing.T, w *world, _ []Event) { want(t, "stored", len(w.session.History), 5) },
		},
		"10 a near name is only suggested": {
			script: []answer{calls(call("a", "write_fil", `{"path":"/x"}`)), text("ok")}, status: OK, text: "ok", requests: 2,
			then: func(t *testing.T, w *world, _ []Event) {
				if r := toolTexts(w.session.History)[0]; !strings.Contains(r, `"nearest":["write_file"`) {
					t.Error(r)
				}
			},
		},
		"12 empty arguments": {
			script: []answer{calls(call("a", "get", "")), text("ok")}, status: OK, text: "ok", requests: 2, ran: []string{"get "},
			then: func(t *testing.T, w *world, _ []Event) {
				want(t, "args", w.session.History[1].ToolCalls[0].Function.Arguments, "{}")
			},
		},
		"14 trailing comma repaired": {
			script: []answer{calls(call("a", "get", `{"path":"/q",}`)), text("ok")}, status: OK, text: "ok", requests: 2, ran: []string{"get /q"},
		},
		"14 unreadable arguments": {
			script: []answer{
				calls(call("a", "get", `{path}`)), calls(call("a", "get", `{path}`)),
				calls(call("a", "get", `{path}`), call("b", "get", "{}")), text("ok"),
			},
			status: OK, text: "ok", requests: 4,
			then: func(t *testing.T, w *world, ev []Event) {
				r := toolTexts(w.session.History)
				if !strings.Contains(r[0], "Invalid JSON arguments") || !strings.Contains(r[1], "Skipped") {
					t.Errorf("results: %q", r)
				}
				want(t, "retries", len(of[Retry](ev)), 2)
				want(t, "same request", dump(w.model.requests[0].Messages), dump(w.model.requests[2].Messages))
			},
		},
		"16 cut arguments once": {
			script: []answer{
				length(answer{text: "writing", calls: []chat.ToolCall{call("a", "write_file", `{"path":"/x","content":"abc`)}}),
				calls(call("b", "write_file", whole)), text("ok"),
			},
			status: OK, text: "ok", requests: 3, ran: []string{"write_file /x"},
		},
		"16 cut arguments twice": {
			script: []answer{length(answer{text: "now", calls: []chat.ToolCall{call("a", "write_file", `{"path":"/x","content":"abc`)}})},
			status: Partial, text: "now", errPart: "truncated due to output length limit", requests: 2,
		},
		"F-025 a long write that is cut": {
			script: []answer{length(calls(call("a", "write_file", `{"path":"/x","content":"`+strings.Repeat("x", 12<<10))))},
			status: Partial, errPart: "broke off after 12312 bytes of arguments and was not run; have it written in smaller parts", requests: 2,
			then: func(t *testing.T, w *world, _ []Event) { want(t, "ran", len(w.tools.ran), 0) },
		},
		"16 cut arguments that look whole": {
			script: []answer{length(calls(call("a", "write_file", whole)))}, status: Partial, errPart: "was not run", requests: 2,
		},
		"16 cut by a filter": {
			script: []answer{{calls: []chat.ToolCall{call("a", "write_file", whole)}, finish: chat.FinishFilter}}, status: Partial, errPart: "was not run", requests: 2,
		},
		"16 cut without a word of it": {
			script: []answer{calls(call("a", "write_file", `{"path":"/x","n":1`))}, status: Partial, errPart: "was not run", requests: 2,
		},
		"17 continued": {
			script: []answer{length(text("one ")), length(text("two ")), text("three")}, status: OK, text: "one two three", requests: 3,
			then: func(t *testing.T, w *world, _ []Event) {
				want(t, "max 1", w.model.requests[1].Options.MaxTokens, 8192)
				want(t, "max 2", w.model.requests[2].Options.MaxTokens, 12288)
				m := w.model.requests[2].Messages
				want(t, "roles", roles(m), "user assistant user")
				want(t, "joined", m[1].Content.String(), "one two ")
			},
		},
		"17 three cuts": {
			script: []answer{length(text("one ")), length(text("two ")), length(text("three"))}, status: Partial, text: "one two three", errPart: "3 times", requests: 3,
		},
		"17 the limit is never lowered": {
			script: []answer{length(text("one ")), text("two")}, setup: func(w *world) { w.session.Options.MaxTokens = 64000 },
			status: OK, text: "one two", requests: 2,
			then: func(t *testing.T, w *world, _ []Event) { want(t, "max", w.model.requests[1].Options.MaxTokens, 64000) },
		},
		"17 the raised limit ends with the answer": {
			script: []answer{length(text("one ")), {text: "two", calls: []chat.ToolCall{call("a", "get", "{}")}}, text("three")},
			status: OK, text: "three", requests: 3,
			then: func(t *testing.T, w *world, _ []Event) {
				want(t, "max", w.model.requests[2].Options.MaxTokens, 0)
				want(t, "roles", roles(w.model.requests[2].Messages), "user assistant tool")
				want(t, "joined", w.model.requests[2].Messages[1].Content.String(), "one two")
			},
		},
		"17 a retry while going on keeps the pieces": {
			script: []answer{length(text("one ")), {text: "two", retry: "broken pipe"}}, status: OK, text: "one two", requests: 2,
		},
		"17 asked to go on until it answers": {
			script: []answer{length(text("one ")), {}, text("two")}, status: OK, text: "one two", requests: 3,
			then: func(t *testing.T, w *world, _ []Event) {
				want(t, "same request", dump(w.model.requests[1].Messages), dump(w.model.requests[2].Messages))
			},
		},
		"18 only thought": {
			script: []answer{{reasoning: "hm", finish: chat.FinishLength}}, status: Partial, errPart: "thinking", requests: 1,
		},
		"F-124 a small context says length on the first question": {
			script: []answer{{reasoning: "hm", finish: chat.FinishLength, usage: &chat.Usage{Input: 4000, Output: 96}}}, setup: func(w *world) { w.session.Window = 32768 },
			status: Partial, errPart: "(4000 tokens of prompt and 96 of answer in a window of 32768, as far as is known)", requests: 1,
			then: func(t *testing.T, w *world, events []Event) { wantErr(t, events[len(events)-1].(Done).Err, "num_ctx") },
		},
		"F-124 the same with words": {
			script: []answer{{text: "a ", finish: chat.FinishLength, usage: &chat.Usage{Input: 4000, Output: 96}}}, status: Partial, text: "a a a ",
			errPart: "(4000 tokens of prompt and 96 of answer); ask to go on, or raise model.max_tokens or, on a local server, its context size (num_ctx)", requests: 3,
		},
		"20 text beside housekeeping": {
			script: []answer{{text: "Noted.", calls: []chat.ToolCall{call("a", "memory", "{}")}}, {}}, status: OK, text: "Noted.", requests: 2, ran: []string{"memory "},
		},
		"21 nudged once": {
			script: []answer{calls(call("a", "terminal", "{}")), {}, text("the result")}, status: OK, text: "the result", requests: 3, ran: []string{"terminal "},
			then: func(t *testing.T, w *world, _ []Event) {
				want(t, "roles", roles(w.model.requests[2].Messages), "user assistant tool user")
				want(t, "history", roles(w.session.History), "user assistant tool assistant")
			},
		},
		"22 only reasoning": {
			script: []answer{{reasoning: "hm"}, {reasoning: "hm"}, {reasoning: "hm"}}, status: Partial, errPart: "nothing", requests: 3,
			then: func(t *testing.T, w *world, _ []Event) { want(t, "history", roles(w.session.History), "user") },
		},
		"empty": {script: []answer{{}}, status: Partial, errPart: "nothing", requests: 4},
		"empty, then an answer": {
			script: []answer{{}, {text: "  \n"}, text("hi")}, status: OK, text: "hi", requests: 3,
		},
		"filtered without a word": {script: []answer{{finish: chat.FinishFilter}}, status: Partial, errPart: "content filter", requests: 1},
		"filtered": {
			script: []answer{{text: "half", finish: chat.FinishFilter}}, status: Partial, text: "half", errPart: "content filter", requests: 1,
		},
		"24-26 errors of the service": {
			script: []answer{{err: &provider.Error{Class: provider.ClassServer, Status: 500, Message: "down"}}}, status: Failed, errPart: "HTTP 500: down", requests: 1,
		},
		"30 overflow without a compactor": {
			script: []answer{{err: &provider.Error{Class: provider.ClassContextOverflow, Status: 400, Message: "too long"}}}, status: Partial, errPart: "no longer fits", requests: 1,
		},
		"30 the service names its window": {
			script: []answer{{err: &provider.Error{Class: provider.ClassContextOverflow, Status: 400, Message: "too long", Window: 32768}}}, setup: func(w *world) { w.session.Window = 128000 },
			status: Partial, errPart: "no longer fits", requests: 1,
			then: func(t *testing.T, w *world, _ []Event) { want(t, "window", w.session.Window, 32768) },
		},
		"37 broken before text": {script: []answer{{err: errors.New("reset")}}, status: Failed, errPart: "reset", requests: 1},
		"37 broken after text, by contract": {
			script: []answer{{text: "one ", truncated: true}, text("two")}, status: OK, text: "one two", requests: 2,
			then: func(t *testing.T, w *world, ev []Event) {
				want(t, "notices", len(of[Notice](ev)), 1)
				want(t, "max", w.model.requests[1].Options.MaxTokens, 0)
			},
		},
		"37 broken after text, as an error": {
			script: []answer{{text: "one ", err: &provider.Error{Class: provider.ClassTimeout, Partial: true}}, text("two")}, status: OK, text: "one two", requests: 2,
		},
		"37 broken after text, without a word": {
			script: []answer{{text: "one ", err: provider.ErrIncomplete}, text("two")}, status: OK, text: "one two", requests: 2,
		},
		"37 broken in a tool call": {
			script: []answer{{text: "one ", started: true, err: &provider.Error{Class: provider.ClassTimeout, Partial: true, Message: "gone"}}}, status: Failed, errPart: "gone", requests: 1,
		},
		"37 retried by the client": {script: []answer{{text: "answer", retry: "reset"}}, status: OK, text: "answer", requests: 1},
		"no stream":                {script: []answer{{text: "all at once", mute: true}}, status: OK, text: "all at once", requests: 1},
		"nothing at all":           {script: []answer{{nothing: true}}, status: Failed, errPart: "broke off", requests: 1},
		"44 budget": {
			script: []answer{calls(call("a", "get", "{}")), calls(call("a", "get", `{"n":1}`)), text("summary")}, setup: func(w *world) { w.session.MaxCalls = 2 },
			status: OutOfBudget, text: "summary", errPart: "2 model calls", requests: 3, ran: []string{"get ", "get "},
			then: func(t *testing.T, w *world, _ []Event) {
				want(t, "tools", len(w.model.requests[2].Tools), 0)
				want(t, "roles", roles(w.session.History), "user assistant tool assistant tool assistant")
			},
		},
		"44 budget without a summary": {
			script: []answer{calls(call("a", "get", "{}")), {}}, setup: func(w *world) { w.session.MaxCalls = 1 },
			status: OutOfBudget, errPart: "no summary", requests: 3,
		},
		"44 calls instead of a summary": {
			script: []answer{calls(call("a", "get", "{}"))}, setup: func(w *world) { w.session.MaxCalls = 1 },
			status: OutOfBudget, errPart: "no summary", requests: 3, ran: []string{"get "},
		},
		"45 programs are free": {
			script: []answer{calls(call("a", "execute_code", `{"n":1}`)), calls(call("a", "execute_code", `{"n":2}`)), text("ok")}, setup: func(w *world) { w.session.MaxCalls = 2 },
			status: OK, text: "ok", requests: 3,
		},
		"45 but not for ever": {
			script: []answer{calls(call("a", "execute_code", `{}`))}, setup: func(w *world) { w.session.MaxCalls = 3 },
			status: OutOfBudget, errPart: "limit", requests: 8,
		},
		"50 crash of a tool": {
			script: []answer{calls(call("a", "panics", "{}"), call("b", "exits", "{}"), call("c", "badeffects", "{}")), text("ok")}, status: OK, text: "ok", requests: 2,
			then: func(t *testing.T, w *world, _ []Event) {
				r := toolTexts(w.session.History)
				if !strings.Contains(r[0], "boom") || !strings.Contains(r[1], "did not return a result") || strings.Contains(r[2], "error") {
					t.Errorf("results: %q", r)
				}
			},
		},
		"a client that crashes": {script: []answer{{panics: true}}, status: Failed, errPart: "internal error", requests: 1},
		"ids are made unique": {
			script: []answer{calls(call("", "get", `{"n":1}`), call("", "get", `{"n":2}`)), calls(call("call", "get", `{"n":3}`), call("call", "get", `{"n":4}`)), text("ok")},
			status: OK, text: "ok", requests: 3,
		},
		"a name that no service takes back": {
			script: []answer{calls(call("a", "functions.get me\x00"+strings.Repeat("ü", 99), "{}")), text("ok")}, status: OK, text: "ok", requests: 2,
		},
		"broken text": {
			script: []answer{{text: "a\xffb", calls: []chat.ToolCall{call("a", "get", "{\"text\":\"\xff\",\"path\":\"\\ud83d\"}")}}, text("ok")}, status: OK, text: "ok", requests: 2,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.script...)
			if c.setup != nil {
				c.setup(w)
			}
			done, events := w.say("do it")
			want(t, "status", done.Status, c.status)
			want(t, "text", done.Text, c.text)
			if c.errPart != "" {
				wantErr(t, done.Err, c.errPart)
			}
			want(t, "requests", len(w.model.requests), c.requests)
			if c.ran != nil && !slices.Equal(w.tools.ran, c.ran) {
				t.Errorf("ran %q, want %q", w.tools.ran, c.ran)
			}
			if c.then != nil {
				c.then(t, w, events)
			}
			want(t, "calls counted", done.Usage.Calls+countErrors(c.script, c.requests), c.requests)
		})
	}
}

// countErrors is the number of requests that brought no answer to count.
func countErrors(script []answer, requests int) int {
	n := 0
	for i := range requests {
		a := script[min(i, len(script)-1)]
		usable := strings.TrimSpace(a.text) != "" && !a.started
		if a.nothing || a.panics || a.err != nil && !usable {
			n++
		}
	}
	return n
}

// Two programs that go on with one conversation store their messages in turn.
func TestInterleavedResults(t *testing.T) {
	t.Parallel()
	result := func(id, text string) chat.Message {
		return chat.Message{Role: chat.Tool, ToolCallID: id, Name: "get", Content: chat.Text(text)}
	}
	asks := func(id string) chat.Message {
		return chat.Message{Role: chat.Assistant, ToolCalls: []chat.ToolCall{call(id, "get", "{}")}}
	}
	in := []chat.Message{{Role: chat.User, Content: chat.Text("both")}, asks("a"), asks("b"), result("a", "of a"), result("b", "of b"), asks("a"), asks("c"), result("a", "again"), result("x", "")}
	got := map[string]string{}
	out := Sendable(in)
	for _, m := range out {
		if m.Role == chat.Tool {
			got[m.ToolCallID] = m.Content.String()
		}
	}
	if err := checkPairs(out); err != nil {
		t.Error(err)
	}
	want(t, "a", got["a"], "of a")
	want(t, "b", got["b"], "of b")
	want(t, "a again", got["a_2"], "again")
	wantErr(t, errors.New(got["c"]), "unknown: was running when the program died")
}
