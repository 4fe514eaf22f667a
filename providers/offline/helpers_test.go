package offline

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/tool"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares a text with testdata/NAME.golden.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got+"\n" != string(want) {
		t.Errorf("%s:\n--- got ---\n%s\n--- want ---\n%s", file, got, want)
	}
}

// schemas of the tools that the tests offer.
var schemas = map[string]string{
	"read_file":    `{"type":"object","properties":{"path":{"type":"string"},"offset":{"type":"integer","default":1},"limit":{"type":"integer"}},"required":["path"]}`,
	"write_file":   `{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`,
	"search_files": `{"type":"object","properties":{"pattern":{"type":"string"},"target":{"type":"string","enum":["content","files"]},"path":{"type":"string"}},"required":["pattern"]}`,
	"terminal":     `{"type":"object","properties":{"command":{"type":"string"},"background":{"type":"boolean"},"timeout":{"type":"integer"}},"required":["command"]}`,
	"todo":         `{"type":"object","properties":{"todos":{"type":"array","items":{"type":"object"}},"merge":{"type":"boolean"}},"required":[]}`,
	"memory":       `{"type":"object","properties":{"action":{"type":"string","enum":["add","replace","remove"]},"target":{"type":"string","enum":["memory","user"]},"content":{"type":"string"},"old_text":{"type":"string"}},"required":["action","target"]}`,
	"clarify":      `{"type":"object","properties":{"question":{"type":"string"},"choices":{"type":"array","items":{"type":"string"}}},"required":["question"]}`,
	"skill_view":   `{"type":"object","properties":{"name":{"type":"string"},"file_path":{"type":"string"}},"required":["name"]}`,
	"weather":      `{"type":"object","properties":{"location":{"type":"string"},"units":{"type":"string","enum":["metric","imperial"],"default":"metric"},"days":{"type":"integer"}},"required":["location"]}`,
	"add":          `{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"},"exact":{"type":"boolean"}},"required":["a","b","exact"]}`,
	"replace":      `{"type":"object","properties":{"old":{"type":"string"},"new":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}}},"required":["old","new"]}`,
	"tag":          `{"type":"object","properties":{"tags":{"type":"array","items":{"type":"string"}},"meta":{"type":"object"}},"required":["tags"]}`,
	"recent":       `{"type":"object","properties":{"query":{"type":["string","null"]},"limit":{"type":"integer"}}}`,
}

func defs(names ...string) []tool.Definition {
	var out []tool.Definition
	for _, n := range names {
		out = append(out, tool.Definition{Type: "function", Function: tool.Function{Name: n, Parameters: json.RawMessage(schemas[n])}})
	}
	return out
}

var all = []string{"clarify", "memory", "read_file", "search_files", "skill_view", "terminal", "todo", "write_file"}

func ask(t *testing.T, c provider.Client, r *provider.Request) chat.Message {
	t.Helper()
	m, err := provider.Collect(c.Stream(t.Context(), r))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// run plays a turn: results answers every call. It returns the calls, one line
// for each round, and the final text.
func run(t *testing.T, text string, offered []tool.Definition, results func(chat.ToolCall) string) (rounds []string, final string) {
	t.Helper()
	r := &provider.Request{Model: "offline", Messages: []chat.Message{chat.UserText(text)}, Tools: offered}
	for range 20 {
		m := ask(t, model{}, r)
		if len(m.ToolCalls) == 0 {
			return rounds, m.Content.String()
		}
		r.Messages = append(r.Messages, m)
		var shown []string
		for _, c := range m.ToolCalls {
			shown = append(shown, c.Function.Name+" "+c.Function.Arguments)
			r.Messages = append(r.Messages, chat.ToolResult(c.ID, c.Function.Name, results(c)))
		}
		rounds = append(rounds, strings.Join(shown, " & "))
	}
	t.Fatal("the turn does not end")
	return nil, ""
}

func ok(chat.ToolCall) string { return `{"result":"ok"}` }
