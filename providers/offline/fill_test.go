package offline

import "testing"

func TestFill(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ id, tool, text, want string }{
		{"rest", "weather", "Vienna", `{"location":"Vienna"}`},
		{"enum", "weather", "New York in imperial", `{"location":"New York","units":"imperial"}`},
		{"enum-in-a-word", "weather", "Metricville", `{"location":"Metricville"}`},
		{"pairs", "weather", `location="New York" units=metric days=3`, `{"days":3,"location":"New York","units":"metric"}`},
		{"pair-and-rest", "weather", "days=3 for Graz?", `{"days":3,"location":"Graz"}`},
		{"wrong-type-stays", "weather", "Graz days=many", `{"days":"many","location":"Graz"}`},
		{"unknown-key-is-text", "weather", "town=Graz", `{"location":"town=Graz"}`},
		{"json", "weather", `{"location": "Linz", "days": 2}`, `{"days":2,"location":"Linz"}`},
		{"json-any-key", "weather", `with {"locaton": 1}`, `{"locaton":1}`},
		{"json-and-pair", "weather", `{"location": "Linz"} days=4`, `{"days":4,"location":"Linz"}`},
		{"big-number", "weather", `{"days": 12345678901234567890}`, `{"days":12345678901234567890}`},
		{"numbers", "add", "3 and 4.5, yes", `{"a":3,"b":4.5,"exact":true}`},
		{"numbers-missing", "add", "3", `{"a":3,"exact":false}`},
		{"two-strings", "replace", `"old text" by "new text"`, `{"new":"new text","old":"old text"}`},
		{"one-of-two", "replace", "something", `{"old":"something"}`},
		{"list", "tag", "red, green,blue", `{"tags":["red","green","blue"]}`},
		{"list-json", "tag", `tags=["a, b", 1] meta={"k": [1]}`, `{"meta":{"k":[1]},"tags":["a, b",1]}`},
		{"required-enum", "memory", "the answer is 42", `{"action":"add","target":"memory","content":"the answer is 42"}`},
		{"enum-words", "memory", "remove user old_text=tea", `{"action":"remove","old_text":"tea","target":"user"}`},
		{"optional-string", "recent", "tea and cake", `{"query":"tea and cake"}`},
		{"nothing", "recent", "", `{}`},
		{"no-schema", "unheard", "of", `{}`},
		{"quoted-whole", "terminal", "`ls | wc -l`", `{"command":"ls | wc -l"}`},
		{"boolean-pair", "terminal", `background=yes command="sleep 1"`, `{"background":true,"command":"sleep 1"}`},
	} {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			got := encode(fill([]byte(schemas[c.tool]), c.text))
			if sorted(t, got) != sorted(t, c.want) {
				t.Errorf("%q: got %s, want %s", c.text, got, c.want)
			}
		})
	}
}
