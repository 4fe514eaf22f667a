package agent

import (
	"strings"

	"github.com/hermes-go/hermes/chat"
)

// joinAnswers makes one message of two answers in a row; the calls are b's.
func joinAnswers(a, b chat.Message) chat.Message {
	joint := "\n\n"
	if a.FinishReason == chat.FinishLength || a.FinishReason == chat.FinishCut {
		joint = "" // b goes on where a was cut off
	}
	j := a.Clone()
	if len(b.ToolCalls) > 0 {
		j = b.Clone() // what a service wants back belongs to the calls
	}
	j.FinishReason = b.FinishReason
	j.CodexMessageItems = nil // they say what only one of the two said
	switch {
	case a.Content.Parts == nil && b.Content.Empty():
		j.Content = a.Content
	case a.Content.Parts == nil && b.Content.Parts == nil:
		j.Content = chat.Text(a.Content.Text + joint + b.Content.Text)
	default:
		j.Content = joinParts(a.Content, b.Content)
	}
	return j
}

// joinContent makes one message of two that a person wrote in a row.
func joinContent(a, b chat.Message) chat.Message {
	j := a.Clone()
	switch {
	case a.Content.Parts != nil || b.Content.Parts != nil:
		j.Content = joinParts(a.Content, b.Content)
	case a.Content.Text == "" || b.Content.Text == "":
		j.Content = chat.Text(a.Content.Text + b.Content.Text)
	default:
		j.Content = chat.Text(strings.TrimRight(a.Content.Text, "\n") + "\n\n" + b.Content.Text)
	}
	return j
}

func joinParts(a, b chat.Content) chat.Content {
	return chat.Content{Parts: append(partsOf(a), partsOf(b)...)}
}

func partsOf(c chat.Content) []chat.Part {
	switch {
	case c.Parts != nil:
		return append([]chat.Part(nil), c.Parts...)
	case c.Text == "":
		return nil // services refuse an empty part
	}
	return []chat.Part{{Type: "text", Text: c.Text}}
}

// withText returns m with text added at its end.
func withText(m chat.Message, text string) chat.Message {
	return joinContent(m, chat.UserText(text))
}

// errorResult is the message that says why a call has no result of its own.
func errorResult(c chat.ToolCall, why string) chat.Message {
	return chat.ToolResult(c.ID, c.Function.Name, string(errorJSON(why, nil)))
}
