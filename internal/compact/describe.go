package compact

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hermes-go/hermes/chat"
)

// describe says in one line what a call did.
func describe(c chat.ToolCall, result string) string {
	args, out := members(c.Function.Arguments), members(result)
	name := c.Function.Name
	did := name
	switch name {
	case "terminal":
		did = "ran `" + oneLine(args.text("command"), 120) + "`"
	case "read_file":
		did = "read " + oneLine(args.text("path"), 120)
		if from := args.text("offset"); from != "" {
			did += " from line " + from
		}
	case "write_file":
		did = fmt.Sprintf("wrote %s (%s)", oneLine(args.text("path"), 120), count(args.lines("content"), "line"))
	case "patch":
		did = "patched " + or(oneLine(args.text("path"), 120), "files by a patch")
	case "search_files":
		did = fmt.Sprintf("searched for %q in %s", oneLine(args.text("pattern"), 60), or(oneLine(args.text("path"), 120), "."))
	default:
		for _, key := range []string{"action", "path", "query", "name", "goal", "question", "url", "id"} {
			if v := args.text(key); v != "" {
				did += " " + key + "=" + oneLine(v, 60)
			}
		}
	}
	return fmt.Sprintf("[%s] %s -> %s", name, did, outcome(out, result))
}

func outcome(out object, result string) string {
	var parts []string
	if e := out.text("error"); e != "" {
		parts = append(parts, "error: "+oneLine(e, 120))
	}
	if code := out.text("exit_code"); code != "" {
		parts = append(parts, "exit "+code)
	}
	for _, key := range []string{"total_count", "total_lines", "bytes_written", "session_id", "pid", "id", "success"} {
		if v := out.text(key); v != "" {
			parts = append(parts, key+" "+oneLine(v, 60))
		}
	}
	for _, key := range []string{"output", "content", "result"} {
		if n := out.lines(key); n > 0 {
			return strings.Join(append(parts, count(n, "line")+" output"), ", ")
		}
	}
	if len(parts) == 0 {
		return fmt.Sprintf("done, %d chars", len(result))
	}
	return strings.Join(parts, ", ")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// oneLine joins text into one line of at most n characters.
func oneLine(s string, n int) string {
	if len(s) > 8*n {
		s = strings.ToValidUTF8(s[:8*n], "") // no need to look at all of a long one
	}
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
