package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestListsAreCurrent regenerates every list in memory.
func TestListsAreCurrent(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	root, err := moduleRoot(here)
	if err != nil {
		t.Fatal(err)
	}
	lists, err := filepath.Glob(filepath.Join(root, "*", "all"))
	if err != nil {
		t.Fatal(err)
	}
	if len(lists) == 0 {
		t.Fatal("there is no list to check")
	}
	for _, dir := range lists {
		plural := filepath.Base(filepath.Dir(dir))
		want, err := generate(root, filepath.Dir(dir), false)
		if err != nil {
			t.Errorf("%s: %v", plural, err)
			continue
		}
		got, err := os.ReadFile(filepath.Join(dir, "all.go"))
		if err != nil || string(got) != want {
			t.Errorf("%s/all/all.go is stale (%v); run: go generate ./%s/all", plural, err, plural)
		}
	}
}

func TestGenerate(t *testing.T) {
	t.Parallel()
	const registers = "package x\n\nimport \"example.com/m/tool\"\n\nfunc init() {\n\tfor range 2 {\n\t\ttool.Register(tool.Tool{})\n\t}\n}\n"
	tests := []struct {
		name  string
		files map[string]string
		want  []string // imported folders
		err   string
	}{
		{"sorted", map[string]string{"b/b.go": registers, "b/b_test.go": "package x", "a/a.go": registers, "a/a_test.go": "package x"}, []string{"a", "b"}, ""},
		{"alias", map[string]string{"a/a.go": strings.NewReplacer(`"example`, `kit "example`, "tool.R", "kit.R").Replace(registers), "a/a_test.go": "package x"}, []string{"a"}, ""},
		{"registers outside of init", map[string]string{"a/a.go": strings.Replace(registers, "func init", "func setup", 1)}, nil, ""},
		{"only a test registers", map[string]string{"a/a_test.go": registers, "a/a.go": "package x"}, nil, ""},
		{"another package's Register", map[string]string{"a/a.go": strings.Replace(registers, "m/tool", "other/tool", 1)}, nil, ""},
		{"helper", map[string]string{"helper/helper.go": "package helper"}, nil, ""},
		{"no test", map[string]string{"a/a.go": registers}, nil, "tools/a registers itself but has no test"},
		{"broken", map[string]string{"a/a.go": "package"}, nil, "parse"},
		{"skipped folders", map[string]string{".x/a.go": registers, "_x/a.go": registers, "testdata/a.go": registers}, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			write(t, filepath.Join(root, "go.mod"), "module example.com/m\n")
			write(t, filepath.Join(root, "tools", "all", "doc.go"), "package all")
			for name, text := range tt.files {
				write(t, filepath.Join(root, "tools", name), text)
			}
			got, err := generate(root, filepath.Join(root, "tools"), false)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error is %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var imports []string
			for _, f := range tt.want {
				imports = append(imports, "example.com/m/tools/"+f)
			}
			if want := render(imports); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
