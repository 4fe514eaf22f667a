package skillslist

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/internal/skill"
	"github.com/hermes-go/hermes/tool"
	"github.com/hermes-go/hermes/tool/tooltest"
)

func TestListF080(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for rel, text := range map[string]string{
		"a/one": "name: one\ndescription: papers on physics", "a/b/two": "name: two\ndescription: tables", "top": "name: top\ndescription: papers",
		"off": "name: off\ndescription: papers", "bad": "name: [x",
		"web": "name: web\ndescription: w\nmetadata: {hermes: {fallback_for_tools: [web_search]}}",
	} {
		p := filepath.Join(home, "skills", rel, "SKILL.md")
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("---\n"+text+"\n---\nB\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := tool.Builtin()
	tooltest.Matches[args](t, r, "skills_list")
	call := func(home, args string) string {
		services := tool.NewServices(nil)
		tool.ProvideAs(services, skill.Open(skill.Options{Home: home, Disabled: []string{"off"}}))
		return string(r.Dispatch(t.Context(), &tool.Call{Name: "skills_list", Args: json.RawMessage(args), Session: &tool.Session{Platform: "cli", Services: services}}).JSON)
	}
	for _, tt := range []struct{ name, args, want string }{
		{"all", `{}`, `"categories":["a","a/b"],"count":5,"hint"`},
		{"17 the fallback is listed", `{}`, `"name":"web"`},
		{"top level", `{"query":"top"}`, `{"name":"top","description":"papers","category":null}`},
		{"broken", `{}`, `"name":"bad","description":"","category":null,"problem":"2:7`},
		{"category and below", `{"category":"a"}`, `"count":2`},
		{"category below", `{"category":"a/b"}`, `"count":1`},
		{"query", `{"query":"papers"}`, `"count":2`},
		{"page", `{"limit":2,"offset":4}`, `"count":1,"total":5`},
		{"nothing", `{"query":"zzz"}`, `"skills":[],"categories":[],"count":0,"message"`},
	} {
		if got := call(home, tt.args); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	empty := t.TempDir()
	if got := call(empty, `{}`); !strings.Contains(got, "no skills yet in "+empty) { // F-080
		t.Error(got)
	}
}
