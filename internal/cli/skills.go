package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/internal/skill"
)

func newSkills(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "skills", Short: "List, read, check and switch skills", Args: cobra.NoArgs,
		Long: "A skill is a page of instructions that the agent loads when a task asks for it.\nSkills lie in the home's skills directory, in skills.external_dirs, in ~/.agents/skills and in\nthe .agents/skills of a project that is trusted; one of an earlier place hides one of the same\nname of a later.",
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newSkillsList(e), newSkillsShow(e), newSkillsSearch(e), newSkillsSwitch(e, true), newSkillsSwitch(e, false),
		newSkillsValidate(e), newSkillsWhy(e), newSkillsNew(e), newSkillsReset(e), newSkillsDiff(e), newSkillsConfig(e),
		newSkillsDoctor(e), newSkillsHistory(e), newSkillsRevert(e), newSkillsStats(e), newSkillsExport(e), newSkillsImport(e),
		newSkillsTrust(e, true), newSkillsTrust(e, false))
	return c
}

// skillFlags choose which skills a command is about.
type skillFlags struct {
	asJSON        bool
	platform, dir string
}

func (f *skillFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	c.Flags().StringVar(&f.platform, "platform", "cli", "judge for sessions of this platform")
	c.Flags().StringVar(&f.dir, "dir", "", "look at the skills of this directory instead of the home's")
}

// with opens the library that the flags mean. A directory needs no home.
func (f *skillFlags) with(e *env, fn func(*app.App, *skill.Library) error) error {
	if f.dir == "" {
		return e.with(func(a *app.App) error { return fn(a, a.Skills) })
	}
	l, err := f.tree()
	if err != nil {
		return err
	}
	return fn(nil, l)
}

// tree is the library of --dir.
func (f *skillFlags) tree() (*skill.Library, error) {
	dir, err := filepath.Abs(f.dir)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, usageError("--dir %s is no directory", f.dir)
	}
	return skill.OpenTree(dir), nil
}

func newSkillsList(e *env) *cobra.Command {
	var f skillFlags
	var enabled bool
	var category string
	c := &cobra.Command{
		Use: "list", Short: "List every skill and whether it can be used", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.with(e, func(a *app.App, l *skill.Library) error {
				var shown map[string]bool // what prompts name; unknown for a tree outside
				if enabled && a != nil {
					var err error
					if shown, err = a.PromptSkills(c.Context(), f.platform); err != nil {
						return err
					}
				}
				rows := slices.DeleteFunc(app.SkillRows(l, f.platform), func(r app.SkillRow) bool {
					return enabled && (!r.Enabled || shown != nil && !shown[r.Path]) || category != "" && r.Category != category && !strings.HasPrefix(r.Category, category+"/")
				})
				if a != nil {
					if p := a.ProjectSkills(); p.Decision == "" && len(p.Names) > 0 {
						e.notice(e.projectNote(p))
					}
				}
				return printSkills(e, l, rows, f.asJSON)
			})
		},
	}
	f.add(c)
	c.Flags().BoolVar(&enabled, "enabled-only", false, "only what the prompt of sessions names")
	c.Flags().StringVar(&category, "category", "", "only this category and those below it")
	return c
}

func newSkillsSearch(e *env) *cobra.Command {
	var f skillFlags
	c := &cobra.Command{
		Use: "search QUERY", Short: "Find installed skills by what they are for", Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return f.with(e, func(_ *app.App, l *skill.Library) error {
				return printSkills(e, l, app.SearchSkills(l, f.platform, strings.Join(args, " ")), f.asJSON)
			})
		},
	}
	f.add(c)
	return c
}

func printSkills(e *env, l *skill.Library, rows []app.SkillRow, asJSON bool) error {
	if asJSON {
		return printJSON(e.out, rows)
	}
	if len(rows) == 0 {
		for _, r := range l.Roots() {
			fmt.Fprintln(e.err, "looked in", r.Dir)
		}
		_, err := fmt.Fprintln(e.out, "no skills")
		return err
	}
	w := tabwriter.NewWriter(e.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "SKILL\tCATEGORY\tSOURCE\tSTATE\tABOUT")
	broken := 0
	for _, r := range rows {
		state, about := string(r.State), r.Description
		switch {
		case r.State != skill.OK:
			about = r.Reason
		case !r.Enabled:
			state = "off"
		}
		if r.State == skill.Broken {
			broken++
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.Name, r.Category, r.Source, state, oneLine(about, 80))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if broken > 0 {
		fmt.Fprintf(e.err, "%d broken; see: hermes skills validate\n", broken)
	}
	return nil
}

func newSkillsShow(e *env) *cobra.Command {
	var f skillFlags
	c := &cobra.Command{
		Use: "show NAME", Short: "Print a skill, its files and what it still needs", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return f.with(e, func(_ *app.App, l *skill.Library) error {
				out, loaded, err := app.ShowSkill(c.Context(), l, f.platform, args[0])
				if err != nil {
					return noSkill(args[0], err)
				}
				if f.asJSON {
					return printJSON(e.out, out)
				}
				fmt.Fprintln(e.out, strings.TrimSpace(loaded.Content))
				fmt.Fprintln(e.err, "\nskill:", loaded.Path)
				for _, w := range out.Warnings {
					fmt.Fprintln(e.err, "warning:", w)
				}
				for _, group := range out.Files {
					for _, p := range group {
						fmt.Fprintln(e.err, "file:", p)
					}
				}
				if note := loaded.Needs.Note(); note != "" {
					fmt.Fprintln(e.err, note)
				}
				return nil
			})
		},
	}
	f.add(c)
	return c
}

func noSkill(name string, err error) error {
	if errors.Is(err, skill.ErrNotFound) {
		return fmt.Errorf("there is no skill %s; see: hermes skills list", name)
	}
	return err
}

func newSkillsSwitch(e *env, on bool) *cobra.Command {
	var platform string
	var asJSON bool
	use, short := "disable", "Hide skills from sessions"
	if on {
		use, short = "enable", "Offer skills again that were switched off"
	}
	c := &cobra.Command{
		Use: use + " NAME...", Short: short, Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.with(func(a *app.App) error {
				names, err := a.SwitchSkills(platform, args, on)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(e.out, struct {
						Skills   []string `json:"skills"`
						Platform string   `json:"platform"`
						Enabled  bool     `json:"enabled"`
					}{names, platform, on})
				}
				_, err = fmt.Fprintf(e.out, "%sd from the next session on: %s\n", use, strings.Join(names, ", "))
				return err
			})
		},
	}
	c.Flags().StringVar(&platform, "platform", "", "only for this platform")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

func newSkillsWhy(e *env) *cobra.Command {
	var platform string
	var toolsets []string
	var asJSON bool
	c := &cobra.Command{
		Use: "why NAME", Short: "Say why a skill is, or is not, in the prompt", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return e.with(func(a *app.App) error {
				shown, reason, err := a.WhySkill(c.Context(), platform, toolsets, args[0])
				if err != nil {
					return noSkill(args[0], err)
				}
				if asJSON {
					return printJSON(e.out, struct {
						Name     string `json:"name"`
						Platform string `json:"platform"`
						Shown    bool   `json:"shown"`
						Reason   string `json:"reason"`
					}{args[0], platform, shown, reason})
				}
				word := "is not"
				if shown {
					word = "is"
				}
				_, err = fmt.Fprintf(e.out, "%s %s named to %s sessions: %s\n", args[0], word, platform, reason)
				return err
			})
		},
	}
	c.Flags().StringVar(&platform, "platform", "cli", "judge for sessions of this platform")
	c.Flags().StringSliceVarP(&toolsets, "toolsets", "t", nil, "judge for these toolsets")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

func newSkillsReset(e *env) *cobra.Command {
	var restore, yes, asJSON bool
	c := &cobra.Command{
		Use: "reset NAME", Short: "Let a bundled skill be updated again, or bring its form back", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.with(func(a *app.App) error {
				archived, out, err := a.ResetSkill(args[0], restore)
				if err != nil {
					return err
				}
				action := "unchanged"
				switch {
				case slices.Contains(out.Copied, args[0]):
					action = "restored"
				case slices.Contains(out.Differs, args[0]):
					action = "kept"
				}
				if asJSON {
					return printJSON(e.out, struct {
						Skill    string `json:"skill"`
						Action   string `json:"action"` // restored, kept (it differs), unchanged
						Archived string `json:"archived"`
					}{args[0], action, archived})
				}
				if archived != "" {
					fmt.Fprintln(e.out, "what was there is in", archived)
				}
				switch action {
				case "restored":
					_, err = fmt.Fprintln(e.out, args[0], "has its bundled form")
				case "kept":
					_, err = fmt.Fprintf(e.out, "%s differs from the bundled one and was kept; for that one: hermes skills reset %s --restore\n", args[0], args[0])
				default:
					_, err = fmt.Fprintln(e.out, args[0], "is as bundled")
				}
				return err
			})
		},
	}
	c.Flags().BoolVar(&restore, "restore", false, "bring the bundled form back; yours goes to the archive")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask (nothing is asked: your form is archived)")
	return c
}
