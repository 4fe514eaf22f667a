package edit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
)

// TestBytesOutsideTheChange edits random files in every encoding and line-end
// style. The replaced place is known, so the expected bytes are too.
func TestBytesOutsideTheChange(t *testing.T) {
	t.Parallel()
	words := map[string][]string{
		"utf-8": {"alpha", "βήτα", "中文", "😀", "“q”", "x=1", "\\n", "a\tb"}, "gb18030": {"alpha", "中文", "测试", "x=1"},
		"big5": {"alpha", "中文", "測試"}, "shift_jis": {"alpha", "テスト", "日本"}, "euc-jp": {"alpha", "日本"}, "euc-kr": {"alpha", "한국"},
		"windows-1251": {"alpha", "Привет"}, "koi8-r": {"alpha", "Привет"}, "cp866": {"alpha", "Привет"},
		"windows-1252": {"alpha", "café", "“q”"}, "iso-8859-1": {"alpha", "café"},
	}
	words["utf-16le"], words["utf-16be"] = words["utf-8"], words["utf-8"]
	r := rand.New(rand.NewPCG(1, 2))
	for _, enc := range Encodings() {
		vocabulary := words[enc]
		if vocabulary == nil {
			vocabulary = []string{"alpha", "beta", "x=1", "(y)"}
		}
		for _, ends := range [][]string{{"\n"}, {"\r\n"}, {"\r"}, {"\n", "\r\n"}, {"\n", "\n", "\r\n", "\r"}} {
			for _, mark := range []bool{false, true} {
				if mark && !strings.HasPrefix(enc, "utf-") {
					continue
				}
				for range 12 {
					checkOneEdit(t, r, enc, vocabulary, ends, mark)
				}
			}
		}
	}
}

func checkOneEdit(t *testing.T, r *rand.Rand, enc string, words, ends []string, mark bool) {
	t.Helper()
	pick := func(l []string) string { return l[r.IntN(len(l))] }
	part := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(pick([]string{"", " ", "\t", "    "}))
			for range r.IntN(4) {
				b.WriteString(pick(words) + pick([]string{" ", "  ", ""}))
			}
			b.WriteString(pick(ends))
		}
		return b.String()
	}
	indent := pick([]string{"", "  ", "\t\t"})
	head, tail := part(r.IntN(6)), part(r.IntN(6))
	if r.IntN(2) == 0 && tail != "" {
		tail = strings.TrimRight(tail, "\r\n")
	}
	key := fmt.Sprintf("KEY%d", r.IntN(1000))
	end := pick(ends)
	place := indent + key + "  one" + end + indent + "two " + key
	want := indent + key + "  one" + end + indent + "three " + key
	old, new := indent+key+"  one\n"+indent+"two "+key, indent+key+"  one\n"+indent+"three "+key
	whole := tail == "" || len(ends) == 1 || r.IntN(2) == 0
	if whole && r.IntN(2) == 0 { // what a model makes of it
		old, new = key+" one\n"+"two "+key, key+" one\n"+"three "+key
	}
	if tail != "" && whole {
		place, want = place+end, want+end
		if r.IntN(2) == 0 {
			old, new = old+"\n", new+"\n"
		}
	}
	if len(ends) > 1 && end == "\r" || strings.HasSuffix(head, "\r") && len(ends) > 1 {
		return // a lone CR among LFs ends no line
	}
	data := encodeForTest(t, enc, mark, head+place+tail)
	txt, err := Decode(bytes.Clone(data), enc)
	if err != nil {
		t.Fatalf("%s: %v", enc, err)
	}
	res, err := Replace(txt.Content, old, new, false)
	if err != nil {
		t.Fatalf("%s: %v\n%q\nold %q", enc, err, head+place+tail, old)
	}
	txt.Content = res.Content
	got, err := txt.Encode()
	if err != nil {
		t.Fatalf("%s: %v", enc, err)
	}
	if expected := encodeForTest(t, enc, mark, head+want+tail); !bytes.Equal(got, expected) {
		t.Fatalf("%s by %s: old %q\n was %q\n got %q\nwant %q", enc, res.Strategy, old, head+place+tail, res.Content, head+want+tail)
	}
}

func encodeForTest(t *testing.T, enc string, mark bool, s string) []byte {
	t.Helper()
	var e *encoding.Encoder
	switch enc {
	case "utf-8", "utf-16le", "utf-16be":
		out, err := Text{Content: s, Encoding: enc, BOM: mark}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Clone(out)
	default:
		e = charsetOf(enc).NewEncoder()
	}
	out, err := e.Bytes([]byte(s))
	if err != nil {
		t.Fatalf("%s: %v", enc, err)
	}
	return out
}

// A diff of two texts, read as a patch and applied to the first, gives the second.
func TestDiffAppliesBack(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 600 {
		a, b := randomPair(r)
		d := Diff("a/f", "b/f", a, b)
		if d == "" {
			if a != b {
				t.Fatalf("no diff of %q and %q", a, b)
			}
			continue
		}
		p, err := ParsePatch(d)
		if err != nil {
			t.Fatalf("%v\n%s", err, d)
		}
		out, err := p.Apply(disk(map[string]string{"f": a}))
		if err != nil {
			t.Fatalf("%v\n%s\n%q", err, d, a)
		}
		if got := out.Changes[0].New; got != b {
			t.Fatalf("from %q\n got %q\nwant %q\n%s", a, got, b, d)
		}
	}
}

func randomPair(r *rand.Rand) (string, string) {
	line := func() string {
		return []string{"a", "b", "c", "", "  d", "-- x", "++ y", "@@ z", `\ w`, "long line of text"}[r.IntN(10)]
	}
	var a []string
	for range r.IntN(30) {
		a = append(a, line())
	}
	b := append([]string(nil), a...)
	for range r.IntN(5) {
		i := r.IntN(len(b) + 1)
		switch r.IntN(3) {
		case 0:
			b = append(b[:i], append([]string{line()}, b[i:]...)...)
		case 1:
			if i < len(b) {
				b = append(b[:i], b[i+1:]...)
			}
		case 2:
			if i < len(b) {
				b[i] = line()
			}
		}
	}
	join := func(l []string) string {
		s := strings.Join(l, "\n")
		if len(l) > 0 && r.IntN(4) > 0 {
			s += "\n"
		}
		return s
	}
	return join(a), join(b)
}
