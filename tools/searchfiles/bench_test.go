package searchfiles

import (
	"flag"
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

// The tree of the benchmarks; 20,000 files of 11 KB are the aim's.
var (
	benchFiles = flag.Int("bench-files", 2000, "files in the tree that is searched")
	benchBytes = flag.Int("bench-bytes", 11_000, "bytes in each of them")
)

// forest makes the tree: words in lines, in directories of twenty files.
func forest(b testing.TB, root string) {
	b.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	words := make([]string, 5000)
	for i := range words {
		n := 2 + r.IntN(9)
		var w strings.Builder
		for range n {
			w.WriteByte(byte('a' + r.IntN(26)))
		}
		words[i] = w.String()
	}
	for i := range *benchFiles {
		var text strings.Builder
		for text.Len() < *benchBytes {
			for range 4 + r.IntN(8) {
				text.WriteString(words[r.IntN(len(words))])
				text.WriteByte(" (.,_"[r.IntN(5)])
			}
			text.WriteByte('\n')
		}
		if i%1000 == 500 {
			text.WriteString("here is the RareNeedle_42 in a line\n")
		}
		dir := filepath.Join(root, fmt.Sprintf("d%d", i/400), fmt.Sprintf("e%d", i/20))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.%s", i, []string{"go", "py", "txt"}[i%3])), []byte(text.String()), 0o644); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSearch has ripgrep itself, the tool with it and the tool without.
func BenchmarkSearch(bm *testing.B) {
	root := bm.TempDir()
	forest(bm, root)
	for _, c := range []struct{ name, pattern, glob string }{
		{"rare text", "RareNeedle_42", ""},
		{"rare expression", `Rare\w+_\d+`, ""},
		{"no text to look for", `[A-Z][a-z]+[A-Z][a-z]+_\d\d`, ""},
		{"any case", `(?i)rareneedle`, ""},
		{"alternatives", `RareNeedle|CommonNeedle|OtherNeedle`, ""},
		{"every file", `[a-e]+\(`, ""},
		{"glob", "RareNeedle_42", "*.go"},
		{"nothing", "no such text anywhere", ""},
	} {
		bm.Run(c.name+"/rg itself", func(bm *testing.B) {
			for bm.Loop() {
				cmd := exec.Command("rg", "--no-heading", "--line-number", "--with-filename", c.pattern, root)
				if c.glob != "" {
					cmd.Args = append(cmd.Args, "--glob="+c.glob)
				}
				_, _ = cmd.Output() // 1: nothing found
			}
		})
		for _, engine := range []string{"with rg", "built in"} {
			bm.Run(c.name+"/"+engine, func(bm *testing.B) {
				b := filestest.New(bm)
				if engine == "built in" {
					b.Wrap = func(e backend.Env) backend.Env { return bare{e, e.(backend.FileSystem)} }
				}
				for i := 0; bm.Loop(); i++ {
					// Another limit each time: repetitions are refused.
					if r := b.Call("search_files", given{"pattern": c.pattern, "path": root, "file_glob": c.glob, "limit": 50 + i%7}); r.Err != nil {
						bm.Fatal(r.JSON)
					}
				}
			})
		}
	}
}

func BenchmarkNames(bm *testing.B) {
	root := bm.TempDir()
	forest(bm, root)
	b := filestest.New(bm)
	for i := 0; bm.Loop(); i++ {
		b.Call("search_files", given{"pattern": "*.go", "target": "files", "path": root, "limit": 50 + i%7})
	}
}

// BenchmarkAutomaton is the speed of the table alone.
func BenchmarkAutomaton(bm *testing.B) {
	root := bm.TempDir()
	*benchFiles, *benchBytes = 1, 8<<20
	forest(bm, root)
	data, err := os.ReadFile(filepath.Join(root, "d0", "e0", "f0.go"))
	if err != nil {
		bm.Fatal(err)
	}
	for _, expr := range []string{`(?i)rareneedle`, `RareNeedle|CommonNeedle|OtherNeedle`, `[A-Z][a-z]+[A-Z][a-z]+_\d\d`, `\bfoo\b|\d{4}-\d\d`} {
		bm.Run(expr, func(bm *testing.B) {
			p, err := newPattern(expr)
			if err != nil {
				bm.Fatal(err)
			}
			a, err := newAutomaton(p)
			if err != nil {
				bm.Fatal(err)
			}
			bm.SetBytes(int64(len(data)))
			for bm.Loop() {
				a.find(data, 0)
			}
		})
	}
}
