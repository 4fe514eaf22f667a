package compat

import (
	"errors"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/provider"
)

func env(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

// The table of services is here, so what is resolved with it is tested here.
func TestResolve(t *testing.T) {
	t.Parallel()
	or := "OPENROUTER_API_KEY"
	mine := []provider.Named{
		{Key: "mine", Name: "My Box", BaseURL: "https://llm.example.com/v1/", KeyEnv: "MY_KEY", Model: "m1", Windows: map[string]int{"m1": 9000}},
		{Key: "glm", BaseURL: "http://127.0.0.1:9/v1"},
		{Key: "deepseek", BaseURL: "http://127.0.0.1:9/v1"},
		{Key: "broken", BaseURL: "not an address"},
		{Key: "claude-proxy", BaseURL: "https://proxy.example.com/anthropic", APIKey: "pk-1234"},
	}
	for _, c := range []struct {
		name string
		in   provider.Wanted
		want string // kind wire base key model
		err  string
	}{
		{"nothing", provider.Wanted{}, "", "no model service is set up; run `hermes setup`, or try without a key: `--provider offline`"},
		{"a key", provider.Wanted{Lookup: env(or, "sk-or-1")}, "openrouter chat_completions https://openrouter.ai/api/v1 sk-or-1 -", ""},
		{"a placeholder is no key", provider.Wanted{Lookup: env(or, "changeme", "DEEPSEEK_API_KEY", "sk-d1")}, "deepseek chat_completions https://api.deepseek.com/v1 sk-d1 -", ""},
		{"order", provider.Wanted{Lookup: env("XAI_API_KEY", "xai-1", "GEMINI_API_KEY", "g-123")}, "gemini gemini https://generativelanguage.googleapis.com/v1beta g-123 -", ""},
		{"OpenAI's key is OpenAI's", provider.Wanted{Lookup: env("OPENAI_API_KEY", "sk-1")}, "openai codex_responses https://api.openai.com/v1 sk-1 -", ""},
		{"case 72: a foreign host gets no key", provider.Wanted{BaseURL: "https://llm.example.com/v1", Lookup: env(or, "sk-or-1", "OPENAI_API_KEY", "sk-1")}, "custom chat_completions https://llm.example.com/v1 - -", ""},
		{"case 72, named custom", provider.Wanted{Provider: "custom", BaseURL: "http://127.0.0.1:8080/v1", Lookup: env(or, "sk-or-1")}, "custom chat_completions http://127.0.0.1:8080/v1 - -", ""},
		{"a service's key and another host", provider.Wanted{Provider: "openrouter", BaseURL: "https://evil.example.com/v1", Lookup: env(or, "sk-or-1")}, "", "those of openrouter are not sent elsewhere"},
		{"another host with its own key", provider.Wanted{Provider: "openrouter", BaseURL: "https://proxy.example.com/v1", APIKey: "pk-1234", Lookup: env(or, "sk-or-1")}, "openrouter chat_completions https://proxy.example.com/v1 pk-1234 -", ""},
		{"the pair of variables", provider.Wanted{Provider: "openrouter", Lookup: env(or, "sk-or-1", "OPENROUTER_BASE_URL", "https://proxy.example.com/v1/")}, "openrouter chat_completions https://proxy.example.com/v1 sk-or-1 -", ""},
		{"a known host by URL", provider.Wanted{Provider: "custom", BaseURL: "https://api.deepseek.com/v1", Lookup: env("DEEPSEEK_API_KEY", "sk-d1")}, "custom chat_completions https://api.deepseek.com/v1 sk-d1 -", ""},
		{"alias", provider.Wanted{Provider: "grok", Model: "grok-4", Lookup: env("XAI_API_KEY", "xai-1")}, "xai codex_responses https://api.x.ai/v1 xai-1 grok-4", ""},
		{"upper case", provider.Wanted{Provider: "DeepSeek", Lookup: env("DEEPSEEK_API_KEY", "sk-d1")}, "deepseek chat_completions https://api.deepseek.com/v1 sk-d1 -", ""},
		{"ollama is custom", provider.Wanted{Provider: "ollama", BaseURL: "http://localhost:11434/v1"}, "custom chat_completions http://localhost:11434/v1 - -", ""},
		{"custom without an address", provider.Wanted{Provider: "custom"}, "", "custom needs an address; set model.base_url in config.yaml, or CUSTOM_BASE_URL"},
		{"no key", provider.Wanted{Provider: "anthropic"}, "", "anthropic needs a key: ANTHROPIC_API_KEY or ANTHROPIC_TOKEN is not set; run `hermes setup`"},
		{"unknown", provider.Wanted{Provider: "nonesuch"}, "", `there is no provider "nonesuch"`},
		{"bad URL", provider.Wanted{BaseURL: "localhost:8080"}, "", "no http(s) address"},
		{"the variable", provider.Wanted{Lookup: env("HERMES_INFERENCE_PROVIDER", "deepseek", "DEEPSEEK_API_KEY", "sk-d1", or, "sk-or-1")}, "deepseek chat_completions https://api.deepseek.com/v1 sk-d1 -", ""},
		{"the variable says auto", provider.Wanted{Lookup: env("HERMES_INFERENCE_PROVIDER", "auto", or, "sk-or-1")}, "openrouter chat_completions https://openrouter.ai/api/v1 sk-or-1 -", ""},
		{"named", provider.Wanted{Provider: "mine", Named: mine, Lookup: env("MY_KEY", "mk-1", or, "sk-or-1")}, "custom chat_completions https://llm.example.com/v1 mk-1 m1", ""},
		{"named by slug", provider.Wanted{Provider: "custom:my-box", Model: "m2", Named: mine, Lookup: env("MY_KEY", "mk-1")}, "custom chat_completions https://llm.example.com/v1 mk-1 m2", ""},
		{"named without its key", provider.Wanted{Provider: "mine", Named: mine, Lookup: env(or, "sk-or-1")}, "", "MY_KEY is not set, and providers.mine needs it"},
		{"an entry hides an alias", provider.Wanted{Provider: "glm", Named: mine}, "custom chat_completions http://127.0.0.1:9/v1 - -", ""},
		{"a name hides an entry", provider.Wanted{Provider: "deepseek", Named: mine, Lookup: env("DEEPSEEK_API_KEY", "sk-d1")}, "deepseek chat_completions https://api.deepseek.com/v1 sk-d1 -", ""},
		{"a broken entry", provider.Wanted{Provider: "broken", Named: mine}, "", "providers.broken has no usable base_url"},
		{"the address says Messages", provider.Wanted{Provider: "claude-proxy", Named: mine}, "custom anthropic_messages https://proxy.example.com/anthropic pk-1234 -", ""},
		{"Kimi's other address", provider.Wanted{Provider: "kimi", Lookup: env("KIMI_API_KEY", "sk-kimi-1")}, "kimi-coding anthropic_messages https://api.kimi.com/coding sk-kimi-1 -", ""},
		{"said mode", provider.Wanted{Provider: "openai", APIMode: "chat_completions", Lookup: env("OPENAI_API_KEY", "sk-1")}, "openai chat_completions https://api.openai.com/v1 sk-1 -", ""},
		{"OpenCode by model", provider.Wanted{Provider: "zen", Model: "claude-opus-4-6", Lookup: env("OPENCODE_ZEN_API_KEY", "oz-1")}, "opencode-zen anthropic_messages https://opencode.ai/zen oz-1 claude-opus-4-6", ""},
		{"Gemini's compatible address", provider.Wanted{Provider: "gemini", BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai", Lookup: env("GEMINI_API_KEY", "g-123")}, "gemini chat_completions https://generativelanguage.googleapis.com/v1beta/openai g-123 -", ""},
		{"LM Studio needs no key", provider.Wanted{Provider: "lmstudio"}, "lmstudio chat_completions http://127.0.0.1:1234/v1 - -", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := provider.Resolve(c.in)
			if c.err != "" {
				var setup *provider.SetupError
				if !errors.As(err, &setup) || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("got %v, %v", got.Endpoint, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			e := got.Endpoint
			dash := func(s string) string {
				if s == "" {
					return "-"
				}
				return s
			}
			if line := strings.Join([]string{got.Kind.Name, string(e.Wire), e.BaseURL, dash(e.Key), dash(got.Model)}, " "); line != c.want {
				t.Errorf("got  %s\nwant %s", line, c.want)
			}
			if got.Source == "" {
				t.Error("no source")
			}
		})
	}
}

func TestResolvedWindow(t *testing.T) {
	t.Parallel()
	got, err := provider.Resolve(provider.Wanted{Provider: "x", Named: []provider.Named{{Key: "x", BaseURL: "http://127.0.0.1:9/v1", Model: "m", Window: 100, Windows: map[string]int{"m": 200}}}})
	if err != nil || got.Window != 200 {
		t.Errorf("got %d, %v", got.Window, err)
	}
}

func TestTheTable(t *testing.T) {
	t.Parallel()
	if len(table) < 25 {
		t.Errorf("%d services", len(table))
	}
	seen := map[string]string{}
	for i := range table {
		r := &table[i]
		if r.label == "" || r.base == "" && r.baseEnv == "" || len(r.keys) == 0 && !r.keyless {
			t.Errorf("%s lacks a field", r.name)
		}
		for _, k := range r.keys {
			if other := seen[k]; other != "" {
				t.Errorf("%s and %s share %s: a key belongs to one host", r.name, other, k)
			}
			seen[k] = r.name
		}
		if len(r.headers)%2 != 0 {
			t.Errorf("%s: headers come in pairs", r.name)
		}
	}
}
