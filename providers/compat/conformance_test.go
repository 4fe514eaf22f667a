package compat

import (
	"strings"
	"testing"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/fakemodel"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/provider/providertest"
)

func TestConformance(t *testing.T) {
	for _, c := range []struct {
		kind, model, golden string
		echoed              bool
	}{
		{"custom", "m", "custom.json", true},
		{"openai", "gpt-5", "openai.json", false},
		{"openrouter", "anthropic/claude-sonnet-4.5", "openrouter-claude.json", true},
		{"deepseek", "deepseek-reasoner", "deepseek.json", true},
		{"kimi-coding", "kimi-k2", "kimi.json", true},
		{"mistral", "mistral-large", "mistral.json", false},
		{"gemini", "gemini-2.5-flash", "gemini-compat.json", false},
		{"nvidia", "nemotron", "nvidia.json", true},
	} {
		t.Run(c.kind, func(t *testing.T) {
			providertest.Run(t, providertest.Suite{
				Wire: provider.ChatCompletions, Kind: c.kind, Path: "/v1", Model: c.model, Golden: c.golden,
				Replayed: func(t *testing.T, first chat.Message, next fakemodel.Request) {
					if first.ReasoningContent == nil || *first.ReasoningContent != "First I think." {
						t.Errorf("kept %v", first.ReasoningContent)
					}
					if got := strings.Contains(string(next.Body), `"reasoning_content":"First I think."`); got != c.echoed {
						t.Errorf("echoed %v: %s", got, next.Body)
					}
				},
			})
		})
	}
}
