package refs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hermes-go/hermes/internal/sensitive"
)

const (
	mostFile    = 8 << 20 // bytes; a window holds less
	mostEntries = 200
	mostCommits = 10
)

func (o Options) read(ctx context.Context, r ref) (string, error) {
	switch r.kind {
	case "file":
		return o.file(r)
	case "folder":
		return o.folder(ctx, r.value)
	case "diff":
		return o.git(ctx, "diff", "diff")
	case "staged":
		return o.git(ctx, "diff", "diff", "--staged")
	case "git":
		n, err := strconv.Atoi(r.value)
		if err != nil || n < 1 || n > mostCommits {
			return "", fmt.Errorf("want the number of commits, 1 to %d", mostCommits)
		}
		return o.git(ctx, "diff", "log", "-"+strconv.Itoa(n), "-p")
	}
	return "", errors.New("reading web pages is not built yet; paste what matters")
}

func (o Options) git(ctx context.Context, language string, args ...string) (string, error) {
	if o.Git == nil {
		return "", errors.New("git is not at hand here")
	}
	out, err := o.Git(ctx, args...)
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(out) == "" {
		return "", fmt.Errorf("git %s says nothing", strings.Join(args, " "))
	}
	return fence(out, language), nil
}

// fence is longer than any in the text.
func fence(text, language string) string {
	mark := "```"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	return mark + language + "\n" + strings.TrimRight(text, "\n") + "\n" + mark
}

// inside resolves a path that a message names, links included.
func (o Options) inside(name string) (string, error) {
	dir, err := filepath.EvalSymlinks(o.Dir)
	if err != nil {
		return "", err
	}
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(o.UserHome, rest)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	path, err := filepath.EvalSymlinks(name)
	if errors.Is(err, fs.ErrNotExist) {
		if _, out := within(dir, filepath.Clean(name)); out {
			return "", errOutside
		}
		return "", errors.New("no such file or directory")
	}
	if err != nil {
		return "", err
	}
	if _, out := within(dir, path); out {
		return "", errOutside
	}
	if o.secret(path) {
		return "", errors.New("keys lie there; it is not read")
	}
	return path, nil
}

var errOutside = errors.New("it is outside of the working directory")

func within(dir, path string) (rel string, out bool) {
	rel, err := filepath.Rel(dir, path)
	return rel, err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// secret reports whether a path is one where keys lie.
func (o Options) secret(path string) bool {
	if sensitive.Keys(filepath.ToSlash(path)) {
		return true
	}
	for _, at := range []struct {
		dir   string
		names []string
	}{
		{o.UserHome, []string{
			".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", ".config/gh", ".bashrc", ".bash_profile", ".profile", ".zshrc", ".zprofile",
			".netrc", ".pgpass", ".npmrc", ".pypirc",
		}},
		{o.Home, []string{".env", "auth.json", "skills/.hub"}},
	} {
		dir, err := filepath.EvalSymlinks(at.dir)
		if err != nil {
			continue
		}
		for _, n := range at.names {
			if _, out := within(filepath.Join(dir, filepath.FromSlash(n)), path); !out {
				return true
			}
		}
	}
	return false
}

func (o Options) file(r ref) (string, error) {
	path, err := o.inside(r.value)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case info.IsDir():
		return "", errors.New("it is a directory; use @folder:" + r.value)
	case !info.Mode().IsRegular():
		return "", errors.New("it is no regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(f, mostFile+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	if len(b) > mostFile {
		return "", fmt.Errorf("it is larger than %d MB", mostFile>>20)
	}
	if bytes.IndexByte(b, 0) >= 0 || !utf8.Valid(b) {
		return "", errors.New("it is not text")
	}
	text := strings.TrimPrefix(string(b), "\uFEFF")
	if r.from > 0 || r.to > 0 {
		all := strings.SplitAfter(text, "\n")
		if all[len(all)-1] == "" {
			all = all[:len(all)-1]
		}
		if r.from < 1 || r.to < r.from || r.from > len(all) {
			return "", fmt.Errorf("it has the lines 1 to %d", len(all))
		}
		text = strings.Join(all[r.from-1:min(r.to, len(all))], "")
	}
	return fence(text, strings.TrimPrefix(filepath.Ext(path), ".")), nil
}

func (o Options) folder(ctx context.Context, name string) (string, error) {
	root, err := o.inside(name)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return "", errors.Join(err, errors.New("it is no directory; use @file:"+name))
	}
	var list []string
	more := false
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			list = append(list, filepath.ToSlash(path)+": not readable")
			return nil //nolint:nilerr // the rest is worth having
		case path == root:
			return nil
		case strings.HasPrefix(d.Name(), "."), o.secret(path):
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case len(list) == mostEntries:
			more = true
			return filepath.SkipAll
		}
		rel, _ := within(root, path)
		line := filepath.ToSlash(rel)
		if d.IsDir() {
			line += "/"
		} else if info, err := d.Info(); err == nil {
			line += fmt.Sprintf("  %d bytes", info.Size())
		}
		list = append(list, line)
		return nil
	})
	if err != nil {
		return "", err
	}
	if more {
		list = append(list, fmt.Sprintf("... only the first %d entries", mostEntries))
	}
	if len(list) == 0 {
		list = []string{"(empty)"}
	}
	return fence(strings.Join(list, "\n"), ""), nil
}
