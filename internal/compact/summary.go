package compact

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/hermes-go/hermes/chat"
)

//go:embed text/summarise.md
var instructions string

// Headings are the sections of a summary, in order.
func Headings() []string {
	return []string{
		"Active Task", "Goal", "Constraints & Preferences", "Completed Actions", "Active State", "In Progress", "Blocked",
		"Key Decisions", "Resolved Questions", "Pending User Asks", "Relevant Files", "Remaining Work", "Critical Context",
	}
}

const (
	longText, longHead, longTail = 6000, 4000, 1500 // characters of a message
	longArgs, argsHead           = 1500, 1200       // of a call's arguments
	charsPerToken                = 4
	leastAnswer                  = 2000 // tokens: models that think need some before they write
)

// summarise brings the running summary up to date with messages. What does
// not fit into one side call is taken up piece by piece.
func (c *Compactor) summarise(ctx context.Context, m []chat.Message, old earlier, z sizes) (string, error) {
	if c.Ask == nil {
		return "", errors.New("no model is there to write one")
	}
	sum := old.summary
	for _, part := range pieces(m, z.input*charsPerToken) {
		text, err := c.Ask(ctx, instructions, c.Redact(c.question(sum, part, z)), max(z.summary*13/10, leastAnswer))
		if err != nil {
			return "", err
		}
		if text = strings.TrimSpace(text); text == "" {
			return "", errors.New("the model wrote nothing")
		}
		sum = fit(text, z.summary*charsPerToken*3/2)
	}
	return sum, nil
}

func (c *Compactor) question(sum, messages string, z sizes) string {
	var b strings.Builder
	if sum != "" {
		fmt.Fprintf(&b, "# The summary so far\n\n%s\n\n", sum)
	}
	fmt.Fprintf(&b, "# Messages to take up\n\n%s\n", messages)
	fmt.Fprintf(&b, "# What to write\n\nThe summary, at most about %d words.", z.summary*2/3)
	if c.topic != "" {
		fmt.Fprintf(&b, " Give 60 to 70 %% of it to what concerns: %s. Be brief about the rest.", c.topic)
	}
	return b.String()
}

// fit cuts a summary that became far too long at the end of a line.
func fit(s string, most int) string {
	if len(s) <= most {
		return s
	}
	s = strings.ToValidUTF8(s[:most], "")
	if i := strings.LastIndexByte(s, '\n'); i > most/2 {
		s = s[:i]
	}
	return s + "\n[The summary was longer; the rest is in the messages themselves.]"
}

// pieces are the messages as a summariser reads them, in parts of at most so
// many characters.
func pieces(m []chat.Message, most int) []string {
	var out []string
	var b strings.Builder
	for i := range m {
		text := serialise(m[i])
		if b.Len() > 0 && b.Len()+len(text) > most {
			out = append(out, b.String())
			b.Reset()
		}
		b.WriteString(text)
	}
	return append(out, b.String())
}

func serialise(m chat.Message) string {
	var b strings.Builder
	text := clip(m.Content.String())
	for _, p := range m.Content.Parts {
		if p.Type != "text" {
			text += "\n[" + or(p.Type, "attachment") + "]"
		}
	}
	switch m.Role {
	case chat.User:
		fmt.Fprintf(&b, "[USER]: %s\n\n", text)
	case chat.Tool:
		fmt.Fprintf(&b, "[TOOL RESULT %s]: %s\n\n", m.ToolCallID, text)
	default:
		fmt.Fprintf(&b, "[ASSISTANT]: %s\n", text)
		for _, c := range m.ToolCalls {
			args := c.Function.Arguments
			if len(args) > longArgs {
				args = strings.ToValidUTF8(args[:argsHead], "") + "…"
			}
			fmt.Fprintf(&b, "[CALL %s]: %s(%s)\n", c.ID, c.Function.Name, args)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func clip(s string) string {
	if len(s) <= longText {
		return s
	}
	return strings.ToValidUTF8(s[:longHead], "") + "\n[…]\n" + strings.ToValidUTF8(s[len(s)-longTail:], "")
}

// withoutModel is the summary when no model writes one: what was said before,
// what the person asked, and the end of the answers. It is used only when the
// conversation could not go on otherwise.
func withoutModel(m []chat.Message, old earlier, z sizes) string {
	const asked, answered = 300, 200
	var lines []string
	for i := range m {
		text := m[i].Content.String()
		switch {
		case strings.TrimSpace(text) == "":
		case m[i].Role == chat.User:
			lines = append(lines, "- The person: "+oneLine(text, asked))
		case m[i].Role == chat.Assistant:
			lines = append(lines, "- The agent: "+oneLine(text, answered))
		}
	}
	size, first := 0, len(lines)
	for first > 0 && size+len(lines[first-1]) < z.summary*charsPerToken {
		first--
		size += len(lines[first]) + 1
	}
	var b strings.Builder
	if old.summary != "" {
		fmt.Fprintf(&b, "%s\n\n", fit(old.summary, z.summary*charsPerToken))
	}
	fmt.Fprintf(&b, "## Critical Context\nNo model could write a summary of %s; this lists their beginnings.", count(len(m), "message"))
	if first > 0 {
		fmt.Fprintf(&b, " %d older ones are left out.", first)
	}
	b.WriteByte('\n')
	for _, l := range lines[first:] {
		b.WriteString(l + "\n")
	}
	return b.String()
}
