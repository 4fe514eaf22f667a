package config

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Kind says how the text given for a value is to be read.
type Kind string

// The kinds. Auto goes by the key table, and for a key of the user's own takes
// what nobody can mistake (true, 42) as such and all else as text.
const (
	Auto       Kind = ""
	KindText   Kind = "text"
	KindBool   Kind = "bool"
	KindInt    Kind = "int"
	KindNumber Kind = "number"
	KindJSON   Kind = "json"
	KindNull   Kind = "null"
)

// ParseKind reads a kind by the names people give it on a command line.
func ParseKind(s string) (Kind, error) {
	switch strings.ToLower(s) {
	case "", "auto":
		return Auto, nil
	case "text", "string", "str":
		return KindText, nil
	case "bool", "boolean":
		return KindBool, nil
	case "int", "integer":
		return KindInt, nil
	case "number", "float":
		return KindNumber, nil
	case "json", "yaml", "list", "map":
		return KindJSON, nil
	case "null", "none":
		return KindNull, nil
	}
	return Auto, fmt.Errorf("type %q: want text, bool, int, number, json or null", s)
}

// read turns text into a value of the kind; k is the key's declaration, used
// when the kind is Auto.
func (kind Kind) read(k Key, s string) (*tree, error) {
	bad := func(want string) (*tree, error) {
		return nil, fmt.Errorf("config key %s: want %s, have %q", k.Path, want, shorten(s))
	}
	switch kind {
	case KindText:
		return textTree(s), nil
	case KindNull:
		return &tree{kind: nullKind}, nil
	case KindBool:
		if v, ok := parseBool(s); ok {
			return fromAny(v), nil
		}
		return bad("true or false")
	case KindInt:
		if v, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64); err == nil {
			return fromAny(v), nil
		}
		return bad("a whole number")
	case KindNumber:
		return readNumber(k, s)
	case KindJSON:
		return readJSON(k, s)
	}
	return typedValue(k, s)
}

// typedValue reads text as the key's type wants it.
func typedValue(k Key, s string) (*tree, error) {
	switch k.Type {
	case Bool:
		return KindBool.read(k, s)
	case Int:
		return KindInt.read(k, s)
	case Float:
		return readNumber(k, s)
	case Text:
		if len(k.Choices) > 0 && !slices.Contains(k.Choices, s) {
			for _, c := range k.Choices {
				if strings.EqualFold(c, s) {
					return textTree(c), nil
				}
			}
			return nil, fmt.Errorf("config key %s: want one of %s, have %q", k.Path, strings.Join(k.Choices, ", "), shorten(s))
		}
		return textTree(s), nil
	case List:
		return readList(k, s)
	case Map:
		return readJSON(k, s)
	}
	return guess(s), nil
}

// guess types a value nobody declared: only spellings that mean one thing in
// every reader and come back as they were typed. 3.10 would come back as 3.1.
func guess(s string) *tree {
	switch s {
	case "true", "false":
		return fromAny(s == "true")
	}
	if v, err := strconv.ParseInt(s, 10, 64); err == nil && strconv.FormatInt(v, 10) == s {
		return fromAny(v)
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil && strings.Contains(s, ".") && strconv.FormatFloat(f, 'f', -1, 64) == s {
		return fromAny(f)
	}
	return textTree(s)
}

func readNumber(k Key, s string) (*tree, error) {
	t := strings.TrimSpace(s)
	if v, err := strconv.ParseInt(t, 10, 64); err == nil {
		return fromAny(v), nil
	}
	f, err := strconv.ParseFloat(t, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("config key %s: want a number, have %q", k.Path, shorten(s))
	}
	return &tree{kind: floatKind, val: f, text: t}, nil
}

// readList takes [a, b] in JSON or YAML, or words between commas.
func readList(k Key, s string) (*tree, error) {
	t := strings.TrimSpace(s)
	if strings.HasPrefix(t, "[") || strings.HasPrefix(t, "{") {
		v, err := readJSON(k, t)
		if err == nil && v.kind == mapKind { // one element is a list of one
			v = &tree{kind: listKind, list: []*tree{v}}
		}
		return v, err
	}
	out := &tree{kind: listKind}
	for _, w := range strings.Split(t, ",") {
		if w = strings.TrimSpace(w); w != "" {
			out.list = append(out.list, textTree(w))
		}
	}
	return out, nil
}

// readJSON takes JSON, and YAML written on one line.
func readJSON(k Key, s string) (*tree, error) {
	var v any
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	if err := dec.Decode(&v); err == nil && !dec.More() {
		return fit(k, fromJSON(v))
	}
	wrapped, _, err := parse([]byte("v: " + strings.ReplaceAll(s, "\n", "\n  ")))
	if err != nil || len(wrapped.keys) != 1 || wrapped.m["v"] == nil {
		return nil, fmt.Errorf("config key %s: the value is neither JSON nor YAML on one line", k.Path)
	}
	return fit(k, wrapped.m["v"])
}

// fit refuses a value whose shape is not the key's.
func fit(k Key, t *tree) (*tree, error) {
	if k.Type == Map && t.kind != mapKind || k.Type == List && t.kind != listKind && t.kind != mapKind {
		return nil, fmt.Errorf("config key %s: want a %s, have %s", k.Path, k.Type, t.kind)
	}
	return t, nil
}

func fromJSON(v any) *tree {
	switch x := v.(type) {
	case json.Number:
		if n, err := x.Int64(); err == nil {
			return fromAny(n)
		}
		f, _ := x.Float64()
		return fromAny(f)
	case []any:
		t := &tree{kind: listKind}
		for _, e := range x {
			t.list = append(t.list, fromJSON(e))
		}
		return t
	case map[string]any:
		t := newMap()
		for _, k := range sortedKeys(x) {
			t.put(k, fromJSON(x[k]))
		}
		return t
	}
	return fromAny(v)
}
