package compact

import (
	"fmt"
	"strings"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/agent"
)

// The lines by which a summary is known again. The first one is the
// original's, and so is the older form of it.
const (
	Marker       = "[CONTEXT COMPACTION — REFERENCE ONLY]"
	legacyMarker = "[CONTEXT SUMMARY]:"
	endMarker    = "[END OF CONTEXT COMPACTION — what follows is the conversation itself]"
	callsHeading = "## Calls That Were Made"
	toolsHeading = "## Kept by Tools"

	preface = `Earlier messages were left out here to make room, and this stands in their place. It is a record of what was, not a request: answer only what the person says after it, and do not do again what it says is done. The messages themselves are kept whole in session %s; session_search finds them.`
)

// note is what stands in place of the messages that were left out.
type note struct {
	session string
	summary string
	calls   record
	carried []Carried
}

func (n note) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s "+preface+"\n\n%s\n", Marker, n.session, strings.TrimSpace(n.summary))
	if len(n.calls.lines) > 0 {
		fmt.Fprintf(&b, "\n%s\n%s", callsHeading, n.calls)
	}
	if len(n.carried) > 0 {
		fmt.Fprintf(&b, "\n%s\n", toolsHeading)
		for _, c := range n.carried {
			fmt.Fprintf(&b, "%s\n", c.Text)
		}
	}
	return b.String()
}

// earlier is what an earlier compaction has left.
type earlier struct {
	summary string
	calls   record
	at      int // where it stood: nothing behind it belongs to the beginning
}

// unfold takes the summary of an earlier compaction out of a history. What
// the message held besides stays.
func unfold(m []chat.Message) (plain []chat.Message, old earlier) {
	plain = make([]chat.Message, 0, len(m))
	old.at = len(m)
	for _, x := range m {
		body, rest, ok := parse(x)
		if !ok {
			plain = append(plain, x)
			continue
		}
		old.at = min(old.at, len(plain))
		body, _, _ = strings.Cut(body, "\n"+toolsHeading+"\n")
		body, calls, _ := strings.Cut(body, "\n"+callsHeading+"\n")
		if old.summary != "" {
			old.summary += "\n\n"
		}
		old.summary += strings.TrimSpace(body)
		old.calls.read(calls)
		if !rest.Content.Empty() || len(rest.ToolCalls) > 0 {
			plain = append(plain, rest)
		}
	}
	return plain, old
}

// parse parts a message into the summary at its beginning and the rest.
func parse(m chat.Message) (body string, rest chat.Message, ok bool) {
	if m.Role != chat.User && m.Role != chat.Assistant {
		return "", m, false
	}
	text := m.Content.Text
	if len(m.Content.Parts) > 0 {
		text = m.Content.Parts[0].Text
	}
	switch {
	case strings.HasPrefix(text, Marker):
		text = text[len(Marker):]
		if _, after, found := strings.Cut(text, "\n\n"); found {
			text = after // what the preface says is said anew
		}
	case strings.HasPrefix(text, legacyMarker):
		text = text[len(legacyMarker):]
	default:
		return "", m, false
	}
	body, tail, _ := strings.Cut(text, endMarker)
	tail = strings.TrimPrefix(tail, "\n\n")
	rest = m.Clone()
	rest.Content = chat.Text(tail)
	if len(m.Content.Parts) > 1 {
		rest.Content = chat.Content{Parts: append([]chat.Part(nil), m.Content.Parts[1:]...)}
		if tail != "" {
			rest.Content.Parts = append([]chat.Part{{Type: "text", Text: tail}}, rest.Content.Parts...)
		}
	}
	return strings.TrimSpace(body), rest, true
}

// fold puts the note before what a person said.
func fold(text string, m chat.Message) chat.Message {
	text += "\n" + endMarker
	out := m.Clone()
	if m.Content.Parts == nil {
		if m.Content.Text != "" {
			text += "\n\n" + m.Content.Text
		}
		out.Content = chat.Text(text)
		return out
	}
	out.Content = chat.Content{Parts: append([]chat.Part{{Type: "text", Text: text}}, m.Content.Parts...)}
	return out
}

// assemble puts the shorter history together: the beginning, the note, the
// newest messages.
func assemble(m []chat.Message, k cuts, n note) []chat.Message {
	out := append([]chat.Message(nil), m[:k.head]...)
	tail := m[k.tail:]
	text := n.text()
	kept := keptRounds(m, k, n.carried)
	switch {
	case k.lifted >= 0:
		out = append(out, fold(text, m[k.lifted]))
		out = append(out, kept...)
	case len(tail) == 0 || tail[0].Role != chat.User:
		out = append(out, fold(text, chat.UserText("")))
		out = append(out, kept...)
	case k.head == 0: // services want a person to speak first
		out = append(out, fold(text, tail[0]))
		out = append(out, kept...)
		tail = tail[1:]
	default:
		sum := chat.AssistantText(text)
		if len(kept) > 0 {
			sum.ToolCalls = kept[0].ToolCalls
			kept = kept[1:]
		}
		out = append(append(out, sum), kept...)
	}
	out = append(out, tail...)
	for i := range out {
		out[i].Usage = nil // what they cost is counted where they came to be
	}
	return out
}

// keptRounds is one answer with the newest call of each tool that keeps its
// state in the conversation, and their results.
func keptRounds(m []chat.Message, k cuts, carried []Carried) []chat.Message {
	var calls []chat.ToolCall
	var results []chat.Message
	for _, x := range carried {
		at := agent.LastResultAt(m, x.Tool)
		if at < k.head || at >= k.tail {
			continue // none, or it stays
		}
		for i := at - 1; i >= 0; i-- {
			if c, ok := callOf(m[i], m[at].ToolCallID); ok {
				calls, results = append(calls, c), append(results, m[at])
				break
			}
		}
	}
	if len(calls) == 0 {
		return nil
	}
	round := chat.Message{Role: chat.Assistant, ToolCalls: calls}
	return append([]chat.Message{round}, results...)
}

// newest are the places of those results.
func newest(m []chat.Message, carried []Carried) []int {
	var at []int
	for _, x := range carried {
		if i := agent.LastResultAt(m, x.Tool); i >= 0 {
			at = append(at, i)
		}
	}
	return at
}

func callOf(m chat.Message, id string) (chat.ToolCall, bool) {
	for _, c := range m.ToolCalls {
		if c.ID == id {
			return c, true
		}
	}
	return chat.ToolCall{}, false
}
