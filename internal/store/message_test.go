package store

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/chat"
)

var scraps = []string{
	"", " ", "plain", "<b>&amp;</b>", "line\nline", "\x00", "\x00json:", "\x00json:[1]", "\x00json:not", "备份方案", "\xff\xfe", "🚀 é", `"q"`, `\u0000`, "\u2028",
	"tab\t", "\x00json:" + `[{"type":"text","text":"x"}]`, strings.Repeat("long ", 300),
}

var values = []string{`null`, `1`, `"x"`, `[1, 2]`, `{ "a" : [ ] }`, `12345678901234567890`, `1e400`, `"<>&"`, `{"b":"\ud800"}`}

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

func randomMessage(r *rand.Rand) chat.Message {
	m := chat.Message{Role: []chat.Role{chat.User, chat.Assistant, chat.Tool, chat.System, "odd"}[r.IntN(5)]}
	if r.IntN(4) == 0 {
		m.Content.Parts = []chat.Part{}
		for range r.IntN(4) {
			p := chat.Part{Type: "text", Text: strings.ToValidUTF8(pick(r, scraps), "?")}
			switch r.IntN(3) {
			case 0:
				p = chat.Part{Type: "image_url", ImageURL: "data:image/png;base64,AA"}
			case 1:
				p = chat.Part{Type: "odd", Raw: json.RawMessage(`{ "type": "odd", "x": ` + pick(r, values[:8]) + ` }`)}
			}
			m.Content.Parts = append(m.Content.Parts, p)
		}
	} else {
		m.Content.Text = pick(r, scraps)
	}
	if r.IntN(2) == 0 {
		m.Name = pick(r, []string{"bob", "read_file", "备"})
	}
	if r.IntN(2) == 0 {
		m.ToolCallID = "call_1"
	}
	for range r.IntN(3) {
		c := chat.NewCall("id", pick(r, []string{"a", "b"}), pick(r, scraps))
		if r.IntN(2) == 0 {
			c.Extra = map[string]json.RawMessage{"extra_content": json.RawMessage(pick(r, values))}
		}
		m.ToolCalls = append(m.ToolCalls, c)
	}
	m.Reasoning = pick(r, scraps)
	if r.IntN(2) == 0 {
		s := pick(r, scraps)
		m.ReasoningContent = &s
	}
	for _, p := range []*json.RawMessage{&m.ReasoningDetails, &m.CodexReasoningItems, &m.CodexMessageItems} {
		if r.IntN(3) == 0 {
			*p = json.RawMessage(pick(r, values))
		}
	}
	m.FinishReason = pick(r, []string{"", "stop", "length"})
	if r.IntN(3) == 0 {
		m.Usage = &chat.Usage{Input: r.IntN(1000), Output: r.IntN(9), Reasoning: 1, Calls: 1}
	}
	for range r.IntN(3) {
		put(&m.Extra, pick(r, []string{"x", "_meta", "ß"}), json.RawMessage(pick(r, values)))
	}
	return m
}

// same compares what may travel on a wire, byte for byte, and what JSON hides.
func same(a, b chat.Message) bool {
	deep := func(m chat.Message) string {
		var s strings.Builder
		enc := func(parts ...string) {
			for _, p := range parts {
				s.WriteString(p + "\x1f")
			}
		}
		enc(string(m.Role), m.Content.Text, m.Name, m.ToolCallID, m.Reasoning, m.FinishReason, string(m.ReasoningDetails), string(m.CodexReasoningItems), string(m.CodexMessageItems))
		if m.ReasoningContent != nil {
			enc("rc", *m.ReasoningContent)
		}
		for _, p := range m.Content.Parts {
			b, _ := p.MarshalJSON()
			enc("part", string(b))
		}
		if m.Content.Parts != nil {
			enc("parts")
		}
		for _, c := range m.ToolCalls {
			enc(c.ID, c.Type, c.Function.Name, c.Function.Arguments, string(c.Extra["extra_content"]))
		}
		for _, k := range []string{"x", "_meta", "ß"} {
			enc(k, string(m.Extra[k]))
		}
		if m.Usage != nil {
			u, _ := json.Marshal(m.Usage)
			enc(string(u))
		}
		return s.String()
	}
	return deep(a) == deep(b)
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	d := open(t)
	e := open(t)
	ctx := t.Context()
	var want []chat.Message
	for range 150 {
		want = append(want, randomMessage(r))
	}
	say(t, d, "s", want...)
	compare := func(where string, d *DB, id string) {
		t.Helper()
		rec, err := d.Load(ctx, id)
		if err != nil {
			t.Fatal(where, err)
		}
		if len(rec.Messages) != len(want) {
			t.Fatalf("%s: %d messages, want %d", where, len(rec.Messages), len(want))
		}
		for i, m := range rec.Messages {
			if !same(m, want[i]) {
				t.Fatalf("%s: message %d\n got %#v\nwant %#v", where, i, m, want[i])
			}
		}
	}
	compare("load", d, "s")
	var out strings.Builder
	if err := d.Export(ctx, &out, JSONL); err != nil {
		t.Fatal(err)
	}
	if n, err := e.Import(ctx, strings.NewReader(out.String())); err != nil || n.Sessions != 1 || n.Messages != len(want) {
		t.Fatalf("import: %+v, %v", n, err)
	}
	compare("import", e, "s")
	if err := d.Branch(ctx, "s", "b", ""); err != nil {
		t.Fatal(err)
	}
	compare("branch", d, "b")
	if _, err := d.Truncate(ctx, "b", 0); err != nil {
		t.Fatal(err)
	}
	if back, err := d.Redo(ctx, "b"); err != nil || len(back) != len(want) {
		t.Fatalf("redo: %d, %v", len(back), err)
	}
	compare("redo", d, "b")
	if p, err := d.Check(ctx); err != nil || len(p) > 0 {
		t.Errorf("check: %v %v", p, err)
	}
}
