package app

import (
	"slices"
	"strings"
	"time"

	"github.com/hermes-go/hermes/internal/skill"
	"github.com/hermes-go/hermes/internal/slash"
)

// ExamineSkills is the doctor of the skills of a home, or of another library.
func (a *App) ExamineSkills(l *skill.Library, platform string) ([]skill.Complaint, error) {
	tools, sets, err := a.ToolNames()
	if err != nil {
		return nil, err
	}
	in := skill.Surroundings{Off: l.Off(platform), Tools: tools, Toolsets: sets, Reserved: slash.New(slash.Terminal).Reserved}
	if l == a.Skills {
		l.List() // brings what is bundled
		if in.Conflicts, err = l.Conflicts(a.bundledSkills()); err != nil {
			return nil, err
		}
	}
	return l.Examine(in), nil
}

// SkillStat is how a skill is used.
type SkillStat struct {
	Name       string     `json:"name"`
	Source     string     `json:"source"`
	CreatedBy  string     `json:"created_by"`
	CreatedAt  *time.Time `json:"created_at"`
	Uses       int        `json:"uses"`
	LastUsed   *time.Time `json:"last_used_at"`
	Changes    int        `json:"changes"`
	LastChange *time.Time `json:"last_changed_at"`
	Versions   int        `json:"versions"`
	Pinned     bool       `json:"pinned"`
	State      string     `json:"state"`
}

// SkillStats tells of every skill how it is used, the most used first.
func (a *App) SkillStats() ([]SkillStat, error) {
	stats := []SkillStat{}
	for _, r := range SkillRows(a.Skills, "cli") {
		if r.State == skill.Shadowed {
			continue
		}
		u := a.Skills.Usage(r.skill)
		versions, err := a.Skills.History(r.skill.DirName())
		if err != nil {
			return nil, err
		}
		by := string(u.CreatedBy)
		if by == "" && r.Source == "bundled" {
			by = string(skill.ByProgram)
		}
		stats = append(stats, SkillStat{
			Name: r.Name, Source: r.Source, CreatedBy: by, CreatedAt: moment(u.CreatedAt), Uses: u.Uses, LastUsed: moment(u.LastUsed),
			Changes: u.Changes, LastChange: moment(u.LastChange), Versions: len(versions), Pinned: u.Pinned, State: u.State,
		})
	}
	slices.SortStableFunc(stats, func(x, y SkillStat) int {
		if x.Uses != y.Uses {
			return y.Uses - x.Uses
		}
		return strings.Compare(x.Name, y.Name)
	})
	return stats, nil
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// OwnSkills are the skills of the home that came from its people and agents, and
// the bundled ones that they changed.
func (a *App) OwnSkills() ([]*skill.Skill, error) {
	var own []*skill.Skill
	for _, r := range SkillRows(a.Skills, "cli") {
		if r.skill.Root.Source != skill.Home || r.State == skill.Shadowed {
			continue
		}
		if r.Source == "bundled" {
			diff, err := a.DiffSkill(r.Name)
			if err != nil {
				return nil, err
			}
			if diff == "" {
				continue
			}
		}
		own = append(own, r.skill)
	}
	return own, nil
}
