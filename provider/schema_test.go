package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestCompile(t *testing.T) {
	dialects := map[string]Dialect{"openai": DialectOpenAI, "common": DialectCommon, "anthropic": DialectAnthropic, "gemini": DialectGemini}
	plain := DialectCommon
	plain.NoPatterns = true
	dialects["plain"] = plain
	for _, c := range []struct {
		name, in string
		want     map[string]string // by dialect
	}{
		{"F-026 bare array", `{"type":"object","properties":{"c":{"type":"array"}}}`, map[string]string{
			"gemini": `{"type":"object","properties":{"c":{"type":"array","items":{"type":"string"}}}}`,
			"common": `{"type":"object","properties":{"c":{"type":"array","items":{"type":"string"}}}}`,
			"openai": `{"type":"object","properties":{"c":{"type":"array","items":{}}}}`,
		}},
		{"F-026 nested arrays", `{"type":"object","properties":{"c":{"type":"array","items":{"type":"array","items":{}}}}}`, map[string]string{
			"gemini": `{"type":"object","properties":{"c":{"type":"array","items":{"type":"array","items":{"type":"string"}}}}}`,
		}},
		{"F-027 numeric enum", `{"type":"object","properties":{"n":{"type":"number","enum":[-1,0,1],"description":"A step."}}}`, map[string]string{
			"gemini": `{"type":"object","properties":{"n":{"type":"number","description":"A step. Allowed values: -1, 0, 1."}}}`,
			"openai": `{"type":"object","properties":{"n":{"type":"number","enum":[-1,0,1],"description":"A step."}}}`,
		}},
		{"F-028 empty enum member", `{"type":"object","properties":{"s":{"type":"string","enum":["","a"]}}}`, map[string]string{
			"gemini": `{"type":"object","properties":{"s":{"type":"string","enum":["a"]}}}`,
			"common": `{"type":"object","properties":{"s":{"type":"string","enum":["a"]}}}`,
		}},
		{"F-029 type list at the top", `{"type":["object","null"],"properties":{}}`, map[string]string{
			"openai": `{"type":"object","properties":{}}`, "common": `{"type":"object","properties":{}}`, "gemini": ``,
		}},
		{"F-029 no type", `{"properties":{"a":{"type":"string"}}}`, map[string]string{"common": `{"properties":{"a":{"type":"string"}},"type":"object"}`}},
		{"F-029 null", `null`, map[string]string{"openai": `{"type":"object","properties":{}}`, "gemini": ``}},
		{"F-029 nothing", ``, map[string]string{"anthropic": `{"type":"object","properties":{}}`}},
		{"reference", `{"type":"object","properties":{"p":{"$ref":"#/$defs/P","description":"mine"}},"$defs":{"P":{"type":"object","description":"theirs","properties":{"x":{"type":"integer"}}}}}`, map[string]string{
			"common": `{"type":"object","properties":{"p":{"type":"object","description":"mine","properties":{"x":{"type":"integer"}}}}}`,
		}},
		{"cyclic reference", `{"type":"object","properties":{"n":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"object","properties":{"next":{"$ref":"#/$defs/N"}}}}}`, map[string]string{
			"common": `{"type":"object","properties":{"n":{"type":"object","properties":{"next":{"type":"object","properties":{}}}}}}`,
			"gemini": `{"type":"object","properties":{"n":{"type":"object","properties":{"next":{"type":"object"}}}}}`,
		}},
		{"a reference to the whole", `{"type":"object","properties":{"child":{"$ref":"#"}}}`, map[string]string{
			"common": `{"type":"object","properties":{"child":{"type":"object","properties":{"child":{"type":"object","properties":{}}}}}}`,
		}},
		{"type list", `{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"type":["string","integer"]}}}`, map[string]string{
			"openai": `{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}`,
			"common": `{"type":"object","properties":{"a":{"type":"string"},"b":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}`,
			"gemini": `{"type":"object","properties":{"a":{"type":"string","nullable":true},"b":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}`,
		}},
		{"null union", `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null,"description":"d"}}}`, map[string]string{
			"openai": `{"type":"object","properties":{"a":{"type":["string","null"],"default":null,"description":"d"}}}`,
			"common": `{"type":"object","properties":{"a":{"type":"string","description":"d"}}}`,
			"gemini": `{"type":"object","properties":{"a":{"type":"string","description":"d","nullable":true}}}`,
		}},
		{"anyOf stands alone", `{"type":"object","properties":{"a":{"description":"d","oneOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}}}`, map[string]string{
			"openai": `{"type":"object","properties":{"a":{"description":"d","anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}}}`,
			"gemini": `{"type":"object","properties":{"a":{"anyOf":[{"type":"string","description":"d"},{"type":"array","items":{"type":"string"}}]}}}`,
		}},
		{"choice at the top", `{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"type":"object","properties":{"b":{"type":"string"}}}]}`, map[string]string{
			"openai": `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`,
		}},
		{"allOf", `{"type":"object","allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}}}]}`, map[string]string{
			"openai": `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"]}`,
		}},
		{"stray keywords", `{"$schema":"x","type":"object","properties":{"a":{"type":"string","properties":{},"required":["x"],"format":"uri","x-order":1,"additionalProperties":false}},"additionalProperties":false,"required":["a","gone"]}`, map[string]string{
			"openai": `{"type":"object","properties":{"a":{"type":"string","format":"uri"}},"additionalProperties":false,"required":["a"]}`,
			"gemini": `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`,
			"plain":  `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false,"required":["a"]}`,
		}},
		{"a property called type", `{"type":"object","properties":{"type":{"type":"string"},"enum":{"type":"integer"}}}`, map[string]string{
			"gemini": `{"type":"object","properties":{"type":{"type":"string"},"enum":{"type":"integer"}}}`,
		}},
		{"bare names of types", `{"type":"object","properties":{"a":"string","b":true}}`, map[string]string{
			"common": `{"type":"object","properties":{"a":{"type":"string"},"b":{}}}`,
			"gemini": `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`,
		}},
		{"const", `{"type":"object","properties":{"a":{"const":"x"},"b":{"const":3}}}`, map[string]string{
			"gemini": `{"type":"object","properties":{"a":{"type":"string","enum":["x"]},"b":{"type":"number","description":"Allowed values: 3."}}}`,
		}},
		{"tuple", `{"type":"object","properties":{"a":{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}]}}}`, map[string]string{
			"openai": `{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"number"}]}}}}`,
		}},
		{"limits", `{"type":"object","properties":{"a":{"type":"integer","exclusiveMinimum":0,"maximum":9}}}`, map[string]string{
			"gemini": `{"type":"object","properties":{"a":{"type":"integer","minimum":0,"maximum":9}}}`,
			"openai": `{"type":"object","properties":{"a":{"type":"integer","exclusiveMinimum":0,"maximum":9}}}`,
		}},
	} {
		for name, want := range c.want {
			got, err := dialects[name].Compile(json.RawMessage(c.in))
			if err != nil {
				t.Errorf("%s, %s: %v", c.name, name, err)
			} else if !sameValue(string(got), want) {
				t.Errorf("%s, %s:\n got %s\nwant %s", c.name, name, got, want)
			}
		}
	}
}

// sameValue compares JSON without regard to the order of fields.
func sameValue(a, b string) bool {
	if a == "" || b == "" {
		return a == b
	}
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return bytes.Equal(p, q)
}

func TestCompileRefuses(t *testing.T) {
	deep := strings.Repeat(`{"type":"object","properties":{"a":`, 100) + `{}` + strings.Repeat("}}", 100)
	bomb := `{"type":"object","properties":{"x":{"$ref":"#/$defs/a0"}},"$defs":{`
	for i := range 12 {
		ref := `"#/$defs/a` + string(rune('a'+i)) + `"`
		name := "a0"
		if i > 0 {
			name = "a" + string(rune('a'+i-1))
		}
		bomb += `"` + name + `":{"type":"object","properties":{"1":{"$ref":` + ref + `},"2":{"$ref":` + ref + `},"3":{"$ref":` + ref + `}}},`
	}
	bomb += `"al":{"type":"string"}}}`
	for name, in := range map[string]string{
		"no JSON": `{"type":`, "two values": `{} {}`, "lost reference": `{"properties":{"a":{"$ref":"#/$defs/gone"}}}`,
		"remote reference": `{"properties":{"a":{"$ref":"https://example.com/s.json"}}}`, "deep": deep, "bomb": bomb,
	} {
		if got, err := DialectCommon.Compile(json.RawMessage(in)); err == nil {
			t.Errorf("%s: got %.200s", name, got)
		}
	}
}

func TestCompileKeepsTheOrder(t *testing.T) {
	in := `{"type":"object","properties":{"zeta":{"type":"string"},"alpha":{"type":"string"}},"required":["zeta"]}`
	for range 5 {
		got, err := DialectAnthropic.Compile(json.RawMessage(in))
		if err != nil || string(got) != in {
			t.Fatalf("got %s, %v", got, err)
		}
	}
}

// FuzzCompile: whatever a schema is, the result is an error or an object in
// valid JSON without a choice at the top, and is itself fit to be compiled.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		`{"type":"object","properties":{"a":{"type":["string","null"]}}}`, `null`, `{"anyOf":[{"type":"null"},{"$ref":"#"}]}`,
		`{"properties":{"a":{"allOf":[{"$ref":"#/properties/a"}]}}}`, `{"type":"object","properties":{"n":{"enum":[1,"",null]}}}`, `[]`, `{"$ref":"#"}`,
		`{"items":[{"type":"x"}],"required":true,"enum":3}`, `{"properties":{"":{"items":{"items":{}}}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, d := range []Dialect{DialectOpenAI, DialectCommon, DialectAnthropic, DialectGemini} {
			out, err := d.Compile(in)
			if err != nil || out == nil {
				continue
			}
			if !json.Valid(out) {
				t.Fatalf("%s: %q gives %q", d.Name, in, out)
			}
			var top map[string]json.RawMessage
			if json.Unmarshal(out, &top) != nil || string(top["type"]) != `"object"` || top["anyOf"] != nil || top["$ref"] != nil {
				t.Fatalf("%s: %q gives %s", d.Name, in, out)
			}
			if _, err := d.Compile(out); err != nil {
				t.Fatalf("%s: %s: %v", d.Name, out, err)
			}
		}
	})
}

func BenchmarkCompile(b *testing.B) {
	in := json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"Where."},"limit":{"type":["integer","null"],"minimum":1},"tags":{"type":"array","items":{"type":"string"}},"mode":{"type":"string","enum":["a","b"]}},"required":["path"]}`)
	for b.Loop() {
		if _, err := DialectGemini.Compile(in); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzParseNode: the reader gives what a decoder's tokens give.
func FuzzParseNode(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-0.5e+3,true,false,null,"x"],"b":{"c":{}},"a":2}`, ` [ ] `, `"\u0041\n\u2028<&>\ud83d\ude00é"`, "\"\u2028\xff\"", `{"\u0061":"\"\\"}`,
		`{} {}`, `[1,]`, `{"a" "b"}`, "", "nul", `"a`, strings.Repeat("[", 60) + strings.Repeat("]", 60),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, wantErr := nodeByTokens(json.NewDecoder(strings.NewReader(text)), 0)
		if !json.Valid([]byte(text)) { // more than one value, or a value and its ruins
			want, wantErr = nil, errors.New("no JSON")
		}
		got, err := parseNode([]byte(text))
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("%q: error %v, want %v", text, err, wantErr)
		}
		if err == nil && string(got.bytes()) != string(want.bytes()) {
			t.Errorf("%q: got %s, want %s", text, got.bytes(), want.bytes())
		}
	})
}

func nodeByTokens(dec *json.Decoder, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, errTooDeep
	}
	dec.UseNumber()
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	d, ok := t.(json.Delim)
	if !ok {
		return leaf(t), nil
	}
	n := &node{kind: byte(d)}
	for dec.More() {
		name := ""
		if n.kind == '{' {
			t, err := dec.Token()
			if err != nil {
				return nil, err
			}
			name = t.(string)
		}
		v, err := nodeByTokens(dec, depth+1)
		if err != nil {
			return nil, err
		}
		if n.kind == '{' {
			n.set(name, v)
		} else {
			n.items = append(n.items, v)
		}
	}
	_, err = dec.Token()
	return n, err
}
