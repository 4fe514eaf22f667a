package wire

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/hermes-go/hermes/provider"
)

// Adapted is what a service was seen to refuse, so that a format leaves it
// out. Everything but NoThinking is remembered for the model.
type Adapted struct {
	NoTools       bool // function calling
	NoPatterns    bool // pattern and format in schemas
	NoThinking    bool // replayed reasoning with signatures
	NoTemperature bool
	NoEffort      bool // any field about reasoning
	NoBudget      bool // thinking by a budget; set for a single request by its format
	NoStream      bool
	NoStreamUsage bool // stream_options
	NoDeveloper   bool // the role
	NoCache       bool // cache breakpoints and keys
	OtherMax      bool // the other one of max_tokens and max_completion_tokens

	tools int // definitions that were dropped
}

func (a Adapted) with(b Adapted) Adapted {
	a.NoThinking = a.NoThinking || b.NoThinking
	a.tools += b.tools
	return a
}

// maxAdapt bounds how often one request is changed and sent again.
const maxAdapt = 4

// adapt changes what can be changed after a refusal. It reports whether the
// request is worth sending again, and what a person should know.
func (x *exchange) adapt(err error, once *Adapted, attempt int) (notice string, ok bool) {
	var e *provider.Error
	if !errors.As(err, &e) || attempt > maxAdapt || x.draft.delivered() {
		return "", false
	}
	if e.Class == provider.ClassSignature && !x.adapted.NoThinking {
		once.NoThinking = true
		return "", true
	}
	if e.ToolIndex >= 0 && e.ToolIndex < len(x.r.Tools) && e.Class == provider.ClassFormat && !x.adapted.NoTools {
		def := &x.r.Tools[e.ToolIndex]
		x.Client.tools.refuse(def, e.Message)
		return fmt.Sprintf("tool %s is left out: the service refuses it: %s", def.Function.Name, e.Message), true
	}
	a := x.adapted
	notice, ok = a.learn(e, len(x.tools) > 0)
	if !ok {
		return "", false
	}
	x.mu.Lock()
	a.NoThinking = false
	x.Client.learn[x.r.Model] = a
	x.mu.Unlock()
	return notice, true
}

// learn reads what a refusal is about. It never learns the same thing twice,
// so a service that goes on refusing is believed in the end.
func (a *Adapted) learn(e *provider.Error, tools bool) (notice string, ok bool) {
	set := func(field *bool) bool {
		if *field {
			return false
		}
		*field = true
		return true
	}
	switch {
	case e.Class == provider.ClassGrammar:
		return "", set(&a.NoPatterns)
	case e.Class != provider.ClassFormat && e.Class != provider.ClassUnknown && e.Class != provider.ClassServer:
		return "", false
	case e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity && e.Status != http.StatusNotFound && e.Status != http.StatusInternalServerError && e.Status != http.StatusNotImplemented:
		return "", false
	}
	text := strings.ToLower(e.Param + " " + e.Message)
	about := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	if !about("not support", "unsupported", "does not allow", "not allowed", "unknown", "unrecognized", "unexpected", "not permitted", "extra inputs", "invalid value", "not implemented", "deprecated", "tool use", "extra fields", "cannot find field", "only supports", "is not a valid") {
		return "", false
	}
	switch {
	case tools && about("tool use", "support tools", "function calling", "support functions", "tools is not supported", "tools are not supported", "tool calling", "'tools'", "\"tools\""):
		if set(&a.NoTools) {
			return "the model takes no tools: it answers in text only", true
		}
	case about("max_completion_tokens", "max_tokens"):
		return "", set(&a.OtherMax)
	case about("stream_options"):
		return "", set(&a.NoStreamUsage)
	case about("temperature"):
		return "", set(&a.NoTemperature)
	case about("cache_control", "prompt_cache_key"):
		return "", set(&a.NoCache)
	case about("reasoning", "thinking", "effort", "think", "encrypted content"):
		return "", set(&a.NoEffort)
	case about("developer"):
		return "", set(&a.NoDeveloper)
	case about("stream"):
		return "", set(&a.NoStream)
	}
	return "", false
}
