package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Type is what kind of value a key takes.
type Type string

// The types. A Map is free: its keys are the user's own.
const (
	Text  Type = "text"
	Bool  Type = "bool"
	Int   Type = "int"
	Float Type = "number"
	List  Type = "list"
	Map   Type = "map"
	Any   Type = "any"
)

// Key declares one setting. The documentation, config set, doctor and the
// wizard all live of this one table.
type Key struct {
	Path    string // dotted; * stands for one name of the user's
	Type    Type
	Of      Type // what a List holds, Text when empty
	Default any  // nil for none
	Help    string
	Choices []string // the only values of a Text, empty for any
	Secret  bool     // shown masked, better kept in .env
}

// Keys lists the settings in the order of the documentation.
func Keys() []Key {
	var all []Key
	for _, k := range table().keys {
		all = append(all, *k)
	}
	return all
}

// Describe returns the declaration a path falls under: its own, that of a
// pattern with *, or the free Map around it.
func Describe(path string) (Key, bool) {
	keys, err := SplitPath(path)
	if err != nil {
		return Key{}, false
	}
	return describeKeys(keys)
}

type keyTable struct {
	keys  []*Key
	parts [][]string // Path of each, cut

	mu       sync.Mutex
	defaults map[string]*tree // by the first name of a path: what was asked for
}

var table = sync.OnceValue(func() *keyTable {
	t := &keyTable{keys: declare(), defaults: map[string]*tree{}}
	t.parts = make([][]string, len(t.keys))
	for i, k := range t.keys {
		t.parts[i] = strings.Split(k.Path, ".")
	}
	return t
})

// under is the tree of the defaults below a name.
func (t *keyTable) under(name string) *tree {
	t.mu.Lock()
	defer t.mu.Unlock()
	if d, ok := t.defaults[name]; ok {
		return d
	}
	root := newMap()
	for i, parts := range t.parts {
		if parts[0] != name || t.keys[i].Default == nil || slices.Contains(parts, "*") {
			continue
		}
		m := root
		for _, p := range parts[:len(parts)-1] {
			m = m.section(p)
		}
		m.put(parts[len(parts)-1], fromAny(t.keys[i].Default))
	}
	t.defaults[name] = root.m[name]
	return root.m[name]
}

// all is the tree of all defaults.
func (t *keyTable) all() *tree {
	root := newMap()
	for _, parts := range t.parts {
		if d := t.under(parts[0]); d != nil {
			root.put(parts[0], d)
		}
	}
	return root
}

// describeKeys finds the declaration for keys. List elements are of the List's
// declaration with type Any.
func describeKeys(keys []string) (Key, bool) {
	best, bestLen := Key{}, -1
	t := table()
	for i, parts := range t.parts {
		if len(parts) > len(keys) {
			continue
		}
		stars, ok := 0, true
		for j, p := range parts {
			if p == "*" {
				stars++
			} else if p != keys[j] {
				ok = false
				break
			}
		}
		k := t.keys[i]
		if !ok || len(parts) < len(keys) && k.Type != Map && k.Type != List && k.Type != Any {
			continue
		}
		if rank := len(parts)*8 - stars; rank > bestLen {
			best, bestLen = *k, rank
			if len(parts) < len(keys) {
				best.Type, best.Default, best.Choices = Any, nil, nil
				if k.Type == List && len(keys) == len(parts)+1 {
					best.Type = cmp.Or(k.Of, Text)
				}
			}
		}
	}
	return best, bestLen >= 0
}

// section reports whether keys name a group of declared keys.
func section(keys []string) bool {
	t := table()
	for i := range t.parts {
		parts := t.parts[i]
		if len(parts) <= len(keys) {
			continue
		}
		ok := true
		for j, k := range keys {
			ok = ok && (parts[j] == k || parts[j] == "*")
		}
		if ok {
			return true
		}
	}
	return false
}

// defaults is the default value at keys, nil without one.
func defaults(keys []string) *tree {
	if len(keys) == 0 {
		return table().all()
	}
	if t := table().under(keys[0]).find(keys[1:]); t != nil {
		return t
	}
	if k, ok := describeKeys(keys); ok && k.Default != nil && len(strings.Split(k.Path, ".")) == len(keys) {
		return fromAny(k.Default)
	}
	return nil
}

func fromAny(v any) *tree {
	switch x := v.(type) {
	case nil:
		return &tree{kind: nullKind}
	case bool:
		return &tree{kind: boolKind, val: x, text: strconv.FormatBool(x)}
	case int:
		return &tree{kind: intKind, val: int64(x), text: strconv.Itoa(x)}
	case int64:
		return &tree{kind: intKind, val: x, text: strconv.FormatInt(x, 10)}
	case float64:
		return &tree{kind: floatKind, val: x, text: floatText(x)}
	case string:
		return textTree(x)
	case []string:
		t := &tree{kind: listKind}
		for _, s := range x {
			t.list = append(t.list, textTree(s))
		}
		return t
	case []any:
		t := &tree{kind: listKind}
		for _, e := range x {
			t.list = append(t.list, fromAny(e))
		}
		return t
	case map[string]any:
		t := newMap()
		for _, k := range sortedKeys(x) {
			t.put(k, fromAny(x[k]))
		}
		return t
	}
	return textTree(fmt.Sprint(v))
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Mismatches holds an owner's options struct, filled with its defaults, against
// the table: fields that are not declared under path, and defaults that differ.
// It is for the owners' tests.
func Mismatches(path string, v any) []string {
	var out []string
	rv := reflect.Indirect(reflect.ValueOf(v))
	if rv.Kind() != reflect.Struct {
		return []string{fmt.Sprintf("%s: %T is no struct", path, v)}
	}
	for i := range rv.NumField() {
		f := rv.Type().Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if !f.IsExported() || name == "-" {
			continue
		}
		field := reflect.Indirect(rv.Field(i))
		if opts == "inline" && field.Kind() == reflect.Struct {
			out = append(out, Mismatches(path, field.Interface())...)
			continue
		}
		if name == "" {
			name = snake(f.Name)
		}
		at := join(path, name)
		keys, err := SplitPath(at)
		if err != nil {
			return append(out, err.Error())
		}
		k, known := describeKeys(keys)
		switch {
		case !known && section(keys) && field.Kind() == reflect.Struct:
			out = append(out, Mismatches(at, field.Interface())...)
		case !known:
			out = append(out, at+" is not declared in the key table")
		case k.Default != nil:
			want := reflect.New(f.Type).Elem()
			var d decoder
			d.into(fromAny(k.Default), want, at)
			if len(d.errs) > 0 {
				out = append(out, d.errs[0].Error())
			} else if have := rv.Field(i); !reflect.DeepEqual(want.Interface(), have.Interface()) && (want.Kind() != reflect.Slice || want.Len()+have.Len() > 0) {
				out = append(out, fmt.Sprintf("%s: the struct says %v, the table %v", at, have.Interface(), k.Default))
			}
		}
	}
	return out
}

// envKeys are the variables that stand in for keys the file leaves open.
// Those of terminal.* count only when the file has no terminal section at all,
// as in the original.
var envKeys = [...]struct{ key, env string }{
	{"model.provider", "HERMES_INFERENCE_PROVIDER"},
	{"agent.max_turns", "HERMES_MAX_ITERATIONS"},
	{"timezone", "HERMES_TIMEZONE"},
	{"display.tool_progress", "HERMES_TOOL_PROGRESS"},
	{"prefill_messages_file", "HERMES_PREFILL_MESSAGES_FILE"},
	{"terminal.backend", "TERMINAL_ENV"},
	{"terminal.modal_mode", "TERMINAL_MODAL_MODE"},
	{"terminal.docker_image", "TERMINAL_DOCKER_IMAGE"},
	{"terminal.singularity_image", "TERMINAL_SINGULARITY_IMAGE"},
	{"terminal.modal_image", "TERMINAL_MODAL_IMAGE"},
	{"terminal.daytona_image", "TERMINAL_DAYTONA_IMAGE"},
	{"terminal.vercel_runtime", "TERMINAL_VERCEL_RUNTIME"},
	{"terminal.docker_mount_cwd_to_workspace", "TERMINAL_DOCKER_MOUNT_CWD_TO_WORKSPACE"},
	{"terminal.docker_run_as_host_user", "TERMINAL_DOCKER_RUN_AS_HOST_USER"},
	{"terminal.timeout", "TERMINAL_TIMEOUT"},
	{"terminal.sandbox_dir", "TERMINAL_SANDBOX_DIR"},
	{"terminal.persistent_shell", "TERMINAL_PERSISTENT_SHELL"},
	{"terminal.container_cpu", "TERMINAL_CONTAINER_CPU"},
	{"terminal.container_memory", "TERMINAL_CONTAINER_MEMORY"},
	{"terminal.container_disk", "TERMINAL_CONTAINER_DISK"},
	{"terminal.container_persistent", "TERMINAL_CONTAINER_PERSISTENT"},
}

// fill sets what the file leaves open from the variables that stand for keys.
// HERMES_REDACT_SECRETS alone counts over the file.
func (c *Config) fill(lookup Lookup) {
	terminal := c.file.m["terminal"]
	for _, e := range envKeys {
		v, ok := lookup(e.env)
		if !ok || strings.TrimSpace(v) == "" {
			continue
		}
		keys := strings.Split(e.key, ".")
		if keys[0] == "terminal" && terminal != nil && terminal.kind != nullKind || !empty(c.file.find(keys)) {
			continue
		}
		c.putEnv(keys, v)
	}
	if v, ok := lookup("HERMES_REDACT_SECRETS"); ok && strings.TrimSpace(v) != "" {
		c.putEnv([]string{"security", "redact_secrets"}, v)
	}
}

func (c *Config) putEnv(keys []string, v string) {
	m := c.file
	for _, k := range keys[:len(keys)-1] {
		if next := m.m[k]; next != nil && next.kind != mapKind && next.kind != nullKind {
			return
		}
		m = m.section(k)
	}
	t := textTree(strings.TrimSpace(v))
	if k, ok := describeKeys(keys); ok {
		if typed, err := typedValue(k, t.text); err == nil {
			t = typed
		}
	}
	t.env = true
	m.put(keys[len(keys)-1], t)
}
