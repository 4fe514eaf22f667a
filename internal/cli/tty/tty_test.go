package tty

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		want []Key
	}{
		{"héllo 你", []Key{{Kind: Text, Text: "héllo 你"}}},
		{"a\rb\n\t\x7f", []Key{{Kind: Text, Text: "a"}, {Kind: Enter}, {Kind: Text, Text: "b"}, {Kind: Control, Text: "j", Ctrl: true}, {Kind: Tab}, {Kind: Backspace}}},
		{"\x03\x04\x0c\x1f", []Key{{Kind: Control, Text: "c", Ctrl: true}, {Kind: Control, Text: "d", Ctrl: true}, {Kind: Control, Text: "l", Ctrl: true}, {Kind: Control, Text: "_", Ctrl: true}}},
		{"\x1b[A\x1bOB\x1b[1;5C\x1b[3~\x1b[H", []Key{{Kind: Up}, {Kind: Down}, {Kind: Right, Ctrl: true}, {Kind: Delete}, {Kind: Home}}},
		{"\x1b\r\x1b[13;2u\x1b[27;2;13~", []Key{{Kind: Enter, Alt: true}, {Kind: Enter, Shift: true}, {Kind: Enter, Shift: true}}},
		{"\x1bb\x1b[Z\x1b[99;5u", []Key{{Kind: Text, Text: "b", Alt: true}, {Kind: Tab, Shift: true}, {Kind: Control, Text: "c", Ctrl: true}}},
		{"\x1b[200~one\r\n\x1b[Atwo\x1b[201~x", []Key{{Kind: Paste, Text: "one\r\n\x1b[Atwo"}, {Kind: Text, Text: "x"}}},
		{"\x1b[?1;2c\x1b[I\x1b[57441ux", []Key{{Kind: Text, Text: "x"}}},
	} {
		for piece := 1; piece <= len(c.in); piece++ {
			var d Decoder
			var got []Key
			for b := range slices.Chunk([]byte(c.in), piece) {
				for _, k := range d.Feed(b) {
					got = join(got, k)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q in pieces of %d: got %v, want %v", c.in, piece, got, c.want)
			}
			if d.Pending() {
				t.Errorf("%q: something is left", c.in)
			}
		}
	}
	var d Decoder
	if got := d.Feed([]byte{0x1b}); len(got) != 0 || !d.Pending() {
		t.Errorf("a lone Escape did not wait: %v", got)
	}
	if got := d.Flush(); !slices.Equal(got, []Key{{Kind: Escape}}) {
		t.Errorf("a lone Escape became %v", got)
	}
}

func FuzzKeys(f *testing.F) {
	f.Add([]byte("\x1b[200~a\x1b[201~\x1b[1;5Cx\x1b"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var whole, pieces Decoder
		e := Editor{}
		for _, k := range append(whole.Feed(b), whole.Flush()...) {
			e.Handle(k)
			rows, row, col := e.View("› ", 10)
			if row < 0 || row >= len(rows) || col < 0 || col > 10 {
				t.Fatalf("cursor at %d, %d of %q", row, col, rows)
			}
		}
		for _, c := range b {
			pieces.Feed([]byte{c})
		}
		pieces.Flush()
	})
}

// typed has an editor take keys, written as text with names in angle brackets.
func typed(e *Editor, keys string) Action {
	last := None
	for keys != "" {
		k := Key{Kind: Text}
		if name, rest, ok := strings.Cut(strings.TrimPrefix(keys, "<"), ">"); ok && keys[0] == '<' {
			keys = rest
			if strings.HasPrefix(name, "a-") {
				k.Alt, name = true, name[2:]
			}
			kinds := map[string]Kind{
				"enter": Enter, "tab": Tab, "bs": Backspace, "del": Delete, "esc": Escape, "up": Up, "down": Down,
				"left": Left, "right": Right, "home": Home, "end": End,
			}
			if kind, ok := kinds[name]; ok {
				k.Kind = kind
			} else if strings.HasPrefix(name, "c-") {
				k.Kind, k.Text = Control, name[2:]
			} else if text, ok := strings.CutPrefix(name, "paste "); ok {
				k.Kind, k.Text = Paste, text
			} else {
				k.Text = name
			}
		} else {
			r := []rune(keys)[0]
			k.Text, keys = string(r), keys[len(string(r)):]
		}
		last = e.Handle(k)
	}
	return last
}

func TestEditor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ keys, want string }{
		{"hello", "hello|"},
		{"hello<left><left>X", "helX|lo"},
		{"one two<c-w>", "one |"},
		{"one two-three<a-bs>", "one two-|"},
		{"one two<c-a><c-k>", "|"},
		{"one two<c-a><c-k>a<c-y>", "aone two|"},
		{"one two<c-u>x", "x|"},
		{"a<a-enter>b<c-j>c", "a\nb\nc|"},
		{"abc<c-j>d<up>X", "aX|bc\nd"},
		{"abc<c-j>d<up><end><down>X", "abc\ndX|"},
		{"你好<bs>", "你|"},
		{"👩‍👩‍👧‍👦x<left><bs>", "|x"},
		{"one<c-w><c-_>", "one|"},
		{"one two<a-b><a-b>X", "X|one two"},
		{"one two<home><a-f>X", "oneX| two"},
		{"one<home><a-d>", "|"},
		{"ab<left><del>", "a|"},
		{"<paste a\r\nb\rc>", "a\nb\nc|"},
		{"a<paste \x1b[31m\x07>", "a[31m|"},
		{"a<c-j><up><end><c-k>", "a|"},
	} {
		e := &Editor{}
		typed(e, c.keys)
		if got := e.text[:e.at] + "|" + e.text[e.at:]; got != c.want {
			t.Errorf("%s: got %q, want %q", c.keys, got, c.want)
		}
	}
	for keys, want := range map[string]Action{
		"x<enter>": Submit, "<c-c>": Interrupt, "<c-d>": Quit, "x<c-d>": None, "<tab>": Complete, "<c-l>": Redraw, "<c-z>": Suspend, "<c-g>": Outside, "<esc>": Cancel,
	} {
		if got := typed(&Editor{}, keys); got != want {
			t.Errorf("%s: got %d, want %d", keys, got, want)
		}
	}
}

func TestLargePaste(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("a line\tof text\n", 120)
	e := &Editor{}
	typed(e, "look: <paste "+strings.ReplaceAll(big, "\n", "\r")+">, please")
	rows, row, col := e.View("› ", 60)
	if want := []string{"› look: [pasted 120 lines], please"}; !slices.Equal(rows, want) || row != 0 || col != len("> look: [pasted 120 lines], please") {
		t.Errorf("shown as %q, cursor %d, %d", rows, row, col)
	}
	if e.Text() != "look: "+big+", please" {
		t.Errorf("it is sent as %q", e.Text())
	}
	typed(e, "<a-b><left><left><bs>")
	if e.Text() != "look: , please" {
		t.Errorf("it is taken out as one: %q", e.Text())
	}
	typed(e, "<c-_>")
	if e.Text() != "look: "+big+", please" {
		t.Errorf("it does not come back: %q", e.Text())
	}
	e.Reset()
	typed(e, "\U000F0000x")
	if e.Text() != "x" {
		t.Errorf("what stands for a paste can be typed: %q", e.Text())
	}
}

func TestView(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keys     string
		rows     []string
		row, col int
	}{
		{"", []string{"› "}, 0, 2},
		{"abcdef", []string{"› abcdef"}, 0, 8},
		{"abcdefghij", []string{"› abcdefgh", "  ij"}, 1, 4},
		{"abcdefgh", []string{"› abcdefgh", "  "}, 1, 2},
		{"abcdefgh<left>", []string{"› abcdefgh"}, 0, 9},
		{"a<c-j>", []string{"› a", "  "}, 1, 2},
		{"你好世界你", []string{"› 你好世界", "  你"}, 1, 4},
		{"a你好世界", []string{"› a你好世", "  界"}, 1, 4},
		{"a你好世界<left>", []string{"› a你好世", "  界"}, 1, 2},
		{"a\t", []string{"› a"}, 0, 3},
	} {
		e := &Editor{}
		typed(e, strings.ReplaceAll(c.keys, "\t", ""))
		rows, row, col := e.View("› ", 10)
		if !slices.Equal(rows, c.rows) || row != c.row || col != c.col {
			t.Errorf("%s: got %q, %d, %d", c.keys, rows, row, col)
		}
	}
	e := &Editor{Hidden: true}
	typed(e, "secret")
	if rows, _, _ := e.View("? ", 10); !slices.Equal(rows, []string{"? "}) || e.Text() != "secret" {
		t.Errorf("a hidden line shows %q and holds %q", rows, e.Text())
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	h, err := OpenHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	h.Keep = func(text string) bool { return !strings.Contains(text, "sk-secret") }
	now := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	for _, text := range []string{"one", "two\nlines\n\n+end", "two\nlines\n\n+end", "my key is sk-secret", "  ", "three 你好"} {
		if err := h.Add(text, now); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := "\n# 2026-01-02 03:04:05.000006\n+one\n\n# 2026-01-02 03:04:05.000006\n+two\n+lines\n+\n++end\n\n# 2026-01-02 03:04:05.000006\n+three 你好\n"
	if string(b) != want {
		t.Errorf("the file holds %q", b)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	again, err := OpenHistory(path)
	if err != nil || !slices.Equal(again.Entries(), []string{"one", "two\nlines\n\n+end", "three 你好"}) {
		t.Errorf("read back: %q, %v", again.Entries(), err)
	}
	e := &Editor{History: again}
	for _, c := range []struct{ keys, want string }{
		{"draft<up>", "three 你好"},
		{"<up>", "two\nlines\n\n+end"},
		{"<up>", "two\nlines\n\n+end"}, // a line up in the entry
		{"<up><up><up>", "one"},
		{"<up>", "one"},
		{"<down><down><down><down><down><down><down>", "draft"},
		{"<up><enter>", "three 你好"},
	} {
		typed(e, c.keys)
		if e.Text() != c.want {
			t.Errorf("%s: got %q, want %q", c.keys, e.Text(), c.want)
		}
	}
}

func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	var b strings.Builder
	for i := range 9000 {
		b.WriteString(formatEntry(fmt.Sprintf("entry %d %s", i, strings.Repeat("x", 120)), time.Time{}))
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	h, err := OpenHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	all := h.Entries()
	if len(all) != mostEntries || !strings.HasPrefix(all[len(all)-1], "entry 8999 ") {
		t.Errorf("%d entries, the last is %q", len(all), all[len(all)-1])
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() > mostRead || info.Mode().Perm() != 0o600 {
		t.Errorf("the file was not made shorter: %v, %v", info.Size(), err)
	}
}

// TestLive checks what is written: only lines that changed, and that nothing
// of a region stays behind.
func TestLive(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	width := 20
	l := NewLive(&out, func() (int, int) { return width, 5 })
	draw := func(above, region []string, row, col int) string {
		t.Helper()
		out.Reset()
		if err := l.Draw(above, region, row, col); err != nil {
			t.Fatal(err)
		}
		s := out.String()
		s = strings.TrimSuffix(strings.TrimPrefix(s, "\x1b[?2026h\x1b[?25l"), "\x1b[?25h\x1b[?2026l")
		return strings.ReplaceAll(s, "\x1b", "^")
	}
	for i, c := range []struct {
		above, region []string
		row, col      int
		want          string
	}{
		{nil, []string{"a", "b"}, 1, 1, "\r^[Ja^[K\r\nb^[K\r^[1C"},
		{nil, []string{"a", "bc"}, 1, 2, "^[1A\r\r\nbc^[K\r^[2C"},
		{[]string{"X"}, []string{"a", "bc"}, 0, 0, "^[1A\r^[JX\r\na^[K\r\nbc^[K^[1A\r"},
		{nil, []string{"a"}, 0, 0, "\r\r\n^[J^[1A\r"},
		{nil, []string{"1", "2", "3", "4", "5", "6"}, 5, 0, "\r3^[K\r\n4^[K\r\n5^[K\r\n6^[K\r"},
		{nil, []string{strings.Repeat("w", 30)}, 0, 0, "^[3A\r" + strings.Repeat("w", 18) + "…^[K\r\n^[J^[1A\r"},
	} {
		if got := draw(c.above, c.region, c.row, c.col); got != c.want {
			t.Errorf("%d: got %q, want %q", i, got, c.want)
		}
	}
	draw(nil, []string{"0123456789", "abc"}, 1, 3)
	width = 4 // the first line takes three rows now
	if got := draw(nil, []string{"0", "abc"}, 1, 3); got != "^[3A\r^[J0^[K\r\nabc^[K\r^[3C" {
		t.Errorf("after a change of the width: %q", got)
	}
}
