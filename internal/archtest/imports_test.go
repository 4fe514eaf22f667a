package archtest

import (
	"slices"
	"strings"
	"testing"
)

func TestImports(t *testing.T) {
	t.Parallel()
	for _, goos := range platforms {
		for _, p := range goList(t, goos, "./...") {
			row, ok := Find(p.path())
			if !ok {
				t.Errorf("%s is not in the table; add a row to internal/archtest/table.go", p.path())
				continue
			}
			for _, imp := range p.Imports {
				rel, ours := strings.CutPrefix(imp, module+"/")
				if ours && !row.Allows(rel) {
					t.Errorf("%s (%s) may not import %s; its row allows %s", p.path(), row.About, rel, strings.Join(row.May, ", "))
				}
			}
		}
	}
}

func TestPackageComments(t *testing.T) {
	t.Parallel()
	for _, p := range goList(t, "linux", "./...") {
		name := p.path()[strings.LastIndex(p.path(), "/")+1:]
		if !strings.HasPrefix(p.Doc, "Package "+name) && !strings.HasPrefix(p.Doc, "Command "+name) {
			t.Errorf("%s has no package comment; write one paragraph, \"Package %s ...\", that says what it is and what it is not", p.path(), name)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range Table {
		if seen[r.Path] {
			t.Errorf("%s stands twice", r.Path)
		}
		seen[r.Path] = true
		if r.About == "" {
			t.Errorf("%s says nothing of itself", r.Path)
		}
		for _, m := range r.May {
			if _, group := groups[m]; group || strings.HasSuffix(m, "/*") {
				continue
			}
			if _, ok := Find(m); !ok {
				t.Errorf("%s may import %s, which has no row", r.Path, m)
			}
			if to, _ := Find(m); to.Tests && !r.Tests {
				t.Errorf("%s may import %s, which is for tests only", r.Path, m)
			}
		}
	}
	tools, _ := Find("tools/todo")
	for _, never := range []string{"tools/file", "internal/app", "internal/cli", "internal/gateway", "backends/local", "internal/fakemodel"} {
		if tools.Allows(never) {
			t.Errorf("a tool may import %s", never)
		}
	}
	if i := slices.IndexFunc(Table, func(r Row) bool { return r.Path == "tool" }); !slices.Equal(Table[i].May, []string{"secret"}) {
		t.Error("tool stands at the bottom: it imports secret and nothing else")
	}
}
