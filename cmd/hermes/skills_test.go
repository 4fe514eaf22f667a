//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/internal/fakemodel"
)

func putSkill(t *testing.T, dir, name, front string) {
	t.Helper()
	dir = filepath.Join(dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\nname: "+name+"\ndescription: about "+name+"\n"+front+"---\nText of "+name+".\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// What a skill lacks is typed without being shown, kept in .env, and reaches
// no model; the project's skills are asked about once.
func TestChatSkills(t *testing.T) {
	t.Parallel()
	const value = "typed-9d02c5b7e1"
	home, s := modelHome(t, "", fakemodel.Text("It is done."), fakemodel.Text("And again."))
	putSkill(t, filepath.Join(home, "skills"), "keyed", "required_environment_variables: [{name: KEYED_TOKEN, prompt: The token, help: At example.org}]\n")
	work := t.TempDir()
	putSkill(t, filepath.Join(work, ".agents", "skills"), "ours", "")
	p := openPaneIn(t, work, home, nil)
	p.shows("This project brings 1 skill: ours")
	p.shows("Use them here, from now on? [y/N]")
	p.keys("y", "Enter")
	p.ready()
	p.keys("/keyed do the thing", "Enter")
	p.shows("The token. At example.org (KEYED_TOKEN)")
	p.keys(value, "Enter")
	p.shows("It is done.")
	p.ready()
	if strings.Contains(p.text(), value) {
		t.Errorf("the value is on the screen:\n%s", p.text())
	}
	p.leave()
	env, err := os.ReadFile(filepath.Join(home, ".env"))
	if err != nil || !strings.Contains(string(env), "KEYED_TOKEN="+value) {
		t.Errorf(".env: %s, %v", env, err)
	}
	body := string(s.Requests()[0].Body)
	if strings.Contains(body, value) || !strings.Contains(body, "Text of keyed.") || !strings.Contains(body, "- ours: about ours") {
		t.Errorf("the model was told %s", body)
	}
	p = openPaneIn(t, work, home, nil)
	p.ready()
	if strings.Contains(p.text(), "This project brings") {
		t.Error("it is asked twice")
	}
	p.keys("/ours", "Enter")
	p.shows("And again.")
	p.leave()
}
