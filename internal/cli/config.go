package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/secret"
)

func newConfig(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "config", Short: "Read and change the settings of config.yaml and .env", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return configShow(e, false) },
	}
	c.AddCommand(newConfigGet(e), newConfigSet(e), newConfigUnset(e), newConfigShow(e), newConfigPath(e), newConfigEnvPath(e),
		newConfigEdit(e), newConfigCheck(e), newConfigMigrate(e))
	return c
}

// settings reads the home's files and nothing else: what config get needs.
func (e *env) settings() (*config.Config, *secret.Store, error) {
	secrets, err := secret.Open(e.place.Dir, e.environ)
	if err != nil {
		return nil, nil, err
	}
	cfg, err := config.Load(e.place.Dir, secrets.Getenv)
	return cfg, secrets, err
}

// variable reports whether a key given to config means a line of .env.
func variable(key string) (string, bool) {
	if name, ok := config.EnvName(key); ok {
		return name, true
	}
	return key, false
}

// hidden reports whether what stands at a path is not for eyes.
func hidden(path string) bool {
	if k, ok := config.Describe(path); ok && k.Secret {
		return true
	}
	keys, err := config.SplitPath(path)
	return err == nil && len(keys) > 0 && secret.IsSecretName(keys[len(keys)-1])
}

func newConfigGet(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "get KEY", Short: "Print one setting; exit code 1 when there is none",
		Long: "Print one setting as it counts: what config.yaml says, else the default. Lists and\nmaps are printed as YAML. Keys are written a.b, list elements a.0 or a[0]. Secrets are masked.",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			cfg, secrets, err := e.settings()
			if err != nil {
				return err
			}
			for _, p := range cfg.Warnings() {
				e.notice(p.String())
			}
			return printSetting(e, cfg, secrets, args[0], asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the value as JSON")
	return c
}

func printSetting(e *env, cfg *config.Config, secrets *secret.Store, key string, asJSON bool) error {
	if name, ok := variable(key); ok && !cfg.Has(key) {
		value, _, _ := secrets.Lookup(name)
		if value == "" {
			return fmt.Errorf("%s is not set; set it with: hermes config set %s", name, name)
		}
		if secret.IsSecretName(name) {
			value = secret.Mask(value)
		}
		if asJSON {
			return printJSON(e.out, value)
		}
		_, err := fmt.Fprintln(e.out, value)
		return err
	}
	if _, err := config.SplitPath(key); err != nil {
		return usageError("%w", err)
	}
	v, ok := cfg.Get(key)
	if !ok {
		return fmt.Errorf("%s is not set and has no default%s", key, nearKeys(key))
	}
	text, _ := cfg.YAML(key)
	masked := maskTree(key, v)
	if masked.changed {
		v = masked.value
		text = fmt.Sprint(v)
		if b, err := json.MarshalIndent(v, "", "  "); err == nil && (isMap(v) || isList(v)) {
			text = string(b) // valid YAML too
		}
	}
	if asJSON {
		return printJSON(e.out, v)
	}
	_, err := fmt.Fprintln(e.out, strings.TrimRight(text, "\n"))
	return err
}

func isMap(v any) bool  { _, ok := v.(map[string]any); return ok }
func isList(v any) bool { _, ok := v.([]any); return ok }

type maskedValue struct {
	value   any
	changed bool
}

// maskTree masks what stands under a secret's name anywhere in a value.
func maskTree(path string, v any) maskedValue {
	switch v := v.(type) {
	case map[string]any:
		changed := false
		for k, inner := range v {
			m := maskTree(config.JoinPath(append(must1(config.SplitPath(path)), k)), inner)
			v[k], changed = m.value, changed || m.changed
		}
		return maskedValue{v, changed}
	case []any:
		changed := false
		for i, inner := range v {
			m := maskTree(path+fmt.Sprintf("[%d]", i), inner)
			v[i], changed = m.value, changed || m.changed
		}
		return maskedValue{v, changed}
	case string:
		if v != "" && hidden(path) && !strings.HasPrefix(v, "${") {
			return maskedValue{secret.Mask(v), true}
		}
	}
	return maskedValue{v, false}
}

// must1 drops an error that cannot be: the path was cut before.
func must1(keys []string, err error) []string {
	if err != nil {
		return nil
	}
	return keys
}

func newConfigShow(e *env) *cobra.Command {
	var asJSON, all bool
	c := &cobra.Command{
		Use: "show [KEY]", Short: "Show the settings that count, secrets masked", Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 1:
				cfg, secrets, err := e.settings()
				if err != nil {
					return err
				}
				return printSetting(e, cfg, secrets, args[0], asJSON)
			case all:
				return configAll(e, asJSON)
			}
			return configShow(e, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	c.Flags().BoolVar(&all, "all", false, "every setting there is, with what it is for")
	return c
}

// configAll lists every declared setting with its value.
func configAll(e *env, asJSON bool) error {
	cfg, _, err := e.settings()
	if err != nil {
		return err
	}
	type row struct {
		Key   string `json:"key"`
		Value any    `json:"value"`
		Set   bool   `json:"set"`
		Type  string `json:"type"`
		Help  string `json:"help"`
	}
	rows := []row{}
	for _, k := range config.Keys() {
		v, _ := cfg.Get(k.Path)
		rows = append(rows, row{k.Path, maskTree(k.Path, v).value, cfg.Has(k.Path), string(k.Type), k.Help})
	}
	if asJSON {
		return printJSON(e.out, rows)
	}
	for _, r := range rows {
		mark := " "
		if r.Set {
			mark = "*"
		}
		if _, err := fmt.Fprintf(e.out, "%s %s = %s   # %s\n", mark, r.Key, oneLine(shown(r.Key, r.Value), 60), r.Help); err != nil {
			return err
		}
	}
	return nil
}

// configShow is what a person wants to see first.
func configShow(e *env, asJSON bool) error {
	cfg, secrets, err := e.settings()
	if err != nil {
		return err
	}
	for _, p := range cfg.Warnings() {
		e.notice(p.String())
	}
	if asJSON {
		v, _ := cfg.Get("")
		return printJSON(e.out, maskTree("", v).value)
	}
	w := e.out
	fmt.Fprintf(w, "Home         %s\nSettings     %s\nKeys         %s\n", e.place.Dir, existing(cfg.Path()), existing(secrets.Path()))
	rows := []struct{ label, key string }{
		{"Model", "model.default"},
		{"Provider", "model.provider"},
		{"Address", "model.base_url"},
		{"Turns", "agent.max_turns"},
		{"Reasoning", "agent.reasoning_effort"},
		{"Terminal", "terminal.backend"},
		{"Directory", "terminal.cwd"},
		{"Timeout", "terminal.timeout"},
		{"Approvals", "approvals.mode"},
		{"Compression", "compression.enabled"},
		{"Timezone", "timezone"},
	}
	for _, r := range rows {
		v, ok := cfg.Get(r.key)
		text := "(not set)"
		if s := shown(r.key, v); ok && s != `""` && s != "null" {
			text = s
		}
		fmt.Fprintf(w, "%-12s %s\n", r.label, text)
	}
	for _, name := range cfg.Keys("providers") {
		base := cfg.String(config.JoinPath([]string{"providers", name, "base_url"}))
		fmt.Fprintf(w, "%-12s %s %s\n", "Endpoint", name, base)
	}
	for _, name := range secrets.Names() {
		value, from, _ := secrets.Lookup(name)
		if secret.IsSecretName(name) {
			value = secret.Mask(value)
		}
		note := ""
		if from != secret.FromFile {
			note = " (the environment's counts)"
		}
		if value == "" {
			value = "(empty)"
		}
		fmt.Fprintf(w, "%-12s %s %s%s\n", "Variable", name, value, note)
	}
	if err := skillSettings(e); err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, "\nEvery setting: hermes config show --all. Change one: hermes config set KEY VALUE")
	return err
}

func existing(path string) string {
	if _, err := os.Stat(path); err != nil {
		return path + " (not there yet)"
	}
	return path
}

func newConfigPath(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "path", Short: "Print where config.yaml is", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(e.out, filepath.Join(e.place.Dir, "config.yaml"))
			return err
		},
	}
}

func newConfigEnvPath(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "env-path", Short: "Print where .env is", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(e.out, filepath.Join(e.place.Dir, ".env"))
			return err
		},
	}
}
