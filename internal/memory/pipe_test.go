//go:build unix

package memory

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
	if err := syscall.Mkfifo(filepath.Join(dir, "MEMORY.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := New(dir, Limits{})
	if _, err := s.Entries(Notes); err == nil || !strings.Contains(err.Error(), "MEMORY.md is not a regular file") {
		t.Errorf("reading: %v", err)
	}
	if _, err := s.Add(Notes, "new"); err == nil || !strings.Contains(err.Error(), "MEMORY.md is not a regular file") {
		t.Errorf("adding: %v", err)
	}
}
