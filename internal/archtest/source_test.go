package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestSource holds what starts with the program to "register, nothing else":
// an init only registers, a package variable costs nothing, and the
// environment is read in one place.
func TestSource(t *testing.T) {
	t.Parallel()
	for _, p := range goList(t, "linux", "./...") {
		row, _ := Find(p.path())
		if row.Tests {
			continue
		}
		for _, problem := range inspect(t, p) {
			t.Error(problem)
		}
	}
}

func TestInspect(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, code, want string }{
		{"register", `import "x/tool"; func init() { tool.Register(tool.Func(tool.Tool{Name: "a"}, nil)) }`, ""},
		{"register in a loop", `import "x/tool"; func init() { for _, t := range list { tool.Register(t) } }`, ""},
		{"work in init", `func init() { load() }`, "init does more than register"},
		{"assignment in init", `var x int; func init() { x = 1 }`, "init does more than register"},
		{"work inside a registration", `import ("x/tool"; "os"); func init() { tool.Register(os.Getpid()) }`, "calls os.Getpid"},
		{"regexp", `import "regexp"; var r = regexp.MustCompile("a")`, "calls regexp.MustCompile"},
		{"regexp, lazily", `import ("regexp"; "sync"); var r = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("a") })`, ""},
		{"map", `var m = map[string]int{` + strings.Repeat(`"a": 1, `, 17) + `}`, "builds a map"},
		{"a handful in a map", `var m = map[string]int{"a": 1}`, ""},
		{"own method in a registration", `import "x/tool"; func init() { tool.Register(list[0].tool()) }`, ""},
		{"map made empty", `var m = make(map[string]int)`, ""},
		{"own function", `var x = load(); func load() int { return 1 }`, "calls load"},
		{"conversion", `type kind string; var x = kind("a")`, ""},
		{"error value", `import "errors"; var errX = errors.New("x")`, ""},
		{"environment", `import "os"; func f() string { return os.Getenv("A") }`, "os.Getenv"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, "x.go", "package x\n"+tt.code, 0)
			if err != nil {
				t.Fatal(err)
			}
			got := inspectFiles(fset, "x", []*ast.File{file})
			if tt.want == "" && len(got) > 0 {
				t.Errorf("got %v", got)
			}
			if tt.want != "" && !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, tt.want) }) {
				t.Errorf("got %q, want one with %q", got, tt.want)
			}
		})
	}
}

// free are the calls that a package variable may make: they allocate at most a
// word or two, or put the work off. Type conversions look like calls.
var free = []string{
	"errors.New", "new", "make", "len", "append", "sync.OnceValue", "sync.OnceValues", "sync.OnceFunc",
	"string", "int", "int64", "float64", "[]byte", "[]string", "json.RawMessage", "time.Duration", "reflect.TypeFor",
	"maphash.MakeSeed",
	// One schema made of another by replacing a few words: about a microsecond.
	"strings.Replace", "strings.NewReplacer", "Replace",
}

// freePackages are our contracts: what they offer to registrations only builds
// values.
var freePackages = []string{"tool", "provider", "backend", "secret", "registry", "agent", "hub", "host", "platform"}

func inspect(t *testing.T, p pkg) []string {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range slices.Concat(p.GoFiles, p.IgnoredGoFiles) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return inspectFiles(fset, p.path(), files)
}

func inspectFiles(fset *token.FileSet, path string, files []*ast.File) (problems []string) {
	types := map[string]bool{}
	for _, f := range files {
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
				for _, s := range g.Specs {
					types[s.(*ast.TypeSpec).Name.Name] = true
				}
			}
		}
	}
	for _, f := range files {
		report := func(n ast.Node, format string, args ...any) {
			pos := fset.Position(n.Pos())
			name := filepath.Base(pos.Filename)
			problems = append(problems, fmt.Sprintf("%s/%s:%d: %s", path, name, pos.Line, fmt.Sprintf(format, args...)))
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == "init" {
					checkInit(d, types, report)
				}
			case *ast.GenDecl:
				if d.Tok == token.VAR {
					checkWork(d, types, false, report)
				}
			}
		}
		if path != "secret" && !strings.HasPrefix(path, "cmd/") {
			checkEnvironment(f, report)
		}
	}
	return problems
}

// handful is the number of entries up to which a map costs less to build than
// it would to look at twice.
const handful = 16

type reporter func(n ast.Node, format string, args ...any)

// checkInit allows calls of Register, alone or in a loop.
func checkInit(fn *ast.FuncDecl, types map[string]bool, report reporter) {
	var walk func(list []ast.Stmt)
	walk = func(list []ast.Stmt) {
		for _, s := range list {
			switch s := s.(type) {
			case *ast.RangeStmt:
				walk(s.Body.List)
				continue
			case *ast.ForStmt:
				walk(s.Body.List)
				continue
			case *ast.ExprStmt:
				if call, ok := s.X.(*ast.CallExpr); ok && strings.Contains(callee(call), ".Register") {
					for _, arg := range call.Args {
						checkWork(arg, types, true, report)
					}
					continue
				}
			}
			report(s, "init does more than register; do it at first use, in a sync.OnceValue")
		}
	}
	walk(fn.Body.List)
}

// checkWork reports what costs time when the program starts. The bodies of
// functions run later. In a registration the package's own functions may build
// the value; start_test.go measures them.
func checkWork(n ast.Node, types map[string]bool, own bool, report reporter) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CompositeLit:
			if _, ok := n.Type.(*ast.MapType); ok && len(n.Elts) > handful {
				report(n, "builds a map at every start; use a switch, a slice or a sync.OnceValue")
			}
		case *ast.CallExpr:
			name := callee(n)
			pkg, _, qualified := strings.Cut(name, ".")
			if name == "" || slices.Contains(free, name) || types[name] || qualified && slices.Contains(freePackages, pkg) || own && !qualified {
				return true
			}
			report(n, "calls %s at every start; use a sync.OnceValue", name)
		}
		return true
	})
}

func checkEnvironment(f *ast.File, report reporter) {
	local := ""
	for _, spec := range f.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil && p == "os" {
			if local = "os"; spec.Name != nil {
				local = spec.Name.Name
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		id, ok := sel.X.(*ast.Ident)
		if ok && local != "" && id.Name == local && slices.Contains([]string{"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv"}, sel.Sel.Name) {
			report(n, "os.%s: only secret and cmd touch the environment; ask secret.Store or take the value from the caller", sel.Sel.Name)
		}
		return true
	})
}

// callee is the written name of what is called, "" for something that is no
// name (a conversion to a literal type, a call of a call).
func callee(call *ast.CallExpr) string {
	fun := ast.Unparen(call.Fun)
	switch x := fun.(type) {
	case *ast.IndexExpr:
		fun = x.X
	case *ast.IndexListExpr:
		fun = x.X
	}
	switch x := fun.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		if id, ok := x.X.(*ast.Ident); ok {
			return id.Name + "." + x.Sel.Name
		}
		return x.Sel.Name // a method
	}
	return ""
}
