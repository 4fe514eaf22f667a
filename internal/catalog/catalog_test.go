package catalog

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestBuiltin(t *testing.T) {
	t.Parallel()
	c := Builtin()
	if n := len(c.Models("")); n < 500 {
		t.Errorf("%d models", n)
	}
	seen := map[string]bool{}
	for _, m := range c.Models("") {
		if key := m.Provider + "\t" + m.ID; seen[key] {
			t.Errorf("%s is listed twice", key)
		} else {
			seen[key] = true
		}
		if m.Window < 0 || m.In < 0 || m.Out < 0 {
			t.Errorf("%+v", m)
		}
	}
	m, ok := c.Find("openai", "gpt-4.1")
	if !ok || m.Window != 1_047_576 || m.In != 2 || m.Out != 8 {
		t.Errorf("gpt-4.1: %+v %v", m, ok)
	}
	if m, ok = c.Find("custom", "openai/GPT-4.1"); !ok || m.Window != 1_047_576 || m.Priced {
		t.Errorf("at another service a window is known and a price is not: %+v %v", m, ok)
	}
	if _, ok := c.Find("", "no-such-model"); ok {
		t.Error("found what does not exist")
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	m := Model{Priced: true, In: 2, Out: 10, Cached: 0.5}
	if d, ok := m.Cost(1_000_000, 100_000, 2_000_000); !ok || d != 4 {
		t.Errorf("%v %v", d, ok)
	}
	m.Cached = 0
	if _, ok := m.Cost(1, 1, 1); ok {
		t.Error("a missing price was taken for none")
	}
	if d, ok := (Model{Priced: true}).Cost(5, 5, 5); !ok || d != 0 {
		t.Error("a free model costs nothing")
	}
	if _, ok := (Model{}).Cost(1, 1, 0); ok {
		t.Error("an unknown price was taken for none")
	}
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	answer := `{"google":{"models":{"gemini-x":{"limit":{"context":7,"output":3},"cost":{"input":1,"output":2,"cache_read":0.1}}}},"unheard":{"models":{"m":{}}}}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) }))
	defer s.Close()
	known := func(p string) bool { return p != "unheard" }
	c, err := Refresh(t.Context(), s.Client(), home, s.URL, known, time.Unix(1e9, 0))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Models("gemini"); len(got) != 1 || got[0].Window != 7 || got[0].Cached != 0.1 {
		t.Errorf("%+v", got)
	}
	if len(c.Models("openai")) == 0 || len(c.Models("unheard")) != 0 || !c.Stamp.Equal(time.Unix(1e9, 0)) {
		t.Error("the built-in list is gone, or a stranger came in")
	}
	answer = "<html>"
	if _, err := Refresh(t.Context(), s.Client(), home, s.URL, known, time.Now()); err == nil || !strings.Contains(err.Error(), "stays in use") {
		t.Errorf("%v", err)
	}
	if c, err = Open(home); err != nil || len(c.Models("gemini")) != 1 {
		t.Errorf("the kept list was lost: %v", err)
	}
	if err := os.WriteFile(filepath.Join(home, "cache", "model_catalog.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err = Open(home); err == nil || len(c.Models("openai")) == 0 {
		t.Error("a damaged cache is to be told of, and the built-in list used")
	}
}
