package config

import (
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// scalarTree types a scalar as the original's reader does (YAML 1.1), with two
// exceptions where that reader surprises everybody: times such as 12:30 and
// dates stay text.
func scalarTree(n *yaml.Node) *tree {
	t := &tree{kind: textKind, text: n.Value, line: n.Line}
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		if tag := n.ShortTag(); n.Style&yaml.TaggedStyle == 0 || tag == "!!str" {
			return t
		}
	}
	if n.Style&yaml.TaggedStyle != 0 {
		switch n.ShortTag() {
		case "!!str", "!!binary":
			return t
		case "!!bool", "!!int", "!!float", "!!null":
		default:
			return t
		}
	}
	t.kind, t.val = resolve(n.Value)
	if t.kind == textKind && n.ShortTag() == "!!float" && n.Style&yaml.TaggedStyle != 0 {
		if f, err := strconv.ParseFloat(n.Value, 64); err == nil {
			t.kind, t.val = floatKind, f
		}
	}
	return t
}

// resolve gives the type a plain scalar has in YAML 1.1.
func resolve(s string) (kind, any) {
	if len(s) > 64 {
		return textKind, nil
	}
	switch s {
	case "", "~", "null", "Null", "NULL":
		return nullKind, nil
	case "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
		return boolKind, true
	case "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
		return boolKind, false
	}
	switch c := s[0]; {
	case c >= '0' && c <= '9', c == '+', c == '-', c == '.':
	default:
		return textKind, nil
	}
	if v, ok := parseInt(s); ok {
		return intKind, v
	}
	if v, ok := parseFloat(s); ok {
		return floatKind, v
	}
	return textKind, nil
}

func cutSign(s string) (neg bool, rest string) {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		return s[0] == '-', s[1:]
	}
	return false, s
}

func only(s, set string) bool { return s != "" && strings.Trim(s, set) == "" }

const digits = "0123456789"

func parseInt(s string) (int64, bool) {
	neg, body := cutSign(s)
	base := 10
	switch {
	case strings.HasPrefix(body, "0b") && only(body[2:], "01_"):
		base, body = 2, body[2:]
	case strings.HasPrefix(body, "0x") && only(body[2:], digits+"abcdefABCDEF_"):
		base, body = 16, body[2:]
	case len(body) > 1 && body[0] == '0' && only(body[1:], "01234567_"):
		base, body = 8, body[1:]
	case body == "0", only(body, digits+"_") && body[0] >= '1' && body[0] <= '9':
	default:
		return 0, false
	}
	body = strings.ReplaceAll(body, "_", "")
	if neg {
		body = "-" + body
	}
	v, err := strconv.ParseInt(body, base, 64)
	return v, err == nil
}

func parseFloat(s string) (float64, bool) {
	neg, body := cutSign(s)
	switch body {
	case ".inf", ".Inf", ".INF":
		if neg {
			return math.Inf(-1), true
		}
		return math.Inf(1), true
	case ".nan", ".NaN", ".NAN":
		return math.NaN(), body == s
	}
	whole, frac, dot := strings.Cut(body, ".")
	if !dot || (whole == "" && (frac == "" || !only(frac[:1], digits))) {
		return 0, false
	}
	if whole != "" && (!only(whole, digits+"_") || whole[0] == '_') {
		return 0, false
	}
	mant, exp, has := frac, "", false
	if i := strings.IndexAny(frac, "eE"); i >= 0 {
		mant, exp, has = frac[:i], frac[i+1:], true
	}
	if mant != "" && !only(mant, digits+"_") {
		return 0, false
	}
	if has { // the sign of the exponent is not optional in YAML 1.1
		if len(exp) < 2 || (exp[0] != '+' && exp[0] != '-') || !only(exp[1:], digits) {
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	return f, err == nil
}
