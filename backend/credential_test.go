package backend

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCredentialFile(t *testing.T) {
	t.Parallel()
	home, other := t.TempDir(), t.TempDir()
	for _, name := range []string{"google/token.json", ".env", "config.yaml", "auth.json", "state.db", "profiles/work/.env", "profiles/work/token.json"} {
		full := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"innocent": ".env", "out": other, "fine": "google/token.json"} {
		if err := os.Symlink(to, filepath.Join(home, link)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]bool{
		"google/token.json": true, "profiles/work/token.json": true, "fine": true,
		".env": false, "config.yaml": false, "auth.json": false, "state.db": false, "AUTH.json": false, "profiles/work/.env": false,
		"innocent": false, "out": false, "../x": false, "/etc/passwd": false, "none": false, "google": false, "": false,
		"google/../.env": false,
	} {
		if got, err := CredentialFile(home, name); (err == nil) != want {
			t.Errorf("%q: got %q, %v", name, got, err)
		}
	}
}
