package hostshell

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/internal/shellstate"
)

const power = `C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe`

// F-050: Git's bash before the one that starts Linux; PowerShell where there
// is no bash.
func TestF050WindowsShells(t *testing.T) {
	t.Parallel()
	const (
		linux = `C:\Windows\System32\bash.exe`
		store = `C:\Users\u\AppData\Local\Microsoft\WindowsApps\bash.exe`
	)
	for _, c := range []struct {
		what string
		git  string
		is   map[string]string // what is found, by the name looked for
		want string
	}{
		{"both", "", map[string]string{`C:\Program Files\Git\bin\bash.exe`: "", "bash": linux, "powershell": power}, `C:\Program Files\Git\bin\bash.exe`},
		{"Git elsewhere", `D:\tools\Git\cmd\git.exe`, map[string]string{`D:\tools\Git\bin\bash.exe`: "", "bash": linux, "powershell": power}, `D:\tools\Git\bin\bash.exe`},
		{"Git's inner program", `D:\Git\mingw64\bin\git.exe`, map[string]string{`D:\Git\bin\bash.exe`: "", "bash": linux}, `D:\Git\bin\bash.exe`},
		{"only Linux", "", map[string]string{"bash": linux, "powershell": power}, power},
		{"only Linux, from the store", "", map[string]string{"bash": store, "powershell": power}, power},
		{"a newer PowerShell", "", map[string]string{"pwsh": `C:\Program Files\PowerShell\7\pwsh.exe`, "powershell": power}, `C:\Program Files\PowerShell\7\pwsh.exe`},
		{"the store's PowerShell is one", "", map[string]string{"pwsh": strings.Replace(store, "bash", "pwsh", 1)}, strings.Replace(store, "bash", "pwsh", 1)},
		{"another bash", "", map[string]string{"bash": `C:\msys64\usr\bin\bash.exe`}, `C:\msys64\usr\bin\bash.exe`},
	} {
		got, err := firstShell(windowsShells(c.git), func(p string) bool { return !startsLinux(p) }, func(name string) (string, error) {
			at, ok := c.is[name]
			switch {
			case !ok:
				return "", errors.New("not found")
			case at == "":
				return name, nil
			}
			return at, nil
		})
		// Elsewhere such a path is relative, and was made absolute.
		if err != nil || !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: got %q, %v", c.what, got, err)
		}
	}
	if got, err := firstShell(windowsShells(""), func(string) bool { return true }, func(string) (string, error) { return "", errors.New("not found") }); err == nil {
		t.Errorf("nothing is there, and %q was found", got)
	}
}

func TestF050WindowsPaths(t *testing.T) {
	t.Parallel()
	for windows, unix := range map[string]string{
		`C:\Users\u`: "/c/Users/u", `d:\`: "/d/", `C:\a b\ü`: "/c/a b/ü", `\\server\share\x`: "//server/share/x",
	} {
		if got := toGitBash(windows); got != unix {
			t.Errorf("%s: got %s", windows, got)
		}
	}
	for unix, windows := range map[string]string{
		"/c/Users/u": `C:\Users\u`, "/d": `D:\`, "/d/": `D:\`, "/usr/bin": "/usr/bin", `C:\Users\u`: `C:\Users\u`, "//server/share": "//server/share",
	} {
		if got := fromGitBash(unix); got != windows {
			t.Errorf("%s: got %s", unix, got)
		}
	}
}

// F-049: a script reaches such a shell by file: what stands in the arguments
// has no backslash of the script's.
func TestF049ScriptByFile(t *testing.T) {
	t.Parallel()
	const script = `printf '%s' 'C:\\x\y'`
	for _, shell := range []string{`C:\Program Files\Git\bin\bash.exe`, power, "/usr/bin/bash"} {
		name, err := scriptFile(shell, script)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Remove(name) })
		b, err := os.ReadFile(name)
		if err != nil || strings.TrimPrefix(string(b), "\ufeff") != script {
			t.Errorf("%s: the file holds %q, %v", shell, b, err)
		}
		if marked := strings.HasPrefix(string(b), "\ufeff"); marked != shellstate.IsPowerShell(shell) {
			t.Errorf("%s: a mark: %v", shell, marked)
		}
		a := shellstate.Args(shell, name, true)
		if a[len(a)-1] != name || slices.ContainsFunc(a, func(s string) bool { return strings.Contains(s, "printf") }) {
			t.Errorf("%s: called with %q", shell, a)
		}
	}
	// The same with a real bash: it prints what stands there.
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	name, err := scriptFile(bash, script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(name) })
	if out, err := exec.Command(bash, shellstate.Args(bash, name, true)[1:]...).Output(); string(out) != `C:\\x\y` || err != nil {
		t.Errorf("got %q, %v", out, err)
	}
}
