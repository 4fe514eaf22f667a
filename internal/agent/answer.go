package agent

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hermes-go/hermes/chat"
)

// answerState follows how the answer comes together that follows a round of
// tools, or the message of the turn.
type answerState struct {
	hopeless  error  // why the rest of a cut answer is not asked for
	text      string // the pieces so far of an answer that is being continued
	cut       int    // times it was cut
	maxTokens int    // raised for what is missing; 0: as the session has it
	remark    string // what the model is told beside the history until it answers; never stored

	afterTools bool
	beside     string // text that came beside housekeeping calls: the answer, if nothing follows
	nudged     bool   // the model was told to use its results
	thoughts   int    // answers that were only thinking
	empties    int    // answers with nothing at all
}

const (
	mostCuts     = 3
	mostThoughts = 2
	mostEmpties  = 3
	mostOutput   = 32768
	baseOutput   = 4096
)

const (
	goOnRemark  = "[System: Your answer was truncated. Continue exactly where it stopped, without repeating anything and without an introduction.]"
	useRemark   = "[System: The tool results above are complete. Use them now: go on with the task, or write the answer.]"
	writeRemark = "[System: You thought about it but wrote nothing. Write the answer now.]"
	closeRemark = "[System: No more tool calls are possible in this turn. Say what was done, what was found and what is still missing.]"
)

// housekeeping are the tools after which nothing more needs to be said.
func housekeeping(name string) bool {
	switch name {
	case "memory", "todo", "skill_manage", "session_search":
		return true
	}
	return false
}

// afterToolsOf is the state of the answer that follows the calls of msg.
func afterToolsOf(msg chat.Message) answerState {
	a := answerState{afterTools: true, beside: strings.TrimSpace(msg.Content.String())}
	for _, c := range msg.ToolCalls {
		if !housekeeping(c.Function.Name) {
			a.beside = ""
		}
	}
	return a
}

// takeText acts on an answer without tool calls.
func (t *turn) takeText(msg chat.Message) (Done, bool) {
	a := &t.answer
	text := msg.Content.String()
	blank := strings.TrimSpace(text) == ""
	switch msg.FinishReason {
	case chat.FinishFilter:
		return t.giveUp(msg, errors.New("the model service withheld part of the answer (content filter)")), true
	case chat.FinishLength:
		if blank {
			return t.giveUp(msg, fmt.Errorf(
				"the model used its whole output limit for thinking and wrote no answer%s; raise model.max_tokens, lower the reasoning effort, or, on a local server, raise its context size (num_ctx)", t.room(msg))), true
		}
		return t.takePiece(msg)
	case chat.FinishCut:
		if !blank {
			return t.takePiece(msg)
		}
	}
	if blank {
		return t.takeNothing(msg)
	}
	if err := t.append(msg); err != nil {
		return t.broken(err), true
	}
	a.text += text
	return Done{Status: OK, Text: strings.TrimSpace(a.text)}, true
}

// takePiece keeps the piece of an answer that came and asks for the rest.
func (t *turn) takePiece(msg chat.Message) (Done, bool) {
	a := &t.answer
	if err := t.append(msg); err != nil {
		return t.broken(err), true
	}
	a.text += msg.Content.String()
	a.cut++
	a.remark = goOnRemark
	byLimit := msg.FinishReason == chat.FinishLength
	switch {
	case a.hopeless != nil:
		return t.partial(a.hopeless), true
	case a.cut >= mostCuts && byLimit:
		return t.partial(fmt.Errorf("the answer was cut off %d times by the output limit%s; ask to go on, or raise model.max_tokens or, on a local server, its context size (num_ctx)", a.cut, t.room(msg))), true
	case a.cut >= mostCuts:
		return t.partial(fmt.Errorf("the connection to the model broke off %d times in this answer; ask to go on", a.cut)), true
	case byLimit:
		a.maxTokens = t.raised(msg)
	default:
		t.emit(Notice{"The connection broke off in the middle of the answer; asking for the rest."})
	}
	return Done{}, false
}

// room says how much of the window an answer that hit a limit had left: a local
// server with a small context stops there and calls it the output limit.
func (t *turn) room(msg chat.Message) string {
	if msg.Usage == nil || msg.Usage.Prompt() == 0 {
		return ""
	}
	took := fmt.Sprintf("%d tokens of prompt and %d of answer", msg.Usage.Prompt(), msg.Usage.Output)
	if t.s.Window > 0 {
		took += fmt.Sprintf(" in a window of %d, as far as is known", t.s.Window)
	}
	return " (" + took + ")"
}

// raised is the output limit for the rest of an answer that hit it. It is
// never lower than what the session allows or the service has just shown.
func (t *turn) raised(msg chat.Message) int {
	base := t.s.Options.MaxTokens
	if base == 0 {
		base = baseOutput
		if msg.Usage != nil {
			base = max(base, msg.Usage.Output)
		}
	}
	return max(base, min(base*(t.answer.cut+1), mostOutput))
}

// takeNothing acts on an answer with nothing to show.
func (t *turn) takeNothing(msg chat.Message) (Done, bool) {
	a := &t.answer
	if a.beside != "" {
		return Done{Status: OK, Text: a.beside}, true
	}
	thought := msg.Reasoning != "" || msg.ReasoningContent != nil && strings.TrimSpace(*msg.ReasoningContent) != ""
	why := "the model answered with nothing"
	switch {
	case a.afterTools && !a.nudged:
		a.nudged = true
		a.remark = useRemark
	case thought && a.thoughts < mostThoughts:
		a.thoughts++
		a.remark = writeRemark
		why = "the model thought, but wrote nothing"
	case !thought && a.empties < mostEmpties:
		a.empties++
	default:
		return t.partial(errors.New("the model answered with nothing, several times; try again, or choose another model")), true
	}
	return t.again(why)
}

// again makes void what came of the last answer and has the loop ask once
// more.
func (t *turn) again(why string) (Done, bool) {
	t.retries++
	if err := t.void(Retry{Attempt: t.retries, Reason: why}); err != nil {
		return t.broken(err), true
	}
	return Done{}, false
}

// giveUp ends the turn with an answer that cannot be used as it is. What it
// says was shown and is kept; its calls are not.
func (t *turn) giveUp(msg chat.Message, why error) Done {
	if text := msg.Content.String(); strings.TrimSpace(text) != "" {
		said := chat.AssistantText(text)
		said.FinishReason = chat.FinishCut
		if err := t.append(said); err != nil {
			return t.broken(err)
		}
		t.answer.text += text
	}
	return t.partial(why)
}

func (t *turn) partial(why error) Done {
	return Done{Status: Partial, Text: t.answer.text, Err: why}
}

// broken ends a turn whose own machinery failed, e.g. a full disk.
func (t *turn) broken(err error) Done {
	return Done{Status: Failed, Text: t.answer.text, Err: err}
}
