package offline

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hermes-go/hermes/tool"
)

// call is a tool call to make, without an id.
type call struct {
	name string
	args map[string]any
}

// callFor turns a wish into a call of an offered tool, or says why there is
// none.
func callFor(w wish, offered []tool.Definition) (call, string) {
	switch w.kind {
	case useTool:
		name, ok := tool.Repair(w.what, namesOf(offered))
		if !ok {
			return call{}, notOffered(w.what, offered)
		}
		return call{name, fill(find(offered, name).Function.Parameters, w.rest)}, ""
	case useSkill:
		return need(offered, "skill_view", map[string]any{"name": w.what})
	case readFile:
		return need(offered, "read_file", map[string]any{"path": w.what})
	case listDir:
		return list(w.what, offered)
	case runCmd:
		return need(offered, "terminal", map[string]any{"command": w.rest})
	case search:
		args := map[string]any{"pattern": w.what}
		if w.rest != "" {
			args["path"] = w.rest
		}
		return need(offered, "search_files", args)
	case write:
		return need(offered, "write_file", map[string]any{"path": w.what, "content": w.rest})
	case remember:
		return need(offered, "memory", map[string]any{"action": "add", "target": aboutWhom(w.rest), "content": w.rest})
	case plan:
		return need(offered, "todo", map[string]any{"todos": items(w.rest)})
	case askMe:
		return need(offered, "clarify", question(w.rest))
	}
	return call{}, "" // recall needs no tool
}

// list has three ways; read_file shows a directory as it is.
func list(dir string, offered []tool.Definition) (call, string) {
	switch {
	case find(offered, "read_file") != nil:
	case find(offered, "search_files") != nil:
		return call{"search_files", map[string]any{"pattern": "*", "target": "files", "path": dir}}, ""
	case find(offered, "terminal") != nil:
		return call{"terminal", map[string]any{"command": "ls -1 -- " + shellQuote(dir)}}, ""
	}
	return need(offered, "read_file", map[string]any{"path": dir})
}

func need(offered []tool.Definition, name string, args map[string]any) (call, string) {
	if find(offered, name) == nil {
		return call{}, notOffered(name, offered)
	}
	return call{name, args}, ""
}

func find(offered []tool.Definition, name string) *tool.Definition {
	for i := range offered {
		if offered[i].Function.Name == name {
			return &offered[i]
		}
	}
	return nil
}

func namesOf(offered []tool.Definition) []string {
	names := make([]string, len(offered))
	for i, d := range offered {
		names[i] = d.Function.Name
	}
	return names
}

func notOffered(name string, offered []tool.Definition) string {
	names := namesOf(offered)
	text := fmt.Sprintf("The tool %s is not offered in this session, so nothing was called.", name)
	if near := tool.Nearest(name, names, 3); len(near) > 0 {
		return text + " Nearest: " + strings.Join(near, ", ") + "."
	}
	return text + " Offered: " + some(names) + "."
}

// some lists names, the first dozen of many.
func some(names []string) string {
	const most = 12
	switch n := len(names); {
	case n == 0:
		return "none"
	case n > most:
		return strings.Join(names[:most], ", ") + " and " + strconv.Itoa(n-most) + " more"
	}
	return strings.Join(names, ", ")
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// aboutWhom picks the memory file: what a person says of themselves is about
// the user.
func aboutWhom(fact string) string {
	word, _, _ := strings.Cut(strings.ToLower(fact), " ")
	switch word {
	case "i", "i'm", "i’m", "i've", "i’ve", "my", "me":
		return "user"
	}
	return "memory"
}

func items(text string) []any {
	list := []any{}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ';' || r == '\n' }) {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, map[string]any{"id": strconv.Itoa(len(list) + 1), "content": part, "status": "pending"})
		}
	}
	return list
}

// question splits "which one: a | b | c" into the question and its choices.
func question(text string) map[string]any {
	q, rest, ok := cutLast(text, ':')
	if !ok {
		return map[string]any{"question": unquote(text)}
	}
	sep := "|"
	if !strings.Contains(rest, sep) {
		sep = ","
		if i := strings.LastIndex(rest, " or "); i >= 0 {
			rest = rest[:i] + "," + rest[i+len(" or "):]
		}
	}
	choices := []any{}
	for c := range strings.SplitSeq(strings.TrimRight(rest, "?. "), sep) {
		if c = unquote(c); c != "" {
			choices = append(choices, c)
		}
	}
	if len(choices) < 2 {
		return map[string]any{"question": unquote(text)}
	}
	return map[string]any{"question": unquote(q), "choices": choices}
}

func cutLast(s string, sep byte) (before, behind string, ok bool) {
	i := strings.LastIndexByte(s, sep)
	if i < 0 {
		return s, "", false
	}
	return strings.TrimSpace(s[:i]), strings.TrimSpace(s[i+1:]), true
}
