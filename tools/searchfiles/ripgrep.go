package searchfiles

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hermes-go/hermes/backend"
)

// noProgram is the code with which the script here says so.
const noProgram = 127

// ripgrep asks it for the files that hold a match; nil when it is not there
// or cannot answer, which costs time and nothing else. Its list may hold files
// too many, never too few: those in which it sees a match before it sees that
// they are binary, or hidden ones that an ignore file brings in.
func (s *searcher) ripgrep(ctx context.Context, p *pattern) (source, error) {
	if p.rust == "" || s.State.Lacks("rg") {
		return nil, nil
	}
	var out bytes.Buffer
	cmd := backend.Cmd{Script: s.script(ctx, p), Output: &out}
	if end, ok := ctx.Deadline(); ok {
		cmd.Timeout = time.Until(end) * 3 / 4 // some is left to look at what it names
	}
	exit, err := s.Env.Exec(ctx, cmd)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil && exit.Code == noProgram {
		s.State.Lack("rg")
	}
	late := err == nil && exit.Reason == backend.TimedOut
	if err != nil || exit.Code > 1 && !late {
		return nil, nil
	}
	if late {
		s.cut = true
		out.Truncate(1 + bytes.LastIndexByte(out.Bytes(), 0))
	}
	prefix := strings.TrimSuffix(s.root.Real, "/") + "/"
	var rels []string
	for name := range strings.SplitSeq(strings.TrimSuffix(out.String(), "\x00"), "\x00") {
		rel, ok := strings.CutPrefix(name, prefix)
		if name == "" {
			continue
		}
		if !ok {
			return nil, nil // names in a form that is not ours: Windows
		}
		if !s.tree.skipsPath(rel) && s.glob.match(rel) {
			rels = append(rels, rel)
		}
	}
	slices.SortFunc(rels, before)
	return func(_ context.Context, each func(string) bool) error {
		for _, rel := range rels {
			if !each(rel) {
				break
			}
		}
		return nil
	}, nil
}

// script runs ripgrep with the rules of the walk: ignore files count with and
// without a repository, the user's own settings do not.
func (s *searcher) script(ctx context.Context, p *pattern) string {
	args := []string{
		"rg", "--no-config", "--no-messages", "--color=never", "--files-with-matches", "--null", "--crlf", "--no-mmap",
		"--no-require-git", "--no-ignore-global", "--no-ignore-exclude", "--case-sensitive",
	}
	if s.in.Hidden {
		args = append(args, "--hidden", "--glob=!.git")
	}
	if _, out := s.tree.above(ctx); out {
		args = append(args, "--no-ignore-parent")
	}
	if g := s.glob; g != nil && !g.whole && simpleGlob(g.pattern) {
		args = append(args, "--type-add=wanted:"+g.pattern, "--type=wanted")
	}
	args = append(args, "--regexp="+p.rust, "--", s.root.Real)
	var b strings.Builder
	b.WriteString("command -v rg >/dev/null 2>&1 || exit 127\nexec")
	for _, a := range args {
		b.WriteString(" '" + strings.ReplaceAll(a, "'", `'\''`) + "'")
	}
	b.WriteString(" </dev/null")
	return b.String()
}

// simpleGlob tells of patterns that mean the same to ripgrep; the others are
// applied to its answer only.
func simpleGlob(p string) bool {
	return strings.IndexFunc(p, func(r rune) bool {
		return !(r == '*' || r == '?' || r == '.' || r == '_' || r == '-' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z')
	}) < 0
}
