package app

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/hermes-go/hermes/internal/prompt"
	"github.com/hermes-go/hermes/tool"
)

// nearby remembers for which directories a conversation was told what their
// AGENTS.md says.
type nearby struct {
	root string // the working directory; nothing outside of it is looked at

	mu   sync.Mutex
	seen map[string]bool
}

// nearby is nil where the working directory is no workspace, or not on this
// machine.
func (a *App) nearby(in Ask) *nearby {
	backend := a.Config.String("terminal.backend")
	root, err := filepath.EvalSymlinks(a.WorkDir)
	home, _ := filepath.EvalSymlinks(a.UserHome) // "" when there is none
	if err != nil || in.IgnoreRules || backend != "" && backend != "local" || root == home || root == filepath.Dir(root) {
		return nil
	}
	n := &nearby{root: root}
	n.forget()
	return n
}

// forget has everything told again: what was told may be left out by now.
func (n *nearby) forget() {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.seen = map[string]bool{n.root: true}
}

const nearbyField = "_directory_context"

// tellNearby is middleware that adds to a result the instructions of
// directories that the work gets to for the first time.
func (a *App) tellNearby(next tool.Handler) tool.Handler {
	return func(ctx context.Context, c *tool.Call) (any, error) {
		v, err := next(ctx, c)
		n, useErr := tool.Use[*nearby](c.Session.Services)
		if err != nil || useErr != nil || n == nil || c.Parent != nil {
			return v, err
		}
		out, isOutput := v.(tool.Output)
		if !isOutput {
			out.Value = v
		}
		raw, ok := out.Value.(json.RawMessage)
		if !ok {
			return v, nil
		}
		var texts []string
		for _, dir := range n.reached(c.Args) {
			f, err := prompt.Near(n.root, dir)
			if err != nil {
				a.Log.Warn("directory context", "dir", dir, "err", err)
			} else if f.Text != "" {
				texts = append(texts, "[Subdirectory context discovered: "+f.Name+"]\n"+f.Text)
			}
		}
		if len(texts) == 0 {
			return v, nil
		}
		out.Value = json.RawMessage(tool.AddField(raw, nearbyField, strings.Join(texts, "\n\n")))
		if isOutput {
			return out, nil
		}
		return out.Value, nil
	}
}

// reached lists directories of the workspace that the arguments lead to and
// that were not reached before, the outer ones first.
func (n *nearby) reached(args json.RawMessage) []string {
	const ancestors = 5
	var in struct {
		Path     string `json:"path"`
		FilePath string `json:"file_path"`
		Workdir  string `json:"workdir"`
		Command  string `json:"command"`
	}
	if json.Unmarshal(args, &in) != nil {
		return nil
	}
	paths := []string{in.Path, in.FilePath, in.Workdir}
	for _, word := range strings.FieldsFunc(in.Command, func(r rune) bool { return strings.ContainsRune(" \t\n;|&<>()'\"`=,", r) }) {
		if strings.Contains(word, "/") && !strings.Contains(word, "://") {
			paths = append(paths, word)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []string
	for _, p := range paths {
		var chain []string
		for dir, i := n.directory(p), 0; dir != "" && !n.seen[dir] && i <= ancestors; dir, i = filepath.Dir(dir), i+1 {
			n.seen[dir] = true
			chain = append([]string{dir}, chain...)
		}
		out = append(out, chain...)
	}
	return out
}

// directory is the directory of the workspace that a path leads to, links
// followed; "" when it is none, or one that holds other people's code.
func (n *nearby) directory(p string) string {
	if p == "" || strings.HasPrefix(p, "~") || strings.ContainsAny(p, "\x00*?$") {
		return ""
	}
	if !filepath.IsAbs(p) {
		p = filepath.Join(n.root, p)
	}
	p = filepath.Clean(p)
	real, err := filepath.EvalSymlinks(p)
	for i := 0; err != nil && i < 2; i++ { // a file to be made, or its directory
		p = filepath.Dir(p)
		real, err = filepath.EvalSymlinks(p)
	}
	if err != nil {
		return ""
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Type() != fs.ModeDir {
		real = filepath.Dir(real)
	}
	rel, err := filepath.Rel(n.root, real)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return ""
	}
	for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		if strings.HasPrefix(part, ".") || part == "node_modules" || part == "vendor" || part == "site-packages" {
			return ""
		}
	}
	return real
}
