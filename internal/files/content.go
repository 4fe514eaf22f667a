package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/edit"
)

// MaxEdit is the size up to which a file is read whole for a change.
const MaxEdit = 256 << 20

// ReadAll reads an open file to its end, however long it says it is. More than
// most bytes are an error; 0 means no limit.
func ReadAll(ctx context.Context, f backend.File, size, most int64) ([]byte, error) {
	if most > 0 && size > most {
		return nil, tooLarge(size, most)
	}
	b := make([]byte, 0, max(size, 0)+512)
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		// In pieces, so that a cancelled call ends.
		n, err := f.Read(b[len(b):min(cap(b), len(b)+8<<20)])
		b = b[:len(b)+n]
		switch {
		case errors.Is(err, io.EOF):
			return b, nil
		case err != nil:
			return nil, err
		case most > 0 && int64(len(b)) > most:
			return nil, tooLarge(int64(len(b)), most)
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
	}
}

func tooLarge(size, most int64) error {
	return fmt.Errorf("it has %d bytes, more than the %d that can be edited here: use the terminal", size, most)
}

// Current is a file as it stands before a change.
type Current struct {
	Path
	Exists bool
	Info   fs.FileInfo // nil when it does not exist
	Data   []byte      // not to be changed: Text shares it
	Text   edit.Text
	Opaque error // why the bytes are no text; nil for text
	Print  Print
}

// Read reads a file for a change. A file that does not exist is no error.
func (v *View) Read(ctx context.Context, p Path) (*Current, error) {
	c := &Current{Path: p}
	f, err := v.FS.Open(ctx, p.Real)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, v.explain(p, err)
	}
	defer func() { _ = f.Close() }() // opened for reading
	if c.Info, err = f.Stat(); err != nil {
		return nil, v.explain(p, err)
	}
	if c.Info.IsDir() {
		return nil, fmt.Errorf("%s is a directory: name a file", p.Given)
	}
	if c.Data, err = ReadAll(ctx, f, c.Info.Size(), MaxEdit); err != nil {
		return nil, v.explain(p, err)
	}
	c.Exists = true
	c.Print = PrintOf(c.Data)
	if c.Text, err = edit.Decode(c.Data, v.State.Encoding(p.Real)); err != nil {
		c.Opaque = err
	}
	return c, nil
}

// explain turns an error of the file system into a sentence with a way out.
func (v *View) explain(p Path, err error) error {
	switch {
	case errors.Is(err, backend.ErrIrregular):
		return fmt.Errorf("%s is a device, a pipe or a socket, not a file", p.Given)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: permission denied: check the owner and mode with `ls -l` in the terminal", p.Given)
	}
	return fmt.Errorf("%s: %w", p.Given, bare(err))
}

// Saved is a write that was done and read back.
type Saved struct {
	Bytes     int
	Print     Print
	Unchanged bool // the file held these very bytes already; nothing was written
	Dirs      bool // directories were made
}

// Save makes text the whole content of the file, in its encoding, and reads
// the bytes back before it returns. mode 0 keeps the file's own. What changed
// the file since Read is an error, not overwritten.
func (v *View) Save(ctx context.Context, c *Current, text edit.Text, mode fs.FileMode) (Saved, error) {
	data, err := text.Encode()
	if err != nil {
		return Saved{}, fmt.Errorf("%s: %w", c.Given, err)
	}
	return v.save(ctx, c, data, mode)
}

func (v *View) save(ctx context.Context, c *Current, data []byte, mode fs.FileMode) (Saved, error) {
	s := Saved{Bytes: len(data), Print: PrintOf(data)}
	if c.Exists && bytes.Equal(data, c.Data) && (mode == 0 || mode.Perm() == perm(c.Info)) {
		s.Unchanged = true
		return s, nil
	}
	v.before(ctx, c.Real)
	if err := v.unchanged(ctx, c); err != nil {
		return s, err
	}
	o := backend.WriteOptions{Mode: mode, New: !c.Exists}
	err := v.FS.WriteFile(ctx, c.Real, data, o)
	if errors.Is(err, fs.ErrNotExist) {
		dir := v.Dir(c.Real)
		if mkErr := v.FS.Mkdir(ctx, dir); mkErr != nil {
			return s, fmt.Errorf("make directory %s: %w", dir, bare(mkErr))
		}
		s.Dirs = true
		err = v.FS.WriteFile(ctx, c.Real, data, o)
	}
	if errors.Is(err, fs.ErrExist) {
		return s, fmt.Errorf("%s was made by somebody else just now: read it, then decide", c.Given)
	}
	if err != nil {
		return s, v.explain(c.Path, err)
	}
	if err := v.verify(ctx, c.Path, data); err != nil {
		return s, err
	}
	v.made(c.Real, data)
	return s, nil
}

// made tells who keeps the checkpoints what a file holds now.
func (v *View) made(name string, data []byte) {
	if v.saver != nil {
		v.saver.Wrote(name, data)
	}
}

// unchanged makes sure that nobody else has written since Read. The gap left
// is that between two system calls.
func (v *View) unchanged(ctx context.Context, c *Current) error {
	info, err := v.FS.Stat(ctx, c.Real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if c.Exists {
			return fmt.Errorf("%s was removed by somebody else just now: check, then decide", c.Given)
		}
		return nil
	case err != nil:
		return v.explain(c.Path, err)
	case !c.Exists:
		return fmt.Errorf("%s was made by somebody else just now: read it, then decide", c.Given)
	case info.Size() != c.Info.Size() || !info.ModTime().Equal(c.Info.ModTime()):
		return fmt.Errorf("%s was changed by somebody else just now: read it again, then repeat the edit; nothing was written", c.Given)
	}
	return nil
}

// verify reads a file back and compares it byte for byte.
func (v *View) verify(ctx context.Context, p Path, want []byte) error {
	f, err := v.FS.Open(ctx, p.Real)
	if err != nil {
		return fmt.Errorf("post-write verification failed for %s: it cannot be read back: %w", p.Given, bare(err))
	}
	defer func() { _ = f.Close() }() // opened for reading
	buf := make([]byte, min(len(want)+1, 1<<20))
	for done := 0; ; {
		n, err := io.ReadFull(f, buf)
		if done+n > len(want) || !bytes.Equal(buf[:n], want[done:done+n]) {
			return fmt.Errorf("post-write verification failed for %s: the file does not hold what was written from byte %d on: read it again before you go on", p.Given, done)
		}
		done += n
		switch {
		case err == nil:
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			if done != len(want) {
				return fmt.Errorf("post-write verification failed for %s: %d of %d bytes are there: read it again before you go on", p.Given, done, len(want))
			}
			return nil
		default:
			return fmt.Errorf("post-write verification failed for %s: it cannot be read back: %w", p.Given, bare(err))
		}
	}
}
