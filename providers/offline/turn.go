package offline

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/provider"
)

// done is one call of this turn with its result.
type done struct {
	call   chat.ToolCall
	result string
}

// turn is what a request shows of the turn that is going on.
type turn struct {
	asked  string // the person's message
	done   []done
	rounds int      // answers with calls so far
	steer  []string // what the person said meanwhile
	last   bool     // the loop asked for a closing answer
}

// marks that the loop puts into messages.
const (
	systemMark = "[System:"
	steerMark  = "\n\nUser guidance: "
)

// turnOf finds the newest message of the person and what came after it.
func turnOf(r *provider.Request) turn {
	var t turn
	start := -1
	for i, m := range r.Messages {
		if m.Role != chat.User {
			continue
		}
		if strings.HasPrefix(m.Content.String(), systemMark) {
			t.last = len(r.Tools) == 0
			continue
		}
		start, t.last = i, false
	}
	if start < 0 {
		return t
	}
	t.asked = r.Messages[start].Content.String()
	results := map[string]string{}
	for _, m := range r.Messages[start+1:] {
		switch m.Role {
		case chat.Assistant:
			if len(m.ToolCalls) > 0 {
				t.rounds++
			}
			for _, c := range m.ToolCalls {
				t.done = append(t.done, done{call: c})
			}
		case chat.Tool:
			text, steer, _ := strings.Cut(m.Content.String(), steerMark)
			results[m.ToolCallID] = text
			if steer != "" {
				t.steer = append(t.steer, steer)
			}
		}
	}
	for i := range t.done {
		t.done[i].result = results[t.done[i].call.ID]
	}
	return t
}

// answer is the model: the next calls, or a text when there are none left. One
// group of wishes is one round of calls; how many were made is read from the
// messages, so that the model needs no memory of its own. Every step is done,
// whatever came of the one before.
func answer(r *provider.Request) reply {
	t := turnOf(r)
	groups := parse(t.asked)
	for _, s := range t.steer {
		groups = append(groups, parse(s)...)
	}
	if len(groups) == 0 {
		return reply{text: help(r.Tools)}
	}
	if t.last {
		return reply{text: report(t, groups, []string{"No more tool calls were possible; what is not told of here was not done."})}
	}
	var notes []string
	round := 0
	for _, group := range groups {
		var calls []chat.ToolCall
		for _, w := range group {
			c, why := callFor(w, r.Tools)
			switch {
			case w.kind == recall:
				notes = append(notes, remembered(r.System))
			case why != "":
				notes = append(notes, why)
			default:
				calls = append(calls, chat.NewCall("", c.name, encode(c.args)))
			}
		}
		if len(calls) == 0 {
			continue
		}
		if round == t.rounds {
			return reply{calls: withIDs(calls, r.Messages)}
		}
		round++
	}
	return reply{text: report(t, groups, notes)}
}

// withIDs numbers calls so that the same request always gets the same ids and
// no id comes twice in a conversation.
func withIDs(calls []chat.ToolCall, m []chat.Message) []chat.ToolCall {
	taken := map[string]bool{}
	for _, x := range m {
		for _, c := range x.ToolCalls {
			taken[c.ID] = true
		}
	}
	n := len(m)
	for taken[fmt.Sprintf("call_%d_1", n)] {
		n++
	}
	for i := range calls {
		calls[i].ID = fmt.Sprintf("call_%d_%d", n, i+1)
	}
	return calls
}

// report says what came of the calls, from their results alone.
func report(t turn, groups [][]wish, notes []string) string {
	var parts []string
	times := map[string]int{}
	for _, d := range t.done {
		times[d.call.Function.Name]++
	}
	for _, d := range t.done {
		name := d.call.Function.Name
		if times[name] > 1 {
			name = d.label()
		}
		if d.call.Function.Name == "skill_view" {
			if part, ok := skillReport(d, groups); ok {
				parts = append(parts, part)
				continue
			}
		}
		parts = append(parts, quote(name, d.result))
	}
	return strings.Join(append(parts, notes...), "\n\n")
}

// label tells calls of one tool apart by what they were about.
func (d done) label() string {
	name := d.call.Function.Name
	var args map[string]any
	if json.Unmarshal([]byte(d.call.Function.Arguments), &args) != nil {
		return name
	}
	for _, key := range [...]string{"path", "command", "pattern", "name", "query", "question", "content"} {
		if text, ok := args[key].(string); ok && text != "" {
			return name + " " + short(strings.ReplaceAll(text, "\n", " "), 1, 60)
		}
	}
	return name
}

// skillReport says what a skill is and what following it would mean.
func skillReport(d done, groups [][]wish) (string, bool) {
	var in struct{ Name string }
	var out struct{ Name, Description, Content string }
	if json.Unmarshal([]byte(d.call.Function.Arguments), &in) != nil || json.Unmarshal([]byte(d.result), &out) != nil || out.Content == "" {
		return "", false
	}
	if out.Name == "" {
		out.Name = in.Name
	}
	body := strings.TrimSpace(withoutFrontmatter(out.Content))
	text := fmt.Sprintf("I read the skill %s", out.Name)
	if out.Description != "" {
		text += ": " + short(out.Description, 1, 200)
	}
	text += "\nIts instructions are:\n" + short(body, quoteLines, quoteChars)
	for _, group := range groups {
		for _, w := range group {
			if w.kind == useSkill && w.what == in.Name && w.rest != "" {
				return text + fmt.Sprintf("\nTo %s, a language model would now follow them; the offline model only reads them.", strings.TrimRight(w.rest, ". ")), true
			}
		}
	}
	return text, true
}

func withoutFrontmatter(s string) string {
	rest, ok := strings.CutPrefix(s, "---\n")
	if !ok {
		return s
	}
	if _, body, ok := strings.Cut(rest, "\n---\n"); ok {
		return body
	}
	return s
}
