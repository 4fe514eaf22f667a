//go:build !windows

package hostshell

import (
	"fmt"
	"os"
	"os/exec"
	"sync"

	"github.com/hermes-go/hermes/internal/shellstate"
)

// guard is a shell beside this program that knows the groups of foreground
// commands and ends them when the program is gone: one that is killed cannot
// do it itself, and nothing on disk tells of them. It sees the end of the
// program as the end of its input.
type guard struct {
	mu     sync.Mutex
	in     *os.File
	groups map[int]struct{}
}

// foreground is the one guard: it waits for the end of the program, which is
// one as well. It is started with the first command.
var foreground guard

// hold makes the group end with this program.
func (g *guard) hold(shell string, id int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.groups == nil {
		g.groups = map[int]struct{}{}
	}
	g.groups[id] = struct{}{}
	if g.in != nil {
		if _, err := fmt.Fprintf(g.in, "+ %d\n", id); err == nil {
			return nil
		}
		_ = g.in.Close() // somebody ended it: another one takes over
	}
	if err := g.start(shell); err != nil {
		return fmt.Errorf("watch over the command: %w", err)
	}
	return nil
}

// drop lets a group go that has ended or is looked after otherwise.
func (g *guard) drop(id int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.groups, id)
	if g.in != nil {
		_, _ = fmt.Fprintf(g.in, "- %d\n", id) // hold sees when nobody listens
	}
}

func (g *guard) start(shell string) error {
	g.in = nil
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // the guard has its own
	cmd := &exec.Cmd{Path: shell, Args: shellstate.Args(shell, shellstate.Guard, false), Dir: "/", Env: []string{"PATH=" + shellstate.SanePath}, Stdin: r, SysProcAttr: ownGroup()}
	if err := cmd.Start(); err != nil {
		_ = w.Close() // nobody is at the other end
		return err
	}
	go func() { _ = cmd.Wait() }() // so that it does not stay as a zombie
	g.in = w
	for id := range g.groups {
		if _, err := fmt.Fprintf(w, "+ %d\n", id); err != nil {
			return err
		}
	}
	return nil
}
