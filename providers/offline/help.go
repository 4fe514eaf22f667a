package offline

import (
	"strconv"
	"strings"

	"github.com/hermes-go/hermes/tool"
)

// help says what the offline model is and what it can do with the tools that
// it is offered.
func help(offered []tool.Definition) string {
	lines := []string{"This is the offline model: it runs inside the binary, needs no key and no network, and understands only a few phrases."}
	can := func(phrase string, tools ...string) {
		for _, t := range tools {
			if find(offered, t) != nil {
				lines = append(lines, "- "+phrase)
				return
			}
		}
	}
	if len(offered) == 0 {
		lines = append(lines, "No tool is offered in this session, so it can do nothing but say so.")
	} else {
		lines = append(lines, "It makes real tool calls and quotes their results. Say for example:")
	}
	can("read FILE", "read_file")
	can("list DIR", "read_file", "search_files", "terminal")
	can("search for TEXT in DIR", "search_files")
	can("write TEXT to FILE", "write_file")
	can("run COMMAND", "terminal")
	can("plan: ONE; TWO; THREE", "todo")
	can("remember FACT", "memory")
	can("ask me QUESTION: ONE | TWO", "clarify")
	can("use the NAME skill to TASK", "skill_view")
	if len(offered) > 0 {
		lines = append(lines, "- use the NAME tool with KEY=VALUE ... (offered: "+some(namesOf(offered))+")")
	}
	lines = append(lines, "- what do you remember?")
	if len(offered) > 0 {
		lines = append(lines, `Phrases are joined by " then ", or by " and at the same time ".`)
	}
	lines = append(lines, `For real answers choose a model: hermes setup.`)
	return strings.Join(lines, "\n")
}

// Titles of the memory blocks in a system prompt, each between two lines of
// box characters.
var memoryTitles = [...]string{"MEMORY (", "USER PROFILE ("}

const rule = "\u2550\u2550\u2550"

// remembered quotes the memory that the system prompt holds.
func remembered(system string) string {
	var blocks []string
	lines := strings.Split(system, "\n")
	for i := 1; i+1 < len(lines); i++ {
		for _, title := range memoryTitles {
			if strings.HasPrefix(lines[i], title) && strings.HasPrefix(lines[i-1], rule) && strings.HasPrefix(lines[i+1], rule) {
				if entries := block(lines[i], strings.Join(lines[i+2:], "\n")); entries != "" {
					blocks = append(blocks, lines[i]+"\n"+entries)
				}
			}
		}
	}
	if len(blocks) == 0 {
		return "Nothing: the system prompt of this session holds no memory. What is remembered now is seen in the next session."
	}
	return "When this session began, memory held:\n\n" + strings.Join(blocks, "\n\n")
}

// block takes the entries of one memory block. Its title says how many
// characters they have; where that does not fit (an entry was left out), the
// block ends at the first blank line after its last separator.
func block(title, text string) string {
	if end := strings.Index(text, "\n"+rule); end >= 0 {
		text = text[:end]
	}
	if n := used(title); n > 0 {
		runes := []rune(text)
		if n <= len(runes) {
			rest := string(runes[n:])
			if strings.TrimSpace(rest) == "" || strings.HasPrefix(rest, "\n\n") {
				return strings.TrimSpace(string(runes[:n]))
			}
		}
	}
	from := strings.LastIndex(text, "\n\u00a7\n") + 1
	if end := strings.Index(text[from:], "\n\n"); end >= 0 {
		text = text[:from+end]
	}
	return strings.TrimSpace(text)
}

// used reads the 264 of "MEMORY (your personal notes) [12% — 264/2200 chars]".
func used(title string) int {
	part, _, ok := strings.Cut(title, "/")
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(part[strings.LastIndexByte(part, ' ')+1:])
	if err != nil {
		return 0
	}
	return n
}
