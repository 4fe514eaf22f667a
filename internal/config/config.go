// Package config reads a home's config.yaml once into an immutable value,
// hands each owner its own subtree decoded into the owner's struct, and edits
// the file so that nothing but the edited value changes. It also knows where
// the home is. It holds no settings of its own, starts nothing, and is not a
// bus: whoever needs a setting is given it.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/hermes-go/hermes/secret"
)

// Config is the effective configuration of one home. It never changes; a
// changed file is a new Config.
type Config struct {
	home     string
	path     string
	file     *tree // what the file says, expanded and normalised
	version  int
	size     int // bytes of the file when it was read
	managed  string
	problems []Problem
}

// Lookup reads one environment variable, as secret.Store.Lookup and
// os.LookupEnv do.
type Lookup func(name string) (value string, ok bool)

// Load reads <home>/config.yaml. It does not fail because of the file: a
// missing one is an empty one, an unreadable or broken one leaves the defaults
// and a problem in Warnings. lookup supplies ${NAME} values and may be nil.
func Load(home string, lookup func(string) (string, bool)) (*Config, error) {
	if home == "" {
		return nil, errors.New("load config: no home directory given")
	}
	if lookup == nil {
		lookup = func(string) (string, bool) { return "", false }
	}
	c := &Config{home: home, path: filepath.Join(home, "config.yaml"), file: newMap(), managed: secret.Managed(home, lookup)}
	if v, _ := lookup("HERMES_IGNORE_USER_CONFIG"); v == "1" {
		c.fill(lookup)
		return c, nil
	}
	src, err := secret.ReadFile(c.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.fill(lookup)
		return c, nil
	case err != nil:
		hint := "make the file readable for this user"
		if !errors.Is(err, fs.ErrPermission) {
			hint = "put a readable file in its place"
		}
		c.report(Problem{Severity: Error, Message: fmt.Sprintf("read %s: %v; defaults are used", c.path, reason(err)), Hint: hint})
		c.fill(lookup)
		return c, nil
	}
	c.read(src, lookup)
	return c, nil
}

// Parse is Load for text at hand: what the file named path would mean.
func Parse(path string, src []byte, lookup func(string) (string, bool)) *Config {
	if lookup == nil {
		lookup = func(string) (string, bool) { return "", false }
	}
	c := &Config{home: filepath.Dir(path), path: path, file: newMap()}
	c.read(src, lookup)
	return c
}

func (c *Config) read(src []byte, lookup Lookup) {
	c.size = len(src)
	root, notes, err := parse(src)
	if err != nil {
		c.report(Problem{
			Severity: Error, Message: fmt.Sprintf("parse %s: %v; defaults are used", c.path, err),
			Hint: "correct the line named; a backup may lie beside the file",
		})
		c.fill(lookup)
		return
	}
	for _, n := range notes {
		c.report(n)
	}
	if v, ok := root.find([]string{"_config_version"}).whole(); ok {
		c.version = v
	}
	c.problems = append(c.problems, expand(root, lookup)...)
	normalise(root)
	c.file = root
	c.fill(lookup)
}

// Home is the directory the file lies in.
func (c *Config) Home() string { return c.home }

// Path is the file's name, whether or not it exists.
func (c *Config) Path() string { return c.path }

// Version is the _config_version the file itself states, 0 without one.
func (c *Config) Version() int { return c.version }

// Warnings lists what was wrong with the file when it was read.
func (c *Config) Warnings() []Problem { return append([]Problem(nil), c.problems...) }

// Get returns the value at a dotted path ("a.b.0.c" or "a.b[0].c", "" for all):
// what the file says, else the default of the key table; maps are the file's
// laid over the defaults. The value is the caller's to keep and change.
func (c *Config) Get(path string) (any, bool) {
	t := c.effective(path)
	if t == nil {
		return nil, false
	}
	return t.any(), true
}

// YAML is Get as text: a scalar as it is spelled in the file, anything else as
// YAML lines.
func (c *Config) YAML(path string) (string, bool) {
	t := c.effective(path)
	switch {
	case t == nil:
		return "", false
	case t.kind == mapKind && len(t.keys) > 0, t.kind == listKind && len(t.list) > 0:
		var b strings.Builder
		layout{step: 2, list: 2, nl: "\n"}.block(&b, 0, t)
		return strings.TrimSuffix(b.String(), "\n"), true
	case t.kind == mapKind, t.kind == listKind:
		return inline(t, false, anyStyle), true
	}
	return t.text, true
}

func (c *Config) effective(path string) *tree {
	var keys []string
	if path != "" {
		var err error
		if keys, err = SplitPath(path); err != nil {
			return nil
		}
	}
	own := c.file.find(keys)
	def := defaults(keys)
	switch {
	case own == nil:
		return def
	case def == nil || own.kind != mapKind || def.kind != mapKind:
		return own
	}
	return overlay(def, own)
}

// String is Get for text: numbers and booleans as they stand in the file.
func (c *Config) String(path string) string {
	keys, err := SplitPath(path)
	if err != nil {
		return ""
	}
	t := c.file.find(keys)
	if t == nil {
		t = defaults(keys)
	}
	if t == nil || t.kind == mapKind || t.kind == listKind {
		return ""
	}
	return t.text
}

// Has reports whether the file itself sets the path.
func (c *Config) Has(path string) bool {
	keys, err := SplitPath(path)
	t := c.file.find(keys)
	return err == nil && t != nil && !t.env
}

// Keys names the entries of the map at path in the order of the file, defaults
// not included; nil when there is no map.
func (c *Config) Keys(path string) []string {
	keys, err := SplitPath(path)
	if err != nil {
		return nil
	}
	t := c.file.find(keys)
	if t == nil || t.kind != mapKind {
		return nil
	}
	return append([]string(nil), t.keys...)
}

// Secrets lists the values of the file that must not be shown, by path, for
// secret.Store.Learn.
func (c *Config) Secrets() map[string]string {
	out := map[string]string{}
	var walk func(t *tree, keys []string, path string)
	walk = func(t *tree, keys []string, path string) {
		switch t.kind {
		case mapKind:
			for _, k := range t.keys {
				walk(t.m[k], append(keys, k), join(path, k))
			}
		case listKind:
			for i, v := range t.list {
				walk(v, append(keys, fmt.Sprint(i)), fmt.Sprintf("%s[%d]", path, i))
			}
		case textKind, intKind:
			if k, ok := describeKeys(keys); ok && k.Secret || secret.IsSecretName(keys[len(keys)-1]) {
				if t.text != "" {
					out[path] = t.text
				}
			}
		}
	}
	walk(c.file, make([]string, 0, 16), "")
	return out
}

func (c *Config) report(p Problem) { c.problems = append(c.problems, p) }

// Severity says how bad a Problem is.
type Severity string

// The severities: an Error means something the person wrote has no effect.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Problem is one finding about the file, worded for a person.
type Problem struct {
	Severity Severity
	Key      string // dotted path, empty for the whole file
	Line     int    // in the file, 0 when unknown
	Message  string
	Hint     string // what to do about it
	Unknown  bool   // it is about a key that is not known here
}

func (p Problem) String() string {
	var b strings.Builder
	if p.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", p.Line)
	}
	b.WriteString(p.Message)
	if p.Hint != "" {
		b.WriteString(" (" + p.Hint + ")")
	}
	return b.String()
}

// reason strips the operation and path off an *fs.PathError: the message that
// wraps it names them already.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
