package store

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// While the database cannot be written, what is appended goes to a file beside
// it, a line of the export's format for each call. Whoever can write the
// database again takes the lines in, each exactly once: every line has a key,
// and the keys taken are recorded in the transaction that adds the messages.

func (d *DB) spoolPath() string { return d.path + ".spool" }

// spoolPaths are where lines may go, the best place first.
func (d *DB) spoolPaths() []string {
	list := []string{d.spoolPath()}
	if d.opt.Spare != "" {
		sum := sha256.Sum256([]byte(d.path))
		list = append(list, filepath.Join(d.opt.Spare, hex.EncodeToString(sum[:8])+".spool"))
	}
	return list
}

const metaTaken = "hermes_go_spooled:"

// keep writes rows to the spool, flushes them to the disk and says where they are.
func (d *DB) keep(s Session, rows []rawRow) (string, error) {
	l := toLine(s, rows)
	l.Key = rand.Text()
	// A line begins with a line break, so that the rest of a write that failed
	// half way does not spoil it.
	b := bytes.NewBufferString("\n")
	if err := writeJSONL(b, &l); err != nil {
		return "", err
	}
	var errs []error
	for i, path := range d.spoolPaths() {
		var err error
		if i > 0 {
			err = privateDir(filepath.Dir(path))
		}
		for moved := true; moved && err == nil; {
			// Moved: somebody took the file in between, and the line may have come
			// too late for him. Written twice it still counts once.
			moved, err = keepLine(path, b.Bytes())
		}
		if err == nil {
			return path, nil
		}
		errs = append(errs, err)
	}
	return "", errors.Join(errs...)
}

// privateDir makes a folder that nobody else can write to or look into.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s is not a private directory", dir)
	}
	return nil
}

func keepLine(path string, b []byte) (moved bool, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(b); err != nil {
		return false, err
	}
	if err := f.Sync(); err != nil {
		return false, err
	}
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	now, err := os.Stat(path)
	return err != nil || !os.SameFile(mine, now), nil
}

// spooled lists files of the spool.
func (d *DB) spooled() []string {
	var all []string
	for _, path := range d.spoolPaths() {
		list, _ := filepath.Glob(globEscape(path) + "*") // only a malformed pattern is an error
		all = append(all, list...)
	}
	return all
}

func globEscape(path string) string {
	return strings.NewReplacer(`[`, `[[]`, `*`, `[*]`, `?`, `[?]`).Replace(path)
}

// takeIn moves what lies in the spool into the database. It wants d.mu held.
func (d *DB) takeIn(ctx context.Context) error {
	if len(d.spooled()) == 0 {
		return nil
	}
	var done []string
	err := d.writer.immediate(ctx, func(ctx context.Context) (err error) {
		done, err = d.takeAll(ctx)
		return err
	})
	if err != nil {
		return err
	}
	d.dropFiles(done)
	return nil
}

// takeAll adds what lies in the spool to the transaction and returns the files
// that may go once it is committed. The write lock makes this the only process
// here.
func (d *DB) takeAll(ctx context.Context) ([]string, error) {
	if len(d.spooled()) == 0 {
		return nil, nil
	}
	// Names sort by time: what a failed attempt left behind comes first.
	paths := d.spoolPaths()
	for _, path := range paths {
		to := fmt.Sprintf("%s.%020d-%s", path, d.now().UnixNano(), rand.Text())
		if err := os.Rename(path, to); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	var done []string
	for _, name := range d.spooled() {
		if slices.Contains(paths, name) {
			continue // begun again a moment ago: next time
		}
		n, err := d.takeFile(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("take in %s: %w", name, err)
		}
		if n > 0 {
			d.log.Info("taking in messages kept beside the session database", "path", name, "messages", n)
		}
		done = append(done, name)
	}
	return done, nil
}

func (d *DB) dropFiles(done []string) {
	for _, name := range done {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			d.log.Warn("spool file stays, its lines count as taken", "path", name, "err", err)
		}
	}
}

func (d *DB) takeFile(ctx context.Context, name string) (int, error) {
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }() // only read from
	n := 0
	for in := bufio.NewReader(f); ; {
		text, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return n, nil // a line that does not end was never acknowledged
		}
		if err != nil {
			return n, err
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil || l.ID == "" {
			continue // the rest of a write that failed half way
		}
		k, err := d.takeLine(ctx, &l)
		if err != nil {
			return n, err
		}
		n += k
	}
}

func (d *DB) takeLine(ctx context.Context, l *line) (int, error) {
	c := d.writer
	if l.Key != "" {
		had, err := getMeta(ctx, c, metaTaken+l.Key)
		if err != nil || had != "" {
			return 0, err
		}
		if err := setMeta(ctx, c, metaTaken+l.Key, "1"); err != nil {
			return 0, err
		}
	}
	if err := insertSession(ctx, c, l.session()); err != nil {
		return 0, err
	}
	for i := range l.Messages {
		r := l.Messages[i].row()
		if err := insertRow(ctx, c, l.ID, r.at, &r.row); err != nil {
			return 0, err
		}
	}
	return len(l.Messages), recount(ctx, c, l.ID)
}
