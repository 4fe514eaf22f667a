package provider

import "strings"

// limit is what is known of a family of models, by a part of the name. Longer
// parts stand before shorter ones that they contain.
type limit struct {
	part           string
	window, output int // 0: see the next match
}

const defaultWindow = 256_000

// limits are looked through from the top; the first part that occurs counts.
var limits = [...]limit{
	{"claude-opus-4-6", 1_000_000, 128_000},
	{"claude-opus-4.6", 1_000_000, 128_000},
	{"claude-opus-4-7", 1_000_000, 128_000},
	{"claude-opus-4.7", 1_000_000, 128_000},
	{"claude-sonnet-4-6", 1_000_000, 64_000},
	{"claude-sonnet-4.6", 1_000_000, 64_000},
	{"claude-sonnet-4-7", 1_000_000, 64_000},
	{"claude-sonnet-4.7", 1_000_000, 64_000},
	{"claude-opus-4-5", 200_000, 64_000},
	{"claude-opus-4.5", 200_000, 64_000},
	{"claude-sonnet-4", 200_000, 64_000},
	{"claude-haiku-4", 200_000, 64_000},
	{"claude-opus-4", 200_000, 32_000},
	{"claude-3-7", 200_000, 128_000},
	{"claude-3.7", 200_000, 128_000},
	{"claude-3-5", 200_000, 8192},
	{"claude-3.5", 200_000, 8192},
	{"claude-3", 200_000, 4096},
	{"claude", 200_000, 128_000},
	{"gpt-5.4", 1_050_000, 0},
	{"gpt-5.5", 1_050_000, 0},
	{"gpt-5", 400_000, 0},
	{"gpt-4.1", 1_047_576, 0},
	{"gpt-4", 128_000, 0},
	{"gpt-oss", 131_072, 0},
	{"gemini", 1_048_576, 0},
	{"gemma-3", 131_072, 0},
	{"deepseek-chat", 1_000_000, 0},
	{"deepseek-reasoner", 1_000_000, 0},
	{"deepseek-v4", 1_000_000, 0},
	{"deepseek", 128_000, 0},
	{"qwen3-coder", 262_144, 65_536},
	{"qwen3", 131_072, 65_536},
	{"qwen", 131_072, 0},
	{"llama", 131_072, 0},
	{"minimax", 204_800, 131_072},
	{"glm", 202_752, 0},
	{"grok-4-fast", 2_000_000, 0},
	{"grok-4.1-fast", 2_000_000, 0},
	{"grok-4-1-fast", 2_000_000, 0},
	{"grok-4", 256_000, 0},
	{"grok", 131_072, 0},
	{"kimi", 262_144, 0},
	{"moonshot", 262_144, 0},
	{"mistral", 131_072, 0},
	{"devstral", 131_072, 0},
	{"hermes", 131_072, 0},
	{"nemotron", 131_072, 0},
}

func limitOf(model string) limit {
	model = strings.ToLower(model)
	for _, l := range limits {
		if strings.Contains(model, l.part) {
			return l
		}
	}
	return limit{window: defaultWindow}
}

// ContextWindow is how many tokens a model takes, by its name; 256,000 for one
// that is not known.
func ContextWindow(model string) int { return limitOf(model).window }

// MaxOutput is the most tokens that a model writes, 0 when not known.
func MaxOutput(model string) int { return limitOf(model).output }
