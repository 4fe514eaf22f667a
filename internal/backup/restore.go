package backup

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of what is taken for a backup.
const (
	mostFiles = 1_000_000
	mostBytes = int64(64) << 30
)

const stagingPrefix = ".importing-"

// Archive is a zip that was looked through and may be put back.
type Archive struct {
	Files   int
	Bytes   int64
	Made    time.Time // zero: unknown
	Skipped []Skipped // what will not be put back, and why

	zip     *zip.ReadCloser
	entries []entry
}

type entry struct {
	rel  string // in the system's form
	f    *zip.File
	link bool
	dir  bool
}

// Open looks a zip through without writing anything: every name has to stay
// inside the home, every file has to have the content its checksum says, and it
// has to look like a home.
func Open(ctx context.Context, name string) (*Archive, error) {
	r, err := zip.OpenReader(name)
	if errors.Is(err, zip.ErrFormat) {
		return nil, fmt.Errorf("%s is no zip file, or only a part of one", name)
	}
	if err != nil {
		return nil, fmt.Errorf("open backup: %w", err)
	}
	a := &Archive{zip: r}
	if err := a.look(ctx); err != nil {
		_ = r.Close()
		return nil, fmt.Errorf("%s is not put back: %w", name, err)
	}
	return a, nil
}

// Close releases the file.
func (a *Archive) Close() error { return a.zip.Close() }

func (a *Archive) look(ctx context.Context) error {
	if len(a.zip.File) > mostFiles {
		return fmt.Errorf("it has %d entries, at most %d are taken", len(a.zip.File), mostFiles)
	}
	if at, ok := strings.CutPrefix(a.zip.Comment, comment); ok {
		a.Made, _ = time.Parse(time.RFC3339, at)
	}
	prefix := a.prefix()
	seen := map[string]bool{} // folded: some systems do not tell A from a
	files := map[string]bool{}
	for _, f := range a.zip.File {
		name := strings.TrimPrefix(f.Name, prefix)
		if name == "" {
			continue
		}
		e, err := check(name, f)
		if err != nil {
			return err
		}
		key := strings.ToLower(filepath.ToSlash(e.rel))
		if seen[key] {
			return fmt.Errorf("it holds %q twice", name)
		}
		seen[key] = true
		switch {
		case excluded(filepath.ToSlash(e.rel), e.dir) && !strings.HasSuffix(e.rel, ".db-wal"), below(filepath.ToSlash(e.rel)):
			continue
		case e.dir:
			a.entries = append(a.entries, e)
			continue
		}
		files[key] = true
		if err := a.read(ctx, &e); err != nil {
			return err
		}
	}
	for name := range files {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if files[dir] {
				return fmt.Errorf("it holds %q as a file and as a folder", dir)
			}
		}
	}
	for _, mark := range []string{"config.yaml", ".env", "state.db", "auth.json", "soul.md", "memories/memory.md"} {
		if files[mark] {
			return nil
		}
	}
	return errors.New("there is neither config.yaml nor .env nor state.db in it: it is no backup of a home")
}

// below reports whether a file lies in a folder that no backup holds.
func below(rel string) bool {
	for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
		if excluded(dir, true) {
			return true
		}
	}
	return false
}

// prefix is the folder that everything lies in, as some zips of the original
// have it.
func (a *Archive) prefix() string {
	for _, p := range []string{".hermes/", "hermes/"} {
		if len(a.zip.File) > 0 && !slices.ContainsFunc(a.zip.File, func(f *zip.File) bool { return !strings.HasPrefix(f.Name, p) }) {
			return p
		}
	}
	return ""
}

func check(name string, f *zip.File) (entry, error) {
	dir := strings.HasSuffix(name, "/")
	bare := strings.TrimSuffix(name, "/")
	if !utf8.ValidString(name) || strings.ContainsAny(name, "\\\x00") || !filepath.IsLocal(filepath.FromSlash(bare)) || path.Clean(bare) != bare || bare == "." {
		return entry{}, fmt.Errorf("it holds %q, which leads out of the home", name)
	}
	e := entry{rel: filepath.FromSlash(bare), f: f, dir: dir || f.Mode().IsDir(), link: f.Mode()&fs.ModeSymlink != 0}
	if m := f.Mode().Type(); m&^(fs.ModeDir|fs.ModeSymlink) != 0 {
		return entry{}, fmt.Errorf("it holds %q, which is neither file nor folder nor link", name)
	}
	return e, nil
}

// read compares an entry with its checksum and looks at what databases and
// links are.
func (a *Archive) read(ctx context.Context, e *entry) error {
	in, err := e.f.Open()
	if err != nil {
		return fmt.Errorf("%s: %w", e.f.Name, err)
	}
	head := &bytes.Buffer{}
	n, err := io.Copy(&limited{w: io.Discard, head: head, left: mostBytes - a.Bytes}, &source{r: in, ctx: ctx})
	if err := errors.Join(err, in.Close()); err != nil {
		return fmt.Errorf("%s is damaged in it: %w", e.f.Name, err)
	}
	a.Bytes += n
	if strings.HasSuffix(e.rel, ".db") && !e.link && n > 0 && !bytes.HasPrefix(head.Bytes(), []byte("SQLite format 3\x00")) {
		return fmt.Errorf("%s in it is no database", e.f.Name)
	}
	if e.link && !local(e.rel, head.String()) {
		a.Skipped = append(a.Skipped, Skipped{filepath.ToSlash(e.rel), "a link that leads out of the home"})
		return nil
	}
	a.Files++
	a.entries = append(a.entries, *e)
	return nil
}

// limited counts down and keeps the beginning.
type limited struct {
	w    io.Writer
	head *bytes.Buffer
	left int64
}

func (l *limited) Write(b []byte) (int, error) {
	if l.left -= int64(len(b)); l.left < 0 {
		return 0, errors.New("it is larger than any home")
	}
	if room := 4096 - l.head.Len(); room > 0 {
		l.head.Write(b[:min(room, len(b))])
	}
	return l.w.Write(b)
}

// Restored says what was put back.
type Restored struct {
	Home     string    `json:"home"`
	Files    int       `json:"files"`
	Replaced int       `json:"replaced"` // files that were there before
	Aside    string    `json:"aside"`    // where those lie now, "" if there were none
	Skipped  []Skipped `json:"skipped"`
}

// Restore puts the files of the archive into the home. All of it is unpacked
// beside first; then each file that is in the way moves to a folder under
// backups, and the new one takes its place. When something fails all moves are
// taken back. Files that the archive does not hold stay as they are.
func (a *Archive) Restore(ctx context.Context, home string, now time.Time) (Restored, error) {
	r := &restorer{a: a, home: home, out: Restored{Home: home, Skipped: a.Skipped}}
	r.aside = filepath.Join(home, "backups", "replaced-"+now.UTC().Format("20060102-150405"))
	err := r.run(ctx)
	if err != nil {
		if back := r.takeBack(); back != nil {
			return r.out, fmt.Errorf("put back into %s: %w; and not everything could be moved back, look into %s: %w", home, err, r.aside, back)
		}
		return Restored{Home: home}, fmt.Errorf("put back into %s: %w; the home is as it was", home, err)
	}
	return r.out, nil
}

type restorer struct {
	a           *Archive
	home, aside string
	stage       string
	moves       [][2]string // from, to: in their order
	out         Restored
}

func (r *restorer) run(ctx context.Context) error {
	if err := os.MkdirAll(r.home, 0o700); err != nil {
		return err
	}
	if _, err := os.Lstat(r.aside); err == nil {
		return fmt.Errorf("%s is there already", r.aside)
	}
	var err error
	if r.stage, err = os.MkdirTemp(r.home, stagingPrefix); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(r.stage) }() // what is left is not in use
	if err := r.unpack(ctx); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for i := range r.a.entries {
		if err := r.place(&r.a.entries[i]); err != nil {
			return err
		}
	}
	return r.look()
}

// unpack writes everything below the staging folder, through a root that no
// name and no link leads out of.
func (r *restorer) unpack(ctx context.Context) error {
	root, err := os.OpenRoot(r.stage)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for i := range r.a.entries {
		e := &r.a.entries[i]
		if err := root.MkdirAll(filepath.Dir(e.rel), 0o700); err != nil {
			return err
		}
		switch {
		case e.dir:
			err = root.MkdirAll(e.rel, 0o700)
		case !e.link:
			err = unpackFile(ctx, root, e)
		}
		if err != nil {
			return fmt.Errorf("unpack %s: %w", e.rel, err)
		}
	}
	for i := range r.a.entries { // links last: nothing is written through one
		if e := &r.a.entries[i]; e.link {
			target, err := readEntry(e.f)
			if err != nil {
				return fmt.Errorf("unpack %s: %w", e.rel, err)
			}
			if err := root.Symlink(filepath.FromSlash(target), e.rel); err != nil {
				return fmt.Errorf("unpack %s: %w", e.rel, err)
			}
		}
	}
	return nil
}

func readEntry(f *zip.File) (string, error) {
	in, err := f.Open()
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(in, 4096))
	return string(b), errors.Join(err, in.Close())
}

// mode is an entry's mode, tightened: what holds secrets or sessions is for its
// owner only, and so is everything of a zip that knows no modes.
func (e *entry) mode() fs.FileMode {
	switch base := path.Base(filepath.ToSlash(e.rel)); {
	case base == ".env", base == "config.yaml", strings.HasPrefix(base, "auth.json"), strings.HasSuffix(base, ".db"), strings.Contains(base, "oauth"):
		return 0o600
	}
	if e.f.CreatorVersion>>8 != 3 && e.f.CreatorVersion>>8 != 19 { // neither unix nor macOS
		return 0o600
	}
	return e.f.Mode().Perm()&^0o022 | 0o600
}

func unpackFile(ctx context.Context, root *os.Root, e *entry) error {
	in, err := e.f.Open()
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // its checksum is compared at the end of the file
	out, err := root.OpenFile(e.rel, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, &source{r: in, ctx: ctx})
	if err == nil {
		err = out.Chmod(e.mode())
	}
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		return err
	}
	return root.Chtimes(e.rel, e.f.Modified, e.f.Modified)
}

// place moves what is in the way aside and the new file to where it belongs.
func (r *restorer) place(e *entry) error {
	to := filepath.Join(r.home, e.rel)
	st, err := os.Lstat(to)
	if e.dir {
		if err == nil && (st.IsDir() || isDir(to)) {
			return nil
		}
		if err == nil {
			if err := r.move(to, filepath.Join(r.aside, e.rel)); err != nil {
				return err
			}
			r.out.Replaced++
		}
		return os.MkdirAll(to, 0o700)
	}
	if err := r.parents(e.rel); err != nil {
		return err
	}
	tails := []string{""}
	if strings.HasSuffix(e.rel, ".db") {
		tails = []string{"-wal", "-shm", "-journal", ""} // an old log must not meet the new database
	}
	for _, tail := range tails {
		if _, err := os.Lstat(to + tail); err != nil {
			continue
		}
		if err := r.move(to+tail, filepath.Join(r.aside, e.rel+tail)); err != nil {
			return err
		}
		if tail == "" {
			r.out.Replaced++
		}
	}
	if err := r.move(filepath.Join(r.stage, e.rel), to); err != nil {
		return err
	}
	r.out.Files++
	return nil
}

// parents makes the folders a file lies in. A file where a folder is needed
// moves aside; a link to a folder stays.
func (r *restorer) parents(rel string) error {
	dir := ""
	for part := range strings.SplitSeq(filepath.ToSlash(filepath.Dir(rel)), "/") {
		if part == "." {
			continue
		}
		dir = filepath.Join(dir, part)
		at := filepath.Join(r.home, dir)
		if _, err := os.Lstat(at); err == nil && !isDir(at) {
			if err := r.move(at, filepath.Join(r.aside, dir)); err != nil {
				return err
			}
			r.out.Replaced++
		}
		if err := os.Mkdir(at, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

func isDir(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.IsDir()
}

func (r *restorer) move(from, to string) error {
	if strings.HasPrefix(to, r.aside) {
		r.out.Aside = r.aside
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	r.moves = append(r.moves, [2]string{from, to})
	return nil
}

// takeBack undoes the moves, the last one first.
func (r *restorer) takeBack() error {
	var errs []error
	for _, m := range slices.Backward(r.moves) {
		if strings.HasPrefix(m[0], r.stage) {
			errs = append(errs, os.Remove(m[1]))
			continue
		}
		errs = append(errs, os.Rename(m[1], m[0]))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if r.out.Aside != "" {
		_ = os.RemoveAll(r.aside) // empty folders
	}
	return nil
}

// look re-reads what the result says.
func (r *restorer) look() error {
	for i := range r.a.entries {
		e := &r.a.entries[i]
		st, err := os.Lstat(filepath.Join(r.home, e.rel))
		if err != nil {
			return err
		}
		if inUse := strings.HasSuffix(e.rel, ".db"); !e.dir && !e.link && !inUse && uint64(st.Size()) != e.f.UncompressedSize64 {
			return fmt.Errorf("%s has %d bytes and should have %d", e.rel, st.Size(), e.f.UncompressedSize64)
		}
	}
	return nil
}
