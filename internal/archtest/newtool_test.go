package archtest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	newTool = `// Package shout is a tool that a newcomer has just added.
package shout

import (
	"context"
	"strings"

	"github.com/hermes-go/hermes/tool"
)

type args struct {
	Text string ` + "`json:\"text\" doc:\"What to shout.\"`" + `
}

func init() {
	tool.Register(tool.Func(tool.Tool{
		Name: "shout", Toolset: "shout", About: "Say it in capitals.", Effects: tool.ReadsNothing,
	}, run))
}

func run(_ context.Context, _ *tool.Call, in args) (any, error) {
	return map[string]string{"said": strings.ToUpper(in.Text)}, nil
}
`
	newToolTest = "package shout\n\nimport \"testing\"\n\nfunc TestRun(t *testing.T) {\n\tgot, err := run(t.Context(), nil, args{Text: \"a\"})\n\tif err != nil || got.(map[string]string)[\"said\"] != \"A\" {\n\t\tt.Error(got, err)\n\t}\n}\n"
)

// TestNewTool adds a tool as a newcomer would, in a copy of the module: one
// folder, no other file by hand. The tool is then in the program.
func TestNewTool(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, sources{os.DirFS(root())}); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "tools", "shout")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"shout.go": newTool, "shout_test.go": newToolTest} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "HERMES_HOME="+filepath.Join(dir, "home"))
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s%s", name, args, err, out, stderr.String())
		}
		return string(out)
	}
	in("go", "generate", "./tools/all")
	in("go", "test", "-trimpath", "./tools/shout", "./internal/genall")
	in("go", "build", "-trimpath", "-ldflags=-s -w", "-o", "hermes-new", "./cmd/hermes")
	hermes := filepath.Join(dir, "hermes-new")

	if got := strings.TrimSpace(in(hermes, "tools", "run", "shout", "text=hello")); got != `{"said":"HELLO"}` {
		t.Errorf("tools run: %s", got)
	}
	var rows []struct {
		Name, Toolset string
		Available     bool
	}
	if err := json.Unmarshal([]byte(in(hermes, "tools", "list", "--json")), &rows); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, r := range rows {
		found = found || r.Name == "shout" && r.Toolset == "shout" && r.Available
	}
	if !found {
		t.Errorf("tools list does not show the new tool: %+v", rows)
	}
	in(hermes, "chat", "--provider", "offline", "-t", "shout", "-q", `call shout {"text":"hi"}`)
}
