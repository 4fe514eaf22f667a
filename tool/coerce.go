package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// arguments makes the model's arguments fit the schema without losing
// anything, and then judges them. The notes say what was read differently from
// how it was written, where that is not obvious.
func (s *schema) arguments(raw json.RawMessage) (json.RawMessage, []string, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		raw = json.RawMessage("{}")
	}
	v, err := decodeOne(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("they are no valid JSON: %w", err)
	}
	if _, ok := v.(map[string]any); !ok {
		return nil, nil, errors.New("they must be a JSON object")
	}
	f := fitting{}
	v = f.fit(v, s, "")
	if len(f.problems) > 0 {
		return nil, nil, errors.New(strings.Join(f.problems, "; "))
	}
	if !f.changed {
		return raw, nil, nil
	}
	b, err := marshal(v)
	return b, f.notes, err
}

// decodeOne reads exactly one JSON value and keeps numbers as they are written.
func decodeOne(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one JSON value")
	}
	return v, nil
}

// fitting coerces and validates in one walk.
type fitting struct {
	changed  bool
	notes    []string
	problems []string
}

func (f *fitting) problem(path, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if path == "" {
		f.problems = append(f.problems, text)
		return
	}
	f.problems = append(f.problems, "field "+path+": "+text)
}

func (f *fitting) fit(v any, s *schema, path string) any {
	if v == nil {
		if !s.nullable && len(s.types) > 0 {
			f.problem(path, "null is not %s", s.wanted())
		}
		return v
	}
	if text, ok := v.(string); ok && s.nullable && strings.EqualFold(text, "null") && !slices.Contains(s.types, "string") {
		f.changed = true
		return nil
	}
	if len(s.branches) > 0 {
		v = f.fitBranch(v, s, path)
	}
	if text, ok := v.(string); ok && s.prefersNumber(text) {
		f.changed = true
		v = json.Number(text)
	}
	if len(s.types) > 0 && !s.is(v) {
		fitted, ok := f.coerce(v, s, path)
		if !ok {
			f.problem(path, "%s is not %s", show(v), s.wanted())
			return v
		}
		f.changed = true
		v = fitted
	}
	switch v := v.(type) {
	case map[string]any:
		f.object(v, s, path)
	case []any:
		for i := range v {
			if s.items != nil {
				v[i] = f.fit(v[i], s.items, path+"["+strconv.Itoa(i)+"]")
			}
		}
		f.size(path, len(v), s.minItems, s.maxItems, "items")
	case string:
		f.size(path, utf8.RuneCountInString(v), s.minLen, s.maxLen, "characters")
	case json.Number:
		f.bounds(path, v, s)
	}
	if s.enum != nil {
		v = f.member(v, s, path)
	}
	return v
}

func (f *fitting) object(m map[string]any, s *schema, path string) {
	for _, name := range s.required {
		if _, ok := m[name]; !ok {
			f.problems = append(f.problems, "missing field "+join(path, name))
		}
	}
	if s.properties == nil && s.rest == nil && !s.closed {
		return
	}
	for name, v := range m {
		switch p := s.properties[name]; {
		case p != nil:
			if v == nil && !p.nullable && !slices.Contains(s.required, name) {
				delete(m, name) // null for an optional field means "not given"
				f.changed = true
				continue
			}
			m[name] = f.fit(v, p, join(path, name))
		case s.rest != nil:
			m[name] = f.fit(v, s.rest, join(path, name))
		case s.closed:
			f.problem(join(path, name), "it is not known; known are %s", strings.Join(s.order, ", "))
		}
	}
	slices.Sort(f.problems) // map order must not reach the model
}

// fitBranch takes the first branch that accepts v, as it is or coerced.
func (f *fitting) fitBranch(v any, s *schema, path string) any {
	for _, asIs := range []bool{true, false} {
		for _, b := range s.branches {
			if asIs && len(b.types) > 0 && !b.is(v) {
				continue
			}
			try := fitting{}
			fitted := try.fit(copyOf(v), b, path)
			if len(try.problems) == 0 {
				f.changed = f.changed || try.changed
				f.notes = append(f.notes, try.notes...)
				return fitted
			}
		}
	}
	f.problem(path, "%s fits none of the allowed forms", show(v))
	return v
}

func copyOf(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, x := range v {
			m[k] = copyOf(x)
		}
		return m
	case []any:
		l := make([]any, len(v))
		for i, x := range v {
			l[i] = copyOf(x)
		}
		return l
	default:
		return v
	}
}

// is reports whether v has one of the schema's types already.
func (s *schema) is(v any) bool {
	for _, t := range s.types {
		switch x := v.(type) {
		case string:
			if t == "string" {
				return true
			}
		case bool:
			if t == "boolean" {
				return true
			}
		case json.Number:
			if t == "number" || t == "integer" && isInteger(x) && !strings.ContainsAny(x.String(), ".eE") {
				return true
			}
		case map[string]any:
			if t == "object" {
				return true
			}
		case []any:
			if t == "array" {
				return true
			}
		}
	}
	return false
}

// prefersNumber reports whether text is a number, written as a number is, for
// a schema that takes both and names the number first.
func (s *schema) prefersNumber(text string) bool {
	i := slices.IndexFunc(s.types, func(t string) bool { return t == "integer" || t == "number" })
	if i < 0 || slices.Index(s.types, "string") < i || s.enum != nil {
		return false
	}
	n, ok := toNumber(text, s.types[i] == "integer")
	return ok && n == json.Number(text)
}

// coerce tries the schema's types in their order.
func (f *fitting) coerce(v any, s *schema, path string) (any, bool) {
	for _, t := range s.types {
		var fitted any
		ok := false
		switch t {
		case "integer":
			fitted, ok = toNumber(v, true)
		case "number":
			fitted, ok = toNumber(v, false)
		case "boolean":
			fitted, ok = toBool(v)
		case "string":
			fitted, ok = toText(v)
		case "object":
			fitted, ok = fromJSON[map[string]any](v)
		case "array":
			if fitted, ok = fromJSON[[]any](v); !ok {
				fitted, ok = []any{v}, true
				f.notes = append(f.notes, fmt.Sprintf("field %s: one value was taken as a list of one", path))
			}
		}
		if ok {
			return fitted, true
		}
	}
	return nil, false
}

func toNumber(v any, whole bool) (any, bool) {
	var text string
	switch x := v.(type) {
	case json.Number:
		text = x.String()
	case string:
		text = strings.TrimSpace(x)
	default:
		return nil, false
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) || strings.ContainsAny(text, "xX_") {
		return nil, false
	}
	if n == math.Trunc(n) && math.Abs(n) < 1<<53 {
		return json.Number(strconv.FormatInt(int64(n), 10)), true
	}
	if whole {
		// Beyond a float's exact range only the digits themselves are lossless.
		_, err := strconv.ParseInt(text, 10, 64)
		return json.Number(text), err == nil
	}
	if !json.Valid([]byte(text)) { // "+1.5" or ".5": numbers, but not in JSON
		text = strconv.FormatFloat(n, 'g', -1, 64)
	}
	return json.Number(text), true
}

func isInteger(n json.Number) bool {
	_, ok := toNumber(n, true)
	return ok
}

func toBool(v any) (any, bool) {
	var text string
	switch x := v.(type) {
	case string:
		text = x
	case json.Number:
		text = x.String()
	}
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "yes", "on", "1":
		return true, true
	case "false", "no", "off", "0":
		return false, true
	}
	return nil, false
}

func toText(v any) (any, bool) {
	switch x := v.(type) {
	case json.Number:
		return x.String(), true
	case bool:
		return strconv.FormatBool(x), true
	}
	return nil, false
}

func fromJSON[T any](v any) (any, bool) {
	text, ok := v.(string)
	if !ok {
		return nil, false
	}
	out, err := decodeOne([]byte(text))
	if err != nil {
		return nil, false
	}
	_, ok = out.(T)
	return out, ok
}

// member finds v among the allowed values; the values' own types decide.
func (f *fitting) member(v any, s *schema, path string) any {
	text := show(v)
	for _, allowed := range s.enum {
		if show(allowed) == text {
			return v
		}
	}
	// "1" for the number 1 is the same answer, written as text.
	for _, allowed := range s.enum {
		if fmt.Sprint(allowed) == fmt.Sprint(v) {
			f.changed = true
			return allowed
		}
	}
	names := make([]string, len(s.enum))
	for i, allowed := range s.enum {
		names[i] = show(allowed)
	}
	f.problem(path, "%s is not one of %s", text, strings.Join(names, ", "))
	return v
}

func (f *fitting) bounds(path string, n json.Number, s *schema) {
	x, err := n.Float64()
	switch {
	case err != nil:
		f.problem(path, "%s is out of range", n)
	case s.min != nil && x < *s.min:
		f.problem(path, "%s is less than %v", n, *s.min)
	case s.max != nil && x > *s.max:
		f.problem(path, "%s is more than %v", n, *s.max)
	}
}

func (f *fitting) size(path string, n int, lo, hi *int, unit string) {
	switch {
	case lo != nil && n < *lo:
		f.problem(path, "%d %s are fewer than %d", n, unit, *lo)
	case hi != nil && n > *hi:
		f.problem(path, "%d %s are more than %d", n, unit, *hi)
	}
}

func (s *schema) wanted() string {
	names := slices.Clone(s.types)
	if s.nullable {
		names = append(names, "null")
	}
	for i, n := range names {
		switch n {
		case "integer", "array", "object":
			names[i] = "an " + n
		case "null":
		default:
			names[i] = "a " + n
		}
	}
	return strings.Join(names, " or ")
}

// show writes a value as JSON, cut to what fits in an error.
func show(v any) string {
	b, err := marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	const most = 80
	if len(b) > most {
		return strings.ToValidUTF8(string(b[:most]), "") + "..."
	}
	return string(b)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
