package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/peertest"
)

// A home that the original wrote, used as its owner would: everything is
// there, a conversation goes on where it stopped, one changed setting is one
// changed line, and no other file is touched.
func TestHomesOfTheOriginal(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"v01", "v11", "v11-killed", "v17"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.dir = peertest.Original(t, name)
			was := files(t, h.dir)
			id := func(c string) string { return "20260101_0900" + name[1:3] + "_" + strings.Repeat(c, 6) }

			for key, want := range map[string]string{
				"terminal.timeout": "240", "display.bell_on_complete": "true", "compression.threshold": "0.6",
				"skills.config.wiki.path": "~/wiki/中文", "model.default": "fake-model",
			} {
				if got, _ := h.ok("config", "get", key); strings.TrimSpace(got) != want {
					t.Errorf("%s is %q, want %q", key, got, want)
				}
			}
			report, _, _ := h.run("doctor", "--offline") // its model does not answer
			if n := strings.Count(report, "not known here"); n > 2*3 {
				t.Errorf("doctor tells of %d keys of another program one by one:\n%s", n, report)
			}
			out, _ := h.ok("auth", "list")
			for _, want := range []string{"OPENROUTER_API_KEY", "work", "home"} {
				if !strings.Contains(out, want) && name != "v01" {
					t.Errorf("auth list lacks %s:\n%s", want, out)
				}
			}
			if strings.Contains(out, "feedfeed") || strings.Contains(out, "abcdef0123") {
				t.Errorf("auth list shows a key:\n%s", out)
			}
			if now := files(t, h.dir); now["config.yaml"] != was["config.yaml"] || now[".env"] != was[".env"] || now["auth.json"] != was["auth.json"] {
				t.Error("looking at the settings has changed a file")
			}

			h.ok("config", "set", "model.base_url", h.model.V1())
			h.ok("config", "set", "model.provider", "custom")
			before, after := strings.Split(was["config.yaml"], "\n"), strings.Split(files(t, h.dir)["config.yaml"], "\n")
			for _, line := range before {
				if !slices.Contains(after, line) && !strings.Contains(line, "base_url:") && line != "model: fake-model" {
					t.Errorf("config set has lost the line %q", line)
				}
			}
			if name != "v01" && len(before) != len(after) {
				t.Errorf("config set: %d lines were %d", len(after), len(before))
			}

			list, _ := h.ok("sessions", "list", "--json")
			for _, want := range []string{id("b"), id("c"), id("d"), id("e")} {
				if !strings.Contains(list, want) {
					t.Errorf("sessions list lacks %s:\n%s", want, list)
				}
			}
			hits, _ := h.ok("sessions", "search", "备份方案")
			if !strings.Contains(hits, id("a")) {
				t.Errorf("search: %q", hits)
			}
			ref := "Old talk"
			if name == "v01" {
				ref = id("a")
			}
			said := "\"and the narwhal?\""
			h.ask(said, "--resume", ref)
			r := h.model.Requests()[0]
			m := r.Messages()
			if m[0].Role != chat.System || !strings.HasPrefix(m[0].Content.Text, "You are Hermes.\n\nA stored prompt with 中文") {
				t.Errorf("the stored prompt is not used: %.120q", m[0].Content.Text)
			}
			body := string(r.Body)
			for _, want := range []string{"find the dump", "where is that?", "Beside the zebra"} {
				if !strings.Contains(strings.ToLower(body), strings.ToLower(want)) {
					t.Errorf("the request lacks %q", want)
				}
			}
			if name == "v11-killed" && !strings.Contains(body, "noted: axolotl") {
				t.Error("what was said before the kill is lost")
			}
			shown, _ := h.ok("sessions", "show", id("b"), "--json")
			var show struct{ Messages []chat.Message }
			if err := json.Unmarshal([]byte(shown), &show); err != nil {
				t.Fatal(err)
			}
			if n := len(show.Messages); n < 6 || show.Messages[n-2].Content.Text != said || show.Messages[n-1].Content.Text != answerTo(said) {
				t.Errorf("the conversation did not go on:\n%s", shown)
			}

			now := files(t, h.dir)
			for file, text := range was {
				if now[file] != text && !strings.HasPrefix(file, "state.db") && file != "config.yaml" {
					t.Errorf("%s has changed", file)
				}
			}
		})
	}
}

// files are the contents of a folder's files by their relative names.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
