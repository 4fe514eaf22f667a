package files

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/hermes-go/hermes/tool"
)

// A call's effects are declared from its arguments alone, before anybody knows
// the working directory. So a file has two keys: its path as written, which
// also meets the directories above it, and its name, which meets the same file
// written in the other way (relative and absolute). Two files of one name in
// different directories are then kept apart needlessly when one is written;
// two spellings of one file are never written at once. Links between files of
// different names are not seen.

// roots are the places where paths as written can begin.
var roots = []string{"/", ".", "~"}

// Reads declares the reading of a file or directory.
func Reads(name string) []tool.Effect { return keys(name, false) }

// Writes declares the writing of a file.
func Writes(name string) []tool.Effect { return keys(name, true) }

// ReadsBelow declares the reading of a whole tree.
func ReadsBelow(name string) []tool.Effect {
	key, root := pathKey(name)
	out := []tool.Effect{{Key: key}, {Key: "cwd"}}
	for _, r := range roots {
		if r != root {
			out = append(out, tool.Effect{Key: "file:" + r})
		}
	}
	return out
}

func keys(name string, write bool) []tool.Effect {
	key, root := pathKey(name)
	out := []tool.Effect{
		{Key: key, Write: write},
		{Key: "file-name:" + strings.ToLower(path.Base(filepath.ToSlash(strings.TrimRight(name, `/\`)))), Write: write},
	}
	if root == "." {
		out = append(out, tool.Effect{Key: "cwd"})
	}
	if root == "" { // above the working directory: it could be anything
		for _, r := range roots {
			out = append(out, tool.Effect{Key: "file:" + r, Write: write})
		}
	}
	return out
}

// pathKey is the key of a path as written and the root it begins at.
func pathKey(name string) (key, root string) {
	name = strings.ReplaceAll(name, `\`, "/")
	switch {
	case strings.HasPrefix(name, "/"):
		return "file:" + path.Clean(name), "/"
	case len(name) > 1 && name[1] == ':':
		return "file:/" + path.Clean(name), "/"
	case strings.HasPrefix(name, "~"):
		return "file:" + path.Clean(name), "~"
	}
	name = path.Clean(name)
	if name == ".." || strings.HasPrefix(name, "../") {
		return "file:" + strings.ReplaceAll(name, "..", "^"), ""
	}
	if name == "." {
		return "file:.", "."
	}
	return "file:./" + name, "."
}
