//go:build unix

package prompt

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipesAreNotRead: reading one may wait for ever.
func TestPipesAreNotRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "AGENTS.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := ProjectFiles(dir, "")
	if err != nil || len(files) != 1 || len(files[0].Notices) != 1 || files[0].Notices[0] != "AGENTS.md was not read: it is not a regular file" {
		t.Fatalf("%+v, %v", files, err)
	}
	if text := project(files); strings.Contains(text, "AGENTS.md") || text != "" {
		t.Errorf("the prompt has %q", text)
	}
	if f, err := Near(dir, dir); err != nil || f.Text != "" {
		t.Errorf("near: %+v, %v", f, err)
	}
}
