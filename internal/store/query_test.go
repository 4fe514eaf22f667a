package store

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/chat"
)

func TestSearch(t *testing.T) {
	t.Parallel()
	d := open(t)
	say(t, d, "s1",
		chat.UserText("my mail is user@example.com and the file path/to/file, it's 100% a,b at $HOME"), // 1
		chat.AssistantText("see #123 where x=1, what? a & b"),                                          // 2
		chat.UserText("我们上周讨论了数据库备份方案的细节"),                                                             // 3
		chat.AssistantText("the wrong-book has mistakes; Café Über naïve"),                             // 4
		chat.UserText("使用postgres备份,用Go语言写的"),                                                          // 5
		chat.ToolResult("c", "terminal", "snake_case and a_b and aXb, 1000"),                           // 6
		chat.AssistantText("カタカナとひらがな。한국어 문장입니다 ภาษาไทยสนุกมาก"),                                       // 7
		chat.UserText("running runs runner"),                                                           // 8
		chat.UserText("龟"),                                                                             // 9
	)
	for _, c := range []struct {
		name, query string
		want        []int64
	}{
		{"F-108 or", "wrong-book OR mistakes", []int64{4}},
		{"F-108 mail", "user@example.com", []int64{1}},
		{"F-108 path", "path/to/file", []int64{1}},
		{"F-108 apostrophe", "it's", []int64{1}},
		{"F-108 percent", "100%", []int64{1}},
		{"F-108 comma", "a,b", []int64{1, 2, 6}},
		{"F-108 dollar", "$HOME", []int64{1}},
		{"F-108 hash", "#123", []int64{2}},
		{"F-108 equals", "x=1", []int64{2}},
		{"F-108 question", "what?", []int64{2}},
		{"F-108 ampersand", "a & b", []int64{1, 2, 6}},
		{"F-109 star", "*", nil},
		{"F-109 or", "OR", nil},
		{"F-109 braces", "{}", nil},
		{"F-109 not", "NOT", nil},
		{"F-110 substring", "备份方案", []int64{3}},
		{"F-110 two characters", "上周", []int64{3}},
		{"F-110 one character", "龟", []int64{9}},
		{"F-110 end of text", "细节", []int64{3}},
		{"F-111 percent", "1%0", nil},
		{"F-111 underscore", "a_b", []int64{1, 2, 6}},
		{"quoted phrase", `"the wrong"`, []int64{4}},
		{"phrase in order", `"wrong the"`, nil},
		{"open quote", `"mistakes`, []int64{4}},
		{"prefix", "runn*", []int64{8}},
		{"no prefix", "runn", nil},
		{"and", "wrong AND mistakes", []int64{4}},
		{"implicit and", "wrong nowhere", nil},
		{"not", "a NOT terminal", []int64{1, 2}},
		{"not chinese", "数据库 NOT 上周", nil},
		{"words not chinese", "mail NOT 上周", []int64{1}},
		{"marks", "cafe uber NAIVE", []int64{4}},
		{"marks in the query", "Café", []int64{4}},
		{"english in chinese", "postgres", []int64{5}},
		{"short english in chinese", "go", []int64{5}},
		{"no english in the middle", "postgre", nil},
		{"mixed", "postgres 备份", []int64{5}},
		{"mixed token", "用Go语言", []int64{5}},
		{"chinese or english", "龟 OR mistakes", []int64{4, 9}},
		{"japanese", "ひらがな", []int64{7}},
		{"katakana 2", "カナ", []int64{7}},
		{"korean", "문장", []int64{7}},
		{"thai", "สนุก", []int64{7}},
		{"tool name", "terminal", []int64{6}},
		{"operators", `AND OR "" NOT AND ( ) ^ : -`, nil},
		{"column", "content:mistakes", nil},
		{"near", "NEAR(wrong mistakes)", nil},
		{"nul", "wrong\x00mistakes", nil},
		{"broken", "\xff\xfe mistakes", []int64{4}},
		{"emoji", "🚀", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, scoped := range []string{"", "s1"} {
				var got []int64
				for h, err := range d.Search(context.Background(), Query{Text: c.query, Session: scoped}) {
					if err != nil {
						t.Fatal(err)
					}
					if !strings.Contains(h.Snippet, ">>>") {
						t.Errorf("no mark in %q", h.Snippet)
					}
					got = append(got, h.MessageID)
				}
				slices.Sort(got)
				if !slices.Equal(got, c.want) {
					t.Errorf("%q (session %q): got %v, want %v", c.query, scoped, got, c.want)
				}
				if HasWords(c.query) == false && c.want != nil {
					t.Errorf("%q has words", c.query)
				}
			}
		})
	}
}

func TestSearchFiltersAndOrder(t *testing.T) {
	t.Parallel()
	d := open(t)
	ctx := t.Context()
	for _, s := range []Session{{ID: "a", Source: "cli"}, {ID: "b", Source: "telegram"}, {ID: "c", Source: "tool"}} {
		if err := d.Create(ctx, s); err != nil {
			t.Fatal(err)
		}
		if err := d.Append(ctx, s.ID, chat.UserText("before "+s.ID), chat.UserText("word in a long text about other things than that"), chat.AssistantText("word word"), chat.UserText("after")); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		q    Query
		want string
	}{
		{"best first", Query{}, "c11 b7 a3 c10 b6 a2"},
		{"newest", Query{Newest: true}, "c11 c10 b7 b6 a3 a2"},
		{"sources", Query{Newest: true, Sources: []string{"cli", "tool"}}, "c11 c10 a3 a2"},
		{"exclude", Query{Newest: true, ExcludeSources: []string{"tool"}}, "b7 b6 a3 a2"},
		{"roles", Query{Newest: true, Roles: []string{"assistant"}}, "c11 b7 a3"},
		{"page", Query{Newest: true, Limit: 2, Offset: 1}, "c10 b7"},
		{"session", Query{Newest: true, Session: "b"}, "b7 b6"},
	} {
		c.q.Text = "word"
		var got []string
		for h, err := range d.Search(ctx, c.q) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, h.SessionID+itoa(h.MessageID))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: got %s, want %s", c.name, s, c.want)
		}
	}
	for h, err := range d.Search(ctx, Query{Text: "word", Session: "a", Newest: true, Context: true, Limit: 1}) {
		if err != nil || h.Before == nil || h.After == nil || h.After.Text != "after" || h.Before.Role != "user" {
			t.Errorf("context: %+v, %v", h, err)
		}
	}
}

func itoa(n int64) string { return string(appendInt(nil, n)) }

func appendInt(b []byte, n int64) []byte {
	if n >= 10 {
		b = appendInt(b, n/10)
	}
	return append(b, byte('0'+n%10))
}

func TestSnippet(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("filler ", 100)
	for _, c := range []struct{ text, query, want string }{
		{"a Café here", "cafe", "a >>>Café<<< here"},
		{long + "the needle lies here " + long, "needle", ">>>needle<<<"},
		{strings.Repeat("填", 100) + "备份方案" + strings.Repeat("充", 100), "备份方案", ">>>备份方案<<<"},
		{"İstanbul trip", "trip", "İstanbul >>>trip<<<"},
		{"nothing", "absent", "nothing"},
	} {
		d := newDoc(c.text, "", "")
		got := d.snippet(parse(c.query))
		if !strings.Contains(got, c.want) || len([]rune(got)) > 400 {
			t.Errorf("%q in %.20q: %q", c.query, c.text, got)
		}
	}
}

// Whatever is asked, the answer is no error, and what the indexes find is what
// reading every message finds.
func FuzzSearch(f *testing.F) {
	for _, s := range []string{"", "a", `"a b" OR c*`, "NOT x", "备份", "a备 NOT 份", "\x00", `"`, `""*`, "(){}^:*", "go语言 AND x", "é", "ﷺ", "a NOT", "¼", "ก็", "İ"} {
		f.Add(s)
	}
	d, err := Open(filepath.Join(f.TempDir(), "state.db"), Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = d.Close() })
	say(f, d, "s", chat.UserText("a b c go语言 备份方案 x é"), chat.UserText("plain text only"), chat.AssistantText(`{"a":"备"}`))
	f.Fuzz(func(t *testing.T, text string) {
		e := parse(text)
		for _, g := range e {
			if len(g.must) == 0 {
				t.Fatalf("empty group in %q", text)
			}
		}
		for h, err := range d.Search(context.Background(), Query{Text: text}) {
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			if h.SessionID != "s" {
				t.Fatalf("%q: hit %+v", text, h)
			}
		}
		newDoc(text+" 备份 "+text, "", "").snippet(e)
	})
}
