package offline

import (
	"strconv"
	"strings"
)

// kind is what a phrase asks for.
type kind string

const (
	useTool  kind = "use a tool"
	useSkill kind = "use a skill"
	readFile kind = "read"
	listDir  kind = "list"
	runCmd   kind = "run"
	search   kind = "search"
	write    kind = "write"
	remember kind = "remember"
	recall   kind = "recall"
	plan     kind = "plan"
	askMe    kind = "ask"
)

// wish is one phrase: what is asked for, of what (a tool, a skill, a file, a
// text) and the rest.
type wish struct {
	kind kind
	what string
	rest string
}

// parse reads a message: groups are done one after the other, the wishes of a
// group at the same time. A message that holds no phrase has no groups.
// Paragraphs that are no phrase, such as context that a hook added, are passed
// over.
func parse(text string) [][]wish {
	var groups [][]wish
	for _, paragraph := range split(text, "\n\n", anything) {
		if _, ok := phrase(paragraph); !ok {
			continue
		}
		for _, step := range split(paragraph, "then", isPhrase) {
			var group []wish
			for _, part := range split(step, "and at the same time", isPhrase) {
				if w, ok := phrase(part); ok {
					group = append(group, w)
				}
			}
			if len(group) > 0 {
				groups = append(groups, group)
			}
		}
	}
	return groups
}

func anything(string) bool { return true }

func isPhrase(s string) bool {
	_, ok := phrase(s)
	return ok
}

// split cuts s at a separator that stands outside of quotes and between
// spaces, where the right side is good. So "then" in a shell command or in a
// text to write does not break it.
func split(s, sep string, good func(string) bool) []string {
	quoted := quotes(s)
	var out []string
	start := 0
	for i := 0; i+len(sep) <= len(s); i++ {
		end := i + len(sep)
		if quoted[i] || !strings.EqualFold(s[i:end], sep) {
			continue
		}
		if sep != "\n\n" && (i == 0 || !space(s[i-1]) || end == len(s) || !space(s[end])) {
			continue
		}
		if !good(s[end:]) {
			continue
		}
		out = append(out, joint(s[start:i]))
		start, i = end, end-1
	}
	return append(out, strings.TrimSpace(s[start:]))
}

// joint drops what a sentence puts before "then".
func joint(s string) string {
	s = strings.TrimRight(strings.TrimSpace(s), ",;")
	return strings.TrimSpace(strings.TrimSuffix(s, " and"))
}

func space(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' }

// quotes marks the bytes that stand between quotation marks. A mark that is
// never closed, and an apostrophe, are text.
func quotes(s string) []bool {
	in := make([]bool, len(s))
	var open [256]bool // marks known to have no partner in the rest of s
	for i := 0; i < len(s); i++ {
		q := s[i]
		if q != '"' && q != '`' && q != '\'' || open[q] {
			continue
		}
		if q == '\'' && i > 0 && !space(s[i-1]) && !strings.ContainsRune("=(:,[", rune(s[i-1])) {
			continue
		}
		end := closing(s, i)
		if end < 0 {
			open[q] = true
			continue
		}
		for k := i; k <= end; k++ {
			in[k] = true
		}
		i = end
	}
	return in
}

// closing finds the partner of the mark at i, -1 if there is none.
func closing(s string, i int) int {
	for k := i + 1; k < len(s); k++ {
		if s[k] == '\\' && s[i] == '"' {
			k++
			continue
		}
		if s[k] == s[i] {
			return k
		}
	}
	return -1
}

// phrase reads one wish.
func phrase(s string) (wish, bool) {
	s = polite(strings.TrimSpace(s))
	if rest, ok := after(s, "use the", "use", "call the", "call"); ok {
		return useOf(rest)
	}
	if rest, ok := after(s, "plan:", "plan"); ok && strings.ContainsAny(s, ":;") {
		return wish{plan, "", strings.TrimLeft(rest, ": ")}, rest != ""
	}
	if rest, ok := after(s, "what do you remember", "what do you know about me", "what is in your memory"); ok {
		return wish{recall, "", rest}, true
	}
	if strings.EqualFold(strings.TrimRight(s, "?!. "), "what do you remember") || strings.EqualFold(strings.TrimRight(s, "?!. "), "what is in your memory") {
		return wish{recall, "", ""}, true
	}
	if rest, ok := after(s, "remember that", "remember:", "remember"); ok {
		return wish{remember, "", unquote(rest)}, rest != ""
	}
	if rest, ok := after(s, "ask me"); ok {
		return wish{askMe, "", rest}, rest != ""
	}
	if rest, ok := after(s, "run the command", "run:", "run"); ok {
		return wish{runCmd, "", unquote(rest)}, rest != ""
	}
	if rest, ok := after(s, "search for", "grep for"); ok {
		what, where := atLast(rest, "in")
		return wish{search, unquote(what), name(where)}, what != ""
	}
	if rest, ok := after(s, "write"); ok {
		what, where := atLast(rest, "to")
		if where == "" {
			what, where = atLast(rest, "into")
		}
		return wish{write, name(where), unquote(what)}, where != ""
	}
	if rest, ok := after(s, "list the files in", "list files in", "list the directory", "list"); ok {
		return wish{listDir, name(rest), ""}, rest != ""
	}
	if strings.EqualFold(strings.TrimRight(s, "."), "list") || strings.EqualFold(s, "list files") {
		return wish{listDir, ".", ""}, true
	}
	if rest, ok := after(s, "read the file", "read file", "read"); ok {
		return wish{readFile, name(rest), ""}, rest != ""
	}
	return wish{}, false
}

// useOf reads what follows "use the": NAME tool ..., or NAME skill ....
func useOf(s string) (wish, bool) {
	const mostWords = 4
	rest := s
	var words []string
	for range mostWords + 1 {
		word, tail, _ := strings.Cut(strings.TrimLeft(rest, " \n\t"), " ")
		bare := strings.ToLower(strings.TrimRight(word, ".,:;!?"))
		if len(words) > 0 && (bare == "tool" || bare == "skill") {
			k := useTool
			if bare == "skill" {
				k = useSkill
			}
			tail = strings.TrimLeft(tail, " :,")
			if cut, ok := after(tail, "for", "with", "to", "on", "and"); ok {
				tail = cut
			}
			return wish{k, unquote(strings.Join(words, " ")), tail}, true
		}
		if word == "" {
			break
		}
		words = append(words, word)
		rest = tail
	}
	return wish{}, false
}

// polite drops words before the phrase that change nothing.
func polite(s string) string {
	for {
		rest, ok := after(s, "please", "now", "first", "finally", "and", "also", "could you", "can you")
		if !ok || rest == "" {
			return s
		}
		s = rest
	}
}

// after returns what follows the first of the prefixes that s begins with, as
// whole words and in any case.
func after(s string, prefixes ...string) (string, bool) {
	for _, p := range prefixes {
		if len(s) > len(p) && strings.EqualFold(s[:len(p)], p) && (space(s[len(p)]) || p[len(p)-1] == ':') {
			return strings.TrimSpace(s[len(p):]), true
		}
	}
	return "", false
}

// atLast cuts s at the last such word outside of quotes.
func atLast(s, word string) (before, behind string) {
	quoted := quotes(s)
	for i := len(s) - len(word) - 1; i > 0; i-- {
		end := i + len(word)
		if !quoted[i] && strings.EqualFold(s[i:end], word) && space(s[i-1]) && space(s[end]) {
			return strings.TrimSpace(s[:i]), strings.TrimSpace(s[end:])
		}
	}
	return s, ""
}

// unquote takes the quotation marks off a text that is quoted as a whole.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	if len(s) < 2 || closing(s, 0) != len(s)-1 {
		return s
	}
	switch s[0] {
	case '"':
		if text, err := strconv.Unquote(s); err == nil {
			return text
		}
		return s[1 : len(s)-1]
	case '\'', '`':
		return s[1 : len(s)-1]
	}
	return s
}

// name is a file's name without quotes and the end of a sentence.
func name(s string) string {
	s = strings.TrimRight(strings.TrimSpace(s), "?!,;")
	if n := len(s); n > 1 && s[n-1] == '.' && s[n-2] != '.' && s[n-2] != '/' {
		s = s[:n-1]
	}
	return unquote(s)
}
