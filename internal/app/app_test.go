package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/ask"
	_ "github.com/hermes-go/hermes/backends/all"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/fakemodel"
	_ "github.com/hermes-go/hermes/providers/all"
	"github.com/hermes-go/hermes/secret"
	"github.com/hermes-go/hermes/tool"
	_ "github.com/hermes-go/hermes/tools/all"
)

// home makes a home with the given files and opens an app on it.
func home(t *testing.T, files map[string]string, environ ...string) *App {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	work := t.TempDir()
	a, err := Open(Options{Home: dir, UserHome: dir, WorkDir: work, Environ: append([]string{"PATH=" + os.Getenv("PATH")}, environ...), Notice: func(s string) { t.Log("notice:", s) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return a
}

const canary = "canary-5f1c9a77e0b2"

// TestSecretsStayInside searches everything that a session with failing and
// talkative tools leaves behind for a key that only .env may hold.
func TestSecretsStayInside(t *testing.T) {
	t.Parallel()
	a := home(t, map[string]string{".env": "OPENROUTER_API_KEY=" + canary + "\n"})
	file := filepath.Join(a.WorkDir, "notes.txt")
	if err := os.WriteFile(file, []byte("the key is "+canary+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := a.Converse(t.Context(), Ask{Provider: "offline"})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"read notes.txt", "run env", "run cat notes.txt; exit 3", "run echo " + canary[:6] + "; cat nosuch", "read nosuch-file"} {
		for e, err := range c.Turn(t.Context(), text) {
			if err != nil {
				t.Fatal(err)
			}
			if end, ok := e.(agent.ToolEnd); ok && strings.Contains(string(end.Result), canary) {
				t.Errorf("%q: the result holds the key: %s", text, end.Result)
			}
		}
	}
	for _, m := range c.History {
		if strings.Contains(m.Content.String(), canary) {
			t.Errorf("the history holds the key: %s", m.Content.String())
		}
	}
	err = filepath.WalkDir(a.Home, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(path) == ".env" {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), canary) {
			t.Errorf("%s holds the key", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestMaskJSONStaysJSON(t *testing.T) {
	t.Parallel()
	a := home(t, nil, `OPENAI_API_KEY=ab"cd\ef-1234567`)
	r := a.Secrets.Redactor()
	for _, in := range []string{
		`{"output":"x ab\"cd\\ef-1234567 y"}`, `{"a":["Authorization: Bearer abcdefghijkl\"mnop"],"n":1.50}`,
		`{"api_key":"abc\"def"}`, `"API_KEY=abc\\"`, `{"clean":true}`,
	} {
		out := maskJSON(r, json.RawMessage(in))
		if !json.Valid(out) {
			t.Errorf("%s became %s", in, out)
		}
		if strings.Contains(string(out), "ef-1234567") {
			t.Errorf("%s kept the secret: %s", in, out)
		}
	}
}

func TestMaskedFailuresSaySo(t *testing.T) {
	t.Parallel()
	r := secret.NewRedactor(canary)
	out := maskFailure(r, `{"output":"`+canary+`","exit_code":1}`)
	if out != `{"output":"***","exit_code":1,"_redacted":"`+maskedNote+`"}` {
		t.Errorf("object: %s", out)
	}
	if out := maskFailure(r, "open "+canary+": denied"); out != "open ***: denied" {
		t.Errorf("text: %s", out)
	}
	if out := maskFailure(r, `{"clean":true}`); out != `{"clean":true}` {
		t.Errorf("clean: %s", out)
	}
}

func TestApprovalForGood(t *testing.T) {
	t.Parallel()
	a := home(t, map[string]string{"config.yaml": "# mine\ncommand_allowlist:\n  - old entry   # kept\nmodel: x\n"})
	g := a.gate(false)
	asker := fixedAsker{ask.Answer{Scope: ask.Always}}
	if err := g.For(asker).Approve(t.Context(), ask.Request{Keys: []string{"recursive delete"}}); err != nil {
		t.Fatal(err)
	}
	if err := a.gate(false).For(ask.Nobody{}).Approve(t.Context(), ask.Request{Keys: []string{"old entry"}}); err != nil {
		t.Errorf("an entry of the file: %v", err)
	}
	b, err := os.ReadFile(a.Config.Path())
	if err != nil {
		t.Fatal(err)
	}
	if text := string(b); !strings.Contains(text, "# mine\n") || !strings.Contains(text, "recursive delete") || !strings.Contains(text, "old entry") || !strings.HasSuffix(text, "model: x\n") {
		t.Errorf("config.yaml is now:\n%s", text)
	}
}

// answer runs a turn to its end.
func answer(t *testing.T, c *Conversation, text string) agent.Done {
	t.Helper()
	var done agent.Done
	for e, err := range c.Turn(t.Context(), text) {
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := e.(agent.Done); ok {
			done = d
		}
	}
	return done
}

// The prompt of a session is what it began with, to the byte: within it, after
// it has written to its memory, and when it is taken up again (cases 52, 85).
func TestPromptOfASessionStays(t *testing.T) {
	t.Parallel()
	a := home(t, nil)
	converse := func(in Ask) *Conversation {
		t.Helper()
		in.Provider = "offline"
		c, err := a.Converse(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := converse(Ask{})
	first := c.System
	if done := answer(t, c, "remember tea is at four"); done.Status != agent.OK {
		t.Fatal(done)
	}
	if err := os.WriteFile(filepath.Join(a.Home, "SOUL.md"), []byte("You are Ada."), 0o600); err != nil {
		t.Fatal(err)
	}
	answer(t, c, "plan: one; two")
	if c.System != first {
		t.Errorf("within the session the prompt became\n%s", c.System)
	}
	if again := converse(Ask{Resume: c.ID}); again.System != first || !again.Resumed {
		t.Errorf("the prompt of the resumed session:\n%s", again.System)
	}
	next := converse(Ask{}).System
	if !strings.Contains(next, "tea is at four") || !strings.Contains(next, "You are Ada.") || strings.Contains(first, "tea is at four") {
		t.Errorf("the prompt of the next session:\n%s", next)
	}
}

func TestKeysStayWithTheirService(t *testing.T) { // case 72
	t.Parallel()
	model := fakemodel.New(t, fakemodel.Text("hi"))
	a := home(t, map[string]string{
		".env":        "OPENROUTER_API_KEY=sk-or-v1-0123456789abcdef\nOPENAI_API_KEY=sk-0123456789abcdef0123\nANTHROPIC_API_KEY=sk-ant-0123456789abcdef\n",
		"config.yaml": fmt.Sprintf("model: {provider: custom, default: m, base_url: %q}\n", model.V1()),
	})
	c, err := a.Converse(t.Context(), Ask{})
	if err != nil {
		t.Fatal(err)
	}
	if done := answer(t, c, "hello"); done.Text != "hi" {
		t.Fatal(done)
	}
	for name, values := range model.Requests()[0].Header {
		if strings.Contains(strings.Join(values, " "), "0123456789abcdef") {
			t.Errorf("the custom endpoint was sent %s: %v", name, values)
		}
	}
}

// Case 33: another service answers for one that lacks the model; the next turn
// asks the first one again.
func TestFallbackProviders(t *testing.T) {
	t.Parallel()
	first := fakemodel.New(t, fakemodel.Fail(404, `{"error":{"message":"The model 'm' does not exist","code":"model_not_found"}}`), fakemodel.Text("first again"))
	second := fakemodel.New(t, fakemodel.UseTool("todo", "{}"), fakemodel.Text("second"))
	a := home(t, map[string]string{"config.yaml": fmt.Sprintf(
		"model: {provider: custom, default: m, base_url: %q}\nfallback_providers:\n- {provider: custom, model: n, base_url: %q}\n", first.V1(), second.V1())})
	c, err := a.Converse(t.Context(), Ask{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"second", "first again"} {
		if done := answer(t, c, "hello"); done.Text != want || done.Status != agent.OK {
			t.Errorf("got %+v, want %s", done, want)
		}
	}
	if n, m := len(first.Requests()), len(second.Requests()); n != 2 || m != 2 {
		t.Errorf("%d and %d requests", n, m)
	}
}

func TestApprovalModes(t *testing.T) { // case 73
	t.Parallel()
	for text, want := range map[string]ask.Mode{
		"": ask.Manual, "approvals: {mode: off}\n": ask.Off, "approvals: {mode: 'off'}\n": ask.Off, "approvals: {mode: false}\n": ask.Off,
		"approvals: {mode: true}\n": ask.Manual, "approvals: {mode: on}\n": ask.Manual, "approvals: {mode: manual}\n": ask.Manual, "approvals: {mode: of}\n": ask.Manual,
	} {
		a := home(t, map[string]string{"config.yaml": text})
		if got := a.gate(false).Mode; got != want {
			t.Errorf("%q: %s", text, got)
		}
		if got := a.gate(true).Mode; got != ask.Off {
			t.Errorf("%q with --yolo: %s", text, got)
		}
	}
}

func TestApprovalsOfTheOriginal(t *testing.T) { // case 80
	t.Parallel()
	a := home(t, map[string]string{"config.yaml": "command_allowlist: ['git\\s+push', recursive delete]\n"})
	for key, want := range map[string]bool{"git-force": true, "delete-tree": true, "sql": false} {
		err := a.gate(false).For(ask.Nobody{}).Approve(t.Context(), ask.Request{Keys: []string{key}})
		if (err == nil) != want {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestApprovalForASession(t *testing.T) { // case 74
	t.Parallel()
	a := home(t, nil)
	first, second := a.gate(false), a.gate(false)
	r := ask.Request{Keys: []string{"sql"}}
	if err := first.For(fixedAsker{ask.Answer{Scope: ask.Session}}).Approve(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := first.For(ask.Nobody{}).Approve(t.Context(), r); err != nil {
		t.Errorf("the same session is asked again: %v", err)
	}
	if err := second.For(ask.Nobody{}).Approve(t.Context(), r); !errors.Is(err, ask.ErrNobody) {
		t.Errorf("another session was not asked: %v", err)
	}
}

type fixedAsker struct{ answer ask.Answer }

func (f fixedAsker) Ask(context.Context, ask.Request) (ask.Answer, error) { return f.answer, nil }

// TestEveryNeedIsProvided finds tools that no front could ever offer.
func TestEveryNeedIsProvided(t *testing.T) {
	t.Parallel()
	a := home(t, nil)
	s := a.loopSession("cli")
	for _, tl := range a.Registry.All() {
		bare := tl
		bare.Check = nil // what this machine lacks is another question
		r := tool.New()
		if err := r.Add(bare); err != nil {
			t.Fatal(err)
		}
		if err := r.Why(t.Context(), s, tl.Name); err != nil {
			t.Errorf("%s: %v", tl.Name, err)
		}
	}
}

// F-117: what is remembered is read into the prompt of every session and never
// becomes something said, which would be remembered anew and grow without end.
func TestF117MemoryIsNotSaidAgain(t *testing.T) {
	t.Parallel()
	const note = "tea is at four and the canary is yellow"
	model := fakemodel.New(t, fakemodel.Text("yes")).Repeat()
	a := home(t, map[string]string{"config.yaml": fmt.Sprintf("model: {provider: custom, default: m, base_url: %q}\n", model.V1())})
	memory := filepath.Join(a.Home, "memories", "MEMORY.md")
	if err := errors.Join(os.MkdirAll(filepath.Dir(memory), 0o700), os.WriteFile(memory, []byte(note), 0o600)); err != nil {
		t.Fatal(err)
	}
	db, err := a.DB()
	if err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		c, err := a.Converse(t.Context(), Ask{})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			answer(t, c, "hello")
		}
		r := model.Requests()
		if n := strings.Count(string(r[len(r)-1].Body), note); n != 1 {
			t.Errorf("session %d: the note was sent %d times", round, n)
		}
		rec, err := db.Load(t.Context(), c.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range rec.Messages {
			if strings.Contains(m.Content.String(), "canary") {
				t.Errorf("session %d: stored as said: %s", round, m.Content)
			}
		}
	}
	if b, err := os.ReadFile(memory); err != nil || string(b) != note {
		t.Errorf("the memory is now %q, %v", b, err)
	}
}
