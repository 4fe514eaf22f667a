package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hermes-go/hermes/secret"
)

// Version is the layout of config.yaml this program writes.
const Version = 23

// An Edit changes one value of a config.yaml.
type Edit struct {
	Key    string
	Value  string // as a person types it
	Kind   Kind   // how to read it
	Remove bool   // take the key out instead
	Force  bool   // accept a key that nobody declared
}

// A Change tells what an Edit came to.
type Change struct {
	Key      string // where the value really went: model may be model.default
	Old, New any    // nil for none
	Changed  bool
	Note     string // something the person should know
}

// ErrShrank says that the file holds less than when it was read: writing to it
// could seal a loss that happened in the meantime.
var ErrShrank = errors.New("it is shorter than when it was read; look at it, then try again")

// UnknownKeyError refuses a key that nobody declared.
type UnknownKeyError struct {
	Key  string
	Near []string
}

func (e *UnknownKeyError) Error() string {
	msg := fmt.Sprintf("config key %s is not known", e.Key)
	if len(e.Near) > 0 {
		msg += "; did you mean " + strings.Join(e.Near, " or ") + "?"
	}
	return msg + " (--force sets it all the same)"
}

// Set writes one value to the file at path; see Apply.
func Set(path, key, value string, kind Kind) (Change, error) {
	c, err := Apply(path, Edit{Key: key, Value: value, Kind: kind})
	if err != nil {
		return Change{}, err
	}
	return c[0], nil
}

// Unset takes a key out of the file at path. The error wraps ErrAbsent when it
// was not there.
func Unset(path, key string) (Change, error) {
	c, err := Apply(path, Edit{Key: key, Remove: true})
	if err != nil {
		return Change{}, err
	}
	return c[0], nil
}

// Apply makes all edits of a file or none. Only the bytes of the values change:
// comments, blank lines, order, indentation, placeholders and line ends stay.
// The result is read again and must mean what was asked for before it replaces
// the file (see secret.UpdateFile for how); the old text is kept as
// config.yaml.bak.1 to .5, newest first. A missing file is made.
func Apply(path string, edits ...Edit) ([]Change, error) {
	c := Config{path: path, managed: secret.Managed(filepath.Dir(path), func(string) (string, bool) { return "", false })}
	return c.Apply(edits...)
}

// Apply is the function of that name for the file c was read from, with the
// further guard that it must not have become shorter since. A managed home is
// refused with secret.ErrManaged.
func (c *Config) Apply(edits ...Edit) ([]Change, error) {
	if c.managed != "" {
		return nil, fmt.Errorf("edit %s: %w by %s; change it there", c.path, secret.ErrManaged, c.managed)
	}
	return apply(c.path, c.size, edits)
}

func apply(path string, atLeast int, edits []Edit) ([]Change, error) {
	var changes []Change
	err := secret.UpdateFile(path, func(old []byte) ([]byte, error) {
		if len(old) < atLeast {
			return nil, fmt.Errorf("edit %s: %w", path, ErrShrank)
		}
		text, err := edited(old, edits, &changes)
		if err != nil {
			return nil, fmt.Errorf("edit %s: %w", path, err)
		}
		if old == nil && len(edits) > 0 && !slices.ContainsFunc(edits, func(e Edit) bool { return e.Key == "_config_version" }) {
			// A new file is of today's layout; without this it would count as old.
			if text, err = edited(text, []Edit{{Key: "_config_version", Value: fmt.Sprint(Version)}}, new([]Change)); err != nil {
				return nil, fmt.Errorf("edit %s: %w", path, err)
			}
		}
		if len(old) > 0 && !bytes.Equal(old, text) {
			if err := rotate(path, old); err != nil {
				return nil, err
			}
		}
		return text, nil
	})
	if err != nil {
		return nil, err
	}
	return changes, nil
}

// edited applies edits to text.
func edited(src []byte, edits []Edit, changes *[]Change) ([]byte, error) {
	body, bom := bytes.CutPrefix(src, []byte("\xef\xbb\xbf"))
	text := string(body)
	*changes = (*changes)[:0]
	for _, e := range edits {
		out, c, err := editOne(text, e)
		if err != nil {
			return nil, err
		}
		text = out
		*changes = append(*changes, c)
	}
	if bom {
		text = "\xef\xbb\xbf" + text
	}
	return []byte(text), nil
}

func editOne(text string, e Edit) (string, Change, error) {
	keys, err := SplitPath(e.Key)
	if err != nil {
		return "", Change{}, err
	}
	root, _, err := parse([]byte(text))
	if err != nil {
		return "", Change{}, fmt.Errorf("the file cannot be read, so it was left alone: %w; correct that line first", err)
	}
	if e.Remove {
		old := root.find(keys)
		if old == nil {
			return "", Change{}, fmt.Errorf("config key %s: %w", e.Key, ErrAbsent)
		}
		out, err := splice(text, keys, nil)
		return out, Change{Key: JoinPath(keys), Old: old.any(), Changed: true}, err
	}
	keys = present(root, keys)
	val, note, err := value(keys, e)
	if err != nil {
		return "", Change{}, err
	}
	keys, val = modelText(root, keys, val)
	if keys, val, err = listText(root, keys, val); err != nil {
		return "", Change{}, err
	}
	c := Change{Key: JoinPath(keys), New: val.any(), Note: note}
	if old := root.find(keys); old != nil {
		c.Old = old.any()
		if same(old, val) {
			return text, c, nil
		}
	}
	c.Changed = true
	out, err := splice(text, keys, val)
	return out, c, err
}

// present gives old spellings of a path its place of today.
func present(root *tree, keys []string) []string {
	if len(keys) != 1 {
		if keys[0] == "model" && len(keys) == 2 && keys[1] == "model" {
			return []string{"model", "default"}
		}
		return keys
	}
	switch keys[0] {
	case "model":
		if m := root.m["model"]; m == nil || m.kind == mapKind || m.kind == nullKind {
			return []string{"model", "default"}
		}
	case "provider", "base_url":
		return []string{"model", keys[0]}
	case "max_turns":
		return []string{"agent", "max_turns"}
	}
	return keys
}

// modelText deals with model: NAME written as text: setting model.default
// changes the text, setting another key makes a map that keeps the name.
func modelText(root *tree, keys []string, val *tree) ([]string, *tree) {
	m := root.m["model"]
	if keys[0] != "model" || len(keys) != 2 || m == nil || m.kind == mapKind || m.kind == listKind || m.kind == nullKind {
		return keys, val
	}
	if keys[1] == "default" {
		return keys[:1], val
	}
	whole := newMap()
	if m.text != "" {
		whole.put("default", textTree(m.text))
	}
	whole.put(keys[1], val)
	return keys[:1], whole
}

// listText deals with an element of a list that the file does not have: what
// counts so far is the default, so the list is written with the change made.
func listText(root *tree, keys []string, val *tree) ([]string, *tree, error) {
	for i := 1; i < len(keys); i++ {
		at := keys[:i]
		if have := root.find(at); have != nil && have.kind != nullKind {
			continue
		}
		k, known := describeKeys(at)
		if !known || k.Type != List || len(strings.Split(k.Path, ".")) != i {
			continue
		}
		list := &tree{kind: listKind}
		if k.Default != nil {
			list = fromAny(k.Default)
		}
		whole := newMap()
		whole.put(keys[i-1], list)
		if err := change(whole, keys[i-1:], val); err != nil {
			return nil, nil, err
		}
		return at, whole.m[keys[i-1]], nil
	}
	return keys, val, nil
}

// value reads the edit's text by the key's declaration.
func value(keys []string, e Edit) (t *tree, note string, err error) {
	path := JoinPath(keys)
	k, known := describeKeys(keys)
	if !known && path == "model" {
		k, known = Key{Path: "model", Type: Text}, true
	}
	switch {
	case known:
	case section(keys) && e.Kind != KindJSON:
		return nil, "", fmt.Errorf("config key %s is a section; set one of its keys, such as %s", path, firstIn(keys))
	case section(keys):
		k = Key{Path: path, Type: Map}
	case !e.Force:
		return nil, "", &UnknownKeyError{Key: path, Near: near(path)}
	default:
		k = Key{Path: path, Type: Any}
	}
	declared := k.Path
	k.Path = path // errors name the path asked for
	if t, err = e.Kind.read(k, e.Value); err != nil {
		return nil, "", err
	}
	if known && e.Kind != Auto && e.Kind != KindNull && !suits(k, t) {
		return nil, "", fmt.Errorf("config key %s takes %s", path, k.Type)
	}
	if !utf8Text(t) {
		return nil, "", fmt.Errorf("config key %s: the value is not valid UTF-8 text", path)
	}
	switch {
	case k.Secret && t.kind == textKind && t.text != "" && !strings.Contains(t.text, "${"):
		note = "a key is better kept in .env and written here as ${NAME}"
	case (k.Type == Any && known && declared != path || !known) && t.kind == textKind && strings.HasPrefix(t.text, "["):
		note = "stored as text; say --json for a list"
	case (k.Type == Any && known && declared != path || !known) && t.kind == textKind && strings.HasPrefix(t.text, "{"):
		note = "stored as text; say --json for a map"
	}
	return t, note, nil
}

// suits reports whether a value fits the declared type.
func suits(k Key, t *tree) bool {
	switch k.Type {
	case Text:
		return t.kind == textKind && (len(k.Choices) == 0 || slices.Contains(k.Choices, t.text)) || t.kind != listKind && t.kind != mapKind && len(k.Choices) == 0
	case Bool:
		_, ok := asBool(t)
		return ok
	case Int:
		_, ok := asInt(t)
		return ok
	case Float:
		_, ok := asFloat(t)
		return ok
	case List:
		return t.kind == listKind || t.kind == textKind
	case Map:
		return t.kind == mapKind
	}
	return true
}

func utf8Text(t *tree) bool {
	ok := strings.ToValidUTF8(t.text, "") == t.text && !strings.ContainsRune(t.text, 0)
	for _, v := range t.list {
		ok = ok && utf8Text(v)
	}
	for k, v := range t.m {
		ok = ok && strings.ToValidUTF8(k, "") == k && utf8Text(v)
	}
	return ok
}

func firstIn(keys []string) string {
	for _, k := range table().keys {
		if rest, ok := strings.CutPrefix(k.Path, JoinPath(keys)+"."); ok && !strings.Contains(k.Path, "*") {
			return JoinPath(keys) + "." + rest
		}
	}
	return JoinPath(keys) + ".NAME"
}

// near finds declared paths close to a mistyped one.
func near(path string) []string {
	type scored struct {
		path string
		d    int
	}
	var all []scored
	last := path[strings.LastIndexByte(path, '.')+1:]
	for _, k := range table().keys {
		if strings.Contains(k.Path, "*") {
			continue
		}
		d := distance(path, k.Path)
		if kl := k.Path[strings.LastIndexByte(k.Path, '.')+1:]; kl == last {
			d = min(d, 1)
		} else if ld := distance(last, kl); ld <= 1 && len(last) > 3 {
			d = min(d, 1+ld)
		}
		if d <= 1+len(path)/5 {
			all = append(all, scored{k.Path, d})
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return a.d - b.d })
	var out []string
	for _, s := range all[:min(3, len(all))] {
		out = append(out, s.path)
	}
	return out
}

// distance is the number of letters to change, add or drop between a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost++
			}
			diag = row[j+1]
			row[j+1] = min(cost, row[j]+1, diag+1)
		}
	}
	return row[len(b)]
}

// backups is how many earlier texts of an edited file are kept.
const backups = 5

// rotate keeps old as the newest of the numbered backups.
func rotate(path string, old []byte) error {
	name := func(n int) string { return fmt.Sprintf("%s.bak.%d", path, n) }
	if b, err := os.ReadFile(name(1)); err == nil && bytes.Equal(b, old) {
		return nil
	}
	for n := backups; n > 1; n-- {
		if err := os.Rename(name(n-1), name(n)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("keep a backup of %s: %w; make the directory writable, nothing was changed", path, reason(err))
		}
	}
	return writeBackup(path, name(1), old)
}

// Backup copies the file to <path>.bak.YYYYMMDD_HHMMSS, as the original's setup
// does, and returns the copy's name; empty when there is no file yet.
func Backup(path string, now time.Time) (string, error) {
	old, err := secret.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("back up %s: %w", path, reason(err))
	}
	name := path + ".bak." + now.Format("20060102_150405")
	if b, err := os.ReadFile(name); err == nil && !bytes.Equal(b, old) {
		name += fmt.Sprintf("_%03d", now.Nanosecond()/1e6)
	}
	return name, writeBackup(path, name, old)
}

// Reset puts an empty configuration of this version in the place of the file,
// and returns the name of the copy that is kept of it; empty when there was
// none.
func Reset(path string, now time.Time) (kept string, err error) {
	if kept, err = Backup(path, now); err != nil || kept == "" {
		return "", err
	}
	return kept, secret.UpdateFile(path, func([]byte) ([]byte, error) {
		return fmt.Appendf(nil, "_config_version: %d\n", Version), nil
	})
}

func writeBackup(path, name string, old []byte) error {
	if err := os.WriteFile(name, old, 0o600); err != nil {
		return fmt.Errorf("keep a backup of %s: write %s: %w; make %s writable, nothing was changed", path, filepath.Base(name), reason(err), filepath.Dir(name))
	}
	return nil
}

// EnvName reports whether a key given to config set belongs into .env, and
// under which name: API keys and tokens, and the few settings that always
// lived there.
func EnvName(key string) (string, bool) {
	if strings.ContainsAny(key, ".[") {
		return "", false
	}
	n := strings.ToUpper(key)
	switch n {
	case "FIRECRAWL_API_URL", "FIRECRAWL_GATEWAY_URL", "TOOL_GATEWAY_DOMAIN", "TOOL_GATEWAY_SCHEME", "BROWSERBASE_PROJECT_ID", "FAL_KEY",
		"SUDO_PASSWORD", "VOICE_TOOLS_OPENAI_KEY":
		return n, true
	}
	ok := strings.HasSuffix(n, "_API_KEY") || strings.HasSuffix(n, "_TOKEN") || strings.HasPrefix(n, "TERMINAL_SSH")
	return n, ok && secret.ValidName(n)
}
