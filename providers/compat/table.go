package compat

import (
	"strings"

	"github.com/hermes-go/hermes/provider"
)

// row is one service. The order of the rows is the order in which a service
// with a key is looked for when none was asked for.
type row struct {
	name    string
	label   string
	aliases []string
	base    string
	baseEnv string
	baseFor func(key string) string
	keys    []string // variables
	site    string   // where a person gets a key
	wire    provider.Wire
	wireFor func(model string) provider.Wire
	small   string // a cheap model for side calls
	keyless bool
	unasked bool // never chosen unless asked for

	quirks
}

// table is plain data: nothing runs when the program starts.
var table = [...]row{
	{
		name: "openrouter", label: "OpenRouter", base: "https://openrouter.ai/api/v1", baseEnv: "OPENROUTER_BASE_URL", keys: []string{"OPENROUTER_API_KEY"},
		aliases: []string{"or"}, site: "https://openrouter.ai/keys", small: "google/gemini-3-flash-preview",
		quirks: quirks{
			headers: []string{"HTTP-Referer", "https://github.com/hermes-go/hermes", "X-OpenRouter-Title", "Hermes in Go", "X-OpenRouter-Categories", "cli-agent"},
			effort:  effortOpenRouter, cached: claude, ceiling: true, body: `{"usage":{"include":true}}`,
		},
	},
	{
		name: "openai", label: "OpenAI", base: "https://api.openai.com/v1", baseEnv: "OPENAI_BASE_URL", keys: []string{"OPENAI_API_KEY"},
		site: "https://platform.openai.com/api-keys", wire: provider.Responses,
		quirks: quirks{strict: true, developer: true, max: "max_completion_tokens", effort: effortOpenAI, cacheKey: true},
	},
	{
		name: "nous", label: "Nous Research", base: "https://inference-api.nousresearch.com/v1", baseEnv: "NOUS_BASE_URL", keys: []string{"NOUS_API_KEY"},
		site: "https://portal.nousresearch.com", quirks: quirks{effort: effortObject, cached: claude, ceiling: true, body: `{"tags":["product=hermes-agent"]}`},
	},
	{
		name: "gemini", label: "Google Gemini", aliases: []string{"google", "google-ai-studio"}, base: "https://generativelanguage.googleapis.com/v1beta", baseEnv: "GEMINI_BASE_URL",
		keys: []string{"GOOGLE_API_KEY", "GEMINI_API_KEY"}, site: "https://aistudio.google.com/apikey", wire: provider.Gemini, small: "gemini-3-flash-preview",
		quirks: quirks{strict: true, callExtra: true, effort: effortPlain},
	},
	{
		name: "zai", label: "Z.AI", aliases: []string{"glm", "z-ai", "zhipu"}, base: "https://api.z.ai/api/paas/v4", baseEnv: "GLM_BASE_URL",
		keys: []string{"GLM_API_KEY", "ZAI_API_KEY", "Z_AI_API_KEY"}, site: "https://z.ai", small: "glm-4.5-flash", quirks: quirks{effort: effortThinking},
	},
	{
		name: "kimi-coding", label: "Kimi", aliases: []string{"kimi", "moonshot"}, base: "https://api.moonshot.ai/v1", baseEnv: "KIMI_BASE_URL", baseFor: kimiBase,
		keys: []string{"KIMI_API_KEY", "KIMI_CODING_API_KEY"}, site: "https://platform.moonshot.ai", small: "kimi-k2-turbo-preview", quirks: kimi,
	},
	{
		name: "kimi-coding-cn", label: "Kimi (China)", aliases: []string{"moonshot-cn"}, base: "https://api.moonshot.cn/v1", baseEnv: "KIMI_CN_BASE_URL",
		keys: []string{"KIMI_CN_API_KEY"}, site: "https://platform.moonshot.cn", quirks: kimi,
	},
	{
		name: "stepfun", label: "StepFun", base: "https://api.stepfun.ai/step_plan/v1", baseEnv: "STEPFUN_BASE_URL", keys: []string{"STEPFUN_API_KEY"},
		site: "https://platform.stepfun.ai", small: "step-3.5-flash",
	},
	{
		name: "arcee", label: "Arcee", base: "https://api.arcee.ai/api/v1", baseEnv: "ARCEE_BASE_URL", keys: []string{"ARCEEAI_API_KEY"}, site: "https://models.arcee.ai",
	},
	{
		name: "gmi", label: "GMI Cloud", base: "https://api.gmi-serving.com/v1", baseEnv: "GMI_BASE_URL", keys: []string{"GMI_API_KEY"},
		site: "https://console.gmicloud.ai", small: "google/gemini-3.1-flash-lite-preview",
	},
	{
		name: "minimax", label: "MiniMax", base: "https://api.minimax.io/anthropic", baseEnv: "MINIMAX_BASE_URL", keys: []string{"MINIMAX_API_KEY"},
		site: "https://platform.minimax.io", wire: provider.AnthropicMessages, small: "MiniMax-M2.7",
	},
	{
		name: "minimax-cn", label: "MiniMax (China)", base: "https://api.minimaxi.com/anthropic", baseEnv: "MINIMAX_CN_BASE_URL", keys: []string{"MINIMAX_CN_API_KEY"},
		site: "https://platform.minimaxi.com", wire: provider.AnthropicMessages, small: "MiniMax-M2.7",
	},
	{
		name: "anthropic", label: "Anthropic", aliases: []string{"claude", "claude-code"}, base: "https://api.anthropic.com", baseEnv: "ANTHROPIC_BASE_URL",
		keys: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_TOKEN"}, site: "https://console.anthropic.com/settings/keys", wire: provider.AnthropicMessages, small: "claude-haiku-4-5-20251001",
		quirks: quirks{strict: true},
	},
	{
		name: "alibaba", label: "Alibaba Cloud", aliases: []string{"dashscope", "qwen"}, base: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", baseEnv: "DASHSCOPE_BASE_URL",
		keys: []string{"DASHSCOPE_API_KEY"}, site: "https://modelstudio.console.alibabacloud.com", quirks: quirks{cached: qwen, effort: effortSwitch},
	},
	{
		name: "alibaba-coding-plan", label: "Alibaba Coding Plan", base: "https://coding-intl.dashscope.aliyuncs.com/v1", baseEnv: "ALIBABA_CODING_PLAN_BASE_URL",
		keys: []string{"ALIBABA_CODING_PLAN_API_KEY"}, site: "https://modelstudio.console.alibabacloud.com", quirks: quirks{cached: qwen, effort: effortSwitch},
	},
	{
		name: "deepseek", label: "DeepSeek", base: "https://api.deepseek.com/v1", baseEnv: "DEEPSEEK_BASE_URL", keys: []string{"DEEPSEEK_API_KEY"},
		site: "https://platform.deepseek.com", small: "deepseek-chat", quirks: quirks{echo: true, effort: effortThinking},
	},
	{
		name: "xai", label: "xAI", aliases: []string{"grok", "x-ai"}, base: "https://api.x.ai/v1", baseEnv: "XAI_BASE_URL", keys: []string{"XAI_API_KEY"},
		site: "https://console.x.ai", wire: provider.Responses, quirks: quirks{effort: effortGrok, sessionHeader: "x-grok-conv-id"},
	},
	{
		name: "nvidia", label: "NVIDIA", base: "https://integrate.api.nvidia.com/v1", baseEnv: "NVIDIA_BASE_URL", keys: []string{"NVIDIA_API_KEY"},
		site: "https://build.nvidia.com", quirks: quirks{maxDefault: 16_384},
	},
	{
		name: "ai-gateway", label: "Vercel AI Gateway", aliases: []string{"vercel"}, base: "https://ai-gateway.vercel.sh/v1", baseEnv: "AI_GATEWAY_BASE_URL", keys: []string{"AI_GATEWAY_API_KEY"},
		site: "https://vercel.com/ai-gateway", small: "google/gemini-3-flash", quirks: quirks{effort: effortObject},
	},
	{
		name: "opencode-zen", label: "OpenCode Zen", aliases: []string{"zen", "opencode"}, base: "https://opencode.ai/zen/v1", baseEnv: "OPENCODE_ZEN_BASE_URL",
		keys: []string{"OPENCODE_ZEN_API_KEY"}, site: "https://opencode.ai/zen", small: "gemini-3-flash", wireFor: byFamily, quirks: quirks{cached: qwen},
	},
	{
		name: "opencode-go", label: "OpenCode Go", aliases: []string{"go"}, base: "https://opencode.ai/zen/go/v1", baseEnv: "OPENCODE_GO_BASE_URL",
		keys: []string{"OPENCODE_GO_API_KEY"}, site: "https://opencode.ai/go", small: "glm-5", wireFor: goFamily, quirks: quirks{cached: qwen},
	},
	{
		name: "kilocode", label: "Kilo Code", aliases: []string{"kilo"}, base: "https://api.kilo.ai/api/gateway", baseEnv: "KILOCODE_BASE_URL", keys: []string{"KILOCODE_API_KEY"},
		site: "https://kilo.ai", small: "google/gemini-3-flash-preview",
	},
	{
		name: "huggingface", label: "Hugging Face", aliases: []string{"hf"}, base: "https://router.huggingface.co/v1", baseEnv: "HF_BASE_URL", keys: []string{"HF_TOKEN"},
		site: "https://huggingface.co/settings/tokens",
	},
	{
		name: "xiaomi", label: "Xiaomi MiMo", aliases: []string{"mimo"}, base: "https://api.xiaomimimo.com/v1", baseEnv: "XIAOMI_BASE_URL", keys: []string{"XIAOMI_API_KEY"},
		site: "https://platform.xiaomimimo.com",
	},
	{
		name: "tencent-tokenhub", label: "Tencent TokenHub", aliases: []string{"tencent", "tokenhub"}, base: "https://tokenhub.tencentmaas.com/v1", baseEnv: "TOKENHUB_BASE_URL",
		keys: []string{"TOKENHUB_API_KEY"}, site: "https://tokenhub.tencentmaas.com", small: "hy3-preview",
	},
	{
		name: "ollama-cloud", label: "Ollama Cloud", base: "https://ollama.com/v1", baseEnv: "OLLAMA_BASE_URL", keys: []string{"OLLAMA_API_KEY"},
		site: "https://ollama.com/settings/keys", small: "nemotron-3-nano:30b",
	},
	{
		name: "groq", label: "Groq", base: "https://api.groq.com/openai/v1", baseEnv: "GROQ_BASE_URL", keys: []string{"GROQ_API_KEY"},
		site: "https://console.groq.com/keys", quirks: quirks{strict: true, max: "max_completion_tokens", effort: effortPlain},
	},
	{
		name: "mistral", label: "Mistral", base: "https://api.mistral.ai/v1", baseEnv: "MISTRAL_BASE_URL", keys: []string{"MISTRAL_API_KEY"},
		site: "https://console.mistral.ai", quirks: quirks{strict: true, shortIDs: true, noStreamUsage: true},
	},
	{
		name: "cerebras", label: "Cerebras", base: "https://api.cerebras.ai/v1", baseEnv: "CEREBRAS_BASE_URL", keys: []string{"CEREBRAS_API_KEY"},
		site: "https://cloud.cerebras.ai", quirks: quirks{strict: true, max: "max_completion_tokens", effort: effortPlain},
	},
	{
		name: "together", label: "Together AI", base: "https://api.together.xyz/v1", baseEnv: "TOGETHER_BASE_URL", keys: []string{"TOGETHER_API_KEY"},
		site: "https://api.together.ai/settings/api-keys", quirks: quirks{effort: effortPlain},
	},
	{
		name: "fireworks", label: "Fireworks AI", base: "https://api.fireworks.ai/inference/v1", baseEnv: "FIREWORKS_BASE_URL", keys: []string{"FIREWORKS_API_KEY"},
		site: "https://fireworks.ai/account/api-keys", quirks: quirks{effort: effortPlain},
	},
	{
		name: "deepinfra", label: "DeepInfra", base: "https://api.deepinfra.com/v1/openai", baseEnv: "DEEPINFRA_BASE_URL", keys: []string{"DEEPINFRA_API_KEY"},
		site: "https://deepinfra.com/dash/api_keys", quirks: quirks{effort: effortPlain},
	},
	{
		name: "novita", label: "Novita AI", base: "https://api.novita.ai/v3/openai", baseEnv: "NOVITA_BASE_URL", keys: []string{"NOVITA_API_KEY"},
		site: "https://novita.ai/settings/key-management",
	},
	{
		name: "siliconflow", label: "SiliconFlow", base: "https://api.siliconflow.com/v1", baseEnv: "SILICONFLOW_BASE_URL", keys: []string{"SILICONFLOW_API_KEY"},
		site: "https://cloud.siliconflow.com", quirks: quirks{effort: effortSwitch},
	},
	{
		name: "sambanova", label: "SambaNova", base: "https://api.sambanova.ai/v1", baseEnv: "SAMBANOVA_BASE_URL", keys: []string{"SAMBANOVA_API_KEY"},
		site: "https://cloud.sambanova.ai",
	},
	{
		name: "azure-foundry", label: "Azure AI Foundry", aliases: []string{"azure"}, baseEnv: "AZURE_FOUNDRY_BASE_URL", keys: []string{"AZURE_FOUNDRY_API_KEY"},
		site: "https://ai.azure.com", quirks: quirks{strict: true, developer: true, max: "max_completion_tokens", effort: effortOpenAI, keyHeader: "Api-Key"},
	},
	{
		name: "qwen-portal", label: "Qwen Portal", base: "https://portal.qwen.ai/v1", baseEnv: "HERMES_QWEN_BASE_URL", keys: []string{"QWEN_PORTAL_API_KEY"},
		unasked: true, quirks: quirks{maxDefault: 65_536},
	},
	{
		name: "copilot", label: "GitHub Copilot", aliases: []string{"github", "github-copilot", "github-models"}, base: "https://api.githubcopilot.com", baseEnv: "COPILOT_API_BASE_URL",
		keys: []string{"COPILOT_GITHUB_TOKEN"}, site: "https://github.com/settings/copilot", unasked: true, quirks: quirks{strict: true, effort: effortPlain},
	},
	{
		name: "lmstudio", label: "LM Studio", aliases: []string{"lm-studio"}, base: "http://127.0.0.1:1234/v1", baseEnv: "LM_BASE_URL", keys: []string{"LM_API_KEY"},
		site: "https://lmstudio.ai", keyless: true, unasked: true, quirks: quirks{effort: effortPlain},
	},
	{
		name: "custom", label: "An endpoint of your own", aliases: []string{"ollama", "vllm", "llamacpp", "llama.cpp", "local"}, baseEnv: "CUSTOM_BASE_URL",
		keyless: true, unasked: true, quirks: quirks{effort: effortCustom},
	},
}

// rowFor finds the quirks of an endpoint: by its host, then by its name, for
// services behind a proxy; an unknown one is a custom endpoint.
func rowFor(e provider.Endpoint) *row {
	host := e.Host()
	var named, custom *row
	for i := range table {
		r := &table[i]
		if r.base != "" && host != "" && sameHost(r.base, host) {
			return r
		}
		if r.name == e.Kind.Name {
			named = r
		}
		if r.name == "custom" {
			custom = r
		}
	}
	switch {
	case strings.HasSuffix(host, ".openai.azure.com"), strings.HasSuffix(host, ".services.ai.azure.com"), strings.HasSuffix(host, ".cognitiveservices.azure.com"):
		return find("azure-foundry")
	case named != nil:
		return named
	}
	return custom
}

func find(name string) *row {
	for i := range table {
		if table[i].name == name {
			return &table[i]
		}
	}
	return nil
}

func sameHost(base, host string) bool { return provider.Endpoint{BaseURL: base}.Host() == host }

// byFamily is how OpenCode Zen serves models: each by its maker's own format.
func byFamily(model string) provider.Wire {
	switch {
	case strings.HasPrefix(model, "claude"):
		return provider.AnthropicMessages
	case strings.HasPrefix(model, "gpt"):
		return provider.Responses
	}
	return provider.ChatCompletions
}

func goFamily(model string) provider.Wire {
	if strings.HasPrefix(model, "minimax") {
		return provider.AnthropicMessages
	}
	return provider.ChatCompletions
}

// kimiBase is where keys of Kimi's coding plan belong.
func kimiBase(key string) string {
	if strings.HasPrefix(key, "sk-kimi-") {
		return "https://api.kimi.com/coding"
	}
	return ""
}
