package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/ask"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/fakemodel"
	"github.com/hermes-go/hermes/internal/slash"
	"github.com/hermes-go/hermes/secret"
)

// withSkills is a home with these skills and a model that answers in turn.
func withSkills(t *testing.T, s *fakemodel.Server, skills map[string]string) *App {
	t.Helper()
	a := home(t, map[string]string{"config.yaml": "model: {default: m, provider: custom, base_url: \"" + s.V1() + "\", api_key: k-123456789}\n"})
	for name, text := range skills {
		putSkill(t, a, name, text)
	}
	return a
}

func putSkill(t *testing.T, a *App, name, front string) {
	t.Helper()
	dir := filepath.Join(a.Home, "skills", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\nname: "+name+"\ndescription: about "+name+"\n"+front+"---\nText of "+name+"."), 0o644); err != nil {
		t.Fatal(err)
	}
}

// said is what the model was last told by the user.
func said(t *testing.T, s *fakemodel.Server) string {
	t.Helper()
	all := s.Requests()
	return string(all[len(all)-1].Body)
}

// askedTurn runs a turn and answers what is asked.
func askedTurn(t *testing.T, c *Conversation, text, reply string) (asked []ask.Request) {
	t.Helper()
	for e, err := range c.Turn(t.Context(), text) {
		if err != nil {
			t.Fatal(err)
		}
		if q, ok := e.(agent.Asked); ok {
			asked = append(asked, q.Request)
			q.Reply(ask.Answer{Text: reply})
		}
	}
	return asked
}

// TestSkillAsksCase54 is case 54: what a skill lacks is asked for at the terminal,
// kept in .env, let through to its commands, and never told to a model; what is
// skipped is not asked for again.
func TestSkillAsksCase54(t *testing.T) {
	t.Parallel()
	const value = "sekrit-4c1d90aa7b"
	call := func(name string) fakemodel.Reply {
		return fakemodel.UseTool("skill_view", `{"name":"`+name+`"}`)
	}
	s := fakemodel.New(t, fakemodel.Text("one"), call("other"), fakemodel.Text("two"), call("third"), fakemodel.Text("three"), call("third"), fakemodel.Text("four"))
	a := withSkills(t, s, map[string]string{
		"asks":  "required_environment_variables: [{name: ASKS_KEY, prompt: The key, help: At example.org, required_for: all}]\n",
		"other": "required_environment_variables: [{name: OTHER_KEY}]\n",
		"third": "required_environment_variables: [{name: THIRD_KEY}]\n",
	})
	c, err := a.Converse(t.Context(), Ask{Interactive: true})
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.Skill(t.Context(), "asks", "do it")
	if err != nil {
		t.Fatal(err)
	}
	asked := askedTurn(t, c, text, value)
	if len(asked) != 1 || asked[0].Kind != ask.Secret || asked[0].Name != "ASKS_KEY" || asked[0].Text != "The key, for all. At example.org" {
		t.Errorf("asked %+v", asked)
	}
	for _, want := range []string{"Text of asks.", "The user's instruction with the skill: do it", "[Skill directory: "} {
		if !strings.Contains(said(t, s), want) {
			t.Errorf("the model was not told %q", want)
		}
	}
	if strings.Contains(said(t, s), "Skill setup note") {
		t.Error("what was given is called missing")
	}
	if asked = askedTurn(t, c, "now the other", value+"-2"); len(asked) != 1 || asked[0].Name != "OTHER_KEY" {
		t.Errorf("asked %+v", asked)
	}
	if asked = askedTurn(t, c, "now the third", ""); len(asked) != 1 || !strings.Contains(said(t, s), `setup_skipped\":true`) {
		t.Errorf("asked %+v, told %s", asked, said(t, s))
	}
	if asked = askedTurn(t, c, "again", ""); len(asked) != 0 {
		t.Errorf("asked again: %+v", asked)
	}
	env, err := secret.ReadFile(filepath.Join(a.Home, ".env"))
	if err != nil || !strings.Contains(string(env), "ASKS_KEY="+value) || !strings.Contains(string(env), "OTHER_KEY="+value+"-2") || strings.Contains(string(env), "THIRD") {
		t.Errorf(".env: %s, %v", env, err)
	}
	if vars := a.childEnv(c.Key()); !slices.Contains(vars, "ASKS_KEY="+value) {
		t.Errorf("commands have %v", vars)
	}
	for _, r := range s.Requests() {
		if strings.Contains(string(r.Body), value) {
			t.Fatal("the model was told the value")
		}
	}
}

// Where nobody sits at the terminal nothing is asked, and the model is told.
func TestSkillAsksNobody(t *testing.T) {
	t.Parallel()
	s := fakemodel.New(t, fakemodel.Text("one"), fakemodel.UseTool("skill_view", `{"name":"asks"}`), fakemodel.Text("two"))
	a := withSkills(t, s, map[string]string{"asks": "required_environment_variables: [{name: ASKS_KEY}]\n"})
	c, err := a.Converse(t.Context(), Ask{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.Skill(t.Context(), "asks", "")
	if err != nil {
		t.Fatal(err)
	}
	if asked := askedTurn(t, c, text, "x"); asked != nil || !strings.Contains(said(t, s), "missing env $ASKS_KEY") {
		t.Errorf("asked %+v, told %s", asked, said(t, s))
	}
	chat, err := a.Converse(t.Context(), Ask{Platform: "telegram", Interactive: true})
	if err != nil {
		t.Fatal(err)
	}
	if asked := askedTurn(t, chat, "use it", "x"); asked != nil || !strings.Contains(said(t, s), "gateway_setup_hint") {
		t.Errorf("asked %+v in a chat, told %s", asked, said(t, s))
	}
}

// TestSkillsPreloadedCase65 is case 65.
func TestSkillsPreloadedCase65(t *testing.T) {
	t.Parallel()
	s := fakemodel.New(t, fakemodel.Text("one"))
	a := withSkills(t, s, map[string]string{"a": "", "b": "", "off": ""})
	if _, err := a.SwitchSkills("", []string{"off"}, false); err != nil {
		t.Fatal(err)
	}
	_, err := a.Converse(t.Context(), Ask{Skills: []string{"a", "c", "d"}})
	if err == nil || !strings.Contains(err.Error(), "there is no skill c") || !strings.Contains(err.Error(), "there is no skill d") {
		t.Errorf("got %v", err)
	}
	c, err := a.Converse(t.Context(), Ask{Skills: []string{"a", "b", "a"}})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(c.System, "Text of a.") != 1 || strings.Count(c.System, "Text of b.") != 1 || strings.Index(c.System, "Text of a.") > strings.Index(c.System, "Text of b.") {
		t.Errorf("the prompt is %s", c.System)
	}
	answer(t, c, "hi")
	// Taken up again, the prompt stays; what is asked for now comes with a message.
	c, err = a.Converse(t.Context(), Ask{Continue: true, Skills: []string{"b"}})
	if err != nil || c.reloaded == "" {
		t.Errorf("got %+v, %v", c, err)
	}
}

// TestSkillsReloaded: the model is told once what changed, and the prompt stays.
func TestSkillsReloaded(t *testing.T) {
	t.Parallel()
	s := fakemodel.New(t, fakemodel.Text("one"), fakemodel.Text("two"))
	a := withSkills(t, s, map[string]string{"stays": "", "goes": ""})
	c, err := a.Converse(t.Context(), Ask{})
	if err != nil {
		t.Fatal(err)
	}
	system := c.System
	if r, err := c.ReloadSkills(t.Context()); err != nil || len(r.Added)+len(r.Removed) != 0 {
		t.Errorf("nothing happened, but %+v, %v", r, err)
	}
	putSkill(t, a, "comes", "")
	if err := os.RemoveAll(filepath.Join(a.Home, "skills", "goes")); err != nil {
		t.Fatal(err)
	}
	r, err := c.ReloadSkills(t.Context())
	if err != nil || !slices.Equal(r.Added, []slash.Skill{{Name: "comes", About: "about comes"}}) || !slices.Equal(r.Removed, []slash.Skill{{Name: "goes"}}) {
		t.Errorf("got %+v, %v", r, err)
	}
	answer(t, c, "first")
	if got := said(t, s); !strings.Contains(got, `[USER INITIATED SKILLS RELOAD:`) || !strings.Contains(got, `Added Skills:\n    - comes: about comes\nRemoved Skills:\n    - goes`) {
		t.Errorf("told %s", got)
	}
	answer(t, c, "second")
	if strings.Count(said(t, s), "USER INITIATED") != 1 || c.System != system {
		t.Error("it is told more than once, or the prompt changed")
	}
}

// TestNudge: after as many calls as are set, once in a task, and not where the
// model has no way to keep a skill.
func TestNudge(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		tools []string
		calls []string
		want  int
	}{
		{"a long task", nil, []string{"todo", "todo", "todo", "todo"}, 1},
		{"a short one", nil, []string{"todo"}, 0},
		{"one in which it keeps something", nil, []string{"skill_manage", "todo", "todo", "todo"}, 0},
		{"no way to keep it", []string{"todo"}, []string{"todo", "todo", "todo"}, 0},
	} {
		s := fakemodel.New(t)
		for _, name := range tt.calls {
			args := `{}`
			if name == "skill_manage" {
				args = `{"action":"create","name":"kept","content":"---\nname: kept\ndescription: d\n---\nB"}`
			}
			s.Add(fakemodel.UseTool(name, args))
		}
		s.Add(fakemodel.Text("done"))
		a := home(t, map[string]string{"config.yaml": "model: {default: m, provider: custom, base_url: \"" + s.V1() + "\", api_key: k-123456789}\nskills: {creation_nudge_interval: 3}\n"})
		c, err := a.Converse(t.Context(), Ask{Toolsets: tt.tools})
		if err != nil {
			t.Fatal(err)
		}
		answer(t, c, "go")
		if n := strings.Count(said(t, s), nudgeField); n != tt.want {
			t.Errorf("%s: reminded %d times", tt.name, n)
		}
	}
}

// Where commands run in a container, a skill is told of as it lies there, and
// the files it asks for are among those that the container gets.
func TestSkillInContainer(t *testing.T) {
	t.Parallel()
	a := home(t, map[string]string{"config.yaml": "terminal: {backend: docker}\n", "token.json": "{}"})
	putSkill(t, a, "run", "required_credential_files: [token.json, gone.json, .env]\n")
	if err := os.MkdirAll(filepath.Join(a.UserHome, ".agents/skills/other"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(a.UserHome, ".agents/skills/other/SKILL.md"), []byte("---\nname: other\ndescription: d\n---\nRun ${HERMES_SKILL_DIR}/x."), 0o644); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(a.Home, "skills", "run", "SKILL.md")
	if err := os.WriteFile(dir, []byte("---\nname: run\ndescription: d\nrequired_credential_files: [token.json, gone.json, .env]\n---\nRun ${HERMES_SKILL_DIR}/scripts/x."), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"run": "Run /root/.hermes/skills/run/scripts/x.", "other": "other/x."} {
		s, err := a.Skills.List().Find(name)
		if err != nil {
			t.Fatal(err)
		}
		l, err := a.Skills.Load(t.Context(), s, "")
		if err != nil || !strings.Contains(l.Content, want) {
			t.Errorf("%s: %v, %s", name, err, l.Content)
		}
		if told := slices.ContainsFunc(l.Warnings, func(w string) bool { return strings.Contains(w, "run where the files of this skill are not") }); told != (name == "other") {
			t.Errorf("%s: warnings %v", name, l.Warnings)
		}
		a.passes.PassFiles("task", l.Needs.PresentFiles())
	}
	if got := a.passes.filesOf("task"); !slices.Equal(got, []string{"token.json"}) || a.passes.filesOf("other") != nil {
		t.Errorf("files %v", got)
	}
	a.passes.end("task")
	if got := a.passes.filesOf("task"); got != nil {
		t.Errorf("they outlive the task: %v", got)
	}
}
