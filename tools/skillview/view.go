package skillview

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/hermes-go/hermes/internal/skill"
)

type result struct {
	Success          bool                `json:"success"`
	Name             string              `json:"name"`
	Description      string              `json:"description"`
	Tags             []string            `json:"tags"`
	RelatedSkills    []string            `json:"related_skills"`
	Content          string              `json:"content"`
	Truncated        bool                `json:"truncated,omitempty"`
	TotalChars       int                 `json:"total_chars,omitempty"`
	NextOffset       int                 `json:"next_offset,omitempty"`
	Path             string              `json:"path"`
	SkillDir         string              `json:"skill_dir"`
	LinkedFiles      map[string][]string `json:"linked_files"`
	LinkedTruncated  bool                `json:"linked_files_truncated,omitempty"`
	UsageHint        *string             `json:"usage_hint"`
	RequiredVars     []skill.Variable    `json:"required_environment_variables"`
	RequiredCommands []string            `json:"required_commands"`
	MissingVars      []string            `json:"missing_required_environment_variables"`
	MissingFiles     []string            `json:"missing_credential_files"`
	MissingCommands  []string            `json:"missing_required_commands"`
	SetupNeeded      bool                `json:"setup_needed"`
	SetupSkipped     bool                `json:"setup_skipped"`
	Readiness        string              `json:"readiness_status"`
	SetupHelp        string              `json:"setup_help,omitempty"`
	SetupNote        string              `json:"setup_note,omitempty"`
	GatewayHint      string              `json:"gateway_setup_hint,omitempty"`
	Config           map[string]string   `json:"config,omitempty"`
	ConfigNote       string              `json:"config_note,omitempty"`
	Compatibility    string              `json:"compatibility,omitempty"`
	Metadata         any                 `json:"metadata,omitempty"`
	Warnings         []string            `json:"warnings,omitempty"`
}

func view(l *skill.Loaded, in args) result {
	n := &l.Needs
	out := result{
		Success: true, Name: l.Name, Description: l.Description, Tags: list(l.Doc.Tags()), RelatedSkills: list(l.Doc.Related()),
		Path: pathOf(l.Skill), SkillDir: l.Seen,
		RequiredVars: n.Variables, RequiredCommands: list(n.Commands), MissingVars: list(n.MissingVars), MissingFiles: list(n.MissingFiles),
		MissingCommands: list(n.MissingCommands), SetupNeeded: n.Setup(), SetupSkipped: l.Skipped, Readiness: "available", SetupHelp: n.Help, SetupNote: n.Note(),
		ConfigNote: n.ConfigBlock(), Compatibility: l.Doc.Scalar("compatibility"), Metadata: l.Doc.Metadata(), Warnings: l.Warnings,
	}
	if out.RequiredVars == nil {
		out.RequiredVars = []skill.Variable{}
	}
	if out.SetupNeeded {
		out.Readiness = "setup_needed"
		out.SetupNote += " The user sets variables in the home's .env file; never ask for their values in the conversation."
	}
	for _, s := range n.Settings {
		if out.Config == nil {
			out.Config = map[string]string{}
		}
		out.Config[s.Key] = s.Value
	}
	out.Content, out.TotalChars, out.NextOffset = paged(l.Content, in)
	out.Truncated = out.TotalChars > 0
	if files, truncated := l.Files(); len(files) > 0 {
		out.LinkedFiles, out.LinkedTruncated = files, truncated
		hint := fmt.Sprintf("Read a file with skill_view(name=%q, file_path=\"...\"); run scripts by their absolute path below skill_dir.", l.Name)
		out.UsageHint = &hint
	}
	return out
}

// pathOf is the path below the home's skills, or that of the directory.
func pathOf(s *skill.Skill) string {
	if s.Root.Source == skill.Home {
		return s.Rel + "/" + filepath.Base(s.Path)
	}
	return filepath.Base(s.Dir) + "/" + filepath.Base(s.Path)
}

func list(l []string) []string {
	if l == nil {
		return []string{}
	}
	return l
}

// paged cuts a text; total is 0 when it is whole.
func paged(text string, in args) (part string, total, next int) {
	limit := page
	if in.Limit > 0 {
		limit = min(in.Limit, page)
	}
	if in.Offset == 0 && utf8.RuneCountInString(text) <= limit {
		return text, 0, 0
	}
	r := []rune(text)
	from := min(in.Offset, len(r))
	to := min(from+limit, len(r))
	if to < len(r) {
		next = to
	}
	return string(r[from:to]), len(r), next
}

// viewFile answers with one file of the skill, or with what a directory holds.
func viewFile(s *skill.Skill, in args) (any, error) {
	p, err := s.Locate(in.FilePath)
	if errors.Is(err, skill.ErrOutside) {
		return nil, fail(err.Error(), map[string]any{"hint": "Give a path inside the skill's directory, as linked_files lists them."})
	}
	if err != nil {
		return nil, fail(err.Error(), nil)
	}
	info, err := os.Stat(p)
	if errors.Is(err, fs.ErrNotExist) {
		files, _ := s.Files()
		return nil, fail(fmt.Sprintf("skill %s has no file %s", s.Name, in.FilePath), map[string]any{"available_files": files, "hint": "Use one of available_files."})
	}
	if err != nil {
		return nil, fail(err.Error(), nil)
	}
	if info.IsDir() {
		entries, err := os.ReadDir(p)
		if err != nil {
			return nil, fail(err.Error(), nil)
		}
		names := []string{}
		for _, e := range entries {
			name := e.Name()
			if e.IsDir() {
				name += "/"
			}
			names = append(names, name)
		}
		return map[string]any{"success": true, "name": s.Name, "file": in.FilePath, "is_directory": true, "entries": names}, nil
	}
	if !info.Mode().IsRegular() {
		return nil, fail(in.FilePath+" is no regular file", nil)
	}
	const most = 8 << 20
	if info.Size() > most {
		return nil, fail(fmt.Sprintf("%s has %d bytes, too many to show; read parts of %s with read_file", in.FilePath, info.Size(), p), nil)
	}
	data, err := os.ReadFile(p)
	if err != nil {
		return nil, fail(err.Error(), nil)
	}
	out := map[string]any{"success": true, "name": s.Name, "file": in.FilePath}
	if !utf8.Valid(data) || strings.ContainsRune(string(data), 0) {
		out["content"] = fmt.Sprintf("[Binary file: %s, size: %d bytes]", filepath.Base(p), len(data))
		out["is_binary"] = true
		return out, nil
	}
	text, total, next := paged(string(data), in)
	out["content"], out["file_type"] = text, filepath.Ext(p)
	if total > 0 {
		out["truncated"], out["total_chars"] = true, total
		if next > 0 {
			out["next_offset"] = next
		}
	}
	return out, nil
}
