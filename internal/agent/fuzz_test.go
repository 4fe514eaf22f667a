package agent

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hermes-go/hermes/chat"
)

func TestRepairArguments(t *testing.T) {
	t.Parallel()
	cases := map[string]string{ // "": refused
		"":                               "{}",
		" null ":                         "{}",
		"None":                           "{}",
		`{"a":1}`:                        `{"a":1}`,
		`{"a":1,}`:                       `{"a":1}`,
		`{"a":[1,2,],"b":True,"c":None}`: `{"a":[1,2],"b":true,"c":null}`,
		`{"a":1}}}`:                      `{"a":1}`,
		`{"a":[1]]}`:                     "",
		`{"a":[1}`:                       "",
		"{\"a\":\"x\ny\tz\"}":            `{"a":"x\u000ay\u0009z"}`,
		`"{\"a\":1}"`:                    `{"a":1}`,
		`"{\"a\":1"`:                     "",
		`{"a":"x`:                        "",
		`{"a":"x"`:                       "",
		`{"a":{"b":1}`:                   "", // more may have been coming
		`{"a":[{"b":1}]`:                 "",
		`{"timeout": 18`:                 "",
		`{"a":`:                          "",
		`{"a":"x\`:                       "",
		`[1]`:                            "",
		`5`:                              "",
		`"x"`:                            "",
		`{a:1}`:                          "",
		`{'a':1}`:                        "",
		`{"d":1}{"d":2}`:                 "",
		`{"a":1},"b":2}`:                 "",
		`{"a":"\ud83d"}`:                 `{"a":"\ufffd"}`,
		`{"a":"\ud83d\ude00\\ud83d"}`:    `{"a":"\ud83d\ude00\\ud83d"}`,
		`{"a":"\ude00\ud83dx"}`:          `{"a":"\ufffd\ufffdx"}`,
	}
	for in, wanted := range cases {
		got, err := RepairArguments(in)
		if wanted == "" && err == nil || wanted != "" && got != wanted {
			t.Errorf("%s: got %s, %v; want %s", in, got, err, wanted)
		}
	}
}

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil || v == nil {
		t.Fatalf("%q is no object: %v", text, err)
	}
	return v
}

func FuzzRepairArguments(f *testing.F) {
	for _, s := range []string{"", `{"a":1,}`, `{"a":{"b":"}"},"c":[1,{"d":null}]}`, "{\"a\":\"\n\"}", `"{\"a\":[]}"`, `{"a":True}}`, `{"s":"\ud83d\ud83d\ude00"}`, `{"a":[]}]`} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, at int) {
		fixed, err := RepairArguments(s)
		if err != nil {
			return
		}
		object(t, fixed)
		again, err := RepairArguments(fixed)
		if err != nil || again != fixed {
			t.Fatalf("not stable: %q, then %q, %v", fixed, again, err)
		}
		if json.Valid([]byte(s)) && strings.HasPrefix(strings.TrimSpace(s), "{") {
			if clean := chat.ValidUTF8(s); !reflect.DeepEqual(object(t, clean), object(t, chat.ValidUTF8(fixed))) {
				t.Fatalf("%q became %q", s, fixed)
			}
		}
		// A part of it is refused, or means the same.
		cut := fixed[:max(0, min(at, len(fixed)))]
		if strings.TrimSpace(cut) == "" {
			return
		}
		if got, err := RepairArguments(cut); err == nil && !reflect.DeepEqual(object(t, got), object(t, fixed)) {
			t.Fatalf("%q was cut to %q and taken for %q", fixed, cut, got)
		}
	})
}

// historyOf reads a history from bytes: any of them is one.
func historyOf(b []byte) []chat.Message {
	ids := []string{"", "a", "b", "a_2", "c"}
	texts := []string{"", " ", "hi", "x\xff", "\xed\xa0\x80", "{}", `{"error":1}`}
	names := []string{"get", "", "bad name", "ü"}
	args := []string{"{}", "", `{"a":`, "[1]", `{"s":"\ud83d"}`, "{\"a\":\"\xff\"}"}
	var m []chat.Message
	for len(b) >= 3 {
		k, x, y := b[0], int(b[1]), int(b[2])
		b = b[3:]
		msg := chat.Message{Content: chat.Text(texts[x%len(texts)])}
		switch k % 8 {
		case 0, 1:
			msg.Role = chat.User
			if y%3 == 0 {
				msg.Extra = map[string]rawJSON{steerField: rawJSON("true")}
			}
			if y%5 == 0 {
				msg.Content = chat.Content{Parts: []chat.Part{{Type: "image_url", ImageURL: "http://x"}, {Type: "text", Text: texts[x%len(texts)]}}}
			}
		case 2:
			msg.Role = chat.Assistant
			msg.FinishReason = []string{"", chat.FinishLength, chat.FinishCut}[y%3]
		case 3, 4:
			msg.Role = chat.Assistant
			for i := range 1 + y%3 {
				msg.ToolCalls = append(msg.ToolCalls, call(ids[(x+i*y)%len(ids)], names[(x+i)%len(names)], args[(y+i)%len(args)]))
			}
		case 5, 6:
			msg = chat.ToolResult(ids[y%len(ids)], names[x%len(names)], texts[x%len(texts)])
		case 7:
			msg.Role = []chat.Role{chat.System, chat.Developer, "session_meta", ""}[y%4]
		}
		m = append(m, msg)
	}
	return m
}

func FuzzSendable(f *testing.F) {
	f.Add([]byte{0, 1, 1, 3, 1, 2, 5, 1, 1, 5, 1, 2, 2, 2, 1, 2, 2, 0})
	f.Add([]byte{3, 1, 1, 3, 1, 1, 0, 1, 3, 5, 1, 1, 7, 1, 1, 5, 2, 2, 4, 2, 2})
	f.Fuzz(func(t *testing.T, b []byte) {
		in := historyOf(b[:min(len(b), 600)])
		before := dump(in)
		out := Sendable(in)
		if err := checkSendable(out); err != nil {
			t.Fatalf("%v\n%s\nbecame\n%s", err, before, dump(out))
		}
		if dump(in) != before {
			t.Fatal("the history was changed")
		}
		if again := Sendable(out); !reflect.DeepEqual(normal(again), normal(out)) {
			t.Fatalf("not stable:\n%s\nthen\n%s", dump(out), dump(again))
		}
		for _, m := range out {
			if !utf8.ValidString(m.Content.String()) {
				t.Fatalf("%q", m.Content)
			}
		}
	})
}
