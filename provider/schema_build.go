package provider

import (
	"encoding/json"
	"slices"
	"strings"
)

// build compiles one schema whose reference and allOf are resolved. It owns n.
func (c *compiler) build(n *node, depth int) *node {
	types, null := typesOf(n)
	null = null || string(n.get("nullable").rawOf()) == "true"
	if branches := c.branches(n); branches != nil {
		return c.choice(n, branches, null, depth)
	}
	if len(types) == 0 {
		types = guess(n)
	}
	if len(types) > 1 {
		var branches []*node
		for _, t := range types {
			b := c.clone(n)
			b.drop("description", "title", "default", "examples", "nullable")
			b.set("type", leaf(t))
			branches = append(branches, b)
		}
		return c.choice(n, branches, null, depth)
	}
	kind := ""
	if len(types) == 1 {
		kind = types[0]
	}
	out := object()
	if kind == "" {
		out = c.anything()
		kind = out.get("type").text()
	} else {
		out.set("type", leaf(kind))
	}
	for _, f := range n.fields {
		c.keyword(out, n, f, kind, depth)
	}
	if kind == "array" && out.get("items") == nil {
		out.set("items", c.anyItem())
	}
	if kind == "object" && out.get("properties") == nil && !c.EmptyBare {
		out.set("properties", object())
	}
	c.required(out)
	if null && kind != "" {
		c.nullable(out, kind)
	}
	return out
}

// anyItem is an element of a list that says nothing of its elements.
func (c *compiler) anyItem() *node {
	if c.Keywords != nil || c.Null == "" {
		return object(field{"type", leaf("string")})
	}
	return object()
}

func (n *node) rawOf() json.RawMessage {
	if n == nil {
		return nil
	}
	return n.raw
}

// typesOf reads type, which may be a list; null is told apart.
func typesOf(n *node) (types []string, null bool) {
	t := n.get("type")
	if t == nil {
		return nil, false
	}
	list := t.items
	if t.kind == 0 {
		list = []*node{t}
	}
	for _, x := range list {
		switch name := strings.ToLower(x.text()); {
		case name == "null":
			null = true
		case isType(name) && !slices.Contains(types, name):
			types = append(types, name)
		}
	}
	if len(types) == 0 { // only null, or no type that exists: the original takes an object
		types = []string{"object"}
	}
	return types, null
}

// guess finds the type of a schema that names none.
func guess(n *node) []string {
	switch {
	case n.get("properties") != nil || n.get("additionalProperties") != nil || n.get("required") != nil:
		return []string{"object"}
	case n.get("items") != nil || n.get("prefixItems") != nil:
		return []string{"array"}
	}
	values := n.get("enum")
	if values == nil && n.get("const") != nil {
		values = &node{kind: '[', items: []*node{n.get("const")}}
	}
	if values == nil {
		return nil
	}
	kind := ""
	for _, v := range values.items {
		k := "string"
		switch {
		case v.kind != 0 || v.isNull():
			continue
		case v.raw[0] == 't' || v.raw[0] == 'f':
			k = "boolean"
		case !v.isText():
			k = "number"
		}
		if kind != "" && k != kind {
			return nil
		}
		kind = k
	}
	if kind == "" {
		return nil
	}
	return []string{kind}
}

// branches are those of anyOf or oneOf; nil when there is no choice.
func (c *compiler) branches(n *node) []*node {
	for _, word := range []string{"anyOf", "oneOf"} {
		if list := n.get(word); list != nil {
			return list.items
		}
	}
	return nil
}

// choice writes alternatives. Null is not one of them but a property of the
// whole; a single alternative that is left stands for itself.
func (c *compiler) choice(n *node, branches []*node, null bool, depth int) *node {
	n.drop("anyOf", "oneOf", "nullable")
	var kept []*node
	for _, b := range branches {
		if types, isNull := typesOf(b); b.isObject() && isNull && len(types) == 1 && types[0] == "object" && b.get("properties") == nil && b.get("type").kind == 0 {
			null = true
			continue
		}
		kept = append(kept, b)
	}
	if len(kept) == 0 {
		return c.anything()
	}
	if len(kept) == 1 {
		b := kept[0]
		if !b.isObject() {
			b = object()
		}
		b = c.clone(b)
		for _, f := range n.fields {
			if b.get(f.name) == nil && (b.get("$ref") == nil || f.name == "description" || f.name == "title" || f.name == "default") {
				b.set(f.name, f.value)
			}
		}
		if null {
			b.set("nullable", leaf(true))
		}
		return c.node(b, depth+1)
	}
	list := &node{kind: '['}
	seen := map[string]bool{}
	for _, b := range kept {
		if b.isObject() {
			b = c.clone(b)
			for _, f := range n.fields { // a common part is part of every branch
				if f.name != "description" && f.name != "title" && f.name != "default" && f.name != "examples" && b.get(f.name) == nil {
					b.set(f.name, f.value)
				}
			}
		}
		compiled := c.node(b, depth+1)
		if key := string(compiled.bytes()); !seen[key] {
			seen[key] = true
			list.items = append(list.items, compiled)
		}
	}
	if len(list.items) == 1 {
		return list.items[0]
	}
	out := object()
	about := n.get("description")
	if about != nil && !c.AloneAnyOf {
		out.set("description", about)
	}
	if about != nil && c.AloneAnyOf && list.items[0].get("description") == nil {
		list.items[0].set("description", about)
	}
	if null && c.Null == "list" {
		list.items = append(list.items, object(field{"type", leaf("null")}))
	}
	out.set("anyOf", list)
	if null && c.Null == "flag" {
		out.set("nullable", leaf(true))
	}
	return out
}

func (c *compiler) nullable(out *node, kind string) {
	switch c.Null {
	case "flag":
		out.set("nullable", leaf(true))
	case "list":
		out.set("type", &node{kind: '[', items: []*node{leaf(kind), leaf("null")}})
		if e := out.get("enum"); e != nil && !slices.ContainsFunc(e.items, (*node).isNull) {
			e.items = append(e.items, leaf(nil))
		}
	}
}

// required keeps the names that exist.
func (c *compiler) required(out *node) {
	list := out.get("required")
	if list == nil {
		return
	}
	props := out.get("properties")
	var kept []*node
	seen := map[string]bool{}
	for _, r := range list.items {
		if name := r.text(); r.isText() && props.get(name) != nil && !seen[name] {
			seen[name] = true
			kept = append(kept, r)
		}
	}
	if len(kept) == 0 {
		out.drop("required")
		return
	}
	out.set("required", &node{kind: '[', items: kept})
}
