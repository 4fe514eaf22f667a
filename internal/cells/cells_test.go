package cells

import (
	"slices"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		width      int
		want       []string
	}{
		{"empty", "", 10, []string{""}},
		{"fits", "a b", 3, []string{"a b"}},
		{"at spaces", "one two three", 7, []string{"one two", "three"}},
		{"spaces at a break are dropped", "one   two", 4, []string{"one", "two"}},
		{"a long word is cut", "abcdefgh", 3, []string{"abc", "def", "gh"}},
		{"a long word after a short one", "a bcdefg", 4, []string{"a", "bcde", "fg"}},
		{"line breaks stay", "a\n\nb", 10, []string{"a", "", "b"}},
		{"indentation stays", "  a\n   b", 10, []string{"  a", "   b"}},
		{"no width", "one two three", 0, []string{"one two three"}},
		{"wide characters", "你好世界", 5, []string{"你好", "世界"}},
		{"no full stop at a line's start", "你好世界。", 8, []string{"你好世", "界。"}},
		{"no bracket at a line's end", "你好（世界", 6, []string{"你好", "（世界"}},
		{"wide after narrow", "ab你好", 4, []string{"ab你", "好"}},
		{"narrow after wide", "你好ab", 5, []string{"你好", "ab"}},
		{"one emoji of several characters", "👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 4, []string{"👩‍👩‍👧‍👦👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"}},
		{"wider than the line", "你", 1, []string{"你"}},
	} {
		if got := Lines(c.text, c.width); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"plain 你好 👍🏽\n", "plain 你好 👍🏽\n"},
		{"a\x1b[31mred\x1b[0mb", "aredb"},
		{"a\x1b]0;title\x07b", "ab"},
		{"a\x1b]52;c;aGk=\x1b\\b", "ab"},
		{"a\x1b", "a"},
		{"a\x1b[", "a"},
		{"a\rb\x08c\x00", "abc"},
		{"a\tb", "a    b"},
		{"rm \u202e-rf", "rm -rf"},
		{"a\u009b31mb", "ab"},
		{"bad \xff byte", "bad \uFFFD byte"},
		{"really \uFFFD", "really \uFFFD"},
		{"\x1b\nb", "\nb"},
	} {
		if got := Clean(c.text); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"你好世界", 5, "你好…"}, {"x", 0, ""}} {
		if got := Cut(c.text, c.width); got != c.want {
			t.Errorf("%q to %d: got %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

// FuzzWrap: no line is too wide unless it is a single character, nothing but
// spaces and line breaks is lost, and what was cleaned is clean.
func FuzzWrap(f *testing.F) {
	for _, s := range []string{"one two", "你好，世界 abc", "👩‍👩‍👧‍👦 \x1b[1m", "a\r\nb"} {
		f.Add(s, 5)
	}
	f.Fuzz(func(t *testing.T, text string, width int) {
		text, width = Clean(text), width%40
		if Clean(text) != text {
			t.Fatalf("%q is not clean: %q", text, Clean(text))
		}
		squeeze := strings.NewReplacer(" ", "", "\n", "")
		var all strings.Builder
		for _, line := range Lines(text, width) {
			all.WriteString(line)
			if width < 1 || Width(line) <= width {
				continue
			}
			n := 0
			for range Graphemes(line) {
				n++
			}
			if n > 1 {
				t.Errorf("%q is wider than %d", line, width)
			}
		}
		if squeeze.Replace(all.String()) != squeeze.Replace(text) {
			t.Errorf("%q became %q", text, all.String())
		}
	})
}
