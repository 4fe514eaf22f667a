package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/fakemodel"
	"github.com/hermes-go/hermes/internal/store"
)

// hermesCommand is this test binary run as the program itself.
func hermesCommand(t *testing.T, home string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, filepath.Join(binDir, "hermes"), args...)
	c.Dir = home
	c.Env = []string{"HOME=" + home, "HERMES_HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + home}
	return c
}

func crashScript() []fakemodel.Reply {
	todo := func(id string) fakemodel.Reply {
		return fakemodel.Reply{Text: "Step " + id + " of the plan.", Calls: []fakemodel.Call{
			{ID: id + "a", Name: "todo", Args: fmt.Sprintf(`{"merge":true,"todos":[{"id":%q,"content":"do it","status":"pending"}]}`, id)},
			{ID: id + "b", Name: "memory", Args: fmt.Sprintf(`{"action":"add","target":"memory","content":"fact %s"}`, id)},
		}}
	}
	return []fakemodel.Reply{todo("one"), todo("two"), todo("three"), {Text: strings.Repeat("The end of a longer answer. ", 20)}}
}

type shownEvent struct {
	Type, ID, Text string
	SessionID      string `json:"session_id"`
	Result         json.RawMessage
}

// TestKillLosesNothing kills the program after every single event: what the
// person was shown and what the model was sent is in the store, or, for an
// answer that was still arriving, in its draft.
func TestKillLosesNothing(t *testing.T) {
	t.Parallel()
	for after := 1; ; after++ {
		if done := killAfter(t, after); done || t.Failed() {
			if after < 10 {
				t.Errorf("the program ended after %d events; the script should give more", after)
			}
			return
		}
	}
}

func killAfter(t *testing.T, events int) (ended bool) {
	t.Helper()
	home := t.TempDir()
	model := fakemodel.New(t, crashScript()...)
	cfg := fmt.Sprintf("model: {provider: custom, default: fake, base_url: %q}\n", model.V1())
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(cfg), 0o600); err != nil {
		t.Fatal(err)
	}
	c := hermesCommand(t, home, "chat", "--json", "-q", "do all three steps")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var shown []shownEvent
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for len(shown) < events && lines.Scan() {
		var e shownEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("event %q: %v", lines.Text(), err)
		}
		shown = append(shown, e)
	}
	ended = len(shown) < events
	if !ended {
		_ = c.Process.Kill()
	}
	_ = c.Wait()
	checkNothingLost(t, home, shown, model.Requests())
	return ended
}

func checkNothingLost(t *testing.T, home string, shown []shownEvent, requests []fakemodel.Request) {
	t.Helper()
	id := shown[0].SessionID
	db, err := store.Open(filepath.Join(home, "state.db"), store.Options{})
	if err != nil {
		t.Fatalf("after %d events: %v", len(shown), err)
	}
	defer db.Close()
	var stored []chat.Message
	if rec, err := db.Load(t.Context(), id); err == nil {
		stored = rec.Messages
	}
	has := func(role chat.Role, text string) bool {
		for _, m := range stored {
			if m.Role == role && m.Content.String() == text {
				return true
			}
		}
		return false
	}
	for _, r := range requests {
		for _, m := range r.Messages() {
			if m.Role != chat.System && !has(m.Role, m.Content.String()) {
				t.Errorf("after %d events: the model was sent a %s message that is not stored: %.80q", len(shown), m.Role, m.Content.String())
			}
		}
	}
	text := ""
	draft, err := os.ReadFile(filepath.Join(home, "sessions", "drafts", id+".txt"))
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
	for _, e := range shown {
		switch e.Type {
		case "text":
			text += e.Text
		case "tool_start":
			text = "" // the message that asked for the call is stored
			if !callStored(stored, e.ID) {
				t.Errorf("after %d events: call %s was shown and is not stored", len(shown), e.ID)
			}
		case "tool_end":
			if !has(chat.Tool, string(e.Result)) {
				t.Errorf("after %d events: the result of %s was shown and is not stored", len(shown), e.ID)
			}
		}
	}
	if text == "" || strings.HasPrefix(string(draft), text) {
		return
	}
	for _, m := range stored {
		if m.Role == chat.Assistant && strings.HasPrefix(m.Content.String(), text) {
			return
		}
	}
	t.Errorf("after %d events: the text %.80q was shown and is neither stored nor kept as a draft (%.80q)", len(shown), text, draft)
}

func callStored(stored []chat.Message, id string) bool {
	for _, m := range stored {
		for _, c := range m.ToolCalls {
			if c.ID == id {
				return true
			}
		}
	}
	return false
}

// TestResumeAfterKill goes on with a conversation whose program died in the
// middle of an answer.
func TestResumeAfterKill(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	model := fakemodel.New(t,
		fakemodel.Reply{Events: []string{`{"choices":[{"index":0,"delta":{"role":"assistant","content":"Half an "}}]}`, `[DONE]`}, Hang: true},
		fakemodel.Text("The other half."))
	cfg := fmt.Sprintf("model: {provider: custom, default: fake, base_url: %q}\n", model.V1())
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(cfg), 0o600); err != nil {
		t.Fatal(err)
	}
	c := hermesCommand(t, home, "chat", "--json", "-q", "tell me")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"Half an `) {
			break
		}
	}
	_ = c.Process.Kill()
	_ = c.Wait()

	again, err := hermesCommand(t, home, "chat", "--continue", "-q", "go on").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, again)
	}
	if !strings.Contains(string(again), "cut off when the program ended") {
		t.Errorf("the person was not told: %s", again)
	}
	requests := model.Requests()
	last := requests[len(requests)-1].Messages()
	var sent []string
	for _, m := range last[1:] {
		sent = append(sent, fmt.Sprintf("%s: %s", m.Role, m.Content.String()))
	}
	if got, want := strings.Join(sent, "\n"), "user: tell me\nassistant: Half an \nuser: go on"; strings.ReplaceAll(got, "Half an \n", "Half an\n") != strings.ReplaceAll(want, "Half an \n", "Half an\n") {
		t.Errorf("sent:\n%s\nwant:\n%s", got, want)
	}
}
