package skill

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func load(t *testing.T, o Options, text, session string) *Loaded {
	t.Helper()
	if o.Home == "" {
		o.Home = t.TempDir()
	}
	put(t, o.Home, "skills/s/SKILL.md", text)
	l := Open(o)
	s, err := l.List().Find("s")
	if err != nil {
		t.Fatal(err)
	}
	out, err := l.Load(t.Context(), s, session)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func front(more string) string { return "---\nname: s\ndescription: d\n" + more + "---\n" }

func TestTokensCase61(t *testing.T) {
	t.Parallel()
	const text = "run ${HERMES_SKILL_DIR}/x ${HERMES_SESSION_ID} ${OTHER}"
	got := load(t, Options{}, front("")+text, "id1")
	if !strings.Contains(got.Content, "run "+got.Dir+"/x id1 ${OTHER}") {
		t.Error(got.Content)
	}
	if got := load(t, Options{}, front("")+text, ""); !strings.Contains(got.Content, "${HERMES_SESSION_ID}") {
		t.Error(got.Content)
	}
	if got := load(t, Options{NoTemplates: true}, front("")+text, "id1"); !strings.Contains(got.Content, text) {
		t.Error(got.Content)
	}
}

func TestInlineShellCase62(t *testing.T) {
	t.Parallel()
	text := front("") + "Dir: !`pwd`\nEnv: !`echo $HERMES_SESSION_ID`\nBad: !`exit 3`\n```\n!`echo example`\n```\nLong: !`head -c 5000 /dev/zero | tr '\\0' x`\nSlow: !`sleep 60`\nEnd.\n"
	if got := load(t, Options{}, text, "x"); !strings.Contains(got.Content, "Dir: !`pwd`") {
		t.Errorf("it is off: %s", got.Content)
	}
	began := time.Now()
	got := load(t, Options{InlineShell: true, ShellLimit: time.Second, Env: os.Environ}, text, "a;b")
	if time.Since(began) > 20*time.Second {
		t.Error("the limit did not hold")
	}
	for _, want := range []string{"/skills/s\n", "Env: a;b\n", "Bad: [exit 3]\n", "!`echo example`", strings.Repeat("x", 4000) + "...[truncated]\n", "Slow: [inline-shell timeout after 1s: sleep 60]\nEnd.\n"} {
		if !strings.Contains(got.Content, want) {
			t.Errorf("no %.60q in %.600s", want, got.Content)
		}
	}
}

func TestNeedsCases54To60(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	put(t, home, "token.json", "{}")
	put(t, home, ".env", "X=1")
	vars := map[string]string{"HAVE": "1", "EMPTY": ""}
	o := Options{
		Home: home, UserHome: "/u",
		Lookup: func(n string) (string, bool) { v, ok := vars[n]; return v, ok },
		Setting: func(k string) (string, bool) {
			return map[string]string{"a.set": "one\ntwo", "a.zero": "0"}[k], true
		},
	}
	got := load(t, o, front(`required_environment_variables:
  - name: HAVE
  - {name: MISSING, help: Get it there, required_for: all}
  - EMPTY
  - {name: MAYBE, optional: true}
  - {name: BAD-NAME}
prerequisites: {env_vars: LEGACY, commands: [sh, no-such-command-here]}
required_credential_files:
  - path: token.json
  - {name: absent.json}
  - ../outside
  - .env
metadata:
  hermes:
    config:
      - {key: a.set, description: d}
      - {key: a.zero, description: d}
      - {key: a.dir, description: d, default: ~/d}
      - {key: a.none, description: d}
      - {key: a.skipped}
`)+"B", "")
	n := got.Needs
	if !slices.Equal(n.MissingVars, []string{"MISSING", "EMPTY", "LEGACY"}) || !slices.Equal(n.Present, []string{"HAVE"}) || len(n.Variables) != 5 {
		t.Errorf("variables %+v", n)
	}
	if !slices.Equal(n.MissingFiles, []string{"absent.json", "../outside", ".env"}) {
		t.Errorf("files %v", n.MissingFiles)
	}
	if !slices.Equal(n.MissingCommands, []string{"no-such-command-here"}) {
		t.Errorf("commands %v", n.MissingCommands)
	}
	want := "[Skill config (from ~/.hermes/config.yaml):\n  a.set = one two\n  a.zero = 0\n  a.dir = /u/d\n  a.none = (not set)\n]"
	if b := n.ConfigBlock(); b != want {
		t.Errorf("config %s", b)
	}
	if !n.Setup() || !strings.Contains(n.Note(), "env $MISSING") || !strings.Contains(n.Note(), ".env (no skill may have it)") {
		t.Errorf("note %s", n.Note())
	}
}

func TestMessageCase64(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	put(t, home, "skills/s/references/r.md", "r")
	got := load(t, Options{Home: home}, front("required_environment_variables: [NO_SUCH]\n")+"Do it.", "").Message(" now ")
	at := -1
	for _, want := range []string{"[IMPORTANT:", "Do it.", "[Skill directory: " + filepath.Join(home, "skills", "s") + "]", "[Skill setup note: ", "[This skill has supporting files:]\n- references/r.md  ->  ", "instruction with the skill: now"} {
		i := strings.Index(got, want)
		if i <= at {
			t.Fatalf("%q is not where it belongs in %s", want, got)
		}
		at = i
	}
}

func TestOffCase29(t *testing.T) {
	t.Parallel()
	l := Open(Options{Home: t.TempDir(), Disabled: []string{"a"}, Platforms: map[string][]string{"telegram": {}, "slack": {"b"}}})
	s := &Skill{Name: "a", Dir: "/x/y"}
	if !l.Off("cli")(s) || l.Off("telegram")(s) || l.Off("slack")(s) {
		t.Error("platform lists replace the general one")
	}
}

func TestRootsCase21(t *testing.T) {
	t.Parallel()
	home, user := t.TempDir(), t.TempDir()
	l := Open(Options{Home: home, UserHome: user, External: []string{" ~/a ", "${DIR}/b", "rel", "", home + "/skills", "~/a"}, Lookup: func(string) (string, bool) { return "/d", true }})
	var got []string
	for _, r := range l.Roots() {
		got = append(got, r.Source+"="+r.Dir)
	}
	want := []string{"home=" + home + "/skills", "external=" + user + "/a", "external=/d/b", "external=" + home + "/rel", "agents=" + user + "/.agents/skills"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}
