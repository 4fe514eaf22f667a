package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/backend"
	_ "github.com/hermes-go/hermes/backends/all"
	"github.com/hermes-go/hermes/internal/catalog"
	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/provider"
	_ "github.com/hermes-go/hermes/providers/all"
	"github.com/hermes-go/hermes/secret"
)

func TestCleanKey(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"sk-1":                               "sk-1",
		"  'sk-1'\n":                         "sk-1",
		"\x1b[200~sk-1\x1b[201~":             "sk-1",
		"export OPENAI_API_KEY=\"sk-1\"\r\n": "sk-1",
		"OPENAI_API_KEY=sk-1":                "sk-1",
		"sk-a=b":                             "sk-a=b",
		"abc==":                              "abc==",
		"\ufeffsk-\u200b1":                   "sk-1",
		"":                                   "",
	} {
		if got := CleanKey(in); got != want {
			t.Errorf("CleanKey(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestJunkKey: F-103.
func TestJunkKey(t *testing.T) {
	t.Parallel()
	junk := []struct{ name, value string }{
		{"OPENAI_API_KEY", "sk-" + strings.Repeat("a1b2c3d4e5f6g7h8i9j0", 17)},
		{"OPENAI_API_KEY", "your_api_key"},
		{"OPENAI_API_KEY", "short"},
		{"OPENAI_API_KEY", "sk-abcdefghijklmnopsk-abcdefghijklmnop"},
		{"OPENAI_API_KEY", "sk-or-v1-0123456789abcdef"},
		{"OPENAI_API_KEY", "sk-with a space inside it"},
		{"ANTHROPIC_API_KEY", "sk-0123456789abcdef"},
		{"GLM_API_KEY", "https://z.ai/keys/of/mine"},
		{"GLM_API_KEY", "aaaaaaaaaaaaaaaaaaaaaaaa"},
		{"GLM_API_KEY", "schlüssel-0123456789"},
	}
	for _, j := range junk {
		if JunkKey(j.name, j.value) == "" {
			t.Errorf("%s=%s passes for a key", j.name, j.value)
		}
	}
	for _, g := range []struct{ name, value string }{
		{"OPENAI_API_KEY", "sk-proj-" + "Ab3dE6gH9jK2mN5pQ8sT1vW4yZ7" + strings.Repeat("x9Y", 40)},
		{"ANTHROPIC_API_KEY", "sk-ant-api03-0123456789abcdef"},
		{"GLM_API_KEY", "0123456789abcdef0123.ABCDEFGHIJ"},
		{"HERMES_PROJECT_ID", "x"},
	} {
		if problem := JunkKey(g.name, g.value); problem != "" {
			t.Errorf("%s: %s", g.name, problem)
		}
	}
}

// TestExamineIsBounded: F-105 and F-107, a check that hangs or panics holds up
// nobody, and each has a time of its own.
func TestExamineIsBounded(t *testing.T) {
	t.Parallel()
	var checks []Check
	for i := range 20 {
		checks = append(checks, Check{ID: fmt.Sprintf("hang.%d", i), Group: "g", Blocking: i == 0, Limit: 100 * time.Millisecond, Run: func(context.Context) []Finding { select {} }})
	}
	checks = append(checks,
		Check{ID: "panic", Group: "g", Run: func(context.Context) []Finding { panic("boom") }},
		Check{ID: "fail", Group: "g", Run: func(context.Context) []Finding { return bad(Fail, "do", "no") }},
		Check{ID: "fine", Group: "g", Blocking: true, Run: func(context.Context) []Finding { return ok("yes") }})
	start := time.Now()
	r := Examine(t.Context(), checks)
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("it took %s", took)
	}
	if r.OK || len(r.Checks) != len(checks) {
		t.Fatalf("%+v", r)
	}
	for i, f := range r.Checks {
		switch {
		case f.ID != checks[i].ID:
			t.Errorf("%s stands for %s", f.ID, checks[i].ID)
		case f.ID == "hang.0" && (f.Status != Fail || !f.Blocking || f.Fix == ""):
			t.Errorf("%+v", f)
		case f.ID == "fail" && (f.Status != Warn || f.Blocking): // nothing active needs it
			t.Errorf("%+v", f)
		case f.ID == "fine" && (f.Status != OK || !f.Blocking):
			t.Errorf("%+v", f)
		}
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(b), `{"ok":false,"checks":[{"id":"hang.0","group":"g","status":"fail","blocking":true,"message":"hang 0 gave no answer in 100ms","fix":"`) {
		t.Errorf("%s", b[:200])
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	start = time.Now()
	Examine(canceled, []Check{{ID: "x", Limit: time.Minute, Run: func(context.Context) []Finding { select {} }}})
	if time.Since(start) > time.Second {
		t.Error("an interrupt has to wait")
	}
}

// examined is a home as doctor sees it, with everything outside in order.
func examined(t *testing.T, files map[string]string, environ ...string) Examined {
	t.Helper()
	home := t.TempDir()
	for _, d := range []string{"cron", "sessions", "logs", "memories"} {
		if err := os.Mkdir(filepath.Join(home, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	secrets, err := secret.Open(home, environ)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(home, secrets.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	auth, authErr := ReadAuth(home)
	return Examined{
		Home: home, Root: home, Config: cfg, Secrets: secrets, Auth: auth, AuthErr: authErr, Lookup: secrets.Getenv,
		Resolve: func() (provider.Resolved, error) {
			return provider.Resolve(provider.Wanted{Provider: cfg.String("model.provider"), Model: cfg.String("model.default"), BaseURL: cfg.String("model.base_url"), Lookup: secrets.Getenv})
		},
		Fallbacks: func() ([]FallbackState, error) { return nil, nil },
		Tools:     func(context.Context) ([]ToolState, error) { return nil, nil },
		Store:     func(context.Context) (string, error) { return "no conversation yet", nil },
		Backend:   localBackend,
	}
}

// TestUnreachable: with no network at all doctor answers within two seconds,
// and only the active service is a failure.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	x := examined(t, map[string]string{
		"config.yaml": "_config_version: 23\nmodel: {provider: openrouter, default: a/b}\n",
		".env":        "OPENROUTER_API_KEY=sk-or-0123456789abcdef\nANTHROPIC_API_KEY=sk-ant-0123456789abcdef\nGROQ_API_KEY=gsk_0123456789abcdef\nDEEPSEEK_API_KEY=sk-0123456789abcdef\n",
	})
	x.Models = func(ctx context.Context, e provider.Endpoint) ([]provider.Model, error) {
		if e.Kind.Name == "groq" {
			select {} // minds no context either
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	start := time.Now()
	r := Examine(t.Context(), x.Checks())
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("doctor took %s", took)
	}
	if r.OK {
		t.Error("the active service does not answer, and all is said to be well")
	}
	others := 0
	for _, f := range r.Checks {
		if f.Status == Fail && f.ID != "model.answer" {
			t.Errorf("%+v", f)
		}
		if strings.HasPrefix(f.ID, "provider.") {
			others++
			if f.Status != Warn || f.Blocking {
				t.Errorf("%+v", f)
			}
		}
		if f.Status != OK && f.Fix == "" {
			t.Errorf("%s has no fix", f.ID)
		}
	}
	if others != 3 {
		t.Errorf("%d other services were looked at", others)
	}
}

// TestHealthyOther: F-105, a refused key is a failure for the active service
// and a warning for any other; disabled tools are not spoken of.
func TestHealthyOther(t *testing.T) {
	t.Parallel()
	x := examined(t, map[string]string{
		"config.yaml": "_config_version: 23\nmodel: {provider: groq, default: one}\n",
		".env":        "GROQ_API_KEY=gsk_0123456789abcdef\nDEEPSEEK_API_KEY=sk-0123456789abcdef\n",
	})
	x.Models = func(_ context.Context, e provider.Endpoint) ([]provider.Model, error) {
		if e.Kind.Name == "groq" {
			return []provider.Model{{ID: "one"}}, nil
		}
		return nil, &provider.Error{Status: 401, Message: "no such key"}
	}
	x.Tools = func(context.Context) ([]ToolState, error) {
		return []ToolState{
			{Name: "off", Enabled: false, Reason: "switched off"},
			{Name: "needy", Enabled: true, Reason: "NEEDY_KEY is not set", Env: []string{"NEEDY_KEY"}},
		}, nil
	}
	r := Examine(t.Context(), x.Checks())
	if !r.OK {
		t.Errorf("%+v", r.Worst())
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`refuses the key of DEEPSEEK_API_KEY`, `"fix":"hermes config set NEEDY_KEY"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing in %s", want, text)
		}
	}
	if strings.Contains(string(text), `"tools.off"`) {
		t.Error("a tool that was switched off is reported")
	}
}

// TestQuick: F-106, one line from the files alone, nothing when all is well.
func TestQuick(t *testing.T) {
	t.Parallel()
	x := examined(t, map[string]string{"config.yaml": "_config_version: 23\n", ".env": "A_KEY=0123456789abcdef\n"})
	if line := x.Quick(); line != "" {
		t.Errorf("%q", line)
	}
	if err := os.Chmod(filepath.Join(x.Home, ".env"), 0o644); err != nil {
		t.Fatal(err)
	}
	if line := x.Quick(); !strings.Contains(line, "can be read by other users") || strings.Contains(line, "\n") {
		t.Errorf("%q", line)
	}
}

// TestAuthKeepsWhatItDoesNotKnow goes through the original's format and back.
func TestAuthKeepsWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	in := `{"version":1,"active_provider":"nous","providers":{"nous":{"x":1}},"suppressed":["a"],
	"credential_pool":{"openrouter":[
	 {"id":"aaaaaa","label":"one","auth_type":"api_key","priority":1,"source":"manual","access_token":"key-one-0123456789","last_status":"exhausted","last_status_at":1750000000.5,"last_error_code":429,"last_error_reset_at":4750000000,"extra":{"k":[1,2]}},
	 {"id":"bbbbbb","label":"two","auth_type":"api_key","priority":0,"source":"manual:cli","access_token":"key-two-0123456789","last_error_reset_at":null},
	 {"id":"cccccc","label":"env","auth_type":"api_key","priority":2,"source":"env:OPENROUTER_API_KEY","access_token":"stale-0123456789"},
	 {"id":"dddddd","label":"login","auth_type":"oauth","priority":3,"source":"device_code","access_token":"tok","refresh_token":"ref-0123456789"}]}}`
	if err := os.WriteFile(AuthPath(home), []byte(in), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := ReadAuth(home)
	if err != nil {
		t.Fatal(err)
	}
	k, _ := provider.Lookup("openrouter")
	r := provider.Resolved{Kind: k, Source: "OPENROUTER_API_KEY", Endpoint: provider.Endpoint{Kind: k, BaseURL: k.BaseURL, Key: "fresh-0123456789"}}
	keys := a.PoolKeys(r)
	if len(keys) != 3 || keys[0].ID != "bbbbbb" || keys[1].Until.Unix() != 4750000000 || keys[2].Secret != "fresh-0123456789" {
		t.Fatalf("%+v", keys)
	}
	if v := a.Secrets(); len(v) != 5 {
		t.Errorf("%d secrets", len(v))
	}
	keys[0].Status, keys[0].Code, keys[0].At, keys[0].Until = "exhausted", 402, time.Unix(1_800_000_000, 0), time.Unix(1_800_003_600, 0)
	keys[2].Uses = 7
	if err := UpdateAuth(home, time.Unix(1_800_000_000, 0), func(a *Auth) error { a.Note("openrouter", keys, false); return nil }); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(AuthPath(home))
	if err != nil {
		t.Fatal(err)
	}
	var out struct {
		ActiveProvider string                      `json:"active_provider"`
		Suppressed     json.RawMessage             `json:"suppressed"`
		UpdatedAt      string                      `json:"updated_at"`
		Pool           map[string][]map[string]any `json:"credential_pool"`
	}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	list := out.Pool["openrouter"]
	if out.ActiveProvider != "nous" || out.Suppressed == nil || !strings.HasPrefix(out.UpdatedAt, "2027-01-15T") || len(list) != 4 {
		t.Fatalf("%s", b)
	}
	for _, e := range list {
		switch e["id"] {
		case "aaaaaa":
			if e["extra"] == nil || e["last_status_at"] != 1750000000.5 || e["last_error_reset_at"] != 4750000000.0 {
				t.Errorf("%v", e)
			}
		case "bbbbbb":
			if e["last_status"] != "exhausted" || e["last_error_reset_at"] != 1_800_003_600.0 || e["access_token"] != "key-two-0123456789" {
				t.Errorf("%v", e)
			}
		case "cccccc":
			if e["access_token"] != "stale-0123456789" || e["request_count"] != 7.0 {
				t.Errorf("the key of a variable was written to the file: %v", e)
			}
		case "dddddd":
			if e["refresh_token"] != "ref-0123456789" {
				t.Errorf("%v", e)
			}
		}
	}
	// A key of another address is sent nowhere else.
	r.Endpoint.BaseURL = "https://example.com/v1"
	if err := UpdateAuth(home, time.Now(), func(a *Auth) error {
		l, err := a.Add("openrouter", "key-three-0123456789", "", "manual")
		a.pool["openrouter"][len(a.pool["openrouter"])-1].raw["base_url"] = json.RawMessage(`"https://elsewhere.example/v1"`)
		_ = l
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if a, err = ReadAuth(home); err != nil {
		t.Fatal(err)
	}
	for _, k := range a.PoolKeys(r) {
		if k.Secret == "key-three-0123456789" {
			t.Error("a key bound to one address is offered to another")
		}
	}
}

func TestFindLocal(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"data":[{"id":"nomic-embed-text"},{"id":"qwen3:8b"}]}`)
	}))
	defer s.Close()
	lookup := func(name string) (string, bool) { return s.URL, name == "OLLAMA_HOST" }
	start := time.Now()
	found := FindLocal(t.Context(), lookup)
	if len(found) == 0 || found[0].URL != s.URL+"/v1" || found[0].Model() != "qwen3:8b" || found[0].Name != "Ollama" {
		t.Errorf("%+v", found)
	}
	if time.Since(start) > 2*time.Second {
		t.Errorf("looking took %s", time.Since(start))
	}
	for in, want := range map[string]string{
		"127.0.0.1:1": "http://127.0.0.1:1/v1", "0.0.0.0:1": "http://127.0.0.1:1/v1", "localhost": "http://localhost:11434/v1", "http://[::1]:5": "http://[::1]:5/v1",
		"10.0.0.5:11434": "", "https://ollama.com": "", "example.com": "", "": "",
	} {
		if got := loopbackURL(in); got != want {
			t.Errorf("loopbackURL(%q) = %q, want %q", in, got, want)
		}
	}
}

// answers plays a person: each answer is for the question whose title or
// option it names.
type answers struct {
	t     *testing.T
	given []string
	said  []string
}

func (a *answers) next(title string) string {
	if len(a.given) == 0 {
		a.t.Fatalf("nobody answers %q", title)
	}
	s := a.given[0]
	a.given = a.given[1:]
	return s
}

func (a *answers) Choose(_ context.Context, q Question, options []string, start int) (int, error) {
	want := a.next(q.Title)
	switch want {
	case "":
		return start, nil
	case "stop":
		return 0, ErrStop
	}
	for i, o := range options {
		if strings.Contains(o, want) {
			return i, nil
		}
	}
	a.t.Fatalf("%q has no option %q: %q", q.Title, want, options)
	return 0, nil
}

func (a *answers) Line(_ context.Context, q Question, value string) (string, error) {
	s := a.next(q.Title)
	if s == "" {
		s = value
	}
	if q.Check != nil {
		if err := q.Check(s); err != nil {
			a.t.Fatalf("%q refuses %q: %v", q.Title, s, err)
		}
	}
	return s, nil
}

func (a *answers) Secret(_ context.Context, q Question) (string, error) { return a.next(q.Title), nil }

func (a *answers) Say(text string) { a.said = append(a.said, text) }

func wizard(t *testing.T, home string, given ...string) (*Wizard, *answers) {
	t.Helper()
	secrets, err := secret.Open(home, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := &answers{t: t, given: given}
	return &Wizard{
		Ask: a, Home: home, Secrets: secrets, Catalog: catalog.Builtin(), Lookup: secrets.Getenv, Local: func(context.Context) []LocalServer { return nil },
		Vars: []secret.Var{{Name: "WEATHER_API_KEY", About: "weather", Category: secret.Tool, Secret: true, Tools: []string{"weather"}}, {Name: "RARE_KEY", Category: secret.Tool, Advanced: true}},
	}, a
}

func TestWizard(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(home, "config.yaml")
	if err := os.WriteFile(file, []byte("# mine\nmodel:\n  provider: groq  # fast\n  default: old\n  headers: {X: \"${GLM_API_KEY}\"}\nagent:\n  max_turns: 7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".env"), []byte("WEATHER_API_KEY=sk-"+strings.Repeat("junk", 100)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w, a := wizard(t, home,
		"Terminal", "local", "", "90", // section, backend, directory, timeout
		"Agent", "12", "smart", "high",
		"Tools", "WEATHER_API_KEY (set)", "", "weather-0123456789", "Done", // junk: replace is suggested
		"Tools", "WEATHER_API_KEY", "Clear it", "Done",
		"Done")
	if err := w.Run(t.Context(), Way{}); err != nil {
		t.Fatal(err)
	}
	if len(a.given) > 0 {
		t.Errorf("not asked: %q", a.given)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, want := range []string{"# mine\n", "provider: groq  # fast", "${GLM_API_KEY}", "max_turns: 12", "timeout: 90", "mode: smart", "reasoning_effort: high"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
	if strings.Contains(text, "cwd") || strings.Contains(text, "backend") {
		t.Errorf("what was not changed was written:\n%s", text)
	}
	if w.Secrets.Get("WEATHER_API_KEY") != "" {
		t.Error("the key was not cleared")
	}
	backups, err := filepath.Glob(file + ".bak.*_*")
	if err != nil || len(backups) != 1 {
		t.Errorf("%v %v", backups, err)
	}
	for _, line := range a.said {
		if strings.Contains(line, "0123456789") {
			t.Errorf("the key was said: %s", line)
		}
	}
}

// TestWizardLeft: what was saved stays, and leaving is told apart.
func TestWizardLeft(t *testing.T) {
	t.Parallel()
	w, _ := wizard(t, t.TempDir(), "stop")
	if err := w.Run(t.Context(), Way{Sections: []string{"model"}}); !errors.Is(err, ErrStop) {
		t.Errorf("%v", err)
	}
}

// TestChoiceEdits: what belonged to one service never goes to another.
func TestChoiceEdits(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(home, "config.yaml")
	if err := os.WriteFile(file, []byte("model:\n  provider: custom\n  default: x\n  base_url: http://10.0.0.1/v1\n  api_key: key-0123456789\n  headers: {A: b}\n  context_length: 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(home, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cfg.Apply(Choice{Provider: "anthropic", Model: "claude"}.Edits(cfg)...); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != "model:\n  provider: anthropic\n  default: claude\n" {
		t.Errorf("%s", b)
	}
}

func localBackend() (backend.Kind, backend.Options, error) {
	k, ok := backend.Lookup("local")
	if !ok {
		return k, backend.Options{}, errors.New("no local backend")
	}
	return k, backend.Options{}, nil
}

// The ways of `setup`: what is missing, all of it, and anew.
func TestWizardWays(t *testing.T) {
	t.Parallel()
	const mine = "# mine\nmodel: {provider: groq, default: old}\nagent:\n  max_turns: 7\n"
	begin := func(t *testing.T, env string) string {
		t.Helper()
		home := t.TempDir()
		if err := errors.Join(os.WriteFile(filepath.Join(home, "config.yaml"), []byte(mine), 0o600), os.WriteFile(filepath.Join(home, ".env"), []byte(env), 0o600)); err != nil {
			t.Fatal(err)
		}
		return home
	}
	run := func(t *testing.T, home string, way Way, given ...string) (said, file string, err error) {
		t.Helper()
		w, a := wizard(t, home, given...)
		err = w.Run(t.Context(), way)
		if len(a.given) > 0 {
			t.Errorf("not asked: %q", a.given)
		}
		b, e := os.ReadFile(filepath.Join(home, "config.yaml"))
		if e != nil {
			t.Fatal(e)
		}
		return strings.Join(a.said, "\n"), string(b), err
	}
	t.Run("nothing missing", func(t *testing.T) {
		t.Parallel()
		said, file, err := run(t, begin(t, "GROQ_API_KEY=gsk_0123456789abcdefghij\nWEATHER_API_KEY=weather-0123456789\n"), Way{Missing: true})
		if err != nil || said != "Nothing is missing." || file != mine {
			t.Errorf("%v\n%s\n%s", err, said, file)
		}
	})
	t.Run("two keys missing", func(t *testing.T) {
		t.Parallel()
		home := begin(t, "")
		_, file, err := run(t, home, Way{Missing: true}, "", "weather-0123456789") // the first one is skipped
		if err != nil || file != mine {
			t.Errorf("%v\n%s", err, file)
		}
		if b, err := os.ReadFile(filepath.Join(home, ".env")); err != nil || string(b) != "WEATHER_API_KEY=weather-0123456789\n" {
			t.Errorf("%q, %v", b, err)
		}
	})
	t.Run("all", func(t *testing.T) {
		t.Parallel()
		_, file, err := run(t, begin(t, "WEATHER_API_KEY=weather-0123456789\n"), Way{All: true},
			"Another address", "http://127.0.0.1:9/v1", "new", "local", "", "", "9", "", "", "Done")
		if err != nil || !strings.HasPrefix(file, "# mine\nmodel: {provider: custom, default: new, base_url: 'http://127.0.0.1:9/v1'}\nagent:\n  max_turns: 9\n") {
			t.Errorf("%v\n%s", err, file)
		}
	})
	t.Run("anew", func(t *testing.T) {
		t.Parallel()
		home := begin(t, "GROQ_API_KEY=gsk_0123456789abcdefghij\n")
		said, file, err := run(t, home, Way{Reset: true}, "Yes", "stop")
		if !errors.Is(err, ErrStop) || !strings.Contains(said, "config.yaml.bak.") || file != fmt.Sprintf("_config_version: %d\n", config.Version) {
			t.Errorf("%v\n%s\n%s", err, said, file)
		}
		kept, _ := filepath.Glob(filepath.Join(home, "config.yaml.bak.*"))
		if b, err := os.ReadFile(kept[0]); err != nil || string(b) != mine {
			t.Errorf("kept %q, %v", b, err)
		}
		if b, err := os.ReadFile(filepath.Join(home, ".env")); err != nil || !strings.Contains(string(b), "GROQ_API_KEY") {
			t.Errorf("%q, %v", b, err)
		}
	})
	t.Run("anew, but not so", func(t *testing.T) {
		t.Parallel()
		if _, file, err := run(t, begin(t, ""), Way{Reset: true}, "No"); !errors.Is(err, ErrStop) || file != mine {
			t.Errorf("%v\n%s", err, file)
		}
	})
}
