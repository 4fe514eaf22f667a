package setup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/secret"
)

// Profiles are the homes below one root.
type Profiles struct{ Root string }

// Dir is where a profile's home is.
func (p Profiles) Dir(name string) string {
	if name == "default" || name == "" {
		return p.Root
	}
	return filepath.Join(p.Root, "profiles", name)
}

// List names the profiles, the default one first.
func (p Profiles) List() ([]string, error) {
	names := []string{"default"}
	entries, err := os.ReadDir(filepath.Join(p.Root, "profiles"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list profiles: %w", err)
	}
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(p.Root, "profiles", e.Name())); err == nil && info.IsDir() && config.ValidProfile(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Active is the profile that runs without -p use.
func (p Profiles) Active() (string, error) {
	b, err := os.ReadFile(filepath.Join(p.Root, "active_profile"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read active profile: %w", err)
	}
	if name := strings.TrimSpace(string(b)); name != "" {
		return name, nil
	}
	return "default", nil
}

// Check finds an existing profile or says what there is.
func (p Profiles) Check(name string) error {
	names, err := p.List()
	if err != nil {
		return err
	}
	if !slices.Contains(names, name) {
		return fmt.Errorf("there is no profile %q; there are: %s", name, strings.Join(names, ", "))
	}
	return nil
}

// free checks a name for a profile still to be made.
func (p Profiles) free(name string) error {
	if !config.ValidProfile(name) || name == "default" {
		return fmt.Errorf("profile %q: a name is small letters, digits, - and _, at most 64, starting with a letter or digit, and not default", name)
	}
	if _, err := os.Lstat(p.Dir(name)); err == nil {
		return fmt.Errorf("profile %q exists already in %s", name, p.Dir(name))
	}
	return nil
}

// Use makes a profile the one that runs without -p use.
func (p Profiles) Use(name string) error {
	if err := p.Check(name); err != nil {
		return err
	}
	return p.setActive(name)
}

func (p Profiles) setActive(name string) error {
	if err := os.MkdirAll(p.Root, 0o700); err != nil {
		return fmt.Errorf("use profile %s: %w", name, err)
	}
	return secret.UpdateFile(filepath.Join(p.Root, "active_profile"), func([]byte) ([]byte, error) { return []byte(name + "\n"), nil })
}

// profileDirs are made beside the standard ones.
var profileDirs = [...]string{"skills", "skins", "plans", "workspace", "home"}

// What a clone takes along, and what a full one leaves behind.
var (
	cloned  = [...]string{"config.yaml", ".env", "SOUL.md", "skills", "memories/MEMORY.md", "memories/USER.md"}
	volatil = [...]string{"profiles", "active_profile", "gateway.pid", "gateway_state.json", "processes.json", "auth.lock", "state.db", "state.db-wal", "state.db-shm"}
)

// Create makes a profile. from is the profile to copy settings, keys, skills
// and memory of ("" for none), all everything but conversations and what runs.
// A failure leaves nothing behind.
func (p Profiles) Create(name, from string, all bool, lookup func(string) (string, bool)) (err error) {
	if err := p.free(name); err != nil {
		return err
	}
	if from != "" {
		if err := p.Check(from); err != nil {
			return err
		}
	}
	stage := filepath.Join(p.Root, "profiles", ".new-"+name)
	if err := os.RemoveAll(stage); err != nil {
		return fmt.Errorf("create profile %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(stage) // the error at hand says more
			err = fmt.Errorf("create profile %s: %w", name, err)
		}
	}()
	if err := config.CreateHome(stage, lookup, nil); err != nil {
		return err
	}
	for _, d := range profileDirs {
		if err := os.MkdirAll(filepath.Join(stage, d), 0o700); err != nil {
			return err
		}
	}
	if from != "" {
		if err := p.copyHome(p.Dir(from), stage, all); err != nil {
			return err
		}
	}
	return os.Rename(stage, p.Dir(name))
}

func (p Profiles) copyHome(from, to string, all bool) error {
	if !all {
		for _, name := range cloned {
			if err := copyTree(filepath.Join(from, filepath.FromSlash(name)), filepath.Join(to, filepath.FromSlash(name))); err != nil {
				return err
			}
		}
		return nil
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if slices.Contains(volatil[:], e.Name()) {
			continue
		}
		if err := copyTree(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// copyTree copies a file or directory with modes and links; a missing one is
// nothing to copy.
func copyTree(from, to string) error {
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			return os.MkdirAll(target, info.Mode().Perm()|0o700)
		case d.Type()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case d.Type().IsRegular():
			return copyFile(path, target, info.Mode().Perm())
		}
		return nil // sockets and the like belong to what runs
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func copyFile(from, to string, mode fs.FileMode) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}

// Rename gives a profile another name.
func (p Profiles) Rename(old, name string) error {
	if old == "default" {
		return errors.New("the default profile is the root itself and keeps its name")
	}
	if err := p.Check(old); err != nil {
		return err
	}
	if err := p.free(name); err != nil {
		return err
	}
	active, err := p.Active()
	if err != nil {
		return err
	}
	if err := os.Rename(p.Dir(old), p.Dir(name)); err != nil {
		return fmt.Errorf("rename profile: %w", err)
	}
	if active == old {
		return p.setActive(name)
	}
	return nil
}

// Delete removes a profile with everything in it.
func (p Profiles) Delete(name string) error {
	if name == "default" {
		return errors.New("the default profile cannot be deleted; hermes uninstall --full removes everything")
	}
	if err := p.Check(name); err != nil {
		return err
	}
	active, err := p.Active()
	if err != nil {
		return err
	}
	if active == name {
		if err := p.setActive("default"); err != nil {
			return err
		}
	}
	dir := p.Dir(name)
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return os.Remove(dir) // the link alone: what it names is not ours
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("delete profile %s: %w; what is left is in %s", name, err, dir)
	}
	return nil
}
