package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

var emptyParameters = json.RawMessage(`{"type":"object","properties":{}}`)

// parametersOf finds the parameters in any of the shapes in which tools state
// their schema: the parameters themselves, {name, description, parameters},
// or the same inside {"type":"function","function":{...}}.
func parametersOf(raw json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(raw)) == 0 || bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return emptyParameters, nil
	}
	var shape struct {
		Type       json.RawMessage `json:"type"`
		Function   json.RawMessage `json:"function"`
		Parameters json.RawMessage `json:"parameters"`
		Properties json.RawMessage `json:"properties"`
		Name       string          `json:"name"`
	}
	if err := json.Unmarshal(raw, &shape); err != nil {
		return nil, fmt.Errorf("schema is no JSON object: %w", err)
	}
	switch {
	case string(shape.Type) == `"function"` && shape.Function != nil:
		return parametersOf(shape.Function)
	case shape.Parameters != nil && shape.Properties == nil:
		return parametersOf(shape.Parameters)
	case shape.Type == nil && shape.Properties == nil && shape.Name != "":
		return emptyParameters, nil // a definition without parameters
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, err
	}
	return compact.Bytes(), nil
}

// schema is a JSON Schema node reduced to what coercion and validation use.
type schema struct {
	types      []string // empty: any
	nullable   bool
	properties map[string]*schema
	order      []string
	required   []string
	closed     bool    // additionalProperties: false
	rest       *schema // additionalProperties as a schema
	items      *schema
	enum       []any
	branches   []*schema // anyOf or oneOf
	min, max   *float64
	minLen     *int
	maxLen     *int
	minItems   *int
	maxItems   *int
}

const maxSchemaDepth = 64

func compileSchema(raw json.RawMessage) (*schema, error) {
	v, err := decodeOne(raw)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	root, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("schema is not an object")
	}
	s := (&compiler{root: root}).node(root, 0)
	s.types = []string{"object"} // arguments always are one
	s.nullable = false
	return s, nil
}

type compiler struct{ root map[string]any }

func (c *compiler) node(v any, depth int) *schema {
	s := &schema{}
	m, ok := v.(map[string]any)
	if text, isText := v.(string); isText && isTypeName(text) {
		s.types = []string{text}
		return s
	}
	if !ok || depth > maxSchemaDepth {
		return s // a boolean schema, or one too deep to judge: anything goes
	}
	if ref, isRef := m["$ref"].(string); isRef {
		return c.node(c.resolve(ref), depth+1)
	}
	s.setTypes(m["type"])
	if b, isBool := m["nullable"].(bool); isBool && b {
		s.nullable = true
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		list, _ := m[key].([]any)
		for _, b := range list {
			if sub, isMap := b.(map[string]any); isMap && sub["type"] == "null" {
				s.nullable = true
				continue
			}
			s.branches = append(s.branches, c.node(b, depth+1))
		}
	}
	if props, isMap := m["properties"].(map[string]any); isMap {
		s.properties = make(map[string]*schema, len(props))
		for name, p := range props {
			s.properties[name] = c.node(p, depth+1)
			s.order = append(s.order, name)
		}
		slices.Sort(s.order)
	}
	if list, isList := m["required"].([]any); isList {
		for _, name := range list {
			if text, isText := name.(string); isText && s.properties[text] != nil {
				s.required = append(s.required, text)
			}
		}
	}
	switch rest := m["additionalProperties"].(type) {
	case bool:
		s.closed = !rest
	case map[string]any:
		s.rest = c.node(rest, depth+1)
	}
	if items, has := m["items"]; has {
		s.items = c.node(items, depth+1)
	}
	if list, isList := m["enum"].([]any); isList {
		s.enum = list
	}
	if value, has := m["const"]; has {
		s.enum = []any{value}
	}
	s.min, s.max = numberOf(m["minimum"]), numberOf(m["maximum"])
	s.minLen, s.maxLen = intOf(m["minLength"]), intOf(m["maxLength"])
	s.minItems, s.maxItems = intOf(m["minItems"]), intOf(m["maxItems"])
	return s
}

func (c *compiler) resolve(ref string) any {
	var at any = c.root
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	for part := range strings.SplitSeq(path, "/") {
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		m, isMap := at.(map[string]any)
		if !isMap {
			return nil
		}
		at = m[part]
	}
	return at
}

func (s *schema) setTypes(v any) {
	switch t := v.(type) {
	case string:
		s.types = []string{t}
	case []any:
		for _, one := range t {
			if text, ok := one.(string); ok {
				s.types = append(s.types, text)
			}
		}
	}
	if i := slices.Index(s.types, "null"); i >= 0 {
		s.types = slices.Delete(s.types, i, i+1)
		s.nullable = true
	}
}

func isTypeName(s string) bool {
	switch s {
	case "string", "integer", "number", "boolean", "object", "array", "null":
		return true
	}
	return false
}

func numberOf(v any) *float64 {
	n, ok := v.(json.Number)
	if !ok {
		return nil
	}
	f, err := n.Float64()
	if err != nil {
		return nil
	}
	return &f
}

func intOf(v any) *int {
	f := numberOf(v)
	if f == nil {
		return nil
	}
	i := int(*f)
	return &i
}

// deriveSchema builds parameters from a struct: json gives the name and
// whether the field is required, doc its description, enum its values
// (comma-separated), default, min and max what they say.
func deriveSchema[In any]() json.RawMessage {
	b, err := marshal(structSchema(reflect.TypeFor[In]()))
	if err != nil {
		panic(fmt.Sprintf("derive schema of %s: %v", reflect.TypeFor[In](), err))
	}
	return b
}

// object keeps keys in a fixed order, so that definitions are stable.
type object struct {
	Type        string          `json:"type"`
	Description string          `json:"description,omitempty"`
	Enum        []any           `json:"enum,omitempty"`
	Default     any             `json:"default,omitempty"`
	Minimum     *float64        `json:"minimum,omitempty"`
	Maximum     *float64        `json:"maximum,omitempty"`
	Items       *object         `json:"items,omitempty"`
	Properties  json.RawMessage `json:"properties,omitempty"`
	Required    []string        `json:"required,omitempty"`
}

func structSchema(t reflect.Type) *object {
	o := &object{Type: "object"}
	var props bytes.Buffer
	props.WriteByte('{')
	for f := range fieldsOf(t) {
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		if props.Len() > 1 {
			props.WriteByte(',')
		}
		key, _ := marshal(name) // a string always encodes
		value, err := marshal(fieldSchema(f))
		if err != nil {
			panic(fmt.Sprintf("derive schema of %s.%s: %v", t, f.Name, err))
		}
		props.Write(key)
		props.WriteByte(':')
		props.Write(value)
		if !strings.Contains(opts, "omitempty") && !strings.Contains(opts, "omitzero") {
			o.Required = append(o.Required, name)
		}
	}
	props.WriteByte('}')
	o.Properties = props.Bytes()
	return o
}

func fieldsOf(t reflect.Type) func(yield func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return
		}
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

func fieldSchema(f reflect.StructField) *object {
	o := typeSchema(f.Type)
	o.Description = f.Tag.Get("doc")
	if list := f.Tag.Get("enum"); list != "" {
		for v := range strings.SplitSeq(list, ",") {
			o.Enum = append(o.Enum, literal(o.Type, v))
		}
	}
	if v, ok := f.Tag.Lookup("default"); ok {
		o.Default = literal(o.Type, v)
	}
	o.Minimum, o.Maximum = bound(f, "min"), bound(f, "max")
	return o
}

func bound(f reflect.StructField, tag string) *float64 {
	v, ok := f.Tag.Lookup(tag)
	if !ok {
		return nil
	}
	n, err := strconv.ParseFloat(v, 64)
	if err != nil {
		panic(fmt.Sprintf("field %s: tag %s: %v", f.Name, tag, err))
	}
	return &n
}

func literal(kind, text string) any {
	switch kind {
	case "integer", "number", "boolean":
		return json.RawMessage(text)
	default:
		return text
	}
}

func typeSchema(t reflect.Type) *object {
	switch t.Kind() {
	case reflect.Pointer:
		return typeSchema(t.Elem())
	case reflect.String:
		return &object{Type: "string"}
	case reflect.Bool:
		return &object{Type: "boolean"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &object{Type: "integer"}
	case reflect.Float32, reflect.Float64:
		return &object{Type: "number"}
	case reflect.Slice, reflect.Array:
		return &object{Type: "array", Items: typeSchema(t.Elem())}
	case reflect.Struct:
		return structSchema(t)
	default: // maps and free values
		return &object{Type: "object"}
	}
}
