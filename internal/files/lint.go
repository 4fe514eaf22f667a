package files

import (
	"bytes"
	"context"
	"strings"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/lint"
)

// Lint checks the syntax of a file that has just been written; nil when
// nothing here knows its language.
func (v *View) Lint(ctx context.Context, old *Current, content string) *lint.Result {
	in := lint.Input{Name: old.Real, New: content, Run: v.run}
	if old.Exists && old.Opaque == nil {
		in.Old, in.HasOld = old.Text.Content, true
	}
	return lint.Check(ctx, in)
}

func (v *View) run(ctx context.Context, script, stdin string) (string, int, error) {
	var out bytes.Buffer
	exit, err := v.Env.Exec(ctx, backend.Cmd{Script: script, Stdin: strings.NewReader(stdin), Output: &out})
	return out.String(), exit.Code, err
}
