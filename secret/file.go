package secret

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/hermes-go/hermes/internal/flock"
)

// UpdateFile changes one private file of the home: it reads path, hands the
// bytes to edit (nil for a missing file) and puts what edit returns in place.
// The new text is written beside the file and renamed over it, links are
// followed to the file they name, its mode and owner are kept (0600 for a new
// one), and unchanged bytes are not written. An error of edit is returned as
// it is and nothing is written. Other processes doing the same wait; a file
// that changed by other means in the meantime is left alone with an error.
func UpdateFile(path string, edit func(old []byte) ([]byte, error)) error {
	target, err := follow(path)
	if err != nil {
		return err
	}
	release, err := lockDir(filepath.Dir(target))
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer release()
	mode := fs.FileMode(0o600)
	old, err := ReadFile(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return fmt.Errorf("read %s: %w; it was left as it is, make it readable for this user", named(path, target), reason(err))
	default:
		if old == nil {
			old = []byte{}
		}
		if mode, err = writable(target); err != nil {
			return fmt.Errorf("write %s: %w", named(path, target), err)
		}
	}
	text, err := edit(old)
	if err != nil {
		return err
	}
	if old != nil && bytes.Equal(old, text) {
		return nil
	}
	if err := replace(target, old, text, mode); err != nil {
		return fmt.Errorf("write %s: %w", named(path, target), err)
	}
	return nil
}

// ErrChanged says that a file changed between being read and being replaced.
var ErrChanged = errors.New("it was changed by another program just now; nothing was written, try again")

func named(path, target string) string {
	if path == target {
		return path
	}
	return path + " -> " + target
}

// follow resolves links by hand, so that one that points to a file still to be
// made works too.
func follow(path string) (string, error) {
	p := path
	for range 40 {
		to, err := os.Readlink(p)
		if err != nil {
			return p, nil // not a link, or nothing there: what follows will say
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(p), to)
		}
		p = to
	}
	return "", fmt.Errorf("write %s: its links lead in a circle; replace the link by a file", path)
}

// writable checks that the file may be changed. Renaming over it would succeed
// without that, and for root everything would: a file marked read-only was
// marked so on purpose.
func writable(target string) (fs.FileMode, error) {
	st, err := os.Stat(target)
	if err != nil {
		return 0, reason(err)
	}
	if !st.Mode().IsRegular() {
		return 0, errors.New("it is not a regular file")
	}
	if st.Mode().Perm()&0o222 == 0 {
		return 0, fmt.Errorf("the file is marked read-only (mode %04o); allow it with: chmod u+w %s", st.Mode().Perm(), target)
	}
	f, err := os.OpenFile(target, os.O_WRONLY, 0)
	if err != nil {
		return 0, fmt.Errorf("%w; make the file writable for this user, or set HERMES_HOME to a home that is", reason(err))
	}
	return st.Mode().Perm(), f.Close()
}

func replace(target string, old, text []byte, mode fs.FileMode) (err error) {
	dir := filepath.Dir(target)
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(target)+".*.tmp")
	if err != nil {
		return fmt.Errorf("cannot make a file in %s: %w; make the directory writable or set HERMES_HOME to one that is", dir, reason(err))
	}
	defer func() {
		if err != nil {
			_ = tmp.Close() // may be closed already; the error at hand says more
			_ = os.Remove(tmp.Name())
		}
	}()
	if old != nil {
		keepOwner(target, tmp.Name())
	}
	// After the owner, because changing that clears bits of the mode.
	if err = os.Chmod(tmp.Name(), mode); err != nil {
		return reason(err)
	}
	if _, err = tmp.Write(text); err != nil {
		return reason(err)
	}
	if err = tmp.Sync(); err != nil {
		return reason(err)
	}
	if err = tmp.Close(); err != nil {
		return reason(err)
	}
	if err = unchanged(target, old); err != nil {
		return err
	}
	if err = os.Rename(tmp.Name(), target); errors.Is(err, syscall.EBUSY) {
		// A file mounted on its own into a container can be written, not replaced.
		if err = overwrite(target, text); err == nil {
			_ = os.Remove(tmp.Name())
		}
		return err
	} else if err != nil {
		return fmt.Errorf("rename over it: %w", reason(err))
	}
	if d, e := os.Open(dir); e == nil { // best effort: not every file system can sync a directory
		_ = d.Sync()
		_ = d.Close()
	}
	return nil
}

func overwrite(target string, text []byte) error {
	f, err := os.OpenFile(target, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return reason(err)
	}
	_, err = f.Write(text)
	return reason(errors.Join(err, f.Sync(), f.Close()))
}

func unchanged(target string, old []byte) error {
	now, err := ReadFile(target)
	if errors.Is(err, fs.ErrNotExist) && old == nil {
		return nil
	}
	if err != nil || old == nil || !bytes.Equal(now, old) {
		return ErrChanged
	}
	return nil
}

// lockDir keeps other processes from changing files of a directory. Where that
// cannot be locked the comparison before the rename is all there is.
func lockDir(dir string) (release func(), err error) {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	lock, err := flock.Acquire(ctx, dir+string(filepath.Separator))
	switch {
	case err == nil:
		return lock.Release, nil
	case errors.Is(err, flock.ErrHeld):
		return nil, fmt.Errorf("another process has been changing files there for %s; try again", lockWait)
	}
	return func() {}, nil
}

// lockWait is how long an edit waits for another process's edit.
const lockWait = 5 * time.Second

// reason strips the operation and path off an *fs.PathError or *os.LinkError:
// the message around it names them already.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}
