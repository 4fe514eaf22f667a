package hostshell

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hermes-go/hermes/backend"
)

// Files is direct access to the machine's own files.
type Files struct{ HomeDir string }

var _ backend.FileSystem = Files{}

func (Files) Open(_ context.Context, name string) (backend.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: name, Err: backend.ErrIrregular}
	}
	if err != nil {
		_ = f.Close() // opened for reading: nothing can be lost
		return nil, err
	}
	return f, nil
}

func (Files) Stat(_ context.Context, name string) (fs.FileInfo, error)  { return os.Stat(name) }
func (Files) Lstat(_ context.Context, name string) (fs.FileInfo, error) { return os.Lstat(name) }

func (Files) ReadDir(_ context.Context, name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

func (Files) Mkdir(_ context.Context, name string) error  { return os.MkdirAll(name, 0o777) }
func (Files) Remove(_ context.Context, name string) error { return os.Remove(name) }

func (Files) Rename(_ context.Context, from, to string) error {
	if a, err := os.Lstat(to); err == nil {
		// On a file system that ignores case, a change of case is no conflict.
		if b, err := os.Lstat(from); err != nil || !os.SameFile(a, b) {
			return &os.LinkError{Op: "rename", Old: from, New: to, Err: fs.ErrExist}
		}
	}
	return os.Rename(from, to)
}

func (Files) RealPath(_ context.Context, name string) (string, error) { return realPath(name) }

func (f Files) Home(context.Context) (string, error) {
	if f.HomeDir == "" {
		return "", errors.New("the home directory is not known")
	}
	return f.HomeDir, nil
}

func (Files) TempDir(context.Context) (string, error) { return os.TempDir(), nil }

// maxLinks bounds the following of links that lead to nothing.
const maxLinks = 40

func realPath(name string) (string, error) {
	if !filepath.IsAbs(name) {
		return "", fmt.Errorf("resolve %s: not an absolute path", name)
	}
	name = filepath.Clean(name)
	for range maxLinks {
		real, err := filepath.EvalSymlinks(name)
		if err == nil {
			return real, nil
		}
		if strings.Contains(err.Error(), "too many links") { // what filepath calls it
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		// A link to something that does not exist names its target.
		if target, err := os.Readlink(name); err == nil {
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(name), target)
			}
			name = target
			continue
		}
		parent := filepath.Dir(name)
		if parent == name {
			return name, nil
		}
		dir, err := realPath(parent)
		if err != nil {
			return "", err
		}
		return filepath.Join(dir, filepath.Base(name)), nil
	}
	return "", &fs.PathError{Op: "resolve", Path: name, Err: errors.New("it is a loop of links")}
}

func (Files) WriteFile(_ context.Context, name string, data []byte, o backend.WriteOptions) error {
	target, err := realPath(name)
	if err != nil {
		return err
	}
	old, err := os.Lstat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return err
	case o.New:
		return &fs.PathError{Op: "write", Path: name, Err: fs.ErrExist}
	case old.IsDir():
		return &fs.PathError{Op: "write", Path: name, Err: errors.New("is a directory")}
	case !old.Mode().IsRegular():
		return &fs.PathError{Op: "write", Path: name, Err: backend.ErrIrregular}
	}
	if old != nil && !writable(target) {
		// A new file could take its place, but the file says that it is not to change.
		return &fs.PathError{Op: "write", Path: name, Err: fs.ErrPermission}
	}
	err = replace(target, data, old, o)
	if errors.Is(err, errBeside) && old != nil {
		return inPlace(target, data, o)
	}
	return err
}

// errBeside says that a file cannot be replaced by one written beside it.
var errBeside = errors.New("cannot be written beside")

// replace writes a new file and renames it over the old one.
func replace(target string, data []byte, old fs.FileInfo, o backend.WriteOptions) (err error) {
	perm := fs.FileMode(0o666)
	if o.Mode != 0 {
		perm = o.Mode.Perm()
	}
	f, err := beside(target, perm)
	if err != nil {
		if old != nil {
			return fmt.Errorf("%w: %w", errBeside, err)
		}
		return err
	}
	tmp := f.Name()
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(tmp) // what matters is the error already there
		}
	}()
	if old != nil && !sameOwner(f, old) {
		return fmt.Errorf("%w: the owner would change", errBeside)
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	switch {
	case o.Mode != 0:
		err = f.Chmod(o.Mode)
	case old != nil:
		err = f.Chmod(old.Mode() & keptBits)
	}
	if err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if o.New {
		// A link fails where a rename would replace a file made meanwhile.
		err := os.Link(tmp, target)
		if err == nil || errors.Is(err, fs.ErrExist) {
			_ = os.Remove(tmp) // the content stands under its name; at worst a copy stays
			if err == nil {
				syncDir(filepath.Dir(target))
			}
			return err
		}
		// No links here: the rename is the best there is.
	}
	if err := rename(tmp, target); err != nil {
		if old != nil {
			return fmt.Errorf("%w: %w", errBeside, err)
		}
		return err
	}
	syncDir(filepath.Dir(target))
	return nil
}

const keptBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// beside makes an empty file in the directory of target.
func beside(target string, perm fs.FileMode) (*os.File, error) {
	dir, base := filepath.Split(target)
	if len(base) > 200 {
		base = base[:200] // names have at most 255 bytes
	}
	base = strings.ToValidUTF8(base, "_")
	return os.OpenFile(dir+"."+base+"."+rand.Text()[:8]+".tmp", os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
}

func inPlace(target string, data []byte, o backend.WriteOptions) error {
	f, err := os.OpenFile(target, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Truncate(int64(len(data)))
	}
	if err == nil && o.Mode != 0 {
		err = f.Chmod(o.Mode)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
