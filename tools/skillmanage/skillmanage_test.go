package skillmanage

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

func session(home string) *tool.Session {
	s := tool.NewServices(nil)
	tool.ProvideAs(s, skill.Open(skill.Options{Home: home}))
	tool.ProvideAs(s, &skill.Seen{})
	return &tool.Session{ID: "s", Services: s}
}

func text(name string) string {
	return `---\nname: ` + name + `\ndescription: d\n---\n# T\n\nDo it.\nDo it.\n`
}

func TestManage(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	r := tool.Builtin()
	tooltest.Matches[args](t, r, "skill_manage")
	s := session(home)
	for _, step := range []struct{ name, args, want string }{
		{"37 create", `{"action":"create","name":"a","category":"cat","content":"` + text("a") + `"}`, `"category":"cat"`},
		{"37 hint", `{"action":"create","name":"b","content":"` + text("b") + `"}`, `write_file`},
		{"37 again", `{"action":"create","name":"a","content":"` + text("a") + `"}`, `cat/a/SKILL.md`},
		{"no content", `{"action":"create","name":"c"}`, `action create needs content`},
		{"unknown action", `{"action":"drop","name":"a"}`, `field action`},
		{"no such skill", `{"action":"edit","name":"zz","content":"x"}`, `there is no skill zz`},
		{"41 ambiguous", `{"action":"patch","name":"a","old_string":"Do it.","new_string":"x"}`, `"error":"Found 2 matches`},
		{"41 preview", `{"action":"patch","name":"a","old_string":"Do it.","new_string":"x"}`, `"file_preview":"---\nname: a`},
		{"41 all", `{"action":"patch","name":"a","old_string":"Do it.","new_string":"Done.","replace_all":true}`, `2 replacements`},
		{"41 one", `{"action":"patch","name":"a","old_string":"# T","new_string":"# U"}`, `1 replacement.`},
		{"44", `{"action":"patch","name":"a","old_string":"name: a\n","new_string":""}`, `would break the skill`},
		{"patch lacks new", `{"action":"patch","name":"a","old_string":"x"}`, `needs new_string`},
		{"empty file", `{"action":"write_file","name":"a","file_path":"assets/x","file_content":""}`, `"success":true`},
		{"46", `{"action":"write_file","name":"a","file_path":"secret/x","file_content":"x"}`, `references/, templates/, scripts/, assets/`},
		{"write lacks content", `{"action":"write_file","name":"a","file_path":"assets/x"}`, `needs file_content`},
		{"48 missing", `{"action":"remove_file","name":"a","file_path":"assets/y"}`, `"available_files":["assets/x"]`},
		{"48", `{"action":"remove_file","name":"a","file_path":"assets/x"}`, `was removed`},
		{"edit", `{"action":"edit","name":"a","content":"` + text("a") + `"}`, `was replaced`},
		{"50 itself", `{"action":"delete","name":"a","absorbed_into":"a"}`, `into itself`},
		{"50 missing", `{"action":"delete","name":"a","absorbed_into":"zz"}`, `nothing was deleted`},
		{"50 target", `{"action":"delete","name":"a","absorbed_into":"b"}`, `is now in b`},
		{"50 pruned", `{"action":"delete","name":"b","absorbed_into":""}`, `Nothing takes its place`},
		{"24 archived", `{"action":"patch","name":".archive/a","old_string":"x","new_string":"y"}`, `begin with a dot`},
	} {
		res := r.Dispatch(t.Context(), &tool.Call{Name: "skill_manage", Args: json.RawMessage(step.args), Session: s})
		if !strings.Contains(string(res.JSON), step.want) {
			t.Errorf("%s: got %s, want %s", step.name, res.JSON, step.want)
		}
		if ok := strings.Contains(string(res.JSON), `"success":true`); ok != (res.Err == nil) {
			t.Errorf("%s: success %v, but err %v", step.name, ok, res.Err)
		}
	}
	if _, err := os.Stat(filepath.Join(home, "skills", ".archive", "a", "SKILL.md")); err != nil {
		t.Error(err)
	}
}

// TestEditAfterSomebodyElse: an edit of what was read before is refused.
func TestEditAfterSomebodyElse(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	r := tool.Builtin()
	mine, other := session(home), session(home)
	call := func(s *tool.Session, args string) string {
		return string(r.Dispatch(t.Context(), &tool.Call{Name: "skill_manage", Args: json.RawMessage(args), Session: s}).JSON)
	}
	call(mine, `{"action":"create","name":"a","content":"`+text("a")+`"}`)
	call(other, `{"action":"patch","name":"a","old_string":"# T","new_string":"# Theirs"}`)
	if got := call(mine, `{"action":"edit","name":"a","content":"`+text("a")+`"}`); !strings.Contains(got, "changed since you read it") {
		t.Error(got)
	}
	if got := call(mine, `{"action":"patch","name":"a","old_string":"# Theirs","new_string":"# Ours"}`); !strings.Contains(got, "1 replacement") {
		t.Error(got)
	}
}
