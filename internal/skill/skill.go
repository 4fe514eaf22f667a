// Package skill is procedural memory on disk: it reads SKILL.md files however
// they were written, keeps one catalogue of the directories that hold them,
// says which skill a name means, and renders, changes and seeds them. It knows
// no tool and no model: the tools skills_list, skill_view and skill_manage and
// the system prompt stand on it.
package skill

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// State says whether a skill can be used, and if not, why it is still listed.
type State string

// The states. A skill is never left out of a list without a word.
const (
	OK          State = "ok"
	Broken      State = "broken"      // its front matter cannot be understood
	Shadowed    State = "shadowed"    // another skill of the name comes first
	Unsupported State = "unsupported" // for other operating systems
)

// Skill is what the catalogue knows of one SKILL.md. It does not change; a
// changed file becomes a new value.
type Skill struct {
	Name        string `json:"-"`
	Dir         string `json:"-"` // absolute, as it is reached: links are not resolved
	Path        string `json:"-"` // the SKILL.md
	Rel         string `json:"-"` // the directory below its root, with slashes
	Category    string `json:"-"` // the directories between root and skill, "" at top level
	Root        Root   `json:"-"`
	Description string
	State       State
	Reason      string   `json:",omitempty"` // for states other than OK
	Problem     *Problem `json:",omitempty"` // for Broken: where and how to mend it
	Warnings    []string `json:",omitempty"` // read, but not as it was written
	Platforms   []string `json:",omitempty"`
	Tags        []string `json:",omitempty"`
	When        Conditions

	short  string // see Short; "": to be made
	closed bool   // its text is not to be read; Reason says why
	size   int64
	mod    time.Time
}

// DirName is the name of the skill's directory, under which its history and
// the record of its use are kept.
func (s *Skill) DirName() string { return filepath.Base(s.Dir) }

// Root is one directory that holds skills.
type Root struct {
	Dir    string
	Source string // home, external, agents, project, plugin, dir
}

// The sources of roots, in the order of their precedence.
const (
	Home     = "home"
	External = "external"
	Agents   = "agents"
	Project  = "project"
	Plugin   = "plugin" // in no list; see Register
	Tree     = "dir"
)

// Conditions decide whether the prompt's index shows a skill.
type Conditions struct {
	RequiresTools, RequiresToolsets []string `json:",omitempty"`
	FallbackTools, FallbackToolsets []string `json:",omitempty"`
}

// Hidden says why the index of a session with these tools leaves the skill
// out; "" when it does not. Nil sets are unknown: everything is shown.
func (c Conditions) Hidden(tools, toolsets []string) string {
	if tools == nil && toolsets == nil {
		return ""
	}
	for _, t := range c.FallbackToolsets {
		if slices.Contains(toolsets, t) {
			return "it stands in for the toolset " + t + ", which is on"
		}
	}
	for _, t := range c.FallbackTools {
		if slices.Contains(tools, t) {
			return "it stands in for the tool " + t + ", which is there"
		}
	}
	for _, t := range c.RequiresToolsets {
		if !slices.Contains(toolsets, t) {
			return "it needs the toolset " + t + ", which is not on"
		}
	}
	for _, t := range c.RequiresTools {
		if !slices.Contains(tools, t) {
			return "it needs the tool " + t + ", which is not there"
		}
	}
	return ""
}

// Limits of the format.
const (
	MaxName        = 64
	MaxDescription = 1024
	MaxText        = 100_000   // characters of a text that is written
	MaxFile        = 1_048_576 // bytes of a supporting file that is written
)

// supported judges platforms for a GOOS; an empty list is for all.
func supported(platforms []string, goos string) bool {
	some := false
	for _, p := range platforms {
		p = strings.ToLower(strings.TrimSpace(p))
		if p == "" {
			continue
		}
		some = true
		switch p {
		case "macos", "osx", "mac":
			p = "darwin"
		case "win", "win32", "windows":
			p = "windows"
		case "termux":
			p = "android"
		}
		if p == goos || p == "linux" && goos == "android" {
			return true
		}
	}
	return !some
}

// Here is the operating system that skills are judged for.
const Here = runtime.GOOS

// cut shortens text to n characters, the last of them an ellipsis.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-3]) + "..."
}

// oneLine collapses white space, line ends included.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Short is the description as the prompt's index shows it.
func (s *Skill) Short() string {
	if s.short != "" {
		return s.short
	}
	return cut(unquote(oneLine(s.Description)), 60)
}

// Listed is the description as lists show it.
func (s *Skill) Listed() string { return cut(s.Description, MaxDescription) }

func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return strings.TrimSpace(s[1 : len(s)-1])
	}
	return s
}
