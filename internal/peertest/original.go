package peertest

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Originals names the homes of testdata/homes. The Python original itself has
// written each of them, by the version of its code whose session schema the
// name gives; "killed" was ended by SIGKILL with everything still in the
// write-ahead log, "from" was written by one version and upgraded by another.
func Originals(t testing.TB) []string {
	t.Helper()
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "testdata", "homes", "*.tar.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no homes of the original: %v", err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".tar.gz")
	}
	slices.Sort(files)
	return files
}

// Original unpacks one of Originals, byte by byte as it was written, and
// returns the folder.
func Original(t testing.TB, name string) string {
	t.Helper()
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := unpack(filepath.Join(root, "testdata", "homes", name+".tar.gz"), dir); err != nil {
		t.Fatalf("unpack the home %s: %v", name, err)
	}
	return dir
}

func unpack(file, dir string) (err error) {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	to, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := filepath.Clean(filepath.FromSlash(h.Name))
		mode := fs.FileMode(h.Mode).Perm()
		if h.Typeflag == tar.TypeDir {
			if err := to.MkdirAll(name, mode); err != nil {
				return err
			}
			continue
		}
		b, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if err := to.WriteFile(name, b, mode); err != nil {
			return err
		}
	}
}
