package store

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/chat"
)

func TestActivity(t *testing.T) {
	t.Parallel()
	d, clock := openClock(t)
	ctx := t.Context()
	call := chat.Message{Role: chat.Assistant, ToolCalls: []chat.ToolCall{
		{ID: "1", Function: chat.FunctionCall{Name: "terminal", Arguments: "{}"}}, {ID: "2", Function: chat.FunctionCall{Name: "read_file", Arguments: "{}"}},
	}}
	say(t, d, "old", chat.UserText("long ago"), call)
	since := clock.now()
	say(t, d, "new", chat.UserText("hello"), call, chat.ToolResult("1", "terminal", "x"), chat.ToolResult("2", "read_file", "y"), chat.UserText("more"))
	if err := d.Create(ctx, Session{ID: "other", Source: "telegram", Title: "elsewhere"}); err != nil {
		t.Fatal(err)
	}
	say(t, d, "other", chat.UserText("hi"))
	usd := 0.25
	if err := d.AddUsage(ctx, "new", chat.Usage{Input: 7, Calls: 2}, Billing{}, Cost{Estimated: &usd}); err != nil {
		t.Fatal(err)
	}
	a, err := d.Activity(ctx, since, "", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Sessions) != 2 || a.Tools["terminal"] != 1 || a.Tools["read_file"] != 1 || len(a.Tools) != 2 {
		t.Fatalf("%+v", a)
	}
	w := a.Sessions[1]
	if w.ID != "new" || w.Messages != 5 || w.UserMessages != 2 || w.ToolCalls != 2 || w.Usage.Input != 7 || *w.EstimatedUSD != 0.25 || a.Sessions[0].EstimatedUSD != nil {
		t.Errorf("%+v", w)
	}
	hours := 0
	for _, n := range a.Hours {
		hours += n
	}
	if hours != 3 {
		t.Errorf("hours %v, days %v", a.Hours, a.Days)
	}
	if a, err = d.Activity(ctx, time.Time{}, "telegram", time.UTC); err != nil || len(a.Sessions) != 1 || a.Sessions[0].Title != "elsewhere" || len(a.Tools) != 0 {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err = d.Activity(ctx, time.Time{}, "", time.UTC); err != nil || len(a.Sessions) != 3 || a.Tools["terminal"] != 2 {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestExportMasked(t *testing.T) {
	t.Parallel()
	d := open(t)
	const secret = `can"ary&<8812>`
	say(t, d, "s", chat.UserText("my key is "+secret), chat.Message{Role: chat.Assistant, ToolCalls: []chat.ToolCall{
		{ID: "1", Function: chat.FunctionCall{Name: "terminal", Arguments: `{"command":"echo can\"ary&<8812>","n":1.50}`}},
	}}, chat.ToolResult("1", "terminal", `{"output":"can\"ary&<8812>"}`))
	mask := func(s string) string { return strings.ReplaceAll(s, secret, "***") }
	for _, f := range []Format{JSONL, Markdown, HTML} {
		var b bytes.Buffer
		if err := d.ExportMasked(t.Context(), &b, f, mask, "s"); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "8812") || strings.Count(b.String(), "***") < 3 {
			t.Errorf("%s:\n%s", f, &b)
		}
		if f == JSONL {
			e := open(t)
			if _, err := e.Import(t.Context(), &b); err != nil {
				t.Error(err)
			}
			rec, err := e.Load(t.Context(), "s")
			if err != nil || rec.Messages[1].ToolCalls[0].Function.Arguments != `{"command":"echo ***","n":1.50}` {
				t.Errorf("%+v, %v", rec, err)
			}
		}
	}
}

func TestCopy(t *testing.T) {
	t.Parallel()
	d := open(t)
	say(t, d, "s", chat.UserText("hello"))
	dir := t.TempDir()
	if err := Copy(t.Context(), d.Path(), filepath.Join(dir, "a.db")); err != nil {
		t.Fatal(err)
	}
	e := openAt(t, filepath.Join(dir, "a.db"))
	if rec, err := e.Load(t.Context(), "s"); err != nil || len(rec.Messages) != 1 {
		t.Errorf("%+v, %v", rec, err)
	}
	broken := filepath.Join(dir, "broken.db")
	if err := os.WriteFile(broken, []byte(strings.Repeat("x", 5000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Copy(t.Context(), broken, filepath.Join(dir, "b.db")); fault(err) != Damaged && !strings.Contains(err.Error(), "damaged") {
		t.Error(err)
	}
	if err := Copy(t.Context(), filepath.Join(dir, "none.db"), filepath.Join(dir, "b.db")); err == nil {
		t.Error("there is no such file")
	}
	for _, name := range []string{"b.db", "none.db"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
}
