package compact

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hermes-go/hermes/chat"
)

const (
	shortOutput = 200 // characters of a tool output that may stay
	shortArgs   = 500 // of a call's arguments
	argText     = 200 // of one text in longer arguments
	repeated    = "[The same output came again later in this conversation.]"
)

// prune shortens what tools were told and have answered before the index
// protected: outputs that came again, wherever, and long ones become a line.
// Those at the indices keep stay. The input is not changed, and the same input
// always gives the same output.
func prune(m []chat.Message, protected int, keep ...int) []chat.Message {
	out := make([]chat.Message, len(m))
	copy(out, m)
	calls := map[string]chat.ToolCall{}
	for i := range m {
		for _, c := range m[i].ToolCalls {
			calls[c.ID] = c
		}
	}
	newest := map[string]bool{}
	for i := len(m) - 1; i >= 0; i-- {
		if m[i].Role != chat.Tool || m[i].Content.Parts != nil || len(m[i].Content.Text) < shortOutput {
			continue // lists hold images and the like; their place is with what can show them
		}
		text := m[i].Content.Text
		seen := newest[text]
		newest[text] = true
		switch {
		case strings.HasPrefix(text, "[") && !json.Valid([]byte(text)): // shortened before
		case slices.Contains(keep, i): // a tool finds its state in it
		case seen:
			out[i].Content = chat.Text(repeated)
		case i < protected:
			c, ok := calls[m[i].ToolCallID]
			if !ok {
				c = chat.NewCall(m[i].ToolCallID, m[i].Name, "{}")
			}
			if line := describe(c, text); len(line) < len(text) {
				out[i].Content = chat.Text(line)
			}
		}
	}
	for i := range out[:min(protected, len(out))] {
		out[i] = shortCalls(out[i])
	}
	return out
}

// shortCalls cuts long texts in the arguments of old calls; they stay JSON.
func shortCalls(m chat.Message) chat.Message {
	cloned := false
	for i, c := range m.ToolCalls {
		if len(c.Function.Arguments) <= shortArgs {
			continue
		}
		var v any
		dec := json.NewDecoder(strings.NewReader(c.Function.Arguments))
		dec.UseNumber()
		if dec.Decode(&v) != nil {
			continue
		}
		b, err := json.Marshal(shortTexts(v))
		if err != nil || len(b) >= len(c.Function.Arguments) {
			continue
		}
		if !cloned {
			m, cloned = m.Clone(), true
		}
		m.ToolCalls[i].Function.Arguments = string(b)
	}
	return m
}

func shortTexts(v any) any {
	switch v := v.(type) {
	case string:
		if utf8.RuneCountInString(v) > argText {
			return string([]rune(v)[:argText]) + "…[cut]"
		}
	case []any:
		for i := range v {
			v[i] = shortTexts(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = shortTexts(v[k])
		}
	}
	return v
}
