package responses

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
		Wire: provider.Responses, Path: "/v1", Model: "gpt-5", Golden: "gpt-5.json", Effort: "medium",
		Replayed: func(t *testing.T, first chat.Message, next fakemodel.Request) {
			body := string(next.Body)
			if !strings.Contains(string(first.CodexReasoningItems), "sig-1") || !strings.Contains(body, `"encrypted_content":"sig-1"`) {
				t.Errorf("the encrypted item is not sent back: %s", body)
			}
			if strings.Contains(body, "rs_1") || strings.Contains(body, `"id"`) {
				t.Errorf("an item has its id: %s", body)
			}
			for _, want := range []string{`"include":["reasoning.encrypted_content"]`, `"store":false`, `"call_id":"call_a"`} {
				if !strings.Contains(body, want) {
					t.Errorf("lacks %s: %s", want, body)
				}
			}
		},
	})
}
