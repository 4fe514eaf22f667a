package secret

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Source says where a variable's value came from.
type Source string

// The sources.
const (
	FromFile    Source = ".env"        // the home's .env
	FromProcess Source = "environment" // what the process was started with
	FromMemory  Source = "memory"      // learned at run time
)

// Environ is the process environment, for the packages that may not read it
// themselves.
func Environ() []string { return os.Environ() }

// Store answers for every environment variable: the home's .env over the
// process environment, or the other way round with HERMES_ENV_FIRST=1. It is
// safe for concurrent use.
type Store struct {
	home    string
	path    string
	managed string

	mu       sync.RWMutex
	process  map[string]string
	file     map[string]string
	envFirst bool
	vars     map[string]Var
	learned  map[string]string // value -> what it is
	warnings []string

	redactor *Redactor
}

// Open reads <home>/.env; a missing one is an empty one. environ is the process
// environment. When the file cannot be read the error says so and the Store,
// still usable, knows the process environment alone.
func Open(home string, environ []string) (*Store, error) {
	s := &Store{
		home: home, path: filepath.Join(home, ".env"),
		process: map[string]string{}, file: map[string]string{},
		vars: map[string]Var{}, learned: map[string]string{},
	}
	s.redactor = &Redactor{known: s.secrets}
	for _, kv := range environ {
		if k, v, ok := strings.Cut(kv, "="); ok && k != "" {
			s.process[k] = v
		}
	}
	s.managed = Managed(home, func(n string) (string, bool) { v, ok := s.process[n]; return v, ok })
	src, err := readEnv(s.path, envWait)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	case errors.Is(err, fs.ErrPermission):
		err = fmt.Errorf("read %s: %w; make it readable for this user (chmod u+r), until then only the process environment counts", s.path, reason(err))
	case err != nil:
		err = fmt.Errorf("read %s: %w; until that is mended only the process environment counts", s.path, reason(err))
	}
	s.load(src)
	return s, err
}

func (s *Store) load(src []byte) {
	all, problems := parseEnv(src)
	s.warnings = nil
	for _, p := range problems {
		s.warnings = append(s.warnings, s.path+": "+p)
	}
	s.file = resolveEnv(all, s.process)
	first, ok := s.process["HERMES_ENV_FIRST"]
	if !ok {
		first = s.file["HERMES_ENV_FIRST"]
	}
	s.envFirst = first == "1"
	s.ascii(s.file, s.path)
	s.ascii(s.process, "the environment")
}

// ascii strips what cannot be part of a key, such as a typographic dash caught
// by copying from a page: a header with it would be refused by every server.
func (s *Store) ascii(m map[string]string, where string) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if v, points := asciiKey(name, m[name]); points != "" {
			m[name] = v
			s.warnings = append(s.warnings, fmt.Sprintf("%s in %s held characters no key has (%s); they were left out", name, where, points))
		}
	}
}

func asciiKey(name, value string) (clean, points string) {
	keyLike := false
	for _, end := range []string{"_API_KEY", "_TOKEN", "_SECRET", "_KEY"} {
		keyLike = keyLike || strings.HasSuffix(name, end)
	}
	if !keyLike || strings.IndexFunc(value, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return value, ""
	}
	var out []byte
	var seen []string
	for _, r := range value {
		if r < utf8.RuneSelf {
			out = append(out, byte(r))
		} else if p := fmt.Sprintf("U+%04X", r); len(seen) < 3 && !slices.Contains(seen, p) {
			seen = append(seen, p)
		}
	}
	return string(out), strings.Join(seen, ", ")
}

// Home is the directory the store belongs to.
func (s *Store) Home() string { return s.home }

// Path is the .env file's name, whether or not it exists.
func (s *Store) Path() string { return s.path }

// Warnings lists what was odd in the file or in the values.
func (s *Store) Warnings() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.warnings)
}

// Lookup returns the value that counts and where it came from. ok with an empty
// value means the name is set to nothing, which hides the other source.
func (s *Store) Lookup(name string) (value string, source Source, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.lookup(name)
}

func (s *Store) lookup(name string) (string, Source, bool) {
	file, inFile := s.file[name]
	env, inEnv := s.process[name]
	switch {
	case inEnv && (s.envFirst || !inFile):
		return env, FromProcess, true
	case inFile:
		return file, FromFile, true
	}
	return "", "", false
}

// Getenv is Lookup without the source: the form config.Load wants.
func (s *Store) Getenv(name string) (string, bool) {
	v, _, ok := s.Lookup(name)
	return v, ok
}

// Get returns the value that counts, empty when there is none.
func (s *Store) Get(name string) string {
	v, _, _ := s.Lookup(name)
	return v
}

// Has reports whether name has a value worth using as a secret.
func (s *Store) Has(name string) bool { return Usable(s.Get(name)) }

// Shadowed reports whether both sources set name and differ, so that one of
// the two values has no effect.
func (s *Store) Shadowed(name string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	a, inFile := s.file[name]
	b, inEnv := s.process[name]
	return inFile && inEnv && a != b
}

// Names lists the names the .env file sets, sorted.
func (s *Store) Names() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.file))
}

// Environ is the whole environment as it counts: what a program that loads the
// .env file would see. It holds secrets; see ChildEnv.
func (s *Store) Environ() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := maps.Clone(s.process)
	maps.Copy(all, s.file)
	out := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		v, _, _ := s.lookup(name)
		out = append(out, name+"="+v)
	}
	return out
}

// Usable tells a secret from a placeholder.
func Usable(value string) bool {
	v := strings.TrimSpace(value)
	if len(v) < 4 {
		return false
	}
	switch strings.ToLower(v) {
	case "***", "changeme", "your_api_key", "your-api-key", "placeholder", "example", "dummy", "null", "none":
		return false
	}
	return strings.Trim(v, "*") != ""
}

// Declare adds variables that parts of the program declare. Their values are
// redacted and kept from child processes as the declarations say.
func (s *Store) Declare(vars ...Var) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range vars {
		s.vars[v.Name] = v
	}
	s.redactor.forget()
}

// Vars lists what was declared, by name.
func (s *Store) Vars() []Var {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.SortedFunc(maps.Values(s.vars), func(a, b Var) int { return strings.Compare(a.Name, b.Name) })
}

// Learn makes the redactor hide a secret that stands in no environment
// variable: a key of config.yaml, a token just fetched, a password just typed.
func (s *Store) Learn(name, value string) {
	if !Usable(value) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.learned[value] = name
	s.redactor.forget()
}

// ErrManaged says that the home belongs to a system that writes its files.
var ErrManaged = errors.New("this home is managed")

// Managed names the system that owns the home's files ("NixOS", "homebrew"),
// empty for an ordinary home. Settings of a managed home are not written.
func Managed(home string, lookup func(string) (string, bool)) string {
	v, _ := lookup("HERMES_MANAGED")
	switch v = strings.TrimSpace(v); strings.ToLower(v) {
	case "", "0", "false", "no", "off":
	case "1", "true", "yes", "on":
		return "NixOS"
	default:
		return v
	}
	if _, err := os.Stat(filepath.Join(home, ".managed")); err == nil {
		return "NixOS"
	}
	return ""
}

// Set writes one value to the .env file, changing its line or adding one, and
// makes it count from now on. Line breaks are removed, and from keys whatever
// is not ASCII; note says so. The name may only be letters, digits and _.
func (s *Store) Set(name, value string) (note string, err error) {
	if err := s.mayWrite(name); err != nil {
		return "", err
	}
	if strings.ContainsRune(value, 0) {
		return "", fmt.Errorf("set %s: a value cannot hold a zero byte", name)
	}
	if !utf8.ValidString(value) {
		return "", fmt.Errorf("set %s: the value is not valid UTF-8 text", name)
	}
	if v := strings.NewReplacer("\r", "", "\n", "").Replace(value); v != value {
		value, note = v, "line breaks were removed from the value"
	}
	if v, points := asciiKey(name, value); points != "" {
		value, note = v, "characters no key has were left out: "+points
	}
	return note, s.update(name, func(src []byte) ([]byte, error) { return setEnv(src, name, value) })
}

// Unset removes name from the .env file and from this process's view. It is no
// error when it was not there.
func (s *Store) Unset(name string) error {
	if err := s.mayWrite(name); err != nil {
		return err
	}
	if _, err := os.Stat(s.path); errors.Is(err, fs.ErrNotExist) {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.process, name)
		return nil
	}
	return s.update(name, func(src []byte) ([]byte, error) {
		out, _, err := unsetEnv(src, name)
		return out, err
	})
}

func (s *Store) mayWrite(name string) error {
	if !ValidName(name) {
		return fmt.Errorf("set %q: a variable's name is letters, digits and _, not starting with a digit", name)
	}
	if s.managed != "" {
		return fmt.Errorf("set %s: %w by %s; change it there", name, ErrManaged, s.managed)
	}
	return nil
}

// update edits the file and reads it again. The process's own value of name
// goes, as it does in the original: what was just set or removed must count.
func (s *Store) update(name string, edit func([]byte) ([]byte, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var now []byte
	err := UpdateFile(s.path, func(old []byte) ([]byte, error) {
		var err error
		now, err = edit(old)
		return now, err
	})
	if err != nil {
		return err
	}
	delete(s.process, name)
	s.load(now)
	s.redactor.forget()
	return nil
}

// ValidName reports whether name can be set in the .env file.
func ValidName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// Glued lists names whose assignment got lost in the value before it
// (A_KEY=xB_KEY=y), which an interrupted or careless writer leaves behind. Only
// declared names are recognised.
func (s *Store) Glued() []string {
	src, err := ReadFile(s.path)
	if err != nil {
		return nil
	}
	_, found := s.unglue(src)
	return found
}

// SplitGlued gives each name that Glued lists a line of its own.
func (s *Store) SplitGlued() error {
	if s.managed != "" {
		return fmt.Errorf("repair %s: %w by %s; change it there", s.path, ErrManaged, s.managed)
	}
	err := UpdateFile(s.path, func(old []byte) ([]byte, error) {
		out, _ := s.unglue(old)
		return out, nil
	})
	if err != nil {
		return err
	}
	src, err := ReadFile(s.path)
	if err != nil {
		return fmt.Errorf("read %s: %w", s.path, reason(err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load(src)
	s.redactor.forget()
	return nil
}

func (s *Store) unglue(src []byte) (out []byte, found []string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all, _ := parseEnv(src)
	last := 0
	for _, a := range all {
		if a.from == a.to || a.literal || src[a.from] == '"' {
			continue
		}
		for at := a.from + 1; at < a.to; at++ {
			name := ""
			for n := range s.vars {
				if len(n) >= 6 && len(n) > len(name) && strings.HasPrefix(string(src[at:a.to]), n+"=") {
					name = n
				}
			}
			if name != "" {
				out = append(out, src[last:at]...)
				out = append(out, lineBreak(src)...)
				found = append(found, name)
				last = at
				at += len(name)
			}
		}
	}
	return append(out, src[last:]...), found
}
