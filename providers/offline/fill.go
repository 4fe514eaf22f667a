package offline

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// fill makes arguments from a sentence: JSON and key=value pairs first, then
// words of an enum, then numbers and yes or no, then the rest of the text for
// the first string that is still missing. What cannot be found is left out;
// the registry names it, and the model says so.
func fill(parameters json.RawMessage, text string) map[string]any {
	props := properties(parameters)
	f := filling{args: map[string]any{}, text: strings.TrimSpace(text)}
	f.object()
	f.pairs(props)
	for _, p := range props {
		if len(p.enum) > 0 {
			f.word(p)
		}
	}
	for _, p := range props {
		if p.required && !f.has(p.name) {
			f.value(p)
		}
	}
	f.strings(props)
	return f.args
}

type filling struct {
	args map[string]any
	text string // what no argument has used yet
}

func (f *filling) has(name string) bool {
	_, ok := f.args[name]
	return ok
}

// object takes a JSON object out of the text.
func (f *filling) object() {
	const mostTries = 20
	tries := 0
	for i := 0; i < len(f.text) && tries < mostTries; i++ {
		if f.text[i] != '{' || i > 0 && !space(f.text[i-1]) {
			continue // key={...} is the value of a pair
		}
		tries++
		dec := json.NewDecoder(strings.NewReader(f.text[i:]))
		dec.UseNumber()
		var m map[string]any
		if dec.Decode(&m) == nil && m != nil {
			f.args = m
			f.cut(i, i+int(dec.InputOffset()))
			return
		}
	}
}

// pairs takes key=value for every key that the tool knows.
func (f *filling) pairs(props []property) {
	for _, p := range props {
		at, ok := f.key(p.name)
		if !ok {
			continue
		}
		from := at + len(p.name) + 1
		to, value := from, ""
		if from < len(f.text) {
			value, to = valueAt(f.text, from)
		}
		if !f.has(p.name) {
			f.args[p.name] = typed(p, value)
		}
		f.cut(at, to)
	}
}

// key finds NAME= at the beginning of a word.
func (f *filling) key(name string) (int, bool) {
	for i := 0; i+len(name) < len(f.text); i++ {
		if f.text[i+len(name)] == '=' && strings.EqualFold(f.text[i:i+len(name)], name) && (i == 0 || space(f.text[i-1]) || f.text[i-1] == ',') {
			return i, true
		}
	}
	return 0, false
}

// valueAt reads a quoted text, a JSON list or object, or a word.
func valueAt(s string, from int) (value string, to int) {
	switch s[from] {
	case '"', '\'', '`':
		if end := closing(s, from); end > 0 {
			return unquote(s[from : end+1]), end + 1
		}
	case '[', '{':
		dec := json.NewDecoder(strings.NewReader(s[from:]))
		var raw json.RawMessage
		if dec.Decode(&raw) == nil {
			return string(raw), from + int(dec.InputOffset())
		}
	}
	to = len(s)
	if i := strings.IndexAny(s[from:], " \t\r\n"); i >= 0 {
		to = from + i
	}
	return strings.TrimRight(s[from:to], ",;"), to
}

// typed gives a text the type that the schema wants where it fits; otherwise
// it stays text and the registry judges it.
func typed(p property, text string) any {
	switch p.kind {
	case "integer", "number":
		if isNumber(text) {
			return json.Number(text)
		}
	case "boolean":
		switch strings.ToLower(text) {
		case "true", "yes", "on":
			return true
		case "false", "no", "off":
			return false
		}
	case "array":
		var list []any
		if json.Unmarshal([]byte(text), &list) == nil {
			return list
		}
		list = []any{}
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part != "" {
				list = append(list, part)
			}
		}
		return list
	case "object":
		var m map[string]any
		if json.Unmarshal([]byte(text), &m) == nil && m != nil {
			return m
		}
	}
	return text
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil && json.Valid([]byte(s))
}

// word takes the longest value of an enum that stands in the text.
func (f *filling) word(p property) {
	if f.has(p.name) {
		return
	}
	values := slices.Clone(p.enum)
	slices.SortStableFunc(values, func(a, b string) int { return len(b) - len(a) })
	for _, v := range values {
		for i := 0; i+len(v) <= len(f.text); i++ {
			if strings.EqualFold(f.text[i:i+len(v)], v) && wordEnds(f.text[:i], f.text[i+len(v):]) {
				f.args[p.name] = v
				f.cut(i, i+len(v))
				return
			}
		}
	}
}

func wordEnds(before, behind string) bool {
	b, _ := utf8.DecodeLastRuneInString(before)
	a, _ := utf8.DecodeRuneInString(behind)
	return !wordRune(b) && !wordRune(a)
}

func wordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// value finds one required argument that is no text.
func (f *filling) value(p property) {
	if len(p.standard) > 0 && (p.kind != "string" || len(p.enum) > 0) && !(p.kind == "integer" || p.kind == "number") {
		f.args[p.name] = p.standard
		return
	}
	switch {
	case len(p.enum) > 0:
		f.args[p.name] = p.enum[0]
	case p.kind == "integer" || p.kind == "number":
		f.firstWord(p, isNumber)
		if !f.has(p.name) && len(p.standard) > 0 {
			f.args[p.name] = p.standard
		}
	case p.kind == "boolean":
		f.firstWord(p, func(s string) bool { _, ok := typed(p, s).(bool); return ok })
		if !f.has(p.name) {
			f.args[p.name] = false
		}
	case p.kind == "array":
		f.args[p.name] = typed(p, f.rest())
		f.text = ""
	}
}

// firstWord takes the first word of the text that fits.
func (f *filling) firstWord(p property, fits func(string) bool) {
	for i := 0; i < len(f.text); i++ {
		if space(f.text[i]) || i > 0 && !space(f.text[i-1]) {
			continue
		}
		value, to := valueAt(f.text, i)
		if value = strings.TrimRight(value, ".?!:"); fits(value) {
			f.args[p.name] = typed(p, value)
			f.cut(i, to)
			return
		}
	}
}

// strings gives the rest of the text to the strings that are missing: quoted
// parts one by one, what is left to the first. A tool that requires no text
// gets it in its first optional one.
func (f *filling) strings(props []property) {
	var missing []property
	wantsText := false
	for _, p := range props {
		isText := (p.kind == "string" || p.kind == "") && len(p.enum) == 0
		wantsText = wantsText || isText && p.required
		if isText && !f.has(p.name) && (p.required || !wantsText && len(missing) == 0) {
			missing = append(missing, p)
		}
	}
	for several := len(missing) > 1; several && len(missing) > 0; {
		i := slices.Index(quotes(f.text), true)
		if i < 0 {
			break
		}
		value, to := valueAt(f.text, i)
		f.args[missing[0].name] = value
		f.cut(i, to)
		missing = missing[1:]
	}
	if rest := f.rest(); len(missing) > 0 && rest != "" {
		f.args[missing[0].name] = rest
	}
}

// rest is the unused text without the small words that tied it together.
func (f *filling) rest() string {
	s := strings.Trim(f.text, " \t\r\n,;:")
	for {
		before := s
		for _, w := range [...]string{"in", "for", "with", "to", "on", "of", "from", "and", "using", "please", "as", "at"} {
			if strings.EqualFold(s, w) {
				return ""
			}
			if rest, ok := after(s, w); ok {
				s = rest
			}
			if n := len(s) - len(w); n > 0 && space(s[n-1]) && strings.EqualFold(s[n:], w) {
				s = strings.TrimRight(s[:n], " \t\r\n,;:")
			}
		}
		if s == before {
			break
		}
	}
	if q := unquote(s); q != s {
		return q
	}
	return strings.TrimRight(s, "?!")
}

// cut takes a part out of the text.
func (f *filling) cut(from, to int) {
	f.text = strings.TrimSpace(strings.TrimRight(f.text[:from], " ") + " " + strings.TrimLeft(f.text[to:], " "))
}
