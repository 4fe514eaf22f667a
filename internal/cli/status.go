package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/internal/setup"
)

// statusReport is what is set up, without asking anybody.
type statusReport struct {
	Home     string   `json:"home"`
	Profile  string   `json:"profile"`
	Model    string   `json:"model"`
	Provider string   `json:"provider"`
	BaseURL  string   `json:"base_url"`
	Source   string   `json:"source"`
	Problem  string   `json:"problem"`
	Fallback []string `json:"fallbacks"`
	Keys     []string `json:"keys"` // services with a key
	Backend  string   `json:"backend"`
	Approval string   `json:"approvals"`
	Tools    int      `json:"tools"`
	Missing  []string `json:"tools_unavailable"`
	Sessions string   `json:"sessions"`
	Deep     *bool    `json:"deep_ok,omitempty"`
}

func newStatus(e *env) *cobra.Command {
	var asJSON, deep bool
	c := &cobra.Command{
		Use: "status", Short: "What is set up, at a glance; nobody is asked", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return e.with(func(a *app.App) error {
				r, err := status(c.Context(), e, a)
				if err != nil {
					return err
				}
				if deep {
					ok := examine(c.Context(), e, a, false).OK
					r.Deep = &ok
				}
				if asJSON {
					return printJSON(e.out, r)
				}
				return printStatus(e, r)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	c.Flags().BoolVar(&deep, "deep", false, "also run what doctor runs")
	return c
}

func status(ctx context.Context, e *env, a *app.App) (statusReport, error) {
	r := statusReport{
		Home: a.Home, Profile: e.place.Profile, Backend: a.Config.String("terminal.backend"), Approval: a.Config.String("approvals.mode"),
		Fallback: []string{}, Keys: []string{}, Missing: []string{},
	}
	if r.Profile == "" {
		r.Profile = "default"
	}
	if at, err := a.Resolve("", ""); err != nil {
		r.Problem = err.Error()
	} else {
		r.Model, r.Provider, r.BaseURL, r.Source = at.Model, at.Kind.Name, at.Endpoint.BaseURL, at.Source
	}
	named, err := a.Named()
	if err != nil {
		return r, err
	}
	for _, o := range setup.Offers(named, a.Getenv, nil) {
		if o.Ready {
			r.Keys = append(r.Keys, o.Name)
		}
	}
	list, err := a.Fallbacks()
	if err != nil {
		return r, err
	}
	for _, f := range list {
		r.Fallback = append(r.Fallback, f.Provider+"/"+f.Model)
	}
	rows, err := a.ToolRows(ctx, "cli")
	if err != nil {
		return r, err
	}
	for _, t := range rows {
		switch {
		case t.Enabled && t.Available:
			r.Tools++
		case t.Enabled:
			r.Missing = append(r.Missing, t.Name)
		}
	}
	if r.Sessions, err = a.StoreState(ctx); err != nil {
		r.Sessions = err.Error()
	}
	return r, nil
}

func printStatus(e *env, r statusReport) error {
	w := e.out
	row := func(label, format string, args ...any) {
		fmt.Fprintf(w, "%-10s "+format+"\n", append([]any{label}, args...)...)
	}
	row("Home", "%s (profile %s)", r.Home, r.Profile)
	if r.Problem != "" {
		row("Model", "✗ %s", r.Problem)
	} else {
		row("Model", "%s of %s at %s (%s)", orNone(r.Model), r.Provider, r.BaseURL, r.Source)
	}
	row("Fallbacks", "%s", listOr(r.Fallback, "none"))
	row("Keys", "%s", listOr(r.Keys, "none"))
	row("Terminal", "%s, approvals %s", r.Backend, r.Approval)
	row("Tools", "%d can be used", r.Tools)
	if len(r.Missing) > 0 {
		row("", "not available: %s (why: hermes doctor)", listOr(r.Missing, ""))
	}
	row("Sessions", "%s", r.Sessions)
	if r.Deep != nil {
		text := "✓ nothing keeps a conversation from working"
		if !*r.Deep {
			text = "✗ something does not work; see: hermes doctor"
		}
		row("Checks", "%s", text)
	}
	return nil
}

func listOr(list []string, none string) string {
	if len(list) == 0 {
		return none
	}
	return strings.Join(list, ", ")
}
