package skill

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, wantName, wantDesc, wantBody, wantSaid string }{
		{"1 plain", "---\nname: a\ndescription: d\nmetadata:\n  hermes: {tags: [x]}\n---\n# B\n", "a", "d", "# B\n", ""},
		{"2 no front matter", "# Title\n\nprose\n", "", "", "# Title\n\nprose\n", noFront},
		{"4 a list", "---\n- a\n- b\n---\nB\n", "", "", "B\n", "is no mapping"},
		{"5 F-064 byte order mark", "\xef\xbb\xbf---\nname: a\ndescription: d\n---\nB", "a", "d", "B", ""},
		{"6 CRLF", "---\r\nname: a\r\ndescription: d\r\n---\r\nB\r\n", "a", "d", "B\n", ""},
		{"lone CR", "---\rname: a\r---\rB", "a", "", "B", ""},
		{"8 fence at the end", "---\nname: a\ndescription: d\n---", "a", "d", "", ""},
		{"9 F-065 types", "---\nname: 123\ndescription: yes\n---\nB", "123", "yes", "B", ""},
		{"version as spelled", "---\nname: 1.10\ndescription: 2026-01-01\n---\nB", "1.10", "2026-01-01", "B", ""},
		{"10 long", "---\nfiller: |\n" + strings.Repeat("  "+strings.Repeat("x", 78)+"\n", 80) + "name: a\ndescription: d\n---\nB", "a", "d", "B", ""},
		{"12 metadata is text", "---\nname: a\nmetadata: text\n---\nB", "a", "", "B", ""},
		{"12 metadata is null", "---\nname: a\nmetadata: null\n---\nB", "a", "", "B", ""},
		{"12 hermes is text", "---\nname: a\nmetadata: {hermes: x}\n---\nB", "a", "", "B", ""},
		{"14 folded", "---\nname: a\ndescription: >\n  one\n  two\n---\nB", "a", "one two", "B", ""},
		{"F-063 colon", "---\nname: a\ndescription: Use when: x, not for: y\n---\nB", "a", "Use when: x, not for: y", "B", "read leniently"},
		{"colon over lines", "---\nname: a\ndescription: Use when: x\n  and y: z\nversion: 1\n---\nB", "a", "Use when: x and y: z", "B", "read leniently"},
		{"star", "---\nname: a\ndescription: **bold** text\n---\nB", "a", "**bold** text", "B", "read leniently"},
		{"at", "---\nname: a\ndescription: @mention it\n---\nB", "a", "@mention it", "B", "read leniently"},
		{"percent", "---\nname: a\ndescription: 100%: good\n---\nB", "a", "100%: good", "B", "read leniently"},
		{"hash", "---\nname: a\ndescription: \"issue #5\"\n---\nB", "a", "issue #5", "B", ""},
		{"tab", "---\nname: a\nmetadata:\n\thermes:\n\t\ttags: [x]\ndescription: d\n---\nB", "a", "d", "B", "read leniently"},
		{"curly quotes", "---\nname: “a: b”\ndescription: d\n---\nB", "a: b", "d", "B", "read leniently"},
		{"F-067 trailing commas", "---\nname: a\nmetadata: { \"openclaw\": { \"os\": [\"darwin\"], }, }\n---\nB", "a", "", "B", ""},
		{"F-068 fence with a blank, rules in the body", "--- \nname: a\n---  \n\n\nB\n\n---\n\nC\n", "a", "", "B\n\n---\n\nC\n", ""},
		{"dots end it", "---\nname: a\n...\nB", "a", "", "B", ""},
		{"five dashes are no fence", "-----\nname: a\n-----\n", "", "", "-----\nname: a\n-----\n", noFront},
		{"late", "\n\n<!-- made by x -->\n---\nname: a\n---\nB", "a", "", "B", "lines stand before"},
		{"rules are no front matter", "# T\n\n---\nwords: here\n---\nB", "", "", "# T\n\n---\nwords: here\n---\nB", noFront},
		{"twice", "---\nname: a\nname: b\n---\nB", "b", "", "B", "line 3: name stands twice"},
		{"list as name", "---\nname: [a, b]\ndescription: d\n---\nB", "", "d", "B", "name is no text"},
		{"empty", "---\n---\nB", "", "", "B", ""},
		{"null", "---\nname:\ndescription: ~\n---\nB", "", "", "B", ""},
		{"anchor", "---\nname: &n a\ndescription: *n\n---\nB", "a", "a", "B", ""},
		{"not UTF-8", "---\nname: a\ndescription: caf\xe9\n---\nB", "a", "caf\uFFFD", "B", "not valid UTF-8"},
		{"other keys are beyond us", "---\nname: a\ndescription: say \"x\": y\nweird: 'it''s': b: c\nlast: - x\n---\nB", "a", `say "x": y`, "B", "read leniently"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := Parse([]byte(tt.in))
			if d.Broken != nil {
				t.Fatalf("broken: %v", d.Broken)
			}
			if n, s := d.Scalar("name"), d.Scalar("description"); n != tt.wantName || s != tt.wantDesc {
				t.Errorf("got name %q, description %q; want %q, %q", n, s, tt.wantName, tt.wantDesc)
			}
			if d.Body != tt.wantBody {
				t.Errorf("got body %q, want %q", d.Body, tt.wantBody)
			}
			said := strings.Join(d.Said(), "\n")
			if tt.wantSaid == "" && said != "" || !strings.Contains(said, tt.wantSaid) {
				t.Errorf("said %q, want %q", said, tt.wantSaid)
			}
		})
	}
}

func TestBroken(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 70) + strings.Repeat("]", 70)
	bomb := "a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
	for _, tt := range []struct{ name, in, want string }{
		{"F-066 list", "---\nname: [unclosed\ndescription: d\n---\nB", `2:7 `},
		{"F-066 advice", "---\nname: [unclosed\ndescription: d\n---\nB", `write: name: "unclosed" or close the list`},
		{"quote", "---\nname: a\ndescription: \"open\n---\nB", `3:14 `},
		{"not closed", "---\nname: a\n\ntext\n", "1:1 the front matter is not closed; add a line with ---"},
		{"no key", "---\nname a\nb: [\n---\nB", "write every line as key: value"},
		{"deep", "---\nname: a\nx: " + deep + "\n---\nB", "nested deeper"},
		{"bomb", "---\n" + bomb + "---\nB", "more than 10000 parts"},
	} {
		d := Parse([]byte(tt.in))
		if d.Broken == nil || !strings.Contains(d.Broken.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.name, d.Broken, tt.want)
		}
	}
}

func TestFields(t *testing.T) {
	t.Parallel()
	d := Parse([]byte("---\nname: a\ntags: [top]\nmetadata:\n  hermes:\n    tags: 'x, \"y\"'\n    requires_tools: terminal\n    fallback_for_toolsets: [web]\n    related_skills:\n      - b\n      - c\n  other: {n: 1.10, yes: true}\n---\nB"))
	if got := strings.Join(d.Tags(), "|"); got != "x|y" {
		t.Errorf("tags %q", got)
	}
	if got := strings.Join(d.Related(), "|"); got != "b|c" {
		t.Errorf("related %q", got)
	}
	c := d.conditions()
	if !slices.Equal(c.RequiresTools, []string{"terminal"}) || !slices.Equal(c.FallbackToolsets, []string{"web"}) {
		t.Errorf("conditions %+v", c)
	}
	m, ok := d.Metadata().(map[string]any)
	if !ok || m["other"].(map[string]any)["n"] != "1.10" || m["other"].(map[string]any)["yes"] != true {
		t.Errorf("metadata %v", d.Metadata())
	}
}

func TestHiddenCases17And18(t *testing.T) {
	t.Parallel()
	c := Conditions{RequiresTools: []string{"x", "y"}, FallbackToolsets: []string{"web"}}
	for _, tt := range []struct {
		name            string
		tools, toolsets []string
		hidden          bool
	}{
		{"nothing known", nil, nil, false},
		{"one tool is missing", []string{"x"}, []string{}, true},
		{"all there", []string{"x", "y"}, []string{}, false},
		{"fallback for what is on", []string{"x", "y"}, []string{"web"}, true},
	} {
		if got := c.Hidden(tt.tools, tt.toolsets); (got != "") != tt.hidden {
			t.Errorf("%s: got %q", tt.name, got)
		}
	}
}

func TestSupportedCase16(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		platforms []string
		goos      string
		want      bool
	}{
		{nil, "linux", true},
		{[]string{" Linux"}, "linux", true},
		{[]string{"macos"}, "linux", false},
		{[]string{"macos"}, "darwin", true},
		{[]string{"win32"}, "windows", true},
		{[]string{"amiga"}, "linux", false},
		{[]string{" "}, "linux", true},
	} {
		if got := supported(tt.platforms, tt.goos); got != tt.want {
			t.Errorf("%q on %s: %v", tt.platforms, tt.goos, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"---\nname: a\n---\nB", "\xef\xbb\xbf---\r\nname: [x\r\n---", "---\na: &a [*a]\n---\n", "# T\n---\nx: y: z\n---", "---\n\tname: “a”\n...\n", "---\nname: |\n  a: b\n c\n---\n", "---\n? a\n: b\n---\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		d := Parse(in)
		for _, s := range []string{d.Scalar("name"), d.Scalar("description"), d.Body} {
			if !utf8.ValidString(s) {
				t.Fatalf("invalid text %q", s)
			}
		}
		_, _, _ = d.Tags(), d.conditions(), d.Metadata()
		if d.Broken != nil && (d.Broken.Line < 1 || d.Broken.Column < 1 || d.Broken.Fix == "") {
			t.Fatalf("a problem without place or advice: %+v", d.Broken)
		}
	})
}
