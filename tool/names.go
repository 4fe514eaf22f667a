package tool

import (
	"slices"
	"strings"
	"unicode"
)

// Repair finds the tool a model meant by a name that differs from the real one
// only in writing: case, "-" or space for "_", CamelCase, a "_tool" suffix. It
// never guesses: a name that is merely similar is not repaired.
func Repair(name string, known []string) (string, bool) {
	have := func(n string) bool { return slices.Contains(known, n) }
	if have(name) {
		return name, true
	}
	for _, form := range []string{name, snake(name)} {
		n := normal(form)
		for range 3 {
			if have(n) {
				return n, true
			}
			cut := strings.TrimRight(strings.TrimSuffix(n, "tool"), "_")
			if cut == n || cut == "" {
				break
			}
			n = cut
		}
	}
	return "", false
}

func normal(name string) string {
	return strings.Trim(strings.NewReplacer("-", "_", " ", "_", ".", "_").Replace(strings.ToLower(strings.TrimSpace(name))), "_")
}

func snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 && runes[i-1] != '_' && !unicode.IsUpper(runes[i-1]) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// otherNames are what other agents call a tool of ours; they are offered as
// suggestions and never run.
func otherNames(name string) string {
	switch normal(name) {
	case "shell", "bash", "exec", "run", "run_command", "execute_command", "sh", "cmd":
		return "terminal"
	case "read", "cat", "open_file", "view", "view_file", "list_dir", "ls":
		return "read_file"
	case "write", "create_file", "save_file":
		return "write_file"
	case "edit", "edit_file", "apply_patch", "str_replace", "replace":
		return "patch"
	case "grep", "search", "glob", "find", "find_files", "rg":
		return "search_files"
	case "ask", "ask_user", "question":
		return "clarify"
	case "python", "run_python", "code":
		return "execute_code"
	case "task", "agent", "spawn", "subagent":
		return "delegate_task"
	}
	return ""
}

// Nearest returns up to n of the names that are most like name, best first;
// names that share too little are left out.
func Nearest(name string, among []string, n int) []string {
	type scored struct {
		name  string
		score float64
	}
	want := normal(snake(name))
	alias := otherNames(name)
	var found []scored
	for _, have := range among {
		score := similarity(want, have)
		if have == alias {
			score = 1
		}
		if score >= 0.5 {
			found = append(found, scored{have, score})
		}
	}
	slices.SortFunc(found, func(a, b scored) int {
		if a.score != b.score {
			if a.score > b.score {
				return -1
			}
			return 1
		}
		return strings.Compare(a.name, b.name)
	})
	var names []string
	for _, f := range found[:min(n, len(found))] {
		names = append(names, f.name)
	}
	return names
}

// similarity is 1 for equal names, by edit distance, and at least 0.6 when one
// holds the other whole.
func similarity(a, b string) float64 {
	if a == "" || b == "" {
		return 0
	}
	s := 1 - float64(distance(a, b))/float64(max(len(a), len(b)))
	if len(a) > 3 && len(b) > 3 && (strings.Contains(a, b) || strings.Contains(b, a)) {
		s = max(s, 0.6)
	}
	return s
}

func distance(a, b string) int {
	if len(a) > 128 || len(b) > 128 {
		return max(len(a), len(b))
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j]+1, row[j+1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
