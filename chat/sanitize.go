package chat

import (
	"strings"
	"unicode/utf8"
)

// ValidUTF8 replaces what is no UTF-8 by U+FFFD, once per broken run, since a
// single bad byte makes a provider refuse the whole request.
func ValidUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// Sanitize returns m with every text made valid UTF-8; m itself is not changed.
func (m Message) Sanitize() Message {
	if m.valid() {
		return m
	}
	m = m.Clone()
	m.Content.Text = ValidUTF8(m.Content.Text)
	m.Reasoning = ValidUTF8(m.Reasoning)
	if m.ReasoningContent != nil {
		fixed := ValidUTF8(*m.ReasoningContent)
		m.ReasoningContent = &fixed
	}
	for i := range m.Content.Parts {
		if p := &m.Content.Parts[i]; !utf8.ValidString(p.Text) {
			p.Text, p.Raw = ValidUTF8(p.Text), nil
		}
	}
	for i := range m.ToolCalls {
		f := &m.ToolCalls[i].Function
		f.Name, f.Arguments = ValidUTF8(f.Name), ValidUTF8(f.Arguments)
	}
	return m
}

func (m Message) valid() bool {
	if !utf8.ValidString(m.Content.Text) || !utf8.ValidString(m.Reasoning) ||
		m.ReasoningContent != nil && !utf8.ValidString(*m.ReasoningContent) {
		return false
	}
	for _, p := range m.Content.Parts {
		if !utf8.ValidString(p.Text) {
			return false
		}
	}
	for _, c := range m.ToolCalls {
		if !utf8.ValidString(c.Function.Name) || !utf8.ValidString(c.Function.Arguments) {
			return false
		}
	}
	return true
}
