package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/internal/curator"
	"github.com/hermes-go/hermes/internal/skill"
)

func newCurator(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "curator", Short: "Look after the skills that the agent made", Args: cobra.NoArgs,
		Long: "The curator puts away skills that an agent made and nobody used for long, and proposes\nwhich to merge. What a person wrote, edited or pinned, and what came with the program, it\nleaves alone. `restore` brings back what it put away.",
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newCuratorStatus(e), newCuratorRun(e), newCuratorPin(e, true), newCuratorPin(e, false), newCuratorRestore(e), newCuratorPause(e, true), newCuratorPause(e, false))
	return c
}

type curatorJSON struct {
	Enabled bool `json:"enabled"`
	curator.State
	Managed   []string           `json:"managed"`
	Unmanaged int                `json:"unmanaged"`
	Pinned    []string           `json:"pinned"`
	Archived  []string           `json:"archived"`
	Proposals []curator.Proposal `json:"proposals"`
}

func newCuratorStatus(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "status", Short: "Show what the curator looks after and what it would do", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return e.with(func(a *app.App) error {
				cur := a.Curator()
				state, err := cur.State()
				if err != nil {
					return err
				}
				managed, err := cur.Managed()
				if err != nil {
					return err
				}
				out := curatorJSON{Enabled: cur.Enabled, State: state, Managed: []string{}, Unmanaged: cur.Unmanaged(managed), Pinned: []string{}, Archived: append([]string{}, a.Skills.ArchivedNames()...)}
				for _, s := range managed {
					out.Managed = append(out.Managed, s.Name)
				}
				for _, s := range a.Skills.List().Skills {
					if a.Skills.Usage(s).Pinned && s.State != skill.Shadowed {
						out.Pinned = append(out.Pinned, s.Name)
					}
				}
				if out.Proposals, err = cur.Review(); err != nil {
					return err
				}
				if asJSON {
					return printJSON(e.out, out)
				}
				return printCurator(e, out)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

func printCurator(e *env, s curatorJSON) error {
	word := "on"
	switch {
	case !s.Enabled:
		word = "off (curator.enabled)"
	case s.Paused:
		word = "paused; go on with: hermes curator resume"
	}
	last := "never"
	if s.LastRun != nil && s.Runs > 0 {
		last = s.LastRun.Local().Format("2006-01-02 15:04") + ", " + s.Summary
	}
	fmt.Fprintf(e.out, "curator    %s\nlast run   %s\nlooks after %s; leaves %d alone\n", word, last, count(len(s.Managed), "skill"), s.Unmanaged)
	for _, part := range []struct {
		what  string
		names []string
	}{{"managed", s.Managed}, {"pinned", s.Pinned}, {"archived", s.Archived}} {
		if len(part.names) > 0 {
			fmt.Fprintf(e.out, "%-10s %s\n", part.what, strings.Join(part.names, ", "))
		}
	}
	for _, p := range s.Proposals {
		if _, err := fmt.Fprintln(e.out, "would:", p); err != nil {
			return err
		}
	}
	return nil
}

func newCuratorRun(e *env) *cobra.Command {
	var dry, asJSON bool
	c := &cobra.Command{
		Use: "run", Short: "Put away what is of no use, and propose what to merge", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return e.with(func(a *app.App) error {
				r, err := a.Curator().Run(dry)
				if asJSON {
					if printErr := printJSON(e.out, r); printErr != nil {
						return printErr
					}
					return err
				}
				for _, p := range r.Proposals {
					fmt.Fprintln(e.out, p)
				}
				if len(r.Proposals) == 0 {
					fmt.Fprintln(e.out, r.Summary())
				}
				if dry {
					fmt.Fprintln(e.err, "nothing was done")
				} else if r.Path != "" {
					fmt.Fprintln(e.err, "report:", r.Path)
				}
				return err
			})
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "only say what it would do")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

func newCuratorPin(e *env, on bool) *cobra.Command {
	use, short, word := "unpin", "End a skill's protection", "not pinned any more"
	if on {
		use, short, word = "pin", "Protect a skill from the curator and from deletion", "pinned"
	}
	return &cobra.Command{
		Use: use + " NAME...", Short: short, Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.with(func(a *app.App) error {
				var list []*skill.Skill
				for _, name := range args {
					s, err := a.Skills.List().Find(name)
					if err != nil {
						return noSkill(name, err)
					}
					if a.Skills.Usage(s).Pinned == on {
						return fmt.Errorf("skill %s is %s already", s.Name, word)
					}
					list = append(list, s)
				}
				for _, s := range list {
					if err := a.Skills.Pin(s, on); err != nil {
						return err
					}
					if _, err := fmt.Fprintln(e.out, s.Name, "is", word); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

func newCuratorRestore(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "restore NAME", Short: "Bring a skill back that was put away", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.with(func(a *app.App) error {
				s, err := a.Skills.Restore(skill.ByUser, args[0])
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(e.out, s.Name, "is back at", s.Path)
				return err
			})
		},
	}
}

func newCuratorPause(e *env, on bool) *cobra.Command {
	use, short, word := "resume", "Let the curator run by itself again", "runs by itself again"
	if on {
		use, short, word = "pause", "Keep the curator from running by itself", "runs only when it is told to"
	}
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return e.with(func(a *app.App) error {
				if err := a.Curator().Pause(on); err != nil {
					return err
				}
				_, err := fmt.Fprintln(e.out, "the curator", word)
				return err
			})
		},
	}
}
