// Package skillslist is the tool that names the skills a model may load. What
// a skill is and where it lies is internal/skill's matter.
package skillslist

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hermes-go/hermes/internal/skill"
	"github.com/hermes-go/hermes/tool"
)

//go:embed skillslist.md
var about string

var schema = json.RawMessage(`{
"type": "object",
"properties": {
 "category": {"type": "string", "description": "Only skills of this category, or of one below it."},
 "query": {"type": "string", "description": "Words to search for in names, categories and descriptions; the best match comes first."},
 "limit": {"type": "integer", "minimum": 1, "description": "At most this many skills (default: all)."},
 "offset": {"type": "integer", "minimum": 0, "description": "Leave out this many from the start."}
}
}`)

type args struct {
	Category string `json:"category"`
	Query    string `json:"query"`
	Limit    int    `json:"limit"`
	Offset   int    `json:"offset"`
}

func init() {
	tool.Register(tool.Func(tool.Tool{
		Name: "skills_list", Toolset: "skills", Emoji: "📚", About: about, Schema: schema,
		Needs:   []tool.Need{tool.Needs[*skill.Library]()},
		Effects: func(json.RawMessage) []tool.Effect { return []tool.Effect{{Key: "skills"}} },
	}, run))
}

type row struct {
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Category    *string `json:"category"`
	Problem     string  `json:"problem,omitempty"`
}

type result struct {
	Success    bool     `json:"success"`
	Skills     []row    `json:"skills"`
	Categories []string `json:"categories"`
	Count      int      `json:"count"`           // of Skills
	Total      int      `json:"total,omitempty"` // of all that matched, when Skills is a part of them
	Message    string   `json:"message,omitempty"`
	Hint       string   `json:"hint,omitempty"`
}

func run(_ context.Context, c *tool.Call, in args) (any, error) {
	lib, err := tool.Use[*skill.Library](c.Session.Services)
	if err != nil {
		return nil, err
	}
	l := lib.List()
	// Conditions concern the prompt's index only: here everything is named.
	all := l.Shown(skill.IndexOptions{Off: lib.Off(c.Session.Platform)})
	if category := strings.Trim(in.Category, "/ "); category != "" {
		all = slices.DeleteFunc(all, func(s *skill.Skill) bool {
			return s.Category != category && !strings.HasPrefix(s.Category, category+"/")
		})
	}
	all = skill.Search(all, in.Query)
	out := result{Success: true, Skills: []row{}, Categories: []string{}}
	for _, s := range all {
		if s.Category != "" {
			out.Categories = append(out.Categories, s.Category)
		}
	}
	slices.Sort(out.Categories)
	out.Categories = slices.Compact(out.Categories)
	if len(all) == 0 {
		out.Message = nothing(lib, in)
		return out, nil
	}
	page := all[min(in.Offset, len(all)):]
	if in.Limit > 0 {
		page = page[:min(in.Limit, len(page))]
	}
	for _, s := range page {
		r := row{Name: s.Name, Description: s.Listed()}
		if s.Category != "" {
			r.Category = &s.Category
		}
		if s.State == skill.Broken {
			r.Problem = s.Reason
		}
		out.Skills = append(out.Skills, r)
	}
	out.Count = len(page)
	out.Hint = "Load one with skill_view(name)."
	if len(page) < len(all) {
		out.Total = len(all)
		out.Hint += fmt.Sprintf(" This is a part: %d of %d match; go on with offset.", len(page), len(all))
	}
	return out, nil
}

// nothing says where was looked.
func nothing(lib *skill.Library, in args) string {
	var dirs []string
	for _, r := range lib.Roots() {
		dirs = append(dirs, r.Dir)
	}
	if in.Query != "" || in.Category != "" {
		return "No skill matches. Call skills_list without arguments to see all of them."
	}
	return "There are no skills yet in " + strings.Join(dirs, ", ") + "."
}
