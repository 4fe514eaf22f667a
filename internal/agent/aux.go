package agent

import (
	"context"
	"fmt"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/provider"
)

// Slot names a kind of side call; each may have a model of its own under
// `auxiliary` in the configuration.
type Slot string

// The slots of the original.
const (
	SlotCompression     Slot = "compression"
	SlotTitle           Slot = "title_generation"
	SlotSessionSearch   Slot = "session_search"
	SlotApproval        Slot = "approval"
	SlotWebExtract      Slot = "web_extract"
	SlotVision          Slot = "vision"
	SlotSkillsHub       Slot = "skills_hub"
	SlotMCP             Slot = "mcp"
	SlotCurator         Slot = "curator"
	SlotGoalJudge       Slot = "goal_judge"
	defaultAuxMaxTokens      = 2000
)

// Aux makes side calls: one request, no tools, no transcript. What they cost
// is counted like every call.
type Aux struct {
	// Open resolves a slot to a client and a model.
	Open func(slot Slot) (provider.Client, string, error)
	// Configured reports whether a slot has a model of its own; nil: none has.
	Configured func(slot Slot) bool
}

// Has reports whether a slot has a model of its own. What is only a service to
// the model asks nobody else.
func (x *Aux) Has(slot Slot) bool { return x != nil && x.Configured != nil && x.Configured(slot) }

// Ask sends one question through a slot and returns the answer's text.
func (x *Aux) Ask(ctx context.Context, slot Slot, system, user string, maxTokens int) (string, error) {
	client, model, err := x.Open(slot)
	if err != nil {
		return "", fmt.Errorf("side call %s: %w", slot, err)
	}
	if maxTokens == 0 {
		maxTokens = defaultAuxMaxTokens
	}
	msg, err := provider.Collect(client.Stream(ctx, &provider.Request{
		Model: model, System: system, Messages: []chat.Message{chat.UserText(user)},
		Options: provider.Options{MaxTokens: maxTokens}, Purpose: string(slot),
	}))
	if err != nil {
		return "", fmt.Errorf("side call %s: %w", slot, err)
	}
	return msg.Content.String(), nil
}
