package patch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hermes-go/hermes/internal/edit"
	"github.com/hermes-go/hermes/internal/files"
	"github.com/hermes-go/hermes/internal/lint"
	"github.com/hermes-go/hermes/tool"
)

// job is a patch of several files on its way.
type job struct {
	*files.View
	paths map[string]files.Path     // by real path, as first named
	old   map[string]*files.Current // likewise
}

func several(ctx context.Context, v *files.View, text string) (any, error) {
	p, err := edit.ParsePatch(text)
	if err != nil {
		return nil, failed(err)
	}
	j := &job{View: v, paths: map[string]files.Path{}, old: map[string]*files.Current{}}
	if err := j.find(ctx, p); err != nil {
		return nil, err
	}
	real := p.Paths()
	unlock, err := v.Lock(ctx, real...)
	if err != nil {
		return nil, err
	}
	defer unlock()
	warnings := v.Notices
	for _, name := range real {
		c, err := v.Read(ctx, j.paths[name])
		if err != nil {
			return nil, failed(fmt.Errorf("%w; no files were modified", err))
		}
		j.old[name] = c
		if c.Exists {
			warnings = append(warnings, v.Stale(c.Path, c.Print, false)...)
		}
	}
	out, err := p.Apply(j.read)
	if err != nil {
		return nil, j.refuse(err, out, warnings)
	}
	steps, err := j.steps(out.Changes)
	if err != nil {
		return nil, failed(fmt.Errorf("%w; no files were modified", err))
	}
	if err := v.Commit(ctx, steps); err != nil {
		return nil, failed(err)
	}
	return j.report(ctx, out, warnings), nil
}

// find resolves every path of the patch, so that two spellings of one file
// meet, and refuses what may not be written; it names every such path.
func (j *job) find(ctx context.Context, p *edit.Patch) error {
	var problems []string
	goes := map[string]bool{}
	for _, s := range p.Sections {
		if s.Op == edit.Delete || s.To != "" {
			goes[s.Path] = true
		}
	}
	err := p.Resolve(func(name string) (string, error) {
		at, err := j.Resolve(ctx, name)
		if err == nil {
			err = j.MayWrite(at)
		}
		if err == nil && goes[name] {
			err = j.noLink(ctx, at)
		}
		if err != nil {
			problems = append(problems, err.Error())
			return name, nil
		}
		if _, ok := j.paths[at.Real]; !ok {
			j.paths[at.Real] = at
		}
		return at.Real, nil
	})
	if err != nil {
		return failed(err)
	}
	if len(problems) > 0 {
		return fail("no files were modified:\n- "+strings.Join(problems, "\n- "), "")
	}
	return nil
}

// noLink refuses to remove or move a link: what is meant, the link or the
// file, cannot be known.
func (j *job) noLink(ctx context.Context, p files.Path) error {
	info, err := j.FS.Lstat(ctx, p.Abs)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s is a symbolic link to %s: name that file, or remove the link in the terminal", p.Given, p.Real)
	}
	return nil
}

func (j *job) read(name string) (string, bool, error) {
	c := j.old[name]
	switch {
	case !c.Exists:
		return "", false, nil
	case errors.Is(c.Opaque, edit.ErrBinary):
		return "", true, errors.New("a binary file cannot be patched")
	case c.Opaque != nil:
		return "", true, c.Opaque
	}
	return c.Text.Content, true, nil
}

// refuse reports why a patch does not apply, hunk by hunk.
func (j *job) refuse(err error, out *edit.Outcome, warnings []string) error {
	res := result{Warning: strings.Join(warnings, " | ")}
	var bad *edit.PatchError
	if errors.As(err, &bad) {
		for i, p := range bad.Problems {
			bad.Problems[i] = j.given(p)
		}
	}
	for _, h := range out.Hunks {
		h.Path = j.paths[h.Path].Given
		h.Message, _ = j.Redact(h.Message)
		res.Hunks = append(res.Hunks, h)
	}
	res.Error, res.Redacted = j.Redact(err.Error())
	return tool.Fail(res, res.Error)
}

// given writes a problem with the paths that the model used, the longest
// first: one can be the beginning of another.
func (j *job) given(problem string) string {
	names := slices.Collect(maps.Keys(j.paths))
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	for _, real := range names {
		problem = strings.ReplaceAll(problem, real+":", j.paths[real].Given+":")
	}
	return problem
}

// steps turns what changes into what has to be done: files that are made or
// changed first, so that nothing is gone before the rest is there.
func (j *job) steps(changes []edit.Change) ([]files.Step, error) {
	var first, last []files.Step
	for _, ch := range changes {
		c := j.old[ch.Path]
		s := files.Step{Was: c, Mode: modeOf(ch.Mode)}
		if ch.Op == edit.Delete {
			s.Remove = true
			last = append(last, s)
			continue
		}
		if ch.To != "" {
			s.To = j.old[ch.To]
		}
		if ch.Op != edit.Move || ch.New != ch.Old || s.Mode != 0 {
			if err := j.MaskLoss(c, ch.New); err != nil {
				return nil, err
			}
			text := c.Text
			text.Content = ch.New
			data, err := text.Encode()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.Given, err)
			}
			if data == nil {
				data = []byte{}
			}
			s.Data = data
		}
		if s.To != nil {
			last = append(last, s)
		} else {
			first = append(first, s)
		}
	}
	return append(first, last...), nil
}

// modeOf reads git's "100755"; 0 for none.
func modeOf(text string) fs.FileMode {
	if len(text) < 3 {
		return 0
	}
	n, err := strconv.ParseUint(text[len(text)-3:], 8, 32)
	if err != nil {
		return 0
	}
	return fs.FileMode(n)
}

func (j *job) report(ctx context.Context, out *edit.Outcome, warnings []string) result {
	res := result{Success: true}
	var diffs []string
	checked := map[string]*lint.Result{}
	for _, ch := range out.Changes {
		c := j.old[ch.Path]
		name, to := c.Given, c.Given
		if ch.To != "" {
			to = j.old[ch.To].Given
		}
		switch ch.Op {
		case edit.Add:
			res.Created = append(res.Created, name)
			diffs = append(diffs, diffOf("", name, "", ch.New))
		case edit.Delete:
			res.Deleted = append(res.Deleted, name)
			diffs = append(diffs, diffOf(name, "", ch.Old, ""))
			continue
		case edit.Move:
			res.Modified = append(res.Modified, name+" -> "+to)
			diffs = append(diffs, moved(name, to)+diffOf(name, to, ch.Old, ch.New))
		default:
			res.Modified = append(res.Modified, name)
			diffs = append(diffs, diffOf(name, to, ch.Old, ch.New))
		}
		if ch.New == ch.Old {
			continue
		}
		at := *c
		if ch.To != "" {
			at.Path = j.old[ch.To].Path
		}
		if l := j.Lint(ctx, &at, ch.New); l != nil {
			checked[to] = l
		}
	}
	for _, h := range out.Hunks {
		if h.Status != edit.StatusOK || h.Strategy != edit.Exact {
			h.Path = j.paths[h.Path].Given
			res.Hunks = append(res.Hunks, h) // the plain ones need no word
		}
	}
	if len(checked) > 0 {
		res.Lint = checked
	}
	for _, p := range j.paths {
		if p.Note != "" {
			res.Note = p.Note
		}
	}
	res.Warning = strings.Join(warnings, " | ")
	res.show(j.View, bound(strings.Join(diffs, "")))
	return res
}
