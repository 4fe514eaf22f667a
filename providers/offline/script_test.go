package offline

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/provider"
)

func scripted(t *testing.T, lines string) (c provider.Client, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "script.jsonl")
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := open(t.Context(), provider.Endpoint{Script: file})
	if err != nil {
		t.Fatal(err)
	}
	return c, file
}

// session asks as the loop does: every answer but an error is kept.
type session struct {
	id string
	m  []chat.Message
}

func (s *session) next(t *testing.T, c provider.Client) string {
	t.Helper()
	r := &provider.Request{Messages: s.m, Options: provider.Options{SessionID: s.id}}
	m, err := provider.Collect(c.Stream(t.Context(), r))
	if err != nil {
		return "error: " + err.Error()
	}
	if len(m.ToolCalls) == 0 && m.Content.Empty() {
		return "(" + m.Reasoning + ")" // the loop keeps no empty answer
	}
	s.m = append(s.m, m)
	for _, c := range m.ToolCalls {
		s.m = append(s.m, chat.ToolResult(c.ID, c.Function.Name, "{}"))
	}
	if len(m.ToolCalls) > 0 {
		f := m.ToolCalls[0].Function
		return f.Name + " " + f.Arguments
	}
	s.m = append(s.m, chat.UserText("go on"))
	return m.Content.String()
}

const play = `# a comment
{"text": "one"}

{"error": {"status": 429, "message": "slow down", "retry_after": 1.5}}
{"calls": [{"name": "read_file", "arguments": {"path": "a"}}, {"name": "todo"}]}
{"reasoning": "hm"}
{"calls": [{"name": "x", "arguments": "{broken"}]}
{"text": "six"}
`

var played = []string{"one", "error: HTTP 429: slow down", `read_file {"path": "a"}`, "(hm)", "x {broken", "six", ended, ended}

func TestScript(t *testing.T) {
	t.Parallel()
	c, _ := scripted(t, play)
	s := session{id: "s", m: []chat.Message{chat.UserText("go")}}
	for i, want := range played {
		if got := s.next(t, c); got != want {
			t.Errorf("call %d: %q, want %q", i+1, got, want)
		}
	}
	// Another session plays its own.
	other := session{id: "o", m: []chat.Message{chat.UserText("go")}}
	if got := other.next(t, c); got != "one" {
		t.Errorf("the other session began with %q", got)
	}
}

// A session that is resumed in a new process goes on where it was.
func TestScriptResumes(t *testing.T) {
	t.Parallel()
	for stop := range played {
		c, file := scripted(t, play)
		s := session{id: "s", m: []chat.Message{chat.UserText("go")}}
		for range stop {
			s.next(t, c)
		}
		again, err := open(t.Context(), provider.Endpoint{Script: file})
		if err != nil {
			t.Fatal(err)
		}
		want := played[stop]
		switch stop {
		case 2, 4: // the line before left no message; it is played once more
			want = played[stop-1]
		}
		if got := s.next(t, again); got != want {
			t.Errorf("after %d calls: %q, want %q", stop, got, want)
		}
	}
}

func TestScriptResumesCutAnswers(t *testing.T) {
	t.Parallel()
	c, _ := scripted(t, `{"text": "half ", "finish": "length"}
{"text": "an answer"}
{"text": "next"}`)
	s := session{m: []chat.Message{chat.UserText("go"), chat.AssistantText("half an answer"), chat.UserText("on")}}
	if got := s.next(t, c); got != "next" {
		t.Errorf("got %q", got)
	}
}

// After a compaction the newest scripted call still says where it was.
func TestScriptAfterCompaction(t *testing.T) {
	t.Parallel()
	c, _ := scripted(t, play)
	call := chat.Message{Role: chat.Assistant, ToolCalls: []chat.ToolCall{chat.NewCall("call_line5_1", "x", "{}")}}
	s := session{id: "child", m: []chat.Message{chat.UserText("summary"), call, chat.ToolResult("call_line5_1", "x", "{}")}}
	if got := s.next(t, c); got != "six" {
		t.Errorf("got %q", got)
	}
}

func TestScriptDetails(t *testing.T) {
	t.Parallel()
	c, _ := scripted(t, `{"text": "half", "finish": "length", "usage": {"input_tokens": 900, "output_tokens": 5}}
{"text": "begun", "error": {"status": 503, "message": "busy"}}
{"delay_ms": 60000, "text": "never"}`)
	r := &provider.Request{Options: provider.Options{SessionID: "s"}}
	m := ask(t, c, r)
	if m.FinishReason != chat.FinishLength || m.Usage.Input != 900 || m.Usage.Calls != 1 {
		t.Errorf("%+v, usage %+v", m, m.Usage)
	}
	_, err := provider.Collect(c.Stream(t.Context(), r))
	var pe *provider.Error
	if !errors.As(err, &pe) || pe.Class != provider.ClassOverloaded || !pe.Partial {
		t.Errorf("error %#v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := provider.Collect(c.Stream(ctx, r)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a delay outlives its caller: %v", err)
	}
}

func TestScriptErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ id, script, want string }{
		{"no-json", "{\"text\": \"a\"}\n\nhello", "s.jsonl:3: "},
		{"unknown-field", `{"txt": "a"}`, `s.jsonl:1: json: unknown field "txt"`},
		{"two-values", `{"text": "a"} {"text": "b"}`, "one JSON object"},
		{"null", `null`, "one JSON object"},
		{"no-name", `{"calls": [{"arguments": {}}]}`, "a call has no name"},
		{"finish", `{"finish": "done"}`, "finish is one of stop, tool_calls, length, content_filter"},
		{"delay", `{"delay_ms": -1}`, "negative"},
		{"type", `{"text": 1}`, "s.jsonl:1: "},
	} {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			_, err := readScript("s.jsonl", []byte(c.script))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
		})
	}
}

func FuzzScript(f *testing.F) {
	f.Add([]byte(play))
	f.Add([]byte(`{"error":{"status":-1,"retry_after":1e300}}`))
	f.Add([]byte(`{"calls":[{"name":"a","arguments":null},{"name":"b","arguments":[1]}],"usage":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		lines, err := readScript("f", data)
		if err != nil {
			return
		}
		s := &script{lines: lines, played: map[string]int{}}
		for i := range lines {
			lines[i].Delay = 0
		}
		r := &provider.Request{Messages: []chat.Message{chat.UserText("go")}}
		for range min(len(lines), 5) + 1 {
			if m, err := provider.Collect(s.Stream(t.Context(), r)); err == nil {
				r.Messages = append(r.Messages, m)
			}
		}
	})
}
