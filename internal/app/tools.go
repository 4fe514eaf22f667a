package app

import (
	"context"

	"github.com/hermes-go/hermes/tool"
)

// ToolRow is a tool as `tools list` shows it.
type ToolRow struct {
	Name        string   `json:"name"`
	Toolset     string   `json:"toolset"`
	Source      string   `json:"source"`
	Available   bool     `json:"available"`
	Enabled     bool     `json:"enabled"`
	Reason      string   `json:"reason"`
	RequiresEnv []string `json:"requires_env"`
	Emoji       string   `json:"emoji"`
}

// ToolRows lists every tool as a session of the platform would have it.
func (a *App) ToolRows(ctx context.Context, platform string) ([]ToolRow, error) {
	eff, err := a.effective(platform, nil)
	if err != nil {
		return nil, err
	}
	s := a.loopSession(platform)
	rows := []ToolRow{}
	for _, t := range a.Registry.All() {
		row := ToolRow{Name: t.Name, Toolset: t.Toolset, Source: t.Source, Available: true, Enabled: true, RequiresEnv: []string{}, Emoji: t.Emoji}
		if row.Source == "" {
			row.Source = "builtin"
		}
		for _, v := range t.Env {
			row.RequiresEnv = append(row.RequiresEnv, v.Name)
		}
		if !eff.Has(t.Name) {
			row.Enabled, row.Reason = false, eff.Why(t.Name)
		}
		if err := a.Registry.Why(ctx, s, t.Name); err != nil {
			row.Available, row.Reason = false, err.Error()
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// AllDefinitions returns the definitions of the named tools as an interactive
// session would offer them, enabled or not.
func (a *App) AllDefinitions(ctx context.Context, names []string) []tool.Definition {
	return a.Registry.Definitions(ctx, a.loopSession("cli"), names)
}
