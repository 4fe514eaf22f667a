package secret

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var rounds = flag.Int("rounds", 1, "how many times as many random cases, each time others")

func opened(t *testing.T, env string, process ...string) *Store {
	t.Helper()
	home := t.TempDir()
	if env != "" {
		if err := os.WriteFile(filepath.Join(home, ".env"), []byte(env), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(home, process)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func content(t *testing.T, s *Store) string {
	t.Helper()
	b, err := os.ReadFile(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// F-102, and what else people write there.
func TestReadEnv(t *testing.T) {
	t.Parallel()
	const text = "\xef\xbb\xbfA=${B}\r\nB=1\r\n# note\r\nC=\"x # y\"\r\nD='a$b'\r\nexport E=2\r\nF=a=b\r\n\r\n  G = spaced out # c\r\nH=\r\nI= # only a comment\r\nJ=#x\r\nK=a#b\r\n" +
		"L=\"say \\\"hi\\\"\\n\\d\"\r\nM='it\\'s \\\\ \\n'\r\nN=$1pa$$word$B\r\nO='${B}'\r\nP=${NOPE}\r\nQ=${NOPE:-dflt}${B:-x}\r\nR=\"two\nlines\"\r\nS=\"open\r\nT=a\"b\r\nexportU=1\r\nV=last\r\nV=wins\r\nW=C:\\new\\dir\r\nX=${Y}\r\nY=${X}\r\nno assignment\r\nZ=${HOST}"
	s := opened(t, text, "HOST=h")
	for name, want := range map[string]string{
		"A": "1", "B": "1", "C": "x # y", "D": "a$b", "E": "2", "F": "a=b", "G": "spaced out", "H": "", "I": "", "J": "#x", "K": "a#b",
		"L": "say \"hi\"\n\\d", "M": `it's \ \n`, "N": "$1pa$$word$B", "O": "${B}", "P": "${NOPE}", "Q": "dflt1", "R": "two\nlines", "S": `"open`, "T": `a"b`,
		"exportU": "1", "V": "wins", "W": `C:\new\dir`, "X": "${X}", "Y": "${X}", "Z": "h",
	} {
		if got, _, ok := s.Lookup(name); got != want || !ok {
			t.Errorf("%s = %q %v, want %q", name, got, ok, want)
		}
	}
	if w := strings.Join(s.Warnings(), "\n"); !strings.Contains(w, "the quotes do not match") || !strings.Contains(w, "skipped") {
		t.Errorf("warnings: %s", w)
	}
}

func TestLatin1(t *testing.T) {
	t.Parallel()
	s := opened(t, "NAME=caf\xe9\nA=1\n")
	if got := s.Get("NAME"); got != "café" {
		t.Errorf("%q", got)
	}
	if _, err := s.Set("A", "2"); err != nil {
		t.Fatal(err)
	}
	if got := content(t, s); got != "NAME=caf\xe9\nA=2\n" {
		t.Errorf("%q", got)
	}
}

func TestSetChangesOneLine(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, text, value, want string }{
		{"new in an empty file", "", "v", "A=v\n"},
		{"new after no line end", "B=1", "v", "B=1\nA=v\n"},
		{"in place", "# c\nA=old # why\nB=1\n", "new", "# c\nA=new # why\nB=1\n"},
		{"keeps export and blanks", "export  A =  \"o\"  # c\n", "n", "export  A =  n  # c\n"},
		{"crlf", "X=1\r\nA=2\r\n", "3", "X=1\r\nA=3\r\n"},
		{"crlf, added", "X=1\r\n", "3", "X=1\r\nA=3\r\n"},
		{"bom", "\xef\xbb\xbfA=1\n", "2", "\xef\xbb\xbfA=2\n"},
		{"bom alone", "\xef\xbb\xbf", "2", "\xef\xbb\xbfA=2\n"},
		{"the last one counts", "A=1\nA=2\n", "3", "A=1\nA=3\n"},
		{"hash", "A=1\n", "x # y", "A='x # y'\n"},
		{"dollar", "A=1\n", "a${B}c", "A='a${B}c'\n"},
		{"plain dollar", "A=1\n", "pa$$w", "A='pa$$w'\n"},
		{"single quote", "A=1\n", "it's", "A=it's\n"},
		{"both quotes", "A=1\n", `'a" b`, `A="'a\" b"` + "\n"},
		{"backslash", "A=1\n", `C:\new`, `A=C:\new` + "\n"},
		{"comment glued to the quotes", "A=\"x\"# c\n", "y", "A='y'# c\n"},
		{"line breaks go", "A=1\n", "a\r\nb", "A=ab\n"},
		{"same value", "A=\"v\"   # c\n", "v", "A=\"v\"   # c\n"},
		{"empty", "A=v # c\n", "", "A= # c\n"},
		{"into nothing", "A= # c\n", "v", "A=v # c\n"},
		{"blanks kept", "A=1\n", " x ", "A=' x '\n"},
		{"open quote elsewhere", "B=\"open\nA=1\n", "2", "B=\"open\nA=2\n"},
		{"commented out", "# A=1\nB=2\n", "3", "# A=1\nB=2\nA=3\n"},
		{"multi-line value", "A=\"x\ny\"\nB=1\n", "z", "A=z\nB=1\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := opened(t, tc.text)
			if _, err := s.Set("A", tc.value); err != nil {
				t.Fatal(err)
			}
			if got := content(t, s); got != tc.want {
				t.Errorf("file = %q, want %q", got, tc.want)
			}
			want := strings.NewReplacer("\r", "", "\n", "").Replace(tc.value)
			again, _ := Open(s.Home(), nil)
			if s.Get("A") != want || again.Get("A") != want {
				t.Errorf("value = %q, %q, want %q", s.Get("A"), again.Get("A"), want)
			}
		})
	}
}

func TestUnset(t *testing.T) {
	t.Parallel()
	s := opened(t, "# top\nA=1\nB=\"x\ny\" # c\nA=2\n# tail", "A=p")
	if err := s.Unset("A"); err != nil {
		t.Fatal(err)
	}
	if err := s.Unset("B"); err != nil {
		t.Fatal(err)
	}
	if err := s.Unset("NOT_THERE"); err != nil {
		t.Fatal(err)
	}
	if got := content(t, s); got != "# top\n# tail" {
		t.Errorf("%q", got)
	}
	if _, _, ok := s.Lookup("A"); ok {
		t.Error("A still counts")
	}
	if err := opened(t, "").Unset("A"); err != nil {
		t.Error(err)
	}
}

func TestFilesAreKeptAsTheyAre(t *testing.T) {
	t.Parallel()
	t.Run("mode of a new file", func(t *testing.T) {
		s := opened(t, "")
		s.Set("A", "1")
		if st, _ := os.Stat(s.Path()); st.Mode().Perm() != 0o600 {
			t.Error(st.Mode())
		}
	})
	t.Run("mode kept, link followed", func(t *testing.T) {
		s := opened(t, "")
		target := filepath.Join(t.TempDir(), "real")
		os.WriteFile(target, []byte("A=1\n"), 0o640)
		os.Symlink(target, s.Path())
		if _, err := s.Set("A", "2"); err != nil {
			t.Fatal(err)
		}
		st, _ := os.Stat(target)
		if b, _ := os.ReadFile(target); string(b) != "A=2\n" || st.Mode().Perm() != 0o640 {
			t.Errorf("%q %v", b, st.Mode())
		}
		if l, err := os.Readlink(s.Path()); err != nil || l != target {
			t.Error("the link is gone")
		}
	})
	t.Run("link to a file still to be made", func(t *testing.T) {
		s := opened(t, "")
		os.Symlink("later.env", s.Path())
		if _, err := s.Set("A", "2"); err != nil {
			t.Fatal(err)
		}
		if b, _ := os.ReadFile(filepath.Join(s.Home(), "later.env")); string(b) != "A=2\n" {
			t.Errorf("%q", b)
		}
	})
	for name, tc := range map[string]struct {
		prepare func(home string)
		want    []string
	}{
		"marked read-only": {func(h string) { os.Chmod(filepath.Join(h, ".env"), 0o400) }, []string{".env", "read-only (mode 0400)", "chmod u+w"}},
		"a directory":      {func(h string) { os.Remove(filepath.Join(h, ".env")); os.Mkdir(filepath.Join(h, ".env"), 0o700) }, []string{".env", "is a directory"}},
		"no home":          {func(h string) { os.RemoveAll(h) }, []string{".env", "make the directory writable"}},
		"link in a circle": {func(h string) {
			os.Remove(filepath.Join(h, ".env"))
			os.Symlink(".env", filepath.Join(h, ".env"))
		}, []string{".env", "circle"}},
		"managed":        {func(h string) { os.WriteFile(filepath.Join(h, ".managed"), nil, 0o600) }, []string{"managed by NixOS"}},
		"read-only home": {func(h string) { os.Chmod(h, 0o500) }, []string{".env", "cannot make a file in", "set HERMES_HOME"}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "read-only home" && os.Geteuid() == 0 {
				t.Skip("root writes everywhere")
			}
			s := opened(t, "A=1\n")
			tc.prepare(s.Home())
			s2, _ := Open(s.Home(), nil)
			_, err := s2.Set("A", "2")
			if err == nil {
				t.Fatal("want an error")
			}
			for _, w := range tc.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error lacks %q: %v", w, err)
				}
			}
			os.Chmod(s.Home(), 0o700)
			if left, _ := filepath.Glob(filepath.Join(s.Home(), ".*tmp")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	t.Run("changed in between", func(t *testing.T) {
		s := opened(t, "A=1\n")
		err := UpdateFile(s.Path(), func(old []byte) ([]byte, error) {
			os.WriteFile(s.Path(), []byte("A=9\n"), 0o600)
			return []byte("A=2\n"), nil
		})
		if err == nil || content(t, s) != "A=9\n" {
			t.Errorf("%v %q", err, content(t, s))
		}
	})
}

func TestSetRefuses(t *testing.T) {
	t.Parallel()
	s := opened(t, "")
	for _, name := range []string{"", "1A", "A-B", "A B", "Ä", "A=B", "A\n"} {
		if _, err := s.Set(name, "v"); err == nil {
			t.Errorf("%q accepted", name)
		}
	}
	if _, err := s.Set("A", "a\x00b"); err == nil {
		t.Error("zero byte accepted")
	}
	note, err := s.Set("MY_API_KEY", "sk–abc\u200bdef")
	if err != nil || !strings.Contains(note, "U+2013, U+200B") || s.Get("MY_API_KEY") != "skabcdef" {
		t.Errorf("%q %v %q", note, err, s.Get("MY_API_KEY"))
	}
	if _, err := s.Set("PROMPT", "中文"); err != nil || s.Get("PROMPT") != "中文" {
		t.Error(err)
	}
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	s := opened(t, "A=file\nE=\nK_API_KEY=a–b\n", "A=proc", "P=proc", "E=proc")
	if v, src, _ := s.Lookup("A"); v != "file" || src != FromFile || !s.Shadowed("A") {
		t.Error(v, src)
	}
	if v, src, _ := s.Lookup("P"); v != "proc" || src != FromProcess || s.Shadowed("P") {
		t.Error(v, src)
	}
	if v, _, ok := s.Lookup("E"); v != "" || !ok || s.Has("E") {
		t.Error("set to nothing must hide the process's value")
	}
	if w := s.Warnings(); s.Get("K_API_KEY") != "ab" || len(w) != 1 || !strings.Contains(w[0], "U+2013") {
		t.Error(w)
	}
	s = opened(t, "A=file\nF=file\n", "A=proc", "HERMES_ENV_FIRST=1")
	if s.Get("A") != "proc" || s.Get("F") != "file" {
		t.Error("HERMES_ENV_FIRST has no effect")
	}
	if env := strings.Join(s.Environ(), " "); env != "A=proc F=file HERMES_ENV_FIRST=1" {
		t.Error(env)
	}
	for v, want := range map[string]bool{"": false, "abc": false, "****": false, "ChangeMe": false, "none": false, "abcd": true, " x  ": false} {
		if Usable(v) != want {
			t.Errorf("Usable(%q)", v)
		}
	}
}

// randomEnv builds a file of odd but legal lines and what each name means.
func randomEnv(r *rand.Rand) (string, []string) {
	nl := []string{"\n", "\r\n"}[r.IntN(2)]
	var b strings.Builder
	if r.IntN(5) == 0 {
		b.WriteString("\xef\xbb\xbf")
	}
	var names []string
	for range r.IntN(12) {
		name := fmt.Sprintf("N%d", r.IntN(6))
		v := []string{"", "x", "a b", "'q r'", "\"d \\\" # q\"", "a#b", "v # note", "'mu" + nl + "lti'", "\"unclosed", "k=v", "$x${y}", "\\n", "ünïcode", "it's"}[r.IntN(14)]
		switch r.IntN(6) {
		case 0:
			b.WriteString("# comment " + v + nl)
		case 1:
			b.WriteString("  " + nl)
		case 2:
			b.WriteString("export " + name + " = " + v + nl)
			names = append(names, name)
		default:
			b.WriteString(name + "=" + v + nl)
			names = append(names, name)
		}
	}
	text := b.String()
	if r.IntN(4) == 0 {
		text = strings.TrimRight(text, "\r\n")
	}
	return text, names
}

func randomValue(r *rand.Rand) string {
	const chars = "abcXYZ019 _-./#'\"\\$={}()&|;~`!?*\tä中"
	runes := []rune(chars)
	var b strings.Builder
	for range r.IntN(20) {
		b.WriteRune(runes[r.IntN(len(runes))])
	}
	return b.String()
}

// Setting and removing touch one assignment and nothing else, whatever the
// file looks like.
func TestEnvProperty(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, uint64(*rounds)))
	refused := 0
	for n := range 4000 * *rounds {
		text, _ := randomEnv(r)
		name, value := fmt.Sprintf("N%d", r.IntN(7)), randomValue(r)
		before, _ := parseEnv([]byte(text))
		out, err := setEnv([]byte(text), name, value)
		if err != nil {
			refused++
			continue
		}
		after, _ := parseEnv(out)
		got := resolveEnv(after, nil)
		if got[name] != value {
			t.Fatalf("%d: %q: %s=%q reads back as %q\n%q", n, text, name, value, got[name], out)
		}
		last := -1
		for i, a := range before {
			if a.name == name {
				last = i
			}
		}
		if last >= 0 {
			a := before[last]
			if !bytes.HasPrefix(out, []byte(text[:a.from])) || !bytes.HasSuffix(out, []byte(text[a.to:])) {
				t.Fatalf("%d: bytes outside the value changed:\n%q\n%q", n, text, out)
			}
		} else if !bytes.HasPrefix(out, []byte(text)) {
			t.Fatalf("%d: bytes before the new line changed:\n%q\n%q", n, text, out)
		}
		gone, _, err := unsetEnv(out, name)
		if err != nil {
			continue
		}
		left, _ := parseEnv(gone)
		want := 0
		for _, a := range after {
			if a.name != name {
				want++
			}
		}
		if len(left) != want {
			t.Fatalf("%d: removing %s left %d of %d:\n%q\n%q", n, name, len(left), want, out, gone)
		}
	}
	if refused > 200**rounds {
		t.Errorf("%d of %d edits refused", refused, 4000**rounds)
	}
	t.Logf("refused %d", refused)
}

func FuzzEnv(f *testing.F) {
	f.Add("A=1\nB=\"x\n", "A", "v")
	f.Add("\xef\xbb\xbfA='x'\r\n", "B", "a'b\"")
	f.Fuzz(func(t *testing.T, text, name, value string) {
		all, _ := parseEnv([]byte(text))
		resolveEnv(all, nil)
		pos := 0
		for _, a := range all {
			if a.start < pos || a.end <= a.start || a.from < a.start || a.to < a.from || a.to > a.end || a.end > len(text) {
				t.Fatalf("places out of order: %+v", a)
			}
			pos = a.end
		}
		if !ValidName(name) || strings.ContainsAny(value, "\x00\r\n") || strings.ToValidUTF8(value, "") != value {
			return
		}
		out, err := setEnv([]byte(text), name, value)
		if err != nil {
			return
		}
		now, _ := parseEnv(out)
		if got := resolveEnv(now, nil)[name]; got != value {
			t.Fatalf("%q reads back as %q in %q", value, got, out)
		}
	})
}

func TestGlued(t *testing.T) {
	t.Parallel()
	s := opened(t, "# c\nFIRST_KEY=abcSECOND_KEY=defTHIRD_KEY=x # n\nA='xSECOND_KEY=y'\nE=")
	s.Declare(Var{Name: "SECOND_KEY"}, Var{Name: "THIRD_KEY"})
	if got := strings.Join(s.Glued(), " "); got != "SECOND_KEY THIRD_KEY" {
		t.Error(got)
	}
	if err := s.SplitGlued(); err != nil {
		t.Fatal(err)
	}
	if got := content(t, s); got != "# c\nFIRST_KEY=abc\nSECOND_KEY=def\nTHIRD_KEY=x # n\nA='xSECOND_KEY=y'\nE=" || s.Get("THIRD_KEY") != "x" || len(s.Glued()) > 0 {
		t.Errorf("%q", got)
	}
}

// Several processes set values at once and none is lost: each Store here
// stands for one of them.
func TestSetAtOnce(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			s, _ := Open(home, nil)
			for j := range 4 {
				if _, err := s.Set(fmt.Sprintf("N_%d_%d", i, j), "v"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	s, _ := Open(home, nil)
	if n := len(s.Names()); n != 24 {
		t.Errorf("%d of 24 values kept", n)
	}
}
