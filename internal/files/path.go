package files

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/hermes-go/hermes/backend"
)

// Path is a file as the model named it and as the environment knows it.
type Path struct {
	Given string // what the model wrote, or the element of a list it wrote
	Abs   string // absolute and clean; links are not resolved
	Real  string // links resolved, as far as the path exists
	Note  string // how Given was read, where that is not obvious
}

// Resolve finds the file that a model means. Relative paths start at the
// directory the task's shell is in now; ~ is the environment's home.
func (v *View) Resolve(ctx context.Context, given string) (Path, error) {
	p := Path{Given: given}
	var err error
	if p.Abs, err = v.abs(ctx, given); err != nil {
		return p, err
	}
	if strings.HasPrefix(strings.TrimSpace(given), "[") {
		if err := v.unwrap(ctx, &p); err != nil {
			return p, err
		}
	}
	if reason := device(p.Abs); reason != "" {
		p.Real = p.Abs // looking closer at a device can hang
		return p, nil
	}
	if p.Real, err = v.FS.RealPath(ctx, p.Abs); err != nil {
		return p, fmt.Errorf("resolve %s: %w", given, bare(err))
	}
	return p, nil
}

// unwrap takes the only element of a JSON list that stands where a path
// should, unless a file has that very name.
func (v *View) unwrap(ctx context.Context, p *Path) error {
	if _, err := v.FS.Lstat(ctx, p.Abs); err == nil {
		return nil
	}
	var list []string
	if json.Unmarshal([]byte(p.Given), &list) != nil {
		return nil
	}
	if len(list) != 1 {
		return fmt.Errorf("path is a list of %d paths: give one path a call", len(list))
	}
	abs, err := v.abs(ctx, list[0])
	if err != nil {
		return err
	}
	p.Note = fmt.Sprintf("path was the JSON list %s; its only element was used", p.Given)
	p.Given, p.Abs = list[0], abs
	return nil
}

func (v *View) abs(ctx context.Context, name string) (string, error) {
	switch {
	case strings.TrimSpace(name) == "":
		return "", errors.New("path is empty: name a file")
	case strings.ContainsRune(name, 0):
		return "", errors.New("path holds a NUL character")
	case strings.HasPrefix(name, "~"):
		full, err := v.expand(ctx, name)
		if err != nil {
			return "", err
		}
		return v.clean(full), nil
	case v.isAbs(name):
		return v.clean(name), nil
	}
	return v.join(v.cwd, name), nil
}

var userName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._-]+$`) })

// expand replaces ~ and ~user; a name that cannot be a user's stays as it is.
func (v *View) expand(ctx context.Context, name string) (string, error) {
	user, rest := name[1:], ""
	if i := strings.IndexAny(user, `/\`); i >= 0 {
		user, rest = user[:i], user[i+1:]
	}
	if user == "" {
		if v.home == "" {
			return "", fmt.Errorf("path %s: the home directory is not known here: give an absolute path", name)
		}
		return v.join(v.home, rest), nil
	}
	if !userName().MatchString(user) {
		return v.join(v.cwd, name), nil
	}
	var out bytes.Buffer
	exit, err := v.Env.Exec(ctx, backend.Cmd{Script: "printf %s ~" + user, Output: &out})
	if dir := out.String(); err == nil && exit.Code == 0 && v.isAbs(dir) {
		return v.join(dir, rest), nil
	}
	return v.join(v.cwd, name), nil
}

// posix tells whether the environment names files with slashes only.
func (v *View) posix() bool { return filepath.Separator == '/' || strings.HasPrefix(v.cwd, "/") }

func (v *View) isAbs(name string) bool {
	if v.posix() {
		return strings.HasPrefix(name, "/")
	}
	return filepath.IsAbs(name)
}

func (v *View) clean(name string) string {
	if v.posix() {
		return path.Clean(name)
	}
	return filepath.Clean(name)
}

func (v *View) join(elem ...string) string {
	if v.posix() {
		return path.Join(elem...)
	}
	return filepath.Join(elem...)
}

// Dir and Base take a path of the environment apart.
func (v *View) Dir(name string) string {
	if v.posix() {
		return path.Dir(name)
	}
	return filepath.Dir(name)
}

// Base is the last element of a path of the environment.
func (v *View) Base(name string) string {
	if v.posix() {
		return path.Base(name)
	}
	return filepath.Base(name)
}

// Join puts elements of a path together.
func (v *View) Join(elem ...string) string { return v.join(elem...) }

// under returns what is left of name below dir; "." for dir itself. Letters
// compare without case: some file systems do so too, and on the others it only
// guards a little more.
func under(name, dir string) (string, bool) {
	name, dir = filepath.ToSlash(name), strings.TrimSuffix(filepath.ToSlash(dir), "/")
	if len(name) < len(dir) || !strings.EqualFold(name[:len(dir)], dir) {
		return "", false
	}
	switch rest := name[len(dir):]; {
	case rest == "":
		return ".", true
	case rest[0] == '/':
		return strings.Trim(rest, "/"), true
	}
	return "", false
}

// bare drops the operation and path that the os package puts before an error:
// what is said around it names them already.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
