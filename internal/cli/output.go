package cli

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/hermes-go/hermes/internal/agent"
)

// printJSON writes one value as one line.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// exitOf is the exit code for how a turn ended.
func exitOf(s agent.Status) int {
	switch s {
	case agent.OK:
		return exitOK
	case agent.Interrupted:
		return exitInterrupted
	default:
		return exitFailed
	}
}

// callLine tells a person in one line what a call does.
func callLine(name string, args json.RawMessage) string {
	var fields map[string]any
	if json.Unmarshal(args, &fields) != nil {
		return name
	}
	for _, key := range []string{"command", "path", "pattern", "question", "query", "name", "goal", "action", "patch"} {
		if text, ok := fields[key].(string); ok && text != "" {
			return name + " " + oneLine(text, 100)
		}
	}
	return name
}

// oneLine cuts text to its first line and at most n characters.
func oneLine(text string, n int) string {
	text = strings.TrimSpace(text)
	line, _, cut := strings.Cut(text, "\n")
	r := []rune(strings.TrimSpace(line))
	if len(r) > n {
		return string(r[:n-1]) + "…"
	}
	if cut {
		return string(r) + " …"
	}
	return string(r)
}
