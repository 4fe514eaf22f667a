package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/internal/setup"
	"github.com/hermes-go/hermes/internal/skill"
)

func newSkillsConfig(e *env) *cobra.Command {
	var asJSON bool
	var platform string
	c := &cobra.Command{
		Use: "config", Short: "Choose the skills of sessions and fill in what they ask for",
		Long: "At a terminal: switch skills on and off, then answer what the enabled ones ask for.\nElsewhere, and with --json: list what they ask for and what of it is missing.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return e.with(func(a *app.App) error {
				if asJSON || !e.asks {
					return printNeeds(e, app.SkillNeeds(a.Skills, a.Skills.List(), orCLI(platform)), asJSON)
				}
				e.quit.leaveKeys()
				ask := e.asker()
				err := toggleSkills(c.Context(), a, ask, platform)
				if err == nil {
					_, err = askNeeds(c.Context(), a, ask, app.SkillNeeds(a.Skills, a.Skills.List(), orCLI(platform)))
				}
				return e.leftWizard(err)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON array of what is asked for")
	c.Flags().StringVar(&platform, "platform", "", "switch only for this platform")
	return c
}

func orCLI(platform string) string {
	if platform == "" {
		return "cli"
	}
	return platform
}

// toggleSkills lets a person switch skills until they are done. Every switch is
// written at once.
func toggleSkills(ctx context.Context, a *app.App, ask setup.Asker, platform string) error {
	at := 0
	for {
		var names, options []string
		off := a.Skills.Off(platform)
		for _, s := range a.Skills.List().Skills {
			if s.State != skill.OK && s.State != skill.Broken {
				continue
			}
			mark := "[x]"
			if off(s) {
				mark = "[ ]"
			}
			names = append(names, s.Name)
			options = append(options, fmt.Sprintf("%s %-24s %s", mark, s.Name, s.Short()))
		}
		options = append(options, "Done")
		i, err := ask.Choose(ctx, setup.Question{Title: "Skills; choosing one switches it"}, options, min(at, len(options)-1))
		if err != nil || i == len(names) {
			return err
		}
		at = i
		if _, err := a.SwitchSkills(platform, names[i:i+1], strings.HasPrefix(options[i], "[ ]")); err != nil {
			return err
		}
	}
}

// askNeeds asks for what is missing. Nothing given takes the default, or skips
// what has none.
func askNeeds(ctx context.Context, a *app.App, ask setup.Asker, needs []app.SkillNeed) (kept int, err error) {
	for _, n := range needs {
		if n.Set || n.Kind == "file" || n.Optional {
			continue
		}
		q := setup.Question{Title: fmt.Sprintf("%s, for the skill %s", n.Prompt, n.Skill), Note: n.Help}
		var value string
		if n.Kind == "variable" {
			value, err = ask.Secret(ctx, q)
		} else {
			value, err = ask.Line(ctx, q, n.Default)
			if strings.TrimSpace(value) == "" {
				value = n.Default
			}
		}
		if err != nil {
			return kept, err
		}
		if value = strings.TrimSpace(value); value == "" {
			ask.Say("skipped " + n.Key)
			continue
		}
		if err := a.KeepSkillNeed(n, value); err != nil {
			return kept, err
		}
		kept++
		ask.Say("saved " + n.Key)
	}
	return kept, nil
}

func printNeeds(e *env, needs []app.SkillNeed, asJSON bool) error {
	if asJSON {
		return printJSON(e.out, append([]app.SkillNeed{}, needs...))
	}
	if len(needs) == 0 {
		_, err := fmt.Fprintln(e.out, "no skill asks for anything")
		return err
	}
	w := tabwriter.NewWriter(e.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "SKILL\tASKS FOR\tSTATE\tWHAT IT IS")
	for _, n := range needs {
		state := "missing"
		switch {
		case n.Set:
			state = "set"
		case n.Kind == "setting" && n.Default != "":
			state = "default " + n.Default
		case n.Optional:
			state = "not set, optional"
		}
		key := n.Key
		switch n.Kind {
		case "setting":
			key = n.Path()
		case "variable":
			key = "$" + n.Key
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", n.Skill, key, state, oneLine(strings.Join(slices.DeleteFunc([]string{n.Description, n.Help}, func(s string) bool { return s == "" }), "; "), 80))
	}
	return w.Flush()
}

// skillSettings is the part of config show that skills have asked for. It brings
// no skill into the home.
func skillSettings(e *env) error {
	return e.with(func(a *app.App) error {
		var rows []app.SkillNeed
		for _, n := range app.SkillNeeds(a.Skills, a.Skills.Catalogue.List(), "cli") {
			if n.Kind == "setting" {
				rows = append(rows, n)
			}
		}
		if len(rows) == 0 {
			return nil
		}
		w := tabwriter.NewWriter(e.out, 0, 4, 2, ' ', 0)
		fmt.Fprintln(w, "\nSkill Settings")
		for _, n := range rows {
			value := n.Value
			switch {
			case value == "":
				value = "(not set)"
			case !n.Set:
				value += " (default)"
			}
			fmt.Fprintf(w, "  %s\t%s\t%s: %s\n", n.Path(), value, n.Skill, oneLine(n.Description, 60))
		}
		return w.Flush()
	})
}

// migrateSkills asks, after a migration, for the settings that enabled skills
// have no value for; where nobody can be asked it lists them.
func migrateSkills(ctx context.Context, e *env) error {
	return e.with(func(a *app.App) error {
		var missing []app.SkillNeed
		for _, n := range app.SkillNeeds(a.Skills, a.Skills.Catalogue.List(), "cli") {
			if n.Kind == "setting" && !n.Set {
				missing = append(missing, n)
			}
		}
		if len(missing) == 0 {
			return nil
		}
		if !e.asks {
			for _, n := range missing {
				otherwise := ""
				if n.Default != "" {
					otherwise = " (default " + n.Default + ")"
				}
				fmt.Fprintf(e.out, "%s is not set%s; the skill %s asks for it: %s\n", n.Path(), otherwise, n.Skill, n.Description)
			}
			return nil
		}
		e.quit.leaveKeys()
		ask := e.asker()
		i, err := ask.Choose(ctx, setup.Question{Title: fmt.Sprintf("Skills ask for %d settings. Answer them now?", len(missing))}, []string{"Yes", "No"}, 0)
		if err == nil && i == 0 {
			_, err = askNeeds(ctx, a, ask, missing)
		}
		if errors.Is(err, setup.ErrStop) {
			return nil // the migration is done, and so is what was answered
		}
		return err
	})
}
