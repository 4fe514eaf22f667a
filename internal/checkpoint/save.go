package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// tooLarge says why a tree is not saved at all.
type tooLarge struct{ text string }

func (e *tooLarge) Error() string { return e.text }

// save makes a snapshot of the tree as it is, unless the newest one is the
// same. The named files are saved also when git ignores them.
func (s *Store) save(ctx context.Context, tree, why string, also []string) error {
	r, err := s.open(ctx, tree, true)
	if err != nil {
		return err
	}
	defer r.close()
	if _, err := r.snapshot(ctx, why, also); err != nil {
		return err
	}
	s.tidy(r)
	return nil
}

// snapshot commits the tree and returns the newest snapshot.
func (r *repo) snapshot(ctx context.Context, why string, also []string) (string, error) {
	notes, err := r.stage(ctx, also)
	if err != nil {
		return "", err
	}
	r.s.step("staged")
	tree, err := r.writeTree(ctx)
	if err != nil {
		return "", err
	}
	parent, had, err := r.head(ctx)
	if err != nil {
		return "", err
	}
	if parent != "" && tree == had {
		return parent, nil
	}
	args := []string{"commit-tree", tree}
	if parent != "" {
		args = append(args, "-p", parent)
	}
	out, err := r.run(ctx, []byte(why+"\n"+notes), args...)
	if err != nil {
		return "", err
	}
	r.s.step("committed")
	commit := strings.TrimSpace(string(out))
	if _, err = r.run(ctx, nil, "update-ref", "HEAD", commit, parent); err != nil {
		return "", err
	}
	r.s.step("saved")
	return commit, nil
}

func (r *repo) writeTree(ctx context.Context) (string, error) {
	out, err := r.run(ctx, nil, "write-tree")
	return strings.TrimSpace(string(out)), err
}

// stage brings git's index up to date with the tree. notes are the lines about
// it that a snapshot keeps.
func (r *repo) stage(ctx context.Context, also []string) (notes string, err error) {
	list := &pathList{most: maxFiles}
	if err := r.stream(ctx, r.dir, nil, list, "ls-files", "-z", "-m", "-d", "-o", "--exclude-standard"); err != nil {
		if list.full {
			return "", &tooLarge{fmt.Sprintf("%s holds more than %d files", r.tree, maxFiles)}
		}
		return "", err
	}
	seen := map[string]bool{}
	links := map[string]bool{}
	var paths, gone []string
	var size int64
	var b strings.Builder
	take := func(p string) {
		if p == "" || seen[p] {
			return
		}
		seen[p] = true
		if strings.HasSuffix(p, "/") {
			fmt.Fprintf(&b, "\nnested %s", strings.TrimSuffix(p, "/"))
			return
		}
		info, err := os.Lstat(filepath.Join(r.tree, filepath.FromSlash(p)))
		switch {
		case missing(err) || err == nil && info.IsDir() || r.behindLink(p, links):
			gone = append(gone, p)
			return
		case err != nil || !info.Mode().IsRegular() && info.Mode().Type() != fs.ModeSymlink:
			return
		case info.Size() > maxFile:
			fmt.Fprintf(&b, "\nlarge %s", p)
			return
		}
		if m := info.Mode(); m.IsRegular() && m.Perm() != 0o644 && m.Perm() != 0o755 {
			fmt.Fprintf(&b, "\nmode %04o %s", m.Perm(), p)
		}
		size += info.Size()
		paths = append(paths, p)
	}
	for _, p := range list.paths() {
		take(p)
	}
	for _, p := range also {
		if _, err := os.Lstat(filepath.Join(r.tree, filepath.FromSlash(p))); err == nil && !secretFile(p) && !strings.Contains("/"+p, "/.git/") {
			take(p)
		}
	}
	if size > maxTree {
		return "", &tooLarge{fmt.Sprintf("%s holds more than %d MB that would have to be saved", r.tree, maxTree>>20)}
	}
	update := func(paths []string, how ...string) error {
		if len(paths) == 0 {
			return nil
		}
		_, err := r.run(ctx, []byte(strings.Join(paths, "\x00")+"\x00"), append([]string{"update-index", "-z"}, how...)...)
		return err
	}
	if err := update(gone, "--force-remove", "--stdin"); err != nil {
		return "", err
	}
	if err := update(paths, "--add", "--remove", "--replace", "--stdin"); err != nil { // one that cannot be read spoils it for all
		readable := r.readable(paths, &b)
		if len(readable) == len(paths) || ctx.Err() != nil {
			return "", err
		}
		if err := update(readable, "--add", "--remove", "--replace", "--stdin"); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// behindLink reports whether a path leads through a link, and so is another
// file than the one of that name. known holds the directories looked at.
func (r *repo) behindLink(p string, known map[string]bool) bool {
	dir := path.Dir(p)
	if dir == "." {
		return false
	}
	link, ok := known[dir]
	if !ok {
		info, err := os.Lstat(filepath.Join(r.tree, filepath.FromSlash(dir)))
		link = err == nil && info.Mode().Type() == fs.ModeSymlink || r.behindLink(dir, known)
		known[dir] = link
	}
	return link
}

func (r *repo) readable(paths []string, b *strings.Builder) (ok []string) {
	for _, p := range paths {
		f, err := os.Open(filepath.Join(r.tree, filepath.FromSlash(p)))
		if err == nil {
			_ = f.Close() // opened for reading
		}
		if errors.Is(err, fs.ErrPermission) {
			fmt.Fprintf(b, "\nunreadable %s", p)
			continue
		}
		ok = append(ok, p)
	}
	return ok
}

// secretFile reports files that are never copied into a store.
func secretFile(name string) bool {
	base := path.Base(name)
	return base == ".env" || strings.HasPrefix(base, ".env.")
}

// pathList collects names that end in NUL, up to a number.
type pathList struct {
	most  int
	buf   bytes.Buffer
	count int
	full  bool
}

var errFull = errors.New("too many files")

func (l *pathList) Write(p []byte) (int, error) {
	l.count += bytes.Count(p, []byte{0})
	if l.count > l.most {
		l.full = true
		return 0, errFull
	}
	return l.buf.Write(p)
}

func (l *pathList) paths() []string { return strings.Split(l.buf.String(), "\x00") }
