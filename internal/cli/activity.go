package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/cells"
)

// activities are the tool calls of a turn as a person follows them.
type activities struct {
	emoji   func(tool string) string
	running []call
	last    string // the tool shown last
}

type call struct {
	id, name, what string
	args           json.RawMessage
	since          time.Time
	progress       string
}

func (a *activities) start(e agent.ToolStart) {
	a.running = append(a.running, call{id: e.ID, name: e.Name, what: doing(e.Name, e.Args), args: e.Args, since: time.Now()})
}

func (a *activities) progress(e agent.ToolProgress) {
	for i := range a.running {
		if a.running[i].id == e.ID {
			a.running[i].progress = oneLine(e.Update.Text, 100)
		}
	}
}

// end takes a call off the running ones. One that never began is made up.
func (a *activities) end(e agent.ToolEnd) call {
	for i, c := range a.running {
		if c.id == e.ID {
			a.running = append(a.running[:i:i], a.running[i+1:]...)
			return c
		}
	}
	return call{id: e.ID, name: e.Name, what: e.Name}
}

// line is a call in one line: ┊ emoji verb preview duration.
func (a *activities) line(c call, took time.Duration, width int) string {
	lead := "┊ "
	if a.emoji != nil {
		if mark := a.emoji(c.name); mark != "" {
			lead += mark + " "
		}
	}
	tail := "  " + duration(took)
	return lead + cells.Cut(cells.Clean(c.what), max(width-cells.Width(lead)-cells.Width(tail)-1, 10)) + tail
}

// doing says in one line what a call does.
func doing(name string, args json.RawMessage) string {
	line := callLine(name, args)
	_, what, _ := strings.Cut(line, " ")
	verb := name
	switch name {
	case "terminal":
		verb = "$"
	case "read_file":
		verb = "read"
	case "write_file":
		verb = "write"
	case "search_files":
		verb = "search"
	}
	return strings.TrimSpace(verb + " " + what)
}

// duration is short: what a person wants to know of it.
func duration(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// mostDiff is how many lines of a change are shown.
const mostDiff = 24

// diffLines are the changes a call made to files, where its result tells them.
func diffLines(result []byte, color bool) []string {
	var r struct {
		Diff string `json:"diff"`
	}
	if json.Unmarshal(result, &r) != nil || r.Diff == "" {
		return nil
	}
	var out []string
	for line := range strings.Lines(r.Diff) {
		line = cells.Clean(strings.TrimRight(line, "\r\n"))
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
			continue
		case strings.HasPrefix(line, "+"):
			line = paint(color, green, line)
		case strings.HasPrefix(line, "-"):
			line = paint(color, red, line)
		default:
			line = paint(color, dim, line)
		}
		out = append(out, paint(color, dim, "┊ ")+line)
	}
	if more := len(out) - mostDiff; more > 0 {
		out = append(out[:mostDiff], paint(color, dim, fmt.Sprintf("┊ … %d more lines", more)))
	}
	return out
}
