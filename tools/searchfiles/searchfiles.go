// Package searchfiles is the tool with which a model searches the content and
// the names of files. Ripgrep, where it is installed, only tells which files
// are worth reading; what matches, what is left out and in which order is
// decided here, so that answers are the same without it.
package searchfiles

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/files"
	"github.com/hermes-go/hermes/tool"
)

//go:embed searchfiles.md
var about string

var schema = json.RawMessage(`{
"type": "object",
"properties": {
 "pattern": {"type": "string", "description": "A regular expression for content, a glob for files."},
 "target": {"type": "string", "enum": ["content", "files"], "description": "What to search: the lines of files, or their names.", "default": "content"},
 "path": {"type": "string", "description": "The directory or file to search.", "default": "."},
 "file_glob": {"type": "string", "description": "Search only files that fit this glob, e.g. *.py or src/**/*.ts."},
 "limit": {"type": "integer", "description": "The most results to return.", "default": 50},
 "offset": {"type": "integer", "description": "How many results to skip.", "default": 0},
 "output_mode": {"type": "string", "enum": ["content", "files_only", "count"], "description": "What to return of a content search.", "default": "content"},
 "context": {"type": "integer", "description": "Lines to show before and after each match.", "default": 0},
 "include_hidden": {"type": "boolean", "description": "Search files and directories whose names begin with a dot, too.", "default": false}
},
"required": ["pattern"]
}`)

// lenient is the schema that calls are judged by: targets have other names as
// well.
var lenient = json.RawMessage(strings.Replace(string(schema), `"enum": ["content", "files"]`, `"enum": ["content", "files", "grep", "find"]`, 1))

func init() {
	tool.Register(tool.Func(tool.Tool{
		Name: "search_files", Toolset: "file", Emoji: "🔎", About: about, Schema: lenient,
		Describe: func(*tool.Session, []string) *tool.Tool { return &tool.Tool{About: about, Schema: schema} },
		Needs:    []tool.Need{tool.Needs[backend.Provider]()},
		Effects: func(raw json.RawMessage) []tool.Effect {
			var in args
			if json.Unmarshal(raw, &in) != nil {
				return nil
			}
			if in.Path == "" {
				in.Path = "."
			}
			return files.ReadsBelow(in.Path)
		},
	}, run))
}

type args struct {
	Pattern string `json:"pattern"`
	Target  string `json:"target"`
	Path    string `json:"path"`
	Glob    string `json:"file_glob"`
	Limit   *int   `json:"limit"`
	Offset  int    `json:"offset"`
	Mode    string `json:"output_mode"`
	Context int    `json:"context"`
	Hidden  bool   `json:"include_hidden"`
}

type result struct {
	TotalCount int            `json:"total_count"`
	Matches    []match        `json:"matches,omitempty"`
	Files      []string       `json:"files,omitempty"`
	Counts     map[string]int `json:"counts,omitempty"`
	Truncated  bool           `json:"truncated,omitempty"`
	Hint       string         `json:"hint,omitempty"`
	Redacted   bool           `json:"redacted,omitempty"`
	Note       string         `json:"_note,omitempty"`
	Warning    string         `json:"_warning,omitempty"`
	Error      string         `json:"error,omitempty"`
	Similar    []string       `json:"similar_paths,omitempty"`
}

// match is a line; Context marks those that stand around a match.
type match struct {
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Content string `json:"content"`
	Context bool   `json:"context,omitempty"`
}

const (
	defaultLimit = 50
	maxContext   = 50
	timeLimit    = 60 * time.Second
	grace        = 2 * time.Second // to hand over what was found by the end of the time
)

func run(ctx context.Context, c *tool.Call, in args) (any, error) {
	v, err := files.Open(ctx, c.Session)
	if err != nil {
		return nil, err
	}
	in.complete()
	key, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	times := v.State.Repeat("search_files", string(key))
	if times > 3 {
		text := fmt.Sprintf("BLOCKED: this search has been run %d times in a row and nothing else was done since. Its result is above: use it, or search for something else.", times-1)
		return nil, tool.Fail(map[string]any{"error": text, "pattern": in.Pattern, "already_searched": times - 1}, text)
	}
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	res, err := within(ctx, func() (*result, error) { return search(ctx, v, in) })
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("the search took longer than %v: name a smaller path or a file_glob", timeLimit)
		}
		return nil, err
	}
	warnings := v.Notices
	if times == 3 {
		warnings = append(warnings, "this search has been run three times in a row with the same arguments; the next one will be refused")
	}
	if res.Warning != "" {
		warnings = append(warnings, res.Warning)
	}
	res.Warning = strings.Join(warnings, " | ")
	return res, nil
}

// within gives up on a search that does not come back some time after its
// end: it hangs in a directory that does not answer.
func within(ctx context.Context, search func() (*result, error)) (*result, error) {
	type answer struct {
		res *result
		err error
	}
	got := make(chan answer, 1)
	go func() {
		res, err := search()
		got <- answer{res, err}
	}()
	select {
	case a := <-got:
		return a.res, a.err
	case <-ctx.Done():
	}
	select {
	case a := <-got:
		return a.res, a.err
	case <-time.After(grace):
		return nil, ctx.Err()
	}
}

// complete fills in what is absent or cannot be meant.
func (in *args) complete() {
	switch in.Target {
	case "grep", "":
		in.Target = "content"
	case "find":
		in.Target = "files"
	}
	if in.Path == "" {
		in.Path = "."
	}
	if in.Limit == nil || *in.Limit < 1 {
		n := defaultLimit
		in.Limit = &n
	}
	in.Offset = max(in.Offset, 0)
	in.Context = min(max(in.Context, 0), maxContext)
	if in.Mode == "" {
		in.Mode = "content"
	}
}

func search(ctx context.Context, v *files.View, in args) (*result, error) {
	s := &searcher{View: v, in: in, need: in.Offset + *in.Limit + 1}
	if in.Target == "files" {
		return s.names(ctx)
	}
	return s.content(ctx)
}

// searcher is one search on its way.
type searcher struct {
	*files.View
	in   args
	need int // results after which nothing more is looked for
	root files.Path
	info fs.FileInfo
	tree *tree
	glob *glob // of the files; nil: all
	cut  bool  // the time was up before the end
}

// start finds the place to search.
func (s *searcher) start(ctx context.Context, path string) error {
	p, err := s.Resolve(ctx, path)
	if err != nil {
		return err
	}
	if s.info, err = s.FS.Stat(ctx, p.Real); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", path, err)
		}
		res := result{Error: "Path not found: " + p.Given, Similar: s.Similar(ctx, p)}
		return tool.Fail(res, res.Error)
	}
	s.root = p
	s.tree = &tree{fs: s.FS, root: p.Real, hidden: s.in.Hidden, join: s.Join}
	return nil
}

// shown is how a file below the root is named in a result: as the model would
// name it.
func (s *searcher) shown(rel string) string {
	if rel == "" {
		return s.root.Given
	}
	return s.Join(s.root.Given, rel)
}

// page cuts a list to what was asked for and says whether there is more.
func page[T any](s *searcher, all []T) (part []T, more bool) {
	part = all[min(s.in.Offset, len(all)):]
	if len(part) > *s.in.Limit {
		return part[:*s.in.Limit], true
	}
	return part, false
}

// finish says what the model can do next.
func (s *searcher) finish(res *result, more bool, found int) {
	res.Note = s.root.Note
	switch {
	case more:
		res.Truncated = true
		res.Hint = fmt.Sprintf("Results truncated. Use offset=%d to see more, or narrow with a more specific pattern or file_glob", s.in.Offset+*s.in.Limit)
	case s.cut:
	case found == 0 && s.in.Offset > 0:
		res.Hint = fmt.Sprintf("there are no results from offset %d on", s.in.Offset)
	case found == 0 && !s.in.Hidden:
		res.Hint = "nothing found; hidden files (see include_hidden) and those that .gitignore or .ignore names were not searched"
	case found == 0:
		res.Hint = "nothing found; files that .gitignore or .ignore names were not searched"
	}
	var w []string
	if s.cut {
		res.Truncated = true
		w = append(w, "the search was stopped at its time limit and this is only what it had found: name a smaller path or a file_glob")
	}
	if s.tree.kernel.Load() > 0 {
		w = append(w, "what the kernel makes up (/proc, /sys, /dev) was not searched: name a single file there")
	}
	if n := s.tree.unreadable.Load(); n > 0 {
		w = append(w, fmt.Sprintf("%d files or directories could not be read", n))
	}
	if n := s.tree.large.Load(); n > 0 {
		w = append(w, fmt.Sprintf("%d files larger than %d MB were not searched: use grep in the terminal for them", n, maxFile>>20))
	}
	if res.Redacted {
		w = append(w, files.MaskedNote)
	}
	res.Warning = strings.Join(w, " | ")
}
