package provider

import (
	"slices"
	"strings"
)

// onlyFor names the keywords that make sense for one type and are refused by
// some service beside another.
func onlyFor(word string) string {
	switch word {
	case "properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties", "maxProperties", "propertyOrdering":
		return "object"
	case "items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains":
		return "array"
	case "minLength", "maxLength", "pattern":
		return "string"
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return "number"
	}
	return ""
}

// keyword writes one field of a schema of a known type to out.
func (c *compiler) keyword(out, n *node, f field, kind string, depth int) {
	if only := onlyFor(f.name); only != "" && kind != "" && only != kind && (only != "number" || kind != "integer") {
		return
	}
	v := f.value
	switch f.name {
	case "type": // written first
		return
	case "properties":
		if !v.isObject() {
			return
		}
		if len(v.fields) == 0 && c.EmptyBare && depth > 0 {
			return
		}
		props := object()
		for _, p := range v.fields {
			props.set(p.name, c.node(p.value, depth+1))
		}
		out.set("properties", props)
		return
	case "items":
		if v.kind == '[' { // an old way to write a tuple
			c.tuple(out, v.items, depth)
			return
		}
		out.set("items", c.item(v, depth))
		return
	case "prefixItems":
		if n.get("items").isObject() {
			return
		}
		c.tuple(out, v.items, depth)
		return
	case "enum", "const":
		c.enum(out, n, f, kind)
		return
	case "additionalProperties":
		if c.Keywords == nil {
			if v.isObject() {
				v = c.node(v, depth+1)
			}
			out.set(f.name, v)
		}
		return
	case "patternProperties", "propertyNames", "contains":
		return
	case "exclusiveMinimum", "exclusiveMaximum":
		if c.Keywords != nil { // a limit that is one too generous is better than none
			name := "minimum"
			if f.name == "exclusiveMaximum" {
				name = "maximum"
			}
			if n.get(name) == nil && v.kind == 0 && !v.isText() && v.raw[0] != 't' && v.raw[0] != 'f' {
				out.set(name, v)
			}
			return
		}
		if v.kind == 0 && (v.raw[0] == 't' || v.raw[0] == 'f') {
			return // draft 4's boolean form
		}
	case "description", "title":
		if !v.isText() || out.get(f.name) != nil { // an enum may have been told there
			return
		}
	case "required":
		if v.kind != '[' { // "required": true on a field, an old mistake
			return
		}
	case "format":
		if c.NoPatterns || !c.format(v.text(), kind) {
			return
		}
	case "pattern":
		if c.NoPatterns {
			return
		}
	case "default", "examples":
		if c.Null == "" && v.isNull() {
			return
		}
	}
	if slices.Contains(trouble, f.name) || strings.HasPrefix(f.name, "x-") || strings.HasPrefix(f.name, "$") {
		return
	}
	if c.Keywords != nil && !slices.Contains(c.Keywords, f.name) {
		return
	}
	out.set(f.name, v)
}

// item compiles what the elements of a list are; one that is nothing says so
// in the way that the service wants.
func (c *compiler) item(v *node, depth int) *node {
	if v.isObject() && len(v.fields) == 0 || !v.isObject() && !v.isText() {
		return c.anyItem()
	}
	return c.node(v, depth+1)
}

// tuple writes a list of fixed places as a list of any of their kinds.
func (c *compiler) tuple(out *node, places []*node, depth int) {
	switch len(places) {
	case 0:
		out.set("items", c.anyItem())
	case 1:
		out.set("items", c.item(places[0], depth))
	default:
		out.set("items", c.node(object(field{"anyOf", &node{kind: '[', items: places}}), depth+1))
	}
}

// format says whether a format may be named beside a type.
func (c *compiler) format(name, kind string) bool {
	switch {
	case name == "":
		return false
	case c.Formats == nil:
		return true
	case kind == "string":
		return slices.Contains(c.Formats, name)
	case kind == "integer":
		return name == "int32" || name == "int64"
	case kind == "number":
		return name == "float" || name == "double"
	}
	return false
}

// enum writes the allowed values, or tells them in the description where the
// service takes only text.
func (c *compiler) enum(out, n *node, f field, kind string) {
	values := f.value.items
	if f.name == "const" {
		values = []*node{f.value}
	}
	if c.TextEnums && kind != "string" {
		c.tellEnum(out, n, values)
		return
	}
	var kept []*node
	for _, v := range values {
		switch {
		case v.isNull():
			continue // nullable says so
		case kind == "string" && !v.isText() && v.kind == 0: // a number among texts
			v = leaf(string(v.raw))
		}
		if c.Null != "list" && v.isText() && v.text() == "" {
			continue
		}
		kept = append(kept, v)
	}
	if len(kept) > 0 {
		out.set("enum", &node{kind: '[', items: kept})
	}
}

func (c *compiler) tellEnum(out, n *node, values []*node) {
	var names []string
	for _, v := range values {
		names = append(names, string(v.bytes()))
	}
	if len(names) == 0 {
		return
	}
	about := n.get("description").text()
	if about != "" && !strings.HasSuffix(about, " ") {
		about += " "
	}
	out.set("description", leaf(about+"Allowed values: "+strings.Join(names, ", ")+"."))
}
