package searchfiles

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/files/filestest"
)

// TestBothAgree searches random trees, with random ignore files, for every
// expression that the automaton is tested with, and compares the answers of
// the two engines.
func TestBothAgree(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("rg"); err != nil {
		t.Skip("ripgrep is not installed")
	}
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(of []string) string { return of[r.IntN(len(of))] }
	names := []string{"a", "b.go", "c.py", "build", ".hid", "x.o", "foo", "foo.txt", "日本", "B.GO", "a b", "-n"}
	ignores := []string{"*.o", "build/", "/a", "!x.o", "foo*", "b.go", "**/c.py", "a/**/foo", ".hid", "!.hid", "/a/b.go", "a/*", "!a/foo", "[ab]*", "\\!x", "#c", " ", "build", "*.go\n!b.go"}
	dirs := []string{"", "a/", "a/build/", "foo/", ".hid/", "a/foo/a/", "日本/"}
	for round := range 4 {
		b := filestest.New(t)
		with := 0
		for range 40 {
			n := pick(dirs) + pick(names)
			if info, err := os.Stat(b.At(n)); err == nil && info.IsDir() {
				continue
			}
			if info, err := os.Stat(filepath.Dir(b.At(n))); err == nil && !info.IsDir() {
				continue
			}
			var text strings.Builder
			for range 1 + r.IntN(4) {
				text.WriteString(pick(texts))
			}
			if os.MkdirAll(filepath.Dir(b.At(n)), 0o755) == nil { // else: a file stands where a directory should
				b.Put(n, text.String())
			}
		}
		for _, name := range []string{".gitignore", ".ignore", ".rgignore"} {
			for _, dir := range dirs[:4] {
				if info, err := os.Stat(b.At(dir)); r.IntN(3) == 0 && err == nil && info.IsDir() {
					var text strings.Builder
					for range 1 + r.IntN(4) {
						text.WriteString(pick(ignores) + "\n")
					}
					b.Put(dir+name, text.String())
				}
			}
		}
		if info, err := os.Stat(b.At("foo")); round%2 == 1 && err == nil && info.IsDir() {
			b.Put("foo/.git/HEAD", "x")
		}
		rg := filestest.New(t)
		rg.Dir = b.Dir
		rg.Wrap = func(e backend.Env) backend.Env { return watched{e, e.(backend.FileSystem), &with} }
		b.Wrap = func(e backend.Env) backend.Env { return bare{e, e.(backend.FileSystem)} }
		for i, expr := range expressions {
			if expr == "" || expr == `[^\n]x` {
				continue
			}
			for _, hidden := range []bool{false, true} {
				a := given{"pattern": expr, "limit": 1000, "include_hidden": hidden, "path": pick([]string{".", "a", "foo", ".hid"})}
				if i%3 == 0 {
					a["file_glob"] = pick([]string{"*.go", "f*", "**/*.py", "*.{go,py}", "?"})
				}
				one, two := b.Call("search_files", a), rg.Call("search_files", a)
				if rowsOf(one) != rowsOf(two) || (one.Err == nil) != (two.Err == nil) {
					t.Errorf("round %d, %v:\nbuilt in\n%s\nripgrep\n%s", round, a, rowsOf(one)+fmt.Sprint(one.Err), rowsOf(two)+fmt.Sprint(two.Err))
				}
			}
		}
		if with == 0 {
			t.Error("ripgrep never answered")
		}
	}
}
