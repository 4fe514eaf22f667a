package app

import (
	"slices"

	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/internal/skill"
)

// SkillNeed is something that a skill asks the person for.
type SkillNeed struct {
	Skill       string `json:"skill"`
	Kind        string `json:"kind"` // setting, variable, file
	Key         string `json:"key"`
	Description string `json:"description,omitempty"`
	Prompt      string `json:"prompt,omitempty"`
	Help        string `json:"help,omitempty"`
	Default     string `json:"default,omitempty"`
	Value       string `json:"value,omitempty"` // of settings only
	Set         bool   `json:"set"`
	Optional    bool   `json:"optional,omitempty"`
}

// Path is where a setting stands in config.yaml.
func (n SkillNeed) Path() string { return "skills.config." + n.Key }

// SkillNeeds lists what the skills that sessions of a platform may load ask
// for, each setting and variable once. Skills that cannot be read are left to
// the doctor.
func SkillNeeds(l *skill.Library, list *skill.Listing, platform string) []SkillNeed {
	var out []SkillNeed
	seen := map[[2]string]bool{}
	add := func(n SkillNeed) {
		if k := [2]string{n.Kind, n.Key}; !seen[k] {
			seen[k] = true
			out = append(out, n)
		}
	}
	off := l.Off(platform)
	for _, s := range list.Skills {
		if s.State != skill.OK || off(s) {
			continue
		}
		n, err := l.NeedsOf(s)
		if err != nil {
			continue
		}
		for _, x := range n.Settings {
			add(SkillNeed{Skill: s.Name, Kind: "setting", Key: x.Key, Description: x.Description, Prompt: x.Prompt, Default: x.Default, Value: x.Value, Set: x.Stored})
		}
		for _, v := range n.Variables {
			add(SkillNeed{Skill: s.Name, Kind: "variable", Key: v.Name, Description: v.RequiredFor, Prompt: v.Prompt, Help: v.Help, Set: slices.Contains(n.Present, v.Name), Optional: v.Optional})
		}
		for i, f := range n.Files {
			add(SkillNeed{Skill: s.Name, Kind: "file", Key: f, Description: n.FileAbout[i], Set: !slices.Contains(n.MissingFiles, f)})
		}
	}
	return out
}

// KeepSkillNeed writes what a person gave for a skill: a setting into
// config.yaml, a variable into .env.
func (a *App) KeepSkillNeed(n SkillNeed, value string) error {
	if n.Kind == "variable" {
		return a.passes.Keep(n.Key, value)
	}
	_, err := config.Set(a.Config.Path(), n.Path(), value, config.KindText)
	return err
}
