package store

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/chat"
)

// original runs the statements of the Python original on a database.
func original(t *testing.T, stdin []byte, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "python3", append([]string{"testdata/original.py"}, args...)...)
	cmd.Stdin = bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("python3 (needed for this test): %v\n%s", err, stderr.Bytes())
	}
	return out
}

func fixture(t *testing.T, name string) string {
	t.Helper()
	sql, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "state.db")
	original(t, sql, "build", path)
	return path
}

// Case 62, and the same for the versions around it.
func TestOlderAndNewerSchemas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file     string
		version  int
		messages int
		resumed  string
	}{
		{"v6.sql", 11, 4, "20260101_090000_aaaaaa"},
		{"v10.sql", 11, 2, "20260102_090100_cccccc"},
		{"v11.sql", 11, 5, "20260103_090000_dddddd"},
		{"newer.sql", 23, 2, "20260104_090000_eeeeee"},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			path := fixture(t, c.file)
			for range 2 { // the second time by the short way
				d := openAt(t, path)
				if got := d.shape.version; got != c.version {
					t.Errorf("version %d, want %d", got, c.version)
				}
				id, err := d.Resume(ctx, "old talk")
				if err != nil || id != c.resumed {
					t.Fatalf("resume: %q, %v", id, err)
				}
				root, err := d.Root(ctx, id)
				if err != nil {
					t.Fatal(err)
				}
				rec, err := d.Load(ctx, root)
				if err != nil {
					t.Fatal(err)
				}
				if len(rec.Messages) != c.messages || rec.Messages[0].Content.Text != "where does the ancient backup of postgres lie?" {
					t.Errorf("messages: %+v", rec.Messages)
				}
				for _, m := range rec.Messages {
					if m.Role == chat.Tool && m.Name != "terminal" {
						t.Errorf("tool result named %q", m.Name)
					}
				}
				for _, text := range []string{"ancient", "备份方案", "上周"} {
					if hits := snippets(t, d, Query{Text: text}); len(hits) != 1 {
						t.Errorf("%s: %v", text, hits)
					}
				}
				list, err := d.List(ctx, Filter{})
				if err != nil || len(list) != 1 || list[0].ID != c.resumed {
					t.Errorf("list: %+v, %v", list, err)
				}
				if p, err := d.Check(ctx); err != nil || len(p) > 0 {
					t.Errorf("check: %v %v", p, err)
				}
			}
			d := openAt(t, path)
			if err := d.Append(ctx, c.resumed, chat.UserText("a modern question 备份方案")); err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{"modern", "备份方案"} {
				if hits := snippets(t, d, Query{Text: text}); len(hits) == 0 || !strings.Contains(hits[0], "modern") && text == "modern" {
					t.Errorf("after append, %s: %v", text, hits)
				}
			}
			out := original(t, nil, "search", path, `"modern"`)
			if !bytes.Contains(out, []byte("modern<<<")) {
				t.Errorf("the original does not find it: %s", out)
			}
		})
	}
}

func TestMultimodalOfTheOriginal(t *testing.T) {
	t.Parallel()
	d := openAt(t, fixture(t, "v11.sql"))
	rec, err := d.Load(t.Context(), "20260103_090000_dddddd")
	if err != nil {
		t.Fatal(err)
	}
	p := rec.Messages[4].Content.Parts
	if len(p) != 2 || p[0].Text != "look at this picture" || p[1].ImageURL != "data:image/png;base64,AAAA" {
		t.Errorf("parts: %+v", p)
	}
	if c := rec.Messages[1].ReasoningContent; c == nil || *c != "" {
		t.Errorf("reasoning_content: %v", c)
	}
}

// The original's own statements work on a file of ours: reading, searching,
// writing and deleting.
func TestOriginalOnOurFile(t *testing.T) {
	t.Parallel()
	d := open(t)
	ctx := t.Context()
	say(t, d, "s1", chat.UserText("the nightly backup failed again"),
		chat.Message{Role: chat.Assistant, ToolCalls: []chat.ToolCall{chat.NewCall("c1", "read_file", `{"path":"/var/log/dump"}`)}},
		chat.ToolResult("c1", "read_file", "disk full"),
		chat.AssistantText("我们上周讨论了数据库备份方案的细节"),
		chat.Message{Role: chat.User, Content: chat.Content{Parts: []chat.Part{{Type: "text", Text: "a picture 图片说明"}, {Type: "image_url", ImageURL: "data:image/png;base64,iVBORw0KGgo"}}}})
	say(t, d, "s2", chat.UserText("an undone backup"))
	if _, err := d.Undo(ctx, "s2", 1); err != nil {
		t.Fatal(err)
	}
	original(t, nil, "append", d.Path(), "s3", "written by python: 备份方案 backup")
	var got map[string]json.RawMessage
	ask := func() {
		t.Helper()
		got = nil
		if err := json.Unmarshal(original(t, nil, "search", d.Path(), `"backup"`, `"备份方案"`, `"read_file"`, `"图片说明"`, "iVBORw0KGgo"), &got); err != nil {
			t.Fatal(err)
		}
	}
	ask()
	for key, want := range map[string]int{
		`messages_fts "backup"`: 2, `messages_fts_trigram "备份方案"`: 2, `messages_fts "read_file"`: 2, `messages_fts_trigram "图片说明"`: 1,
		`messages_fts iVBORw0KGgo`: 0, `like "备份方案"`: 2, "messages": 6, "integrity": 1,
	} {
		var list []any
		if err := json.Unmarshal(got[key], &list); err != nil || len(list) != want {
			t.Errorf("%s: %s, want %d", key, got[key], want)
		}
	}
	if s := string(got["integrity"]); s != `["ok"]` {
		t.Errorf("integrity: %s", s)
	}
	if hits := snippets(t, d, Query{Text: "python"}); len(hits) != 1 {
		t.Errorf("what the original wrote: %v", hits)
	}
	original(t, nil, "delete", d.Path(), "s1")
	ask()
	if s := string(got[`messages_fts_trigram "备份方案"`]); strings.Count(s, ">>>") != 1 {
		t.Errorf("after delete: %s", s)
	}
	var extras int
	if err := d.writer.row(ctx, "SELECT count(*) FROM message_extra").Scan(&extras); err != nil || extras != 0 {
		t.Errorf("%d rows of message_extra stay, %v", extras, err)
	}
	if p, err := d.Check(ctx); err != nil || len(p) > 0 {
		t.Errorf("check: %v %v", p, err)
	}
}

func say(t testing.TB, d *DB, id string, m ...chat.Message) {
	t.Helper()
	if err := d.Create(t.Context(), Session{ID: id}); err != nil {
		t.Fatal(err)
	}
	if err := d.Append(t.Context(), id, m...); err != nil {
		t.Fatal(err)
	}
}

// snippets returns the snippets of a search.
func snippets(t testing.TB, d *DB, q Query) []string {
	t.Helper()
	var out []string
	for h, err := range d.Search(t.Context(), q) {
		if err != nil {
			t.Fatalf("search %q: %v", q.Text, err)
		}
		out = append(out, h.Snippet)
	}
	return out
}
