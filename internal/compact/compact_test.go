package compact

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/tool"
)

// world is a compactor with what it asked and committed.
type world struct {
	*Compactor
	s         *agent.Session
	asked     []string
	committed [][]chat.Message
	answer    func(question string) (string, error)
	now       time.Time
}

func newWorld(window int) *world {
	w := &world{s: &agent.Session{Session: &tool.Session{ID: "s1"}, Window: window}, now: time.Unix(1000, 0)}
	w.answer = func(string) (string, error) { return fmt.Sprintf("## Goal\nsummary %d", len(w.asked)), nil }
	w.Compactor = New(Deps{
		Ask: func(_ context.Context, _, user string, _ int) (string, error) {
			w.asked = append(w.asked, user)
			return w.answer(user)
		},
		Commit: func(_ context.Context, s *agent.Session, m []chat.Message) error {
			w.committed = append(w.committed, m)
			ts := *s.Session
			ts.ID = fmt.Sprintf("s%d", len(w.committed)+1)
			s.Session = &ts
			return nil
		},
		Now: func() time.Time { return w.now },
	})
	return w
}

func dump(m []chat.Message) string {
	var b strings.Builder
	for i, x := range m {
		fmt.Fprintf(&b, "%d %s %.70q", i, x.Role, x.Content.String())
		for _, c := range x.ToolCalls {
			fmt.Fprintf(&b, " call=%s", c.ID)
		}
		fmt.Fprintf(&b, " %s\n", x.ToolCallID)
	}
	return b.String()
}

// TestCase58 is the original's: 60 messages become three, a summary, and the
// newest ones.
func TestCase58(t *testing.T) {
	t.Parallel()
	var m []chat.Message
	for i := range 30 {
		m = append(m, chat.UserText(fmt.Sprintf("question %d %s", i, strings.Repeat("q", 4000))),
			chat.AssistantText(fmt.Sprintf("answer %d %s", i, strings.Repeat("a", 4000))))
	}
	m[58].Content = chat.Text("the last question")
	w := newWorld(64_000)
	out, err := w.Compact(t.Context(), w.s, m, agent.Threshold)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if out[i].Content.String() != m[i].Content.String() {
			t.Errorf("message %d changed", i)
		}
	}
	if text := out[3].Content.String(); !strings.HasPrefix(text, Marker) || !strings.Contains(text, "## Goal\nsummary") || !strings.Contains(text, "session s1") {
		t.Errorf("no summary: %.300q", text)
	}
	if out[4].Role != chat.User || !strings.Contains(dump(out[4:]), "the last question") {
		t.Errorf("tail:\n%s", dump(out))
	}
	checkSound(t, out)
	if len(w.asked) == 0 || !strings.Contains(strings.Join(w.asked, ""), "question 9 ") || strings.Contains(strings.Join(w.asked, ""), "the last question") {
		t.Errorf("asked %d times", len(w.asked))
	}
	if len(w.committed) != 1 || w.s.ID != "s2" {
		t.Errorf("committed %d times, session %s", len(w.committed), w.s.ID)
	}

	// The next one updates the summary instead of writing a new one.
	out = append(out, m[4:58]...)
	out = append(out, chat.UserText("and now this"))
	asked := len(w.asked)
	again, err := w.Compact(t.Context(), w.s, out, agent.Threshold)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(w.asked[asked], "# The summary so far\n\n## Goal\nsummary") {
		t.Errorf("the old summary was not shown: %.300q", w.asked[asked])
	}
	if n := strings.Count(dump(again), Marker); n != 1 {
		t.Errorf("%d summaries:\n%s", n, dump(again))
	}
	if again[2].Content.String() != m[2].Content.String() || again[len(again)-1].Content.String() != "and now this" {
		t.Errorf("ends changed:\n%s", dump(again))
	}
	checkSound(t, again)
}

// checkSound asserts what every service may expect.
func checkSound(t *testing.T, m []chat.Message) {
	t.Helper()
	if err := agent.CheckPairs(m); err != nil {
		t.Errorf("%v\n%s", err, dump(m))
	}
	for i := 1; i < len(m); i++ {
		if m[i].Role == m[i-1].Role && m[i].Role != chat.Tool {
			t.Errorf("two %s messages at %d\n%s", m[i].Role, i, dump(m))
		}
	}
	if len(m) > 0 && m[0].Role != chat.User {
		t.Errorf("begins with %s", m[0].Role)
	}
}

// random is a conversation as the loop leaves it at the moment of a request.
func random(r *rand.Rand, turns int) []chat.Message {
	var m []chat.Message
	id := 0
	long := func(most int) string { return strings.Repeat("x ", r.IntN(most)+1) }
	for n := range turns {
		m = append(m, chat.UserText(fmt.Sprintf("request %d %s", n, long(400))))
		for range r.IntN(6) {
			a := chat.AssistantText("")
			var results []chat.Message
			for range 1 + r.IntN(3) {
				id++
				c := chat.NewCall(fmt.Sprintf("c%d", id), "terminal", fmt.Sprintf(`{"command":"do %d","text":%q}`, id, long(600)))
				a.ToolCalls = append(a.ToolCalls, c)
				results = append(results, chat.ToolResult(c.ID, "terminal", fmt.Sprintf(`{"output":%q,"exit_code":%d}`, long(2000), id)))
			}
			m = append(append(m, a), results...)
		}
		if n < turns-1 || r.IntN(2) == 0 {
			m = append(m, chat.AssistantText(fmt.Sprintf("answer %d %s", n, long(500))))
		}
	}
	if m[len(m)-1].Role == chat.Assistant {
		m = append(m, chat.UserText("request last"))
	}
	return m
}

// TestAnyConversation compacts random ones again and again: no call is left
// without its result (F-112), the live request stays to the letter (F-113),
// every call is either there or on record (F-114).
func TestAnyConversation(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := newWorld([]int{8000, 16_000, 32_000, 128_000}[r.IntN(4)])
		var m []chat.Message
		for round := range 3 {
			more := random(r, 1+r.IntN(20))
			for i := range more { // ids are unique in a session
				for k := range more[i].ToolCalls {
					more[i].ToolCalls[k].ID = fmt.Sprintf("r%d%s", round, more[i].ToolCalls[k].ID)
				}
				if more[i].ToolCallID != "" {
					more[i].ToolCallID = fmt.Sprintf("r%d%s", round, more[i].ToolCallID)
				}
			}
			if len(m) > 0 && m[len(m)-1].Role == chat.User {
				m = append(m, chat.AssistantText("yes"))
			}
			if len(m) > 0 && m[len(m)-1].Role == chat.Tool {
				m = append(m, chat.AssistantText("done"))
			}
			m = append(m, more...)
			live := m[liveRequest(m)].Content.String()
			calls := map[string]bool{}
			for _, x := range m {
				for _, c := range x.ToolCalls {
					calls[c.ID] = true
				}
			}
			out, err := w.Compact(t.Context(), w.s, m, []agent.Reason{agent.Threshold, agent.Overflow, agent.Manual}[r.IntN(3)])
			if err != nil {
				continue
			}
			checkSound(t, out)
			text := ""
			for _, x := range out {
				text += x.Content.String() + "\n"
				for _, c := range x.ToolCalls {
					delete(calls, c.ID)
				}
			}
			if !strings.Contains(text, live) {
				t.Errorf("seed %d: the live request is lost\n%s", seed, dump(out))
			}
			if !strings.Contains(text, " before them") {
				for id := range calls {
					if !strings.Contains(text, id+": [terminal]") {
						t.Errorf("seed %d: call %s is not on record", seed, id)
					}
				}
			}
			if t.Failed() {
				t.Fatalf("seed %d round %d before:\n%s\nafter:\n%s", seed, round, dump(m), dump(out))
			}
			m = out
		}
	}
}

func TestFailureKeepsEverything(t *testing.T) {
	t.Parallel()
	w := newWorld(16_000)
	m := random(rand.New(rand.NewPCG(1, 2)), 60)
	for i := range m {
		if m[i].Role == chat.User {
			m[i].Content.Text += strings.Repeat("long ", 200)
		}
	}
	w.answer = func(string) (string, error) { return "", errors.New("overloaded") }
	if _, err := w.Compact(t.Context(), w.s, m, agent.Threshold); err == nil || !strings.Contains(err.Error(), "overloaded") {
		t.Fatalf("err %v", err)
	}
	asked := len(w.asked)
	if _, err := w.Compact(t.Context(), w.s, m, agent.Threshold); !errors.Is(err, agent.ErrNotNow) || len(w.asked) != asked {
		t.Errorf("tried again at once: %v", err)
	}
	w.now = w.now.Add(2 * time.Minute)
	first := len(w.asked[0])
	_, _ = w.Compact(t.Context(), w.s, m, agent.Threshold)
	if len(w.asked) <= asked || len(w.asked[asked]) >= first {
		t.Errorf("the second try was not a smaller one: %d, then %d", first, len(w.asked[asked]))
	}
	if len(w.committed) != 0 || w.s.ID != "s1" {
		t.Error("a failure changed something")
	}
	out, err := w.Compact(t.Context(), w.s, m, agent.Overflow)
	if err != nil {
		t.Fatal(err)
	}
	checkSound(t, out)
	if !strings.Contains(dump(out), Marker) || len(w.committed) != 1 {
		t.Errorf("no way out at the hard limit:\n%s", dump(out))
	}
	// The next summary takes up the list that stood in for one.
	w.answer = func(string) (string, error) { return "## Goal\nreal", nil }
	out = append(out, random(rand.New(rand.NewPCG(3, 4)), 30)...)
	if out, err = w.Compact(t.Context(), w.s, out, agent.Manual); err != nil || !strings.Contains(w.asked[len(w.asked)-1], "The summary so far") {
		t.Errorf("%v\n%s", err, dump(out))
	}
}

// TestToolsKeepTheirState: what a tool carries is in the note, and its newest
// result can still be found, after a second compaction and a restart too.
func TestToolsKeepTheirState(t *testing.T) {
	t.Parallel()
	w := newWorld(16_000)
	w.Carry = func(_ *agent.Session, m []chat.Message) []Carried {
		text, _ := agent.LastResult(m, "todo")
		return []Carried{{"todo", "- [>] 1. buy\n" + text}, {"read_file", ""}}
	}
	todos := `{"todos":["` + strings.Repeat("a long one ", 100) + `"]}`
	m := []chat.Message{
		chat.UserText("a"), chat.AssistantText("b"), chat.UserText("c"),
		{Role: chat.Assistant, ToolCalls: []chat.ToolCall{chat.NewCall("t1", "todo", "{}"), chat.NewCall("x1", "terminal", "{}")}},
		chat.ToolResult("t1", "todo", todos), chat.ToolResult("x1", "terminal", `{"output":"x"}`), chat.AssistantText("planned"),
	}
	for round := range 3 {
		for range 30 {
			m = append(m, chat.UserText(strings.Repeat("q", 800)), chat.AssistantText(strings.Repeat("a", 800)))
		}
		m = append(m, chat.UserText("go on"))
		out, err := w.Compact(t.Context(), w.s, m, agent.Threshold)
		if err != nil {
			t.Fatal(err)
		}
		checkSound(t, out)
		if text, ok := agent.LastResult(out, "todo"); !ok || text != todos {
			t.Errorf("round %d: the list is lost: %q\n%s", round, text, dump(out))
		}
		if n := strings.Count(dump(out), "call=t1"); n != 1 {
			t.Errorf("the call is there %d times\n%s", n, dump(out))
		}
		for _, x := range out {
			if strings.HasPrefix(x.Content.String(), Marker) && !strings.Contains(x.Content.String(), "- [>] 1. buy") {
				t.Errorf("round %d: the note lacks what the tool keeps: %s", round, x.Content)
			}
		}
		m = append(out, chat.AssistantText("ok"))
	}
}

func TestLongChain(t *testing.T) {
	t.Parallel()
	w := newWorld(16_000)
	m := []chat.Message{chat.UserText("before"), chat.AssistantText("yes"), chat.UserText("also"), chat.AssistantText("fine"), {
		Role:    chat.User,
		Content: chat.Content{Parts: []chat.Part{{Type: "text", Text: "the request of today"}, {Type: "image_url", ImageURL: "data:image/png;base64," + strings.Repeat("A", 900_000)}}},
	}}
	if n := agent.Tokens(m...); n > 2000 {
		t.Errorf("an image counts as %d tokens", n)
	}
	for i := range 60 {
		m = append(m, chat.Message{Role: chat.Assistant, Content: chat.Text(strings.Repeat("thinking ", 100)), ToolCalls: []chat.ToolCall{chat.NewCall(fmt.Sprint("c", i), "terminal", `{"command":"ls"}`)}},
			chat.ToolResult(fmt.Sprint("c", i), "terminal", fmt.Sprintf(`{"output":"%d%s"}`, i, strings.Repeat("y", 900))))
	}
	out, err := w.Compact(t.Context(), w.s, m, agent.Threshold)
	if err != nil {
		t.Fatal(err)
	}
	checkSound(t, out)
	found := false
	for _, x := range out {
		if x.Role == chat.User && strings.Contains(x.Content.String(), "the request of today") && len(x.Content.Parts) > 1 {
			found = true
		}
	}
	if !found {
		t.Errorf("the request that is being worked on is lost\n%s", dump(out))
	}
	if last := out[len(out)-1]; last.ToolCallID != "c59" || len(last.Content.Text) < 900 {
		t.Errorf("the newest result is not whole: %.80q", last.Content.Text)
	}
}

// TestManualAlwaysDoes: who asks for it gets it, though there is room.
func TestManualAlwaysDoes(t *testing.T) {
	t.Parallel()
	w := newWorld(200_000)
	w.About("the database")
	var m []chat.Message
	for i := range 8 {
		m = append(m, chat.UserText(fmt.Sprint("question ", i)), chat.AssistantText(strings.Repeat("answer ", 300)))
	}
	out, err := w.Compact(t.Context(), w.s, m, agent.Manual)
	if err != nil {
		t.Fatal(err)
	}
	checkSound(t, out)
	if agent.Tokens(out...) > agent.Tokens(m...)*3/4 {
		t.Errorf("%d tokens of %d are left", agent.Tokens(out...), agent.Tokens(m...))
	}
	if !strings.Contains(w.asked[0], "concerns: the database") {
		t.Error("the topic was not passed on")
	}
}

func TestTooShort(t *testing.T) {
	t.Parallel()
	w := newWorld(16_000)
	if _, err := w.Compact(t.Context(), w.s, []chat.Message{chat.UserText("a"), chat.AssistantText("b"), chat.UserText("c")}, agent.Manual); !errors.Is(err, errShort) {
		t.Errorf("err %v", err)
	}
}

// TestPruneIsQuick: a thousand outputs are looked at before every compaction.
func TestPruneIsQuick(t *testing.T) {
	var m []chat.Message
	for i := range 1000 {
		id := fmt.Sprint("c", i)
		m = append(m, chat.Message{Role: chat.Assistant, ToolCalls: []chat.ToolCall{chat.NewCall(id, "terminal", `{"command":"go test ./..."}`)}},
			chat.ToolResult(id, "terminal", fmt.Sprintf(`{"output":%q,"exit_code":0}`, strings.Repeat(fmt.Sprintf("line %d\n", i%700), 100))))
	}
	best := time.Hour
	var out []chat.Message
	for range 5 {
		began := time.Now()
		out = prune(m, len(m)-20)
		best = min(best, time.Since(began))
	}
	t.Logf("pruning 1,000 outputs: %v, %d tokens to %d", best, agent.Tokens(m...), agent.Tokens(out...))
	if best > 20*time.Millisecond*slow {
		t.Errorf("pruning 1,000 outputs took %v", best)
	}
	if text := out[201].Content.String(); text != repeated {
		t.Errorf("an output that came again: %q", text)
	}
	if text := out[1301].Content.String(); text != "[terminal] ran `go test ./...` -> exit 0, 100 lines output" {
		t.Errorf("an old output: %q", text)
	}
	if text := out[1999].Content.String(); text != m[1999].Content.String() {
		t.Errorf("the newest output: %q", text)
	}
	if text := m[201].Content.String(); len(text) < 500 {
		t.Error("the history itself was changed")
	}
	again := prune(out, len(out)-20)
	if agent.Tokens(again...) != agent.Tokens(out...) {
		t.Error("pruning twice prunes more")
	}
}

func TestArgumentsStayJSON(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", 900)
	m := []chat.Message{{Role: chat.Assistant, ToolCalls: []chat.ToolCall{chat.NewCall("a", "write_file", fmt.Sprintf(`{"path":"x","n":12345678901234567890,"content":%q}`, long))}}, chat.ToolResult("a", "write_file", "{}")}
	args := prune(m, 2)[0].ToolCalls[0].Function.Arguments
	if len(args) > 600 || !strings.Contains(args, `"n":12345678901234567890`) || !strings.Contains(args, "…[cut]") {
		t.Errorf("arguments: %s", args)
	}
	if m[0].ToolCalls[0].Function.Arguments == args {
		t.Error("the history itself was changed")
	}
}

func TestMembers(t *testing.T) {
	t.Parallel()
	o := members(` {"a":"x\"y\\","n" : -1.5 ,"l":[1,{"k":"]}"}],"o":{"z":1},"b":true,"nil":null,"body":"1\n2\n","last":7}`)
	for key, want := range map[string]string{"a": `x"y\`, "n": "-1.5", "l": "", "b": "true", "nil": "", "last": "7", "none": ""} {
		if got := o.text(key); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
	if n := o.lines("body"); n != 2 {
		t.Errorf("%d lines", n)
	}
	for _, s := range []string{"", "{", `{"a`, `{"a"`, `{"a":`, `{"a":"`, `{"a":[`, "text", "[1]", `{"a":1`} {
		if o := members(s); o.text("b") != "" {
			t.Errorf("%q: %v", s, o)
		}
	}
}
