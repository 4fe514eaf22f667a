package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hermes-go/hermes/secret"
)

// expand replaces ${NAME} in every text value by the variable's value. An unset
// variable stays as it stands and is reported once; there is no default syntax
// and no escape, as in the original.
func expand(t *tree, lookup Lookup) []Problem {
	var out []Problem
	var seen []string
	var walk func(t *tree, at []string)
	walk = func(t *tree, at []string) {
		switch t.kind {
		case mapKind:
			for _, k := range t.keys {
				walk(t.m[k], append(at, k))
			}
		case listKind:
			for i, v := range t.list {
				walk(v, append(at, fmt.Sprint(i)))
			}
		case textKind:
			text, missing := expandText(t.text, lookup)
			t.text = text
			if len(at) > 0 && (at[0] == "quick_commands" || at[0] == "hooks") {
				return // shell text, where ${...} may be the shell's
			}
			for _, name := range missing {
				if !slices.Contains(seen, name) {
					seen = append(seen, name)
					out = append(out, unset(name, JoinPath(at), t.line))
				}
			}
			if name, ok := bareVar(t.text); ok {
				out = append(out, Problem{
					Severity: Warning, Key: JoinPath(at), Line: t.line,
					Message: fmt.Sprintf("%s is the text $%s, not the variable's value", JoinPath(at), name),
					Hint:    fmt.Sprintf("write ${%s}", name),
				})
			}
		}
	}
	walk(t, make([]string, 0, 16))
	return out
}

func unset(name, key string, line int) Problem {
	p := Problem{
		Severity: Warning, Key: key, Line: line,
		Message: fmt.Sprintf("%s uses ${%s}, which is not set", key, name), Hint: "add it to .env",
	}
	if i := strings.IndexAny(name, ":-"); i > 0 {
		p.Hint = fmt.Sprintf("${%s} has no default syntax; write ${%s} and set it in .env", name, name[:i])
	}
	return p
}

func expandText(s string, lookup Lookup) (out string, missing []string) {
	if !strings.Contains(s, "${") {
		return s, nil
	}
	var b strings.Builder
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			break
		}
		end := strings.IndexByte(s[i:], '}')
		if end < 0 {
			break
		}
		name := s[i+2 : i+end]
		b.WriteString(s[:i])
		if v, ok := lookup(name); ok {
			b.WriteString(v)
		} else {
			b.WriteString(s[i : i+end+1])
			if plain, _, _ := strings.Cut(name, ":"); secret.ValidName(plain) {
				missing = append(missing, name)
			}
		}
		s = s[i+end+1:]
	}
	b.WriteString(s)
	return b.String(), missing
}

// bareVar spots a whole value such as $MY_API_KEY: nobody means that literally.
func bareVar(s string) (string, bool) {
	if len(s) < 3 || s[0] != '$' {
		return "", false
	}
	name := s[1:]
	return name, strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == "" && strings.Contains(name, "_")
}
