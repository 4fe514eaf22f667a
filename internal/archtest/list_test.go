package archtest

import (
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const module = "github.com/hermes-go/hermes"

// root is the module's folder.
var root = sync.OnceValue(func() string {
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		panic(err)
	}
	return dir
})

// pkg is what go list says of a package.
type pkg struct {
	ImportPath, Dir, Doc string
	Imports, GoFiles     []string
	IgnoredGoFiles       []string
	Standard             bool
	Module               *struct{ Path, Version, Dir string }
}

func (p pkg) path() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// platforms are the systems that are built for; what is linked differs.
var platforms = []string{"linux", "darwin", "windows"}

// goList runs go list for one system, without cgo, as the program is built.
func goList(t *testing.T, goos string, args ...string) []pkg {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,Doc,Imports,GoFiles,IgnoredGoFiles,Standard,Module"}, args...)...)
	cmd.Dir = root()
	cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %v: %v\n%s", args, err, stderr.String())
	}
	var list []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

// golden compares text with a file of testdata, or rewrites the file.
func golden(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(old) != text {
		t.Errorf("%s differs; look at the difference, then run: go test ./internal/archtest -update\n%s", file, diff(string(old), text))
	}
}

// diff lists the lines that only one of two texts has.
func diff(old, text string) string {
	a, b := strings.Split(old, "\n"), strings.Split(text, "\n")
	var out []string
	for _, l := range a {
		if !slices.Contains(b, l) {
			out = append(out, "- "+l)
		}
	}
	for _, l := range b {
		if !slices.Contains(a, l) {
			out = append(out, "+ "+l)
		}
	}
	return strings.Join(out, "\n")
}
