package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/chat"
)

// clock ticks a second at each look.
type clock struct{ t time.Time }

func (c *clock) now() time.Time {
	c.t = c.t.Add(time.Second)
	return c.t
}

func openClock(t *testing.T) (*DB, *clock) {
	t.Helper()
	c := &clock{time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	d, err := Open(filepath.Join(t.TempDir(), "home", "state.db"), Options{Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d, c
}

func TestNewID(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 3, 4, 0, time.Local)
	if id := NewID(now); !regexp.MustCompile(`^20260501_120304_[0-9a-f]{6}$`).MatchString(id) || id == NewID(now) {
		t.Error(id)
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	d, _ := openClock(t)
	say(t, d, "s", chat.UserText("x"))
	for _, name := range []string{d.Path(), d.Path() + "-wal", d.Path() + "-shm"} {
		st, err := os.Stat(name)
		if err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, st.Mode(), err)
		}
	}
}

func TestPathWithOddCharacters(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a?b %41#[x] é", "state.db")
	d := openAt(t, path)
	say(t, d, "s", chat.UserText("x"))
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	if len(d.spooled()) != 0 {
		t.Error("spool found")
	}
}

// Case 64.
func TestResolve(t *testing.T) {
	t.Parallel()
	d, _ := openClock(t)
	ctx := t.Context()
	if _, err := d.Latest(ctx, "cli"); !errors.Is(err, ErrNotFound) {
		t.Errorf("latest of nothing: %v", err)
	}
	for i, title := range []string{"x", "x #2", "100%", "a_b", "other #10", "other #9", ""} {
		if err := d.Create(ctx, Session{ID: fmt.Sprintf("2026_%d_%s", i, strings.Repeat("z", i)), Title: title}); err != nil {
			t.Fatal(err)
		}
	}
	for ref, want := range map[string]string{
		"x": "2026_1_z", "x #2": "2026_1_z", "X": "", "2026_0_": "2026_0_", "2026_5": "2026_5_zzzzz", "2026": "!", "other": "2026_4_zzzz",
		"100%": "2026_2_zz", "1": "", "%": "", "a_b": "2026_3_zzz", "aXb": "", " x ": "2026_1_z", "": "", "2026_": "!",
	} {
		got, err := d.Resolve(ctx, ref)
		switch want {
		case "":
			if !errors.Is(err, ErrNotFound) {
				t.Errorf("%q: %q, %v", ref, got, err)
			}
		case "!":
			if !errors.Is(err, ErrAmbiguous) {
				t.Errorf("%q: %q, %v", ref, got, err)
			}
		default:
			if got != want || err != nil {
				t.Errorf("%q: %q, %v, want %q", ref, got, err, want)
			}
		}
	}
}

func TestTitles(t *testing.T) {
	t.Parallel()
	d, _ := openClock(t)
	ctx := t.Context()
	for _, id := range []string{"a", "b"} {
		if err := d.Create(ctx, Session{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.SetTitle(ctx, "a", "  my\t\u200bnew \u202etitle\x07 "); err != nil {
		t.Fatal(err)
	}
	if s, err := d.Session(ctx, "a"); err != nil || s.Title != "my new title" {
		t.Errorf("%q, %v", s.Title, err)
	}
	err := d.SetTitle(ctx, "b", "my new title")
	if !errors.Is(err, ErrTitle) || !strings.Contains(err.Error(), "session a") {
		t.Errorf("taken: %v", err)
	}
	if err := d.SetTitle(ctx, "b", strings.Repeat("é", 101)); !errors.Is(err, ErrTitle) {
		t.Errorf("long: %v", err)
	}
	if err := d.SetTitle(ctx, "b", strings.Repeat("é", 100)); err != nil {
		t.Error(err)
	}
	if next, err := d.NextTitle(ctx, strings.Repeat("é", 100)); err != nil || len([]rune(next)) > 100 || !strings.HasSuffix(next, " #2") {
		t.Errorf("%q, %v", next, err)
	}
	if err := d.SetTitle(ctx, "a", ""); err != nil {
		t.Error(err)
	}
	if err := d.SetTitle(ctx, "nobody", "t"); !errors.Is(err, ErrNotFound) {
		t.Errorf("nobody: %v", err)
	}
	// A new session never fails for its title.
	if err := d.Create(ctx, Session{ID: "c", Title: strings.Repeat("é", 100)}); err != nil {
		t.Error(err)
	}
}

func TestLifeOfASession(t *testing.T) {
	t.Parallel()
	d, _ := openClock(t)
	ctx := t.Context()
	s := Session{ID: "s", Source: "cli", Model: "m", ModelConfig: json.RawMessage(`{"temperature": 1}`), SystemPrompt: "p", UserID: "u", Billing: Billing{"openai", "http://x", "key"}}
	for range 2 {
		if err := d.Create(ctx, s); err != nil { // the second changes nothing
			t.Fatal(err)
		}
		s.Model = "other"
	}
	half := 0.5
	for range 2 {
		if err := d.AddUsage(ctx, "s", chat.Usage{Input: 10, Output: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 1, Calls: 1}, Billing{}, Cost{Estimated: &half, Status: "estimated"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, reason := range []string{EndQuery, EndClose} {
		if err := d.End(ctx, "s", reason); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.SetSystemPrompt(ctx, "s", "built"); err != nil {
		t.Fatal(err)
	}
	got, err := d.Session(ctx, "s")
	if err != nil {
		t.Fatal(err)
	}
	if got.Usage != (chat.Usage{Input: 20, Output: 4, CacheRead: 6, CacheWrite: 8, Reasoning: 2, Calls: 2}) || *got.Cost.Estimated != 1 || got.Cost.Actual != nil ||
		got.EndReason != EndQuery || got.Ended.IsZero() || got.SystemPrompt != "built" || got.Model != "m" || string(got.ModelConfig) != `{"temperature": 1}` ||
		got.UserID != "u" || got.Billing.Provider != "openai" || got.Cost.Status != "estimated" {
		t.Errorf("%+v", got)
	}
	if err := d.Reopen(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	if got, err = d.Session(ctx, "s"); err != nil || !got.Ended.IsZero() || got.EndReason != "" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, v := range []string{"1", "2", ""} {
		if err := d.SetMeta(ctx, "goal:s", v); err != nil {
			t.Fatal(err)
		}
		if got, err := d.Meta(ctx, "goal:s"); err != nil || got != v {
			t.Errorf("meta %q, %v", got, err)
		}
	}
	for what, err := range map[string]error{
		"end": d.End(ctx, "none", "x"), "append": d.Append(ctx, "none", chat.UserText("x")), "delete": d.Delete(ctx, "none"),
		"usage": d.AddUsage(ctx, "none", chat.Usage{}, Billing{}, Cost{}),
	} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := d.Load(ctx, "none"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}

// A chat goes on when somebody deletes its session meanwhile.
func TestAppendToDeletedSession(t *testing.T) {
	t.Parallel()
	d, _ := openClock(t)
	ctx := t.Context()
	say(t, d, "s", chat.UserText("one"))
	if err := openAt(t, d.Path()).Delete(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	if err := d.Append(ctx, "s", chat.UserText("two")); err != nil {
		t.Fatal(err)
	}
	if r, err := d.Load(ctx, "s"); err != nil || len(r.Messages) != 1 || r.Session.Messages != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestClockSetBack(t *testing.T) {
	t.Parallel()
	d, c := openClock(t)
	ctx := t.Context()
	say(t, d, "s", chat.UserText("one"))
	c.t = c.t.Add(-time.Hour)
	if err := d.Append(ctx, "s", chat.UserText("two")); err != nil {
		t.Fatal(err)
	}
	r, err := d.Load(ctx, "s")
	if err != nil || r.Rows[1].At.Before(r.Rows[0].At) {
		t.Errorf("%+v, %v", r.Rows, err)
	}
}

// Cases 70 and of pain 2: an undone turn is in no export, list, search or load.
func TestUndo(t *testing.T) {
	t.Parallel()
	d, _ := openClock(t)
	ctx := t.Context()
	call := chat.Message{Role: chat.Assistant, ToolCalls: []chat.ToolCall{chat.NewCall("c", "terminal", "{}")}, Extra: map[string]json.RawMessage{"k": json.RawMessage("1")}}
	say(t, d, "s", chat.UserText("first question"), chat.AssistantText("first answer"), chat.UserText("second mistaken 备份方案"), call, chat.ToolResult("c", "terminal", "x"), chat.AssistantText("second answer"))
	gone, err := d.Undo(ctx, "s", 1)
	if err != nil || len(gone) != 4 || gone[0].Content.Text != "second mistaken 备份方案" || string(gone[1].Extra["k"]) != "1" {
		t.Fatalf("%+v, %v", gone, err)
	}
	if err := d.Append(ctx, "s", chat.UserText("third question")); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := d.Export(ctx, &out, JSONL, "s"); err != nil {
		t.Fatal(err)
	}
	if s := out.String(); strings.Contains(s, "mistaken") || !strings.Contains(s, "third question") || !strings.Contains(s, `"message_count":3`) || !strings.Contains(s, `"tool_call_count":0`) {
		t.Error(s)
	}
	for _, q := range []string{"mistaken", "备份方案"} {
		if h := snippets(t, d, Query{Text: q}); len(h) != 0 {
			t.Error(h)
		}
	}
	r, err := d.Load(ctx, "s")
	if err != nil || len(r.Messages) != 3 || r.Session.Messages != 3 || r.ToolCalls != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if back, err := d.Redo(ctx, "s"); err != nil || len(back) != 0 {
		t.Errorf("redo over new messages: %v, %v", back, err)
	}
	if _, err := d.Undo(ctx, "s", 1); err != nil {
		t.Fatal(err)
	}
	if back, err := d.Redo(ctx, "s"); err != nil || len(back) != 1 || back[0].Content.Text != "third question" {
		t.Errorf("redo: %v, %v", back, err)
	}
	if gone, err := d.Undo(ctx, "s", 99); err != nil || len(gone) != 3 {
		t.Errorf("undo all: %v, %v", gone, err)
	}
	if gone, err := d.Undo(ctx, "s", 1); err != nil || len(gone) != 0 {
		t.Errorf("undo nothing: %v, %v", gone, err)
	}
	st, err := d.Stats(ctx, time.Time{})
	if err != nil || st.Messages != 0 || st.Undone != 7 {
		t.Errorf("%+v, %v", st, err)
	}
	if p, err := d.Check(ctx); err != nil || len(p) > 0 {
		t.Errorf("check: %v %v", p, err)
	}
}

func TestBranchSplitListLineage(t *testing.T) {
	t.Parallel()
	d, _ := openClock(t)
	ctx := t.Context()
	if err := d.Create(ctx, Session{ID: "root", Title: "talk", SystemPrompt: "p", Model: "m"}); err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(d.Append(ctx, "root", chat.UserText("how   do I\nbegin? "+strings.Repeat("x", 100))))
	must(d.Split(ctx, "root", Session{ID: "part2"}, chat.UserText("[summary]"), chat.UserText("go on")))
	must(d.Split(ctx, "part2", Session{ID: "part3"}))
	must(d.Create(ctx, Session{ID: "child", Parent: "part3", Source: "cli"})) // a delegated task
	must(d.Append(ctx, "child", chat.UserText("do this")))
	must(d.Create(ctx, Session{ID: "tool", Source: "tool"}))
	must(d.Create(ctx, Session{ID: "plain"}))
	must(d.Append(ctx, "plain", chat.UserText("hello")))
	must(d.Branch(ctx, "plain", "branch", "try this"))
	must(d.Append(ctx, "part2", chat.UserText("late")))

	ids := func(f Filter) string {
		l, err := d.List(ctx, f)
		must(err)
		var out []string
		for _, s := range l {
			out = append(out, s.ID)
		}
		return strings.Join(out, " ")
	}
	if got := ids(Filter{}); got != "part3 branch plain" {
		t.Errorf("list: %s", got)
	}
	if got := ids(Filter{ByStart: true, Limit: 2}); got != "branch plain" {
		t.Errorf("by start: %s", got)
	}
	if got := ids(Filter{Sources: []string{"tool"}}); got != "tool" {
		t.Errorf("tool: %s", got)
	}
	if got := ids(Filter{Children: true, Exclude: []string{}, ByStart: true, Limit: -1}); got != "branch plain tool child part3 part2 root" {
		t.Errorf("all: %s", got)
	}
	l, err := d.List(ctx, Filter{Limit: 1})
	must(err)
	if s := l[0]; s.Title != "talk #3" || !strings.HasPrefix(s.Preview, "how do I begin? xxx") || len(s.Preview) != 63 {
		t.Errorf("%+v", s)
	}
	b, err := json.Marshal(l)
	must(err)
	if !regexp.MustCompile(`^\[\{"id":"part3","title":"talk #3","source":"cli","model":"m","started_at":\d+,"last_active":\d+,"message_count":0,"preview":"how.*","parent_session_id":"part2"\}\]$`).Match(b) {
		t.Errorf("%s", b)
	}
	for ref, want := range map[string]string{"talk": "part3", "root": "part3", "part2": "part3", "try this": "branch", "plain": "plain"} {
		tip, err := d.Tip(ctx, ref)
		if id, rerr := d.Resume(ctx, ref); rerr != nil || id != want && !(want == "part3" && id == "child") {
			t.Errorf("resume %s: %s, %v", ref, id, rerr)
		}
		if ref == "root" && (err != nil || tip != "part3") {
			t.Errorf("tip: %s, %v", tip, err)
		}
	}
	if r, err := d.Root(ctx, "part3"); err != nil || r != "root" {
		t.Errorf("root: %s, %v", r, err)
	}
	if id, err := d.Latest(ctx, "cli"); err != nil || id != "part2" {
		t.Errorf("latest: %s, %v", id, err)
	}
	br, err := d.Load(ctx, "branch")
	if err != nil || br.Title != "try this" || br.Parent != "plain" || len(br.Messages) != 1 {
		t.Errorf("%+v, %v", br, err)
	}
	if s, err := d.Session(ctx, "plain"); err != nil || s.EndReason != EndBranched {
		t.Errorf("%+v, %v", s, err)
	}
	must(d.Delete(ctx, "plain"))
	if s, err := d.Session(ctx, "branch"); err != nil || s.Parent != "" {
		t.Errorf("%+v, %v", s, err)
	}
}

// Listing many sessions takes another way to the same answer.
func TestListMany(t *testing.T) {
	t.Parallel()
	d, _ := openClock(t)
	ctx := t.Context()
	err := d.write(ctx, func(ctx context.Context, c *conn) error {
		for i := range 60 {
			s := Session{ID: fmt.Sprintf("n%02d", i), Source: []string{"cli", "cli", "cli", "cli", "cli", "tool"}[i%6], Started: d.now()}
			if err := insertSession(ctx, c, s); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{3, 50, 5, 4, 10, 50, 11} {
		if err := d.Append(ctx, fmt.Sprintf("n%02d", i), chat.UserText("x")); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		if err := d.Split(ctx, fmt.Sprintf("n%02d", 10+10*i), Session{ID: fmt.Sprint("split", i)}, chat.UserText("y")); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []Filter{{}, {Limit: 3, Offset: 2}, {Sources: []string{"cli"}, Limit: 7}, {Children: true, Limit: 9}, {Exclude: []string{}, Offset: 5}} {
		var ways [2][]Summary
		for i, few := range []int{5, 1000} {
			err := d.read(ctx, func(q querier, sh shape) (err error) {
				ways[i], err = list(ctx, q, sh, f, few)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(ways[0], ways[1]) || len(ways[0]) == 0 {
			t.Errorf("%+v:\n got %v\nwant %v", f, ways[0], ways[1])
		}
	}
}

func TestPrune(t *testing.T) {
	t.Parallel()
	d, c := openClock(t)
	ctx := t.Context()
	logs := filepath.Join(filepath.Dir(d.Path()), "sessions")
	if err := os.MkdirAll(logs, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"session_old1.json", "old1.json", "session_open.json"} {
		if err := os.WriteFile(filepath.Join(logs, name), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	big := strings.Repeat("some words to fill the pages ", 150)
	say(t, d, "open", chat.UserText(big))
	say(t, d, "line", chat.UserText(big))
	if err := d.Split(ctx, "line", Session{ID: "line2"}); err != nil {
		t.Fatal(err)
	}
	for i, id := range []string{"old1", "old2", "tg", "new1", "new2"} {
		source := "cli"
		if id == "tg" {
			source = "telegram"
		}
		if err := d.Create(ctx, Session{ID: id, Source: source}); err != nil {
			t.Fatal(err)
		}
		if err := d.Append(ctx, id, slices.Repeat([]chat.Message{chat.UserText(big)}, 1200/(i+1)/100)...); err != nil {
			t.Fatal(err)
		}
		if i == 3 {
			c.t = c.t.Add(100 * 24 * time.Hour)
		}
		if err := d.End(ctx, id, EndClose); err != nil {
			t.Fatal(err)
		}
	}
	p := Prune{Before: c.t.Add(-90 * 24 * time.Hour), Source: "cli", DryRun: true}
	for _, dry := range []bool{true, false} {
		p.DryRun = dry
		got, err := d.Prune(ctx, p)
		if err != nil || fmt.Sprint(got.Sessions) != "[old1 old2]" || got.Messages != 18 {
			t.Errorf("dry %v: %+v, %v", dry, got, err)
		}
	}
	if left, err := os.ReadDir(logs); err != nil || len(left) != 1 {
		t.Errorf("logs: %v, %v", left, err)
	}
	st, err := d.Stats(ctx, time.Time{})
	if err != nil || st.Sessions != 6 || st.Free == 0 {
		t.Errorf("%+v, %v", st, err)
	}
	got, err := d.Prune(ctx, Prune{MaxBytes: 1})
	if err != nil || fmt.Sprint(got.Sessions) != "[tg new1 new2]" {
		t.Errorf("by size: %+v, %v", got, err)
	}
	if err := d.Vacuum(ctx); err != nil {
		t.Fatal(err)
	}
	after, err := d.Stats(ctx, time.Time{})
	if err != nil || after.Sessions != 3 || after.Free != 0 || after.Bytes >= st.Bytes {
		t.Errorf("%+v, %v", after, err)
	}
	if p, err := d.Check(ctx); err != nil || len(p) > 0 {
		t.Errorf("check: %v %v", p, err)
	}
}

func TestExportForPeople(t *testing.T) {
	t.Parallel()
	d, _ := openClock(t)
	ctx := t.Context()
	say(t, d, "s", chat.UserText("<script>alert(1)</script> & ``` in it"),
		chat.Message{Role: chat.Assistant, ToolCalls: []chat.ToolCall{chat.NewCall("c", "term`inal", "{\"a\":\"```\"}")}},
		chat.ToolResult("c", "terminal", "out ````\nput</pre>"),
		chat.Message{Role: chat.User, Content: chat.Content{Parts: []chat.Part{{Type: "text", Text: "see"}, {Type: "image_url", ImageURL: "data:image/png;base64,AAAA"}}}})
	var md, page bytes.Buffer
	if err := errors.Join(d.Export(ctx, &md, Markdown), d.Export(ctx, &page, HTML)); err != nil {
		t.Fatal(err)
	}
	if s := md.String(); !strings.Contains(s, "# Session s\n") || !strings.Contains(s, "`````\nout ````\nput</pre>\n`````") || !strings.Contains(s, "````json\n{\"a\":\"```\"}\n````") || strings.Contains(s, "AAAA") {
		t.Error(s)
	}
	if s := page.String(); strings.Contains(s, "<script") || strings.Contains(s, "put</pre>") || !strings.Contains(s, "&lt;script&gt;") || strings.Contains(s, "AAAA") {
		t.Error(s)
	}
	if err := d.Export(ctx, &md, "pdf"); err == nil {
		t.Error("no error for pdf")
	}
	if err := d.Export(ctx, &md, JSONL, "nobody"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}

func TestImport(t *testing.T) {
	t.Parallel()
	d, _ := openClock(t)
	ctx := t.Context()
	// As the original writes it; a child before its parent, a title twice, unknown keys.
	in := `{"id":"kid","source":"cli","parent_session_id":"mum","started_at":1767258100.5,"title":"t","new_column":1,"messages":[{"role":"user","content":"hi 备份方案","timestamp":1767258101.25}]}

{"id":"mum","source":"telegram","started_at":1767258000,"ended_at":1767258090,"end_reason":"compression","title":"t","messages":[` +
		`{"role":"user","content":[{"type":"text","text":"look"}],"timestamp":1},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}],"timestamp":2},` +
		`{"role":"tool","tool_call_id":"c","content":"r","timestamp":3,"reasoning_details":null}]}` + "\n"
	for i, want := range []string{"{2 4 []}", "{0 0 [kid mum]}"} {
		got, err := d.Import(ctx, strings.NewReader(in))
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("round %d: %v, %v", i, got, err)
		}
	}
	kid, err := d.Load(ctx, "kid")
	if err != nil || kid.Parent != "mum" || kid.Title != "t" || kid.Rows[0].At.UnixMicro() != 1767258101250000 {
		t.Errorf("%+v, %v", kid, err)
	}
	mum, err := d.Load(ctx, "mum")
	if err != nil || mum.Title != "t #2" || mum.EndReason != "compression" || mum.Messages[0].Content.Parts[0].Text != "look" || mum.Messages[2].Name != "f" || mum.ToolCalls != 1 {
		t.Errorf("%+v, %v", mum, err)
	}
	for _, bad := range []string{"{", `{"messages":[]}`, "[]", "x\n"} {
		if _, err := d.Import(ctx, strings.NewReader(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestBackup(t *testing.T) {
	t.Parallel()
	d, _ := openClock(t)
	ctx := t.Context()
	say(t, d, "s", chat.UserText("backed up 备份方案"))
	path := d.BackupName(t.TempDir())
	if err := d.Backup(ctx, path); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st, err)
	}
	if err := d.Backup(ctx, path); err == nil {
		t.Error("a backup was overwritten")
	}
	b := openAt(t, path)
	if h := snippets(t, b, Query{Text: "备份方案"}); len(h) != 1 {
		t.Error(h)
	}
	if err := b.Append(ctx, "s", chat.UserText("more")); err != nil {
		t.Error(err)
	}
	if p, err := b.Check(ctx); err != nil || len(p) > 0 {
		t.Errorf("check: %v %v", p, err)
	}
}

// A session that is expected comes into being with its first message, and what
// an answer cost is stored with the answer.
func TestExpect(t *testing.T) {
	t.Parallel()
	d, _ := openClock(t)
	ctx := t.Context()
	if err := d.Expect(Session{ID: "s", Title: " one\ttitle "}); err != nil {
		t.Fatal(err)
	}
	if err := d.Expect(Session{ID: "t", Title: strings.Repeat("x", 101)}); !errors.Is(err, ErrTitle) {
		t.Errorf("a title that is too long: %v", err)
	}
	if _, err := d.Session(ctx, "s"); !errors.Is(err, ErrNotFound) {
		t.Errorf("before its first message: %v", err)
	}
	if err := d.Append(ctx, "s", chat.UserText("question")); err != nil {
		t.Fatal(err)
	}
	used := chat.Usage{Input: 7, Output: 3, Calls: 1}
	for range 2 {
		if _, err := d.AppendBeside(ctx, "s", Beside{Spent: []Spent{{Session: "s", Usage: used}}}, chat.AssistantText("answer")); err != nil {
			t.Fatal(err)
		}
	}
	got, err := d.Session(ctx, "s")
	if err != nil || got.Title != "one title" || got.Source != "cli" || got.Messages != 3 || got.Usage != used.Add(used) || got.Cost.Status != "unknown" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := d.AppendBeside(ctx, "none", Beside{Spent: []Spent{{Session: "none", Usage: used}}}, chat.AssistantText("answer")); !errors.Is(err, ErrNotFound) {
		t.Errorf("a session that nobody knows: %v", err)
	}
}
