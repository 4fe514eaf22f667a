package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/internal/cells"
)

func newSkillsTrust(e *env, on bool) *cobra.Command {
	use, short := "untrust", "Leave the skills of this project alone"
	if on {
		use, short = "trust", "Use the skills that lie in this project's .agents/skills"
	}
	var asJSON bool
	c := &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return e.with(func(a *app.App) error {
				p, err := a.TrustProject(on)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(e.out, p)
				}
				_, err = fmt.Fprintf(e.out, "the skills in %s are %s\n", p.Dir, p.Decision)
				return err
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

// askProject asks, once for each project, whether its skills are to be used.
// Where nobody can be asked they are not, and that is told.
func (e *env) askProject(ctx context.Context, a *app.App) {
	p := a.ProjectSkills()
	if p.Dir == "" || p.Decision != "" || len(p.Names) == 0 {
		return
	}
	if !e.asks || !e.terminal {
		e.notice(e.projectNote(p))
		return
	}
	fmt.Fprintln(e.err, cells.Clean(fmt.Sprintf("This project brings %s: %s (%s).", count(len(p.Names), "skill"), strings.Join(p.Names, ", "), p.Dir)))
	fmt.Fprintln(e.err, "Skills are instructions that the agent follows. Use those of a project whose authors you trust.")
	line, err := readLine(ctx, e, "Use them here, from now on? [y/N] ")
	if err != nil {
		return // not answered: the next run asks
	}
	yes := strings.EqualFold(strings.TrimSpace(line), "y") || strings.EqualFold(strings.TrimSpace(line), "yes")
	if _, err := a.TrustProject(yes); err != nil {
		e.notice(err.Error())
	}
}

func (e *env) projectNote(p app.ProjectSkills) string {
	return fmt.Sprintf("%s of this project %s not used, for nobody said that it is trusted: hermes skills trust", count(len(p.Names), "skill"), map[bool]string{true: "is", false: "are"}[len(p.Names) == 1])
}
