package secret

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ChildEnv is what a command run for the model may see of environ (usually
// s.Environ()): everything but the variables of providers, tools and messaging
// services and the secret settings, whether declared or of the fixed list.
// passthrough names are let through all the same unless they are blocked for
// good; those are returned as refused. NAME=value written _HERMES_FORCE_NAME
// is injected whatever NAME is. When <home>/home exists it becomes HOME.
func (s *Store) ChildEnv(environ, passthrough []string) (env, refused []string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	allowed, refused := s.admit(passthrough)
	var forced []string
	for _, kv := range environ {
		name, value, ok := strings.Cut(kv, "=")
		if bare, is := strings.CutPrefix(name, "_HERMES_FORCE_"); is && ok && bare != "" {
			forced = append(forced, bare+"="+value)
			continue
		}
		if name == "" || !ok || (s.blocked(name) && !allowed[name]) {
			continue
		}
		env = append(env, kv)
	}
	for _, kv := range forced {
		env = with(env, kv)
	}
	return s.ownHome(env), refused
}

// ScriptEnv is the stricter choice for generated code: only names known to be
// harmless, and passthrough under the same rule as ChildEnv. Names whose value
// is the program's own state (HERMES_...) are not among them.
func (s *Store) ScriptEnv(environ, passthrough []string) (env, refused []string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	allowed, refused := s.admit(passthrough)
	for _, kv := range environ {
		name, _, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			continue
		}
		if allowed[name] || (!s.blocked(name) && !secretWord(name) && harmless(name)) {
			env = append(env, kv)
		}
	}
	return s.ownHome(env), refused
}

func (s *Store) admit(passthrough []string) (allowed map[string]bool, refused []string) {
	allowed = make(map[string]bool, len(passthrough))
	for _, name := range passthrough {
		name = strings.TrimSpace(name)
		if s.forGood(name) {
			if !slices.Contains(refused, name) {
				refused = append(refused, name)
			}
			continue
		}
		allowed[name] = true
	}
	return allowed, refused
}

// forGood reports names no passthrough can admit; a skill's own secrets are
// what passthrough is for.
func (s *Store) forGood(name string) bool {
	v, declared := s.vars[name]
	return s.blocked(name) && !(declared && v.Category == Skill && !fixed(name))
}

func (s *Store) blocked(name string) bool {
	if fixed(name) {
		return true
	}
	v, ok := s.vars[name]
	return ok && (v.Secret || v.Category == Provider || v.Category == Tool || v.Category == Messaging)
}

// fixed reports names that are blocked even when the part of the program that
// declares them is not linked in.
func fixed(name string) bool {
	n := strings.ToUpper(name)
	if slices.Contains(blockedNames[:], n) {
		return true
	}
	for _, p := range blockedPrefixes {
		if strings.HasPrefix(n, p) {
			return true
		}
	}
	for _, end := range blockedEnds {
		if rest, ok := strings.CutSuffix(n, end); ok && slices.Contains(blockedOwners[:], rest) {
			return true
		}
	}
	return false
}

// blockedOwners own a variable for each of blockedEnds.
var (
	blockedOwners = [...]string{
		"OPENAI", "OPENROUTER", "ANTHROPIC", "GOOGLE", "GEMINI", "GLM", "ZAI", "Z_AI", "KIMI", "KIMI_CODING", "KIMI_CN", "MOONSHOT",
		"STEPFUN", "ARCEE", "ARCEEAI", "GMI", "MINIMAX", "MINIMAX_CN", "DASHSCOPE", "ALIBABA_CODING_PLAN", "DEEPSEEK", "XAI", "NVIDIA",
		"AI_GATEWAY", "OPENCODE_ZEN", "OPENCODE_GO", "KILOCODE", "HF", "HUGGINGFACE", "XIAOMI", "TOKENHUB", "OLLAMA", "AZURE_FOUNDRY",
		"AZURE_ANTHROPIC", "AZURE_OPENAI", "LM", "CUSTOM", "COPILOT", "COPILOT_API", "COPILOT_ACP", "HERMES_QWEN", "MISTRAL", "GROQ", "TOGETHER",
		"PERPLEXITY", "COHERE", "FIREWORKS", "HELICONE", "CEREBRAS", "SAMBANOVA", "EXA", "PARALLEL", "FIRECRAWL", "TAVILY",
		"BROWSERBASE", "BROWSER_USE", "FAL", "TINKER", "WANDB", "ELEVENLABS", "HONCHO", "VOICE_TOOLS_OPENAI", "DAYTONA",
		"TELEGRAM", "DISCORD", "SLACK", "WHATSAPP", "SIGNAL", "EMAIL", "MATRIX", "MATTERMOST", "DINGTALK", "FEISHU", "WECOM", "QQBOT",
	}
	blockedEnds = [...]string{
		"_API_KEY", "_KEY", "_BASE_URL", "_API_URL", "_API_BASE", "_TOKEN", "_BOT_TOKEN", "_APP_TOKEN", "_SECRET", "_PASSWORD", "_ORG_ID",
		"_ORGANIZATION", "_HOME_CHANNEL", "_HOME_CHANNEL_NAME", "_HOME_CHANNEL_THREAD_ID", "_ALLOWED_USERS", "_ALLOW_ALL_USERS",
		"_HOME_ADDRESS", "_HOME_ROOM", "_ACCESS_TOKEN", "_APP_SECRET", "_APP_ID", "_SIGNING_SECRET", "_PROJECT_ID",
	}
	blockedPrefixes = [...]string{"GITHUB_APP_", "MODAL_TOKEN_", "VERCEL_", "HASS_", "TOOL_GATEWAY_", "HERMES_LANGFUSE_", "HERMES_GEMINI_CLIENT_", "GATEWAY_ALLOW"}
	blockedNames    = [...]string{
		"CLAUDE_CODE_OAUTH_TOKEN", "LLM_MODEL", "OPENAI_MODEL", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_GITHUB_TOKEN", "SUDO_PASSWORD",
		"FIRECRAWL_GATEWAY_URL", "FIRECRAWL_BROWSER_TTL", "CAMOFOX_URL", "SIGNAL_HTTP_URL", "SIGNAL_ACCOUNT", "EMAIL_IMAP_HOST", "EMAIL_SMTP_HOST", "EMAIL_ADDRESS",
		"AWS_BEARER_TOKEN_BEDROCK", "HERMES_COPILOT_ACP_COMMAND", "HERMES_COPILOT_ACP_ARGS", "TELEGRAM_WEBHOOK_SECRET", "TWILIO_AUTH_TOKEN", "TWILIO_ACCOUNT_SID",
	}
)

// secretWord is the original's coarse test for generated code.
func secretWord(name string) bool {
	n := strings.ToUpper(name)
	for _, w := range [...]string{"KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "PASSWD", "AUTH"} {
		if strings.Contains(n, w) {
			return true
		}
	}
	return false
}

func harmless(name string) bool {
	if strings.HasPrefix(name, "TERMINAL_") {
		return false
	}
	for _, p := range [...]string{"PATH", "HOME", "USER", "LANG", "LC_", "TERM", "TMPDIR", "TMP", "TEMP", "SHELL", "LOGNAME", "XDG_", "PYTHONPATH", "VIRTUAL_ENV", "CONDA"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	switch name { // what programs need to start at all on Windows
	case "SystemRoot", "SYSTEMROOT", "COMSPEC", "ComSpec", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "WINDIR", "TZ":
		return true
	}
	return false
}

func (s *Store) ownHome(env []string) []string {
	dir := filepath.Join(s.home, "home")
	if s.home == "" {
		return env
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return env
	}
	return with(env, "HOME="+dir)
}

// with sets one entry, replacing what was there.
func with(env []string, kv string) []string {
	name, _, _ := strings.Cut(kv, "=")
	env = slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
	return append(env, kv)
}
