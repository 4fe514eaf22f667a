package app

import (
	"errors"
	"fmt"

	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/internal/skill"
)

// ProjectSkills are those that lie in the project around the working directory.
type ProjectSkills struct {
	Project  string   `json:"project"`
	Dir      string   `json:"dir"`
	Decision string   `json:"decision"` // trusted, refused, "" when nobody was asked
	Names    []string `json:"skills"`
}

// What people said about a project.
const (
	Trusted = "trusted"
	Refused = "refused"
)

// ProjectSkills looks for skills of the project; Dir is "" when it has none.
// Names are only read for a project that nobody has decided about.
func (a *App) ProjectSkills() ProjectSkills {
	var p ProjectSkills
	if p.Project, p.Dir = skill.ProjectDir(a.WorkDir, a.UserHome); p.Dir == "" {
		return p
	}
	var said map[string]string
	if err := config.Decode(a.Config, "skills.projects", &said); err != nil {
		a.Notice(err.Error())
	}
	if p.Decision = said[p.Project]; a.decided != "" {
		p.Decision = a.decided
	}
	if p.Decision == "" {
		for _, s := range skill.NewCatalogue(skill.Root{Dir: p.Dir, Source: skill.Project}).List().Skills {
			p.Names = append(p.Names, s.Name)
		}
	}
	return p
}

// TrustProject remembers what a person said about the skills of the project.
func (a *App) TrustProject(on bool) (ProjectSkills, error) {
	p := a.ProjectSkills()
	if p.Dir == "" {
		return p, fmt.Errorf("the project at %s has no .agents/skills", a.WorkDir)
	}
	word := Refused
	if on {
		word = Trusted
	}
	if p.Decision == word {
		return p, errors.New("the project is " + word + " already")
	}
	if _, err := config.Set(a.Config.Path(), config.JoinPath([]string{"skills", "projects", p.Project}), word, config.KindText); err != nil {
		return p, err
	}
	a.decided, p.Decision = word, word
	return p, nil
}

// trustedProject is the directory of the project's skills, when they may be used.
func (a *App) trustedProject() string {
	if p := a.ProjectSkills(); p.Decision == Trusted {
		return p.Dir
	}
	return ""
}
