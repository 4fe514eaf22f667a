// Package readfile is the tool with which a model reads files and lists
// directories. Which files it may read and what the task remembers of them is
// internal/files; what bytes mean is internal/edit.
package readfile

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/files"
	"github.com/hermes-go/hermes/tool"
)

//go:embed readfile.md
var about string

var schema = json.RawMessage(`{
"type": "object",
"properties": {
 "path": {"type": "string", "description": "The file or directory: absolute, relative to the terminal's working directory, or ~/path."},
 "offset": {"type": "integer", "description": "The line to start at, from 1.", "default": 1, "minimum": 1},
 "limit": {"type": "integer", "description": "The most lines to return.", "default": 500, "maximum": 2000},
 "encoding": {"type": "string", "description": "Read the bytes in this encoding, e.g. gb18030, shift_jis, big5, windows-1252. Only needed when the recognised one is wrong."}
},
"required": ["path"]
}`)

// lenient is the schema that calls are judged by: numbers out of range are
// brought into it instead of being refused.
var lenient = json.RawMessage(strings.NewReplacer(`, "minimum": 1`, "", `, "maximum": 2000`, "").Replace(string(schema)))

func init() {
	tool.Register(tool.Func(tool.Tool{
		Name: "read_file", Toolset: "file", Emoji: "📖", About: about, Schema: lenient,
		Describe: func(*tool.Session, []string) *tool.Tool { return &tool.Tool{About: about, Schema: schema} },
		Needs:    []tool.Need{tool.Needs[backend.Provider]()},
		MaxChars: -1, // a spilled result would be read by this very tool
		Effects: func(raw json.RawMessage) []tool.Effect {
			var in args
			if json.Unmarshal(raw, &in) != nil {
				return nil
			}
			return files.Reads(in.Path)
		},
		// Asked when a conversation is about to lose its older results: what
		// was read then has to be sent again when asked for.
		Carry: func(s *tool.Session) string { files.Forget(s); return "" },
	}, run))
}

type args struct {
	Path     string `json:"path"`
	Offset   *int   `json:"offset"`
	Limit    *int   `json:"limit"`
	Encoding string `json:"encoding"`
}

const defaultLimit = 500

// result has the original's fields; the ones below is_image are left out when
// they say nothing.
type result struct {
	Content    string `json:"content"`
	TotalLines int    `json:"total_lines"`
	FileSize   int64  `json:"file_size"`
	Truncated  bool   `json:"truncated"`
	IsBinary   bool   `json:"is_binary"`
	IsImage    bool   `json:"is_image"`

	IsDirectory  bool     `json:"is_directory,omitempty"`
	MIME         string   `json:"mime,omitempty"`
	Width        int      `json:"width,omitempty"`
	Height       int      `json:"height,omitempty"`
	Encoding     string   `json:"encoding,omitempty"` // when it is not plain UTF-8
	Guessed      bool     `json:"encoding_guessed,omitempty"`
	LineEnds     string   `json:"line_endings,omitempty"` // when they are not LF
	Hint         string   `json:"hint,omitempty"`
	Redacted     bool     `json:"redacted,omitempty"`
	Note         string   `json:"_note,omitempty"`
	Warning      string   `json:"_warning,omitempty"`
	Advice       string   `json:"_hint,omitempty"`
	Error        string   `json:"error,omitempty"`
	SimilarFiles []string `json:"similar_files,omitempty"`
}

func run(ctx context.Context, c *tool.Call, in args) (any, error) {
	v, err := files.Open(ctx, c.Session)
	if err != nil {
		return nil, err
	}
	r := request{View: v, offset: 1, limit: defaultLimit, encoding: strings.TrimSpace(in.Encoding)}
	if in.Offset != nil {
		r.offset = max(1, *in.Offset)
	}
	if in.Limit != nil {
		r.limit = min(max(1, *in.Limit), v.MaxLines)
	}
	if r.path, err = v.Resolve(ctx, in.Path); err != nil {
		return nil, err
	}
	if err := v.MayRead(r.path); err != nil {
		return nil, err
	}
	f, err := v.FS.Open(ctx, r.path.Real)
	if err != nil {
		return nil, r.cannotOpen(ctx, err)
	}
	defer func() { _ = f.Close() }() // opened for reading
	info, err := f.Stat()
	if err != nil {
		return nil, r.cannotOpen(ctx, err)
	}
	if info.IsDir() {
		return r.list(ctx)
	}
	return r.read(ctx, f, info)
}

// request is one call on its way.
type request struct {
	*files.View
	path          files.Path
	offset, limit int
	encoding      string // stated in this call or, for this file, in an earlier one
}

func (r *request) cannotOpen(ctx context.Context, err error) error {
	switch p := r.path; {
	case errors.Is(err, fs.ErrNotExist):
		res := result{Error: "File not found: " + p.Given, SimilarFiles: r.Similar(ctx, p)}
		switch dir := r.NoParent(ctx, p); {
		case dir != "":
			res.Advice = "the directory " + dir + " does not exist either"
		case len(res.SimilarFiles) > 0:
			res.Advice = "similar_files names what lies beside it"
		default:
			res.Advice = "find it with search_files and target=files"
		}
		return tool.Fail(res, res.Error)
	case errors.Is(err, backend.ErrIrregular):
		return fmt.Errorf("%s is a device, a pipe or a socket: it has no content to read", p.Given)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: permission denied: check the owner and mode with `ls -l` in the terminal", p.Given)
	default:
		return fmt.Errorf("read %s: %w", p.Given, err)
	}
}

// fail answers with the original's fields and a reason.
func fail(res result, format string, args ...any) error {
	res.Error = fmt.Sprintf(format, args...)
	return tool.Fail(res, res.Error)
}

// repeated answers a call for content that the model has already. nil: show it.
func (r *request) repeated(p files.Print) (any, error) {
	region := r.region()
	call := fmt.Sprintf("%s\x00%d\x00%d\x00%s", region.Path, region.Offset, region.Limit, region.Encoding)
	if n := r.State.Repeat("read_file", call); n > 3 {
		return nil, r.blocked(n - 1)
	}
	switch n := r.State.Known(region, p); n {
	case 0:
		return nil, nil
	case 1:
		return map[string]any{
			"status": "unchanged", "path": r.path.Given, "dedup": true, "content_returned": false,
			"message": files.Unchanged + " Use what you read then.",
		}, nil
	default:
		return nil, r.blocked(n)
	}
}

func (r *request) blocked(before int) error {
	text := fmt.Sprintf("BLOCKED: this part of %s has been read %d times in a row and nothing else was done since. Its content is in an earlier result: go on with it, or read another part.", r.path.Given, before)
	return tool.Fail(map[string]any{"error": text, "path": r.path.Given, "already_read": before}, text)
}

func (r *request) region() files.Region {
	return files.Region{Path: r.path.Real, Offset: r.offset, Limit: r.limit, Encoding: r.encoding}
}
