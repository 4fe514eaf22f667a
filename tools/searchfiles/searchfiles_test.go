package searchfiles

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/files"
	"github.com/hermes-go/hermes/internal/files/filestest"
	"github.com/hermes-go/hermes/tool"
)

type given = filestest.Args

// bare is an environment without ripgrep.
type bare struct {
	backend.Env
	backend.FileSystem
}

func (b bare) Exec(ctx context.Context, c backend.Cmd) (backend.Exit, error) {
	if strings.Contains(c.Script, "'rg'") {
		return backend.Exit{Code: noProgram}, nil
	}
	return b.Env.Exec(ctx, c)
}

// watched counts how often ripgrep gave an answer.
type watched struct {
	backend.Env
	backend.FileSystem
	answers *int
}

func (w watched) Exec(ctx context.Context, c backend.Cmd) (backend.Exit, error) {
	exit, err := w.Env.Exec(ctx, c)
	if strings.Contains(c.Script, "'rg'") && err == nil && exit.Code <= 1 {
		*w.answers++
	}
	return exit, err
}

// engines runs a test with ripgrep and without it.
func engines(t *testing.T, test func(t *testing.T, b *filestest.Bench)) {
	t.Run("built in", func(t *testing.T) {
		b := filestest.New(t)
		b.Wrap = func(e backend.Env) backend.Env { return bare{e, e.(backend.FileSystem)} }
		test(t, b)
	})
	t.Run("ripgrep", func(t *testing.T) {
		if _, err := exec.LookPath("rg"); err != nil {
			t.Skip("ripgrep is not installed")
		}
		answers := 0
		b := filestest.New(t)
		b.Wrap = func(e backend.Env) backend.Env { return watched{e, e.(backend.FileSystem), &answers} }
		test(t, b)
		if answers == 0 {
			t.Error("ripgrep was never asked")
		}
	})
}

// found lists what a result holds: path:line:content, a - for context.
func rowsOf(r filestest.Result) string {
	var out []string
	matches, _ := r.Value["matches"].([]any)
	for _, m := range matches {
		m := m.(map[string]any)
		sep := ":"
		if m["context"] == true {
			sep = "-"
		}
		out = append(out, fmt.Sprint(m["path"], sep, m["line"], sep, m["content"]))
	}
	list, _ := r.Value["files"].([]any)
	for _, f := range list {
		out = append(out, fmt.Sprint(f))
	}
	if counts, ok := r.Value["counts"].(map[string]any); ok {
		b, err := json.Marshal(counts)
		if err != nil {
			return err.Error()
		}
		out = append(out, string(b))
	}
	return strings.Join(out, "\n")
}

// plant makes the tree that the conformance cases search.
func plant(b *filestest.Bench) {
	for name, text := range map[string]string{
		"a.go":                 "package a\n\nfunc Needle() {\n}\n",
		"a/b.go":               "// needle one\n// two\n// needle three\n",
		"a/sub/deep.py":        "needle = 1\n",
		"a.txt":                "no final needle",
		"crlf.txt":             "one needle\r\ntwo\r\n",
		"utf8bom.txt":          "\xef\xbb\xbfneedle first\n",
		"utf16.txt":            "\xff\xfen\x00e\x00e\x00d\x00l\x00e\x00\n\x00",
		"latin1.txt":           "caf\xe9 needle\n",
		"binary.bin":           "needle\n\x00\x01\x02",
		"late.bin":             "needle\n" + strings.Repeat("x", 300_000) + "\x00",
		"empty":                "",
		"日本.txt":               "針 needle 針\n",
		"-dash.txt":            "-needle --help\n",
		"sp ace/q'uote.txt":    "needle \"x\" 'y' $HOME `id`\n",
		".hidden/a_config.txt": "needle hidden\n",
		".dot.go":              "needle dot\n",
		"ignored/x.go":         "needle ignored\n",
		"kept.log":             "needle kept\n",
		"other.log":            "needle other\n",
		"repo/.git/config":     "needle git\n",
		"repo/.gitignore":      "*.gen.go\n",
		"repo/x.gen.go":        "needle generated\n",
		"repo/y.log":           "needle in a repository of its own\n",
		"repo/y.go":            "needle repo\n",
		"rgi/.ignore":          "a*\n",
		"rgi/.rgignore":        "!ab\n",
		"rgi/aa":               "needle aa\n",
		"rgi/ab":               "needle ab\n",
		".gitignore":           "ignored/\n*.log\n!kept.log\n!.dot.go\n",
		"long.txt":             strings.Repeat("x", 900) + " needle " + strings.Repeat("y", 900) + "\n",
	} {
		b.Put(name, text)
	}
	if err := os.Symlink("a", b.At("link")); err != nil {
		b.T.Fatal(err)
	}
}

func TestContent(t *testing.T) {
	t.Parallel()
	all := `-dash.txt:1:-needle --help
a/b.go:1:// needle one
a/b.go:3:// needle three
a/sub/deep.py:1:needle = 1
a.txt:1:no final needle
crlf.txt:1:one needle
kept.log:1:needle kept
latin1.txt:1:caf` + "\uFFFD" + ` needle
long.txt:1:...` + strings.Repeat("x", 124) + " needle " + strings.Repeat("y", 368) + `...
repo/y.go:1:needle repo
repo/y.log:1:needle in a repository of its own
rgi/ab:1:needle ab
sp ace/q'uote.txt:1:needle "x" 'y' $HOME ` + "`id`" + `
utf16.txt:1:needle
utf8bom.txt:1:needle first
日本.txt:1:針 needle 針`
	engines(t, func(t *testing.T, b *filestest.Bench) {
		plant(b)
		for _, c := range []struct {
			name string
			args given
			want string
		}{
			{"plain text", given{"pattern": "needle"}, all},
			{"case", given{"pattern": "(?i)NEEDLE", "path": "a.go"}, "a.go:3:func Needle() {"},
			{"case in a tree", given{"pattern": "(?i)func nEEDLE", "file_glob": "*.go"}, "a.go:3:func Needle() {"},
			{"beginning of a line", given{"pattern": "^needle"}, "a/sub/deep.py:1:needle = 1\nkept.log:1:needle kept\nrepo/y.go:1:needle repo\nrepo/y.log:1:needle in a repository of its own\nrgi/ab:1:needle ab\nsp ace/q'uote.txt:1:needle \"x\" 'y' $HOME `id`\nutf16.txt:1:needle\nutf8bom.txt:1:needle first"},
			{"end of a line", given{"pattern": "needle$"}, "a.txt:1:no final needle\ncrlf.txt:1:one needle\nlatin1.txt:1:caf\uFFFD needle\nutf16.txt:1:needle"},
			{"words", given{"pattern": `\bneedle t\w+\b`}, "a/b.go:3:// needle three"},
			{"class", given{"pattern": `[^ /]needle`}, "-dash.txt:1:-needle --help"},
			{"a pattern that begins with -", given{"pattern": "-needle"}, "-dash.txt:1:-needle --help"},
			{"a pattern like an option", given{"pattern": "--help"}, "-dash.txt:1:-needle --help"},
			{"quotes", given{"pattern": `'y' \$HOME`}, "sp ace/q'uote.txt:1:needle \"x\" 'y' $HOME `id`"},
			{"brace that is meant as one", given{"pattern": `Needle\(\) {`}, "a.go:3:func Needle() {"},
			{"no ASCII", given{"pattern": "針 n"}, "日本.txt:1:針 needle 針"},
			{"alternatives", given{"pattern": "three|deep|= 1"}, "a/b.go:3:// needle three\na/sub/deep.py:1:needle = 1"},
			{"nothing", given{"pattern": "no such text"}, ""},
			{"glob by name", given{"pattern": "needle", "file_glob": "*.go"}, "a/b.go:1:// needle one\na/b.go:3:// needle three\nrepo/y.go:1:needle repo"},
			{"glob by path", given{"pattern": "needle", "file_glob": "a/**/*.py"}, "a/sub/deep.py:1:needle = 1"},
			{"glob with braces", given{"pattern": "needle", "file_glob": "*.{py,log}"}, "a/sub/deep.py:1:needle = 1\nkept.log:1:needle kept\nrepo/y.log:1:needle in a repository of its own"},
			{"below", given{"pattern": "needle", "path": "a"}, "a/b.go:1:// needle one\na/b.go:3:// needle three\na/sub/deep.py:1:needle = 1"},
			{"below, another spelling", given{"pattern": "needle", "path": "./a/sub/../sub"}, "a/sub/deep.py:1:needle = 1"},
			{"through a link that is named", given{"pattern": "one", "path": "link"}, "link/b.go:1:// needle one"},
			{"one file", given{"pattern": "needle", "path": "a/b.go"}, "a/b.go:1:// needle one\na/b.go:3:// needle three"},
			{"F-021 hidden root", given{"pattern": "needle", "path": ".hidden"}, ".hidden/a_config.txt:1:needle hidden"},
			{"ignored root", given{"pattern": "needle", "path": "ignored"}, "ignored/x.go:1:needle ignored"},
			{"ignored file", given{"pattern": "needle", "path": "other.log"}, "other.log:1:needle other"},
			{"hidden too", given{"pattern": "needle (hidden|dot|git)", "include_hidden": true}, ".dot.go:1:needle dot\n.hidden/a_config.txt:1:needle hidden"},
			{"hidden glob", given{"pattern": "needle", "file_glob": "*_config.txt"}, ""},
			{"hidden glob too", given{"pattern": "needle", "file_glob": "*_config.txt", "include_hidden": true}, ".hidden/a_config.txt:1:needle hidden"},
			{"alias", given{"pattern": "three", "target": "grep"}, "a/b.go:3:// needle three"},
			{"files only", given{"pattern": "needle", "path": "a", "output_mode": "files_only"}, "a/b.go\na/sub/deep.py"},
			{"count", given{"pattern": "needle", "path": "a", "output_mode": "count"}, `{"a/b.go":2,"a/sub/deep.py":1}`},
			{"context", given{"pattern": "two", "path": "a", "context": 1}, "a/b.go-1-// needle one\na/b.go:2:// two\na/b.go-3-// needle three"},
			{"context that meets", given{"pattern": "needle", "path": "a/b.go", "context": 5}, "a/b.go:1:// needle one\na/b.go-2-// two\na/b.go:3:// needle three"},
			{"first page", given{"pattern": "needle", "path": "a", "limit": 1}, "a/b.go:1:// needle one"},
			{"second page", given{"pattern": "needle", "path": "a", "limit": 1, "offset": 1}, "a/b.go:3:// needle three"},
			{"last page", given{"pattern": "needle", "path": "a", "limit": 2, "offset": 2}, "a/sub/deep.py:1:needle = 1"},
			{"context of a page", given{"pattern": "needle", "path": "a", "limit": 1, "context": 1}, "a/b.go:1:// needle one\na/b.go-2-// two"},
			{"bad numbers", given{"pattern": "three", "limit": 0, "offset": -4, "context": -1}, "a/b.go:3:// needle three"},
		} {
			t.Run(c.name, func(t *testing.T) {
				r := b.OK("search_files", c.args)
				if got := rowsOf(r); got != c.want {
					t.Errorf("got\n%s\nwant\n%s", got, c.want)
				}
			})
		}
		r := b.OK("search_files", given{"pattern": "needle", "path": "a", "limit": 2})
		if !r.Is("truncated") || !strings.Contains(r.Text("hint"), "offset=2") || r.Num("total_count") != 2 {
			t.Errorf("truncated: %s", r.JSON)
		}
		r = b.OK("search_files", given{"pattern": "needle", "path": "a", "limit": 3})
		if r.Is("truncated") || r.Num("total_count") != 3 || r.Text("hint") != "" {
			t.Errorf("exactly as many as there are: %s", r.JSON)
		}
		r = b.OK("search_files", given{"pattern": "needle", "path": "a", "output_mode": "count"})
		if r.Num("total_count") != 3 {
			t.Errorf("count: %s", r.JSON)
		}
		if r = b.OK("search_files", given{"pattern": "nothing at all"}); !strings.Contains(r.Text("hint"), "include_hidden") {
			t.Errorf("a way out: %s", r.JSON)
		}
	})
}

func TestNames(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	plant(b)
	old := time.Now().Add(-time.Hour)
	for i, n := range []string{"a.go", "a/b.go", "repo/y.go", "kept.log", "a/sub/deep.py", "a.txt"} {
		if err := os.Chtimes(b.At(n), old, old.Add(time.Duration(i)*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		args given
		want string
	}{
		{"newest first", given{"pattern": "*.go"}, "repo/y.go\na/b.go\na.go"},
		{"with a directory", given{"pattern": "a/**/*.py"}, "a/sub/deep.py"},
		{"any depth", given{"pattern": "**/*.py"}, "a/sub/deep.py"},
		{"word that ends names", given{"pattern": "b.go"}, "a/b.go"},
		{"word within names", given{"pattern": "eep"}, "a/sub/deep.py"},
		{"F-022 hidden, star", given{"pattern": "*_config*"}, ""},
		{"F-022 hidden, word", given{"pattern": "config"}, ""},
		{"F-022 hidden, wanted", given{"pattern": "*config*", "include_hidden": true}, ".hidden/a_config.txt"},
		{"F-021 hidden root", given{"pattern": "*", "path": ".hidden"}, ".hidden/a_config.txt"},
		{"absolute pattern", given{"pattern": b.At("a") + "/*.go"}, b.At("a/b.go")},
		{"alias", given{"pattern": "*.py", "target": "find"}, "a/sub/deep.py"},
		{"file_glob too", given{"pattern": "*", "file_glob": "*.py"}, "a/sub/deep.py"},
		{"page", given{"pattern": "*.go", "limit": 1, "offset": 1}, "a/b.go"},
		{"ignored", given{"pattern": "x.go"}, ""},
		{"braces", given{"pattern": "*.{py,log}", "path": "a"}, "a/sub/deep.py"},
		{"one file", given{"pattern": "*.txt", "path": "a.txt"}, "a.txt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.args["target"] == nil {
				c.args["target"] = "files"
			}
			if got := rowsOf(b.OK("search_files", c.args)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	r := b.OK("search_files", given{"pattern": "*.go", "target": "files", "limit": 2})
	if !r.Is("truncated") || r.Num("total_count") != 3 {
		t.Errorf("got %s", r.JSON)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	b.Put("src/main.go", "x\n")
	for _, c := range []struct {
		name  string
		args  given
		parts []string
	}{
		{"case 53", given{"pattern": "x", "path": "scr"}, []string{"Path not found: scr"}},
		{"bad pattern", given{"pattern": "foo("}, []string{"bad pattern", "backslash"}},
		{"look-around", given{"pattern": "(?<=a)b"}, []string{"look-around"}},
		{"back-reference", given{"pattern": `(a)\1`}, []string{"back-reference"}},
		{"line break", given{"pattern": `a\nb`}, []string{"one line"}},
		{"empty", given{"pattern": ""}, []string{"empty"}},
		{"F-022 bad glob", given{"pattern": "x", "file_glob": "[bad"}, []string{"bad glob"}},
		{"F-022 bad name", given{"pattern": "[bad", "target": "files"}, []string{"bad glob"}},
		{"bad mode", given{"pattern": "x", "output_mode": "json"}, []string{"output_mode"}},
		{"no pattern", given{}, []string{"missing field pattern"}},
	} {
		t.Run(c.name, func(t *testing.T) { b.Fails("search_files", c.args, c.parts...) })
	}
	r := b.Fails("search_files", given{"pattern": "x", "path": "SRC"})
	if got, _ := r.Value["similar_paths"].([]any); len(got) != 1 || got[0] != "src" {
		t.Errorf("similar: %s", r.JSON)
	}
}

// TestRepetition is case 54.
func TestRepetition(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	b.Put("f", "x\n")
	call := func() filestest.Result { return b.Call("search_files", given{"pattern": "x"}) }
	for i := range 4 {
		r := call()
		blocked := strings.HasPrefix(r.Text("error"), "BLOCKED")
		if blocked != (i == 3) || (i == 2) != strings.Contains(r.Text("_warning"), "three times") {
			t.Errorf("call %d: %s", i+1, r.JSON)
		}
		if blocked && (r.Text("pattern") != "x" || r.Num("already_searched") != 3) {
			t.Errorf("call %d: %s", i+1, r.JSON)
		}
	}
	b.OK("search_files", given{"pattern": "y"})
	if r := call(); r.Err != nil {
		t.Errorf("after another search: %s", r.JSON)
	}
}

type stars struct{}

func (stars) Redact(s string) string { return strings.ReplaceAll(s, "hunter2hunter2", "***") }

func TestSecrets(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, b *filestest.Bench) {
		tool.ProvideAs[files.Redactor](b.App, stars{})
		b.Put("f", "KEY=hunter2hunter2\n")
		b.Put("key.pem", "-----BEGIN PRIVATE KEY-----\nMIIabcdef\n-----END PRIVATE KEY-----\n")
		b.Put(filepath.Join(b.Home, ".hermes/auth.json"), "KEY=other\n")
		b.Put(filepath.Join(b.Home, ".hermes/state.db"), "KEY=another\n") // F-116: never opened here
		r := b.OK("search_files", given{"pattern": "KEY="})
		if rowsOf(r) != "f:1:KEY=***" || !r.Is("redacted") || !strings.Contains(r.Text("_warning"), "masked") {
			t.Errorf("F-157: %s", r.JSON)
		}
		if r := b.OK("search_files", given{"pattern": "MII"}); rowsOf(r) != "key.pem:2:***" {
			t.Errorf("got %s", r.JSON)
		}
		if r := b.OK("search_files", given{"pattern": "KEY=", "path": "~/.hermes", "include_hidden": true}); rowsOf(r) != "" {
			t.Errorf("got %s", r.JSON)
		}
	})
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("permissions do not bind root; the suite also runs as an ordinary user")
	}
	// Ripgrep says that it could not read all, so the built-in walk answers.
	for _, bareEnv := range []bool{false, true} {
		b := filestest.New(t)
		if bareEnv {
			b.Wrap = func(e backend.Env) backend.Env { return bare{e, e.(backend.FileSystem)} }
		}
		b.Put("ok", "needle\n")
		b.Put("d/x", "needle\n")
		if err := os.Chmod(b.Put("no", "needle\n"), 0); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(b.At("d"), 0); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.Chmod(b.At("d"), 0o755) }()
		r := b.OK("search_files", given{"pattern": "needle"})
		if rowsOf(r) != "ok:1:needle" || !strings.Contains(r.Text("_warning"), "2 files or directories") {
			t.Errorf("got %s", r.JSON)
		}
	}
}
