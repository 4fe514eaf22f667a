package wire

import (
	"encoding/json"
	"strings"

	"github.com/hermes-go/hermes/chat"
)

// DataURL splits a data: URL into its type and its base64 text.
func DataURL(url string) (mime, data string, ok bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", "", false
	}
	head, data, ok := strings.Cut(rest, ",")
	mime, encoding, _ := strings.Cut(head, ";")
	if !ok || !strings.Contains(encoding, "base64") || mime == "" {
		return "", "", false
	}
	return mime, data, true
}

// Parts is content as a list, text being one part; empty text is none.
func Parts(c chat.Content) []chat.Part {
	if c.Parts != nil {
		return c.Parts
	}
	if c.Text == "" {
		return nil
	}
	return []chat.Part{{Type: "text", Text: c.Text}}
}

// Reasons reports whether a model of OpenAI's reasons: the others refuse every
// field about it, and these refuse a temperature.
func Reasons(model string) bool {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	return strings.HasPrefix(name, "gpt-5") || strings.HasPrefix(name, "o1") || strings.HasPrefix(name, "o3") || strings.HasPrefix(name, "o4") || strings.Contains(name, "codex")
}

// Raw encodes a value of which it is known that it can be.
func Raw(v any) json.RawMessage {
	raw, err := JSON(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}

// Called maps the ids of all calls in a conversation to the tools' names.
func Called(messages []chat.Message) map[string]string {
	names := map[string]string{}
	for i := range messages {
		for _, c := range messages[i].ToolCalls {
			names[c.ID] = c.Function.Name
		}
	}
	return names
}

// Answered is the set of call ids that have a result.
func Answered(messages []chat.Message) map[string]bool {
	ids := map[string]bool{}
	for i := range messages {
		if messages[i].Role == chat.Tool {
			ids[messages[i].ToolCallID] = true
		}
	}
	return ids
}
