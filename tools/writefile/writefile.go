// Package writefile is the tool with which a model writes whole files. Which
// files it may write and how bytes get to their place is internal/files.
package writefile

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/edit"
	"github.com/hermes-go/hermes/internal/files"
	"github.com/hermes-go/hermes/internal/lint"
	"github.com/hermes-go/hermes/tool"
)

//go:embed writefile.md
var about string

var schema = json.RawMessage(`{
"type": "object",
"properties": {
 "path": {"type": "string", "description": "The file: absolute, relative to the terminal's working directory, or ~/path."},
 "content": {"type": "string", "description": "Everything that the file will hold."}
},
"required": ["path", "content"]
}`)

func init() {
	tool.Register(tool.Func(tool.Tool{
		Name: "write_file", Toolset: "file", Emoji: "✍️", About: about, Schema: schema,
		Needs: []tool.Need{tool.Needs[backend.Provider]()},
		Effects: func(raw json.RawMessage) []tool.Effect {
			var in args
			if json.Unmarshal(raw, &in) != nil {
				return nil
			}
			return files.Writes(in.Path)
		},
	}, run))
}

type args struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

type result struct {
	BytesWritten int          `json:"bytes_written"`
	DirsCreated  bool         `json:"dirs_created"`
	Created      bool         `json:"created,omitempty"`
	Unchanged    bool         `json:"unchanged,omitempty"`
	BytesBefore  *int         `json:"bytes_before,omitempty"`
	Encoding     string       `json:"encoding,omitempty"`     // when it is not plain UTF-8
	LineEnds     string       `json:"line_endings,omitempty"` // when they were kept as they are
	Lint         *lint.Result `json:"lint,omitempty"`
	Note         string       `json:"_note,omitempty"`
	Warning      string       `json:"_warning,omitempty"`
}

func run(ctx context.Context, c *tool.Call, in args) (any, error) {
	v, err := files.Open(ctx, c.Session)
	if err != nil {
		return nil, err
	}
	v.Why = "before " + c.Name
	v.State.Other()
	if err := accept(in.Content); err != nil {
		return nil, err
	}
	p, err := v.Resolve(ctx, in.Path)
	if err != nil {
		return nil, err
	}
	if err := v.MayWrite(p); err != nil {
		return nil, err
	}
	unlock, err := v.Lock(ctx, p.Real)
	if err != nil {
		return nil, err
	}
	defer unlock()
	old, err := v.Read(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := v.MaskLoss(old, in.Content); err != nil {
		return nil, err
	}
	warnings := v.Notices
	if old.Exists {
		warnings = append(warnings, v.Stale(p, old.Print, true)...)
	}
	text, ends := like(old, in.Content)
	saved, err := v.Save(ctx, old, text, 0)
	if err != nil {
		return nil, advise(err)
	}
	v.Wrote(p.Real, saved.Print, true)
	res := result{
		BytesWritten: saved.Bytes, DirsCreated: saved.Dirs, Created: !old.Exists, Unchanged: saved.Unchanged,
		LineEnds: ends, Note: p.Note, Lint: v.Lint(ctx, old, text.Content),
	}
	if old.Exists {
		n := len(old.Data)
		res.BytesBefore = &n
	}
	if text.Encoding != "" && text.Encoding != "utf-8" || text.BOM {
		res.Encoding = text.Encoding
		if text.BOM {
			res.Encoding += " with byte order mark"
		}
	}
	if saved.Unchanged {
		warnings = append(v.Notices, "the file held exactly this already; nothing was written")
	}
	if old.Exists && old.Opaque != nil {
		warnings = append(warnings, "a binary file was replaced by text")
	}
	res.Warning = strings.Join(warnings, " | ")
	return res, nil
}

// like gives new content the form of the file it replaces: encoding, byte
// order mark and, where the content has only LF, CRLF line ends.
func like(old *files.Current, content string) (text edit.Text, ends string) {
	content = strings.TrimPrefix(content, "\uFEFF")
	if !old.Exists || old.Opaque != nil {
		return edit.Text{Content: content}, ""
	}
	was := old.Text.Content
	if n := strings.Count(was, "\r\n"); n > 0 && n == strings.Count(was, "\n") && !strings.Contains(content, "\r") {
		content, ends = strings.ReplaceAll(content, "\n", "\r\n"), "crlf"
	}
	text = old.Text
	text.Content = content
	return text, ends
}

// accept refuses content that is the output of a tool and not a file.
func accept(content string) error {
	if strings.Contains(content, files.Unchanged) && len(content) <= 2*len(files.Unchanged)+200 {
		return errors.New("content is the message by which read_file says that a file has not changed, not the file: write the real content")
	}
	if n := numberedLines(content); n > 0 {
		return fmt.Errorf("content carries the line numbers of read_file (%d lines begin with a number and |): send the text without them; nothing was written", n)
	}
	return nil
}

// numberedLines counts the lines of a content that is made of read_file's
// numbered lines from beginning to end, and is 0 for any other.
func numberedLines(content string) int {
	n, last := 0, -1
	for line := range strings.SplitSeq(strings.TrimRight(content, "\n"), "\n") {
		num, ok := lineNumber(line)
		if !ok || last >= 0 && num != last+1 {
			return 0
		}
		last = num
		n++
	}
	return n
}

// lineNumber reads the right-aligned number before the |.
func lineNumber(line string) (int, bool) {
	head, _, found := strings.Cut(line, "|")
	if !found || len(head) < 6 || len(head) > 9 {
		return 0, false
	}
	digits := strings.TrimLeft(head, " ")
	if digits == "" || len(head) > 6 && len(digits) < len(head) {
		return 0, false
	}
	num := 0
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		num = num*10 + int(c-'0')
	}
	return num, true
}

// advise says how to go on when a character does not fit into the file.
func advise(err error) error {
	var bad *edit.CharError
	if errors.As(err, &bad) && bad.Char != '\uFFFD' {
		return fmt.Errorf("%w; nothing was written: write that character in another way, or remove the file first to write it as UTF-8", err)
	}
	return err
}
