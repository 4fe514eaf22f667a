//go:build unix

package flock

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/"
	l, err := Try(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Try(dir); !errors.Is(err, ErrHeld) {
		t.Errorf("try: %v", err)
	}
	l.Release()
	if _, err := Try(filepath.Join(dir, "no") + "/"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}
