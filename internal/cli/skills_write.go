package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/internal/skill"
)

const newSkillText = `---
name: %s
description: %s
version: 1.0.0
metadata:
  hermes:
    tags: []
---

# %s

## When to Use

- What a person asks for, or what the work looks like, when this helps.

## Quick Reference

| to | run |
|---|---|
| do it | ` + "`command`" + ` |

## Procedure

1. The first step.

## Pitfalls

- What went wrong, and the way out.

## Verification

- What to run or look at to know that it worked.
`

func newSkillsNew(e *env) *cobra.Command {
	var category, about string
	var asJSON bool
	c := &cobra.Command{
		Use: "new NAME", Short: "Begin a skill", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.with(func(a *app.App) error {
				name := args[0]
				title := strings.ReplaceAll(name, "-", " ")
				if about == "" {
					about = "Say in one sentence what it does and when to use it"
				}
				s, err := a.Skills.Create(skill.ByUser, name, category, fmt.Sprintf(newSkillText, name, quoteYAML(about), strings.ToUpper(title[:min(1, len(title))])+title[min(1, len(title)):]))
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(e.out, struct {
						Name string `json:"name"`
						Path string `json:"path"`
					}{s.Name, s.Path})
				}
				fmt.Fprintln(e.out, s.Path)
				fmt.Fprintf(e.err, "edit it, then: hermes skills validate %s\n", s.Dir)
				return nil
			})
		},
	}
	c.Flags().StringVar(&category, "category", "", "the directory to sort it under")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	c.Flags().StringVar(&about, "description", "", "what it does, in one sentence")
	return c
}

// quoteYAML makes any one line a value.
func quoteYAML(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ").Replace(s) + `"`
}

func newSkillsValidate(e *env) *cobra.Command {
	var strict, asJSON bool
	c := &cobra.Command{
		Use: "validate [PATH...]", Short: "Check skills: files, skills or directories of skills; without a path, the home's",
		RunE: func(_ *cobra.Command, args []string) error {
			return e.with(func(a *app.App) error {
				files, err := skillFiles(a, args)
				if err != nil {
					return err
				}
				tools, sets, err := a.ToolNames()
				if err != nil {
					return err
				}
				findings, failed := []skill.Finding{}, false
				for _, p := range files {
					data, err := os.ReadFile(p)
					if err != nil {
						findings, failed = append(findings, skill.Finding{Path: p, Line: 1, Level: "error", Text: err.Error()}), true
						continue
					}
					for _, f := range skill.Validate(p, filepath.Base(filepath.Dir(p)), data, tools, sets) {
						failed = failed || strict || f.Level == "error"
						findings = append(findings, f)
					}
				}
				if asJSON {
					err = printJSON(e.out, findings)
				} else {
					for _, f := range findings {
						fmt.Fprintf(e.out, "%s:%d: %s: %s\n", f.Path, f.Line, f.Level, f.Text)
					}
					_, err = fmt.Fprintf(e.err, "%d skills, %d findings\n", len(files), len(findings))
				}
				if err == nil && failed {
					err = reported(exitFailed)
				}
				return err
			})
		},
	}
	c.Flags().BoolVar(&strict, "strict", false, "warnings fail as well")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON array of findings")
	return c
}

// skillFiles are the SKILL.md files that arguments mean: one itself, a skill's
// directory, a tree of them, or the name of an installed one.
func skillFiles(a *app.App, args []string) ([]string, error) {
	var files []string
	if len(args) == 0 {
		for _, s := range a.Skills.List().Skills {
			files = append(files, s.Path)
		}
		return files, nil
	}
	for _, arg := range args {
		p, err := filepath.Abs(arg)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(p)
		switch {
		case err != nil:
			s, findErr := a.Skills.List().Find(arg)
			if findErr != nil {
				return nil, fmt.Errorf("%s is no file, no directory and no installed skill", arg)
			}
			files = append(files, s.Path)
		case !info.IsDir():
			files = append(files, p)
		default:
			found := skill.NewCatalogue(skill.Root{Dir: p, Source: skill.Tree}).List().Skills
			if len(found) == 0 {
				return nil, fmt.Errorf("there is no SKILL.md in %s", arg)
			}
			for _, s := range found {
				files = append(files, s.Path)
			}
		}
	}
	return files, nil
}

func newSkillsDiff(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "diff NAME", Short: "Show what you changed in a bundled skill", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.with(func(a *app.App) error {
				text, err := a.DiffSkill(args[0])
				if err != nil {
					return noSkill(args[0], err)
				}
				if asJSON {
					return printJSON(e.out, struct {
						Skill string `json:"skill"`
						Diff  string `json:"diff"`
					}{args[0], text})
				}
				if text == "" {
					_, err = fmt.Fprintln(e.err, args[0], "is as bundled")
					return err
				}
				_, err = fmt.Fprint(e.out, text)
				return err
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}
