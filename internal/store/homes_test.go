package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/peertest"
)

// tables are the rows as the original reads them.
type tables struct {
	Sessions, Messages []map[string]any
}

func rowsOf(t *testing.T, path string) tables {
	t.Helper()
	var out tables
	if err := json.Unmarshal(original(t, nil, "rows", path), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// aside copies a database with its write-ahead log: looking at a file with
// SQLite may change it.
func aside(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "state.db")
	for _, tail := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + tail)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to+tail, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// kept fails where a column of a row of the original has changed, other than
// those given as "id.column".
func kept(t *testing.T, before, after []map[string]any, but ...string) {
	t.Helper()
	changes := map[string]bool{}
	for _, b := range but {
		changes[b] = true
	}
	now := map[string]map[string]any{}
	for _, r := range after {
		now[fmt.Sprint(r["id"])] = r
	}
	for _, was := range before {
		id := fmt.Sprint(was["id"])
		if now[id] == nil {
			t.Errorf("row %s is gone", id)
		}
		for column, v := range was {
			if !changes[id+"."+column] && !reflect.DeepEqual(now[id][column], v) {
				t.Errorf("row %s, %s: was %v, is %v", id, column, v, now[id][column])
			}
		}
	}
}

// The original's own homes, every schema it has had: listed, searched,
// resumed, written to, and nothing that was there has changed.
func TestDatabasesOfTheOriginal(t *testing.T) {
	t.Parallel()
	for _, name := range peertest.Originals(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var written int // by the schema of this version
			if _, err := fmt.Sscanf(name, "v%d", &written); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(peertest.Original(t, name), "state.db")
			before := rowsOf(t, aside(t, path))
			ctx, d := t.Context(), openAt(t, path)
			version := max(written, 11)
			if d.shape.version != version {
				t.Errorf("version %d, want %d", d.shape.version, version)
			}

			at := strings.TrimPrefix(strings.SplitN(name, "-from-", 2)[0], "v")
			if _, from, ok := strings.Cut(name, "-from-v"); ok {
				at, written = from, 1
			}
			id := func(c string) string { return "20260101_0900" + at[:2] + "_" + strings.Repeat(c, 6) }
			listed := map[string]bool{}
			list, err := d.List(ctx, Filter{})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range list {
				listed[s.ID] = true
			}
			want := []string{id("b"), id("c"), id("d"), id("e")}
			if written >= 8 {
				want = append(want, id("f"))
			}
			for _, w := range want {
				if !listed[w] {
					t.Errorf("%s is not listed", w)
				}
			}
			if len(list) != len(want) {
				t.Errorf("%d sessions listed, want %d", len(list), len(want))
			}

			for text, hits := range map[string]int{
				"ancient": 1, "quagga": 2, "备份方案": 1, "上周": 1, "user@example.com": 1, "path/to/file": 1, "100%": 1,
				`"pg_dump.sql"`: 2, "ptarmigan": 0, "kestrel": 2,
			} {
				if got := snippets(t, d, Query{Text: text, Limit: 50}); len(got) < hits || hits == 0 && len(got) > 0 {
					t.Errorf("search %s: %q, want %d", text, got, hits)
				}
			}

			ref := id("a")
			if written >= 4 {
				ref = "Old talk"
			}
			tip, err := d.Resume(ctx, ref)
			if err != nil || tip != id("b") {
				t.Fatalf("resume %s: %q, %v", ref, tip, err)
			}
			root, err := d.Load(ctx, id("a"))
			if err != nil {
				t.Fatal(err)
			}
			if len(root.Messages) != 6 || root.Session.SystemPrompt != "You are Hermes.\n\nA stored prompt with 中文 and a trailing line.\n" {
				t.Fatalf("%d messages, prompt %q", len(root.Messages), root.Session.SystemPrompt)
			}
			if c := root.Messages[1].ToolCalls; len(c) != 1 || c[0].Function.Name != "terminal" || c[0].Function.Arguments != `{"command": "ls -l /srv/dumps | grep 'pg_*.sql'"}` {
				t.Errorf("calls: %+v", c)
			}
			if m := root.Messages[2]; m.Role != chat.Tool || m.ToolCallID != "call_1" || m.Name != "terminal" {
				t.Errorf("result: %+v", m)
			}
			last := "Beside the zebra: /srv/quagga 🦓"
			if strings.HasSuffix(name, "-killed") {
				last = "noted: axolotl"
			}
			rec, err := d.Load(ctx, tip)
			if err != nil {
				t.Fatal(err)
			}
			if m := rec.Messages[len(rec.Messages)-1]; m.Content.Text != last {
				t.Errorf("the last message is %q", m.Content.Text)
			}
			picture, err := d.Load(ctx, id("d"))
			if err != nil {
				t.Fatal(err)
			}
			if p := picture.Messages[0].Content.Parts; written >= 11 && (len(p) != 2 || p[1].ImageURL == "") {
				t.Errorf("the picture is lost: %+v", p)
			}

			if err := d.Reopen(ctx, tip); err != nil {
				t.Fatal(err)
			}
			if err := d.Append(ctx, tip, chat.UserText("a modern narwhal question 备份方案"), chat.AssistantText("a modern answer")); err != nil {
				t.Fatal(err)
			}
			if p, err := d.Check(ctx); err != nil || len(p) > 0 {
				t.Errorf("check: %v %v", p, err)
			}
			after := rowsOf(t, path)
			kept(t, before.Messages, after.Messages)
			kept(t, before.Sessions, after.Sessions, tip+".message_count", tip+".ended_at", tip+".end_reason")
			if n := len(after.Messages) - len(before.Messages); n != 2 {
				t.Errorf("%d new messages, want 2", n)
			}
			if out := original(t, nil, "search", path, `"narwhal"`); !strings.Contains(string(out), "narwhal<<<") {
				t.Errorf("the original does not find it: %s", out)
			}
		})
	}
}
