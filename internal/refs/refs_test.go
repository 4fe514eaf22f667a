package refs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"look at @file:a.go, please":            "@file:a.go",
		"(@file:a.go:2-3)":                      "@file:a.go:2-3",
		"@file:a.go:7.":                         "@file:a.go:7",
		"@file:`my file.go`:2 and @diff":        "@file:my file.go:2 @diff",
		`@folder:"a b"/ @folder:src/!`:          "@folder:a b @folder:src/",
		"mail me@file:x or a/@file:y":           "",
		"@staged @git:3 @diffuse @gitx @file: ": "@staged @git:3",
		"@url:https://x.org/a(b)).":             "@url:https://x.org/a(b)",
		"@file:c:12:x":                          "@file:c:12:x",
		"日本 @file:é.txt。":                       "@file:é.txt。",
		"@@file:a":                              "@file:a",
	} {
		var got []string
		for _, r := range find(text) {
			got = append(got, r.String())
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q: %q, want %q", text, s, want)
		}
	}
}

func world(t *testing.T) Options {
	t.Helper()
	root := t.TempDir()
	put := func(name, text string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("user/w/a.go", "one\ntwo\nthree\nfour ```\n")
	put("user/w/sub/b.txt", "b\n")
	put("user/w/.hidden", "h\n")
	put("user/w/bin", "a\x00b")
	put("user/.ssh/config", "key\n")
	put("user/.netrc", "key\n")
	put("user/w/home/.env", "KEY=x\n")
	put("x", "outside\n")
	if err := os.Symlink(filepath.Join(root, "x"), filepath.Join(root, "user/w/link")); err != nil {
		t.Fatal(err)
	}
	return Options{
		Dir: filepath.Join(root, "user/w"), UserHome: filepath.Join(root, "user"), Home: filepath.Join(root, "user/w/home"), Window: 100_000,
		Redact: func(s string) string { return strings.ReplaceAll(s, "three", "***") },
		Git: func(_ context.Context, args ...string) (string, error) {
			if args[0] == "log" {
				return "", errors.New("not a git repository")
			}
			return "+ " + strings.Join(args, " ") + "\n", nil
		},
	}
}

// Case 57: lines are attached in a fence, the message stays but for the token,
// and what may not be read is said.
func TestCase57(t *testing.T) {
	t.Parallel()
	o := world(t)
	for text, want := range map[string]string{
		"explain\n\tx  @file:a.go:2-3  now": "explain\n\tx    now\n\n--- Attached Context ---\n\n@file:a.go:2-3 (5 tokens)\n```go\ntwo\n***\n```",
		"@file:a.go:4":                      "\n\n--- Attached Context ---\n\n@file:a.go:4 (6 tokens)\n````go\nfour ```\n````",
		"@staged":                           "\n\n--- Attached Context ---\n\n@staged (7 tokens)\n```diff\n+ diff --staged\n```",
		"@folder:. @folder:.":               "",
		"no reference, a@b.c":               "no reference, a@b.c",
	} {
		out, err := Expand(t.Context(), text, o)
		if err != nil || len(out.Warnings) > 0 {
			t.Errorf("%q: %v %v", text, out.Warnings, err)
		}
		if strings.Contains(text, "folder") {
			if strings.Contains(out.Text, ".hidden") || strings.Contains(out.Text, "auth") || strings.Count(out.Text, "sub/b.txt") != 1 || strings.Count(out.Text, "@folder") != 1 {
				t.Errorf("%q: %s", text, out.Text)
			}
			continue
		}
		if out.Text != want {
			t.Errorf("%q:\n%q\nwant\n%q", text, out.Text, want)
		}
	}
	for text, want := range map[string]string{
		"@file:../../x": "outside of the working directory", "@file:../nosuch": "outside", "@file:link": "outside", "@file:/etc/passwd": "outside",
		"@file:nosuch": "no such file", "@file:sub": "use @folder:sub", "@folder:a.go": "use @file:a.go", "@file:bin": "it is not text",
		"@file:a.go:9": "lines 1 to 4", "@file:a.go:3-2": "lines 1 to 4", "@file:home/.env": "keys lie there", "@git:0": "1 to 10", "@git:2": "not a git repository",
		"@url:https://x.org": "not built yet", "@file:~/.netrc": "outside",
	} {
		out, err := Expand(t.Context(), "see "+text, o)
		if err != nil || len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], want) || !strings.Contains(out.Text, "--- Context Warnings ---\n- "+text+": ") || strings.Contains(out.Text, "Attached") {
			t.Errorf("%q: %v, %v", text, out.Warnings, err)
		}
	}
	o.Dir = o.UserHome
	for _, name := range []string{".ssh/config", ".netrc"} {
		if out, err := Expand(t.Context(), "@file:"+name, o); err != nil || len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], "keys lie there") {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
}

// Case 57: what takes a quarter of the window is said, what takes more than half
// is not sent.
func TestCase57Size(t *testing.T) {
	t.Parallel()
	o := world(t)
	if err := os.WriteFile(filepath.Join(o.Dir, "big"), []byte(strings.Repeat("word\n", 800)), 0o600); err != nil { // 1,000 tokens
		t.Fatal(err)
	}
	o.Window = 3000
	if out, err := Expand(t.Context(), "@file:big", o); err != nil || len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], "of a window of 3000") {
		t.Errorf("%v, %v", out.Warnings, err)
	}
	o.Window = 1900
	if _, err := Expand(t.Context(), "@file:big", o); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%v", err)
	}
}

func FuzzExpand(f *testing.F) {
	f.Add("a @file:x:1-2 `b` @folder:\"q\" @diff")
	f.Fuzz(func(t *testing.T, text string) {
		list := find(text)
		at := 0
		for _, r := range list {
			if r.start < at || r.end <= r.start || r.end > len(text) || text[r.start] != '@' {
				t.Fatalf("%q: %+v", text, list)
			}
			at = r.end
		}
		out, err := Expand(t.Context(), text, Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 0 && out.Text != text {
			t.Fatalf("%q became %q", text, out.Text)
		}
	})
}
