package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// style is how text is to be written where there is a choice.
type style uint8

const (
	anyStyle style = iota
	singleStyle
	doubleStyle
)

func styleOf(n *yaml.Node) style {
	switch {
	case n == nil:
	case n.Style&yaml.SingleQuotedStyle != 0:
		return singleStyle
	case n.Style&yaml.DoubleQuotedStyle != 0:
		return doubleStyle
	}
	return anyStyle
}

// inline writes a value on one line.
func inline(t *tree, flow bool, st style) string {
	switch t.kind {
	case nullKind:
		return "null"
	case boolKind:
		return strconv.FormatBool(t.val.(bool))
	case intKind:
		if k, v := resolve(t.text); k == intKind && v == t.val {
			return t.text
		}
		return strconv.FormatInt(t.val.(int64), 10)
	case floatKind:
		if k, v := resolve(t.text); k == floatKind && v == t.val {
			return t.text
		}
		return floatText(t.val.(float64))
	case listKind:
		parts := make([]string, len(t.list))
		for i, v := range t.list {
			parts[i] = inline(v, true, st)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case mapKind:
		parts := make([]string, len(t.keys))
		for i, k := range t.keys {
			parts[i] = quote(k, true, anyStyle) + ": " + inline(t.m[k], true, st)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return quote(t.text, flow, st)
}

// floatText writes a float so that readers of YAML 1.1 and 1.2 both see one.
func floatText(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return ".inf"
	case math.IsInf(f, -1):
		return "-.inf"
	case math.IsNaN(f):
		return ".nan"
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// quote writes text as a YAML scalar: plain where no reader could take it for
// anything else.
func quote(s string, flow bool, st style) string {
	if st == anyStyle && plainSafe(s, flow) {
		return s
	}
	if st != doubleStyle && printable(s) {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return doubleQuote(s)
}

func plainSafe(s string, flow bool) bool {
	if s == "" || !printable(s) || s != strings.TrimSpace(s) {
		return false
	}
	if k, _ := resolve(s); k != textKind {
		return false
	}
	if strings.IndexByte("-?:,[]{}#&*!|>'\"%@`=<~", s[0]) >= 0 || strings.HasPrefix(s, "...") {
		return false
	}
	if strings.Contains(s, ": ") || strings.Contains(s, " #") || strings.Contains(s, "\t") || strings.HasSuffix(s, ":") {
		return false
	}
	if flow && strings.ContainsAny(s, ",[]{}:") {
		return false
	}
	switch strings.ToLower(s) {
	case "yes", "no", "on", "off", "true", "false", "null", "nan", "inf":
		return false
	}
	// Numbers, dates and times of some YAML or other.
	c := s[0]
	return c < '0' || c > '9' && c != '+' && c != '.' || strings.Trim(strings.ToLower(s), "0123456789abcdefoxtz_+-:. ") != ""
}

// printable reports whether s can stand in single quotes on one line.
func printable(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if r == '\t' {
			continue
		}
		if !unicode.IsPrint(r) || r == '\u0085' || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r > 0xffff && !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

func doubleQuote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		case unicode.IsPrint(r) && r != '\ufeff':
			b.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// layout is how a file writes blocks.
type layout struct {
	step, list int
	nl         string
}

// entry writes "key: value" lines at column col; the value's lines follow in
// the file's manner. Scalars and empty collections stay on the key's line.
func (l layout) entry(b *strings.Builder, col int, key string, t *tree) {
	b.WriteString(strings.Repeat(" ", col) + quote(key, false, anyStyle) + ":")
	l.value(b, col, t)
}

// value writes what follows "key:".
func (l layout) value(b *strings.Builder, col int, t *tree) {
	switch {
	case t.kind == mapKind && len(t.keys) > 0:
		b.WriteString(l.nl)
		l.block(b, col+l.step, t)
	case t.kind == listKind && len(t.list) > 0:
		b.WriteString(l.nl)
		l.block(b, col+l.list, t)
	default:
		b.WriteString(" " + inline(t, false, anyStyle) + l.nl)
	}
}

// block writes a collection's lines at column col.
func (l layout) block(b *strings.Builder, col int, t *tree) {
	for _, k := range t.keys {
		l.entry(b, col, k, t.m[k])
	}
	for _, v := range t.list {
		l.item(b, col, v)
	}
}

// item writes "- value"; a map starts on the line of its dash.
func (l layout) item(b *strings.Builder, col int, t *tree) {
	pad := strings.Repeat(" ", col)
	if t.kind == mapKind && len(t.keys) > 0 {
		var inner strings.Builder
		l.block(&inner, col+2, t)
		b.WriteString(pad + "- " + strings.TrimLeft(inner.String(), " "))
		return
	}
	b.WriteString(pad + "- " + inline(t, false, anyStyle) + l.nl)
}
