package hostshell

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hermes-go/hermes/backend"
)

var _ backend.Spiller = (*Shell)(nil)

// spillLife is how long kept output stays.
const spillLife = 72 * time.Hour

// spillDir is private to the user: output may hold anything.
func (e *Shell) spillDir() (string, error) {
	dir := filepath.Join(e.o.Home, "cache", "terminal")
	if e.o.Home == "" {
		dir = filepath.Join(os.TempDir(), fmt.Sprintf("hermes-results-%d", os.Getuid()))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if !info.IsDir() || !mine(info) {
		return "", fmt.Errorf("%s belongs to somebody else", dir)
	}
	return dir, nil
}

// Spill implements backend.Spiller.
func (e *Shell) Spill(name string) (backend.SpillFile, error) {
	dir, err := e.spillDir()
	if err != nil {
		return nil, err
	}
	sweep(dir)
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, name)
	f, err := os.CreateTemp(dir, name[:min(len(name), 60)]+"-*.part")
	if err != nil {
		return nil, err
	}
	return &spillFile{f}, nil
}

// sweep removes what is too old, also the parts that a killed program left.
func sweep(dir string) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, d := range list {
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > spillLife {
			_ = os.Remove(filepath.Join(dir, d.Name())) // another program may have been first
		}
	}
}

// spillFile gets its name when it is whole.
type spillFile struct{ *os.File }

func (s *spillFile) Commit() (string, error) {
	if err := s.Close(); err != nil {
		return "", err
	}
	name := strings.TrimSuffix(s.Name(), ".part") + ".txt"
	return name, os.Rename(s.Name(), name)
}

func (s *spillFile) Discard() {
	_ = errors.Join(s.Close(), os.Remove(s.Name())) // it is given up anyway; a leftover is swept
}
