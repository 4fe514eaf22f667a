package shellstate

import (
	"strings"
	"testing"
)

const power = `C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe`

// No PowerShell runs here: this holds what it is given, and that what it would
// report is understood.
func TestPowerShell(t *testing.T) {
	t.Parallel()
	if got := strings.Join(Args(power, `C:\t\x.ps1`, true), " "); got != `powershell -NoLogo -NoProfile -NonInteractive -ExecutionPolicy Bypass -File C:\t\x.ps1` {
		t.Errorf("called as %s", got)
	}
	const script = "Get-Item 'it''s'\nexit 3"
	got := Wrap(power, script, `C:\it's\state`)
	first, _, _ := strings.Cut(got, "\n")
	if !strings.HasSuffix(first, "Get-Item 'it''s'") {
		t.Errorf("the script does not begin on the first line: %s", got)
	}
	for _, part := range []string{"WriteAllText('C:\\it''s\\state', ", "try { . { " + script + "\n}", "exit $LASTEXITCODE"} {
		if !strings.Contains(got, part) {
			t.Errorf("%q is not in\n%s", part, got)
		}
	}
	if got := Unreported(power, script); strings.Contains(got, "WriteAllText") || !strings.Contains(got, script) {
		t.Errorf("in the background: %s", got)
	}
	dir, exports, ok := ParseState([]byte("C:\\Users\\u\x00export A='it'\\''s'\nexport ProgramFiles(x86)='C:\\P'\nexport L='two\nlines'\n\x00"))
	vars, read := ParseExports(exports)
	if dir != `C:\Users\u` || !ok || !read || strings.Join(vars, "|") != `A=it's|ProgramFiles(x86)=C:\P|L=two`+"\nlines" {
		t.Errorf("got %q, %q, %v, %v", dir, vars, ok, read)
	}
}
