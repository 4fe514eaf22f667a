//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/internal/fakemodel"
)

// A background command that the agent waits for begins a turn by itself, but
// not while the person is typing: then it goes with the message.
func TestChatBackground(t *testing.T) {
	t.Parallel()
	wait := func(id, file string) fakemodel.Reply {
		return fakemodel.Reply{Calls: []fakemodel.Call{{
			ID: id, Name: "terminal",
			Args: `{"command":"until [ -e ` + file + ` ]; do sleep 0.02; done; echo built ` + file + `","background":true,"notify_on_complete":true}`,
		}}}
	}
	home, model := modelHome(t, "approvals: {mode: \"off\"}\n",
		wait("a", "one"), fakemodel.Reply{Text: "I wait for one."}, fakemodel.Reply{Text: "One is there."},
		wait("b", "two"), fakemodel.Reply{Text: "I wait for two."}, fakemodel.Reply{Text: "Two is there, and hello."}, fakemodel.Reply{Text: "Noted."})
	p := openPane(t, home, nil)
	p.ready()
	p.keys("build it", "Enter")
	p.shows("I wait for one.")
	p.ready()
	touch := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(home, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	touch("one")
	p.shows("a background command has news")
	p.shows("One is there.")
	p.ready()
	p.keys("again", "Enter")
	p.shows("I wait for two.")
	p.ready()
	p.keys("hel")
	p.shows("› hel")
	touch("two")
	p.keys("lo", "Enter")
	p.shows("Two is there, and hello.")
	p.leave()
	var told []string
	for _, r := range model.Requests() {
		m := r.Messages()
		if text := m[len(m)-1].Content.String(); strings.Contains(text, "[Background process proc_") {
			told = append(told, text)
		}
	}
	if len(told) == 0 || !strings.Contains(told[0], "built one") || strings.HasSuffix(told[0], "\n") {
		t.Errorf("told: %q", told)
	}
}
