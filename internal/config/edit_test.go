package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/secret"
)

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func now(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSet(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, in   string
		key, value string
		kind       Kind
		want, err  string
	}{
		{"one line added", "# TOP\nmodel:\n  default: x  # why\n# TAIL", "memory.memory_char_limit", "2300", Auto, "# TOP\nmodel:\n  default: x  # why\nmemory:\n  memory_char_limit: 2300\n# TAIL", ""},
		{"schema: text stays text", "display: {}\n", "display.skin", "3.10", Auto, "display:\n  skin: '3.10'\n", ""},
		{"schema: off is a word here", "", "display.tool_progress", "off", Auto, "display:\n  tool_progress: 'off'\n", ""},
		{"schema: boolean words", "a: 1\n", "display.streaming", "off", Auto, "a: 1\ndisplay:\n  streaming: false\n", ""},
		{"schema: no boolean", "a: 1\n", "display.streaming", "maybe", Auto, "", "want true or false"},
		{"schema: whole number", "", "terminal.timeout", "1.5", Auto, "", "want a whole number"},
		{"schema: negative number", "x: 1\n", "terminal.timeout", "-1", Auto, "x: 1\nterminal:\n  timeout: -1\n", ""},
		{"schema: number", "x: 1\n", "compression.threshold", "0.50", Auto, "x: 1\ncompression:\n  threshold: 0.50\n", ""},
		{"schema: choices", "", "approvals.mode", "never", Auto, "", "want one of manual, smart, off"},
		{"schema: choices in another case", "x: 1\n", "logging.level", "debug", Auto, "x: 1\nlogging:\n  level: DEBUG\n", ""},
		{"schema: list from words", "x: 1\n", "toolsets", "web, file", Auto, "x: 1\ntoolsets:\n  - web\n  - file\n", ""},
		{"schema: list from brackets", "toolsets: [a]\n", "toolsets", `["web","on"]`, Auto, "toolsets: [web, 'on']\n", ""},
		{"list element", "toolsets:\n- a # one\n- b\n", "toolsets[1]", "c", Auto, "toolsets:\n- a # one\n- c\n", ""},
		{"list element, dots", "toolsets:\n- a # one\n- b\n", "toolsets.0", "7", Auto, "toolsets:\n- '7' # one\n- b\n", ""},
		{"list out of range", "toolsets: [a]\n", "toolsets[3]", "c", Auto, "", "has 1 elements, so there is no [3]"},
		{"list grows", "toolsets: [a]\n", "toolsets[+]", "c", Auto, "toolsets: [a, c]\n", ""},
		{"list of the defaults, an element", "x: 1\n", "toolsets.0", "c", Auto, "x: 1\ntoolsets:\n  - c\n", ""},
		{"list of the defaults grows", "x: 1\n", "toolsets[+]", "c", Auto, "x: 1\ntoolsets:\n  - hermes-cli\n  - c\n", ""},
		{"list of no defaults grows", "x: 1\n", "agent.disabled_toolsets[+]", "c", Auto, "x: 1\nagent:\n  disabled_toolsets:\n    - c\n", ""},
		{"list of no defaults, an element", "x: 1\n", "agent.disabled_toolsets.0", "c", Auto, "", "has 0 elements, so there is no [0]; [+] adds one"},
		{"list by name", "toolsets: [a]\n", "toolsets.x", "c", Auto, "", "is a list of 1"},
		{"map element of a list", "fallback_providers:\n- provider: p\n  model: m\n", "fallback_providers[0].model", "n", Auto, "fallback_providers:\n- provider: p\n  model: n\n", ""},

		{"free map", "x: 1\n", "mcp_servers.fs.command", "npx", Auto, "x: 1\nmcp_servers:\n  fs:\n    command: npx\n", ""},
		{"free map with types", "mcp_servers:\n  fs:\n    command: npx\n", "mcp_servers.fs.args", `["-y", "fs"]`, Auto, "mcp_servers:\n  fs:\n    command: npx\n    args:\n      - '-y'\n      - fs\n", ""},
		{"free map, untyped", "skills: {config: {}}\n", "skills.config.wiki.path", "~/w", Auto, "skills: {config: {wiki: {path: '~/w'}}}\n", ""},
		{"free: clear number", "x: 1\n", "skills.config.n", "42", Auto, "x: 1\nskills:\n  config:\n    n: 42\n", ""},
		{"free: 3.10 is text", "x: 1\n", "skills.config.n", "3.10", Auto, "x: 1\nskills:\n  config:\n    n: '3.10'\n", ""},
		{"free: off is text", "x: 1\n", "skills.config.n", "off", Auto, "x: 1\nskills:\n  config:\n    n: 'off'\n", ""},
		{"free: null is text", "x: 1\n", "skills.config.n", "null", Auto, "x: 1\nskills:\n  config:\n    n: 'null'\n", ""},
		{"free: brackets are text", "x: 1\n", "skills.config.n", "[a, b]", Auto, "x: 1\nskills:\n  config:\n    n: '[a, b]'\n", ""},
		{"free: json", "x: 1\n", "skills.config.n", "[1, {\"b\": true}]", KindJSON, "x: 1\nskills:\n  config:\n    n:\n      - 1\n      - b: true\n", ""},
		{"kind null", "x: 1\n", "cron.max_parallel_jobs", "", KindNull, "x: 1\ncron:\n  max_parallel_jobs: null\n", ""},
		{"kind against the schema", "x: 1\n", "terminal.timeout", "abc", KindText, "", "takes int"},
		{"docker_env", "terminal:\n  docker_env: {A: '1'}\n", "terminal.docker_env.B", "x y", Auto, "terminal:\n  docker_env: {A: '1', B: x y}\n", ""},
		{"plugins", "x: 1\n", "plugins.enabled", "a,b", Auto, "x: 1\nplugins:\n  enabled:\n    - a\n    - b\n", ""},

		{"unknown key", "x: 1\n", "terminal.timout", "5", Auto, "", "config key terminal.timout is not known; did you mean terminal.timeout"},
		{"section", "terminal:\n  timeout: 1\n", "terminal", "x", Auto, "", "is a section; set one of its keys, such as terminal.backend"},
		{"section by json", "terminal:\n  timeout: 1\nx: 1\n", "terminal", `{"timeout": 3}`, KindJSON, "terminal:\n  timeout: 3\nx: 1\n", ""},

		{"model as a map", "model:\n  default: x # c\n  provider: p\n", "model", "y", Auto, "model:\n  default: y # c\n  provider: p\n", ""},
		{"model as text", "model: x # c\n", "model", "y", Auto, "model: y # c\n", ""},
		{"model absent", "x: 1\n", "model", "y", Auto, "x: 1\nmodel:\n  default: y\n", ""},
		{"provider beside a text model", "model: x # c\nz: 1\n", "model.provider", "p", Auto, "model: # c\n  default: x\n  provider: p\nz: 1\n", ""},
		{"default of a text model", "model: x # c\n", "model.default", "y", Auto, "model: y # c\n", ""},
		{"root provider", "model: {default: x}\n", "provider", "p", Auto, "model: {default: x, provider: p}\n", ""},
		{"root max_turns", "x: 1\n", "max_turns", "5", Auto, "x: 1\nagent:\n  max_turns: 5\n", ""},
		{"empty model", "model: \"\"\n", "model.provider", "p", Auto, "model:\n  provider: p\n", ""},

		{"placeholder kept", "model:\n  default: x\nmcp_servers:\n  a: {headers: {Authorization: \"Bearer ${GLM_API_KEY}\"}}\n", "model", "y", Auto, "model:\n  default: y\nmcp_servers:\n  a: {headers: {Authorization: \"Bearer ${GLM_API_KEY}\"}}\n", ""},
		{"bom", "\xef\xbb\xbfmodel: {default: x}\n", "model", "y", Auto, "\xef\xbb\xbfmodel: {default: y}\n", ""},
		{"crlf", "model:\r\n  default: x # c\r\n", "model.provider", "y", Auto, "model:\r\n  default: x # c\r\n  provider: y\r\n", ""},
		{"broken file", "a: [\n", "model", "y", Auto, "", "the file cannot be read, so it was left alone"},
		{"list file", "- a\n", "model", "y", Auto, "", "the top level must be a map"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			path := file(t, tc.in)
			_, err := Set(path, tc.key, tc.value, tc.kind)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) || !strings.Contains(err.Error(), path) {
					t.Errorf("err = %v", err)
				}
				if got := now(t, path); got != tc.in {
					t.Errorf("the file changed: %q", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := now(t, path); got != tc.want {
				t.Errorf("\n got %q\nwant %q", got, tc.want)
			}
			if c, _ := Load(filepath.Dir(path), nil); len(c.Warnings()) > 0 && !strings.Contains(tc.in, "${") {
				t.Error(c.Warnings())
			}
		})
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	t.Run("all or none", func(t *testing.T) {
		path := file(t, "x: 1\n")
		if _, err := Apply(path, Edit{Key: "timezone", Value: "UTC"}, Edit{Key: "nonsense", Value: "1"}); err == nil {
			t.Error("want an error")
		}
		var unknown *UnknownKeyError
		_, err := Apply(path, Edit{Key: "nonsense", Value: "1"})
		if !errors.As(err, &unknown) || now(t, path) != "x: 1\n" {
			t.Errorf("%v %q", err, now(t, path))
		}
		c, err := Apply(path, Edit{Key: "nonsense", Value: "1", Force: true}, Edit{Key: "x", Remove: true})
		if err != nil || now(t, path) != "nonsense: 1\n" || c[0].New != 1 || c[1].Old != 1 {
			t.Errorf("%v %q %+v", err, now(t, path), c)
		}
	})
	t.Run("no change, no write", func(t *testing.T) {
		path := file(t, "timezone: 'UTC'\n")
		c, err := Set(path, "timezone", "UTC", Auto)
		if left, _ := filepath.Glob(path + ".*"); err != nil || c.Changed || len(left) > 0 {
			t.Error(err, c, left)
		}
	})
	t.Run("new file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if _, err := Set(path, "model", "m", Auto); err != nil {
			t.Fatal(err)
		}
		if got := now(t, path); got != "model:\n  default: m\n_config_version: 23\n" {
			t.Errorf("%q", got)
		}
		if st, _ := os.Stat(path); st.Mode().Perm() != 0o600 {
			t.Error(st.Mode())
		}
	})
	t.Run("unset", func(t *testing.T) {
		path := file(t, "a: 1 # c\n# d\nb:\n  c: 1\n")
		if _, err := Unset(path, "a"); err != nil {
			t.Fatal(err)
		}
		if _, err := Unset(path, "zz"); !errors.Is(err, ErrAbsent) {
			t.Error(err)
		}
		if got := now(t, path); got != "# d\nb:\n  c: 1\n" {
			t.Errorf("%q", got)
		}
	})
	t.Run("backups", func(t *testing.T) {
		path := file(t, "timezone: t0\n")
		for i := range 8 {
			if _, err := Set(path, "timezone", fmt.Sprintf("t%d", i+1), Auto); err != nil {
				t.Fatal(err)
			}
		}
		if b := now(t, path+".bak.1"); b != "timezone: t7\n" {
			t.Errorf("%q", b)
		}
		if b := now(t, path+".bak.5"); b != "timezone: t3\n" {
			t.Errorf("%q", b)
		}
		if left, _ := filepath.Glob(path + ".*"); len(left) != 5 {
			t.Error(left)
		}
	})
	t.Run("shrank", func(t *testing.T) {
		path := file(t, "timezone: t0\nx: 1\n")
		c, _ := Load(filepath.Dir(path), nil)
		os.WriteFile(path, []byte("x: 1\n"), 0o600)
		if _, err := c.Apply(Edit{Key: "timezone", Value: "t1"}); !errors.Is(err, ErrShrank) {
			t.Error(err)
		}
	})
	t.Run("unreadable for this user, or read-only", func(t *testing.T) {
		path := file(t, "x: 1\n")
		os.Chmod(path, 0o400)
		_, err := Set(path, "timezone", "UTC", Auto)
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "chmod u+w") {
			t.Error(err)
		}
	})
	t.Run("link, mode", func(t *testing.T) {
		target := file(t, "x: 1\n")
		os.Chmod(target, 0o640)
		path := filepath.Join(t.TempDir(), "config.yaml")
		os.Symlink(target, path)
		if _, err := Set(path, "timezone", "UTC", Auto); err != nil {
			t.Fatal(err)
		}
		st, _ := os.Stat(target)
		if _, err := os.Readlink(path); err != nil || st.Mode().Perm() != 0o640 || now(t, target) != "x: 1\ntimezone: UTC\n" || now(t, path+".bak.1") != "x: 1\n" {
			t.Errorf("%v %v %q", err, st.Mode(), now(t, target))
		}
	})
	t.Run("home is gone", func(t *testing.T) {
		_, err := Set(filepath.Join(t.TempDir(), "gone", "config.yaml"), "timezone", "UTC", Auto)
		if err == nil || !strings.Contains(err.Error(), "make the directory writable or set HERMES_HOME") {
			t.Error(err)
		}
	})
	t.Run("managed", func(t *testing.T) {
		path := file(t, "x: 1\n")
		os.WriteFile(filepath.Join(filepath.Dir(path), ".managed"), nil, 0o600)
		if _, err := Set(path, "timezone", "UTC", Auto); !errors.Is(err, secret.ErrManaged) {
			t.Error(err)
		}
		home := t.TempDir()
		c, _ := Load(home, vars(map[string]string{"HERMES_MANAGED": "homebrew"}))
		if _, err := c.Apply(Edit{Key: "timezone", Value: "UTC"}); err == nil || !strings.Contains(err.Error(), "managed by homebrew") {
			t.Error(err)
		}
	})
	t.Run("notes", func(t *testing.T) {
		path := file(t, "x: 1\n")
		c, _ := Set(path, "model.api_key", "sk-123456", Auto)
		d, _ := Set(path, "skills.config.a", "[x]", Auto)
		if !strings.Contains(c.Note, ".env") || !strings.Contains(d.Note, "--json") {
			t.Error(c, d)
		}
	})
}

func TestKeyTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range Keys() {
		if seen[k.Path] || k.Help == "" || k.Type == "" {
			t.Errorf("%s: twice, or without help or type", k.Path)
		}
		seen[k.Path] = true
		if k.Default != nil && !fits(k, fromAny(k.Default)) {
			t.Errorf("%s: the default %v is no %s", k.Path, k.Default, k.Type)
		}
		path := strings.ReplaceAll(k.Path, "*", "any")
		if d, ok := Describe(path); !ok || d.Type != k.Type {
			t.Errorf("%s is described as %+v", path, d)
		}
	}
	for _, path := range []string{"skills.config.x.y", "providers.mine.models.m.context_length", "platform_toolsets.cli", "quick_commands.x", "hooks.pre", "personalities.x", "terminal.docker_env.A", "model_aliases.a.model", "custom_toolsets.a"} {
		if _, ok := Describe(path); !ok {
			t.Errorf("%s should be free", path)
		}
	}
	for _, path := range []string{"model.typo", "terminal", "nope", "toolsets.x.y.z.", "agent.max_turns.x"} {
		if k, ok := Describe(path); ok {
			t.Errorf("%s should be unknown, is %+v", path, k)
		}
	}
	c := Parse("config.yaml", []byte("terminal: {timeout: 5}\n"), nil)
	if v, _ := c.Get("terminal.timeout"); v != 5 {
		t.Error(v)
	}
	if v, _ := c.Get("terminal"); v.(map[string]any)["backend"] != "local" || v.(map[string]any)["timeout"] != 5 {
		t.Error(v)
	}
	if v, ok := c.Get("auxiliary.curator.timeout"); v != 600 || !ok {
		t.Error(v)
	}
	for path, want := range map[string]string{"terminal.timeout": "5", "toolsets": "- hermes-cli", "providers": "", "clarify": "timeout: 120", "agent.disabled_toolsets": "[]"} {
		if got, ok := c.YAML(path); got != want || ok != (want != "") {
			t.Errorf("%s = %q %v", path, got, ok)
		}
	}
	if all, ok := c.Get(""); !ok || all.(map[string]any)["timezone"] != "" {
		t.Error(all)
	}
	if _, ok := c.Get("no.such"); ok {
		t.Error("an absent key was found")
	}
	if v, _ := c.Get("toolsets"); !reflect.DeepEqual(v, []any{"hermes-cli"}) {
		t.Error(v)
	}
}

// Every declared key can be set and comes back, with the comments in place.
func TestEveryKeyCanBeSet(t *testing.T) {
	t.Parallel()
	const start = "# top\nmodel: x # m\nterminal: # t\n    # inside\n    timeout: 5 # five\n    docker_env: {} # none\ntoolsets: []\n\n# end\n"
	text, comments := start, strings.Count(start, "#")
	for i, k := range Keys() {
		if i%50 == 0 {
			text = start
		}
		path := strings.ReplaceAll(k.Path, "*", "mine")
		value, want := "some: 'text'", any("some: 'text'")
		switch k.Type {
		case Bool:
			value, want = "yes", true
		case Int:
			value, want = "42", 42
		case Float:
			value, want = "0.25", 0.25
		case List:
			value, want = "a, on", []any{"a", "on"}
		case Map:
			value, want = "{\"k\": [1, \"off\"]}", map[string]any{"k": []any{1, "off"}}
		}
		if len(k.Choices) > 0 {
			value, want = k.Choices[0], k.Choices[0]
		}
		if strings.Contains(path, ".mine.") || path == "model.model" {
			continue // below maps that this loop fills with lists
		}
		out, _, err := editOne(text, Edit{Key: path, Value: value})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		got, _ := Parse("config.yaml", []byte(out), nil).Get(path)
		if k.Type == Map {
			got, _ = Parse("config.yaml", []byte(out), nil).Get(path + ".k")
			want = []any{1, "off"}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s = %#v", path, got)
		}
		text = out
		if strings.Count(text, "# ") != comments {
			t.Fatalf("%s lost a comment:\n%s", path, text)
		}
	}
}

func TestMismatches(t *testing.T) {
	t.Parallel()
	type after struct {
		ExactFailure int
	}
	good := struct {
		Timeout        time.Duration
		Backend        string
		EnvPassthrough []string
		ContainerCPU   float64 `yaml:"container_cpu"`
	}{Timeout: 180 * time.Second, Backend: "local", ContainerCPU: 1}
	if got := Mismatches("terminal", good); len(got) > 0 {
		t.Error(got)
	}
	bad := struct {
		Timeout int
		Timout  int
	}{Timeout: 60}
	if got := Mismatches("terminal", &bad); len(got) != 2 || got[0] != "terminal.timeout: the struct says 60, the table 180" {
		t.Error(got)
	}
	if got := Mismatches("tool_loop_guardrails", struct{ WarnAfter after }{after{2}}); len(got) > 0 {
		t.Error(got)
	}
}

func TestEnvironmentStandsIn(t *testing.T) {
	t.Parallel()
	env := map[string]string{"HERMES_MAX_ITERATIONS": "7", "TERMINAL_ENV": "docker", "TERMINAL_TIMEOUT": "5", "HERMES_REDACT_SECRETS": "false", "HERMES_TIMEZONE": "UTC"}
	c := Parse("config.yaml", nil, vars(env))
	for path, want := range map[string]any{"agent.max_turns": 7, "terminal.backend": "docker", "terminal.timeout": 5, "security.redact_secrets": false, "timezone": "UTC"} {
		if v, _ := c.Get(path); v != want || c.Has(path) {
			t.Errorf("%s = %v", path, v)
		}
	}
	c = Parse("config.yaml", []byte("agent: {max_turns: 3}\nterminal: {cwd: /x}\nsecurity: {redact_secrets: true}\n"), vars(env))
	for path, want := range map[string]any{"agent.max_turns": 3, "terminal.backend": "local", "terminal.timeout": 180, "security.redact_secrets": false} {
		if v, _ := c.Get(path); v != want {
			t.Errorf("%s = %v", path, v)
		}
	}
	env["HERMES_IGNORE_USER_CONFIG"] = "1"
	home := t.TempDir()
	os.WriteFile(filepath.Join(home, "config.yaml"), []byte("agent: {max_turns: 3}\n"), 0o600)
	c, _ = Load(home, vars(env))
	if v, _ := c.Get("agent.max_turns"); v != 7 {
		t.Error(v)
	}
}

func TestEnvName(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"openai_api_key": "OPENAI_API_KEY", "GITHUB_TOKEN": "GITHUB_TOKEN", "sudo_password": "SUDO_PASSWORD", "terminal_ssh_host": "TERMINAL_SSH_HOST", "fal_key": "FAL_KEY",
		"model": "", "model.api_key": "", "timezone": "", "memory_char_limit": "",
	} {
		if got, ok := EnvName(key); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q %v", key, got, ok)
		}
	}
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := filepath.Join(home, "config.yaml")
	const old = "# my file\n_config_version: 8 # old\nmodel: vendor/x\nprovider: openrouter\nmax_turns: 40 # enough\ncustom_providers:\n- name: My Box\n  base_url: http://box/v1\n  model: m\n" +
		"compression:\n  summary_model: small # cheap\n  enabled: true\nstt:\n  model: base\ndisplay:\n  tool_progress_overrides: {telegram: \"off\"}\n# end\n"
	os.WriteFile(path, []byte(old), 0o600)
	os.WriteFile(filepath.Join(home, ".env"), []byte("ANTHROPIC_TOKEN=x1234\nLLM_MODEL=y\nA=1\n"), 0o600)
	os.MkdirAll(filepath.Join(home, "plugins", "mine"), 0o700)
	os.WriteFile(filepath.Join(home, "plugins", "mine", "plugin.yaml"), nil, 0o600)
	env, err := secret.Open(home, []string{"HERMES_TIMEZONE=UTC"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Pending(path, env)
	if err != nil || len(p.Changes) == 0 || now(t, path) != old {
		t.Fatalf("%+v %v", p, err)
	}
	m, err := Migrate(path, env, time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	want := "# my file\n_config_version: 23 # old\nmodel:\n  default: vendor/x\n  provider: openrouter\n" +
		"compression:\n  enabled: true\nstt:\n  local:\n    model: base\ndisplay:\n  platforms:\n    telegram:\n      tool_progress: 'off'\n" +
		"agent:\n  max_turns: 40\nproviders:\n  my-box:\n    name: My Box\n    api: http://box/v1\n    default_model: m\nauxiliary:\n  compression:\n    model: small\nplugins:\n  enabled:\n    - mine\n# end\n"
	if got := now(t, path); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if now(t, path+".bak.20260504_030201") != old || m.From != 8 || m.To != 23 || strings.Join(m.Env, " ") != "ANTHROPIC_TOKEN LLM_MODEL" && strings.Join(m.Env, " ") != "LLM_MODEL ANTHROPIC_TOKEN" {
		t.Errorf("%+v", m)
	}
	if env.Get("ANTHROPIC_TOKEN") != "" || env.Get("A") != "1" {
		t.Error("wrong .env")
	}
	again, err := Migrate(path, env, time.Now())
	if err != nil || again.Backup != "" || len(again.Changes) > 0 || again.From != 23 {
		t.Errorf("%+v %v", again, err)
	}
	if _, err := Migrate(file(t, "_config_version: 99\n"), env, time.Now()); err == nil || !strings.Contains(err.Error(), "newer program") {
		t.Error(err)
	}
	if m, err := Migrate(filepath.Join(home, "none.yaml"), env, time.Now()); err != nil || m.From != 23 {
		t.Error(m, err)
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	c := Parse("config.yaml", []byte("model: {api_key: a1, default: m, max_tokens: 5}\nproviders: {x: {api_key: \"${K}\", base_url: u}}\nmcp_servers: {s: {env: {A: e1, N: 3}, headers: {X: h1}}}\ntelegram: {bot_token: t1, chats: [{password: p1}]}\n"), vars(map[string]string{"K": "k1"}))
	want := map[string]string{"model.api_key": "a1", "providers.x.api_key": "k1", "mcp_servers.s.env.A": "e1", "mcp_servers.s.env.N": "3", "mcp_servers.s.headers.X": "h1", "telegram.bot_token": "t1", "telegram.chats[0].password": "p1"}
	if got := c.Secrets(); !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, in, want string }{
		{"clean", "model: x\nterminal: {timeout: 5, docker_env: {A: 1}}\nskills: {config: {a: 1}}\ndisplay: {tool_progress: off}\n_config_version: 23\n", ""},
		{"custom_providers as a map", "custom_providers: {name: x}\n", "error custom_providers"},
		{"entries", "model: m\ncustom_providers: [x, {name: a}]\n", "warning custom_providers[0]; warning custom_providers[1]"},
		{"no model", "custom_providers: [{name: a, base_url: \"http://b\"}]\n", "warning model"},
		{"fallback", "fallback_model: x\n", "error fallback_model"},
		{"fallback entries", "fallback_model: [{provider: p}]\n", "warning fallback_model"},
		{"nested fallback", "custom_providers: {fallback_model: {provider: p}}\n", "error custom_providers; error custom_providers.fallback_model"},
		{"misplaced", "base_url: http://x\napi_key: k\n", "warning base_url; warning api_key"},
		{"types", "terminal: {timeout: soon}\nagent: 5\nhooks: 3\n", "error terminal.timeout; error agent; error hooks"},
		{"choices", "approvals: {mode: never}\n", "error approvals.mode"},
		{"unknown", "terminal: {timout: 5}\nnonsense: 1\n", "warning terminal.timout; warning nonsense"},
		{"providers", "providers: {a: {base_url: localhost, apiKey: x, zzz: 1}}\n", "warning providers.a; warning providers.a.apiKey; warning providers.a.zzz"},
		{"placeholders", "terminal: {timeout: \"${T}\"}\nproviders: {a: {base_url: \"${U}\"}}\n", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, p := range Parse("config.yaml", []byte(tc.in), nil).Validate() {
				got = append(got, string(p.Severity)+" "+p.Key)
				if p.Message == "" || p.Hint == "" || p.Line == 0 {
					t.Errorf("%+v", p)
				}
			}
			if strings.Join(got, "; ") != tc.want {
				t.Errorf("%q", strings.Join(got, "; "))
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	var text strings.Builder
	for i := 0; text.Len() < 9000; i++ {
		fmt.Fprintf(&text, "# about section %d\nsection%d:\n  key_a: value %d\n  key_b: [a, b, c]   # note\n  nested: {x: 1, y: \"two\", z: on}\n  list:\n  - one\n  - two\n\n", i, i, i)
	}
	home := b.TempDir()
	os.WriteFile(filepath.Join(home, "config.yaml"), []byte(text.String()), 0o600)
	b.Run("9KB", func(b *testing.B) {
		for b.Loop() {
			Load(home, nil)
		}
	})
	empty := b.TempDir()
	b.Run("missing", func(b *testing.B) {
		for b.Loop() {
			Load(empty, func(string) (string, bool) { return "", false })
		}
	})
	b.Run("table", func(b *testing.B) {
		for b.Loop() {
			declare()
		}
	})
}
