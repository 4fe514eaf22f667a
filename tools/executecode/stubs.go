package executecode

import (
	_ "embed"
	"slices"
	"strings"
)

//go:embed hermes_tools.py
var module string

// stub is a tool as scripts call it.
type stub struct{ name, params, pass string }

// stubs are the tools that scripts may call, of those that the session has.
// Positions and defaults are what scripts rely on.
var stubs = [...]stub{
	{"web_search", "query, limit=5", "query=query, limit=limit"},
	{"web_extract", "urls", "urls=urls"},
	{"read_file", "path, offset=1, limit=500", "path=path, offset=offset, limit=limit"},
	{"write_file", "path, content", "path=path, content=content"},
	{
		"search_files", `pattern, target="content", path=".", file_glob=None, limit=50, offset=0, output_mode="content", context=0`,
		"pattern=pattern, target=target, path=path, file_glob=file_glob, limit=limit, offset=offset, output_mode=output_mode, context=context",
	},
	{
		"patch", `path=None, old_string=None, new_string=None, replace_all=False, mode="replace", patch=None`,
		"path=path, old_string=old_string, new_string=new_string, replace_all=replace_all, mode=mode, patch=patch",
	},
	{"terminal", "command, timeout=None, workdir=None", "command=command, timeout=timeout, workdir=workdir"},
}

// Callable are the names of the tools that scripts may call.
func Callable() []string {
	names := make([]string, len(stubs))
	for i, s := range stubs {
		names[i] = s.name
	}
	return names
}

// generate writes the module for the tools that a script may call.
func generate(allowed []string) string {
	var b strings.Builder
	b.WriteString(module)
	for _, s := range stubs {
		if slices.Contains(allowed, s.name) {
			b.WriteString("\n\ndef " + s.name + "(" + s.params + "):\n    return _call(\"" + s.name + "\", dict(" + s.pass + "))\n")
		}
	}
	return b.String()
}

// signatures lists them for the model.
func signatures(allowed []string) string {
	var list []string
	for _, s := range stubs {
		if slices.Contains(allowed, s.name) {
			list = append(list, s.name+"("+s.params+")")
		}
	}
	return strings.Join(list, "\n")
}
