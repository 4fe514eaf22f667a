package hostshell

import (
	"strings"

	"github.com/hermes-go/hermes/internal/shellstate"
)

// Windows has several programs named bash, and each writes paths in its own
// way. What is decided here is the same on every system, so that every system
// tests it.

// windowsShells puts Git's bash first: the one in the system directory starts
// Linux, where paths and programs are others. PowerShell comes last, and is
// always there. git is where that program was found, if it was.
func windowsShells(git string) []string {
	var names []string
	if i := strings.LastIndexByte(git, '\\'); i >= 0 { // <root>\cmd\git.exe, or <root>\mingw64\bin\git.exe
		for dir, up := git[:i], 0; up < 2; up++ {
			i := strings.LastIndexByte(dir, '\\')
			if i < 0 {
				break
			}
			dir = dir[:i]
			names = append(names, dir+`\bin\bash.exe`)
		}
	}
	return append(names, `C:\Program Files\Git\bin\bash.exe`, `C:\Program Files (x86)\Git\bin\bash.exe`, "bash", "pwsh", "powershell")
}

// startsLinux: these are doors into a Linux that runs beside Windows.
func startsLinux(shell string) bool {
	p := strings.ToLower(shell)
	return strings.Contains(p, `\system32\`) && shellstate.IsBash(shell) || strings.Contains(p, `\windowsapps\`) && shellstate.IsBash(shell)
}

// toGitBash writes a path as the MSYS family does: /c/Users/u.
func toGitBash(path string) string {
	path = strings.ReplaceAll(path, `\`, "/")
	if len(path) > 1 && path[1] == ':' {
		path = "/" + strings.ToLower(path[:1]) + path[2:]
	}
	return path
}

// fromGitBash is the way back. A path that is none of that family's stays.
func fromGitBash(dir string) string {
	if len(dir) < 2 || dir[0] != '/' || len(dir) > 2 && dir[2] != '/' {
		return dir
	}
	dir = strings.ToUpper(dir[1:2]) + ":" + strings.ReplaceAll(dir[2:], "/", `\`)
	if len(dir) == 2 {
		dir += `\`
	}
	return dir
}
