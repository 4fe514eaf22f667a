package setup

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/hermes-go/hermes/backend"
)

// searchPath says where commands look for programs, and what a login shell
// would find beside that: a service is often started with another PATH than the
// one its owner works with.
func (x Examined) searchPath(ctx context.Context) []Finding {
	kind, o, err := x.Backend()
	if err != nil || kind.Name != "local" {
		return nil // told by the check of the backend; elsewhere PATH is that machine's
	}
	vars, _ := x.Secrets.ChildEnv(x.Secrets.Environ(), nil) // nothing is asked for, so nothing is refused
	if o.Vars == nil {
		o.Vars = func() []string { return vars }
	}
	o.Home = "" // a check leaves nothing behind
	env, err := kind.Open(ctx, o)
	if err != nil {
		return bad(Warn, "hermes doctor", "the PATH of commands is not known: %v", err)
	}
	defer func() { _ = env.Close(context.WithoutCancel(ctx)) }() // it ran one printf
	var out bytes.Buffer
	if _, err := env.Exec(ctx, backend.Cmd{Script: `printf %s "$PATH"`, Output: &out}); err != nil {
		return bad(Warn, "hermes doctor", "the PATH of commands is not known: %v", err)
	}
	login := exec.CommandContext(ctx, "bash", "-lc", `printf %s "$PATH"`)
	login.Env = vars
	theirs, err := login.Output()
	if err != nil {
		return ok("commands look for programs in %s", out.String())
	}
	return comparePaths(out.String(), string(theirs))
}

func comparePaths(commands, login string) []Finding {
	have := strings.Split(commands, ":")
	var lacking []string
	for dir := range strings.SplitSeq(strings.TrimSpace(login), ":") {
		if dir != "" && !slices.Contains(have, dir) && !slices.Contains(lacking, dir) {
			lacking = append(lacking, dir)
		}
	}
	if len(lacking) == 0 {
		return ok("commands look for programs in %s", commands)
	}
	return bad(Warn, `hermes config set terminal.auto_source_bashrc true, or name the files to read: hermes config set terminal.shell_init_files --json '["~/.profile"]'`,
		"%s", fmt.Sprintf("commands look for programs in %s; your login shell also in %s", commands, strings.Join(lacking, ":")))
}
