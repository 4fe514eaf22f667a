package config

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var rounds = flag.Int("rounds", 1, "how many times as many random cases, each time others")

func text(s string) *tree { return textTree(s) }

func num(n int64) *tree { return &tree{kind: intKind, val: n, text: fmt.Sprint(n)} }

func list(v ...*tree) *tree { return &tree{kind: listKind, list: v} }

func TestSplice(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, in, key string
		val           *tree
		want          string // empty: refused
	}{
		{"plain scalar", "a: 1  # why\nb: 2\n", "a", num(3), "a: 3  # why\nb: 2\n"},
		{"keeps quotes", "a: 'x'   # c\n", "a", text("y"), "a: 'y'   # c\n"},
		{"keeps double quotes", "a: \"x\"\n", "a", text("y\nz"), "a: \"y\\nz\"\n"},
		{"quotes ambiguous words", "a: x\n", "a", text("off"), "a: 'off'\n"},
		{"quotes numbers", "a: x\n", "a", text("3.10"), "a: '3.10'\n"},
		{"hash in a value", "a: x\n", "a", text("x # y"), "a: 'x # y'\n"},
		{"non-ASCII before", "ключ: {б: 1, a: 2}\n", "ключ.a", num(3), "ключ: {б: 1, a: 3}\n"},
		{"wide key", "中文: x # ч\n", "中文", text("z"), "中文: z # ч\n"},
		{"empty value", "a:\nb: 1\n", "a", text("x"), "a: x\nb: 1\n"},
		{"empty value with comment", "a: # c\nb: 1\n", "a", text("x"), "a: x # c\nb: 1\n"},
		{"tilde", "a: ~ # c\n", "a", num(1), "a: 1 # c\n"},
		{"block scalar", "a: |  # c\n  one\n  # not a comment\n\n# comment\nb: 1\n", "a", text("x"), "a: x  # c\n\n# comment\nb: 1\n"},
		{"folded scalar at the end", "b: 1\na: >-\n  one\n  two", "a", text("x"), "b: 1\na: x"},
		{"kept newlines", "a: |+\n  x\n\nb: 1\n", "b", num(2), "a: |+\n  x\n\nb: 2\n"},
		{"plain over lines", "a: one\n  two\n\n  three # c\nb: 1\n", "a", text("x"), "a: x # c\nb: 1\n"},
		{"double quoted over lines", "a: \"one\n  two\" # c\n", "a", text("x"), "a: \"x\" # c\n"},
		{"flow element", "a: [x, 'y', z] # c\n", "a.1", text("w"), "a: [x, 'w', z] # c\n"},
		{"flow element needing quotes", "a: [x, y]\n", "a.1", text("p, q"), "a: [x, 'p, q']\n"},
		{"list element, brackets", "a:\n- x # 0\n- y # 1\n", "a[1]", text("z"), "a:\n- x # 0\n- z # 1\n"},
		{"list of maps", "a:\n  - n: 1\n    m: 2\n  - n: 3\n", "a.1.n", num(4), "a:\n  - n: 1\n    m: 2\n  - n: 4\n"},
		{"list out of range", "a: [x]\n", "a.1", text("y"), ""},
		{"crlf", "a: 1\r\nb:\r\n  c: 2 # x\r\n", "b.c", num(3), "a: 1\r\nb:\r\n  c: 3 # x\r\n"},

		{
			"new key at the end", "# TOP\nmodel:\n  default: x  # why\n# TAIL", "memory.memory_char_limit", num(2300),
			"# TOP\nmodel:\n  default: x  # why\nmemory:\n  memory_char_limit: 2300\n# TAIL",
		},
		{"new key in a section", "a:\n    b: 1\n    # about c\n\nz: 1\n", "a.c", num(2), "a:\n    b: 1\n    c: 2\n    # about c\n\nz: 1\n"},
		{"comments deeper stay above", "a:\n  b: 1\n  # c: 2\n\n# about z\nz: 1\n", "new", num(2), "a:\n  b: 1\n  # c: 2\n\n# about z\nz: 1\nnew: 2\n"},
		{"last section has commented keys", "a:\n  b: 1\n  # c: 2\n", "new", num(2), "a:\n  b: 1\n  # c: 2\nnew: 2\n"},
		{"no last line end", "a: 1", "b", num(2), "a: 1\nb: 2"},
		{"crlf, new", "a: 1\r\n", "b.c", num(2), "a: 1\r\nb:\r\n  c: 2\r\n"},
		{"indent of the file", "a:\n    b: 1\n", "c.d", num(2), "a:\n    b: 1\nc:\n    d: 2\n"},
		{"empty file", "", "a.b", num(1), "a:\n  b: 1\n"},
		{"comments only", "# c\n", "a", num(1), "# c\na: 1\n"},
		{"null section", "a:\n  # b: 2\nc: 1\n", "a.b", num(1), "a:\n  b: 1\n  # b: 2\nc: 1\n"},
		{"null word section", "a: null # c\nc: 1\n", "a.b", num(1), "a: # c\n  b: 1\nc: 1\n"},
		{"empty braces", "a: {}\nc: 1\n", "a.b.c", num(1), "a:\n  b:\n    c: 1\nc: 1\n"},
		{"empty braces with comment", "a: {}  # none\n", "a.b", num(1), "a:  # none\n  b: 1\n"},
		{"into braces", "a: {b: 1} # c\n", "a.c", text("x y"), "a: {b: 1, c: x y} # c\n"},
		{"into braces with comma", "a: {\n  b: 1, # one\n}\n", "a.c", num(2), "a: {\n  b: 1, c: 2, # one\n}\n"},
		{"into root braces", "{a: 1}\n", "b", num(2), "{a: 1, b: 2}\n"},
		{"empty root braces", "{}\n", "b", num(2), "{b: 2}\n"},
		{"append to a list", "a:\n  - x\n  - y # c\nb: 1\n", "a[+]", text("z"), "a:\n  - x\n  - y # c\n  - z\nb: 1\n"},
		{"append to brackets", "a: [x]\n", "a[+]", text("z"), "a: [x, z]\n"},
		{"append to nothing", "a: []\n", "a[+]", text("z"), "a:\n  - z\n"},
		{"append a map", "a:\n- n: 1\n", "a[+].m", num(2), "a:\n- n: 1\n- m: 2\n"},
		{"key needing quotes", "a: {}\n", `a["x: y"]`, num(1), "a:\n  'x: y': 1\n"},
		{"through text", "a: x\n", "a.b", num(1), ""},
		{"document marks", "---\na: 1\n...\n", "b", num(2), "---\na: 1\nb: 2\n...\n"},

		{"list in place", "a:\n  - x # c\n  - y\nb: 1\n", "a", list(text("z")), "a:\n  - z\nb: 1\n"},
		{"list emptied", "a: # c\n  - x\nb: 1\n", "a", list(), "a: [] # c\nb: 1\n"},
		{"list in brackets", "a: [x, y] # c\n", "a", list(text("z"), num(1)), "a: [z, 1] # c\n"},
		{"list new", "b: 1\n", "a", list(text("z"), text("yes")), "b: 1\na:\n  - z\n  - 'yes'\n"},

		{"remove", "# a\na: 1 # x\nb: 2\n", "a", nil, "# a\nb: 2\n"},
		{"remove section", "a:\n  b: 1\n  # in\n  c: 2\nd: 3\n", "a", nil, "d: 3\n"},
		{"remove the only one", "a:\n  # in\n  b: 1\nd: 3\n", "a.b", nil, "a: {}\n  # in\nd: 3\n"},
		{"remove last of the file", "a: 1\n", "a", nil, ""},
		{"remove block scalar", "a: |\n  x\n  y\nb: 1\n", "a", nil, "b: 1\n"},
		{"remove from a list", "a:\n- x\n- y # c\n- z\n", "a.1", nil, "a:\n- x\n- z\n"},
		{"remove only element", "a:\n- x\nb: 1\n", "a.0", nil, "a: []\nb: 1\n"},
		{"remove first of a compact map", "a:\n- n: 1\n  m: 2\n", "a.0.n", nil, "a:\n- m: 2\n"},
		{"remove only of a compact map", "a:\n- n: 1\n", "a.0.n", nil, "a:\n- {}\n"},
		{"remove flow first", "a: {b: 1, c: 2}\n", "a.b", nil, "a: {c: 2}\n"},
		{"remove flow last", "a: {b: 1, c: 2}\n", "a.c", nil, "a: {b: 1}\n"},
		{"remove flow only", "a: {b: 1,}\n", "a.b", nil, "a: {}\n"},
		{"remove absent", "a: 1\n", "b", nil, ""},

		{"anchor in use", "a: &x 1\nb: *x\n", "a", num(2), ""},
		{"through an alias", "a: &x {c: 1}\nb: *x\n", "b.c", num(2), ""},
		{"alias itself", "a: &x 1\nb: *x # c\n", "b", num(2), "a: &x 1\nb: 2 # c\n"},
		{"over a merge", "d: &d {x: 1}\na:\n  <<: *d\n", "a.x", num(2), "d: &d {x: 1}\na:\n  <<: *d\n  x: 2\n"},
		{"twice the same key", "a: 1\na: 2\n", "a", num(3), "a: 1\na: 3\n"},
		{"tagged", "a: !!str 5 # c\n", "a", text("6"), "a: '6' # c\n"},
		{"placeholder elsewhere", "h: {k: \"${GLM_API_KEY}\"}\nmodel: x\n", "model", text("z"), "h: {k: \"${GLM_API_KEY}\"}\nmodel: z\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			keys, err := SplitPath(tc.key)
			if err != nil {
				t.Fatal(err)
			}
			got, err := splice(tc.in, keys, tc.val)
			if (err != nil) != (tc.want == "" && tc.name != "remove last of the file") {
				t.Fatalf("err = %v, got %q", err, got)
			}
			if got != tc.want {
				t.Errorf("\n got %q\nwant %q", got, tc.want)
			}
		})
	}
}

// A yamlDoc is a random file together with what its parts mean, as the
// generator knows it: no reader is involved.
type yamlDoc struct {
	r     *rand.Rand
	b     strings.Builder
	nl    string
	leafs []leaf
	maps  []string
	n     int
}

type leaf struct {
	path     string
	from, to int // the scalar's bytes
}

func (d *yamlDoc) comment(col int) {
	switch d.r.IntN(8) {
	case 0:
		d.b.WriteString(strings.Repeat(" ", col) + "# note: it's [a, {" + d.nl)
	case 1:
		d.b.WriteString(d.nl)
	case 2:
		d.b.WriteString("# ünder - x: y" + d.nl)
	}
}

func (d *yamlDoc) tail() {
	switch d.r.IntN(5) {
	case 0:
		d.b.WriteString("   # why: \"not\"")
	case 1:
		d.b.WriteString(" ")
	}
	d.b.WriteString(d.nl)
}

func (d *yamlDoc) name() string {
	d.n++
	return fmt.Sprintf("%s%d", []string{"key", "ключ", "k-", "中", "x_y"}[d.r.IntN(5)], d.n)
}

func (d *yamlDoc) scalar(path string, flow bool) any {
	forms := []struct {
		text string
		val  any
	}{
		{"12", 12},
		{"plain words here", "plain words here"},
		{"'it''s # q'", "it's # q"},
		{`"tab\t\"x\" ü"`, "tab\t\"x\" ü"},
		{"true", true},
		{"3.5", 3.5},
		{"${VAR}/x", "${VAR}/x"},
		{"http://h:1/p#f", "http://h:1/p#f"},
		{"ünïcode", "ünïcode"},
		{"\"a: b\"", "a: b"},
		{"-3", -3},
		{"'yes'", "yes"},
	}
	f := forms[d.r.IntN(len(forms))]
	if flow && strings.ContainsAny(f.text, ":{") && f.text[0] != '"' {
		f = forms[0]
	}
	from := d.b.Len()
	d.b.WriteString(f.text)
	d.leafs = append(d.leafs, leaf{path: path, from: from, to: d.b.Len()})
	return f.val
}

func (d *yamlDoc) flow(path string, depth int) any {
	switch k := d.r.IntN(4); {
	case depth > 0 && k == 0:
		d.b.WriteByte('[')
		out := []any{}
		for i := range d.r.IntN(4) {
			if i > 0 {
				d.b.WriteString(", ")
			}
			out = append(out, d.flow(fmt.Sprintf("%s[%d]", path, i), depth-1))
		}
		d.b.WriteByte(']')
		return out
	case depth > 0 && k == 1:
		d.b.WriteByte('{')
		out := map[string]any{}
		for i := range d.r.IntN(4) {
			if i > 0 {
				d.b.WriteString(",  ")
			}
			name := d.name()
			d.b.WriteString(name + ": ")
			out[name] = d.flow(path+"."+name, depth-1)
		}
		d.b.WriteByte('}')
		d.maps = append(d.maps, path)
		return out
	}
	return d.scalar(path, true)
}

func (d *yamlDoc) block(path string, col, depth int, first bool) any {
	out := map[string]any{}
	if path != "" {
		d.maps = append(d.maps, path)
	}
	step := 2 + 2*d.r.IntN(2)
	for i := range 1 + d.r.IntN(5) {
		if i > 0 || !first {
			d.comment(col)
			d.b.WriteString(strings.Repeat(" ", col))
		}
		name := d.name()
		p := strings.TrimPrefix(path+"."+name, ".")
		d.b.WriteString(name + ":")
		switch k := d.r.IntN(9); {
		case k == 0 && depth > 0:
			d.tail()
			out[name] = d.block(p, col+step, depth-1, false)
		case k == 1 && depth > 0:
			d.tail()
			out[name] = d.items(p, col+step*d.r.IntN(2), depth-1)
		case k == 2:
			d.b.WriteString(" ")
			out[name] = d.flow(p, 2)
			d.tail()
		case k == 3:
			d.b.WriteString(" |" + d.nl + strings.Repeat(" ", col+step) + "# text, not a comment" + d.nl + d.nl + strings.Repeat(" ", col+step) + "end" + d.nl)
			out[name] = "# text, not a comment\n\nend\n"
		case k == 4:
			d.b.WriteString(" one" + d.nl + strings.Repeat(" ", col+step) + "two" + d.nl)
			out[name] = "one two"
		case k == 5:
			d.tail()
			out[name] = nil
		default:
			d.b.WriteString(strings.Repeat(" ", 1+d.r.IntN(2)))
			out[name] = d.scalar(p, false)
			d.tail()
		}
	}
	return out
}

func (d *yamlDoc) items(path string, col, depth int) any {
	out := []any{}
	for i := range 1 + d.r.IntN(3) {
		d.comment(col)
		d.b.WriteString(strings.Repeat(" ", col) + "- ")
		p := fmt.Sprintf("%s[%d]", path, i)
		if depth > 0 && d.r.IntN(3) == 0 {
			out = append(out, d.block(p, col+2, depth-1, true))
			continue
		}
		out = append(out, d.scalar(p, false))
		d.tail()
	}
	return out
}

func readBack(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if v == nil {
		v = map[string]any{}
	}
	return v
}

// put and drop are the edits on plain data, written a second time on purpose.
func put(v any, keys []string, val any) any {
	if len(keys) == 0 {
		return val
	}
	switch x := v.(type) {
	case map[string]any:
		x[keys[0]] = put(x[keys[0]], keys[1:], val)
	case []any:
		i, _ := index(keys[0])
		x[i] = put(x[i], keys[1:], val)
	case nil:
		return map[string]any{keys[0]: put(nil, keys[1:], val)}
	}
	return v
}

func drop(v any, keys []string) any {
	switch x := v.(type) {
	case map[string]any:
		if len(keys) == 1 {
			delete(x, keys[0])
			return x
		}
		x[keys[0]] = drop(x[keys[0]], keys[1:])
	case []any:
		i, _ := index(keys[0])
		if len(keys) == 1 {
			return append(x[:i:i], x[i+1:]...)
		}
		x[i] = drop(x[i], keys[1:])
	}
	return v
}

func ends(a, b string) (pre, suf int) {
	for pre < len(a) && pre < len(b) && a[pre] == b[pre] {
		pre++
	}
	for suf < len(a)-pre && suf < len(b)-pre && a[len(a)-1-suf] == b[len(b)-1-suf] {
		suf++
	}
	return pre, suf
}

// newLines lists the lines of b that a does not have.
func newLines(a, b string) []string {
	have := map[string]int{}
	for _, l := range strings.SplitAfter(a, "\n") {
		have[strings.TrimRight(l, "\r\n")]++
	}
	var out []string
	for _, l := range strings.SplitAfter(b, "\n") {
		l = strings.TrimRight(l, "\r\n")
		if have[l]--; have[l] < 0 && l != "" {
			out = append(out, l)
		}
	}
	return out
}

// Random edits on random files: the meaning is what it must be and the bytes
// outside the value are what they were.
func TestSpliceProperty(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, uint64(*rounds)))
	refused, total := 0, 0
	values := []string{"plain", "on", "12", "3.10", "a: b", "x # y", "it's", `q"q`, "two\nlines", " lead", "", "ünï", "[a]", "-", "- x", "*x", "&y", "!z", "%d", "@a", "`", "null", "~", "2024-01-01", "12:30", "{a}", "a,b", "#c", "tab\tx", "trail:", "\u2028", "?", "0x1", "1e3", "=", "<<", "\\n", "🙂"}
	for n := range 2500 * *rounds {
		d := &yamlDoc{r: r, nl: []string{"\n", "\n", "\r\n"}[r.IntN(3)]}
		want := d.block("", 0, 3, false)
		src := d.b.String()
		if r.IntN(5) == 0 {
			src = strings.TrimRight(src, "\r\n ")
		}
		if got := readBack(t, src); !reflect.DeepEqual(got, want) && !strings.HasSuffix(src, "end") {
			t.Fatalf("%d: the generator is wrong\n%s\n%#v\n%#v", n, src, got, want)
		}
		want = readBack(t, src)
		value := values[r.IntN(len(values))]
		total++
		switch r.IntN(3) {
		case 0: // an existing scalar
			if len(d.leafs) == 0 {
				continue
			}
			l := d.leafs[r.IntN(len(d.leafs))]
			keys, _ := SplitPath(l.path)
			out, err := splice(src, keys, text(value))
			if err != nil {
				refused++
				t.Logf("%d: %v\n%s", n, err, src)
				continue
			}
			if !strings.HasPrefix(out, src[:l.from]) || !strings.HasSuffix(out, src[l.to:]) {
				t.Fatalf("%d: set %s: bytes outside the value changed\n%s\n----\n%s", n, l.path, src, out)
			}
			if got := readBack(t, out); !reflect.DeepEqual(got, put(want, keys, value)) {
				t.Fatalf("%d: set %s = %q means %#v\n%s", n, l.path, value, got, out)
			}
		case 1: // a new key
			at := ""
			if len(d.maps) > 0 && r.IntN(4) > 0 {
				at = d.maps[r.IntN(len(d.maps))] + "."
			}
			at += "new"
			if r.IntN(3) == 0 {
				at += ".deeper"
			}
			keys, _ := SplitPath(at)
			out, err := splice(src, keys, text(value))
			if err != nil {
				refused++
				t.Logf("%d: %s %v\n%s", n, at, err, src)
				continue
			}
			if pre, suf := ends(src, out); pre+suf < len(src) && !strings.Contains(src, "{}") {
				t.Fatalf("%d: add %s changed what was there\n%s\n----\n%s", n, at, src, out)
			}
			if got := readBack(t, out); !reflect.DeepEqual(got, put(want, keys, value)) {
				t.Fatalf("%d: add %s = %q means %#v\n%s", n, at, value, got, out)
			}
		case 2: // away with it
			all := append([]string{}, d.maps...)
			for _, l := range d.leafs {
				all = append(all, l.path)
			}
			if len(all) == 0 {
				continue
			}
			at := all[r.IntN(len(all))]
			keys, _ := SplitPath(at)
			out, err := splice(src, keys, nil)
			if err != nil {
				refused++
				t.Logf("%d: %s %v\n%s", n, at, err, src)
				continue
			}
			if diff := newLines(src, out); len(diff) > 1 {
				t.Fatalf("%d: remove %s changed %q\n%s\n----\n%s", n, at, diff, src, out)
			}
			if len(out) > len(src)+3 || strings.Count(out, "#") > strings.Count(src, "#") {
				t.Fatalf("%d: remove %s\n%s\n----\n%s", n, at, src, out)
			}
			if got := readBack(t, out); !reflect.DeepEqual(got, drop(want, keys)) {
				t.Fatalf("%d: remove %s means %#v\n%s\n----\n%s", n, at, got, src, out)
			}
		}
	}
	t.Logf("%d of %d refused", refused, total)
	if refused*50 > total {
		t.Errorf("too many refused: %d of %d", refused, total)
	}
}

func FuzzSplice(f *testing.F) {
	f.Add("a: 1 # c\nb:\n  - x\n", "b[0]", "v")
	f.Add("a: |+\n  x\n\n", "a.b", "v")
	f.Add("{a: [b, {c: d}]}", "a[1].c", "")
	f.Fuzz(func(t *testing.T, src, key, value string) {
		keys, err := SplitPath(key)
		if err != nil || len(src) > 4000 {
			return
		}
		src = strings.TrimPrefix(src, "\ufeff")
		Parse("config.yaml", []byte(src), nil)
		for _, v := range []*tree{text(value), nil, list(text(value))} {
			out, err := splice(src, keys, v)
			if err != nil {
				continue
			}
			if _, _, err := parse([]byte(out)); err != nil {
				t.Fatalf("unreadable: %v\n%q", err, out)
			}
		}
	})
}
