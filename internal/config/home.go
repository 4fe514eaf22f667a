package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hermes-go/hermes/secret"
)

// Place is where a run's home lies and how that was decided.
type Place struct {
	Dir     string   // the home: config.yaml, .env, sessions and all the rest
	Root    string   // owner of profiles/ and active_profile
	Profile string   // the profile chosen, empty for the default one
	Args    []string // the arguments without the profile's
}

// Home decides which home a run uses, from its arguments (without the
// program's name), its environment and the user's home directory. In order:
// -p NAME, --profile NAME or --profile=NAME anywhere before a --, then
// HERMES_HOME, then <root>/active_profile, then ~/.hermes. It reads
// active_profile and looks whether the profile exists; it creates nothing.
func Home(args, environ []string, userHome string) (Place, error) {
	env := lookupIn(environ)
	set, _ := env("HERMES_HOME")
	set = strings.TrimSpace(set)
	if userHome == "" && set == "" {
		return Place{}, errors.New("find home: neither a user home directory nor HERMES_HOME is known; set HERMES_HOME")
	}
	standard := filepath.Join(userHome, ".hermes")
	if rest, ok := strings.CutPrefix(set, "~/"); ok && userHome != "" {
		set = filepath.Join(userHome, rest)
	}
	if set != "" {
		abs, err := filepath.Abs(set)
		if err != nil {
			return Place{}, fmt.Errorf("find home %s: %w", set, err)
		}
		set = abs
	}
	p := Place{Root: root(set, standard, userHome), Dir: set}
	name, rest, chosen := profileArg(args, filepath.Join(p.Root, "profiles"))
	p.Args = rest
	switch {
	case chosen:
	case set != "":
		if filepath.Dir(set) == filepath.Join(p.Root, "profiles") {
			p.Profile = filepath.Base(set)
		}
		return p, nil
	default:
		line, err := secret.ReadFile(filepath.Join(p.Root, "active_profile"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Place{}, fmt.Errorf("read active profile %s: %w; make it readable or remove it", filepath.Join(p.Root, "active_profile"), reason(err))
		}
		name = strings.TrimSpace(string(line))
	}
	if name == "" || name == "default" {
		p.Dir = p.Root
		return p, nil
	}
	if !ValidProfile(name) {
		return Place{}, fmt.Errorf("profile %q: a name is small letters, digits, - and _, at most 64, starting with a letter or digit", name)
	}
	p.Profile, p.Dir = name, filepath.Join(p.Root, "profiles", name)
	if st, err := os.Stat(p.Dir); err != nil || !st.IsDir() {
		hint := "see: hermes profile list"
		if !chosen {
			hint = "it is named in " + filepath.Join(p.Root, "active_profile") + "; choose another with: hermes -p default profile use default"
		}
		return Place{}, fmt.Errorf("profile %q does not exist under %s; %s", name, filepath.Join(p.Root, "profiles"), hint)
	}
	return p, nil
}

// root finds the directory that owns the profiles.
func root(set, standard, userHome string) string {
	if set == "" || (userHome != "" && inside(set, standard)) {
		return standard
	}
	if filepath.Base(filepath.Dir(set)) == "profiles" {
		return filepath.Dir(filepath.Dir(set))
	}
	return set
}

func inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// profileArg takes the profile out of the arguments. The form in two words
// counts only when the second is a name, and a number only when there is such
// a profile, so that a -p 8080 of another command is left alone; --profile=X
// is always ours, so that a bad X is reported.
func profileArg(args []string, profiles string) (name string, rest []string, found bool) {
	for i, a := range args {
		if a == "--" {
			break
		}
		if v, ok := strings.CutPrefix(a, "--profile="); ok {
			return v, without(args, i, 1), true
		}
		if (a == "-p" || a == "--profile") && i+1 < len(args) && ValidProfile(args[i+1]) {
			if _, err := os.Stat(filepath.Join(profiles, args[i+1])); err != nil && only(args[i+1], digits) {
				continue
			}
			return args[i+1], without(args, i, 2), true
		}
	}
	return "", args, false
}

func without(args []string, at, n int) []string {
	return append(append([]string{}, args[:at]...), args[at+n:]...)
}

// ValidProfile reports whether name can name a profile.
func ValidProfile(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '-' && c != '_') {
			return false
		}
	}
	return true
}

func lookupIn(environ []string) Lookup {
	return func(name string) (string, bool) {
		for i := len(environ) - 1; i >= 0; i-- {
			if k, v, ok := strings.Cut(environ[i], "="); ok && k == name {
				return v, true
			}
		}
		return "", false
	}
}

// homeDirs is the tree a new home gets.
var homeDirs = [...]string{"cron", "sessions", "logs", "logs/curator", "memories"}

// CreateHome makes the home and its standard directories where they are
// missing, and writes each of files (by name relative to the home) that does
// not exist yet. What it makes is private to the user (0700 and 0600) unless
// HERMES_HOME_MODE gives another octal mode for directories; what exists is
// left as it is.
func CreateHome(dir string, lookup func(string) (string, bool), files map[string]string) error {
	mode := fs.FileMode(0o700)
	if lookup != nil {
		if s, ok := lookup("HERMES_HOME_MODE"); ok && s != "" {
			m, err := strconv.ParseUint(strings.TrimPrefix(s, "0o"), 8, 12)
			if err != nil {
				return fmt.Errorf("create home %s: HERMES_HOME_MODE=%q is no octal mode such as 0750", dir, s)
			}
			mode = fs.FileMode(m)
		}
	}
	for _, d := range append([]string{"."}, homeDirs[:]...) {
		if err := makeDir(filepath.Join(dir, d), mode); err != nil {
			return fmt.Errorf("create home %s: %w; make that directory writable or set HERMES_HOME to one that is", dir, err)
		}
	}
	for name, text := range files {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			_, err = f.WriteString(text)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return fmt.Errorf("create home %s: write %s: %w; make the directory writable or set HERMES_HOME to one that is", dir, name, reason(err))
		}
	}
	return nil
}

func makeDir(dir string, mode fs.FileMode) error {
	if st, err := os.Stat(dir); err == nil {
		if !st.IsDir() {
			return fmt.Errorf("%s is a file where a directory is needed", dir)
		}
		return nil
	}
	if err := os.MkdirAll(dir, mode); err != nil {
		return err
	}
	return os.Chmod(dir, mode) // the umask may have taken what was asked for
}
