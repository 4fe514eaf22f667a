package setup

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/hermes-go/hermes/secret"
)

// CleanKey takes from a pasted secret what never belongs to it: the terminal's
// paste marks, white space and quotes around it, a leading NAME= or "export
// NAME=", control characters within.
func CleanKey(s string) string {
	for _, mark := range []string{"\x1b[200~", "\x1b[201~", "[200~", "[201~"} {
		s = strings.ReplaceAll(s, mark, "")
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u200b' || r == '\ufeff' {
			return -1
		}
		return r
	}, s)
	s = strings.TrimSpace(s)
	rest := strings.TrimSpace(strings.TrimPrefix(s, "export "))
	if name, value, ok := strings.Cut(rest, "="); ok && secret.ValidName(name) && name == strings.ToUpper(name) && strings.Contains(name, "_") {
		s = strings.TrimSpace(value)
	}
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'' || s[0] == '`') && s[len(s)-1] == s[0] {
		s = s[1 : len(s)-1]
	}
	return strings.TrimSpace(s)
}

// shapes are what keys of some services begin with.
var shapes = [...]struct{ name, prefix string }{
	{"OPENROUTER_API_KEY", "sk-or-"},
	{"ANTHROPIC_API_KEY", "sk-ant-"},
	{"OPENAI_API_KEY", "sk-"},
	{"GROQ_API_KEY", "gsk_"},
	{"HF_TOKEN", "hf_"},
	{"XAI_API_KEY", "xai-"},
	{"NVIDIA_API_KEY", "nvapi-"},
	{"DEEPSEEK_API_KEY", "sk-"},
	{"GOOGLE_API_KEY", "AIza"},
	{"GEMINI_API_KEY", "AIza"},
	{"CEREBRAS_API_KEY", "csk-"},
	{"FIREWORKS_API_KEY", "fw_"},
}

// longestKey is longer than any key people have; tokens of logins may be.
const longestKey = 300

// JunkKey says why a value is probably no key, "" when it may be one. It looks
// at the shape alone; only the service knows.
func JunkKey(name, value string) string {
	isKey := strings.HasSuffix(name, "_KEY")
	switch {
	case value == "":
		return ""
	case !secret.IsSecretName(name):
		return ""
	case !secret.Usable(value):
		return "it is a placeholder and no key"
	case strings.ContainsFunc(value, unicode.IsSpace):
		return "it holds white space"
	case strings.ContainsFunc(value, func(r rune) bool { return r > 126 || r < 33 }):
		return "it holds characters that no key has"
	case isKey && len(value) > longestKey:
		return fmt.Sprintf("it has %d characters, which no key has; something else was pasted", len(value))
	case isKey && len(value) < 12:
		return fmt.Sprintf("it has only %d characters", len(value))
	case repeated(value):
		return "it is one part repeated: it was pasted more than once"
	case strings.HasPrefix(value, "http://") || strings.HasPrefix(value, "https://"):
		return "it is an address"
	}
	for _, s := range shapes {
		if s.name == name && !strings.HasPrefix(value, s.prefix) {
			return "keys of this service begin with " + s.prefix
		}
	}
	if name == "OPENAI_API_KEY" {
		for _, other := range []string{"sk-or-", "sk-ant-"} {
			if strings.HasPrefix(value, other) {
				return "keys that begin with " + other + " belong to another service"
			}
		}
	}
	return ""
}

// repeated reports whether a value is a shorter one two or more times, or one
// character for most of its length.
func repeated(s string) bool {
	if len(s) < 16 {
		return false
	}
	if i := strings.Index(s[1:], s[:len(s)/2+1]); i >= 0 {
		return true
	}
	half := len(s) / 2
	if len(s)%2 == 0 && s[:half] == s[half:] {
		return true
	}
	counts := map[rune]int{}
	for _, r := range s {
		counts[r]++
	}
	for _, n := range counts {
		if n > len(s)*3/4 {
			return true
		}
	}
	return false
}
