package offline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// How much of a result is quoted.
const (
	quoteLines = 20
	quoteChars = 1200
)

// mainFields are where tools put what a person wants to read, best first.
var mainFields = [...]string{"content", "output", "result", "answer", "user_response", "text", "summary", "message", "_hint"}

// quote tells of one result: its error, its main text, or its JSON.
func quote(name, result string) string {
	if result == "" {
		return fmt.Sprintf("%s gave no result.", name)
	}
	var m map[string]json.RawMessage
	if json.Unmarshal([]byte(result), &m) != nil {
		return says(name, textOf(json.RawMessage(result)))
	}
	if e := textOf(m["error"]); e != "" && e != "null" && e != "false" {
		text := fmt.Sprintf("%s failed: %s", name, short(e, quoteLines, quoteChars))
		if out := textOf(m["output"]); strings.TrimSpace(out) != "" {
			text += "\n" + short(out, quoteLines, quoteChars)
		}
		return text
	}
	if text, ok := listed(name, m); ok {
		return text
	}
	found := false
	for _, f := range mainFields {
		var text string
		if m[f] == nil || json.Unmarshal(m[f], &text) != nil {
			continue
		}
		if found = true; strings.TrimSpace(text) != "" {
			return says(name+exit(m), text)
		}
	}
	if found {
		return says(name+exit(m), "")
	}
	return says(name, compact(result))
}

func says(name, text string) string {
	if strings.TrimSpace(text) == "" {
		return name + " gave an empty result."
	}
	text = strings.TrimRight(text, "\n")
	if !strings.Contains(text, "\n") && utf8.RuneCountInString(text) <= 200 {
		return fmt.Sprintf("%s says: %s", name, strings.TrimSpace(text))
	}
	return fmt.Sprintf("%s says:\n%s", name, short(text, quoteLines, quoteChars))
}

// exit names a command's exit code when it is not 0.
func exit(m map[string]json.RawMessage) string {
	if code := string(m["exit_code"]); code != "" && code != "0" && code != "null" {
		return " (exit code " + code + ")"
	}
	return ""
}

// listed tells of the results that are lists: todo items and search hits.
func listed(name string, m map[string]json.RawMessage) (string, bool) {
	var lines []string
	var todos []struct{ ID, Content, Status string }
	var matches []struct {
		Path    string
		Line    int
		Content string
	}
	var files []string
	switch {
	case m["todos"] != nil && json.Unmarshal(m["todos"], &todos) == nil:
		for _, t := range todos {
			lines = append(lines, fmt.Sprintf("%s. %s (%s)", t.ID, t.Content, t.Status))
		}
	case m["matches"] != nil && json.Unmarshal(m["matches"], &matches) == nil:
		for _, h := range matches {
			lines = append(lines, fmt.Sprintf("%s:%d: %s", h.Path, h.Line, h.Content))
		}
	case m["files"] != nil && json.Unmarshal(m["files"], &files) == nil:
		lines = files
	default:
		return "", false
	}
	if len(lines) == 0 {
		return name + " found nothing.", true
	}
	return fmt.Sprintf("%s says:\n%s", name, short(strings.Join(lines, "\n"), quoteLines, quoteChars)), true
}

// textOf is a JSON text's value, or any other JSON as it stands.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func compact(s string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(s)) != nil {
		return s
	}
	return b.String()
}

// short cuts a text and says how much is missing.
func short(s string, lines, chars int) string {
	s = strings.TrimRight(s, "\n")
	kept, n := s, 0
	for i := range s {
		if n == chars {
			kept = s[:i]
			break
		}
		n++
	}
	if all := strings.SplitAfterN(kept, "\n", lines+1); len(all) > lines {
		kept = strings.Join(all[:lines], "")
	}
	if left := utf8.RuneCountInString(s[len(kept):]); left > 0 {
		return strings.TrimRight(kept, "\n") + fmt.Sprintf(" ... (%d more characters)", left)
	}
	return kept
}
