package edit

import (
	"errors"
	"strings"
	"testing"
)

func TestReplace(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, content, old, new string
		all                     bool
		want, strategy          string
	}{
		{"exact", "a\nb\nc\n", "b", "B", false, "a\nB\nc\n", Exact},
		{"exact deletes", "a\nb\nc\n", "b\n", "", false, "a\nc\n", Exact},
		{"case 45 all", "aa", "a", "b", true, "bb", Exact},
		{"overlapping matches advance by their length", "aaa", "aa", "b", true, "ba", Exact},
		{"case 46", "def f():\n  a = 1\n  b = 2\n", "a = 1\n b = 2", "a = 1\nb = 3", false, "def f():\n  a = 1\n  b = 3\n", LineTrimmed},
		{"F-001", "alpha\nbeta\ngamma\n", `alpha\nbeta`, `A\nB`, false, "A\nB\ngamma\n", EscapeNormal},
		{"F-001 crlf", "alpha\r\nbeta\r\ngamma\r\n", `alpha\nbeta`, `A\nB`, false, "A\r\nB\r\ngamma\r\n", EscapeNormal},
		{
			"F-002", "def o():\r\n    a = 1\r\n    if a:\r\n        b = 2\r\n        print(b)\r\n",
			"if a:\n        b = 2\n        print(b)", "if a:\n        b = 9\n        print(b)", false,
			"def o():\r\n    a = 1\r\n    if a:\r\n        b = 9\r\n        print(b)\r\n", Exact,
		},
		{
			"F-002 by lines", "def o():\r\n    a = 1\r\n    if a: \r\n        b = 2\r\n        print(b)\r\n",
			"if a:\n        b = 2\n        print(b)\n", "if a:\n        b = 9\n        print(b)\n            c = 3\n", false,
			"def o():\r\n    a = 1\r\n    if a: \r\n        b = 9\r\n        print(b)\r\n            c = 3\r\n", LineTrimmed,
		},
		{
			"F-003", "| a | dir\\run_x.bat |\r\n| b | dir\\run_y.bat |\r\n",
			"| a | dir\\run_x.bat |\n| b | dir\\run_y.bat |", "| a | dir\\run_x.bat |", false,
			"| a | dir\\run_x.bat |\r\n", Exact,
		},
		{
			"F-003 fuzzy", "| a |  dir\\run_x.bat |\r\n| b | dir\\run_y.bat |\r\n",
			"| a | dir\\run_x.bat |\n| b | dir\\run_y.bat |", "| a | dir\\run_x.bat |", false,
			"| a |  dir\\run_x.bat |\r\n", WhitespaceNormal,
		},
		{"F-004", "wait — “done” now\n", `wait -- "done" now`, `wait -- "done" later`, false, "wait — “done” later\n", UnicodeNormal},
		{"F-004 lines", "  wait — “done” now  \n", "wait -- \"done\" now\n", "wait -- \"done\" later\n", false, "  wait — “done” later\n", UnicodeNormal},
		{"F-004 new quotes stay", "say ‘a’ … b\n", "say 'a' ... b", "say 'a' ... \"c\"", false, "say ‘a’ … \"c\"\n", UnicodeNormal},
		{"F-005", "x=1\n", "x=1", `x=$'\"'`, false, "x=$'\\\"'\n", Exact},
		{"F-011 tabs", "if x {\n\treturn x\n}\n", "    return x", "    return y", false, "if x {\n\treturn y\n}\n", LineTrimmed},
		{"F-011 deeper", "\tif x:\n\t\treturn x\n", "    if x:\n        return x", "    if x:\n        if y:\n            return y\n    else:\n        z()", false, "\tif x:\n\t\tif y:\n\t\t\treturn y\n\telse:\n\t\tz()\n", LineTrimmed},
		{"F-011 no last newline", "a\nb", "b\n", "c\n", false, "a\nc", LineTrimmed},
		{"F-011 fence", "a\nb\n", "```go\nb\n```", "```go\nc\n```", false, "a\nc\n", FenceStripped},
		{"whitespace", "x  =\tfoo( a )\n", "x = foo( a )", "x = foo( b )", false, "x  =\tfoo( b )\n", WhitespaceNormal},
		{"whitespace inside a line", "if (x  ==  1) { y }\n", "x == 1", "x == 2", false, "if (x  ==  2) { y }\n", WhitespaceNormal},
		{"indentation, from the middle of a line", "x = f(a,\n      b)\n", "f(a,\nb)", "f(a,\nc)", false, "x = f(a,\n      c)\n", IndentationFlexible},
		{"boundary", "x = f(1)\ny = 2\n", "\n f(1)\ny = 2 \n\n", "\n f(3)\ny = 2 \n\n", false, "x = f(3)\ny = 2\n", TrimmedBoundary},
		{
			"block anchor", "func a() {\n\tx := compute(alpha, 1)\n\ty := 2\n}\nrest\n",
			"func a() {\n    x := compute(alfa, 1)\n    y := 2\n}", "func a() {\n    x := compute(alfa, 1)\n    y := 3\n}", false,
			"func a() {\n\tx := compute(alpha, 1)\n\ty := 3\n}\nrest\n", BlockAnchor,
		},
		{
			"context", "one line here\n  two lines here\n  three lines here\nfour lines\n",
			"one line hero\ntwo lines here\nthree lines here", "one line hero\ntwo lines here\nthree lines there", false,
			"one line here\n  two lines here\n  three lines there\nfour lines\n", ContextAware,
		},
		{"scaled indentation", "a:\n    b:\n        c\n", "a:\n  b:\n    c", "a:\n  b:\n    c\n      d", false, "a:\n    b:\n        c\n            d\n", LineTrimmed},
		{"classic line ends", "a\rb\rc\r", "b\nc", "x\ny", false, "a\rx\ry\r", Exact},
		{"mixed line ends", "a\r\nb\nc\r\nd\n", "b\nc\nd", "b\nC\nnew\nd", false, "a\r\nb\nC\r\nnew\r\nd\n", Exact},
		{"line ends of the argument", "a\nb\n", "a\r\nb", "x\r\ny", false, "x\ny\n", Exact},
		{"all, fuzzy", "\tx  = 1\n\ty\n\t\tx = 1 \n", "x = 1", "x = 2", true, "\tx  = 1\n\ty\n\t\tx = 2 \n", Exact},
		{"new line is indented", "def f():\n\ta()\n\tb()\n", "a() \nb()", "a()\nif c:\n\td()\nb()", false, "def f():\n\ta()\n\tif c:\n\t\td()\n\tb()\n", LineTrimmed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Replace(tt.content, tt.old, tt.new, tt.all)
			if err != nil {
				t.Fatal(err)
			}
			if got.Content != tt.want {
				t.Errorf("content\n got %q\nwant %q", got.Content, tt.want)
			}
			if got.Strategy != tt.strategy {
				t.Errorf("strategy %s, want %s", got.Strategy, tt.strategy)
			}
		})
	}
}

func TestReplaceErrors(t *testing.T) {
	t.Parallel()
	amb := func(n int, lines ...int) func(error) bool {
		return func(err error) bool {
			var e *AmbiguousError
			if !errors.As(err, &e) || e.Count != n || len(e.Lines) != len(lines) {
				return false
			}
			for i := range lines {
				if e.Lines[i] != lines[i] {
					return false
				}
			}
			return true
		}
	}
	is := func(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }
	as := func(err error) bool { var e *EscapeError; return errors.As(err, &e) }
	missing := func(parts ...string) func(error) bool {
		return func(err error) bool {
			var e *NotFoundError
			if !errors.As(err, &e) {
				return false
			}
			for _, p := range parts {
				if !strings.Contains(err.Error(), p) {
					return false
				}
			}
			return strings.HasPrefix(err.Error(), "Could not find")
		}
	}
	tests := []struct {
		name, content, old, new string
		all                     bool
		ok                      func(error) bool
	}{
		{"empty", "a", "", "b", false, is(ErrEmpty)},
		{"same", "a", "a", "a", false, is(ErrSame)},
		{"same but for line ends", "a\n", "a\r\n", "a\n", false, is(ErrSame)},
		{"case 45", "aa", "a", "b", false, amb(2, 1, 1)},
		{"F-012", "v=1\nv=1\n", "v=1", "v=2", false, amb(2, 1, 2)},
		{"F-011 not unique", "\tx()\n\t\tx()\n", "    x()\n", "    y()\n", false, amb(2, 1, 2)},
		{"case 48", "print('hi')\n", `print(\'hi\')`, `print(\'ho\')`, false, as},
		{"case 48 double", "a \"b\"\nc\n", `a \"b\"`, `a \"d\"`, false, as},
		{"case 48 fuzzy", "one(1)\nprint('hi')\nthree(3)\n", "one(1)\nprint(\\'hi\\')\nthree(3)", "one(1)\nprint(\\'ho\\')\nthree(3)", false, as},
		{"F-001 in quotes", "a\nb\n", `a\nb`, `a\nprint("x\n")`, false, as},
		{"already so", "a — b\n", `a -- b`, "a — b", false, is(ErrNoEffect)},
		{"nothing near", "alpha\n", "zzzz", "y", false, missing("Nothing in it comes near")},
		{"nearest", "one\ntwo\ndef compute(x):\n    return x\n", "def compute(y):\n  return y", "z", false, missing("Did you mean one of these sections?", "   3| def compute(x):", "column 13", `"y):"`)},
		{"look-alike", "total\u200b = 1\nx\n", "total = 1", "total = 2", false, missing("zero-width space U+200B")},
		{"similar places are not changed in bulk", strings.Repeat("start x\nmiddle part of it\nend x\n", 2), "start x\nmiddle parts of it\nend x", "start x\nmiddle\nend x", true, amb(2, 1, 4)},
		{"a changed line must resemble", "begin\nalpha beta gamma\ncommon line number one\ncommon line number two\nfinish\n", "begin\nzzzzzz\ncommon line number one\ncommon line number two\nfinish", "begin\nnew\ncommon line number one\ncommon line number two\nfinish", false, missing("begin")},
		{"blank text", "a\n\n\nb\n", "   \n", "x", false, missing()},
		{"trimmed inside a word", "noreturn xyz\n", "  return x\n", "  return y\n", false, missing()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Replace(tt.content, tt.old, tt.new, tt.all)
			if err == nil {
				t.Fatalf("no error, content %q by %s", got.Content, got.Strategy)
			}
			if !tt.ok(err) {
				t.Errorf("%T %v", err, err)
			}
		})
	}
}
