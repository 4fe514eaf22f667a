package app

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/internal/skill"
	"github.com/hermes-go/hermes/skills"
)

// TestBundledSkillsF076 holds what we ship to our own rules: strict front matter,
// the five sections, names that exist (F-076).
func TestBundledSkillsF076(t *testing.T) {
	t.Parallel()
	a, err := Open(Options{Home: t.TempDir(), UserHome: t.TempDir(), WorkDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	tools, sets, err := a.ToolNames()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	var related []string
	err = fs.WalkDir(skills.Bundled, ".", func(p string, _ fs.DirEntry, err error) error {
		if err != nil || path.Base(p) != "SKILL.md" || path.Base(path.Dir(p)) == "templates" {
			return err
		}
		data, err := fs.ReadFile(skills.Bundled, p)
		if err != nil {
			return err
		}
		for _, f := range skill.Validate(p, path.Base(path.Dir(p)), data, tools, sets) {
			t.Errorf("%s:%d: %s", f.Path, f.Line, f.Text)
		}
		d := skill.Parse(data)
		names[d.Scalar("name")] = true
		related = append(related, d.Related()...)
		// A script that is named must be there.
		for line := range strings.Lines(d.Body) {
			if _, rest, ok := strings.Cut(line, "${HERMES_SKILL_DIR}/"); ok {
				file := strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune(" `\"'\n", r) })[0]
				if _, err := fs.Stat(skills.Bundled, path.Join(path.Dir(p), file)); err != nil && file != "scripts/NAME" {
					t.Errorf("%s: %v", p, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < 8 {
		t.Errorf("%d skills", len(names))
	}
	for _, r := range related {
		if !names[r] {
			t.Errorf("related skill %s is not there", r)
		}
	}
}

// TestPassesCase58 is case 58: variables of a skill reach the commands of their own
// task, keys of services none.
func TestPassesCase58(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".env"), []byte("OWN_SKILL_KEY=own-value-12\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := Open(Options{Home: home, UserHome: t.TempDir(), WorkDir: t.TempDir(), Environ: []string{"TENOR_API_KEY=tenor-value-1", "OPENAI_API_KEY=sk-value"}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if refused := a.passes.Pass("one", []string{"TENOR_API_KEY", "OPENAI_API_KEY", "OWN_SKILL_KEY"}); !slices.Equal(refused, []string{"OPENAI_API_KEY"}) {
		t.Errorf("refused %v", refused)
	}
	has := func(task, name string) bool {
		return slices.ContainsFunc(a.childEnv(task), func(v string) bool { return strings.HasPrefix(v, name+"=") })
	}
	if !has("one", "TENOR_API_KEY") || !has("one", "OWN_SKILL_KEY") || has("two", "OWN_SKILL_KEY") || has("one", "OPENAI_API_KEY") || has("two", "TENOR_API_KEY") {
		t.Errorf("one %v, two %v", a.childEnv("one"), a.childEnv("two"))
	}
	a.passes.end("one")
	if has("one", "TENOR_API_KEY") {
		t.Error("it outlives its task")
	}
	if got := a.Secrets.Redactor().Redact("tenor-value-1"); got == "tenor-value-1" {
		t.Error("the value is not masked")
	}
}

// TestLateVariable: what a skill lets through reaches a terminal that is open
// already.
func TestLateVariable(t *testing.T) {
	t.Parallel()
	a, err := Open(Options{Home: t.TempDir(), UserHome: t.TempDir(), WorkDir: t.TempDir(), Environ: []string{"PATH=/usr/bin:/bin", "TENOR_API_KEY=tenor-value-1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	vars := a.taskVars("one")
	a.passes.Pass("zero", []string{"TENOR_API_KEY"}) // from here on it is known as a secret
	before := len(vars())
	a.passes.Pass("two", []string{"TENOR_API_KEY"})
	if len(vars()) != before {
		t.Error("another task's variable")
	}
	a.passes.Pass("one", []string{"TENOR_API_KEY"})
	if len(vars()) != before+1 {
		t.Errorf("got %v", vars())
	}
}

// An empty line of .env decides, whatever the process has.
func TestEmptyVariableCase56(t *testing.T) {
	t.Parallel()
	a := home(t, map[string]string{".env": "KEYED=\nOTHER=x\n"}, "KEYED=from-the-process-1", "THIRD=from-the-process-2")
	putSkill(t, a, "keyed", "required_environment_variables: [KEYED, OTHER, THIRD]\n")
	s, err := a.Skills.List().Find("keyed")
	if err != nil {
		t.Fatal(err)
	}
	n, err := a.Skills.NeedsOf(s)
	if err != nil || !slices.Equal(n.MissingVars, []string{"KEYED"}) {
		t.Errorf("missing %v, %v", n.MissingVars, err)
	}
}

// What lists call enabled is what the prompt names, and a session without a
// skill tool is told of none.
func TestPromptIsTheListCase34F075(t *testing.T) {
	t.Parallel()
	a := home(t, map[string]string{"config.yaml": "model: {default: m, provider: offline}\nskills: {disabled: [off]}\n"})
	putSkill(t, a, "plain", "")
	putSkill(t, a, "off", "")
	putSkill(t, a, "never", "metadata: {hermes: {requires_toolsets: [files]}}\n")
	putSkill(t, a, "elsewhere", "platforms: [plan9]\n")
	shown, err := a.PromptSkills(t.Context(), "cli")
	if err != nil {
		t.Fatal(err)
	}
	c, err := a.Converse(t.Context(), Ask{})
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for line := range strings.Lines(c.System) {
		if name, ok := strings.CutPrefix(line, "    - "); ok {
			name, _, _ = strings.Cut(strings.TrimSpace(name), ":")
			named[name] = true
		}
	}
	for _, s := range a.Skills.List().Skills {
		if shown[s.Path] != named[s.Name] {
			t.Errorf("%s: in the list %v, in the prompt %v", s.Name, shown[s.Path], named[s.Name])
		}
	}
	if !named["plain"] || named["off"] || named["never"] || named["elsewhere"] {
		t.Errorf("named %v", named)
	}
	if c, err = a.Converse(t.Context(), Ask{Toolsets: []string{"file"}}); err != nil || strings.Contains(c.System, "available_skills") {
		t.Errorf("a session without skill tools: %v", err)
	}
}

// TestPresets: sessions that train or run in batches write no skills; those
// with people do.
func TestPresets(t *testing.T) {
	t.Parallel()
	a := home(t, nil)
	table, err := a.Toolsets()
	if err != nil {
		t.Fatal(err)
	}
	for _, platform := range append(table.Platforms(), "batch", "rl") {
		offered, _, err := a.Why(t.Context(), platform, nil, "skill_manage")
		if err != nil {
			t.Fatal(err)
		}
		want := platform != "batch" && platform != "rl"
		if offered != want {
			t.Errorf("%s: offered %v", platform, offered)
		}
		// The same when its toolset is asked for by name.
		if offered, why, err := a.Why(t.Context(), platform, []string{"skills"}, "skill_manage"); err != nil || offered != want || !want && !strings.Contains(why, "do not change skills") {
			t.Errorf("%s, toolset skills: offered %v, %s, %v", platform, offered, why, err)
		}
		if offered, _, err := a.Why(t.Context(), platform, []string{"skills"}, "skill_view"); err != nil || !offered {
			t.Errorf("%s: skills cannot be read: %v", platform, err)
		}
	}
}
