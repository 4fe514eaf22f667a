package agent

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/tool"
)

type verdictKind int

const (
	runThem  verdictKind = iota
	refuse               // store the calls with the results that say why not
	askAgain             // send the same request again; nothing is stored
	giveUp               // end the turn; the calls are not stored
)

// verdict is what becomes of the calls of an answer.
type verdict struct {
	kind    verdictKind
	calls   []chat.ToolCall
	results []tool.Result // refuse: one for each call
	why     error         // askAgain, giveUp
}

// strikes count what a model got wrong in a row.
type strikes struct {
	unknown int // answers that named an unknown tool
	badArgs int // answers with unreadable arguments
	cut     int // answers whose calls were cut off
}

const (
	mostUnknown      = 3
	mostBadArguments = 3
	mostCutCalls     = 2
)

// judge decides whether the calls of an answer may run, with names and
// arguments repaired where nothing had to be guessed.
func (t *turn) judge(msg chat.Message) verdict {
	calls := t.bounded(distinct(msg.ToolCalls))
	switch msg.FinishReason {
	case chat.FinishLength, chat.FinishCut, chat.FinishFilter:
		// Even arguments that look whole may be the half of what was meant: a
		// truncated write is worse than none.
		return t.refuseCut(calls[len(calls)-1])
	}
	known := t.known()
	var unknown []int
	for i := range calls {
		f := &calls[i].Function
		if name, ok := tool.Repair(f.Name, known); ok {
			f.Name = name
		} else {
			unknown = append(unknown, i)
		}
	}
	if len(unknown) > 0 {
		return t.refuseNames(calls, unknown, known)
	}
	t.strikes.unknown = 0

	bad := map[int]error{}
	for i := range calls {
		f := &calls[i].Function
		fixed, err := RepairArguments(f.Arguments)
		switch {
		case err == nil:
			f.Arguments = fixed
		case cutOff(f.Arguments):
			return t.refuseCut(calls[i])
		default:
			bad[i] = err
		}
	}
	if len(bad) > 0 {
		return t.refuseArguments(calls, bad)
	}
	t.strikes = strikes{}
	return verdict{kind: runThem, calls: calls}
}

func (t *turn) known() []string {
	names := make([]string, len(t.defs))
	for i, d := range t.defs {
		names[i] = d.Function.Name
	}
	return names
}

// distinct drops calls that repeat another to the letter.
func distinct(in []chat.ToolCall) []chat.ToolCall {
	var out []chat.ToolCall
	seen := map[chat.FunctionCall]bool{}
	for _, c := range in {
		if !seen[c.Function] {
			seen[c.Function] = true
			out = append(out, c)
		}
	}
	return out
}

// bounded drops the calls of a tool that are more than one answer may make.
// They are not stored either: the model sees what was run, and may go on.
func (t *turn) bounded(in []chat.ToolCall) []chat.ToolCall {
	if t.MostAtOnce == nil || len(in) < 2 {
		return in
	}
	count := map[string]int{}
	var out []chat.ToolCall
	for _, c := range in {
		name := c.Function.Name
		count[name]++
		if most := t.MostAtOnce(name); most > 0 && count[name] > most {
			continue
		}
		out = append(out, c)
	}
	if n := len(in) - len(out); n > 0 {
		t.emit(Notice{fmt.Sprintf("The model asked for more at once than is allowed; %d calls were left out.", n)})
	}
	return out
}

func (t *turn) refuseCut(c chat.ToolCall) verdict {
	t.strikes.cut++
	if t.strikes.cut < mostCutCalls {
		return verdict{kind: askAgain, why: errors.New("a tool call was cut off")}
	}
	return verdict{kind: giveUp, why: fmt.Errorf(
		"response truncated due to output length limit: the call of %s broke off after %d bytes of arguments and was not run; have it written in smaller parts, or raise model.max_tokens",
		shortName(c), len(c.Function.Arguments))}
}

func (t *turn) refuseNames(calls []chat.ToolCall, unknown []int, known []string) verdict {
	t.strikes.unknown++
	if t.strikes.unknown >= mostUnknown {
		return verdict{kind: giveUp, why: fmt.Errorf("invalid tool call: the model asked for %q, which does not exist, %d times in a row",
			shortName(calls[unknown[0]]), t.strikes.unknown)}
	}
	results := make([]tool.Result, len(calls))
	for i, c := range calls {
		if !slices.Contains(unknown, i) {
			results[i] = failure("skipped, because another call of the same turn named an unknown tool; send this call again")
			continue
		}
		about := fmt.Sprintf("Tool '%s' does not exist. Available tools: %s", shortName(c), strings.Join(known, ", "))
		results[i] = tool.Result{JSON: errorJSON(about, tool.Nearest(c.Function.Name, known, 3)), Err: errors.New(about)}
	}
	return verdict{kind: refuse, calls: calls, results: results}
}

// shortName is a call's name as it is shown: it may be anything.
func shortName(c chat.ToolCall) string {
	const most = 80
	name := c.Function.Name
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "..."
	}
	return name
}

func (t *turn) refuseArguments(calls []chat.ToolCall, bad map[int]error) verdict {
	t.strikes.badArgs++
	if t.strikes.badArgs < mostBadArguments {
		return verdict{kind: askAgain, why: errors.New("the model's tool arguments were no valid JSON")}
	}
	t.strikes.badArgs = 0
	results := make([]tool.Result, len(calls))
	for i := range calls {
		err, isBad := bad[i]
		if !isBad {
			results[i] = failure("Skipped, because the arguments of another call of the same turn were invalid; send this call again")
			continue
		}
		calls[i].Function.Arguments = "{}" // what cannot be read cannot be sent back either
		results[i] = failure(fmt.Sprintf("Invalid JSON arguments. %v. Send a JSON object, {} for no arguments, and retry.", err))
	}
	return verdict{kind: refuse, calls: calls, results: results}
}
