// Package clarify is the tool with which a model asks the person a question.
// How it is shown and answered is the front's matter.
package clarify

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hermes-go/hermes/ask"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/tool"
)

//go:embed clarify.md
var about string

const mostChoices = 4

var schema = json.RawMessage(`{
"type": "object",
"properties": {
 "question": {"type": "string", "description": "The question, as the user will read it."},
 "choices": {"type": "array", "items": {"type": "string"}, "description": "Up to 4 answers to choose from; leave out for an open question."}
},
"required": ["question"]
}`)

func init() {
	tool.Register(tool.Func(tool.Tool{
		Name: "clarify", Toolset: "clarify", Emoji: "❓", About: about, Schema: schema,
		Needs:    []tool.Need{agent.NeedsLoop(), tool.Needs[ask.Asker]()},
		Harmless: tool.Always,
	}, run))
}

type args struct {
	Question string   `json:"question"`
	Choices  []string `json:"choices"`
}

type result struct {
	Question string   `json:"question"`
	Choices  []string `json:"choices_offered"`
	Answer   string   `json:"user_response"`
}

func run(ctx context.Context, c *tool.Call, in args) (any, error) {
	question := strings.TrimSpace(in.Question)
	if question == "" {
		return nil, errors.New("the question is empty")
	}
	var choices []string
	for _, choice := range in.Choices {
		if choice = strings.TrimSpace(choice); choice != "" && len(choices) < mostChoices {
			choices = append(choices, choice)
		}
	}
	asker, err := tool.Use[ask.Asker](c.Session.Services)
	if err != nil {
		return nil, err
	}
	answer, err := asker.Ask(ctx, ask.Request{Kind: ask.Question, Text: question, Choices: choices})
	switch {
	case errors.Is(err, ask.ErrNobody), errors.Is(err, ask.ErrTimeout):
		return nil, fmt.Errorf("%w; use your best judgement, and say what you assumed", err)
	case err != nil:
		return nil, err
	}
	return result{question, choices, answer.Text}, nil
}
