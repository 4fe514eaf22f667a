package app

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/internal/fakemodel"
	"github.com/hermes-go/hermes/internal/store"
)

// TestSwitchModel: the history stays, the window is the new model's, and what
// belongs to one service is not kept for another.
func TestSwitchModel(t *testing.T) {
	t.Parallel()
	s := fakemodel.New(t, fakemodel.Text("one"), fakemodel.Text("two"))
	other := fakemodel.New(t, fakemodel.Text("three"))
	a := home(t, map[string]string{"config.yaml": `# mine
model:
  default: big # a remark
  provider: custom
  base_url: ` + s.V1() + `
  api_key: for-custom-only
  context_length: 200000
providers:
  lab: {base_url: "` + other.V1() + `", default_model: small, context_length: 50000}
model_aliases:
  tiny: {model: small, provider: lab}
`})
	c, err := a.Converse(t.Context(), Ask{})
	if err != nil {
		t.Fatal(err)
	}
	answer(t, c, "first")
	system := c.System
	sw, err := c.SwitchModel(t.Context(), "other", "", false)
	if err != nil || sw.To.Model != "other" || sw.From.Window != 200000 || sw.To.Window == 200000 {
		t.Errorf("another model of the same service: %+v, %v", sw, err)
	}
	answer(t, c, "second")
	if got := s.Requests()[1]; !strings.Contains(string(got.Body), `"other"`) || len(got.Messages()) != 4 {
		t.Errorf("it was asked %s", got.Body)
	}
	sw, err = c.SwitchModel(t.Context(), "tiny", "", true)
	if err != nil || sw.To.Model != "small" || sw.To.Window != 50000 {
		t.Errorf("by alias: %+v, %v", sw, err)
	}
	answer(t, c, "third")
	got := other.Requests()[0]
	if len(got.Messages()) != 6 || strings.Contains(got.Header.Get("Authorization"), "for-custom-only") {
		t.Errorf("the other service got %d messages and %q", len(got.Messages()), got.Header)
	}
	if c.System != system {
		t.Error("the system prompt has changed")
	}
	b, err := os.ReadFile(filepath.Join(a.Home, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{"for-custom-only", "context_length: 200000"} {
		if strings.Contains(string(b), gone) {
			t.Errorf("%q is still there for the new service:\n%s", gone, b)
		}
	}
	if !strings.Contains(string(b), "default: small # a remark") || !strings.Contains(string(b), "# mine") {
		t.Errorf("the file became\n%s", b)
	}
	db, err := a.DB()
	if err != nil {
		t.Fatal(err)
	}
	if row, err := db.Session(t.Context(), c.ID); err != nil || row.Model != "small" {
		t.Errorf("stored: %q, %v", row.Model, err)
	}
	if _, err := c.SwitchModel(t.Context(), "x", "nosuchservice", false); err == nil || c.Model != "small" {
		t.Errorf("a service that is not there: %v, model %s", err, c.Model)
	}
}

// TestNewIsFresh: nothing of the old conversation is in the new one, the
// directory that its shell stood in neither (F-140).
func TestNewIsFresh(t *testing.T) {
	t.Parallel()
	a := home(t, nil)
	c, err := a.Converse(t.Context(), Ask{Provider: "offline"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(a.WorkDir, "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	answer(t, c, "run cd below")
	if got := answer(t, c, "run pwd").Text; !strings.Contains(got, "below") {
		t.Fatalf("the shell does not remember: %s", got)
	}
	old, gate := c.ID, c.Approvals
	if from, err := c.Branch(t.Context(), ""); err != nil || from != old || c.ID == old || c.Approvals != gate || len(c.History) == 0 {
		t.Errorf("branch: %v", err)
	}
	if got := answer(t, c, "run pwd").Text; !strings.Contains(got, "below") {
		t.Errorf("a branch forgets where it works: %s", got)
	}
	branch := c.ID
	if err := c.New(t.Context(), "Fresh"); err != nil || c.ID == branch || len(c.History) != 0 || c.Approvals == gate {
		t.Errorf("new: %v, %d messages", err, len(c.History))
	}
	if got := answer(t, c, "run pwd").Text; strings.Contains(got, "below") {
		t.Errorf("a new conversation works where the old one did: %s", got)
	}
	if title, err := c.Title(t.Context()); err != nil || title != "Fresh" {
		t.Errorf("the title was not kept: %q, %v", title, err)
	}
	if err := c.SetTitle(t.Context(), strings.Repeat("x", 101)); !errors.Is(err, store.ErrTitle) {
		t.Errorf("a title that is too long: %v", err)
	}
	db, err := a.DB()
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{old: store.EndBranched, branch: store.EndNew} {
		if s, err := db.Session(t.Context(), id); err != nil || s.EndReason != want {
			t.Errorf("%s ended as %q, want %q; %v", id, s.EndReason, want, err)
		}
	}
	if err := c.GoOn(t.Context(), "nosuch"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("going on with nothing: %v", err)
	}
	if err := c.GoOn(t.Context(), branch); err != nil || c.ID != branch || len(c.History) == 0 {
		t.Errorf("going on: %v", err)
	}
}

func TestUndoAndSave(t *testing.T) {
	t.Parallel()
	a := home(t, map[string]string{".env": "OPENROUTER_API_KEY=" + canary + "\n"})
	c, err := a.Converse(t.Context(), Ask{Provider: "offline"})
	if err != nil {
		t.Fatal(err)
	}
	if gone, err := c.Undo(t.Context(), 1); err != nil || len(gone) != 0 {
		t.Errorf("nothing to undo: %v, %v", gone, err)
	}
	answer(t, c, "run echo one")
	answer(t, c, "my key is "+canary)
	gone, err := c.Undo(t.Context(), 2)
	if err != nil || len(gone) != 6 || len(c.History) != 0 {
		t.Errorf("undone %d, left %d, %v", len(gone), len(c.History), err)
	}
	if back, err := c.Redo(t.Context()); err != nil || len(back) != 6 || len(c.History) != 6 {
		t.Errorf("brought back %d, there are %d, %v", len(back), len(c.History), err)
	}
	paths := map[string]bool{}
	for range 2 {
		path, err := c.Save(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		paths[path] = true
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var saved struct {
			Model    string            `json:"model"`
			Messages []json.RawMessage `json:"messages"`
		}
		if err := json.Unmarshal(b, &saved); err != nil || saved.Model != "offline" || len(saved.Messages) != 6 {
			t.Errorf("saved %s, %v", b, err)
		}
		if strings.Contains(string(b), canary) {
			t.Error("a secret was saved")
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
	}
	if len(paths) != 2 {
		t.Errorf("one file over another: %v", paths)
	}
}
