package backendtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"testing"

	"github.com/hermes-go/hermes/backend"
)

// Files holds a FileSystem against its contract, inside dir, an empty
// directory given by its real path in the environment's own form.
func Files(t *testing.T, f backend.FileSystem, dir string) {
	ctx := context.Background()
	name := func(s string) string { return path.Join(dir, s) }
	write := func(t *testing.T, s, content string, o backend.WriteOptions) {
		t.Helper()
		if err := f.WriteFile(ctx, name(s), []byte(content), o); err != nil {
			t.Fatalf("write %s: %v", s, err)
		}
	}
	read := func(t *testing.T, s string) string {
		t.Helper()
		r, err := f.Open(ctx, name(s))
		if err != nil {
			t.Fatalf("open %s: %v", s, err)
		}
		b, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatalf("read %s: %v", s, err)
		}
		return string(b)
	}

	t.Run("write and read", func(t *testing.T) {
		for _, content := range []string{"one\n", "", "\x00\xff\r\n", string(bytes.Repeat([]byte("x"), 1<<17))} {
			write(t, "a", content, backend.WriteOptions{})
			if got := read(t, "a"); got != content {
				t.Errorf("read %d bytes back, wrote %d", len(got), len(content))
			}
		}
	})
	t.Run("read at an offset", func(t *testing.T) {
		write(t, "offset", "0123456789", backend.WriteOptions{})
		r, err := f.Open(ctx, name("offset"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.Close() }()
		b := make([]byte, 3)
		if _, err := r.ReadAt(b, 5); err != nil || string(b) != "567" {
			t.Errorf("got %q, %v", b, err)
		}
		info, err := r.Stat()
		if err != nil || info.Size() != 10 || info.Name() != "offset" {
			t.Errorf("stat of the open file: %v, %v", info, err)
		}
	})
	t.Run("mode kept and set", func(t *testing.T) {
		write(t, "mode", "1", backend.WriteOptions{Mode: 0o750})
		write(t, "mode", "2", backend.WriteOptions{})
		if info, err := f.Stat(ctx, name("mode")); err != nil || info.Mode().Perm() != 0o750 {
			t.Errorf("got %v, %v", info.Mode(), err)
		}
		if got := read(t, "mode"); got != "2" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("new must not exist", func(t *testing.T) {
		write(t, "new", "1", backend.WriteOptions{New: true})
		err := f.WriteFile(ctx, name("new"), []byte("2"), backend.WriteOptions{New: true})
		if !errors.Is(err, fs.ErrExist) || read(t, "new") != "1" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("nothing left beside", func(t *testing.T) {
		if err := f.Mkdir(ctx, name("d/e")); err != nil {
			t.Fatal(err)
		}
		if err := f.Mkdir(ctx, name("d/e")); err != nil {
			t.Errorf("an existing directory: %v", err)
		}
		write(t, "d/e/b", "1", backend.WriteOptions{})
		write(t, "d/e/a", "1", backend.WriteOptions{})
		write(t, "d/e/a", "2", backend.WriteOptions{})
		list, err := f.ReadDir(ctx, name("d/e"))
		if err != nil || len(list) != 2 || list[0].Name() != "a" || list[1].Name() != "b" {
			t.Errorf("got %v, %v", list, err)
		}
	})
	t.Run("missing", func(t *testing.T) {
		_, openErr := f.Open(ctx, name("none"))
		_, statErr := f.Stat(ctx, name("none"))
		_, dirErr := f.ReadDir(ctx, name("none"))
		writeErr := f.WriteFile(ctx, name("none/a"), nil, backend.WriteOptions{})
		for what, err := range map[string]error{
			"open": openErr, "stat": statErr, "readdir": dirErr, "write": writeErr,
			"remove": f.Remove(ctx, name("none")), "rename": f.Rename(ctx, name("none"), name("other")),
		} {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: got %v", what, err)
			}
		}
	})
	t.Run("rename and remove", func(t *testing.T) {
		write(t, "from", "1", backend.WriteOptions{})
		write(t, "taken", "2", backend.WriteOptions{})
		if err := f.Rename(ctx, name("from"), name("taken")); !errors.Is(err, fs.ErrExist) {
			t.Errorf("onto an existing file: %v", err)
		}
		if err := f.Rename(ctx, name("from"), name("to")); err != nil || read(t, "to") != "1" {
			t.Errorf("got %v", err)
		}
		if err := f.Remove(ctx, name("to")); err != nil {
			t.Error(err)
		}
	})
	t.Run("real path", func(t *testing.T) {
		write(t, "real", "1", backend.WriteOptions{})
		for in, want := range map[string]string{"real": "real", "x/../real": "real", "no/such/file": "no/such/file"} {
			if got, err := f.RealPath(ctx, dir+"/"+in); err != nil || got != name(want) {
				t.Errorf("%s: got %q, %v", in, got, err)
			}
		}
	})
	t.Run("home and temp", func(t *testing.T) {
		home, homeErr := f.Home(ctx)
		temp, tempErr := f.TempDir(ctx)
		if homeErr != nil || tempErr != nil || home == "" || temp == "" {
			t.Errorf("home %q, %v; temp %q, %v", home, homeErr, temp, tempErr)
		}
	})
}
