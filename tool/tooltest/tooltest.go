// Package tooltest is the conformance suite of tools: what every tool owes to
// the registry, the model and the person, whoever wrote it. It says nothing
// about what a tool does; that is the tool's own test.
package tooltest

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/tool"
)

// Run checks one tool. s is a session that offers everything the tool needs;
// nothing the suite sends can succeed, so nothing is changed by it.
func Run(t *testing.T, r *tool.Registry, s *tool.Session, name string) {
	t.Helper()
	tl, ok := r.Lookup(name)
	if !ok {
		t.Fatalf("there is no tool %s", name)
	}
	defs := r.Definitions(t.Context(), s, []string{name})
	if len(defs) != 1 {
		t.Fatalf("%s is not offered: %v", name, r.Why(t.Context(), s, name))
	}
	t.Run("definition", func(t *testing.T) { definition(t, tl, defs[0]) })
	t.Run("bad arguments", func(t *testing.T) { badArguments(t, r, s, defs[0]) })
	t.Run("effects", func(t *testing.T) { effects(t, tl) })
}

// node is what the suite looks at in a schema.
type node struct {
	Type        any             `json:"type"`
	Description string          `json:"description"`
	Enum        []any           `json:"enum"`
	Properties  map[string]node `json:"properties"`
	Required    []string        `json:"required"`
	Items       *node           `json:"items"`
	Default     any             `json:"default"`
}

func parameters(t *testing.T, d tool.Definition) node {
	t.Helper()
	var n node
	if err := json.Unmarshal(d.Function.Parameters, &n); err != nil {
		t.Fatalf("parameters: %v", err)
	}
	return n
}

func definition(t *testing.T, tl tool.Tool, d tool.Definition) {
	if strings.TrimSpace(d.Function.Description) == "" {
		t.Error("it does not say what it is for")
	}
	if tl.Emoji == "" {
		t.Error("it has no emoji")
	}
	if !regexp.MustCompile(`^[a-z][a-z0-9_]*$`).MatchString(tl.Name) {
		t.Errorf("its name %q is not in snake case", tl.Name)
	}
	for _, v := range tl.Env {
		if v.Name != strings.ToUpper(v.Name) || v.About == "" {
			t.Errorf("variable %q needs an upper-case name and a description", v.Name)
		}
	}
	n := parameters(t, d)
	if n.Type != "object" {
		t.Errorf("its parameters are of type %v", n.Type)
	}
	walk(t, "", n)
}

func walk(t *testing.T, path string, n node) {
	for _, name := range n.Required {
		if _, ok := n.Properties[name]; !ok {
			t.Errorf("%srequired field %s is no property", path, name)
		}
	}
	for name, p := range n.Properties {
		at := path + name
		if p.Type == nil {
			t.Errorf("%s has no type", at)
		}
		if strings.TrimSpace(p.Description) == "" && p.Properties == nil {
			t.Errorf("%s has no description", at)
		}
		if p.Type == "array" && p.Items == nil {
			t.Errorf("%s is an array without items", at)
		}
		if p.Default != nil && p.Enum != nil && !slices.Contains(p.Enum, p.Default) {
			t.Errorf("%s: the default %v is not among %v", at, p.Default, p.Enum)
		}
		walk(t, at+".", p)
		if p.Items != nil {
			walk(t, at+"[].", *p.Items)
		}
	}
}

// badArguments sends what no tool can accept: the answer must be an error, as
// JSON, soon, and say which field is wrong.
func badArguments(t *testing.T, r *tool.Registry, s *tool.Session, d tool.Definition) {
	n := parameters(t, d)
	cases := map[string]string{"list": `[]`, "text": `"x"`, "cut": `{"a": "b`}
	for name, p := range n.Properties {
		if p.Type == "string" || p.Type == "integer" || p.Type == "boolean" || p.Type == "number" {
			cases["object for "+name] = fmt.Sprintf(`{%q: {"a": [1]}}`, name)
		}
		if p.Enum != nil {
			cases["unknown value for "+name] = fmt.Sprintf(`{%q: "no such value"}`, name)
		}
	}
	if len(n.Required) > 0 {
		cases["nothing"] = `{}`
	}
	for what, args := range cases {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		res := r.Dispatch(ctx, &tool.Call{ID: "conformance", Name: d.Function.Name, Args: json.RawMessage(args), Session: s})
		cancel()
		var got struct {
			Error string `json:"error"`
		}
		if err := json.Unmarshal(res.JSON, &got); err != nil || got.Error == "" || res.Err == nil {
			t.Errorf("%s: answered %.200s", what, res.JSON)
		}
		if _, field, ok := strings.Cut(what, " for "); ok && !strings.Contains(got.Error, field) {
			t.Errorf("%s: the error does not name the field: %s", what, got.Error)
		}
	}
}

// effects must be declared for any arguments, however odd, without running
// anything.
func effects(t *testing.T, tl tool.Tool) {
	if tl.Effects == nil {
		return
	}
	for _, args := range []string{``, `null`, `{}`, `[]`, `{"path": 5, "command": []}`, `{"path": "../x"}`} {
		for _, e := range tl.Effects(json.RawMessage(args)) {
			if e.Key == "" {
				t.Errorf("an effect of %q has no key", args)
			}
		}
	}
}

// Matches checks that the fields of a tool's argument struct are the
// properties of its schema.
func Matches[In any](t *testing.T, r *tool.Registry, name string) {
	t.Helper()
	tl, ok := r.Lookup(name)
	if !ok {
		t.Fatalf("there is no tool %s", name)
	}
	var n node
	if err := json.Unmarshal(tl.Schema, &n); err != nil {
		t.Fatalf("schema of %s: %v", name, err)
	}
	typ := reflect.TypeFor[In]()
	var fields []string
	for i := range typ.NumField() {
		tag, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		fields = append(fields, tag)
		if _, ok := n.Properties[tag]; !ok {
			t.Errorf("%s: field %q is not in the schema", name, tag)
		}
	}
	for p := range n.Properties {
		if !slices.Contains(fields, p) {
			t.Errorf("%s: property %q has no field", name, p)
		}
	}
}
