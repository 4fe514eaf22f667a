package setup

import (
	"archive/tar"
	"compress/gzip"
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

	"github.com/hermes-go/hermes/internal/store"
)

// What an archive leaves out: keys unless they are asked for, what runs, what
// can be made again, and databases, which are copied by their driver.
var (
	keysOfHome = [...]string{".env", "auth.json", ".anthropic_oauth.json", "auth"}
	notKept    = [...]string{
		"profiles", "active_profile", "gateway.pid", "gateway_state.json", "processes.json", "auth.lock", "logs", "cache", "checkpoints", "backups", "state-snapshots",
		"home", "models_dev_cache.json", "models_cache.json", "image_cache", "audio_cache", "document_cache", "browser_screenshots",
	}
)

// Archived tells what an export took along.
type Archived struct {
	Files    int
	Bytes    int64
	Secrets  bool
	Sessions bool
}

// Export writes a profile's home as a tar.gz whose one folder has the
// profile's name. secrets takes the keys along, sessions the conversations.
func (p Profiles) Export(ctx context.Context, name, file string, secrets, sessions bool) (a Archived, err error) {
	if err := p.Check(name); err != nil {
		return a, err
	}
	dir := p.Dir(name)
	out, err := os.OpenFile(file+".tmp", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return a, fmt.Errorf("export: %w", err)
	}
	defer func() {
		if err != nil {
			_ = out.Close()
			_ = os.Remove(file + ".tmp")
			err = fmt.Errorf("export profile %s: %w", name, err)
		}
	}()
	z := gzip.NewWriter(out)
	t := tar.NewWriter(z)
	a.Secrets, a.Sessions = secrets, sessions
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || rel == "." {
			return err
		}
		top, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
		skip := slices.Contains(notKept[:], top) || !secrets && (slices.Contains(keysOfHome[:], top) || strings.HasPrefix(top, "config.yaml.bak")) ||
			strings.HasSuffix(rel, ".tmp") || strings.Contains(d.Name(), ".db-")
		if skip || strings.HasSuffix(d.Name(), ".db") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		return a.add(t, path, name+"/"+filepath.ToSlash(rel), d)
	})
	if err == nil && sessions {
		err = a.addSessions(ctx, t, dir, name)
	}
	if err = errors.Join(err, t.Close(), z.Close()); err != nil {
		return a, err
	}
	if err = errors.Join(out.Sync(), out.Close()); err != nil {
		return a, err
	}
	return a, os.Rename(file+".tmp", file)
}

func (a *Archived) addSessions(ctx context.Context, t *tar.Writer, dir, name string) error {
	from := filepath.Join(dir, "state.db")
	if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	tmp, err := os.MkdirTemp("", "hermes-export-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	to := filepath.Join(tmp, "state.db")
	if err := store.Copy(ctx, from, to); err != nil {
		return err
	}
	info, err := os.Stat(to)
	if err != nil {
		return err
	}
	return a.add(t, to, name+"/state.db", fs.FileInfoToDirEntry(info))
}

func (a *Archived) add(t *tar.Writer, file, name string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return nil // links lead out of the archive
	}
	h, err := tar.FileInfoHeader(info, "")
	if err != nil {
		return err
	}
	h.Name, h.Uname, h.Gname, h.Uid, h.Gid = name, "", "", 0, 0
	if info.IsDir() {
		h.Name += "/"
		return t.WriteHeader(h)
	}
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	n, err := io.Copy(t, in)
	a.Files, a.Bytes = a.Files+1, a.Bytes+n
	return err
}

// An archive larger than this is no profile.
const (
	mostImport      = 8 << 30
	mostImportFiles = 500_000
)

// Import unpacks an archive as a new profile, named as in the archive when
// name is empty. Nothing outside the profile is written; a failure leaves
// nothing behind.
func (p Profiles) Import(file, name string) (made string, files int, err error) {
	in, err := os.Open(file)
	if err != nil {
		return "", 0, fmt.Errorf("import: %w", err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		return "", 0, fmt.Errorf("import %s: it is no tar.gz: %w", file, err)
	}
	if err := os.MkdirAll(filepath.Join(p.Root, "profiles"), 0o700); err != nil {
		return "", 0, fmt.Errorf("import: %w", err)
	}
	stage, err := os.MkdirTemp(filepath.Join(p.Root, "profiles"), ".import-*")
	if err != nil {
		return "", 0, fmt.Errorf("import: %w", err)
	}
	defer func() {
		_ = os.RemoveAll(stage) // empty by now when all went well
		if err != nil {
			err = fmt.Errorf("import %s: %w; nothing was changed", file, err)
		}
	}()
	root, err := os.OpenRoot(stage)
	if err != nil {
		return "", 0, err
	}
	top, n, err := unpack(tar.NewReader(z), root)
	if err = errors.Join(err, root.Close()); err != nil {
		return "", 0, err
	}
	if name == "" {
		name = top
	}
	if name == "default" {
		return "", 0, errors.New("it holds the default profile; give it a name here with --name")
	}
	if err := p.free(name); err != nil {
		return "", 0, err
	}
	if err := os.Rename(filepath.Join(stage, top), p.Dir(name)); err != nil {
		return "", 0, err
	}
	return name, n, nil
}

// unpack writes an archive's one folder below root.
func unpack(t *tar.Reader, root *os.Root) (top string, files int, err error) {
	var total int64
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			if top == "" {
				return "", 0, errors.New("it is empty")
			}
			return top, files, nil
		}
		if err != nil {
			return "", 0, err
		}
		name := path.Clean(strings.ReplaceAll(h.Name, `\`, "/"))
		first, rest, _ := strings.Cut(name, "/")
		if !filepath.IsLocal(filepath.FromSlash(name)) || first == "." {
			return "", 0, fmt.Errorf("%q leads out of the profile", h.Name)
		}
		if top == "" {
			top = first
		}
		if first != top {
			return "", 0, fmt.Errorf("it holds %s and %s; a profile's archive has one folder", top, first)
		}
		if files++; files > mostImportFiles {
			return "", 0, fmt.Errorf("it holds more than %d files", mostImportFiles)
		}
		local := filepath.FromSlash(name)
		switch h.Typeflag {
		case tar.TypeDir:
			if err := root.MkdirAll(local, 0o700); err != nil {
				return "", 0, err
			}
			continue
		case tar.TypeReg:
		default:
			return "", 0, fmt.Errorf("%q is neither a file nor a directory", h.Name)
		}
		if rest == "" {
			return "", 0, fmt.Errorf("%q stands outside of the profile's folder", h.Name)
		}
		if total += h.Size; total > mostImport {
			return "", 0, fmt.Errorf("it is larger than %d GB", mostImport>>30)
		}
		if err := writeMember(root, local, t, fs.FileMode(h.Mode).Perm()&0o700|0o600); err != nil {
			return "", 0, err
		}
	}
}

func writeMember(root *os.Root, name string, r io.Reader, mode fs.FileMode) (err error) {
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = io.Copy(f, r)
	return err
}
