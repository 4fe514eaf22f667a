package lint

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// bash runs scripts on this machine.
func bash(ctx context.Context, script, stdin string) (string, int, error) {
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &out
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return "", 0, err
	}
	return out.String(), cmd.ProcessState.ExitCode(), nil
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file, text, status, output string
	}{
		{"json", "a.json", `{"a": [1, 2]}`, "ok", ""},
		{"json error", "a.json", "{\n \"a\": 1,\n}", "error", "JSONDecodeError: invalid character '}' looking for beginning of object key string (line 3, column 1)"},
		{"json cut", "a.json", `{"a": [`, "error", "JSONDecodeError: unexpected end of the text (line 1, column 8)"},
		{"json empty", "a.json", "", "error", "JSONDecodeError: unexpected end of the text (line 1, column 1)"},
		{"json twice", "a.json", "{} {}", "error", "extra data"},
		{"json with mark", "a.json", "\uFEFF{}", "ok", ""},
		{"json with comments", "sub/tsconfig.build.json", "{ // c\n \"a\": \"//x\", /* y */ \"b\": [1,],\n}\n", "ok", ""},
		{"json with comments elsewhere", "data.json", "{} // c", "error", "extra data"},
		{"yaml", "a.yaml", "a: 1\n---\nb: [1, 2]\n", "ok", ""},
		{"yaml error", "a.yml", "a: b: c\n", "error", "YAMLError: "},
		{"yaml template", "a.yaml", "a: {{ .Values.x }}: y\n", "skipped", ""},
		{"toml", "a.toml", "[a]\nb = 1\n", "ok", ""},
		{"toml error", "a.toml", "[a]\nb = \n", "error", "TOMLDecodeError: "},
		{"go", "a.go", "package a\n", "ok", ""},
		{"go error", "a.go", "package a\n\nfunc f( {\n}\n", "error", "(line 3, column "},
		{"shell", "a.sh", "#!/bin/sh\nif true; then echo; fi\n", "ok", ""},
		{"shell error", "a.sh", "if true; then\n", "error", "SyntaxError: "},
		{"zsh", "a.sh", "#!/bin/zsh\nfoo () { (( }\n", "skipped", ""},
		{"python", "a.py", "def f():\n    return 1\n", "ok", ""},
		{"python error", "a.py", "x = 1\ndef f(:\n", "error", "SyntaxError: invalid syntax (line 2, column 7)"},
		{"python NUL", "a.py", "x = '\x00'\n", "error", "null bytes"},
		{"js", "a.js", "let x = 1;\n", "ok", ""},
		{"js module", "a.js", "import a from 'a';\nexport default a;\n", "ok", ""},
		{"js error", "a.js", "let a = 1;\nlet x = ;\n", "error", "SyntaxError: Unexpected token ';' (line 2, column 9)"},
		{"js error in a module", "a.js", "export default 1;\nlet x = ;\n", "error", "(line 2, column 9)"},
		{"large", "a.json", strings.Repeat(" ", maxSize+1), "skipped", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := Check(t.Context(), Input{Name: c.file, New: c.text, Run: bash})
			if r == nil {
				t.Fatal("no answer")
			}
			if r.Status == "skipped" && strings.Contains(r.Message, "not installed") {
				t.Skip(r.Message)
			}
			if r.Status != c.status || !strings.Contains(r.Output, c.output) || (c.status == "skipped") != (r.Message != "") {
				t.Errorf("got %+v", r)
			}
		})
	}
	if r := Check(t.Context(), Input{Name: "README.md", New: "{"}); r != nil {
		t.Errorf("a language nobody knows: %+v", r)
	}
	if r := Check(t.Context(), Input{Name: "a.py", New: "{"}); r.Status != "skipped" {
		t.Errorf("nothing to run it with: %+v", r)
	}
}

func TestDelta(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, old, text string
		output, message string
	}{
		{"was fine", "package a\n", "package a\nfunc\n", "SyntaxError", ""},
		{"case 44 the same before", "package a\nfunc\n", "package a\n\n\nfunc\n", "SyntaxError", "pre-existing"},
		{"one more", "package a\nvar x = )\n", "package a\nvar x = )\nvar y = 08\n", "New errors", "pre-existing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := Check(t.Context(), Input{Name: "a.go", New: c.text, Old: c.old, HasOld: true})
			if r.Status != "error" || !strings.Contains(r.Output, c.output) || !strings.Contains(r.Message, c.message) || (c.message == "") != (r.Message == "") {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	hang := func(ctx context.Context, _, _ string) (string, int, error) { select {} }
	if r := Check(ctx, Input{Name: "a.py", New: "x", Run: hang}); r.Status != "skipped" {
		t.Errorf("got %+v", r)
	}
	panics := func(context.Context, string, string) (string, int, error) { panic("x") }
	if r := Check(t.Context(), Input{Name: "a.py", New: "x", Run: panics}); r.Status != "skipped" {
		t.Errorf("got %+v", r)
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{"{\"a\":1,}", "// x\n{}", "/*", "\"\\", "a: [", "[a]\nb=", "package a", "if"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"a.json", "tsconfig.json", "a.yaml", "a.toml", "a.go", "a.sh"} {
			if r := Check(t.Context(), Input{Name: name, New: text, Old: text, HasOld: true}); strings.Contains(r.Message, "failed") {
				t.Errorf("%s: %s", name, r.Message)
			}
		}
	})
}
