package config

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// TypeError is one value that does not fit the field it is meant for.
type TypeError struct {
	Key  string
	Line int
	Want string
	Have string
}

func (e *TypeError) Error() string {
	at := ""
	if e.Line > 0 {
		at = fmt.Sprintf(" (line %d)", e.Line)
	}
	return fmt.Sprintf("config %s%s: want %s, have %s", e.Key, at, e.Want, e.Have)
}

// Decode lays the subtree at path over out, a pointer to a struct, map, slice
// or scalar that holds the defaults. Fields are named by their yaml tag, else
// by their name in snake_case; `yaml:",inline"` joins a struct. Text becomes a
// number or boolean where nothing is lost ("42", "yes"), any scalar becomes
// text as it is spelled in the file, one value becomes a list of one; a number
// for a time.Duration counts seconds. A key without a value leaves the default.
//
// Values that do not fit leave their field alone and are reported together,
// each as a *TypeError; everything else is still decoded. Keys without a field
// are ignored: Unknown lists those nobody knows.
func Decode(c *Config, path string, out any) error {
	v := reflect.ValueOf(out)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return fmt.Errorf("decode config %s: want a pointer, have %T", path, out)
	}
	var keys []string
	if path != "" {
		var err error
		if keys, err = SplitPath(path); err != nil {
			return err
		}
	}
	t := c.file.find(keys)
	if t == nil {
		return nil
	}
	var d decoder
	d.into(t, v.Elem(), path)
	return errors.Join(d.errs...)
}

type decoder struct{ errs []error }

func (d *decoder) fail(t *tree, key, want string) {
	have := t.kind.String()
	if t.kind != listKind && t.kind != mapKind && t.kind != nullKind {
		have = strconv.Quote(shorten(t.text))
	}
	d.errs = append(d.errs, &TypeError{Key: key, Line: t.line, Want: want, Have: have})
}

// shorten keeps a mistyped secret out of an error message.
func shorten(s string) string {
	if r := []rune(s); len(r) > 16 {
		return string(r[:8]) + "..."
	}
	return s
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func (d *decoder) into(t *tree, v reflect.Value, key string) {
	if v.Kind() == reflect.Pointer {
		if t.kind == nullKind {
			v.SetZero()
			return
		}
		p := reflect.New(v.Type().Elem())
		if !v.IsNil() {
			p.Elem().Set(v.Elem())
		}
		n := len(d.errs)
		d.into(t, p.Elem(), key)
		if len(d.errs) == n {
			v.Set(p)
		}
		return
	}
	if t.kind == nullKind {
		return
	}
	if reflect.PointerTo(v.Type()).Implements(textType) && t.kind != listKind && t.kind != mapKind {
		if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(t.text)); err != nil {
			d.fail(t, key, "a valid value: "+err.Error())
		}
		return
	}
	if v.Type() == durationType {
		if dur, ok := duration(t); ok {
			v.SetInt(int64(dur))
		} else {
			d.fail(t, key, "seconds or a duration such as 90s or 5m")
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		if t.kind == listKind || t.kind == mapKind {
			d.fail(t, key, "text")
			return
		}
		v.SetString(t.text)
	case reflect.Bool:
		if b, ok := asBool(t); ok {
			v.SetBool(b)
		} else {
			d.fail(t, key, "true or false")
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if n, ok := asInt(t); ok && !v.OverflowInt(n) {
			v.SetInt(n)
		} else {
			d.fail(t, key, "a whole number")
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if n, ok := asInt(t); ok && n >= 0 && !v.OverflowUint(uint64(n)) {
			v.SetUint(uint64(n))
		} else {
			d.fail(t, key, "a whole number that is not negative")
		}
	case reflect.Float32, reflect.Float64:
		if f, ok := asFloat(t); ok {
			v.SetFloat(f)
		} else {
			d.fail(t, key, "a number")
		}
	case reflect.Interface:
		if v.NumMethod() == 0 {
			v.Set(reflect.ValueOf(t.any()))
		} else {
			d.fail(t, key, "a value of "+v.Type().String())
		}
	case reflect.Slice:
		d.slice(t, v, key)
	case reflect.Map:
		d.mapping(t, v, key)
	case reflect.Struct:
		if t.kind != mapKind {
			d.fail(t, key, "a map of settings")
			return
		}
		d.structure(t, v, key)
	default:
		d.fail(t, key, "a value of "+v.Type().String())
	}
}

func (d *decoder) slice(t *tree, v reflect.Value, key string) {
	items := t.list
	switch t.kind {
	case mapKind:
		if v.Type().Elem().Kind() != reflect.Struct && v.Type().Elem().Kind() != reflect.Map {
			d.fail(t, key, "a list")
			return
		}
		items = []*tree{t}
	case textKind, boolKind, intKind, floatKind:
		items = []*tree{t}
		if t.kind == textKind && t.text == "" {
			items = nil
		}
	}
	out := reflect.MakeSlice(v.Type(), 0, len(items))
	for i, it := range items {
		e := reflect.New(v.Type().Elem()).Elem()
		n := len(d.errs)
		d.into(it, e, fmt.Sprintf("%s[%d]", key, i))
		if len(d.errs) == n {
			out = reflect.Append(out, e)
		}
	}
	v.Set(out)
}

func (d *decoder) mapping(t *tree, v reflect.Value, key string) {
	if t.kind != mapKind {
		d.fail(t, key, "a map")
		return
	}
	if v.Type().Key().Kind() != reflect.String {
		d.fail(t, key, "a map with text keys")
		return
	}
	out := reflect.MakeMapWithSize(v.Type(), len(t.keys)+v.Len())
	for it := v.MapRange(); it.Next(); {
		out.SetMapIndex(it.Key(), it.Value())
	}
	for _, k := range t.keys {
		name := reflect.ValueOf(k).Convert(v.Type().Key())
		e := reflect.New(v.Type().Elem()).Elem()
		if old := v.MapIndex(name); old.IsValid() {
			e.Set(old)
		}
		n := len(d.errs)
		d.into(t.m[k], e, join(key, k))
		if len(d.errs) == n {
			out.SetMapIndex(name, e)
		}
	}
	v.Set(out)
}

func (d *decoder) structure(t *tree, v reflect.Value, key string) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() && !f.Anonymous {
			continue
		}
		name, opts, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "-" {
			continue
		}
		if opts == "inline" || (f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct) {
			if f.Type.Kind() == reflect.Struct {
				d.structure(t, v.Field(i), key)
				continue
			}
		}
		if !f.IsExported() {
			continue
		}
		if name == "" {
			name = snake(f.Name)
		}
		if val := t.m[name]; val != nil {
			d.into(val, v.Field(i), join(key, name))
		}
	}
}

func join(key, k string) string {
	if key == "" {
		return JoinPath([]string{k})
	}
	return key + "." + JoinPath([]string{k})
}

// snake turns BaseURL into base_url and MaxTurns into max_turns.
func snake(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		up := c >= 'A' && c <= 'Z'
		if up && i > 0 {
			prevUp := s[i-1] >= 'A' && s[i-1] <= 'Z'
			nextLow := i+1 < len(s) && s[i+1] >= 'a' && s[i+1] <= 'z'
			if !prevUp || nextLow {
				b.WriteByte('_')
			}
		}
		if up {
			c += 'a' - 'A'
		}
		b.WriteByte(c)
	}
	return b.String()
}

func asBool(t *tree) (bool, bool) {
	switch t.kind {
	case boolKind:
		return t.val.(bool), true
	case intKind:
		n := t.val.(int64)
		return n == 1, n == 0 || n == 1
	case textKind:
		return parseBool(t.text)
	}
	return false, false
}

func parseBool(s string) (v, ok bool) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true", "yes", "on", "1":
		return true, true
	case "false", "no", "off", "0":
		return false, true
	}
	return false, false
}

func asInt(t *tree) (int64, bool) {
	switch t.kind {
	case intKind:
		return t.val.(int64), true
	case floatKind:
		f := t.val.(float64)
		return int64(f), f == math.Trunc(f) && math.Abs(f) < 1<<53
	case textKind:
		s := strings.TrimSpace(t.text)
		n, err := strconv.ParseInt(s, 10, 64)
		return n, err == nil
	}
	return 0, false
}

func asFloat(t *tree) (float64, bool) {
	switch t.kind {
	case intKind:
		return float64(t.val.(int64)), true
	case floatKind:
		return t.val.(float64), true
	case textKind:
		f, err := strconv.ParseFloat(strings.TrimSpace(t.text), 64)
		return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
	}
	return 0, false
}

func duration(t *tree) (time.Duration, bool) {
	if f, ok := asFloat(t); ok {
		return time.Duration(f * float64(time.Second)), math.Abs(f) < 1e9
	}
	if t.kind != textKind {
		return 0, false
	}
	d, err := time.ParseDuration(strings.TrimSpace(t.text))
	return d, err == nil
}
