// Package backup writes a home into one zip file and puts such a file back. It
// knows which files of a home are worth keeping and how databases are copied
// while others write them; what is said and asked about it is the commands'
// matter. It is no archiver for anything but homes.
package backup

import (
	"archive/zip"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hermes-go/hermes/internal/store"
)

// Skipped is a file that is not where it was meant to go, and why.
type Skipped struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Written says what a backup holds, counted by reading it back.
type Written struct {
	Path    string    `json:"path"`
	Files   int       `json:"files"`
	Bytes   int64     `json:"bytes"`    // of the files
	Size    int64     `json:"zip_size"` // of the zip
	Skipped []Skipped `json:"skipped"`  // what should be in it and is not, or not as it should
}

// Write packs the home into a new zip file: written beside, read back and
// compared, then renamed. An existing file is only replaced when replace is
// set. What could not be read is left out and reported in Skipped; an error
// means that there is no backup.
func Write(ctx context.Context, home, to string, now time.Time, replace bool) (Written, error) {
	out, err := write(ctx, home, to, now, replace)
	if err != nil {
		return out, fmt.Errorf("back up %s: %w", home, err)
	}
	return out, nil
}

func write(ctx context.Context, home, to string, now time.Time, replace bool) (out Written, err error) {
	if home, err = filepath.EvalSymlinks(home); err != nil { // it may be a link itself
		return out, err
	}
	if !isDir(home) {
		return out, errors.New("it is no directory")
	}
	if out.Path, err = filepath.Abs(to); err != nil {
		return out, err
	}
	if _, err := os.Lstat(out.Path); err == nil && !replace {
		return out, fmt.Errorf("%s is there already", out.Path)
	}
	f, err := os.CreateTemp(filepath.Dir(out.Path), "."+filepath.Base(out.Path)+".*") // readable by its owner only
	if err != nil {
		return out, err
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name()) // gone already when all went well
	}()
	p := &packer{ctx: ctx, home: home, zip: zip.NewWriter(f), sums: map[string]uint32{}, beside: filepath.Dir(out.Path)}
	for _, name := range []string{out.Path, f.Name()} { // they may lie in the home
		if st, err := os.Stat(name); err == nil {
			p.avoid = append(p.avoid, st)
		}
	}
	if err := p.all(now); err != nil {
		return out, err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return out, err
	}
	if out.Files, out.Bytes, err = verify(ctx, f.Name(), p.sums); err != nil {
		return out, fmt.Errorf("the file just written does not read back: %w", err)
	}
	if err := os.Rename(f.Name(), out.Path); err != nil {
		return out, err
	}
	st, err := os.Stat(out.Path)
	if err != nil {
		return out, err
	}
	out.Size, out.Skipped = st.Size(), p.skipped
	return out, nil
}

// packer fills one zip.
type packer struct {
	ctx     context.Context
	home    string
	zip     *zip.Writer
	avoid   []fs.FileInfo
	beside  string            // a folder for copies
	sums    map[string]uint32 // what was written, by name
	skipped []Skipped
	dbs     []string
}

// comment marks our files; the original's are known by what they hold.
const comment = "hermes backup 1 "

func (p *packer) all(now time.Time) error {
	err := filepath.WalkDir(p.home, p.visit)
	if err != nil {
		return err
	}
	// Databases come last: a message kept beside one while it is in trouble is
	// then in the file that was copied before, or in the database, or in both,
	// where it counts once.
	for _, rel := range p.dbs {
		if err := p.database(rel); err != nil {
			return err
		}
	}
	if len(p.sums) == 0 {
		return errors.New("there is nothing in it")
	}
	if err := p.zip.SetComment(comment + now.UTC().Format(time.RFC3339)); err != nil {
		return err
	}
	return p.zip.Close()
}

func (p *packer) skip(rel string, why string) {
	p.skipped = append(p.skipped, Skipped{filepath.ToSlash(rel), why})
}

func (p *packer) visit(name string, d fs.DirEntry, err error) error {
	if err := p.ctx.Err(); err != nil {
		return context.Cause(p.ctx)
	}
	rel, relErr := filepath.Rel(p.home, name)
	if relErr != nil {
		return relErr
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && rel != ".":
		return nil // deleted a moment ago
	case err != nil && rel == ".":
		return err
	case err != nil:
		p.skip(rel, reason(err))
		return nil
	case rel == ".":
		return nil
	case excluded(filepath.ToSlash(rel), d.IsDir()):
		if d.IsDir() {
			return filepath.SkipDir
		}
		return nil
	case p.avoids(d):
		return nil
	case d.IsDir():
		return p.add(rel, fs.ModeDir)
	case d.Type()&fs.ModeSymlink != 0:
		return p.link(rel, name)
	case !d.Type().IsRegular():
		return nil // a socket or pipe lives only as long as its program
	case strings.HasSuffix(rel, ".db"):
		p.dbs = append(p.dbs, rel)
		return nil
	}
	return p.add(rel, 0)
}

func (p *packer) avoids(d fs.DirEntry) bool {
	st, err := d.Info()
	return err == nil && slices.ContainsFunc(p.avoid, func(a fs.FileInfo) bool { return os.SameFile(a, st) })
}

// link stores a link inside the home as such, and what one to a file elsewhere
// leads to as a file: alone it would lead nowhere on another machine.
func (p *packer) link(rel, name string) error {
	target, err := os.Readlink(name)
	if err != nil {
		p.skip(rel, reason(err))
		return nil
	}
	if local(rel, target) {
		w, err := p.create(rel, fs.ModeSymlink|0o777, time.Time{})
		if err != nil {
			return err
		}
		target = filepath.ToSlash(target)
		p.sums[filepath.ToSlash(rel)] = crc32.ChecksumIEEE([]byte(target))
		_, err = io.WriteString(w, target)
		return err
	}
	st, err := os.Stat(name)
	switch {
	case err != nil:
		p.skip(rel, "a link that leads nowhere: "+target)
	case st.Mode().IsRegular():
		return p.add(rel, 0)
	default:
		p.skip(rel, "a link out of the home, what it leads to is not in the backup: "+target)
	}
	return nil
}

// local reports whether a link stays inside the home.
func local(rel, target string) bool {
	return !filepath.IsAbs(target) && !path.IsAbs(target) && filepath.IsLocal(filepath.Join(filepath.Dir(rel), filepath.FromSlash(target)))
}

func (p *packer) create(rel string, mode fs.FileMode, at time.Time) (io.Writer, error) {
	h := &zip.FileHeader{Name: filepath.ToSlash(rel), Method: zip.Deflate, Modified: at}
	if mode.IsDir() {
		h.Name, h.Method = h.Name+"/", zip.Store
	}
	h.SetMode(mode)
	return p.zip.CreateHeader(h)
}

func (p *packer) add(rel string, kind fs.FileMode) error {
	name := filepath.Join(p.home, rel)
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		p.skip(rel, reason(err))
		if kind.IsDir() {
			return filepath.SkipDir
		}
		return nil
	}
	defer func() { _ = f.Close() }() // only read from
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if kind.IsDir() {
		if _, err := p.create(rel, st.Mode()&(fs.ModeDir|fs.ModePerm), st.ModTime()); err != nil {
			return err
		}
		p.sums[filepath.ToSlash(rel)+"/"] = 0
		return nil
	}
	return p.pour(rel, f, st)
}

// pour copies an open file. One that cannot be read to its end is in the zip as
// far as it could, and reported.
func (p *packer) pour(rel string, from io.Reader, st fs.FileInfo) error {
	w, err := p.create(rel, st.Mode().Perm(), st.ModTime())
	if err != nil {
		return err
	}
	sum := crc32.NewIEEE()
	in := &source{r: from, ctx: p.ctx}
	if _, err := io.Copy(io.MultiWriter(w, sum), in); err != nil {
		if in.err == nil || p.ctx.Err() != nil {
			return err // the zip cannot be written, or nobody wants it any more
		}
		p.skip(rel, "only its beginning was read: "+reason(in.err))
	}
	p.sums[filepath.ToSlash(rel)] = sum.Sum32()
	return nil
}

// source tells errors of reading from those of writing.
type source struct {
	r   io.Reader
	ctx context.Context
	err error
}

func (s *source) Read(b []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	n, err := s.r.Read(b)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

const damaged = "damaged, stored as it is; mend it with: hermes sessions repair"

// database adds a copy made by the driver. A damaged file is added as it is,
// with its log, and reported: it may be all there is.
func (p *packer) database(rel string) error {
	name := filepath.Join(p.home, rel)
	st, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		p.skip(rel, reason(err))
		return nil
	}
	tmp, err := os.MkdirTemp(p.beside, ".hermes-backup-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }() // the system clears it otherwise
	dst := filepath.Join(tmp, "copy.db")
	if err := store.Copy(p.ctx, name, dst); err != nil {
		if p.ctx.Err() != nil {
			return context.Cause(p.ctx)
		}
		var t *store.Trouble
		if !errors.As(err, &t) {
			p.skip(rel, err.Error())
			return nil
		}
		p.skip(rel, damaged)
		for _, tail := range []string{"", "-wal"} {
			if err := p.add(rel+tail, 0); err != nil {
				return err
			}
		}
		return nil
	}
	f, err := os.Open(dst)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read from
	return p.pour(rel, f, st)
}

// verify reads a zip back and compares it with what was written.
func verify(ctx context.Context, name string, sums map[string]uint32) (files int, size int64, err error) {
	r, err := zip.OpenReader(name)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = r.Close() }() // only read from
	seen := 0
	for _, f := range r.File {
		want, ok := sums[f.Name]
		if !ok {
			return 0, 0, fmt.Errorf("%s was not put in", f.Name)
		}
		seen++
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		in, err := f.Open()
		if err != nil {
			return 0, 0, fmt.Errorf("%s: %w", f.Name, err)
		}
		sum := crc32.NewIEEE()
		n, err := io.Copy(sum, &source{r: in, ctx: ctx})
		if err := errors.Join(err, in.Close()); err != nil {
			return 0, 0, fmt.Errorf("%s: %w", f.Name, err)
		}
		if sum.Sum32() != want {
			return 0, 0, fmt.Errorf("%s differs", f.Name)
		}
		files++
		size += n
	}
	if seen != len(sums) {
		return 0, 0, fmt.Errorf("it has %d of %d entries", seen, len(sums))
	}
	return files, size, nil
}

// excluded says what a backup leaves out: what can be had again, what belongs
// to running programs, and earlier backups.
func excluded(rel string, dir bool) bool {
	base := path.Base(rel)
	if in, ok := strings.CutPrefix(rel, "profiles/"); ok { // a home of its own
		if _, in, ok = strings.Cut(in, "/"); ok {
			rel = in
		}
	}
	if dir {
		switch base {
		case "__pycache__", ".git", "node_modules":
			return true
		}
		switch rel {
		case "backups", "checkpoints", "state-snapshots", "hermes-agent", "venv", ".venv":
			return true
		}
		return strings.HasPrefix(rel, stagingPrefix)
	}
	for _, tail := range []string{".pyc", ".pid", ".db-wal", ".db-shm", ".db-journal", ".db.lock", ".db.copying", ".db.repairing", ".db.repairing-wal", ".db.repairing-shm"} {
		if strings.HasSuffix(base, tail) {
			return true
		}
	}
	return base == "auth.lock" || strings.HasPrefix(rel, "hermes-backup-") && strings.HasSuffix(rel, ".zip")
}

// quick is what a snapshot keeps.
var quick = []string{
	"state.db", "config.yaml", ".env", "auth.json", "cron/jobs.json", "gateway_state.json", "channel_directory.json", "processes.json",
	"pairing", "platforms/pairing",
}

// Snapshots is how many snapshots of a home are kept.
const Snapshots = 20

// Snapshot is a copy of the few files that are hard to make again, inside the
// home.
type Snapshot struct {
	ID      string    `json:"id"`
	Path    string    `json:"path"`
	Files   int       `json:"files"`
	Bytes   int64     `json:"bytes"`
	Removed []string  `json:"removed"` // older snapshots that made room
	Skipped []Skipped `json:"skipped"`
}

// Quick makes a snapshot and removes the oldest ones beyond Snapshots.
func Quick(ctx context.Context, home, label string, now time.Time) (Snapshot, error) {
	s := Snapshot{ID: now.UTC().Format("20060102-150405")}
	if label = cleanLabel(label); label != "" {
		s.ID += "-" + label
	}
	dir := filepath.Join(home, "state-snapshots")
	s.Path = filepath.Join(dir, s.ID)
	if err := s.take(ctx, home, dir); err != nil {
		return s, fmt.Errorf("snapshot of %s: %w", home, err)
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return s, fmt.Errorf("snapshot of %s: %w", home, err)
	}
	var all []string
	for _, d := range list {
		if d.IsDir() && !strings.HasPrefix(d.Name(), ".") {
			all = append(all, d.Name())
		}
	}
	slices.Sort(all) // names begin with the time
	for len(all) > Snapshots {
		if err := os.RemoveAll(filepath.Join(dir, all[0])); err != nil {
			return s, fmt.Errorf("remove old snapshot: %w", err)
		}
		s.Removed, all = append(s.Removed, all[0]), all[1:]
	}
	return s, nil
}

func cleanLabel(s string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '-'
	}, s), "-.")
}

// take fills a folder beside and renames it.
func (s *Snapshot) take(ctx context.Context, home, dir string) error {
	if _, err := os.Lstat(s.Path); err == nil {
		return fmt.Errorf("%s is there already", s.Path)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(dir, ".making-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }() // renamed when all went well
	sizes := map[string]int64{}
	for _, rel := range quick {
		err := filepath.WalkDir(filepath.Join(home, filepath.FromSlash(rel)), func(name string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || d.IsDir() {
				return err
			}
			at, err := filepath.Rel(home, name)
			if err != nil {
				return err
			}
			to := filepath.Join(tmp, at)
			if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
				return err
			}
			if strings.HasSuffix(name, ".db") {
				err = store.Copy(ctx, name, to)
			} else {
				err = copyFile(name, to)
			}
			var t *store.Trouble
			if errors.As(err, &t) {
				s.Skipped = append(s.Skipped, Skipped{filepath.ToSlash(at), damaged})
				if err = copyFile(name, to); err == nil {
					err = copyFile(name+"-wal", to+"-wal")
				}
				if errors.Is(err, fs.ErrNotExist) {
					err = nil // no log
				}
			}
			if err != nil {
				return err
			}
			st, err := os.Stat(to)
			if err != nil {
				return err
			}
			sizes[filepath.ToSlash(at)] = st.Size()
			s.Files++
			s.Bytes += st.Size()
			return nil
		})
		if err != nil {
			return err
		}
	}
	if s.Files == 0 {
		return errors.New("there is nothing to keep yet")
	}
	manifest, err := json.MarshalIndent(map[string]any{"id": s.ID, "file_count": s.Files, "total_size": s.Bytes, "files": sizes}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tmp, "manifest.json"), manifest, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, s.Path)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read from
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

// reason is an error without the path, which is named beside it.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return cmp.Or(err, errors.New("unknown")).Error()
}
