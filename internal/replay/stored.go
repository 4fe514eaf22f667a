package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/tool"
)

// Stored is a conversation as a store has it.
type Stored struct {
	Carried  []chat.Message // what it began with, when it carries another on
	Messages []chat.Message
	Model    string
	Window   int
}

// notStored says that a stored turn ends without an answer.
const notStored = "the stored turn ends here"

// FromStored writes a cassette of a conversation that nobody recorded. Answers
// that were thrown away, pieces and compactions are not stored and so not in it;
// the events are those that this program makes of the rest.
func FromStored(ctx context.Context, w io.Writer, redact func([]byte) []byte, h Head, s Stored, effects func(*tool.Call) (e []tool.Effect, alone, harmless bool)) error {
	h.Made, h.Version = "store", Version
	var lines []line
	var tools []offered
	seen := map[string]bool{}
	for _, m := range s.Messages {
		for _, c := range m.ToolCalls {
			if !seen[c.Function.Name] {
				seen[c.Function.Name] = true
				tools = append(tools, offered{Name: c.Function.Name})
			}
		}
	}
	calls := map[string]chat.ToolCall{}
	steer := ""
	answered := true
	for _, m := range s.Messages {
		switch {
		case m.Role == chat.User && agent.Steer(m):
			steer = strings.TrimPrefix(m.Content.String(), agent.SteerPrefix)
		case m.Role == chat.User:
			if !answered {
				lines = append(lines, line{Answer: &answerLine{Cause: notStored}})
			}
			t := &turnLine{Text: m.Content.String(), Model: s.Model, MaxCalls: 1 << 20, Tools: tools, Ask: true}
			if len(lines) == 0 {
				t.History, t.Fresh = s.Carried, true
			}
			lines, answered = append(lines, line{Turn: t}), false
		case len(lines) == 0:
			return errors.New("the conversation does not begin with a message of a person")
		case m.Role == chat.Assistant:
			a := &answerLine{Steer: steer}
			steer = ""
			final := m.Clone()
			if final.FinishReason == "" {
				final.FinishReason = chat.FinishStop
			}
			a.Add(provider.Chunk{Final: &final}, nil)
			for _, c := range m.ToolCalls {
				calls[c.ID] = c
			}
			lines, answered = append(lines, line{Answer: a}), len(m.ToolCalls) == 0
		case m.Role == chat.Tool:
			c := calls[m.ToolCallID]
			l := &resultLine{Call: m.ToolCallID, Name: c.Function.Name, Args: c.Function.Arguments, JSON: m.Content.String()}
			if isError(l.JSON) {
				l.Failed = "failed"
			}
			l.Effects, l.Alone, l.Harmless = effects(&tool.Call{Name: l.Name, Args: json.RawMessage(l.Args)})
			lines = append(lines, line{Result: l})
		}
	}
	if !answered {
		lines = append(lines, line{Answer: &answerLine{Cause: notStored}})
	}
	return complete(ctx, w, redact, h, lines)
}

func isError(result string) bool {
	var e struct{ Error *string }
	return json.Unmarshal([]byte(result), &e) == nil && e.Error != nil && *e.Error != ""
}

// complete runs lines without events once and writes them with what came of it.
func complete(ctx context.Context, w io.Writer, redact func([]byte) []byte, h Head, lines []line) error {
	// The events have to come of what the file says: with secrets taken out.
	var clean strings.Builder
	first := &writer{w: &clean, redact: redact}
	first.write(line{Head: &h})
	for _, l := range lines {
		first.write(l)
	}
	if first.err != nil {
		return first.err
	}
	c, err := Read(strings.NewReader(clean.String()))
	if err != nil {
		return err
	}
	out := &writer{w: w}
	out.write(line{Head: &c.Head})
	var history []chat.Message
	rest := strings.Split(strings.TrimSpace(clean.String()), "\n")[1:]
	for _, t := range c.turns {
		if t.Fresh {
			history = t.History
		}
		n := 0
		for ; n < len(rest) && (n == 0 || !strings.HasPrefix(rest[n], `{"turn":`)); n++ {
			if _, err := io.WriteString(w, rest[n]+"\n"); err != nil {
				return err
			}
		}
		rest = rest[n:]
		events := 0
		history, err = c.turn(ctx, t, history, func(e json.RawMessage) error {
			events++
			out.write(line{Event: e})
			return nil
		})
		if err != nil {
			return fmt.Errorf("run the stored conversation: %w", err)
		}
		out.write(line{End: &endLine{events}})
	}
	return out.err
}
