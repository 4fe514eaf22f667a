package cli

import (
	"bytes"
	"strings"
	"testing"
)

// TestAnswer plays texts that are taken back: + adds, the numbers keep.
func TestAnswer(t *testing.T) {
	t.Parallel()
	type step struct {
		add  string
		keep int // -1: no void
	}
	for _, c := range []struct {
		name  string
		steps []step
		want  string // ~ marks a new start
		gone  bool
	}{
		{"plain", []step{{"one ", -1}, {"two", -1}}, "one two", false},
		{"the same again", []step{{"one ", -1}, {"two", -1}, {"", 0}, {"one", -1}, {" two three", -1}}, "one two three", false},
		{"kept, then the rest again", []step{{"one ", -1}, {"two", -1}, {"", 4}, {"two three", -1}}, "one two three", false},
		{"another text", []step{{"one\ntwo", -1}, {"", 0}, {"one\nzwei", -1}}, "one\ntwo~zwei", false},
		{"another text from the start", []step{{"one", -1}, {"", 0}, {"eins", -1}}, "one~eins", false},
		{"shorter", []step{{"one two", -1}, {"", 0}, {"one", -1}}, "one two", true},
		{"nothing comes", []step{{"one", -1}, {"", 0}}, "one", true},
		{"taken back twice", []step{{"one two", -1}, {"", 0}, {"one", -1}, {"", 0}, {"one two three", -1}}, "one two three", false},
		{"kept all", []step{{"one", -1}, {"", 3}, {" two", -1}}, "one two", false},
	} {
		var a answer
		var out strings.Builder
		for _, s := range c.steps {
			if s.keep >= 0 {
				a.void(s.keep, a.shown)
			}
			show, anew := a.add(s.add)
			if anew {
				out.WriteString("~")
			}
			out.WriteString(show)
		}
		if out.String() != c.want {
			t.Errorf("%s: shown %q, want %q", c.name, out.String(), c.want)
		}
		if a.end() != c.gone {
			t.Errorf("%s: withdrawn is %t", c.name, !c.gone)
		}
	}
}

func TestPrintAnswer(t *testing.T) {
	t.Parallel()
	const text = "a\x1b]52;c;aGk=\x07b\x1b[2J\nc"
	for terminal, want := range map[bool]string{true: "ab\nc\n", false: text + "\n"} {
		var out bytes.Buffer
		if err := (&env{out: &out, terminal: terminal}).printAnswer(text); err != nil || out.String() != want {
			t.Errorf("terminal %v: %q, %v", terminal, out.String(), err)
		}
	}
}
