package sessionsearch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/store"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/tool"
)

type opener struct{ db *store.DB }

func (o opener) DB() (*store.DB, error) {
	if o.db == nil {
		return nil, errors.New("the disk is gone")
	}
	return o.db, nil
}

type loop struct{}

func (loop) LastResult(string) (string, bool) { return "", false }

// sessions makes a store with a few conversations:
//
//	old     about the shed, compacted into old2, which is about the roof
//	other   about the shed too
//	mine    about the shed, with a child; it is the one that asks
//	bot     of source "tool"
func sessions(t *testing.T) *store.DB {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "state.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	began := time.Date(2026, 3, 4, 5, 6, 0, 0, time.Local)
	must(db.Create(ctx, store.Session{ID: "old", Source: "cli", Model: "m1", Title: "Shed", Started: began}))
	must(db.Append(ctx, "old", chat.UserText("the code of the shed is ZX-4471"), chat.AssistantText("Noted.")))
	must(db.Split(ctx, "old", store.Session{ID: "old2"}, chat.UserText("the code of the shed is ZX-4471"), chat.AssistantText("Noted."), chat.UserText("the roof of the shed leaks")))
	must(db.Create(ctx, store.Session{ID: "other", Source: "telegram", Model: "m2"}))
	must(db.Append(ctx, "other", chat.UserText("paint the shed green"),
		chat.Message{Role: chat.Assistant, ToolCalls: []chat.ToolCall{chat.NewCall("c1", "terminal", "{}")}},
		chat.ToolResult("c1", "terminal", `{"output":"shed `+strings.Repeat("x", 5000)+`"}`), chat.AssistantText("The shed is green.")))
	must(db.Create(ctx, store.Session{ID: "echo", Source: "cli"}))
	must(db.Append(ctx, "echo", chat.UserText("what did we say?"),
		chat.Message{Role: chat.Assistant, ToolCalls: []chat.ToolCall{chat.NewCall("c2", "session_search", `{"query":"code"}`)}},
		chat.ToolResult("c2", "session_search", `{"results":[{"summary":"the code of the shed is ZX-4471"}]}`), chat.AssistantText("It was ZX.")))
	must(db.Create(ctx, store.Session{ID: "bot", Source: "tool"}))
	must(db.Append(ctx, "bot", chat.UserText("shed")))
	must(db.Create(ctx, store.Session{ID: "mine", Source: "cli"}))
	must(db.Append(ctx, "mine", chat.UserText("what about the shed?"), chat.AssistantText("The door of the shed is blue."), chat.UserText("the shed of before")))
	must(db.Split(ctx, "mine", store.Session{ID: "mine2"}, chat.UserText("the shed of before")))
	return db
}

type found struct {
	Success bool
	Mode    string
	Error   string
	Results []struct {
		SessionID    string `json:"session_id"`
		Title        string
		When         string
		Source       string
		Model        string
		Summary      string
		Preview      string
		MessageCount int `json:"message_count"`
	}
	Count            int
	SessionsSearched int `json:"sessions_searched"`
	More             int
	Message          string
	Earlier          string `json:"earlier_in_this_conversation"`
}

func ask(t *testing.T, db *store.DB, aux *agent.Aux, args string) found {
	t.Helper()
	s := tool.NewServices(nil)
	tool.ProvideAs[store.Opener](s, opener{db})
	tool.ProvideAs[agent.Loop](s, loop{})
	if aux != nil {
		tool.ProvideAs(s, aux)
	}
	r := tool.Builtin().Dispatch(t.Context(), &tool.Call{ID: "1", Name: "session_search", Args: json.RawMessage(args), Session: &tool.Session{ID: "mine2", Services: s}})
	var f found
	if err := json.Unmarshal(r.JSON, &f); err != nil {
		t.Fatalf("%s: %v", r.JSON, err)
	}
	return f
}

func TestRecent(t *testing.T) {
	t.Parallel()
	f := ask(t, sessions(t), nil, `{"limit": 99}`)
	var ids []string
	for _, r := range f.Results {
		ids = append(ids, r.SessionID)
	}
	if got := strings.Join(ids, " "); !f.Success || f.Mode != "recent" || got != "echo other old2" || f.Count != 3 {
		t.Errorf("%q in %+v", got, f)
	}
	if r := f.Results[2]; r.Title != "Shed #2" || r.Preview == "" || r.MessageCount != 3 {
		t.Errorf("a row: %+v", r)
	}
	if f := ask(t, sessions(t), nil, `{"query": "  ", "limit": 0}`); f.Count != 1 {
		t.Errorf("limit 0 gives %d", f.Count)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	db := sessions(t)
	f := ask(t, db, nil, `{"query": "shed"}`)
	by := map[string]string{}
	for _, r := range f.Results {
		by[r.Source] += r.Summary
		if r.SessionID == "mine" || r.SessionID == "mine2" || r.SessionID == "bot" || r.SessionID == "echo" {
			t.Errorf("found %s", r.SessionID)
		}
	}
	if !f.Success || f.Mode != "excerpts" || f.Count != 2 || f.SessionsSearched != 2 {
		t.Fatalf("%+v", f)
	}
	if !strings.Contains(by["cli"], "ZX-4471") || !strings.Contains(by["cli"], "roof") || strings.Count(by["cli"], "user, ") != 2 {
		t.Errorf("both parts of one conversation, each message once: %s", by["cli"])
	}
	if !strings.Contains(by["telegram"], ">>>shed<<< green") {
		t.Errorf("excerpts: %s", by["telegram"])
	}
	if !strings.Contains(f.Earlier, "blue") || strings.Contains(f.Earlier, ">>>shed<<< of before") {
		t.Errorf("what this conversation holds no longer, and nothing else: %q", f.Earlier)
	}
	if f := ask(t, db, nil, `{"query": "green"}`); f.Earlier != "" {
		t.Errorf("earlier: %q", f.Earlier)
	}
	if f := ask(t, db, nil, `{"query": "shed", "limit": 1}`); f.Count != 1 || f.More != 1 || f.Message == "" {
		t.Errorf("limit 1: %+v", f)
	}
	if f := ask(t, db, nil, `{"query": "shed", "role_filter": "assistant, system"}`); f.Count != 1 || f.Results[0].SessionID != "other" {
		t.Errorf("role filter: %+v", f)
	}
	for _, q := range []string{"zebra", "(((", "%", `\"`} {
		if f := ask(t, db, nil, `{"query": "`+q+`"}`); !f.Success || f.Count != 0 || f.Message == "" {
			t.Errorf("%s: %+v", q, f)
		}
	}
	if f := ask(t, nil, nil, `{"query": "shed"}`); f.Success || f.Error != "the disk is gone" {
		t.Errorf("no database: %+v", f)
	}
}

// model answers side calls.
type model func(r *provider.Request) (string, error)

func (m model) Stream(_ context.Context, r *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		text, err := m(r)
		if err != nil {
			yield(provider.Chunk{}, err)
			return
		}
		msg := chat.AssistantText(text)
		yield(provider.Chunk{Final: &msg}, nil)
	}
}

func TestSummaries(t *testing.T) {
	t.Parallel()
	db := sessions(t)
	aux := func(on bool, m model) *agent.Aux {
		return &agent.Aux{
			Open:       func(agent.Slot) (provider.Client, string, error) { return m, "x", nil },
			Configured: func(s agent.Slot) bool { return on && s == agent.SlotSessionSearch },
		}
	}
	f := ask(t, db, aux(true, func(r *provider.Request) (string, error) {
		text := r.Messages[0].Content.String()
		if len(text) > 3000 {
			t.Errorf("a tool output was not cut: %d characters", len(text))
		}
		return fmt.Sprint("sum of ", strings.Contains(text, "ZX-4471"), strings.Contains(text, "roof")), nil
	}), `{"query": "shed"}`)
	if f.Mode != "summaries" || f.Count != 2 {
		t.Fatalf("%+v", f)
	}
	for _, r := range f.Results {
		if want := "sum of " + fmt.Sprint(r.Source == "cli", r.Source == "cli"); r.Summary != want {
			t.Errorf("%s: %q, want %q", r.SessionID, r.Summary, want)
		}
	}
	f = ask(t, db, aux(true, func(*provider.Request) (string, error) { return "", errors.New("overloaded") }), `{"query": "shed"}`)
	for _, r := range f.Results {
		if !strings.HasPrefix(r.Summary, "[Raw preview") || !strings.Contains(r.Summary, "overloaded") || !strings.Contains(r.Summary, "shed") {
			t.Errorf("%q", r.Summary)
		}
	}
	f = ask(t, db, aux(false, func(*provider.Request) (string, error) { t.Error("asked"); return "", nil }), `{"query": "shed"}`)
	if f.Mode != "excerpts" {
		t.Errorf("%+v", f)
	}
}

func TestAround(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a filler line\n", 1000) + "the NEEDLE in the hay\n" + strings.Repeat("ümlaut line\n", 1000)
	for query, want := range map[string]string{"needle in": "NEEDLE in", "hay needle": "NEEDLE", "nothing needle": "NEEDLE", "nothing": "a filler"} {
		if got := around(text, query, 2000); !strings.Contains(got, want) || len(got) > 2100 {
			t.Errorf("%q: %d bytes without %q", query, len(got), want)
		}
	}
	if around("short", "x", 100) != "short" {
		t.Error("a short text was cut")
	}
}
