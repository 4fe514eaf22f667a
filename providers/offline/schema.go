package offline

import (
	"bytes"
	"encoding/json"
	"slices"
)

// property is what filling needs to know of one parameter.
type property struct {
	name     string
	kind     string // JSON type, "" when the schema names none
	enum     []string
	standard json.RawMessage // the default
	required bool
}

// properties reads a schema's parameters, the required ones first and in the
// order in which the schema requires them.
func properties(parameters json.RawMessage) []property {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(parameters, &s) != nil {
		return nil
	}
	var props []property
	dec := json.NewDecoder(bytes.NewReader(s.Properties))
	if _, err := dec.Token(); err != nil {
		return nil
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return props
		}
		name, ok := key.(string)
		var raw json.RawMessage
		if !ok || dec.Decode(&raw) != nil {
			return props
		}
		props = append(props, propertyOf(name, raw))
	}
	rank := func(p property) int {
		if i := slices.Index(s.Required, p.name); i >= 0 {
			return i
		}
		return len(s.Required)
	}
	for i := range props {
		props[i].required = slices.Contains(s.Required, props[i].name)
	}
	slices.SortStableFunc(props, func(a, b property) int { return rank(a) - rank(b) })
	return props
}

func propertyOf(name string, raw json.RawMessage) property {
	var s struct {
		Type    json.RawMessage   `json:"type"`
		Enum    []any             `json:"enum"`
		Default json.RawMessage   `json:"default"`
		AnyOf   []json.RawMessage `json:"anyOf"`
		OneOf   []json.RawMessage `json:"oneOf"`
	}
	p := property{name: name}
	if json.Unmarshal(raw, &s) != nil {
		return p
	}
	p.standard = s.Default
	var types []string
	if json.Unmarshal(s.Type, &p.kind) != nil && json.Unmarshal(s.Type, &types) == nil {
		types = slices.DeleteFunc(types, func(t string) bool { return t == "null" })
		if len(types) > 0 {
			p.kind = types[0]
		}
	}
	for _, e := range s.Enum {
		if text, ok := e.(string); ok && text != "" {
			p.enum = append(p.enum, text)
		}
	}
	for _, branch := range append(s.AnyOf, s.OneOf...) {
		if b := propertyOf(name, branch); p.kind == "" && b.kind != "null" {
			p.kind, p.enum = b.kind, b.enum
		}
	}
	return p
}
