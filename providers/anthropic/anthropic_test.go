package anthropic

import (
	"strings"
	"testing"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/fakemodel"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/provider/providertest"
)

func TestConformance(t *testing.T) {
	providertest.Run(t, providertest.Suite{
		Wire: provider.AnthropicMessages, Model: "claude-sonnet-4-5", Golden: "claude.json",
		Replayed: func(t *testing.T, first chat.Message, next fakemodel.Request) {
			if want := `[{"type":"thinking","thinking":"First I think.","signature":"sig-1"}]`; string(first.ReasoningDetails) != want {
				t.Errorf("kept %s", first.ReasoningDetails)
			}
			if strings.Contains(string(next.Body), "sig-1") {
				t.Error("a service that is not Anthropic's gets a signature")
			}
		},
	})
}
