package store

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/hermes-go/hermes/chat"
)

func BenchmarkAppend(b *testing.B) {
	d := open(b)
	ctx := b.Context()
	if err := d.Create(ctx, Session{ID: "s"}); err != nil {
		b.Fatal(err)
	}
	text := "please look at the nightly backup of the postgres server and tell me why it took twice as long as yesterday, then fix it"
	for i := 0; b.Loop(); i++ {
		if err := d.Append(ctx, "s", chat.UserText(fmt.Sprint(text, i))); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoad100(b *testing.B) {
	d := open(b)
	ctx := b.Context()
	if err := d.Create(ctx, Session{ID: "s"}); err != nil {
		b.Fatal(err)
	}
	for i := range 25 {
		id := fmt.Sprintf("call_%d", i)
		err := d.Append(ctx, "s", chat.UserText("please look at the backup"),
			chat.Message{Role: chat.Assistant, ToolCalls: []chat.ToolCall{chat.NewCall(id, "terminal", `{"command":"ls -l /var/backups"}`)}, Usage: &chat.Usage{Input: 1000, Output: 20, Calls: 1}},
			chat.ToolResult(id, "terminal", `{"output":"total 4\n-rw-r--r-- 1 root root 12345 dump.sql","exit_code":0}`),
			chat.AssistantText("It is there and 12 KB large."))
		if err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		r, err := d.Load(ctx, "s")
		if err != nil || len(r.Messages) != 100 {
			b.Fatal(err, len(r.Messages))
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "state.db")
	d, err := Open(path, Options{})
	if err != nil {
		b.Fatal(err)
	}
	if err := d.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		d, err := Open(path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
