package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/internal/catalog"
	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/internal/setup"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/tool"
)

func newModel(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "model", Short: "Choose the model; list those there are", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !e.asks {
				return showModel(e, false)
			}
			return e.with(func(a *app.App) error { return runWizard(c.Context(), e, a, setup.Way{Sections: []string{"model"}}) })
		},
	}
	c.AddCommand(newModelList(e), newModelSet(e), newModelShow(e), newModelRefresh(e))
	return c
}

func newModelShow(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "show", Short: "Say which model conversations use, and why", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return showModel(e, asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

func showModel(e *env, asJSON bool) error {
	return e.with(func(a *app.App) error {
		r, err := a.Resolve("", "")
		if err != nil {
			return err
		}
		list := openCatalog(e, a)
		m, _ := list.Find(r.Kind.Name, r.Model)
		if asJSON {
			return printJSON(e.out, map[string]any{
				"model": r.Model, "provider": r.Kind.Name, "base_url": r.Endpoint.BaseURL, "api_mode": r.Endpoint.Wire, "source": r.Source, "context_window": m.Window,
			})
		}
		fmt.Fprintf(e.out, "%s of %s at %s (%s)\n", orNone(r.Model), r.Kind.Name, r.Endpoint.BaseURL, r.Source)
		if m.ID != "" {
			fmt.Fprintf(e.out, "takes %s tokens; %s for a million\n", setup.Tokens(m.Window), setup.Money(m))
		}
		_, err = fmt.Fprintln(e.out, "Choose another: hermes model set NAME [--provider P]; see: hermes model list")
		return err
	})
}

func orNone(s string) string {
	if s == "" {
		return "(no model chosen)"
	}
	return s
}

func openCatalog(e *env, a *app.App) *catalog.Catalog {
	list, err := catalog.Open(a.Home)
	if err != nil {
		e.notice(err.Error())
	}
	return list
}

type modelRow struct {
	catalog.Model
	Current bool `json:"current"`
}

func newModelList(e *env) *cobra.Command {
	var asJSON, all, live bool
	c := &cobra.Command{
		Use: "list [PROVIDER]", Short: "List models with what they take and cost",
		Long: "List models of one service, or of every service that has a key here. The list is the\ncatalogue's; --live asks the service itself. Prices are dollars for a million tokens.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return e.with(func(a *app.App) error {
				name := ""
				if len(args) == 1 {
					name = args[0]
				}
				rows, err := modelRows(c.Context(), e, a, name, all, live)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(e.out, rows)
				}
				if len(rows) == 0 {
					return tellServices(e, a)
				}
				w := tabwriter.NewWriter(e.out, 0, 4, 2, ' ', 0)
				fmt.Fprintln(w, "\tPROVIDER\tMODEL\tTAKES\tPRICE")
				for _, r := range rows {
					mark := " "
					if r.Current {
						mark = "*"
					}
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", mark, r.Provider, r.ID, setup.Tokens(r.Window), setup.Money(r.Model))
				}
				return w.Flush()
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	c.Flags().BoolVar(&all, "all", false, "also services without a key")
	c.Flags().BoolVar(&live, "live", false, "ask the service for its models")
	return c
}

func modelRows(ctx context.Context, e *env, a *app.App, name string, all, live bool) ([]modelRow, error) {
	rows := []modelRow{}
	list := openCatalog(e, a)
	current, err := a.Resolve("", "")
	if live {
		r := current
		if name != "" {
			r, err = a.Resolve(name, "any")
		}
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
		defer cancel()
		models, err := provider.ListModels(ctx, r.Endpoint)
		if err != nil {
			return nil, fmt.Errorf("list models of %s: %w", r.Kind.Name, err)
		}
		for _, m := range models {
			known, _ := list.Find(r.Kind.Name, m.ID)
			known.Provider, known.ID = r.Kind.Name, m.ID
			if m.ContextWindow > 0 {
				known.Window = m.ContextWindow
			}
			rows = append(rows, modelRow{known, m.ID == current.Model})
		}
		return rows, nil
	}
	named, err := a.Named()
	if err != nil {
		return nil, err
	}
	show := map[string]bool{}
	if name != "" {
		k, ok := provider.Lookup(name)
		if !ok {
			for _, n := range named {
				if n.Key == name {
					return append(rows, modelRow{catalog.Model{Provider: name, ID: n.Model, Window: n.Window}, true}), nil
				}
			}
			return nil, unknownProvider(name, named)
		}
		show[k.Name] = true
	} else {
		for _, o := range setup.Offers(named, a.Getenv, nil) {
			show[o.Name] = all || o.Ready
		}
	}
	for _, m := range list.Models("") {
		if show[m.Provider] {
			rows = append(rows, modelRow{m, m.Provider == current.Kind.Name && m.ID == current.Model})
		}
	}
	for _, n := range named {
		if n.Model != "" && name == "" {
			rows = append(rows, modelRow{catalog.Model{Provider: n.Key, ID: n.Model, Window: n.Window}, current.Source == "providers."+n.Key})
		}
	}
	return rows, nil
}

// tellServices is what a list without rows says instead.
func tellServices(e *env, a *app.App) error {
	named, err := a.Named()
	if err != nil {
		return err
	}
	fmt.Fprintln(e.out, "No model of a service that has a key here is known. The services:")
	w := tabwriter.NewWriter(e.out, 0, 4, 2, ' ', 0)
	for _, o := range setup.Offers(named, a.Getenv, nil) {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", o.Name, o.Label, o.Why)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintln(e.out, "Set a key: hermes auth add PROVIDER; see models: hermes model list PROVIDER")
	return err
}

func unknownProvider(name string, named []provider.Named) error {
	var names []string
	for _, k := range provider.All() {
		names = append(names, k.Name)
	}
	for _, n := range named {
		names = append(names, n.Key)
	}
	text := fmt.Sprintf("there is no provider %q", name)
	if near := tool.Nearest(name, names, 3); len(near) > 0 {
		text += "; did you mean " + strings.Join(near, " or ") + "?"
	} else {
		text += "; see: hermes model list --all"
	}
	return usageError("%s", text)
}

func newModelSet(e *env) *cobra.Command {
	var choice setup.Choice
	c := &cobra.Command{
		Use: "set MODEL", Short: "Use a model from now on: NAME, or PROVIDER/NAME",
		Long: "Write the choice to config.yaml. With another service than before, what belonged to the\nold one there (address, key, headers) is removed. --base-url is for a server of your own.",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			choice.Model = args[0]
			return e.with(func(a *app.App) error { return setModel(e, a, choice) })
		},
	}
	c.Flags().StringVar(&choice.Provider, "provider", "", "the service; default: the one in use")
	c.Flags().StringVar(&choice.BaseURL, "base-url", "", "address of an OpenAI-compatible server")
	return c
}

func setModel(e *env, a *app.App, c setup.Choice) error {
	named, err := a.Named()
	if err != nil {
		return err
	}
	if c.BaseURL != "" && c.Provider == "" {
		c.Provider = "custom"
	}
	if c.Provider == "" {
		c.Provider = a.Config.String("model.provider")
		if head, rest, ok := strings.Cut(c.Model, "/"); ok && c.Provider != "openrouter" && c.Provider != "custom" {
			if k, known := provider.Lookup(head); known && k.Name == head {
				c.Provider, c.Model = head, rest
			}
		}
		if c.Provider == "" {
			r, err := a.Resolve("", c.Model)
			if err != nil {
				return err
			}
			c.Provider = r.Kind.Name
		}
	}
	if c.Provider != "auto" && c.Provider != "auto-local" {
		if _, err := provider.Resolve(provider.Wanted{Provider: c.Provider, Model: c.Model, BaseURL: c.BaseURL, Named: named}); err != nil {
			var missing *provider.SetupError
			if errors.As(err, &missing) && strings.HasPrefix(missing.Problem, "there is no provider") {
				return unknownProvider(c.Provider, named)
			}
		}
	}
	return saveChoice(e, a, c)
}

// saveChoice writes a choice, reads it back and says what counts now.
func saveChoice(e *env, a *app.App, c setup.Choice) error {
	if err := config.CreateHome(a.Home, a.Secrets.Getenv, nil); err != nil {
		return err
	}
	if _, err := a.Config.Apply(c.Edits(a.Config)...); err != nil {
		return err
	}
	return e.quietly(func(a *app.App) error {
		r, err := a.Resolve("", "")
		if err != nil {
			fmt.Fprintf(e.out, "model: %s of %s in %s\n", c.Model, c.Provider, a.Config.Path())
			e.notice(err.Error())
			return nil
		}
		_, err = fmt.Fprintf(e.out, "model: %s of %s at %s, in %s\n", r.Model, r.Kind.Name, r.Endpoint.BaseURL, a.Config.Path())
		return err
	})
}

func newModelRefresh(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "refresh", Short: "Fetch the newest catalogue of models, windows and prices", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return e.with(func(a *app.App) error {
				if v, ok := a.Config.Get("model_catalog.enabled"); ok && v == false {
					return errors.New("model_catalog.enabled is false; allow it with: hermes config set model_catalog.enabled true")
				}
				url := a.Config.String("model_catalog.url")
				if url == "" {
					url = catalog.DefaultURL
				}
				if err := config.CreateHome(a.Home, a.Secrets.Getenv, nil); err != nil {
					return err
				}
				ctx, cancel := context.WithTimeout(c.Context(), time.Minute)
				defer cancel()
				known := func(name string) bool { _, ok := provider.Lookup(name); return ok }
				list, err := catalog.Refresh(ctx, http.DefaultClient, a.Home, url, known, time.Now())
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(e.out, "%d models in %s\n", len(list.Models("")), list.Source)
				return err
			})
		},
	}
}
