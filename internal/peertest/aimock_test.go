package peertest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wires are the formats that aimock speaks and where it does so.
var wires = []struct{ name, mode, base, path string }{
	{"chat completions", "chat_completions", "/v1", "/v1/chat/completions"},
	{"responses", "codex_responses", "/v1", "/v1/responses"},
	{"anthropic messages", "anthropic_messages", "", "/v1/messages"},
}

// event is one line of chat --json.
type event struct {
	Type, Text, Name, Status, Error string
	Result                          json.RawMessage
}

// talk asks the program one thing and returns its events.
func talk(t *testing.T, server *Aimock, mode, base, text string) (*Home, []event) {
	t.Helper()
	url := server.URL + base
	t.Cleanup(func() {
		if t.Failed() {
			for _, e := range server.Journal(t) {
				t.Logf("%s answered %d to messages %s", e.Path, e.Response.Status, e.messages())
			}
		}
	})
	h := NewHome(t, fmt.Sprintf("model:\n  provider: custom\n  default: gpt-4o\n  base_url: %s\n  api_mode: %s\n  api_key: sk-test\n", url, mode))
	h.Write(t, "a.txt", "alpha is in a\n")
	h.Write(t, "b.txt", "beta is in b\n")
	out, stderr, code := h.Run(t, "chat", "--json", "-q", text)
	var events []event
	for line := range strings.Lines(out) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("chat --json printed %q: %v", line, err)
		}
		events = append(events, e)
	}
	if code != 0 {
		t.Fatalf("exit %d\n%s\n%s", code, out, stderr)
	}
	return h, events
}

func last(t *testing.T, events []event) event {
	t.Helper()
	if len(events) == 0 {
		t.Fatal("there was no event")
	}
	return events[len(events)-1]
}

// TestAimockRounds plays three tool rounds, one of them with two calls. The
// fixtures demand the results of the round before, so the final text arrives
// only if every result went back as it should.
func TestAimockRounds(t *testing.T) {
	t.Parallel()
	for _, wire := range wires {
		t.Run(wire.name, func(t *testing.T) {
			t.Parallel()
			server := StartAimock(t, filepath.Join("testdata", "aimock.json"))
			_, events := talk(t, server, wire.mode, wire.base, "please do three rounds")
			done := last(t, events)
			if done.Type != "done" || done.Status != "ok" || done.Text != "All three rounds are done: alpha, beta, gamma. ✓" {
				t.Errorf("done is %+v", done)
			}
			var ran []string
			for _, e := range events {
				if e.Type == "tool_end" {
					ran = append(ran, e.Name)
				}
			}
			slices.Sort(ran)
			if want := []string{"read_file", "read_file", "terminal", "todo"}; !slices.Equal(ran, want) {
				t.Errorf("ran %v, want %v", ran, want)
			}
			journal := server.Journal(t)
			if len(journal) != 4 {
				t.Errorf("the server saw %d requests, want 4", len(journal))
			}
			for i, e := range journal {
				if e.Path != wire.path || e.Response.Status != 200 {
					t.Errorf("request %d: %s answered %d, want %s and 200", i, e.Path, e.Response.Status, wire.path)
				}
			}
		})
	}
}

// TestAimockTroubles has the server refuse, break down and hang up, each in
// another round. The conversation ends well, and a call of which only a part
// arrived is not run.
func TestAimockTroubles(t *testing.T) {
	t.Parallel()
	for _, wire := range wires {
		t.Run(wire.name, func(t *testing.T) {
			t.Parallel()
			server := StartAimock(t, filepath.Join("testdata", "aimock.json"))
			h, events := talk(t, server, wire.mode, wire.base, "go through troubles")
			done := last(t, events)
			if done.Type != "done" || done.Status != "ok" || done.Text != "Through all troubles to the end." {
				t.Errorf("done is %+v", done)
			}
			retries := 0
			for _, e := range events {
				if e.Type == "retry" {
					retries++
				}
			}
			if retries != 3 {
				t.Errorf("%d retries were told of, want 3", retries)
			}
			if _, err := os.Stat(filepath.Join(h.Work, "cut.txt")); !os.IsNotExist(err) {
				t.Errorf("a call that was cut off has run: %v", err)
			}
			if n := len(server.Journal(t)); n != 6 {
				t.Errorf("the server saw %d requests, want 6", n)
			}
		})
	}
}
