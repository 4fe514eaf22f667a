// Package skillview is the tool that loads a skill, or one file of it. Finding,
// reading and filling in is internal/skill's matter.
package skillview

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"

	"github.com/hermes-go/hermes/ask"
	"github.com/hermes-go/hermes/internal/skill"
	"github.com/hermes-go/hermes/tool"
)

//go:embed skillview.md
var about string

var schema = json.RawMessage(`{
"type": "object",
"properties": {
 "name": {"type": "string", "description": "The skill's name, or its path as in category/name."},
 "file_path": {"type": "string", "description": "A file of the skill, such as references/api.md; left out: SKILL.md."},
 "offset": {"type": "integer", "minimum": 0, "description": "For long texts: characters to leave out from the start."},
 "limit": {"type": "integer", "minimum": 1, "description": "For long texts: characters to return (default 80000)."}
},
"required": ["name"]
}`)

type args struct {
	Name     string `json:"name"`
	FilePath string `json:"file_path"`
	Offset   int    `json:"offset"`
	Limit    int    `json:"limit"`
}

// page is what one answer holds at most, in characters.
const page = 80_000

func init() {
	tool.Register(tool.Func(tool.Tool{
		Name: "skill_view", Toolset: "skills", Emoji: "📖", About: about, Schema: schema, MaxChars: -1,
		Needs:   []tool.Need{tool.Needs[*skill.Library]()},
		Effects: func(json.RawMessage) []tool.Effect { return []tool.Effect{{Key: "skills"}} },
	}, run))
}

func run(ctx context.Context, c *tool.Call, in args) (any, error) {
	lib, err := tool.Use[*skill.Library](c.Session.Services)
	if err != nil {
		return nil, err
	}
	s, others, err := lib.OfPlugin(in.Name)
	var missing *skill.PluginError
	switch {
	case errors.As(err, &missing):
		return nil, fail(err.Error(), map[string]any{"available_skills": missing.Available, "hint": "Use one of available_skills."})
	case err != nil:
		return nil, fail(err.Error(), nil)
	}
	off := lib.Off(c.Session.Platform)
	if s == nil {
		l := lib.List()
		if s, err = l.Find(in.Name); err != nil {
			return nil, notFound(l, off, err)
		}
	}
	switch {
	case off(s):
		return nil, fail("skill "+s.Name+" is switched off; the user can switch it on with: hermes skills enable "+s.Name, nil)
	case s.State == skill.Unsupported:
		return nil, fail("skill "+s.Name+" cannot be used here: "+s.Reason, map[string]any{"readiness_status": "unsupported"})
	}
	if in.FilePath != "" && in.FilePath != "SKILL.md" {
		return viewFile(s, in)
	}
	loaded, err := lib.Load(ctx, s, c.Session.ID)
	if err != nil {
		return nil, fail(err.Error(), nil)
	}
	if s.Root.Source == skill.Plugin {
		loaded.Content = skill.Banner(s.Name, others) + loaded.Content
	}
	collect(ctx, c, lib, loaded)
	if p, err := tool.Use[skill.Passer](c.Session.Services); err == nil {
		p.PassFiles(c.Session.Key(), loaded.Needs.PresentFiles())
		if refused := p.Pass(c.Session.Key(), loaded.Needs.Present); len(refused) > 0 {
			for _, name := range refused {
				loaded.Warnings = append(loaded.Warnings, "$"+name+" is a key of a service and is not passed to commands")
			}
		}
	}
	if in.Offset == 0 { // the next page is the same use
		lib.Used(s)
	}
	remember(c.Session, s, loaded.Raw)
	out := view(loaded, in)
	if out.SetupNeeded && c.Session.Platform != "cli" {
		out.GatewayHint = "Keys are not collected in a chat. The user sets them up on the machine that runs Hermes: in a terminal with hermes, or in the .env file of its home."
	}
	return out, nil
}

// collect asks the person at a terminal for what the skill lacks. Elsewhere a
// value would go through a chat.
func collect(ctx context.Context, c *tool.Call, lib *skill.Library, loaded *skill.Loaded) {
	if len(loaded.Needs.MissingVars) == 0 || c.Session.Platform != "cli" {
		return
	}
	keep, err := tool.Use[skill.Setup](c.Session.Services)
	if err != nil {
		return
	}
	asker, err := tool.Use[ask.Asker](c.Session.Services)
	if err != nil {
		return
	}
	err = lib.Collect(ctx, loaded, c.Session.Key(), keep, func(ctx context.Context, v skill.Variable) (string, error) {
		answer, err := asker.Ask(ctx, skill.Request(v))
		return answer.Text, err
	})
	if err != nil && !errors.Is(err, ask.ErrNobody) {
		loaded.Warnings = append(loaded.Warnings, "not all that is missing was asked for: "+err.Error())
	}
}

// fail is the shape of every refusal.
func fail(reason string, more map[string]any) error {
	v := map[string]any{"success": false, "error": reason}
	for k, x := range more {
		v[k] = x
	}
	return tool.Fail(v, reason)
}

func notFound(l *skill.Listing, off func(*skill.Skill) bool, err error) error {
	names := []string{}
	for _, s := range l.Shown(skill.IndexOptions{Off: off}) {
		if len(names) < 20 {
			names = append(names, s.Name)
		}
	}
	more := map[string]any{"available_skills": names, "hint": "skills_list(query=...) finds a skill by what it is for."}
	if a, ok := err.(*skill.AmbiguousError); ok { //nolint:errorlint // Find returns it as it is
		more["ambiguous"] = a.Candidates
	}
	return fail(err.Error(), more)
}

// Seen is what a task has read of skills: skill_manage does not overwrite what
// changed since.
func remember(s *tool.Session, sk *skill.Skill, raw []byte) {
	if seen, err := tool.Use[*skill.Seen](s.Services); err == nil {
		seen.Note(s.Key(), sk.Path, sha256.Sum256(raw))
	}
}
