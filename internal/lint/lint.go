// Package lint looks for syntax errors in text that has just been written and
// keeps those apart that were there before. It parses; it does not compile,
// format or judge style, it changes no file, and what it cannot check it
// leaves alone.
package lint

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Result is what a check found. Output holds one finding a line.
type Result struct {
	Status  string `json:"status"` // ok, error or skipped
	Output  string `json:"output,omitempty"`
	Message string `json:"message,omitempty"`
}

// Runner runs a script where the file is, with a text on its input. Its error
// means that the script could not be started.
type Runner func(ctx context.Context, script, stdin string) (output string, code int, err error)

// Input is a file and its content before and after a change.
type Input struct {
	Name   string // decides the language
	New    string
	Old    string
	HasOld bool
	Run    Runner // nil: languages that need a program are skipped
}

const (
	maxSize = 4 << 20 // larger files are not checked
	limit   = 5 * time.Second
	maxRows = 20 // of findings
)

// checker returns findings, or why it could not look.
type checker func(ctx context.Context, in Input, text string) (findings []string, skipped string)

// Check looks at a changed file; nil for languages that nothing here knows. It
// ends after five seconds at the latest.
func Check(ctx context.Context, in Input) *Result {
	check := checkerOf(in.Name)
	if check == nil {
		return nil
	}
	if len(in.New) > maxSize {
		return &Result{Status: "skipped", Message: "too large to check"}
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	found, skipped := within(ctx, check, in, in.New)
	switch {
	case skipped != "":
		return &Result{Status: "skipped", Message: skipped}
	case len(found) == 0:
		return &Result{Status: "ok"}
	}
	if !in.HasOld || len(in.Old) > maxSize {
		return &Result{Status: "error", Output: rows(found)}
	}
	before, skipped := within(ctx, check, in, in.Old)
	if skipped != "" || len(before) == 0 {
		return &Result{Status: "error", Output: rows(found)}
	}
	fresh := added(before, found)
	if len(fresh) == 0 {
		return &Result{Status: "error", Output: rows(found), Message: "these errors were there before this change (pre-existing): it added none"}
	}
	r := &Result{Status: "error", Output: "New errors, not there before this change:\n" + rows(fresh)}
	if n := len(found) - len(fresh); n > 0 {
		r.Message = fmt.Sprintf("%d more were there before this change (pre-existing)", n)
	}
	return r
}

// within keeps a parser that hangs or panics from taking the write with it.
func within(ctx context.Context, check checker, in Input, text string) ([]string, string) {
	type answer struct {
		found   []string
		skipped string
	}
	done := make(chan answer, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- answer{skipped: fmt.Sprintf("the check failed: %v", p)}
			}
		}()
		f, s := check(ctx, in, text)
		done <- answer{f, s}
	}()
	select {
	case a := <-done:
		return a.found, a.skipped
	case <-ctx.Done():
		return nil, "the check took too long"
	}
}

func checkerOf(name string) checker {
	name = filepath.ToSlash(name)
	switch strings.ToLower(path.Ext(name)) {
	case ".json":
		return checkJSON
	case ".yaml", ".yml":
		return checkYAML
	case ".toml":
		return checkTOML
	case ".go":
		return checkGo
	case ".sh", ".bash":
		return checkShell
	case ".py":
		return checkPython
	case ".js", ".mjs", ".cjs":
		return checkJS
	}
	return nil
}

var digits = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+`) })

// added are the findings that are not among the old ones. Positions do not
// count: an edit further up moves them.
func added(before, after []string) []string {
	key := func(s string) string { return digits().ReplaceAllString(strings.TrimSpace(s), "#") }
	have := map[string]int{}
	for _, s := range before {
		have[key(s)]++
	}
	var out []string
	for _, s := range after {
		if k := key(s); have[k] > 0 {
			have[k]--
			continue
		}
		out = append(out, s)
	}
	return out
}

func rows(found []string) string {
	if n := len(found) - maxRows; n > 0 {
		found = append(found[:maxRows:maxRows], fmt.Sprintf("... and %d more", n))
	}
	return strings.Join(found, "\n")
}

// position turns an offset into a line and a column, in bytes from 1.
func position(text string, at int) (line, col int) {
	at = min(max(at, 0), len(text))
	return 1 + strings.Count(text[:at], "\n"), at - strings.LastIndexByte(text[:at], '\n')
}
