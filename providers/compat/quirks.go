package compat

import (
	"strings"

	"github.com/hermes-go/hermes/internal/wire"
)

// quirks is how a service departs from the format. The zero value is a
// service that takes what it knows and ignores the rest.
type quirks struct {
	strict        bool   // refuses message fields that it does not know
	callExtra     bool   // wants back what it added to a tool call, strict or not
	echo          bool   // demands reasoning_content on every assistant turn
	developer     bool   // new models call the system message so
	max           string // max_tokens by another name
	maxDefault    int    // sent when nobody said how much; services with a low default
	ceiling       bool   // Claude is told its ceiling, since its services demand a number
	noTemperature bool
	noStreamUsage bool // sends usage unasked and refuses to be asked
	shortIDs      bool // call ids are nine letters or digits
	cacheKey      bool // takes prompt_cache_key
	keyHeader     string
	sessionHeader string
	headers       []string // pairs of name and value
	body          string   // fields of every request, a JSON object
	effort        func(b *wire.Body, model, effort string)
	cached        func(model string) bool // whether cache breakpoints are written
}

var kimi = quirks{echo: true, noTemperature: true, maxDefault: 32_000, effort: effortKimi}

func claude(model string) bool { return strings.Contains(strings.ToLower(model), "claude") }

func qwen(model string) bool { return strings.Contains(strings.ToLower(model), "qwen") }

// demandsEcho is true where a model's own service would want reasoning back,
// whoever serves it.
func demandsEcho(model string) bool {
	model = strings.ToLower(model)
	return strings.Contains(model, "kimi") || strings.Contains(model, "moonshot") || strings.Contains(model, "deepseek")
}

type reasoning struct {
	Enabled bool   `json:"enabled"`
	Effort  string `json:"effort,omitempty"`
}

// effortObject is OpenRouter's way, which other routers have taken over.
func effortObject(b *wire.Body, _, effort string) {
	if effort == "none" {
		b.Set("reasoning", reasoning{})
		return
	}
	b.Set("reasoning", reasoning{Enabled: true, Effort: effort})
}

// effortOpenRouter asks for reasoning only of models that have any.
func effortOpenRouter(b *wire.Body, model, effort string) {
	for _, p := range []string{"deepseek/", "anthropic/", "openai/", "x-ai/", "google/gemini-2", "google/gemini-3", "qwen/qwen3", "tencent/hy3-preview", "xiaomi/", "moonshotai/", "z-ai/", "minimax/"} {
		if strings.HasPrefix(model, p) {
			effortObject(b, model, effort)
			return
		}
	}
}

// effortPlain is OpenAI's field; off is said by leaving it out.
func effortPlain(b *wire.Body, _, effort string) {
	switch effort {
	case "none":
	case "xhigh":
		b.Set("reasoning_effort", "high")
	default:
		b.Set("reasoning_effort", effort)
	}
}

func effortOpenAI(b *wire.Body, model, effort string) {
	if wire.Reasons(model) {
		b.Set("reasoning_effort", effort)
	}
}

func effortGrok(b *wire.Body, model, effort string) {
	if strings.Contains(model, "grok-3-mini") {
		effortPlain(b, model, effort)
	}
}

type thinking struct {
	Type string `json:"type"`
}

// effortThinking is a switch without degrees.
func effortThinking(b *wire.Body, _, effort string) {
	if effort == "none" {
		b.Set("thinking", thinking{"disabled"})
		return
	}
	b.Set("thinking", thinking{"enabled"})
}

func effortKimi(b *wire.Body, model, effort string) {
	effortThinking(b, model, effort)
	effortPlain(b, model, effort)
}

// effortSwitch is Qwen's.
func effortSwitch(b *wire.Body, _, effort string) { b.Set("enable_thinking", effort != "none") }

// effortCustom is for servers of one's own: Ollama's switch for off, OpenAI's
// field for the rest. A server that refuses it is not asked again.
func effortCustom(b *wire.Body, model, effort string) {
	if effort == "none" {
		b.Set("think", false)
		return
	}
	effortPlain(b, model, effort)
}
