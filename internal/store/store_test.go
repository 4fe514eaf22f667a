package store

import (
	"path/filepath"
	"testing"

	"github.com/hermes-go/hermes/chat"
)

func open(t testing.TB) *DB {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "state.db"))
}

func openAt(t testing.TB, path string) *DB {
	t.Helper()
	d, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestAppendLoadSearch(t *testing.T) {
	t.Parallel()
	d := open(t)
	ctx := t.Context()
	if err := d.Create(ctx, Session{ID: "s1", Model: "m", Title: "first"}); err != nil {
		t.Fatal(err)
	}
	call := chat.Message{Role: chat.Assistant, ToolCalls: []chat.ToolCall{chat.NewCall("c1", "read_file", `{"path":"/etc/hosts"}`)}}
	if err := d.Append(ctx, "s1", chat.UserText("where is the Postgres backup?"), call, chat.ToolResult("c1", "read_file", "localhost")); err != nil {
		t.Fatal(err)
	}
	r, err := d.Load(ctx, "s1")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Messages) != 3 || r.Session.Messages != 3 || r.ToolCalls != 1 || r.Messages[2].Name != "read_file" {
		t.Errorf("got %+v", r)
	}
	for _, text := range []string{"postgres", "read_file", "hosts"} {
		n := 0
		for h, err := range d.Search(ctx, Query{Text: text}) {
			if err != nil {
				t.Fatal(err)
			}
			n++
			t.Logf("%+v", h)
		}
		if n == 0 {
			t.Errorf("%q found nothing", text)
		}
	}
	l, err := d.List(ctx, Filter{})
	if err != nil || len(l) != 1 {
		t.Fatalf("list: %v %v", l, err)
	}
	if id, err := d.Latest(ctx, "cli"); err != nil || id != "s1" {
		t.Errorf("latest: %q %v", id, err)
	}
	if id, err := d.Resume(ctx, "first"); err != nil || id != "s1" {
		t.Errorf("resume: %q %v", id, err)
	}
}
