package remote

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/hermes-go/hermes/backend"
)

// Full is an environment with its files.
type Full struct {
	*Env
	backend.FileSystem
	Shut func() // ends the way to the files; nil: there is none of its own
}

var (
	_ backend.FileSystem = (*Full)(nil)
	_ backend.Spiller    = (*Full)(nil)
)

// WithFiles adds files reached by a shell.
func (e *Env) WithFiles() *Full {
	f := &Files{Env: e}
	return &Full{Env: e, FileSystem: f, Shut: f.Close}
}

// Home implements backend.FileSystem.
func (f *Full) Home(ctx context.Context) (string, error) { return f.Env.Home(ctx) }

// TempDir implements backend.FileSystem.
func (f *Full) TempDir(ctx context.Context) (string, error) { return f.Env.TempDir(ctx) }

// Close ends what runs and releases the place.
func (f *Full) Close(ctx context.Context) error {
	if f.Shut != nil {
		f.Shut()
	}
	return f.Env.Close(ctx)
}

// Spill implements backend.Spiller: long output stands where the file tools
// find it.
func (f *Full) Spill(name string) (backend.SpillFile, error) {
	tmp, err := os.CreateTemp("", "hermes-*.part")
	if err != nil {
		return nil, err
	}
	return &spillFile{tmp, f, name}, nil
}

// spillFile is kept here until it is whole.
type spillFile struct {
	*os.File
	full *Full
	name string
}

func (s *spillFile) Commit() (string, error) {
	defer s.Discard()
	ctx := context.Background()
	dir, err := s.full.TempDir(ctx)
	if err != nil {
		return "", err
	}
	if _, err := s.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	b, err := io.ReadAll(s)
	if err != nil {
		return "", err
	}
	dir = join(dir, "hermes-results")
	name := join(dir, plainName(s.name)+"-"+randomName()+".txt")
	if err := s.full.Mkdir(ctx, dir); err != nil {
		return "", err
	}
	return name, s.full.WriteFile(ctx, name, b, backend.WriteOptions{Mode: 0o600})
}

func (s *spillFile) Discard() {
	_ = errors.Join(s.Close(), os.Remove(s.File.Name())) // it is given up anyway
}

// plainName is a name without anything special, at most 60 bytes long.
func plainName(s string) string {
	b := []byte(s[:min(len(s), 60)])
	for i, c := range b {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' {
			b[i] = '_'
		}
	}
	return string(b)
}
