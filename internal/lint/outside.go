package lint

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// absent is the code with which the scripts here say that a program is missing.
const absent = 125

// pythonCheck prints one finding as JSON. -I keeps modules that lie in the
// working directory out of it.
const pythonCheck = `command -v python3 >/dev/null 2>&1 || exit 125
exec python3 -I -c '
import ast, json, sys
text = sys.stdin.buffer.read()
try:
    ast.parse(text)
except SyntaxError as e:
    print(json.dumps([type(e).__name__, e.msg, e.lineno or 0, e.offset or 0]))
except (ValueError, RecursionError, MemoryError) as e:
    print(json.dumps([type(e).__name__, str(e), 0, 0]))
'`

func checkPython(ctx context.Context, in Input, text string) ([]string, string) {
	if in.Run == nil {
		return nil, "python3 cannot be run here"
	}
	out, code, err := in.Run(ctx, pythonCheck, text)
	switch {
	case err != nil:
		return nil, fmt.Sprintf("python3 could not be run: %v", err)
	case code == absent:
		return nil, "python3 is not installed where the file is"
	case code != 0:
		return nil, fmt.Sprintf("python3 ended with code %d", code)
	}
	out = strings.TrimSpace(out)
	if out == "" {
		return nil, ""
	}
	var f [4]any
	if json.Unmarshal([]byte(out), &f) != nil {
		return nil, "python3 gave an answer that cannot be read"
	}
	return []string{fmt.Sprintf("%v: %v (line %v, column %v)", f[0], f[1], f[2], f[3])}, ""
}

// nodeCheck reads the text from the input, once as a script and, when that
// only fails because of import or export, once as a module.
const nodeCheck = `command -v node >/dev/null 2>&1 || exit 125
exec node %s --check - 2>&1`

func checkJS(ctx context.Context, in Input, text string) ([]string, string) {
	if in.Run == nil {
		return nil, "node cannot be run here"
	}
	kinds := []string{"", "--input-type=module"}
	switch strings.ToLower(path.Ext(filepath.ToSlash(in.Name))) {
	case ".mjs":
		kinds = kinds[1:]
	case ".cjs":
		kinds = kinds[:1]
	}
	var last []string
	for _, kind := range kinds {
		out, code, err := in.Run(ctx, fmt.Sprintf(nodeCheck, kind), text)
		switch {
		case err != nil:
			return nil, fmt.Sprintf("node could not be run: %v", err)
		case code == absent:
			return nil, "node is not installed where the file is"
		case code == 0:
			return nil, ""
		}
		found := nodeFinding(out)
		if found == "" {
			return nil, "node gave an answer that cannot be read"
		}
		last = []string{found}
		if !mentionsModule(out) {
			break
		}
	}
	return last, ""
}

func mentionsModule(out string) bool {
	return strings.Contains(out, "import") || strings.Contains(out, "export") || strings.Contains(out, "await")
}

var nodeParts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s):(\d+)\n.*?\n( *)\^.*?\n(\w*Error: [^\n]*)`)
})

func nodeFinding(out string) string {
	m := nodeParts().FindStringSubmatch(strings.ReplaceAll(out, "\r\n", "\n"))
	if m == nil {
		return ""
	}
	line, err := strconv.Atoi(m[1])
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s (line %d, column %d)", m[3], line, len(m[2])+1)
}
