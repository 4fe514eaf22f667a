package agent

import (
	"fmt"
	"strings"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/tool"
)

// steerField marks a user message that was said while tools ran; it travels
// as part of the tool result before it.
const steerField = "hermes_steer"

// lostResult is what the model reads for a call whose result never came.
const lostResult = "unknown: was running when the program died; check whether it took effect before doing it again"

// damagedNote stands in the result of a call whose arguments cannot be sent.
const damagedNote = "the arguments of this call were unreadable in the record of the conversation and are shown as {}"

// Sendable returns the history as a service may see it: every call has its
// result and every result its call, ids are unique, roles are known ones,
// texts are valid UTF-8, pieces of a cut answer are one again. The input is
// not changed. The same history always gives the same bytes, so that what a
// service has cached of a conversation stays good.
func Sendable(history []chat.Message) []chat.Message {
	s := sender{out: make([]chat.Message, 0, len(history)+1), ids: idSet{}}
	for i, m := range history {
		m = m.Sanitize()
		switch m.Role {
		case chat.User:
			s.user(m)
		case chat.Assistant:
			s.assistant(m, history[i+1:])
		case chat.System, chat.Developer, chat.Tool:
			// The system text travels beside the messages; results are taken
			// up with their calls, and one that is not has none.
		}
	}
	return s.out
}

type sender struct {
	out []chat.Message
	ids idSet // of the calls so far
}

func (s *sender) last() *chat.Message {
	if len(s.out) == 0 {
		return &chat.Message{}
	}
	return &s.out[len(s.out)-1]
}

func (s *sender) user(m chat.Message) {
	last := s.last()
	_, steer := m.Extra[steerField]
	switch {
	case steer && last.Role == chat.Tool:
		*last = withText(*last, m.Content.String())
	case last.Role == chat.User: // several services refuse two in a row
		*last = joinContent(*last, m)
	default:
		s.out = append(s.out, m)
	}
}

// assistant takes m with the results of its calls, which are among rest.
func (s *sender) assistant(m chat.Message, rest []chat.Message) {
	if len(m.Content.Parts) == 0 && strings.TrimSpace(m.Content.Text) == "" {
		if len(m.ToolCalls) == 0 {
			return // only thought; it carries nothing the next answer needs
		}
		m.Content = chat.Content{} // services refuse blank text
	}
	if last := s.last(); last.Role == chat.Assistant && len(last.ToolCalls) == 0 {
		m = joinAnswers(*last, m)
		s.out = s.out[:len(s.out)-1]
	}
	if len(m.ToolCalls) == 0 {
		s.out = append(s.out, m)
		return
	}
	m = m.Clone()
	results := resultsOf(rest)
	at := len(s.out)
	s.out = append(s.out, m)
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		r, ok := results.take(c.ID)
		if !ok {
			r, ok = strayResult(rest, c.ID)
		}
		if !ok {
			r = errorResult(*c, lostResult)
		}
		damaged := false
		c.ID = s.ids.unique(c.ID)
		c.Function.Name = sendableName(c.Function.Name)
		c.Function.Arguments, damaged = sendableArguments(c.Function.Arguments)
		if damaged && r.Content.Parts == nil {
			r.Content.Text = string(tool.AddField([]byte(r.Content.Text), "_note", damagedNote))
		}
		r.ToolCallID, r.Name = c.ID, c.Function.Name
		s.out = append(s.out, r)
	}
	s.out[at] = m
}

// idSet holds call ids: how many were made of each.
type idSet map[string]int

// add takes an id that is in use already.
func (s idSet) add(id string) { s[id] = max(s[id], 1) }

// unique adds id, or one made from it when it is empty or in use: some
// services count calls anew in every answer, and others refuse that.
func (s idSet) unique(id string) string {
	if id == "" {
		id = "call"
	}
	made, n := id, s[id]
	for s[made] > 0 {
		n++
		made = fmt.Sprintf("%s_%d", id, n)
	}
	s[id] = max(n, 1)
	s.add(made)
	return made
}

// results are those that follow a message, by call id.
type results map[string][]chat.Message

// resultsOf collects the tool messages up to the next answer of the model,
// in whatever order they were stored.
func resultsOf(rest []chat.Message) results {
	r := results{}
	for _, m := range rest {
		if m.Role == chat.Assistant {
			break
		}
		if m.Role == chat.Tool {
			r[m.ToolCallID] = append(r[m.ToolCallID], m)
		}
	}
	return r
}

// take returns the first result for an id that was not taken yet.
func (r results) take(id string) (chat.Message, bool) {
	list := r[id]
	if len(list) == 0 {
		return chat.Message{}, false
	}
	r[id] = list[1:]
	return list[0].Sanitize(), true
}

// strayResult finds a result behind other answers, where two programs went on
// with one conversation at the same time. An id that comes again is not it.
func strayResult(rest []chat.Message, id string) (chat.Message, bool) {
	for _, m := range rest {
		if m.Role == chat.Tool && m.ToolCallID == id && id != "" {
			return m.Sanitize(), true
		}
		for _, c := range m.ToolCalls {
			if c.ID == id {
				return chat.Message{}, false
			}
		}
	}
	return chat.Message{}, false
}

// sendableName is what every service accepts as a function name. Models also
// invent other ones, and an answer with such a call stays in the history.
func sendableName(name string) string {
	const most = 64
	ok := func(r rune) bool {
		return r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	name = strings.Map(func(r rune) rune {
		if ok(r) {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "unknown"
	}
	return name[:min(len(name), most)]
}

// sendableArguments is a JSON object; damaged when it is not what was stored.
func sendableArguments(args string) (text string, damaged bool) {
	fixed, err := RepairArguments(args)
	if err != nil {
		return "{}", true
	}
	return fixed, false
}

// openCalls returns the calls of the newest assistant message that have no
// result yet.
func openCalls(history []chat.Message) []chat.ToolCall {
	done := map[string]bool{}
	for i := len(history) - 1; i >= 0; i-- {
		switch m := history[i]; m.Role {
		case chat.Tool:
			done[m.ToolCallID] = true
		case chat.Assistant:
			var open []chat.ToolCall
			for _, c := range m.ToolCalls {
				if !done[c.ID] {
					open = append(open, c)
				}
			}
			return open
		case chat.User:
			if _, steer := m.Extra[steerField]; !steer {
				return nil
			}
		}
	}
	return nil
}

// checkPairs says which call or result stands alone.
func checkPairs(history []chat.Message) error {
	open := map[string]string{}
	for _, m := range history {
		if m.Role == chat.Tool {
			if _, ok := open[m.ToolCallID]; !ok {
				return fmt.Errorf("result %s has no call", m.ToolCallID)
			}
			delete(open, m.ToolCallID)
			continue
		}
		for id, name := range open {
			return fmt.Errorf("call %s of %s has no result", id, name)
		}
		for _, c := range m.ToolCalls {
			if _, twice := open[c.ID]; twice {
				return fmt.Errorf("two calls have the id %s", c.ID)
			}
			open[c.ID] = c.Function.Name
		}
	}
	for id, name := range open {
		return fmt.Errorf("call %s of %s has no result", id, name)
	}
	return nil
}
