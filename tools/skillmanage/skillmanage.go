// Package skillmanage is the tool with which a model keeps ways of working as
// skills. The rules of writing are internal/skill's.
package skillmanage

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/hermes-go/hermes/internal/skill"
	"github.com/hermes-go/hermes/tool"
)

//go:embed skillmanage.md
var about string

var schema = json.RawMessage(`{
"type": "object",
"properties": {
 "action": {"type": "string", "enum": ["create", "patch", "edit", "delete", "write_file", "remove_file"], "description": "What to do."},
 "name": {"type": "string", "description": "The skill's name: lower-case letters, digits, hyphens, dots and underscores, at most 64."},
 "content": {"type": "string", "description": "The whole SKILL.md, for create and edit: front matter with name and description, then the instructions."},
 "old_string": {"type": "string", "description": "For patch: the text to replace, with enough around it to be unique."},
 "new_string": {"type": "string", "description": "For patch: the text to put there; empty deletes."},
 "replace_all": {"type": "boolean", "description": "For patch: replace every occurrence."},
 "category": {"type": "string", "description": "For create: the directory to sort it under, such as research."},
 "file_path": {"type": "string", "description": "A file below references/, templates/, scripts/ or assets/, for write_file, remove_file and patch; patch without it changes SKILL.md."},
 "file_content": {"type": "string", "description": "For write_file: the file's text."},
 "absorbed_into": {"type": "string", "description": "For delete: the skill that now holds what this one said; empty when nothing does."}
},
"required": ["action", "name"]
}`)

type args struct {
	Action       string  `json:"action"`
	Name         string  `json:"name"`
	Content      string  `json:"content"`
	OldString    string  `json:"old_string"`
	NewString    *string `json:"new_string"`
	ReplaceAll   bool    `json:"replace_all"`
	Category     string  `json:"category"`
	FilePath     string  `json:"file_path"`
	FileContent  *string `json:"file_content"`
	AbsorbedInto *string `json:"absorbed_into"`
}

func init() {
	tool.Register(tool.Func(tool.Tool{
		Name: "skill_manage", Toolset: "skills", Emoji: "📝", About: about, Schema: schema,
		Needs:   []tool.Need{tool.Needs[*skill.Library]()},
		Effects: func(json.RawMessage) []tool.Effect { return []tool.Effect{{Key: "skills", Write: true}} },
	}, run))
}

func run(_ context.Context, c *tool.Call, in args) (any, error) {
	lib, err := tool.Use[*skill.Library](c.Session.Services)
	if err != nil {
		return nil, err
	}
	if err := in.complete(); err != nil {
		return nil, fail(err, nil)
	}
	if in.Action == "create" {
		return create(lib, c.Session, in)
	}
	s, err := lib.List().Find(in.Name)
	if err != nil {
		if errors.Is(err, skill.ErrNotFound) {
			err = fmt.Errorf("there is no skill %s: see skills_list, or make it with action create", in.Name)
		}
		return nil, fail(err, nil)
	}
	switch in.Action {
	case "patch":
		return patch(lib, c.Session, s, in)
	case "edit":
		if err := lib.Edit(skill.ByAgent, s, in.Content, func() bool { return changed(c.Session, s) }); err != nil {
			return nil, fail(err, nil)
		}
		note(c.Session, s)
		return map[string]any{"success": true, "message": "Skill " + s.Name + " was replaced.", "path": s.Dir}, nil
	case "delete":
		return remove(lib, s, in)
	case "write_file":
		p, err := lib.WriteFile(skill.ByAgent, s, in.FilePath, *in.FileContent)
		if err != nil {
			return nil, fail(err, nil)
		}
		return map[string]any{"success": true, "message": fmt.Sprintf("File %s of skill %s was written.", in.FilePath, s.Name), "path": p}, nil
	default:
		if err := lib.RemoveFile(skill.ByAgent, s, in.FilePath); err != nil {
			files, _ := s.Files()
			var all []string
			for _, f := range skill.Folders {
				all = append(all, files[f]...)
			}
			return nil, fail(err, map[string]any{"available_files": all})
		}
		return map[string]any{"success": true, "message": fmt.Sprintf("File %s of skill %s was removed.", in.FilePath, s.Name)}, nil
	}
}

// complete says which argument the action lacks.
func (in args) complete() error {
	need := func(ok bool, what string) error {
		if ok {
			return nil
		}
		return fmt.Errorf("action %s needs %s", in.Action, what)
	}
	switch in.Action {
	case "create", "edit":
		return need(strings.TrimSpace(in.Content) != "", "content, the whole SKILL.md")
	case "patch":
		return errors.Join(need(in.OldString != "", "old_string"), need(in.NewString != nil, "new_string (empty deletes)"))
	case "write_file":
		return errors.Join(need(in.FilePath != "", "file_path"), need(in.FileContent != nil, "file_content"))
	case "remove_file":
		return need(in.FilePath != "", "file_path")
	}
	return nil
}

func create(lib *skill.Library, session *tool.Session, in args) (any, error) {
	s, err := lib.Create(skill.ByAgent, in.Name, in.Category, in.Content)
	if err != nil {
		return nil, fail(err, nil)
	}
	note(session, s)
	out := map[string]any{
		"success": true, "message": "Skill " + s.Name + " was created.", "path": s.Rel, "skill_md": s.Path,
		"hint": fmt.Sprintf("Add files with skill_manage(action='write_file', name='%s', file_path='references/example.md', file_content='...').", s.Name),
	}
	if s.Category != "" {
		out["category"] = s.Category
	}
	return out, nil
}

func patch(lib *skill.Library, session *tool.Session, s *skill.Skill, in args) (any, error) {
	stale := changed(session, s)
	n, preview, err := lib.Patch(skill.ByAgent, s, in.FilePath, in.OldString, *in.NewString, in.ReplaceAll)
	if err != nil {
		more := map[string]any{}
		if preview != "" {
			more["file_preview"] = preview
		}
		return nil, fail(err, more)
	}
	if !stale { // what others changed is still to be read
		note(session, s)
	}
	file := in.FilePath
	if file == "" {
		file = "SKILL.md"
	}
	times := "1 replacement"
	if n != 1 {
		times = fmt.Sprintf("%d replacements", n)
	}
	return map[string]any{"success": true, "message": fmt.Sprintf("%s of skill %s was patched: %s.", file, s.Name, times)}, nil
}

func remove(lib *skill.Library, s *skill.Skill, in args) (any, error) {
	into := ""
	if in.AbsorbedInto != nil {
		if into = strings.TrimSpace(*in.AbsorbedInto); into != "" {
			target, err := lib.List().Find(into)
			switch {
			case err != nil:
				return nil, fail(fmt.Errorf("absorbed_into: there is no skill %s; nothing was deleted", into), nil)
			case target.Path == s.Path:
				return nil, fail(errors.New("absorbed_into: a skill cannot be absorbed into itself; nothing was deleted"), nil)
			}
		}
	}
	at, err := lib.Delete(skill.ByAgent, s)
	if err != nil {
		return nil, fail(err, nil)
	}
	message := fmt.Sprintf("Skill %s was taken away. It is kept in %s; the user brings it back with: hermes curator restore %s", s.Name, at, s.Name)
	switch {
	case into != "":
		message += ". What it said is now in " + into + "."
	case in.AbsorbedInto != nil:
		message += ". Nothing takes its place."
	}
	return map[string]any{"success": true, "message": message}, nil
}

func fail(err error, more map[string]any) error {
	v := map[string]any{"success": false, "error": err.Error()}
	for k, x := range more {
		v[k] = x
	}
	return tool.Fail(v, err.Error())
}

func changed(s *tool.Session, sk *skill.Skill) bool {
	seen, err := tool.Use[*skill.Seen](s.Services)
	return err == nil && seen.Changed(s.Key(), sk.Path)
}

// note records that the task knows the skill as it is now.
func note(s *tool.Session, sk *skill.Skill) {
	seen, err := tool.Use[*skill.Seen](s.Services)
	if err != nil {
		return
	}
	if data, err := os.ReadFile(sk.Path); err == nil {
		seen.Note(s.Key(), sk.Path, sha256.Sum256(data))
	}
}
