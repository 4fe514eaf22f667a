package local

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/backend/backendtest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	kind, _ := backend.Lookup(name)
	open := func(t *testing.T) backend.Env {
		home := t.TempDir()
		e, err := kind.Open(t.Context(), backend.Options{Cwd: t.TempDir(), Home: t.TempDir(), Vars: func() []string { return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home} }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close(t.Context()) })
		return e
	}
	t.Run("commands", func(t *testing.T) { t.Parallel(); backendtest.Env(t, open) })
	t.Run("beside others", func(t *testing.T) { t.Parallel(); backendtest.Spawn(t, open) })
	t.Run("files", func(t *testing.T) {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		backendtest.Files(t, open(t).(backend.FileSystem), dir)
	})
}
