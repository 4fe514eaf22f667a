package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/provider"
)

func newFallback(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "fallback", Short: "What is asked when the model fails", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return listFallbacks(e, false) },
	}
	c.AddCommand(newFallbackList(e), newFallbackAdd(e), newFallbackRemove(e), newFallbackClear(e))
	return c
}

func newFallbackList(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the chain in the order in which it is asked", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return listFallbacks(e, asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return c
}

func listFallbacks(e *env, asJSON bool) error {
	return e.quietly(func(a *app.App) error {
		list, err := a.Fallbacks()
		if err != nil {
			return err
		}
		type row struct {
			Provider string `json:"provider"`
			Model    string `json:"model"`
			BaseURL  string `json:"base_url,omitempty"`
			Usable   bool   `json:"usable"`
			Reason   string `json:"reason"`
		}
		rows := []row{}
		for _, f := range list {
			r := row{Provider: f.Provider, Model: f.Model, BaseURL: f.BaseURL, Usable: f.Err == nil}
			if f.Err != nil {
				r.Reason = f.Err.Error()
			}
			rows = append(rows, r)
		}
		if asJSON {
			return printJSON(e.out, rows)
		}
		if len(rows) == 0 {
			if a.Config.Has("fallback_model") {
				e.notice("fallback_model is the old form and has no effect here; move it with: hermes config migrate, or add it anew")
			}
			_, err := fmt.Fprintln(e.out, "No fallback. Add one: hermes fallback add PROVIDER MODEL")
			return err
		}
		for i, r := range rows {
			text := fmt.Sprintf("%d. %s of %s", i+1, r.Model, r.Provider)
			if r.BaseURL != "" {
				text += " at " + r.BaseURL
			}
			if !r.Usable {
				text += " (left out: " + r.Reason + ")"
			}
			if _, err := fmt.Fprintln(e.out, text); err != nil {
				return err
			}
		}
		return nil
	})
}

func newFallbackAdd(e *env) *cobra.Command {
	var base, keyEnv string
	c := &cobra.Command{
		Use: "add [PROVIDER MODEL]", Short: "Add a service to the end of the chain; at a terminal it can be picked",
		Args: cobra.MatchAll(cobra.MaximumNArgs(2), func(_ *cobra.Command, args []string) error {
			if len(args) == 1 || len(args) == 0 && !e.asks {
				return errors.New("give PROVIDER and MODEL")
			}
			return nil
		}),
		RunE: func(c *cobra.Command, args []string) error {
			return e.with(func(a *app.App) error {
				entry := fallbackEntry{BaseURL: base, KeyEnv: keyEnv}
				if len(args) == 2 {
					entry.Provider, entry.Model = args[0], args[1]
					return addFallback(e, a, entry)
				}
				w, err := e.wizard(a)
				if err != nil {
					return err
				}
				choice, more, err := w.Pick(c.Context(), a.Config, "What is asked when the model fails?")
				if err != nil {
					return e.leftWizard(err)
				}
				entry.Provider, entry.Model, entry.BaseURL = choice.Provider, choice.Model, choice.BaseURL
				for _, m := range more {
					if m.Key == "model.key_env" {
						entry.KeyEnv = m.Value
					}
				}
				return addFallback(e, a, entry)
			})
		},
	}
	c.Flags().StringVar(&base, "base-url", "", "address, for a server of your own")
	c.Flags().StringVar(&keyEnv, "key-env", "", "variable that holds the key")
	return c
}

// fallbackEntry is an entry of fallback_providers.
type fallbackEntry struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	BaseURL  string `json:"base_url,omitempty"`
	KeyEnv   string `json:"key_env,omitempty"`
}

func addFallback(e *env, a *app.App, entry fallbackEntry) error {
	named, err := a.Named()
	if err != nil {
		return err
	}
	if _, known := provider.Lookup(entry.Provider); !known {
		if _, err := provider.Resolve(provider.Wanted{Provider: entry.Provider, Model: entry.Model, Named: named, Lookup: a.Getenv}); err != nil {
			return unknownProvider(entry.Provider, named)
		}
	}
	list, err := a.Fallbacks()
	if err != nil {
		return err
	}
	for i, f := range list {
		if f.Provider == entry.Provider && f.Model == entry.Model && f.BaseURL == entry.BaseURL {
			return fmt.Errorf("%s of %s is fallback %d already", entry.Model, entry.Provider, i+1)
		}
	}
	raw, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	key := "fallback_providers[+]"
	if !a.Config.Has("fallback_providers") || len(list) == 0 {
		key, raw = "fallback_providers", append(append([]byte("["), raw...), ']')
	}
	if err := config.CreateHome(a.Home, a.Secrets.Getenv, nil); err != nil {
		return err
	}
	if _, err := a.Config.Apply(config.Edit{Key: key, Value: string(raw), Kind: config.KindJSON}); err != nil {
		return err
	}
	return listFallbacks(e, false)
}

func newFallbackRemove(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "remove N", Aliases: []string{"rm"}, Short: "Take an entry out, by its number or its model", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.with(func(a *app.App) error {
				list, err := a.Fallbacks()
				if err != nil {
					return err
				}
				at := -1
				for i, f := range list {
					if strconv.Itoa(i+1) == args[0] || f.Model == args[0] || f.Provider+"/"+f.Model == args[0] {
						at = i
						break
					}
				}
				if at < 0 {
					return fmt.Errorf("there is no fallback %q among %d; see: hermes fallback list", args[0], len(list))
				}
				edit := config.Edit{Key: fmt.Sprintf("fallback_providers.%d", at), Remove: true}
				if len(list) == 1 {
					edit.Key = "fallback_providers"
				}
				if _, err := a.Config.Apply(edit); err != nil {
					return err
				}
				fmt.Fprintf(e.out, "removed %s of %s\n", list[at].Model, list[at].Provider)
				return listFallbacks(e, false)
			})
		},
	}
}

func newFallbackClear(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "clear", Short: "Remove the whole chain", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return e.with(func(a *app.App) error {
				if !a.Config.Has("fallback_providers") {
					_, err := fmt.Fprintln(e.out, "There was no fallback.")
					return err
				}
				if _, err := a.Config.Apply(config.Edit{Key: "fallback_providers", Remove: true}); err != nil {
					return err
				}
				return listFallbacks(e, false)
			})
		},
	}
}
