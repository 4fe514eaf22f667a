package terminal

import (
	"context"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hermes-go/hermes/internal/files"
	"github.com/hermes-go/hermes/internal/shell"
	"github.com/hermes-go/hermes/tool"
)

// checkpoint saves the working tree before a command that may destroy
// something in it.
func (w *work) checkpoint(ctx context.Context) {
	saver, err := tool.Use[files.Checkpoints](w.Session.Services)
	if err != nil || !w.destroys() {
		return
	}
	dir := w.place(ctx).Dir
	if dir == "" {
		return
	}
	line, _, _ := strings.Cut(strings.TrimSpace(w.mask(w.Command)), "\n")
	if r := []rune(line); len(r) > 60 {
		line = string(r[:60])
	}
	saver.Before(ctx, w.Session.Key(), "before terminal: "+line, dir)
}

// destroys reports whether a command may change or remove files that are there.
// It looks at command words and redirections; a command whose name is not known,
// and the text of another language, may do anything. What programs such as make
// do is not known either, but they are too ordinary to wait for.
func (w *work) destroys() bool {
	if len(w.list) == 0 && len(w.file.Stmts) == 0 { // not read: PowerShell
		return true
	}
	return slices.ContainsFunc(w.list, destructive) || overwrites(w.file)
}

func destructive(c shell.Command) bool {
	has := func(flags ...string) bool {
		return slices.ContainsFunc(c.Args, func(a string) bool { return slices.Contains(flags, a) })
	}
	switch c.Name {
	case "", "rm", "rmdir", "unlink", "cp", "install", "mv", "truncate", "dd", "shred", "rsync", "patch", "tee", "eval", "source", ".",
		"tar", "unzip", "prettier", "gofmt", "rename":
		return true
	case "sed", "perl", "ruby":
		return slices.ContainsFunc(c.Args, func(a string) bool {
			return strings.HasPrefix(a, "-i") || strings.HasPrefix(a, "--in-place") || c.Name != "sed" && strings.HasPrefix(a, "-") && strings.ContainsAny(a, "ie")
		})
	case "bash", "sh", "zsh", "dash", "ksh", "python", "python3", "node":
		return has("-c", "-e", "-lc", "-ec", "-ce", "-")
	case "find":
		return has("-delete", "-exec", "-execdir", "-ok", "-okdir")
	case "xargs", "parallel":
		return true
	case "git":
		return has("reset", "clean", "checkout", "restore", "switch", "stash", "rebase", "merge", "pull", "cherry-pick", "revert", "apply", "am", "rm", "mv")
	}
	return false
}

// overwrites reports whether a redirection replaces a file.
func overwrites(f *syntax.File) (found bool) {
	syntax.Walk(f, func(n syntax.Node) bool {
		r, ok := n.(*syntax.Redirect)
		if !ok || r.Word == nil {
			return !found
		}
		switch r.Op {
		case syntax.RdrOut, syntax.RdrClob, syntax.RdrAll, syntax.RdrAllClob:
			to := r.Word.Lit()
			found = found || !strings.HasPrefix(to, "/dev/")
		}
		return !found
	})
	return found
}
