package tool

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestArguments(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{
		"i":{"type":"integer","minimum":0},"n":{"type":"number"},"b":{"type":"boolean"},"s":{"type":"string"},
		"a":{"type":"array","items":{"type":"string"}},"o":{"type":"object","properties":{"ids":{"type":"array","items":{"type":"string"}}}},
		"free":{"type":"object"},"e":{"type":"string","enum":["add","remove"]},"ne":{"type":"number","enum":[-1,0,1]},
		"u":{"type":["integer","string"]},"t":{"type":["string","integer"]},"nul":{"type":["integer","null"]},"any":{},
		"alt":{"anyOf":[{"type":"integer"},{"type":"null"}]},
		"list":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}},
		"ref":{"$ref":"#/$defs/pos"}},
		"$defs":{"pos":{"type":"object","properties":{"x":{"type":"integer"}}}}}`
	s, err := compileSchema(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, in, want string }{
		{"22 integer", `{"i":"42"}`, `{"i":42}`},
		{"22 exponent", `{"i":"1e2"}`, `{"i":100}`},
		{"whole float", `{"i":3.0}`, `{"i":3}`},
		{"24 boolean", `{"b":" TRUE "}`, `{"b":true}`},
		{"F-033 yes", `{"b":"yes"}`, `{"b":true}`},
		{"F-033 off", `{"b":"off"}`, `{"b":false}`},
		{"F-033 one", `{"b":"1"}`, `{"b":true}`},
		{"F-033 number one", `{"b":0}`, `{"b":false}`},
		{"25 scalar to list", `{"a":"x"}`, `{"a":["x"]}`},
		{"25 text list", `{"a":"[\"1\"]"}`, `{"a":["1"]}`},
		{"25 number to list", `{"a":5}`, `{"a":["5"]}`},
		{"25 null is not given", `{"a":null}`, `{}`},
		{"26 object", `{"free":"{\"k\":1}"}`, `{"free":{"k":1}}`},
		{"28 union", `{"u":"7"}`, `{"u":7}`},
		{"28 text in a union", `{"u":"x7"}`, `{"u":"x7"}`},
		{"28 digits that are no number", `{"u":"007"}`, `{"u":"007"}`},
		{"28 text comes first", `{"t":"7"}`, `{"t":"7"}`},
		{"nullable word", `{"nul":"null"}`, `{"nul":null}`},
		{"any", `{"any":[1,"x"]}`, `{"any":[1,"x"]}`},
		{"any of", `{"alt":"5"}`, `{"alt":5}`},
		{"F-032 nested", `{"o":"{\"ids\":\"x\"}"}`, `{"o":{"ids":["x"]}}`},
		{"F-034 number to text", `{"s":5}`, `{"s":"5"}`},
		{"enum text for number", `{"ne":"1"}`, `{"ne":1}`},
		{"ref", `{"ref":{"x":"2"}}`, `{"ref":{"x":2}}`},
		{"unknown keys pass", `{"extra":1}`, `{"extra":1}`},
		{"12 empty", ``, `{}`},
		{"null", `null`, `{}`},
		{"big integer", `{"i":"9007199254740993"}`, `{"i":9007199254740993}`},
		{"untouched bytes", `{ "s" : "a" }`, `{ "s" : "a" }`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := s.arguments(json.RawMessage(c.in))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	for _, c := range []struct{ name, in, want string }{
		{"22 fraction", `{"i":"1.5"}`, `field i: "1.5" is not an integer`},
		{"F-033 fraction", `{"i":"5.7"}`, `field i: "5.7" is not an integer`},
		{"F-033 fraction number", `{"i":5.7}`, `field i: 5.7 is not an integer`},
		{"F-033 empty", `{"n":""}`, `field n: "" is not a number`},
		{"F-033 NaN", `{"n":"NaN"}`, `field n: "NaN" is not a number`},
		{"hex", `{"i":"0x10"}`, `is not an integer`},
		{"26 list for object", `{"free":"[1]"}`, `field free: "[1]" is not an object`},
		{"enum", `{"e":"drop"}`, `field e: "drop" is not one of "add", "remove"`},
		{"minimum", `{"i":-1}`, `field i: -1 is less than 0`},
		{"nested item", `{"list":[{}]}`, `missing field list[0].id`},
		{"object for text", `{"s":{}}`, `field s: {} is not a string`},
		{"not an object", `[1]`, `must be a JSON object`},
		{"no JSON", `{"a"`, `no valid JSON`},
		{"two values", `{}{}`, `more than one JSON value`},
		{"56b4 surplus closer", `{}}`, `no valid JSON`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := s.arguments(json.RawMessage(c.in))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestMissingField(t *testing.T) { // F-030
	t.Parallel()
	s, err := compileSchema(json.RawMessage(`{"type":"object","properties":{"action":{"type":"string"},"target":{"type":"string"}},"required":["action","target"]}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.arguments(json.RawMessage(`{"target":"user"}`)); err == nil || err.Error() != "missing field action" {
		t.Errorf("got %v", err)
	}
}

// FuzzArguments holds coercion to its promises: no panic, and whatever is
// accepted is an object that is accepted again without change.
func FuzzArguments(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}}}}`, `{"a":"[1,\"2\"]"}`)
	f.Add(`{"properties":{"x":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, `{"x":5}`)
	f.Add(`{"properties":{"x":{"$ref":"#/properties/x"}}}`, `{"x":{}}`)
	f.Add(`{"properties":{"x":{"type":"object","additionalProperties":{"type":"boolean"}}}}`, `{"x":{"k":"on"}}`)
	f.Fuzz(func(t *testing.T, schema, args string) {
		s, err := compileSchema(json.RawMessage(schema))
		if err != nil {
			return
		}
		once, _, err := s.arguments(json.RawMessage(args))
		if err != nil {
			return
		}
		var obj map[string]any
		if err := json.Unmarshal(once, &obj); err != nil {
			t.Fatalf("accepted %q as %q: %v", args, once, err)
		}
		twice, _, err := s.arguments(once)
		if err != nil {
			t.Fatalf("%q was accepted as %q, which is refused: %v", args, once, err)
		}
		if string(once) != string(twice) {
			t.Fatalf("not stable: %q, then %q", once, twice)
		}
	})
}
