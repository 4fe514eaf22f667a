package hostshell

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/backend"
)

func realTemp(t *testing.T) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestWriteThroughLinks(t *testing.T) {
	t.Parallel()
	dir := realTemp(t)
	at := func(s string) string { return filepath.Join(dir, s) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(at("d"), 0o755))
	must(os.WriteFile(at("d/target"), []byte("old"), 0o640))
	must(os.Symlink("d/target", at("link")))
	must(os.Symlink("link", at("link2")))
	must(os.Symlink("d/missing", at("dangling")))
	must(os.Symlink("loop", at("loop")))
	must(os.Link(at("d/target"), at("hard")))

	f := Files{}
	ctx := context.Background()
	if got, err := f.RealPath(ctx, at("dangling/x")); err != nil || got != at("d/missing/x") {
		t.Errorf("real path through a link to nothing: %q, %v", got, err)
	}
	must(f.WriteFile(ctx, at("link2"), []byte("new"), backend.WriteOptions{}))
	must(f.WriteFile(ctx, at("dangling"), []byte("made"), backend.WriteOptions{}))
	for name, want := range map[string]string{"d/target": "new", "d/missing": "made", "hard": "old"} {
		if b, err := os.ReadFile(at(name)); err != nil || string(b) != want {
			t.Errorf("%s: got %q, %v", name, b, err)
		}
	}
	for _, name := range []string{"link", "link2", "dangling"} {
		if info, err := os.Lstat(at(name)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v", name, err)
		}
	}
	if info, err := os.Stat(at("d/target")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode: %v, %v", info.Mode(), err)
	}
	if err := f.WriteFile(ctx, at("loop"), nil, backend.WriteOptions{}); err == nil {
		t.Error("wrote through a link to itself")
	}
}

func TestIrregularFiles(t *testing.T) {
	t.Parallel()
	dir := realTemp(t)
	pipe := filepath.Join(dir, "pipe")
	if err := makePipe(pipe); err != nil {
		t.Skip(err)
	}
	ctx := context.Background()
	for _, name := range []string{pipe, os.DevNull} {
		if _, err := (Files{}).Open(ctx, name); !errors.Is(err, backend.ErrIrregular) {
			t.Errorf("open %s: %v", name, err)
		}
		if err := (Files{}).WriteFile(ctx, name, nil, backend.WriteOptions{}); !errors.Is(err, backend.ErrIrregular) {
			t.Errorf("write %s: %v", name, err)
		}
	}
}

// TestWriteInReadOnlyDirectory needs a user whom permissions bind.
func TestWriteInReadOnlyDirectory(t *testing.T) {
	t.Parallel()
	if os.Getuid() <= 0 {
		t.Skip("permissions do not bind this user")
	}
	dir := realTemp(t)
	name := filepath.Join(dir, "f")
	if err := os.WriteFile(name, []byte("a long old text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(dir, 0o755) }()
	ctx := context.Background()
	if err := (Files{}).WriteFile(ctx, name, []byte("new"), backend.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(name); string(b) != "new" {
		t.Errorf("got %q", b)
	}
	if err := (Files{}).WriteFile(ctx, filepath.Join(dir, "g"), nil, backend.WriteOptions{}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a new file: %v", err)
	}
	if err := os.Chmod(name, 0o444); err != nil {
		t.Fatal(err)
	}
	if err := (Files{}).WriteFile(ctx, name, nil, backend.WriteOptions{}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a read-only file: %v", err)
	}
}

// TestReadersNeverSeeAMixture writes while others read.
func TestReadersNeverSeeAMixture(t *testing.T) {
	t.Parallel()
	name := filepath.Join(realTemp(t), "f")
	content := func(i int) string { return strings.Repeat(fmt.Sprintf("%08d", i), 4096) }
	ctx := context.Background()
	if err := (Files{}).WriteFile(ctx, name, []byte(content(0)), backend.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		var err error
		for i := 1; i < 50 && err == nil; i++ {
			err = (Files{}).WriteFile(ctx, name, []byte(content(i)), backend.WriteOptions{})
		}
		done <- err
	}()
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			return
		default:
		}
		b, err := os.ReadFile(name)
		if err != nil || len(b) != 8*4096 || string(b[:8]) != string(b[len(b)-8:]) {
			t.Fatalf("a reader saw %d bytes, %v", len(b), err)
		}
	}
}
