package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/secret"
)

func newConfigEdit(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "edit", Short: "Open config.yaml in your editor and check it afterwards", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, secrets, err := e.settings()
			if err != nil {
				return err
			}
			if by := secret.Managed(e.place.Dir, secrets.Getenv); by != "" {
				return fmt.Errorf("edit %s: %w by %s; change it there", cfg.Path(), secret.ErrManaged, by)
			}
			if err := config.CreateHome(e.place.Dir, secrets.Getenv, map[string]string{"config.yaml": fmt.Sprintf("_config_version: %d\n", config.Version)}); err != nil {
				return err
			}
			argv, err := editor(secrets, e.asks)
			if err != nil {
				return err
			}
			cmd := exec.CommandContext(c.Context(), argv[0], append(argv[1:], cfg.Path())...)
			cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = e.in, e.out, e.err, e.environ
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%s: %w", argv[0], err)
			}
			return configCheck(e, false)
		},
	}
}

// editor is the command to edit with: $VISUAL and $EDITOR may carry arguments,
// and may be programs that need nobody at the terminal.
func editor(secrets *secret.Store, asks bool) ([]string, error) {
	for _, name := range []string{"EDITOR", "VISUAL"} {
		if argv := strings.Fields(secrets.Get(name)); len(argv) > 0 {
			return argv, nil
		}
	}
	if !asks {
		return nil, usageError("nobody sits at a terminal to edit; set EDITOR to a program that needs nobody, or use: hermes config set KEY VALUE")
	}
	for _, name := range []string{"nano", "vim", "vi", "code", "notepad"} {
		if path, err := exec.LookPath(name); err == nil {
			return []string{path}, nil
		}
	}
	return nil, errors.New("no editor is known; set EDITOR, or edit the file that hermes config path names")
}

func newConfigCheck(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "check", Short: "Check config.yaml and list the variables; exit code 1 when something is wrong", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return configCheck(e, asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

type checkedConfig struct {
	OK       bool             `json:"ok"`
	Version  int              `json:"version"`
	Latest   int              `json:"latest"`
	Problems []checkedProblem `json:"problems"`
	Unknown  []string         `json:"unknown"`
	Set      []string         `json:"variables_set"`
}

type checkedProblem struct {
	Severity config.Severity `json:"severity"`
	Key      string          `json:"key"`
	Line     int             `json:"line"`
	Message  string          `json:"message"`
	Fix      string          `json:"fix"`
}

func configCheck(e *env, asJSON bool) error {
	cfg, secrets, err := e.settings()
	if err != nil {
		return err
	}
	r := checkedConfig{OK: true, Version: cfg.Version(), Latest: config.Version, Problems: []checkedProblem{}, Unknown: append([]string{}, cfg.Unknown()...), Set: []string{}}
	for _, p := range append(cfg.Warnings(), cfg.Validate()...) {
		if p.Severity == config.Error {
			r.OK = false
		}
		r.Problems = append(r.Problems, checkedProblem{p.Severity, p.Key, p.Line, p.Message, p.Hint})
	}
	for _, v := range app.DeclaredVars() {
		if secrets.Has(v.Name) {
			r.Set = append(r.Set, v.Name)
		}
	}
	if asJSON {
		if err := printJSON(e.out, r); err != nil {
			return err
		}
	} else if err := printCheck(e, cfg, r); err != nil {
		return err
	}
	if !r.OK {
		return reported(exitFailed)
	}
	return nil
}

func printCheck(e *env, cfg *config.Config, r checkedConfig) error {
	w := e.out
	_, err := os.Stat(cfg.Path())
	switch {
	case err != nil:
		fmt.Fprintf(w, "%s is not there: every setting has its default\n", cfg.Path())
	case len(cfg.Warnings()) > 0 && r.Version == 0: // it may say one that cannot be read
		fmt.Fprintln(w, "version unknown")
	case r.Version < r.Latest:
		fmt.Fprintf(w, "version %d → %d: bring it up to date with: hermes config migrate\n", r.Version, r.Latest)
	default:
		fmt.Fprintf(w, "version %d\n", r.Version)
	}
	for _, p := range r.Problems {
		at := p.Key
		if at == "" || strings.HasPrefix(p.Message, at+" ") {
			at = "config.yaml"
		}
		if p.Line > 0 {
			at = fmt.Sprintf("line %d %s", p.Line, at)
		}
		fmt.Fprintf(w, "%s: %s: %s", p.Severity, at, p.Message)
		if p.Fix != "" {
			fmt.Fprintf(w, "; %s", p.Fix)
		}
		fmt.Fprintln(w)
	}
	if len(r.Set) > 0 {
		fmt.Fprintf(w, "variables set: %s\n", strings.Join(r.Set, ", "))
	}
	if len(r.Problems) == 0 {
		_, err := fmt.Fprintln(w, "no problem found")
		return err
	}
	return nil
}

func newConfigMigrate(e *env) *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use: "migrate", Short: "Bring config.yaml to today's layout; comments stay, the old file is kept", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			cfg, secrets, err := e.settings()
			if err != nil {
				return err
			}
			defer func() {
				if err == nil && !dry {
					err = migrateSkills(c.Context(), e)
				}
			}()
			run := func() (config.Migration, error) { return config.Migrate(cfg.Path(), secrets, time.Now()) }
			if dry {
				run = func() (config.Migration, error) { return config.Pending(cfg.Path(), secrets) }
			}
			m, err := run()
			if err != nil {
				return err
			}
			for _, text := range m.Warnings {
				e.notice(text)
			}
			if m.From == m.To && len(m.Changes) == 0 && len(m.Env) == 0 {
				_, err := fmt.Fprintf(e.out, "%s is of version %d already; nothing to do\n", cfg.Path(), m.To)
				return err
			}
			for _, ch := range m.Changes {
				fmt.Fprintf(e.out, "%s: %s → %s\n", ch.Key, shown(ch.Key, ch.Old), shown(ch.Key, ch.New))
			}
			for _, name := range m.Env {
				fmt.Fprintf(e.out, "%s: emptied in .env\n", name)
			}
			if dry {
				_, err := fmt.Fprintf(e.out, "version %d → %d; nothing was written\n", m.From, m.To)
				return err
			}
			_, err = fmt.Fprintf(e.out, "now of version %d, before %d; the old file is %s\n", m.To, m.From, m.Backup)
			return err
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would change and write nothing")
	return c
}
