// Package prompt puts a session's system prompt together: identity, guidance
// for the tools at hand, memory, skills, the project's own instructions and
// facts of the surroundings, in a fixed order with what changes last, so that
// a provider's cache holds. It is built once per session and stored with it.
// What it says is prose in text/; nothing here decides which tools there are.
package prompt

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"time"
)

//go:embed text/*.md
var texts embed.FS

// text returns a piece of our prose; a missing one is a mistake in the
// program that any test of the package finds.
func text(name string) string {
	b, err := texts.ReadFile("text/" + name + ".md")
	if err != nil {
		panic(fmt.Sprintf("prompt text %s: %v", name, err))
	}
	return strings.TrimSpace(string(b))
}

// Input is everything a prompt is made of.
type Input struct {
	Soul        string   // SOUL.md; "" for the built-in identity
	Tools       []string // names offered to the model
	Instruction string   // the caller's own system message
	Memory      string   // rendered blocks, frozen for the session
	User        string
	Skills      string // rendered index
	Preloaded   string // skills loaded for the whole session
	Project     []File // context files
	Platform    string // "cli", "cron", "batch", a chat platform, ...
	Model       string
	Provider    string
	SessionID   string // set to have it told
	WorkDir     string
	OS          string
	WSL         bool
	Started     time.Time
	Enforce     string // auto (or ""), true, false, or a comma-separated list of model name parts
}

// Section is one block of the prompt.
type Section struct{ Name, Text string }

// Build returns the blocks in their order; empty ones are left out.
func Build(in Input) []Section {
	sections := []Section{
		{"identity", first(strings.TrimSpace(in.Soul), text("identity"))},
		{"help", text("help")},
		{"tool guidance", guidance(in.Tools)},
		{"model guidance", modelGuidance(in)},
		{"instructions", strings.TrimSpace(in.Instruction)},
		{"memory", in.Memory},
		{"user profile", in.User},
		{"skills", in.Skills},
		{"preloaded skills", in.Preloaded},
		{"project", project(in.Project)},
		{"environment", environment(in)},
		{"platform", platform(in.Platform)},
		{"session", session(in)},
	}
	return slices.DeleteFunc(sections, func(s Section) bool { return s.Text == "" })
}

// Join makes one text of the blocks.
func Join(sections []Section) string {
	parts := make([]string, len(sections))
	for i, s := range sections {
		parts[i] = s.Text
	}
	return strings.Join(parts, "\n\n")
}

func guidance(tools []string) string {
	var parts []string
	for _, name := range []string{"memory", "session_search", "skill_manage"} {
		if slices.Contains(tools, name) {
			parts = append(parts, text(name))
		}
	}
	return strings.Join(parts, " ")
}

// modelGuidance is for models that tend to announce instead of act.
func modelGuidance(in Input) string {
	if len(in.Tools) == 0 {
		return ""
	}
	model := strings.ToLower(in.Model)
	is := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return p != "" && strings.Contains(model, p) })
	}
	var on bool
	switch in.Enforce {
	case "", "auto":
		on = is("gpt", "codex", "gemini", "gemma", "grok")
	case "true":
		on = true
	case "false":
	default:
		on = is(strings.Split(strings.ToLower(strings.ReplaceAll(in.Enforce, " ", "")), ",")...)
	}
	if !on {
		return ""
	}
	parts := []string{text("enforce")}
	if is("gemini", "gemma") {
		parts = append(parts, text("google"))
	}
	if is("gpt", "codex") {
		parts = append(parts, text("openai"))
	}
	return strings.Join(parts, "\n\n")
}

func environment(in Input) string {
	var parts []string
	if in.WorkDir != "" {
		parts = append(parts, "Working directory: "+in.WorkDir)
	}
	if in.OS != "" {
		parts = append(parts, "Operating system: "+in.OS)
	}
	if in.WSL {
		parts = append(parts, text("wsl"))
	}
	return strings.Join(parts, "\n")
}

func platform(name string) string {
	switch name {
	case "":
		return ""
	case "cli", "cron", "batch", "api_server":
		return text("platform_" + name)
	case "rl", "tool", "tui", "webhook":
		return ""
	default:
		return text("platform_messaging")
	}
}

// session names what differs from session to session: dates without a time,
// and last, so that the bytes before it stay the same all day.
func session(in Input) string {
	var lines []string
	if in.SessionID != "" {
		lines = append(lines, "Session ID: "+in.SessionID)
	}
	if in.Model != "" {
		lines = append(lines, "Model: "+in.Model)
	}
	if in.Provider != "" {
		lines = append(lines, "Provider: "+in.Provider)
	}
	if !in.Started.IsZero() {
		lines = append(lines, "Conversation started: "+in.Started.Format("Monday, January 02, 2006"))
	}
	return strings.Join(lines, "\n")
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
