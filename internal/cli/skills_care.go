package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/internal/skill"
)

func newSkillsDoctor(e *env) *cobra.Command {
	var f skillFlags
	c := &cobra.Command{
		Use: "doctor", Short: "Look for what is wrong with the installed skills; exit code 1 when one cannot be used", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return e.with(func(a *app.App) error {
				l := a.Skills
				if f.dir != "" {
					var err error
					if l, err = f.tree(); err != nil {
						return err
					}
				}
				found, err := a.ExamineSkills(l, f.platform)
				if err != nil {
					return err
				}
				failed := 0
				for _, p := range found {
					if p.Level == "error" {
						failed++
					}
				}
				if f.asJSON {
					err = printJSON(e.out, found)
				} else {
					err = printComplaints(e, l, found)
				}
				if err == nil && failed > 0 {
					err = reported(exitFailed)
				}
				return err
			})
		},
	}
	f.add(c)
	return c
}

func printComplaints(e *env, l *skill.Library, found []skill.Complaint) error {
	for _, p := range found {
		at := p.Skill
		if p.Level == "error" && p.Path != "" {
			at = p.Path
		}
		if p.Line > 1 {
			at += ":" + strconv.Itoa(p.Line)
		}
		text := p.Text
		if p.Fix != "" {
			text += "; " + p.Fix
		}
		fmt.Fprintf(e.out, "%s: %s: %s\n", p.Level, at, text)
	}
	n := len(l.List().Skills)
	_, err := fmt.Fprintf(e.err, "%d skills, %d findings\n", n, len(found))
	return err
}

func newSkillsHistory(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "history NAME", Short: "List the states that a skill was in", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.with(func(a *app.App) error {
				name := args[0]
				s, findErr := a.Skills.List().Find(name)
				if findErr == nil {
					name = s.DirName()
				}
				all, err := a.Skills.History(name)
				if err != nil {
					return err
				}
				if len(all) == 0 && findErr != nil { // one that was taken away has a history still
					return noSkill(name, findErr)
				}
				if asJSON {
					return printJSON(e.out, append([]skill.Version{}, all...))
				}
				if len(all) == 0 {
					_, err := fmt.Fprintf(e.out, "%s was not changed since it came\n", name)
					return err
				}
				w := tabwriter.NewWriter(e.out, 0, 4, 2, ' ', 0)
				fmt.Fprintln(w, "VERSION\tTIME\tBY\tWHAT\tFILES")
				for _, v := range all {
					fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%d\n", v.Number, v.At.Local().Format("2006-01-02 15:04"), v.By, v.What, len(v.Files))
				}
				return w.Flush()
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return c
}

func newSkillsRevert(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "revert NAME [VERSION]", Short: "Bring a skill back to an earlier state; without a number, to the one before", Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			number := 0
			if len(args) == 2 {
				var err error
				if number, err = strconv.Atoi(args[1]); err != nil || number < 1 {
					return usageError("%q is no number of a version; see: hermes skills history %s", args[1], args[0])
				}
			}
			return e.with(func(a *app.App) error {
				v, err := a.Skills.Revert(skill.ByUser, args[0], number)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(e.out, v)
				}
				_, err = fmt.Fprintf(e.out, "%s is as it was in version %d (%s, %s); what it was before stays in its history\n", args[0], v.Number, v.At.Local().Format("2006-01-02 15:04"), v.What)
				return err
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the version as JSON")
	return c
}

func newSkillsStats(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "stats", Short: "Show how often skills were used and changed", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return e.with(func(a *app.App) error {
				stats, err := a.SkillStats()
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(e.out, stats)
				}
				w := tabwriter.NewWriter(e.out, 0, 4, 2, ' ', 0)
				fmt.Fprintln(w, "SKILL\tSOURCE\tMADE BY\tUSED\tLAST\tCHANGED\tVERSIONS\tSTATE")
				for _, s := range stats {
					state := s.State
					if s.Pinned {
						state += ", pinned"
					}
					fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%d\t%d\t%s\n", s.Name, s.Source, orDash(s.CreatedBy), s.Uses, day(s.LastUsed), s.Changes, s.Versions, state)
				}
				return w.Flush()
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return c
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func day(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return t.Local().Format("2006-01-02")
}

func newSkillsExport(e *env) *cobra.Command {
	var to string
	var asJSON, force bool
	c := &cobra.Command{
		Use: "export [NAME...]", Short: "Pack skills into one zip file; without names, all that are yours",
		Long: "Pack skills into one zip file. Without names: those of the home that you or the agent\nmade, and the bundled ones that were changed. Keys are in none of them.",
		RunE: func(_ *cobra.Command, args []string) error {
			return e.with(func(a *app.App) error {
				var list []*skill.Skill
				var err error
				if len(args) == 0 {
					if list, err = a.OwnSkills(); err == nil && len(list) == 0 {
						err = errors.New("there are no skills of your own; name those to export")
					}
				}
				for _, name := range args {
					s, findErr := a.Skills.List().Find(name)
					if findErr != nil {
						err = errors.Join(err, noSkill(name, findErr))
					}
					list = append(list, s)
				}
				if err != nil {
					return err
				}
				if to == "" {
					to = "hermes-skills-" + time.Now().Format("20060102-150405") + ".zip"
				}
				if _, err := os.Lstat(to); err == nil && !force {
					return fmt.Errorf("%s is there already: choose another name, or --force", to)
				}
				var buf bytes.Buffer
				b, err := a.Skills.Export(&buf, list)
				if err != nil {
					return err
				}
				if err := writeWhole(to, buf.Bytes()); err != nil {
					return err
				}
				if asJSON {
					return printJSON(e.out, struct {
						File string `json:"file"`
						skill.Bundle
					}{to, b})
				}
				_, err = fmt.Fprintf(e.out, "%s: %s\n", to, count(len(b.Skills), "skill"))
				return err
			})
		},
	}
	c.Flags().StringVarP(&to, "output", "o", "", "`FILE` to write (default: hermes-skills-TIME.zip)")
	c.Flags().BoolVarP(&force, "force", "f", false, "replace the file if it is there")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

// writeWhole writes beside and renames: nobody sees half a file.
func writeWhole(to string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(to), "."+filepath.Base(to)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone once renamed
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Chmod(0o644), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), to)
}

// mostImport bounds a file that is read whole.
const mostImport = 256 << 20

func newSkillsImport(e *env) *cobra.Command {
	var asJSON, force bool
	c := &cobra.Command{
		Use: "import FILE", Short: "Bring the skills of a zip file into the home", Args: cobra.ExactArgs(1),
		Long: "Bring the skills of a zip file into the home: one that `hermes skills export` wrote, or any\nwith SKILL.md files in it. Skills are instructions that the agent follows: import those of\npeople you trust. One that is here with another text ends it before anything is written;\nwith --force it is replaced, and `hermes skills revert` brings the old one back.",
		RunE: func(_ *cobra.Command, args []string) error {
			info, err := os.Stat(args[0])
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return fmt.Errorf("there is no file %s", args[0])
			case err != nil:
				return err
			case info.Size() > mostImport:
				return fmt.Errorf("%s is larger than %d MB", args[0], mostImport>>20)
			}
			file, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			data, err := io.ReadAll(io.LimitReader(file, mostImport))
			if err != nil {
				return err
			}
			return e.with(func(a *app.App) error {
				out, err := a.Skills.Import(skill.ByUser, data, force)
				if err != nil {
					return fmt.Errorf("%s: %w", args[0], err)
				}
				if asJSON {
					err = printJSON(e.out, out)
				} else {
					err = printImported(e, out)
				}
				if err == nil && len(out.Differs) > 0 {
					fmt.Fprintln(e.err, "Error: nothing was imported: compare those that differ, or replace them with --force")
					err = reported(exitFailed)
				}
				return err
			})
		},
	}
	c.Flags().BoolVarP(&force, "force", "f", false, "replace skills that say something else")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

func printImported(e *env, out skill.Imported) error {
	for _, part := range []struct {
		what  string
		names []string
	}{{"added", out.Added}, {"replaced", out.Replaced}, {"the same already", out.Same}, {"differ", out.Differs}} {
		if len(part.names) > 0 {
			if _, err := fmt.Fprintf(e.out, "%s: %s\n", part.what, strings.Join(part.names, ", ")); err != nil {
				return err
			}
		}
	}
	return nil
}
