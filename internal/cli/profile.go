package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/internal/setup"
	"github.com/hermes-go/hermes/secret"
)

func newProfile(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "profile", Short: "Several homes side by side, each with its own settings, keys and memory", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return listProfiles(e, false) },
	}
	c.AddCommand(newProfileList(e), newProfileUse(e), newProfileCreate(e), newProfileDelete(e), newProfileShow(e), newProfileRename(e), newProfileExport(e), newProfileImport(e))
	return c
}

func (e *env) profiles() setup.Profiles { return setup.Profiles{Root: e.place.Root} }

type profileRow struct {
	Name     string `json:"name"`
	Active   bool   `json:"active"` // without -p
	Current  bool   `json:"current"`
	Path     string `json:"path"`
	Model    string `json:"model"`
	Provider string `json:"provider"`
}

func profileOf(e *env, name, active string) (profileRow, error) {
	r := profileRow{Name: name, Active: name == active, Path: e.profiles().Dir(name)}
	r.Current = r.Path == e.place.Dir
	secrets, err := secret.Open(r.Path, nil)
	if err != nil {
		return r, err
	}
	cfg, err := config.Load(r.Path, secrets.Getenv)
	if err != nil {
		return r, err
	}
	r.Model, r.Provider = cfg.String("model.default"), cfg.String("model.provider")
	return r, nil
}

func listProfiles(e *env, asJSON bool) error {
	names, err := e.profiles().List()
	if err != nil {
		return err
	}
	active, err := e.profiles().Active()
	if err != nil {
		return err
	}
	rows := []profileRow{}
	for _, n := range names {
		r, err := profileOf(e, n, active)
		if err != nil {
			e.notice(n + ": " + err.Error())
		}
		rows = append(rows, r)
	}
	if asJSON {
		return printJSON(e.out, rows)
	}
	w := tabwriter.NewWriter(e.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "\tPROFILE\tMODEL\tHOME")
	for _, r := range rows {
		mark := " "
		if r.Active {
			mark = "*"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", mark, r.Name, orNone(r.Model), r.Path)
	}
	return w.Flush()
}

func newProfileList(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the profiles; * is the one without -p", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return listProfiles(e, asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return c
}

func newProfileUse(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "use NAME", Short: "Use a profile from now on, when no -p is given", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := e.profiles().Use(args[0]); err != nil {
				return err
			}
			if _, set := lookupEnv(e.environ, "HERMES_HOME"); set {
				e.notice("HERMES_HOME is set and goes before the active profile")
			}
			_, err := fmt.Fprintf(e.out, "%s is the active profile now\n", args[0])
			return err
		},
	}
}

func newProfileCreate(e *env) *cobra.Command {
	var clone, all bool
	var from string
	c := &cobra.Command{
		Use: "create NAME", Short: "Make a profile, empty or as a copy", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if from == "" && (clone || all) {
				if from = e.place.Profile; from == "" {
					from = "default"
				}
			}
			secrets, err := secret.Open(e.place.Dir, e.environ)
			if err != nil {
				return err
			}
			if err := e.profiles().Create(args[0], from, all, secrets.Getenv); err != nil {
				return err
			}
			what := "empty"
			if from != "" {
				what = "from " + from
			}
			_, err = fmt.Fprintf(e.out, "made %s (%s) in %s\nStart it with: hermes -p %s\n", args[0], what, e.profiles().Dir(args[0]), args[0])
			return err
		},
	}
	c.Flags().BoolVar(&clone, "clone", false, "copy settings, keys, skills and memory of the current profile")
	c.Flags().BoolVar(&all, "clone-all", false, "copy everything but conversations and what runs")
	c.Flags().StringVar(&from, "clone-from", "", "copy settings, keys, skills and memory of this profile")
	return c
}

func newProfileDelete(e *env) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "delete NAME", Short: "Delete a profile with its conversations and memory", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			p := e.profiles()
			if err := p.Check(args[0]); err != nil {
				return err
			}
			if !yes {
				if !e.asks {
					return usageError("nobody can be asked; delete %s with everything in it by adding --yes", p.Dir(args[0]))
				}
				line, err := readLine(c.Context(), e, fmt.Sprintf("This deletes %s for good. Type the name to go on: ", p.Dir(args[0])))
				if err != nil {
					return err
				}
				if line != args[0] {
					return fmt.Errorf("nothing was deleted: %q is not %q", line, args[0])
				}
			}
			if err := p.Delete(args[0]); err != nil {
				return err
			}
			if _, err := os.Lstat(p.Dir(args[0])); err == nil {
				return fmt.Errorf("%s is still there; remove it by hand", p.Dir(args[0]))
			}
			_, err := fmt.Fprintf(e.out, "deleted %s\n", args[0])
			return err
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func newProfileShow(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "show [NAME]", Short: "Show a profile, the current one without NAME", Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			name := e.place.Profile
			if len(args) == 1 {
				name = args[0]
			}
			if name == "" {
				name = "default"
			}
			if err := e.profiles().Check(name); err != nil {
				return err
			}
			active, err := e.profiles().Active()
			if err != nil {
				return err
			}
			r, err := profileOf(e, name, active)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(e.out, r)
			}
			_, err = fmt.Fprintf(e.out, "%s in %s\nmodel %s of %s\nactive %v\n", r.Name, r.Path, orNone(r.Model), cmp.Or(r.Provider, "auto"), r.Active)
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

func newProfileRename(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "rename OLD NEW", Short: "Give a profile another name", Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := e.profiles().Rename(args[0], args[1]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(e.out, "%s is called %s now\n", args[0], args[1])
			return err
		},
	}
}

func newProfileExport(e *env) *cobra.Command {
	var file string
	var secrets, sessions bool
	c := &cobra.Command{
		Use: "export [NAME]", Short: "Write a profile to a tar.gz, without keys and conversations unless asked", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			name := e.place.Profile
			if len(args) == 1 {
				name = args[0]
			}
			if name == "" {
				name = "default"
			}
			if file == "" {
				file = filepath.Join(e.workDir, fmt.Sprintf("hermes-%s-%s.tar.gz", name, time.Now().Format("20060102")))
			}
			if _, err := os.Stat(file); err == nil {
				return fmt.Errorf("%s exists already; give another name with --output", file)
			}
			a, err := e.profiles().Export(c.Context(), name, file, secrets, sessions)
			if err != nil {
				return err
			}
			left := ""
			if !a.Secrets {
				left += "; keys are not in it (--with-keys)"
			}
			if !a.Sessions {
				left += "; conversations are not in it (--with-sessions)"
			}
			_, err = fmt.Fprintf(e.out, "%s: %d files, %d bytes%s\n", file, a.Files, a.Bytes, left)
			return err
		},
	}
	c.Flags().StringVarP(&file, "output", "o", "", "the file to write")
	c.Flags().BoolVar(&secrets, "with-keys", false, "take .env and auth.json along")
	c.Flags().BoolVar(&sessions, "with-sessions", false, "take the conversations along")
	return c
}

func newProfileImport(e *env) *cobra.Command {
	var name string
	c := &cobra.Command{
		Use: "import FILE", Short: "Make a profile from an exported tar.gz", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			made, n, err := e.profiles().Import(args[0], name)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(e.out, "made %s from %d files in %s\nStart it with: hermes -p %s\n", made, n, e.profiles().Dir(made), made)
			return err
		},
	}
	c.Flags().StringVar(&name, "name", "", "what to call it here")
	return c
}

func lookupEnv(environ []string, name string) (string, bool) {
	for _, line := range environ {
		if k, v, ok := strings.Cut(line, "="); ok && k == name {
			return v, v != ""
		}
	}
	return "", false
}
