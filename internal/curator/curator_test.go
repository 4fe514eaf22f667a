package curator

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/internal/skill"
)

const day = 24 * time.Hour

type world struct {
	*Curator
	t   *testing.T
	now time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)}
	home := t.TempDir()
	lib := skill.Open(skill.Options{Home: home, Now: func() time.Time { return w.now }, Trouble: func(err error) { t.Error(err) }})
	w.Curator = &Curator{Skills: lib, Options: Options{Enabled: true, Interval: 7 * day, MinIdle: 2 * time.Hour, StaleAfter: 30 * day, ArchiveAfter: 90 * day, Backup: true, Keep: 2, Logs: filepath.Join(home, "logs", "curator")}}
	return w
}

func (w *world) make(by skill.Author, name, category, text string) *skill.Skill {
	w.t.Helper()
	s, err := w.Skills.Create(by, name, category, fmt.Sprintf("---\nname: %s\ndescription: about %s\n---\n%s\n", name, name, text))
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) run() Report {
	w.t.Helper()
	r, err := w.Run(false)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// TestRun: what an agent made and nobody used goes to the archive and comes
// back; what a person wrote, edited or pinned stays, however old.
func TestRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.make(skill.ByAgent, "forgotten", "cat", "quantum chess openings")
	w.make(skill.ByAgent, "used", "", "brewing green tea")
	w.make(skill.ByAgent, "pinned", "", "painting old fences")
	w.make(skill.ByAgent, "edited", "", "tuning a violin")
	w.make(skill.ByAgent, "patched-by-hand", "", "folding paper cranes")
	w.make(skill.ByUser, "written", "", "baking rye bread")
	s, err := w.Skills.List().Find("pinned")
	if err != nil || w.Skills.Pin(s, true) != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.Skills.Dir(), "edited", "SKILL.md"), []byte("---\nname: edited\ndescription: mine\n---\nMine.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if s, err = w.Skills.List().Find("patched-by-hand"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Skills.Patch(skill.ByUser, s, "", "paper", "silk", false); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(31 * day)
	if s, err = w.Skills.List().Find("used"); err != nil {
		t.Fatal(err)
	}
	w.Skills.Used(s)
	r := w.run()
	if len(r.Proposals) != 1 || r.Proposals[0].Kind != Stale || r.Proposals[0].Skill != "forgotten" || w.Skills.Usages()["forgotten"].State != skill.Stale {
		t.Errorf("after a month: %+v", r)
	}
	w.now = w.now.Add(60 * day)
	dry, err := w.Run(true)
	if err != nil || len(dry.Proposals) != 2 || w.Skills.ArchivedNames() != nil {
		t.Errorf("dry: %+v, %v", dry, err)
	}
	r = w.run()
	if len(r.Proposals) != 2 || r.Proposals[1].Kind != Archive || !r.Proposals[1].Done || r.Backup == "" || r.Summary() != "archive 1, stale 1" {
		t.Errorf("after three months: %+v", r)
	}
	for _, name := range []string{"used", "pinned", "edited", "patched-by-hand", "written"} {
		if _, err := w.Skills.List().Find(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.Skills.List().Find("forgotten"); err == nil {
		t.Error("it is still there")
	}
	for _, f := range []string{"run.json", "REPORT.md"} {
		if data, err := os.ReadFile(filepath.Join(r.Path, f)); err != nil || !strings.Contains(string(data), "forgotten") {
			t.Errorf("%s: %s, %v", f, data, err)
		}
	}
	back, err := w.Skills.Restore(skill.ByUser, "forgotten")
	if err != nil || back.Rel != "cat/forgotten" || w.Skills.Usages()["forgotten"].State != skill.Active {
		t.Errorf("restored %+v, %v", back, err)
	}
	if _, err := w.Skills.Restore(skill.ByUser, "forgotten"); err == nil || !strings.Contains(err.Error(), "is there") {
		t.Errorf("twice: %v", err)
	}
	if _, err := w.Skills.Restore(skill.ByUser, "nope"); err == nil {
		t.Error("what was never put away came back")
	}
	// A person brought it back: from here on it is theirs.
	w.now = w.now.Add(200 * day)
	for _, p := range w.run().Proposals {
		if p.Skill == "forgotten" {
			t.Errorf("again: %+v", p)
		}
	}
	backups, err := os.ReadDir(filepath.Join(w.Skills.Dir(), ".curator_backups"))
	if err != nil || len(backups) != 2 {
		t.Errorf("backups: %v, %v", backups, err)
	}
	state, err := w.State()
	if err != nil || state.Runs != 3 || state.Summary != "archive 1" {
		t.Errorf("state: %+v, %v", state, err)
	}
}

func TestMergesAreProposed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := "To deploy the service run make release, wait for the canary, then promote it with promote.sh and watch the dashboard of errors."
	w.make(skill.ByAgent, "deploy-service", "", text)
	w.make(skill.ByAgent, "service-deployment", "", text+" Roll back with undo.sh.")
	w.make(skill.ByAgent, "tea", "", "Heat the water to eighty degrees, let the leaves draw for two minutes, and pour.")
	s, err := w.Skills.List().Find("service-deployment")
	if err != nil {
		t.Fatal(err)
	}
	w.Skills.Used(s)
	r := w.run()
	if len(r.Proposals) != 1 || r.Proposals[0].Kind != Merge || r.Proposals[0].Skill != "deploy-service" || r.Proposals[0].Into != "service-deployment" || r.Proposals[0].Done {
		t.Errorf("got %+v", r.Proposals)
	}
	if len(w.Skills.List().Skills) != 3 {
		t.Error("something was merged")
	}
}

func TestDue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.make(skill.ByAgent, "a", "", "text")
	due := func() bool {
		t.Helper()
		ok, err := w.Due()
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if due() {
		t.Error("the first sight of a home starts the clock")
	}
	if w.now = w.now.Add(6 * day); due() {
		t.Error("too early")
	}
	w.now = w.now.Add(2 * day)
	if w.Skills.Used(s); due() {
		t.Error("somebody is at work")
	}
	if w.now = w.now.Add(3 * time.Hour); !due() {
		t.Error("it is time")
	}
	if err := w.Pause(true); err != nil {
		t.Fatal(err)
	}
	if due() {
		t.Error("paused")
	}
	if err := w.Pause(false); err != nil {
		t.Fatal(err)
	}
	if w.Enabled = false; due() {
		t.Error("off")
	}
}
