package shellstate

import "strings"

// IsPowerShell: Windows has one always, and bash only with Git.
func IsPowerShell(shell string) bool {
	name := strings.ToLower(BareName(shell))
	return name == "powershell" || name == "pwsh"
}

// wrapPowerShell makes a script end with the exit code of what ran last, as
// POSIX shells do, and report directory and environment to the given place in
// the form that ParseState reads. Without a place nothing is reported.
//
// Everything stands on the script's first line or behind its last, so that line
// numbers in messages stay right.
func wrapPowerShell(script, place string) string {
	var s strings.Builder
	s.WriteString("[Console]::OutputEncoding = New-Object System.Text.UTF8Encoding $false; $global:LASTEXITCODE = 0; try { . { ")
	s.WriteString(script)
	s.WriteString("\n}; $__hermes_ok = $? } finally { ")
	if place != "" {
		s.WriteString("[System.IO.File]::WriteAllText(" + quotePowerShell(place) + ", (Get-Location -PSProvider FileSystem).ProviderPath + [char]0 + " +
			`(-join (Get-ChildItem Env: | ForEach-Object { "export " + $_.Name + "='" + $_.Value.Replace("'", "'\''") + "'` + "`n" + `" })) + [char]0)`)
	}
	s.WriteString(" }\nif ($LASTEXITCODE) { exit $LASTEXITCODE }; if (-not $__hermes_ok) { exit 1 }\n")
	return s.String()
}

func quotePowerShell(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
