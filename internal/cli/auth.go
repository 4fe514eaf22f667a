package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/internal/setup"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/secret"
)

func newAuth(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "auth", Short: "Keys of model services: several for one service take turns", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return listAuth(e, "", false) },
	}
	c.AddCommand(newAuthAdd(e), newAuthList(e), newAuthRemove(e), newAuthReset(e), newAuthStatus(e), newAuthLogout(e))
	return c
}

// poolName checks a service's name as auth commands take it.
func poolName(a *app.App, name string) (string, error) {
	named, err := a.Named()
	if err != nil {
		return "", err
	}
	bare := strings.TrimPrefix(name, "custom:")
	for _, n := range named {
		if n.Key == bare {
			return "custom:" + strings.ReplaceAll(strings.ToLower(n.Key), " ", "-"), nil
		}
	}
	if k, ok := provider.Lookup(name); ok && k.Wire != provider.Offline {
		return k.Name, nil
	}
	return "", unknownProvider(name, named)
}

func newAuthAdd(e *env) *cobra.Command {
	var label, key, kind string
	c := &cobra.Command{
		Use: "add PROVIDER", Short: "Add a key; it is asked for unseen, or read from stdin",
		Long: "Add a key for a service to auth.json. A first key may as well stand in .env (hermes\nconfig set NAME); with several, one that is exhausted rests while others go on.\n--api-key works too, but leaves the key in the shell's history.",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if kind != "api-key" {
				return usageError("--type %s: only api-key logins can be added; others are kept as they are", kind)
			}
			return e.with(func(a *app.App) error {
				name, err := poolName(a, args[0])
				if err != nil {
					return err
				}
				if key == "" {
					if key, err = askKey(c.Context(), e, name); err != nil {
						return err
					}
				}
				return addKey(e, a, name, setup.CleanKey(key), label)
			})
		},
	}
	c.Flags().StringVar(&label, "label", "", "what to call the key")
	c.Flags().StringVar(&key, "api-key", "", "the key itself; better typed or piped in")
	c.Flags().StringVar(&kind, "type", "api-key", "kind of login")
	return c
}

func askKey(_ context.Context, e *env, name string) (string, error) {
	if e.asks {
		return readSecret(e, "key for "+name)
	}
	key, err := readPiped(e)
	if err == nil && strings.TrimSpace(key) == "" {
		err = usageError("no key: nobody can be asked and stdin is empty; pipe the key in")
	}
	return key, err
}

func addKey(e *env, a *app.App, name, key, label string) error {
	if !secret.Usable(key) {
		return fmt.Errorf("add a key for %s: what was given is empty or a placeholder; paste the key itself", name)
	}
	variable := "API_KEY"
	if k, ok := provider.Lookup(name); ok && len(k.Env) > 0 {
		variable = k.Env[0].Name
	}
	if problem := setup.JunkKey(variable, key); problem != "" {
		e.notice("the key was taken, but " + problem)
	}
	var added setup.Login
	err := setup.UpdateAuth(a.Home, time.Now(), func(auth *setup.Auth) (err error) {
		added, err = auth.Add(name, key, label, "manual")
		return err
	})
	if err != nil {
		return err
	}
	again, err := setup.ReadAuth(a.Home)
	if err != nil {
		return err
	}
	if l, err := again.Find(name, added.ID); err != nil || l.Secret != key {
		return fmt.Errorf("the key was written to %s and reads back differently; look at the file", setup.AuthPath(a.Home))
	}
	_, err = fmt.Fprintf(e.out, "%s: key %s (%s) %s, number %d of %d\n", name, added.ID, added.Label, secret.Mask(key), added.Priority+1, len(again.Logins(name)))
	return err
}

func newAuthList(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list [PROVIDER]", Short: "List the keys there are, masked, and how they fare", Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			name := ""
			if len(args) == 1 {
				name = args[0]
			}
			return listAuth(e, name, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return c
}

type authRow struct {
	Provider string `json:"provider"`
	Number   int    `json:"number"` // 0: a variable
	ID       string `json:"id"`
	Label    string `json:"label"`
	Source   string `json:"source"`
	Key      string `json:"key"` // masked
	Status   string `json:"status"`
	Until    string `json:"until,omitempty"`
	Uses     int    `json:"request_count"`
}

func listAuth(e *env, only string, asJSON bool) error {
	return e.with(func(a *app.App) error {
		if only != "" {
			name, err := poolName(a, only)
			if err != nil {
				return err
			}
			only = name
		}
		auth, err := setup.ReadAuth(a.Home)
		if err != nil {
			return err
		}
		rows := authRows(a, auth, only)
		if asJSON {
			return printJSON(e.out, rows)
		}
		if len(rows) == 0 {
			_, err := fmt.Fprintln(e.out, "No keys. Add one: hermes auth add PROVIDER")
			return err
		}
		w := tabwriter.NewWriter(e.out, 0, 4, 2, ' ', 0)
		fmt.Fprintln(w, "PROVIDER\tNO\tID\tLABEL\tKEY\tSOURCE\tSTATE")
		for _, r := range rows {
			number, state := fmt.Sprint(r.Number), r.Status
			if r.Number == 0 {
				number = "-"
			}
			if r.Until != "" {
				state += " until " + r.Until
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Provider, number, r.ID, r.Label, r.Key, r.Source, state)
		}
		return w.Flush()
	})
}

func authRows(a *app.App, auth *setup.Auth, only string) []authRow {
	rows := []authRow{}
	for _, k := range provider.All() {
		for _, v := range k.Env {
			if value, from, _ := a.Secrets.Lookup(v.Name); secret.Usable(value) && (only == "" || only == k.Name) {
				rows = append(rows, authRow{Provider: k.Name, ID: "env:" + v.Name, Label: v.Name, Source: string(from), Key: secret.Mask(value), Status: "ok"})
			}
		}
	}
	for _, name := range auth.Providers() {
		if only != "" && only != name {
			continue
		}
		for i, l := range auth.Logins(name) {
			r := authRow{Provider: name, Number: i + 1, ID: l.ID, Label: l.Label, Source: l.Source, Key: secret.Mask(l.Secret), Status: "ok", Uses: l.Uses}
			switch {
			case l.Type == "oauth":
				r.Status = "not used here: a login of another program"
			case l.Status == "exhausted" && time.Now().Before(l.Until):
				r.Status, r.Until = "exhausted", l.Until.Local().Format(time.DateTime)
			case !l.Usable() && strings.HasPrefix(l.Source, "env:"):
				r.Status, r.Key = "see its variable", ""
			}
			rows = append(rows, r)
		}
	}
	return rows
}

func newAuthRemove(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "remove PROVIDER KEY", Aliases: []string{"rm"}, Short: "Remove a key, by number, id or label", Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.with(func(a *app.App) error {
				name, err := poolName(a, args[0])
				if err != nil {
					return err
				}
				var gone setup.Login
				if variable, ok := strings.CutPrefix(args[1], "env:"); ok {
					return usageError("%s is a variable; remove it with: hermes config unset %s", variable, variable)
				}
				err = setup.UpdateAuth(a.Home, time.Now(), func(auth *setup.Auth) (err error) {
					if gone, err = auth.Find(name, args[1]); err == nil {
						auth.Remove(name, gone.ID)
					}
					return err
				})
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(e.out, "%s: key %s (%s) removed\n", name, gone.ID, gone.Label)
				return err
			})
		},
	}
}

func newAuthReset(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "reset PROVIDER", Short: "Forget that keys were exhausted", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.with(func(a *app.App) error {
				name, err := poolName(a, args[0])
				if err != nil {
					return err
				}
				n := 0
				err = setup.UpdateAuth(a.Home, time.Now(), func(auth *setup.Auth) error {
					if len(auth.Logins(name)) == 0 {
						return fmt.Errorf("auth.json has no key for %s; see: hermes auth list", name)
					}
					n = auth.Reset(name)
					return nil
				})
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(e.out, "%s: %d exhausted keys may be used again\n", name, n)
				return err
			})
		},
	}
}
