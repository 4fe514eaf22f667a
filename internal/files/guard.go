package files

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hermes-go/hermes/internal/sensitive"
)

// The files that no tool of this kind touches. A model that needs one of them
// goes through the terminal, where a person is asked.
var (
	systemDirs = []string{
		"/etc", "/boot", "/usr/lib/systemd", "/private/etc", "/private/var", "/proc", "/sys", "/dev",
		"/var/run/docker.sock", "/run/docker.sock",
	}
	// What a system puts below those and still means for everybody.
	openDirs = []string{"/private/var/folders", "/private/var/tmp", "/dev/shm"}

	// In the program's own directory.
	databases = []string{"state.db", "state.db-wal", "state.db-shm"}
	ownFiles  = append([]string{".env", "auth.json", "config.yaml"}, databases...)
	ownDirs   = []string{hubDir, journalDir}
)

const hubDir = "skills/.hub"

// MayRead refuses files that must not reach a model: devices, private keys and
// the credentials of other services, through links and .. as well, the unchecked
// downloads of the skill hub, stored logins, and the .env file where nothing
// can mask its values, and what IsDatabase says.
func (v *View) MayRead(p Path) error {
	for _, name := range []string{p.Abs, p.Real} {
		if reason := device(name); reason != "" {
			return fmt.Errorf("%s is %s: it has no content to read", p.Given, reason)
		}
		rel, ok := v.ownFile(name)
		if !ok {
			if sensitive.Keys(filepath.ToSlash(name)) && v.personal(name) {
				return fmt.Errorf("%s holds keys or passwords and is not shown: ask the user for what you need of it, or use the terminal, which asks for approval", p.Given)
			}
			continue
		}
		if _, hub := under(rel, hubDir); hub {
			return fmt.Errorf("%s lies in the skill hub's cache of unchecked downloads: install the skill and read it with skill_view", p.Given)
		}
		switch {
		case v.IsDatabase(name):
			return fmt.Errorf("%s is the database of past conversations, which only its driver opens: search it with session_search; `hermes sessions export` writes it as text", p.Given)
		case strings.EqualFold(rel, "auth.json"):
			return fmt.Errorf("%s holds stored logins and is not shown; `hermes auth list` names them", p.Given)
		case strings.EqualFold(rel, ".env") && v.redact == nil:
			return fmt.Errorf("%s holds secrets, and nothing can mask them here; `hermes config env` lists the names", p.Given)
		}
	}
	return nil
}

// IsDatabase says that a file is the program's store of sessions. Only its
// driver may open it: whoever else opens and closes it in this process drops
// the locks that the driver holds.
func (v *View) IsDatabase(name string) bool {
	if !strings.Contains(filepath.Base(name), "state.db") { // nearly always
		return false
	}
	rel, ok := v.ownFile(name)
	return ok && matches(rel, databases)
}

// MayWrite refuses files whose change would open the machine or break the
// program, through links and .. as well, and everything outside of
// HERMES_WRITE_SAFE_ROOT when that is set.
func (v *View) MayWrite(p Path) error {
	const ask = "ask the user to change it, or use the terminal, which asks for approval"
	for _, name := range []string{p.Abs, p.Real} {
		if rel, ok := v.ownFile(name); ok {
			if strings.EqualFold(rel, "config.yaml") {
				return fmt.Errorf("write denied: %s is the configuration of this program: change one key with `hermes config set KEY VALUE`", p.Given)
			}
			if matches(rel, ownFiles) || below(rel, ownDirs) {
				return fmt.Errorf("write denied: %s belongs to this program and holds secrets or state: %s", p.Given, ask)
			}
		}
		if below(name, systemDirs) && !below(name, openDirs) {
			return fmt.Errorf("write denied: %s is a system file: %s", p.Given, ask)
		}
		if slashed := filepath.ToSlash(name); (sensitive.Keys(slashed) || sensitive.Startup(slashed)) && v.personal(name) {
			return fmt.Errorf("write denied: %s is a protected file (credentials or shell start-up): %s", p.Given, ask)
		}
	}
	if root := v.variable("HERMES_WRITE_SAFE_ROOT"); root != "" {
		if rest, ok := strings.CutPrefix(root, "~"); ok && v.home != "" {
			root = v.home + rest
		}
		if _, ok := under(p.Real, filepath.Clean(root)); !ok {
			return fmt.Errorf("write denied: %s lies outside of HERMES_WRITE_SAFE_ROOT (%s): write below it", p.Given, root)
		}
	}
	return nil
}

// personal reports whether a file is one of a person's settings or of the
// system's, not a part of somebody's work that merely has such a name.
func (v *View) personal(name string) bool {
	rel, ok := v.inHome(name)
	if !ok {
		return below(name, systemDirs)
	}
	first, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	return strings.HasPrefix(first, ".") || strings.EqualFold(first, "Library")
}

// inHome makes a path relative to the home directory of the environment.
func (v *View) inHome(name string) (string, bool) {
	if v.home == "" {
		return "", false
	}
	if rel, ok := under(name, v.home); ok {
		return rel, true
	}
	return under(name, v.realHome)
}

// ownFile makes a path relative to the program's directory; a profile's
// directory counts like the main one.
func (v *View) ownFile(name string) (string, bool) {
	for _, home := range v.homes {
		rel, ok := under(name, home)
		if !ok {
			continue
		}
		if rest, ok := under(rel, "profiles"); ok {
			if _, inner, ok := strings.Cut(rest, "/"); ok {
				return inner, true
			}
		}
		return rel, true
	}
	return "", false
}

func matches(rel string, names []string) bool {
	for _, n := range names {
		if strings.EqualFold(rel, n) {
			return true
		}
	}
	return false
}

func below(name string, dirs []string) bool {
	for _, d := range dirs {
		if _, ok := under(name, d); ok {
			return true
		}
	}
	return false
}

// device says what a path is when its name alone tells that reading it may
// never end; "" for any other.
func device(name string) string {
	name = filepath.ToSlash(name)
	if rel, ok := under(name, "/dev"); ok && rel != "." {
		if _, shm := under(rel, "shm"); !shm {
			return "a device"
		}
	}
	if rel, ok := under(name, "/proc"); ok {
		dir, fd, found := strings.Cut(rel, "/fd/")
		if found && dir != "" && (fd == "0" || fd == "1" || fd == "2") {
			return "a standard stream of a process"
		}
	}
	return ""
}
