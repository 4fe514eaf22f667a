package offline

import (
	"slices"
	"strings"
	"testing"
)

func TestPhrases(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		id, text string
		want     []string // one line a round
	}{
		{"read", "read go.mod", []string{`read_file {"path":"go.mod"}`}},
		{"read-sentence", "Please read the file docs/a.md.", []string{`read_file {"path":"docs/a.md"}`}},
		{"read-quoted", `read "my notes.txt"`, []string{`read_file {"path":"my notes.txt"}`}},
		{"list", "list .", []string{`read_file {"path":"."}`}},
		{"list-sentence", "list the files in src/", []string{`read_file {"path":"src/"}`}},
		{"run", "run ls -la | head", []string{`terminal {"command":"ls -la | head"}`}},
		{"run-backticks", "run `echo a; echo b`", []string{`terminal {"command":"echo a; echo b"}`}},
		{"run-shell-then", "run if true; then echo yes; fi", []string{`terminal {"command":"if true; then echo yes; fi"}`}},
		{"run-quoted-then", `run echo "a then read b"`, []string{`terminal {"command":"echo \"a then read b\""}`}},
		{"search", "search for TODO in src", []string{`search_files {"path":"src","pattern":"TODO"}`}},
		{"search-anywhere", `search for "in a row"`, []string{`search_files {"pattern":"in a row"}`}},
		{"write", "write hello world to out.txt", []string{`write_file {"content":"hello world","path":"out.txt"}`}},
		{"write-quoted", `write "a\nb to c" to "x y.txt"`, []string{`write_file {"content":"a\nb to c","path":"x y.txt"}`}},
		{"remember", "remember that the build needs make", []string{`memory {"action":"add","content":"the build needs make","target":"memory"}`}},
		{"remember-user", "remember that I like tea", []string{`memory {"action":"add","content":"I like tea","target":"user"}`}},
		{"plan", "plan: buy; cook ;eat", []string{`todo {"todos":[{"content":"buy","id":"1","status":"pending"},{"content":"cook","id":"2","status":"pending"},{"content":"eat","id":"3","status":"pending"}]}`}},
		{"ask", "ask me what your name is", []string{`clarify {"question":"what your name is"}`}},
		{"ask-choices", "ask me which colour: red | green", []string{`clarify {"choices":["red","green"],"question":"which colour"}`}},
		{"ask-or", "ask me which colour: red, green or blue?", []string{`clarify {"choices":["red","green","blue"],"question":"which colour"}`}},
		{"skill", "use the morning-brief skill to write today's brief", []string{`skill_view {"name":"morning-brief"}`}},
		{"tool", "use the read_file tool for go.mod", []string{`read_file {"path":"go.mod"}`}},
		{"tool-spelling", "Use the Read File tool with path=go.mod", []string{`read_file {"path":"go.mod"}`}},
		{"then", "write hi to a.txt then read a.txt, and then run cat a.txt", []string{`write_file {"content":"hi","path":"a.txt"}`, `read_file {"path":"a.txt"}`, `terminal {"command":"cat a.txt"}`}},
		{"at-once", "read a and at the same time read b then read c", []string{`read_file {"path":"a"} & read_file {"path":"b"}`, `read_file {"path":"c"}`}},
		{"apostrophe", "remember that it's Tom's then read a", []string{`memory {"action":"add","content":"it's Tom's","target":"memory"}`, `read_file {"path":"a"}`}},
		{"hook-context", "read a\n\nContext from a hook: use it well.", []string{`read_file {"path":"a"}`}},
		{"write-then-text", "write now and then to a.txt", []string{`write_file {"content":"now and then","path":"a.txt"}`}},
	} {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			got, _ := run(t, c.text, defs(all...), ok)
			if !slices.Equal(got, c.want) {
				t.Errorf("%q:\n got %s\nwant %s", c.text, strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
			}
		})
	}
}

func TestNoPhrase(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"hi", "", "reading is fun", "then", "use it", "plan a trip", "write a poem", "user", "ask", "run"} {
		if g := parse(text); len(g) != 0 {
			t.Errorf("%q is taken for %v", text, g)
		}
	}
}

func TestListWithoutReadFile(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string]string{
		"search_files": `search_files {"path":"it's here","pattern":"*","target":"files"}`,
		"terminal":     `terminal {"command":"ls -1 -- 'it'\\''s here'"}`,
	} {
		if got, _ := run(t, "list it's here", defs(tool), ok); !slices.Equal(got, []string{want}) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func FuzzPhrase(f *testing.F) {
	for _, s := range []string{`use the x tool with {"a":1} a=2 "q"`, "read a then write `b` to c", "plan: a;b", "ask me x: a, b or c", "write '\" to ''", "İ then read x", "use the a skill to \n\n then run"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, group := range parse(s) {
			for _, w := range group {
				callFor(w, defs("read_file", "write_file", "terminal", "search_files", "memory", "todo", "clarify", "skill_view"))
			}
		}
		for _, schema := range schemas {
			fill([]byte(schema), s)
		}
	})
}
