package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Spiller is the service that keeps results too long for a conversation. The
// file it makes must be readable by read_file in the same session.
type Spiller interface {
	Spill(ctx context.Context, s *Session, callID string, content []byte) (path string, err error)
}

const (
	previewChars = 1500
	persistedTag = "<persisted-output>"
)

// Limit is middleware that replaces a result longer than its tool allows by a
// preview and the path of a file that holds all of it. Calls made by other
// tools are left alone: their caller handles the size.
func Limit(r *Registry) func(Handler) Handler {
	return func(next Handler) Handler {
		return func(ctx context.Context, c *Call) (any, error) {
			v, err := next(ctx, c)
			if err != nil || c.Parent != nil {
				return v, err
			}
			t, _ := r.Lookup(c.Name)
			most := t.MaxChars
			if most == 0 {
				most = DefaultMaxChars
			}
			out, isOutput := v.(Output)
			if !isOutput {
				out.Value = v
			}
			raw, _ := out.Value.(json.RawMessage)
			if most < 0 || len(raw) <= most || utf8.RuneCount(raw) <= most {
				return v, nil
			}
			out.Value = Persist(ctx, c.Session, c.ID, raw)
			if isOutput {
				return out, nil
			}
			return out.Value, nil
		}
	}
}

// Persist saves a result through the session's Spiller and returns what takes
// its place. Without one, the place says that the rest is lost.
func Persist(ctx context.Context, s *Session, callID string, result json.RawMessage) json.RawMessage {
	text := readable(result)
	n := utf8.RuneCountInString(text)
	preview, cut := previewOf(text)
	var b strings.Builder
	if path, err := spill(ctx, s, callID, text); err != nil {
		fmt.Fprintf(&b, "%s\n\n[Truncated: tool response was %s chars. Full output could not be saved: %v]", preview, thousands(n), err)
	} else {
		fmt.Fprintf(&b, "%s\nThis result was %s characters (%s), too long to show here.\nFull output saved to: %s\nUse read_file with offset and limit to read the part you need.\n\nPreview (first %d chars):\n%s",
			persistedTag, thousands(n), size(len(text)), path, previewChars, preview)
		if cut {
			b.WriteString("\n...")
		}
		b.WriteString("\n</persisted-output>")
	}
	out, err := encodeResult(map[string]string{"result": strings.ToValidUTF8(b.String(), "\uFFFD")})
	if err != nil {
		return json.RawMessage(`{"error":"the result was too long and could not be shortened"}`)
	}
	return out
}

// Persisted reports whether a result has been replaced by Persist already.
func Persisted(result []byte) bool { return bytes.Contains(result, []byte(persistedTag)) }

func spill(ctx context.Context, s *Session, callID, text string) (string, error) {
	sp, err := Use[Spiller](s.Services)
	if err != nil {
		return "", err
	}
	return sp.Spill(ctx, s, callID, []byte(text))
}

// readable turns a result into text with real line breaks, so that it can be
// paged by line: the text itself when the result is little else than one long
// text, else indented JSON.
func readable(result json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(result, &fields) == nil {
		longest, key := 0, ""
		for k, v := range fields {
			if len(v) > longest && v[0] == '"' {
				longest, key = len(v), k
			}
		}
		var text string
		if longest*10 > len(result)*8 && json.Unmarshal(fields[key], &text) == nil {
			delete(fields, key)
			if rest, err := marshal(fields); err == nil && len(fields) > 0 {
				text += "\n\n[other fields of the result: " + string(rest) + "]\n"
			}
			return text
		}
	}
	var b bytes.Buffer
	if json.Indent(&b, result, "", " ") != nil {
		return string(result)
	}
	return b.String()
}

// previewOf cuts at the last line break when that keeps at least half.
func previewOf(text string) (preview string, cut bool) {
	end := len(text)
	n := 0
	for i := range text {
		if n == previewChars {
			end = i
			break
		}
		n++
	}
	preview = text[:end]
	if end == len(text) {
		return preview, false
	}
	if i := strings.LastIndexByte(preview, '\n'); i > len(preview)/2 {
		preview = preview[:i]
	}
	return preview, true
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func size(bytes int) string {
	kb := float64(bytes) / 1024
	if kb >= 1024 {
		return fmt.Sprintf("%.1f MB", kb/1024)
	}
	return fmt.Sprintf("%.1f KB", kb)
}
