package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/internal/setup"
	"github.com/hermes-go/hermes/secret"
)

// nearKeys suggests declared keys for one that is not.
func nearKeys(key string) string {
	if _, known := config.Describe(key); known {
		return ""
	}
	var near []string
	last := key[strings.LastIndexByte(key, '.')+1:]
	for _, k := range config.Keys() {
		if strings.HasSuffix(k.Path, "."+last) || k.Path == last || strings.HasPrefix(k.Path, key+".") {
			near = append(near, k.Path)
		}
	}
	if len(near) == 0 {
		return "; the keys: docs/reference or hermes config show --all"
	}
	return "; did you mean " + strings.Join(near[:min(len(near), 3)], " or ") + "?"
}

func newConfigSet(e *env) *cobra.Command {
	var kind string
	var asJSON, force bool
	c := &cobra.Command{
		Use: "set KEY [VALUE]", Short: "Change one setting; nothing else in the file changes",
		Long: "Change one setting of config.yaml, or one variable of .env when KEY is the name of a\nkey or token. Without VALUE it is asked for, unseen when it is a secret; - reads it from\nstdin. List elements: a.0 or a[0]; a[+] appends. The type is the setting's own; for keys\nof your own, --type or --json say it.",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			k, err := config.ParseKind(kind)
			if err != nil {
				return usageError("--type: %w", err)
			}
			if asJSON {
				k = config.KindJSON
			}
			value, err := settingValue(c.Context(), e, args)
			if err != nil {
				return err
			}
			return setSetting(e, config.Edit{Key: args[0], Value: value, Kind: k, Force: force})
		},
	}
	c.Flags().StringVar(&kind, "type", "", "how to read VALUE: text, bool, int, number, json or null")
	c.Flags().BoolVar(&asJSON, "json", false, "VALUE is JSON, for lists and maps")
	c.Flags().BoolVar(&force, "force", false, "set a key that nobody declared")
	notTogether(c, "type", "json")
	return c
}

// settingValue is the value on the command line, or what a person types or
// another program pipes in.
func settingValue(ctx context.Context, e *env, args []string) (string, error) {
	if len(args) == 2 && args[1] != "-" {
		return args[1], nil
	}
	name, isVar := variable(args[0])
	if len(args) == 1 && e.asks {
		if !isVar && !hidden(args[0]) {
			return readLine(ctx, e, args[0]+": ")
		}
		return readSecret(e, name)
	}
	if len(args) == 1 {
		return "", usageError("config set %s needs a value; - reads it from stdin", args[0])
	}
	return readPiped(e)
}

// readSecret reads a line unseen.
func readSecret(e *env, what string) (string, error) {
	fmt.Fprintf(e.err, "%s (not shown): ", what)
	b, err := term.ReadPassword(int(e.in.Fd()))
	fmt.Fprintln(e.err)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", what, err)
	}
	return setup.CleanKey(string(b)), nil
}

func readPiped(e *env) (string, error) {
	b, err := io.ReadAll(io.LimitReader(e.in, 1<<20))
	if err != nil {
		return "", fmt.Errorf("read stdin: %w", err)
	}
	return strings.TrimRight(string(b), "\r\n"), nil
}

func setSetting(e *env, edit config.Edit) error {
	cfg, secrets, err := e.settings()
	if err != nil {
		return err
	}
	if name, ok := variable(edit.Key); ok {
		return setVariable(e, secrets, name, edit.Value)
	}
	if err := config.CreateHome(e.place.Dir, secrets.Getenv, nil); err != nil {
		return err
	}
	changes, err := cfg.Apply(edit)
	if err != nil {
		return unknownKey(err)
	}
	return tellChange(e, cfg.Path(), changes[0])
}

// unknownKey makes a key that nobody declared a usage error.
func unknownKey(err error) error {
	var u *config.UnknownKeyError
	if errors.As(err, &u) {
		return usageError("%w", err)
	}
	return err
}

func tellChange(e *env, path string, ch config.Change) error {
	if ch.Note != "" {
		e.notice(ch.Note)
	}
	if !ch.Changed {
		_, err := fmt.Fprintf(e.out, "%s is %s already\n", ch.Key, shown(ch.Key, ch.New))
		return err
	}
	was := ""
	if ch.Old != nil {
		was = " (was " + shown(ch.Key, ch.Old) + ")"
	}
	_, err := fmt.Fprintf(e.out, "%s = %s%s in %s\n", ch.Key, shown(ch.Key, ch.New), was, path)
	return err
}

// shown is a value as a person may see it.
func shown(key string, v any) string {
	v = maskTree(key, v).value
	if s, ok := v.(string); ok && s != "" {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

func setVariable(e *env, secrets *secret.Store, name, value string) error {
	value = setup.CleanKey(value)
	if by := secret.Managed(e.place.Dir, secrets.Getenv); by != "" {
		return fmt.Errorf("set %s: %w by %s; change it there", name, secret.ErrManaged, by)
	}
	if err := config.CreateHome(e.place.Dir, secrets.Getenv, nil); err != nil {
		return err
	}
	note, err := secrets.Set(name, value)
	if err != nil {
		return err
	}
	if note != "" {
		e.notice(note)
	}
	if problem := setup.JunkKey(name, value); problem != "" {
		e.notice(fmt.Sprintf("%s was saved, but %s", name, problem))
	}
	again, err := secret.Open(e.place.Dir, e.environ)
	if err != nil {
		return err
	}
	got, from, _ := again.Lookup(name)
	if from != secret.FromFile && value != "" && got != value {
		e.notice("the value in the environment counts, not the one just saved, because HERMES_ENV_FIRST is set")
	} else if stored := again.Get(name); stored != value && note == "" {
		return fmt.Errorf("%s was written to %s and reads back differently; look at the file", name, again.Path())
	}
	shown := value
	if secret.IsSecretName(name) {
		shown = secret.Mask(value)
	}
	_, err = fmt.Fprintf(e.out, "%s = %s in %s\n", name, shown, again.Path())
	return err
}

func newConfigUnset(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "unset KEY", Short: "Take one setting out of the file; exit code 1 when it is not there", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			cfg, secrets, err := e.settings()
			if err != nil {
				return err
			}
			if name, ok := variable(args[0]); ok && !cfg.Has(args[0]) {
				if !slices.Contains(secrets.Names(), name) {
					return fmt.Errorf("%s does not set %s", secrets.Path(), name)
				}
				if err := secrets.Unset(name); err != nil {
					return err
				}
				_, err := fmt.Fprintf(e.out, "%s removed from %s\n", name, secrets.Path())
				return err
			}
			ch, err := cfg.Apply(config.Edit{Key: args[0], Remove: true})
			if errors.Is(err, config.ErrAbsent) {
				return fmt.Errorf("%s: %w; hermes config get %s shows what counts", args[0], config.ErrAbsent, args[0])
			}
			if err != nil {
				return err
			}
			now := "nothing"
			again, err := config.Load(e.place.Dir, secrets.Getenv)
			if err != nil {
				return err
			}
			if v, ok := again.Get(ch[0].Key); ok {
				now = shown(ch[0].Key, v)
			}
			_, err = fmt.Fprintf(e.out, "%s removed from %s (was %s, is now %s)\n", ch[0].Key, cfg.Path(), shown(ch[0].Key, ch[0].Old), now)
			return err
		},
	}
}
