package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/hermes-go/hermes/provider"
)

func read(r io.Reader) string {
	var parts []string
	events := NewReader(r)
	for {
		ev, err := events.Next()
		switch {
		case errors.Is(err, io.EOF):
			return strings.Join(parts, "|")
		case err != nil:
			return strings.Join(append(parts, "!"+err.Error()), "|")
		case ev.Comment:
			parts = append(parts, ":")
		default:
			parts = append(parts, ev.Name+">"+string(ev.Data))
		}
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100_000)
	for _, c := range []struct{ name, in, want string }{
		{"one", "data: a\n\n", ">a"},
		{"named", "event: e\ndata: a\n\n", "e>a"},
		{"without a space", "data:a\n\n", ">a"},
		{"many lines", "data: a\ndata: b\n\n", ">a\nb"},
		{"windows", "event: e\r\ndata: a\r\n\r\ndata: b\r\n\r\n", "e>a|>b"},
		{"comment", ": OPENROUTER PROCESSING\n\ndata: a\n\n", ":|>a"},
		{"name without data", "event: e\n\ndata: a\n\n", ">a"},
		{"other fields", "id: 1\nretry: 5\ndata: a\n\n", ">a"},
		{"no empty line at the end", "data: a\n\ndata: b\n", ">a|>b"},
		{"no line end at the end", "data: a\n\ndata: b", ">a|>b"},
		{"byte order mark", "\xef\xbb\xbfdata: a\n\n", ">a"},
		{"bare JSON", `{"error":{"message":"x"}}` + "\n", `>{"error":{"message":"x"}}`},
		{"empty data", "data:\n\n", ">"},
		{"long", "data: " + long + "\n\n", ">" + long},
		{"nothing", "", ""},
	} {
		if got := read(strings.NewReader(c.in)); got != c.want {
			t.Errorf("%s: %.200q, want %.200q", c.name, got, c.want)
		}
		if got := read(iotest.OneByteReader(strings.NewReader(c.in))); got != c.want {
			t.Errorf("%s, byte by byte: %.200q", c.name, got)
		}
	}
	if got := read(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(errors.New("gone")))); got != ">a|!gone" {
		t.Errorf("a broken stream: %q", got)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("event: e\r\ndata: a\n\n: c\n\n{}\n"), uint8(3))
	f.Fuzz(func(t *testing.T, in []byte, n uint8) {
		whole := read(strings.NewReader(string(in)))
		if pieces := read(&slowly{in, int(n%7) + 1}); pieces != whole {
			t.Fatalf("in pieces %q, whole %q", pieces, whole)
		}
	})
}

type slowly struct {
	left []byte
	n    int
}

func (s *slowly) Read(p []byte) (int, error) {
	if len(s.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.left[:min(s.n, len(s.left))])
	s.left = s.left[n:]
	return n, nil
}

func scrub(pieces ...string) (text, reasoning string) {
	var s Scrubber
	for _, p := range pieces {
		x, r := s.Feed(p)
		text, reasoning = text+x, reasoning+r
	}
	x, r := s.Flush()
	return text + x, reasoning + r
}

func TestScrubber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, text, reasoning string }{
		{"none", "plain\ntext", "plain\ntext", ""},
		{"at the start", "<think>a</think>\n\nb", "b", "a"},
		{"each tag", "<thinking>a</thinking>b\n<reasoning>c</reasoning>d\n<thought>e</thought>f\n<REASONING_SCRATCHPAD>g</REASONING_SCRATCHPAD>h", "b\nd\nf\nh", "aceg"},
		{"after spaces", "x\n  <think>a</think>b", "x\nb", "a"},
		{"in the middle of a line", "use <think>a</think> tags", "use <think>a</think> tags", ""},
		{"in a fence", "```\n<think>\n```\n<think>a</think>b", "```\n<think>\n```\nb", "a"},
		{"never closed", "<think>a and more", "", "a and more"},
		{"closed without an opening", "</think>\nanswer", "answer", ""},
		{"another tag", "<thinker>a</thinker>", "<thinker>a</thinker>", ""},
		{"a tag of another kind inside", "<think>a</thinking>b</think>c", "c", "a</thinking>b"},
		{"a lone bracket", "<", "<", ""},
		{"half a tag at the end", "a\n<thi", "a\n<thi", ""},
		{"code", "    indented\n", "    indented\n", ""},
		{"only space", "  \n \n", "  \n \n", ""},
	} {
		if text, reasoning := scrub(c.in); text != c.text || reasoning != c.reasoning {
			t.Errorf("%s: %q and %q", c.name, text, reasoning)
		}
		var pieces []string
		for i := range len(c.in) {
			pieces = append(pieces, c.in[i:i+1])
		}
		if text, reasoning := scrub(pieces...); text != c.text || reasoning != c.reasoning {
			t.Errorf("%s, byte by byte: %q and %q", c.name, text, reasoning)
		}
	}
	var s Scrubber
	if text, _ := s.Feed("at once"); text != "at once" {
		t.Errorf("text is held back: %q", text)
	}
}

func FuzzScrubber(f *testing.F) {
	f.Add("<think>a</think>\n\nb\n```\n<think>", uint8(2))
	f.Add(" \t<thought>\n</th</thought>  </think>x", uint8(1))
	f.Fuzz(func(t *testing.T, in string, n uint8) {
		text, reasoning := scrub(in)
		var pieces []string
		for rest := in; rest != ""; {
			k := min(int(n%5)+1, len(rest))
			pieces = append(pieces, rest[:k])
			rest = rest[k:]
		}
		if x, r := scrub(pieces...); x != text || r != reasoning {
			t.Fatalf("in pieces %q, %q; whole %q, %q", x, r, text, reasoning)
		}
		if len(text)+len(reasoning) > len(in) {
			t.Fatalf("%q became longer: %q, %q", in, text, reasoning)
		}
		if !strings.Contains(in, "<") && (text != in || reasoning != "") {
			t.Fatalf("%q became %q", in, text)
		}
	})
}

func TestCalls(t *testing.T) {
	t.Parallel()
	known := func(name string) bool { return name == "read_file" || name == "f" || name == "g" }
	for _, c := range []struct {
		name   string
		pieces []Piece
		want   string
	}{
		{"usual", []Piece{{0, "a", "f", "", nil}, {0, "", "", `{"x"`, nil}, {0, "", "", `:1}`, nil}}, `a f {"x":1}`},
		{"two indexes, interleaved", []Piece{{0, "a", "f", "", nil}, {1, "b", "g", "", nil}, {0, "", "", `{"x":1}`, nil}, {1, "", "", `{"y":2}`, nil}}, `a f {"x":1};b g {"y":2}`},
		{"F-118", []Piece{{0, "a", "f", "{}", nil}, {0, "b", "f", "{}", nil}, {0, "c", "g", "{}", nil}}, `a f {};b f {};c g {}`},
		{"F-118 with pieces", []Piece{{0, "a", "f", "", nil}, {0, "", "", "{}", nil}, {0, "b", "g", "", nil}, {0, "", "", "{}", nil}}, `a f {};b g {}`},
		{"F-119", []Piece{{0, "a", "f", `{"d":1}{"d":2}`, nil}}, `a f {"d":1};+ f {"d":2}`},
		{"F-119, not whole", []Piece{{0, "a", "f", `{"d":1}{"d":`, nil}}, `a f {"d":1}{"d":`},
		{"F-119, no objects", []Piece{{0, "a", "f", `{"d":1} 7`, nil}}, `a f {"d":1} 7`},
		{"F-120", []Piece{{0, "a", "f", "", nil}, {0, "a", "f", "", nil}, {0, "a", "f", "{}", nil}}, `a f {}`},
		{"F-120, growing", []Piece{{0, "a", "read", "", nil}, {0, "a", "read_file", "", nil}, {0, "a", "read_file", "{}", nil}}, `a read_file {}`},
		{"name in pieces", []Piece{{0, "a", "read", "", nil}, {0, "", "_file", "{}", nil}}, `a read_file {}`},
		{"second name on an index", []Piece{{0, "", "f", "{}", nil}, {0, "", "g", "{}", nil}}, `+ f {};+ g {}`},
		{"no index", []Piece{{-1, "a", "f", "{}", nil}, {-1, "b", "g", "{}", nil}}, `a f {};b g {}`},
		{"no index, pieces by id", []Piece{{-1, "a", "f", "", nil}, {-1, "b", "g", "", nil}, {-1, "a", "", "{}", nil}, {-1, "b", "", "{}", nil}}, `a f {};b g {}`},
		{"nothing but a name", []Piece{{-1, "", "f", "", nil}}, `+ f `},
		{"id in pieces", []Piece{{0, "call_", "f", "", nil}, {0, "12", "", "", nil}, {0, "", "", "{}", nil}}, `call_12 f {}`},
		{"id that grows", []Piece{{0, "c", "f", "", nil}, {0, "ca", "f", "", nil}, {0, "", "", "{}", nil}}, `ca f {}`},
		{"id made up each time", []Piece{{0, "a", "f", `{"x"`, nil}, {0, "b", "f", `:1`, nil}, {0, "c", "f", `}`, nil}}, `a f {"x":1}`},
		{"merged under a new id", []Piece{{0, "a", "f", `{}`, nil}, {0, "b", "", `{"y":1}`, nil}}, `a f {};b f {"y":1}`},
		{"the same id twice", []Piece{{0, "a", "f", `{}`, nil}, {1, "a", "g", `{}`, nil}}, `a f {};+ g {}`},
		{"no name at all", []Piece{{0, "a", "", `{}`, nil}}, ``},
		{"nothing", nil, ``},
	} {
		calls := Calls{Known: known}
		for _, p := range c.pieces {
			calls.Add(p)
		}
		var got []string
		for _, call := range calls.Finish(0) {
			id := call.ID
			if strings.HasPrefix(id, "call_") && len(id) > 20 {
				id = "+"
			}
			got = append(got, fmt.Sprintf("%s %s %s", id, call.Function.Name, call.Function.Arguments))
		}
		if strings.Join(got, ";") != c.want {
			t.Errorf("%s: %s, want %s", c.name, strings.Join(got, ";"), c.want)
		}
	}
}

// FuzzCalls: whatever the pieces, every call has a name and an id of its own,
// and no argument text is lost or made up.
func FuzzCalls(f *testing.F) {
	f.Add("0,a,f,{}|0,b,f,{}|1,,g,|1,,,{\"x\":1}{\"y\":2}")
	f.Add("-1,a,f,|-1,b,,x|0,,,{")
	f.Fuzz(func(t *testing.T, in string) {
		var calls Calls
		sent := 0
		for part := range strings.SplitSeq(in, "|") {
			fields := strings.SplitN(part, ",", 4)
			if len(fields) < 4 {
				continue
			}
			p := Piece{Index: len(fields[0]) - 1, ID: fields[1], Name: fields[2], Args: fields[3]}
			sent += len(p.Args)
			calls.Add(p)
		}
		ids, got := map[string]bool{}, 0
		for _, c := range calls.Finish(1) {
			if c.ID == "" || c.Function.Name == "" || ids[c.ID] {
				t.Fatalf("call %+v of %q", c, in)
			}
			ids[c.ID] = true
			got += len(c.Function.Arguments)
		}
		if got > sent {
			t.Fatalf("%d bytes of arguments from %d: %q", got, sent, in)
		}
	})
}

func FuzzAppendString(f *testing.F) {
	f.Add("a\"\\\n\x00\xff世界\u2028")
	f.Fuzz(func(t *testing.T, s string) {
		var back string
		quoted := AppendString(nil, s)
		if err := json.Unmarshal(quoted, &back); err != nil || !utf8.Valid(quoted) {
			t.Fatalf("%q gives %q: %v", s, quoted, err)
		}
		if utf8.ValidString(s) && back != s {
			t.Fatalf("%q came back as %q", s, back)
		}
	})
}

func TestLearn(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]Adapted{
		"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.": {OtherMax: true},
		"Unsupported value: 'temperature' does not support 0.5 with this model.":                                     {NoTemperature: true},
		"registry.ollama.ai/library/x does not support tools":                                                        {NoTools: true},
		"No endpoints found that support tool use.":                                                                  {NoTools: true},
		"Unrecognized request argument supplied: reasoning_effort":                                                   {NoEffort: true},
		"Encrypted content is not supported with this model.":                                                        {NoEffort: true},
		"stream_options: Extra inputs are not permitted":                                                             {NoStreamUsage: true},
		"streaming is not supported for this model":                                                                  {NoStream: true},
		"Unexpected role 'developer'":                                                                                {NoDeveloper: true},
		"messages[0].cache_control: Extra inputs are not permitted":                                                  {NoCache: true},
		"something else entirely":                                                                                    {},
		"the tool's text says: unknown temperature":                                                                  {NoTemperature: true},
	} {
		var a Adapted
		_, ok := a.learn(&provider.Error{Class: provider.ClassFormat, Status: 400, Message: message}, true)
		if a != want || ok != (want != Adapted{}) {
			t.Errorf("%s: %+v, %v", message, a, ok)
		}
		if _, again := a.learn(&provider.Error{Class: provider.ClassFormat, Status: 400, Message: message}, true); again {
			t.Errorf("%s: learnt twice", message)
		}
	}
}

func BenchmarkScrubber(b *testing.B) {
	var s Scrubber
	for b.Loop() {
		s.Feed("some words of text ")
	}
}
