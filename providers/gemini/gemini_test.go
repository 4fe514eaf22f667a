package gemini

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
		Wire: provider.Gemini, Path: "/v1beta", Model: "gemini-3-pro-preview", Golden: "gemini-3.json", Effort: "high",
		Replayed: func(t *testing.T, first chat.Message, next fakemodel.Request) {
			if got := string(first.ToolCalls[0].Extra["extra_content"]); got != `{"google":{"thought_signature":"sig-1"}}` {
				t.Errorf("kept %s", got)
			}
			if !strings.Contains(string(next.Body), `"thoughtSignature":"sig-1"`) {
				t.Errorf("the signature is not sent back: %s", next.Body)
			}
		},
	})
}
