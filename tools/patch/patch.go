// Package patch is the tool with which a model changes parts of files. Finding
// the place is internal/edit, the writing is internal/files; this package
// brings the two together and tells the model what came of it.
package patch

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"strings"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/edit"
	"github.com/hermes-go/hermes/internal/files"
	"github.com/hermes-go/hermes/tool"
)

//go:embed patch.md
var about string

var schema = json.RawMessage(`{
"type": "object",
"properties": {
 "mode": {"type": "string", "enum": ["replace", "patch"], "description": "replace: one text in one file; patch: a patch of several files.", "default": "replace"},
 "path": {"type": "string", "description": "The file to change, for mode replace."},
 "old_string": {"type": "string", "description": "The text to find, for mode replace; unique in the file unless replace_all is set."},
 "new_string": {"type": "string", "description": "The text to put in its place; may be empty."},
 "replace_all": {"type": "boolean", "description": "Replace every place where old_string stands.", "default": false},
 "patch": {"type": "string", "description": "The patch, for mode patch."}
},
"required": ["mode"]
}`)

// lenient is the schema that calls are judged by: a forgotten mode is plain
// from the other arguments.
var lenient = json.RawMessage(strings.Replace(string(schema), `"required": ["mode"]`, `"required": []`, 1))

func init() {
	tool.Register(tool.Func(tool.Tool{
		Name: "patch", Toolset: "file", Emoji: "🔧", About: about, Schema: lenient,
		Describe: func(*tool.Session, []string) *tool.Tool { return &tool.Tool{About: about, Schema: schema} },
		Needs:    []tool.Need{tool.Needs[backend.Provider]()},
		Effects:  effects,
	}, run))
}

type args struct {
	Mode       string  `json:"mode"`
	Path       string  `json:"path"`
	Old        *string `json:"old_string"`
	New        *string `json:"new_string"`
	ReplaceAll bool    `json:"replace_all"`
	Patch      *string `json:"patch"`
}

// several tells which of the two modes is meant.
func (a args) several() bool {
	return a.Mode == "patch" || a.Mode == "" && a.Patch != nil && a.Old == nil
}

func effects(raw json.RawMessage) []tool.Effect {
	var in args
	if json.Unmarshal(raw, &in) != nil {
		return nil
	}
	if !in.several() {
		return files.Writes(in.Path)
	}
	if in.Patch == nil {
		return nil
	}
	p, err := edit.ParsePatch(*in.Patch)
	if err != nil {
		return tool.ReadsNothing(nil) // it will be refused
	}
	var out []tool.Effect
	for _, name := range p.Paths() {
		out = append(out, files.Writes(name)...)
	}
	return out
}

type result struct {
	Success  bool              `json:"success"`
	Diff     string            `json:"diff,omitempty"`
	Modified []string          `json:"files_modified,omitempty"`
	Created  []string          `json:"files_created,omitempty"`
	Deleted  []string          `json:"files_deleted,omitempty"`
	Strategy string            `json:"strategy,omitempty"`
	Count    int               `json:"replacements,omitempty"`
	Before   int               `json:"bytes_before,omitempty"`
	After    int               `json:"bytes_after,omitempty"`
	Lint     any               `json:"lint,omitempty"`
	Hunks    []edit.HunkResult `json:"hunks,omitempty"`
	Similar  []string          `json:"similar_files,omitempty"`
	Redacted bool              `json:"redacted,omitempty"`
	Error    string            `json:"error,omitempty"`
	Note     string            `json:"_note,omitempty"`
	Warning  string            `json:"_warning,omitempty"`
	Hint     string            `json:"_hint,omitempty"`
}

func run(ctx context.Context, c *tool.Call, in args) (any, error) {
	v, err := files.Open(ctx, c.Session)
	if err != nil {
		return nil, err
	}
	v.Why = "before " + c.Name
	v.State.Other()
	if in.several() {
		if in.Patch == nil || strings.TrimSpace(*in.Patch) == "" {
			return nil, fail("mode patch needs the field patch: the text of the patch", "")
		}
		return several(ctx, v, *in.Patch)
	}
	switch {
	case in.Path == "":
		return nil, fail("mode replace needs the field path", "")
	case in.Old == nil:
		return nil, fail("mode replace needs the field old_string: the text to find", "")
	case in.New == nil:
		return nil, fail(`mode replace needs the field new_string: the text to put in its place, "" to delete`, "")
	}
	return replace(ctx, v, in)
}

func fail(reason, hint string) error {
	return tool.Fail(result{Error: reason, Hint: hint}, reason)
}

// failed keeps an error that already has a result of its own.
func failed(err error) error { return fail(err.Error(), "") }

func replace(ctx context.Context, v *files.View, in args) (any, error) {
	p, err := v.Resolve(ctx, in.Path)
	if err != nil {
		return nil, failed(err)
	}
	if err := v.MayWrite(p); err != nil {
		return nil, failed(err)
	}
	unlock, err := v.Lock(ctx, p.Real)
	if err != nil {
		return nil, err
	}
	defer unlock()
	old, err := v.Read(ctx, p)
	if err != nil {
		return nil, failed(err)
	}
	if err := changeable(ctx, v, old); err != nil {
		return nil, err
	}
	stale := v.Stale(p, old.Print, false)
	done, err := edit.Replace(old.Text.Content, *in.Old, *in.New, in.ReplaceAll)
	if err != nil {
		return nil, noMatch(v, old, *in.Old, err, stale)
	}
	if err := v.MaskLoss(old, done.Content); err != nil {
		return nil, failed(err)
	}
	text := old.Text
	text.Content = done.Content
	saved, err := v.Save(ctx, old, text, 0)
	if err != nil {
		return nil, failed(err)
	}
	v.Wrote(p.Real, saved.Print, false)
	res := result{
		Success: true, Modified: []string{p.Given}, Strategy: done.Strategy, Count: done.Count,
		Before: len(old.Data), After: saved.Bytes, Note: p.Note,
		Warning: strings.Join(append(v.Notices, stale...), " | "),
	}
	res.show(v, diffOf(p.Given, p.Given, old.Text.Content, done.Content))
	if l := v.Lint(ctx, old, done.Content); l != nil {
		res.Lint = l
	}
	return res, nil
}

// changeable refuses what is no text file.
func changeable(ctx context.Context, v *files.View, c *files.Current) error {
	switch {
	case !c.Exists:
		res := result{Error: "File not found: " + c.Given, Similar: v.Similar(ctx, c.Path)}
		res.Hint = "write_file makes a new file"
		if len(res.Similar) > 0 {
			res.Hint = "similar_files names what lies beside it; write_file makes a new file"
		}
		return tool.Fail(res, res.Error)
	case errors.Is(c.Opaque, edit.ErrBinary):
		return fail(c.Given+" is a binary file: it cannot be patched", "")
	case c.Opaque != nil:
		return fail(c.Given+": "+c.Opaque.Error(), "read it with read_file and encoding= first; patch then uses that encoding")
	}
	return nil
}

// noMatch adds to an error why the text may not have been found.
func noMatch(v *files.View, c *files.Current, old string, err error, stale []string) error {
	res := result{Error: err.Error(), Warning: strings.Join(append(v.Notices, stale...), " | ")}
	var missing *edit.NotFoundError
	if errors.As(err, &missing) {
		switch {
		case v.HidesIn(c, old):
			res.Hint = "old_string holds masked text: the file has the real value there. Leave that place out of old_string"
		case len(missing.Near) == 0:
			res.Hint = "read the file with read_file, then send old_string as it stands there"
		}
	}
	var hidden bool
	res.Error, hidden = v.Redact(res.Error)
	res.Redacted = hidden
	return tool.Fail(res, res.Error)
}

// show puts the diff into a result, masked and bounded.
func (r *result) show(v *files.View, diff string) {
	var masked bool
	if r.Diff, masked = v.Redact(diff); masked {
		r.Redacted = true
	}
}
