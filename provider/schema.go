package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Dialect is the part of JSON Schema that a service takes for the parameters
// of a tool.
type Dialect struct {
	Name string

	// Null says how a value that may be null is written: "list" as a list of
	// types, "flag" as nullable: true, "" not at all, since a field that may be
	// null may be left out as well.
	Null string

	TextEnums  bool     // enums hold text and nothing else, and no empty text
	AloneAnyOf bool     // nothing may stand beside anyOf
	EmptyBare  bool     // an object without properties is written without the word, and as no parameters at the top
	Keywords   []string // what may be written; nil: whatever is no known trouble
	Formats    []string // of text that may be named; nil: any
	NoPatterns bool     // pattern and format are left out: llama.cpp's grammars know few of them
}

// The dialects of the wires.
var (
	DialectOpenAI    = Dialect{Name: "openai", Null: "list"}
	DialectCommon    = Dialect{Name: "common"} // what all OpenAI-compatible servers understand
	DialectAnthropic = Dialect{Name: "anthropic", Null: "list"}
	DialectGemini    = Dialect{
		Name: "gemini", Null: "flag", TextEnums: true, AloneAnyOf: true, EmptyBare: true,
		Keywords: []string{
			"type", "description", "title", "format", "nullable", "enum", "items", "properties", "required", "minItems", "maxItems",
			"minimum", "maximum", "minLength", "maxLength", "pattern", "anyOf", "propertyOrdering",
		},
		Formats: []string{"enum", "date-time"},
	}
)

// trouble is what some service refuses and no model needs.
var trouble = []string{
	"$schema", "$id", "$comment", "$anchor", "$defs", "definitions", "if", "then", "else", "not", "nullable",
	"dependentRequired", "dependentSchemas", "unevaluatedProperties", "unevaluatedItems", "contentEncoding", "contentMediaType",
	"readOnly", "writeOnly", "deprecated", "example", "strict", "optional", "discriminator", "xml", "externalDocs",
}

// Compile translates the parameters of a tool. Equal input gives equal bytes.
// The result is nil when the dialect wants no parameters at all. An error says
// what no service could take; the tool is then left out.
func (d Dialect) Compile(parameters json.RawMessage) (json.RawMessage, error) {
	if len(trimSpace(parameters)) == 0 {
		parameters = json.RawMessage("null")
	}
	root, err := parseNode(parameters)
	if err != nil {
		return nil, fmt.Errorf("its parameters cannot be used: %w", err)
	}
	c := compiler{Dialect: d, root: root}
	if !root.isObject() {
		root = object()
	}
	out := c.top(root)
	if c.err != nil {
		return nil, fmt.Errorf("its parameters cannot be used: %w", c.err)
	}
	if d.EmptyBare && len(out.get("properties").fieldsOf()) == 0 {
		return nil, nil
	}
	return out.bytes(), nil
}

func (n *node) fieldsOf() []field {
	if n == nil {
		return nil
	}
	return n.fields
}

type compiler struct {
	Dialect
	root  *node
	refs  []string // the references that are being followed
	nodes int
	err   error
}

// maxNodes bounds the work: what inlined references and joined alternatives
// may blow a schema up to.
const maxNodes = 100_000

// clone copies the structure; plain values are shared. Every copy counts.
func (c *compiler) clone(n *node) *node {
	if n == nil {
		return nil
	}
	if c.nodes++; c.nodes > maxNodes || c.err != nil {
		c.fail(errors.New("it is too large once its references are resolved"))
		return object()
	}
	out := *n
	out.fields = slices.Clone(n.fields)
	for i := range out.fields {
		out.fields[i].value = c.clone(out.fields[i].value)
	}
	out.items = slices.Clone(n.items)
	for i := range out.items {
		out.items[i] = c.clone(out.items[i])
	}
	return &out
}

// top compiles the parameters themselves, which are an object everywhere.
func (c *compiler) top(n *node) *node {
	n = c.resolve(n, func(n *node) *node { return c.flat(c.clone(n), 0) })
	n.drop("enum", "const", "nullable", "default")
	n.set("type", leaf("object"))
	out := c.node(n, 0)
	if out.get("properties") == nil {
		out.set("properties", object())
	}
	return out
}

// flat joins the fields of all alternatives, since most services refuse a
// choice at the top.
func (c *compiler) flat(n *node, depth int) *node {
	if depth > maxDepth {
		c.fail(errTooDeep)
		return object()
	}
	n = c.joined(n)
	for _, word := range []string{"anyOf", "oneOf"} {
		branches := n.get(word)
		if branches == nil {
			continue
		}
		n.drop(word)
		for _, b := range branches.items {
			merge(n, c.resolve(b, func(b *node) *node { return c.flat(c.clone(b), depth+1) }), false)
		}
	}
	return n
}

// resolve follows n's reference, if it is one, and hands on what it stands
// for. Inside of itself a reference stands for any object.
func (c *compiler) resolve(n *node, then func(*node) *node) *node {
	ref := n.get("$ref").text()
	if c.err != nil {
		return object()
	}
	if ref == "" {
		return then(n)
	}
	if slices.Contains(c.refs, ref) {
		return c.freeObject()
	}
	target := c.lookup(ref)
	if target == nil {
		c.fail(fmt.Errorf("it refers to %s, which is not there", ref))
		return object()
	}
	target = c.clone(target)
	if !target.isObject() {
		target = object()
	}
	for _, f := range n.fields { // what stands beside a reference wins
		if f.name != "$ref" {
			target.set(f.name, f.value)
		}
	}
	c.refs = append(c.refs, ref)
	out := c.resolve(target, then)
	c.refs = c.refs[:len(c.refs)-1]
	return out
}

func (c *compiler) lookup(ref string) *node {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	if path, err := url.PathUnescape(path); err == nil {
		n := c.root
		for step := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
			if step == "" {
				continue
			}
			n = n.get(strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
		}
		return n
	}
	return nil
}

func (c *compiler) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// joined merges the parts of allOf into the node.
func (c *compiler) joined(n *node) *node {
	all := n.get("allOf")
	if all == nil {
		return n
	}
	n.drop("allOf")
	for _, part := range all.items {
		merge(n, c.resolve(part, func(p *node) *node { return c.joined(c.clone(p)) }), true)
	}
	return n
}

// merge adds what from has and into lacks; both is whether both apply, so that
// what one requires is required.
func merge(into, from *node, both bool) {
	for _, f := range from.fieldsOf() {
		have := into.get(f.name)
		switch {
		case f.name == "properties" && have.isObject():
			for _, p := range f.value.fieldsOf() {
				if have.get(p.name) == nil {
					have.set(p.name, p.value)
				}
			}
		case f.name == "required":
			if both && have != nil {
				for _, name := range f.value.items {
					if !slices.ContainsFunc(have.items, func(x *node) bool { return string(x.raw) == string(name.raw) }) {
						have.items = append(have.items, name)
					}
				}
			} else if both {
				into.set(f.name, f.value)
			}
		case have == nil:
			into.set(f.name, f.value)
		}
	}
}

func (c *compiler) node(n *node, depth int) *node {
	switch {
	case depth > maxDepth:
		c.fail(errTooDeep)
		return object()
	case c.err != nil:
		return object()
	}
	if n.isText() { // a bare name of a type
		if t := n.text(); isType(t) {
			return c.node(object(field{"type", leaf(t)}), depth)
		}
	}
	if !n.isObject() { // true, or nonsense: anything goes
		return c.anything()
	}
	return c.resolve(n, func(n *node) *node { return c.build(c.joined(c.clone(n)), depth) })
}

// anything is a value of any kind. Only an empty schema says so, and services
// that demand a type are told of text.
func (c *compiler) anything() *node {
	if c.Keywords != nil {
		return object(field{"type", leaf("string")})
	}
	return object()
}

// freeObject is an object with whatever fields.
func (c *compiler) freeObject() *node {
	o := object(field{"type", leaf("object")})
	if !c.EmptyBare {
		o.set("properties", object())
	}
	return o
}

func isType(s string) bool {
	switch s {
	case "string", "integer", "number", "boolean", "object", "array", "null":
		return true
	}
	return false
}
