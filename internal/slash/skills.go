package slash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// all is the table with a command for each skill that has one.
func (t *Table) all() []*Command {
	if t.Skills == nil {
		return t.commands
	}
	all := slices.Clone(t.commands)
	for _, s := range t.Skills() {
		if s.Command == "" {
			continue // reached as /skill NAME
		}
		all = append(all, &Command{Name: s.Command, Args: "[text]", About: cmp.Or(s.About, "a skill"), Run: func(ctx context.Context, c *Call) (Reply, error) {
			return call(ctx, c, s.Name, c.Args)
		}})
	}
	return all
}

func call(ctx context.Context, c *Call, name, instruction string) (Reply, error) {
	message, err := c.Conv.Skill(ctx, name, instruction)
	if err != nil {
		return Reply{}, err
	}
	return Reply{Send: message}, nil
}

func (t *Table) skills() []Skill {
	if t.Skills == nil {
		return nil
	}
	return t.Skills()
}

func runSkill(ctx context.Context, c *Call) (Reply, error) {
	name, instruction, _ := strings.Cut(c.Args, " ")
	if name == "" {
		return Reply{}, errors.New("/skill needs the name of a skill; /skills lists them")
	}
	// A name with blanks is the longest one that fits.
	for _, s := range c.Table.skills() {
		if strings.Contains(s.Name, " ") && len(s.Name) > len(name) && (c.Args == s.Name || strings.HasPrefix(c.Args, s.Name+" ")) {
			name, instruction = s.Name, c.Args[len(s.Name):]
		}
	}
	return call(ctx, c, name, strings.TrimSpace(instruction))
}

func skillNames(_ context.Context, c *Call) []Choice {
	var out []Choice
	for _, s := range c.Table.skills() {
		out = append(out, Choice{s.Name, s.About})
	}
	return out
}

func listSkills(_ context.Context, c *Call) (Reply, error) {
	all := c.Table.skills()
	var b strings.Builder
	n := 0
	for _, s := range all {
		fits := true
		for w := range strings.FieldsSeq(strings.ToLower(c.Args)) {
			fits = fits && strings.Contains(strings.ToLower(s.Name+" "+s.About), w)
		}
		if !fits {
			continue
		}
		n++
		use := "/" + s.Command
		if s.Command == "" {
			use = "/skill " + s.Name
		}
		fmt.Fprintf(&b, "%-30s  %s\n", use, oneLine(s.About, 100))
	}
	switch {
	case len(all) == 0:
		return Reply{Text: "There are no skills that this conversation may use."}, nil
	case n == 0:
		return Reply{Text: fmt.Sprintf("None of %s fits. `/skills` lists all.", count(len(all), "skill"))}, nil
	}
	return Reply{Text: "```\n" + b.String() + "```\n" + count(n, "skill") + ". What follows the name is what to do with it."}, nil
}

func reloadSkills(ctx context.Context, c *Call) (Reply, error) {
	r, err := c.Conv.ReloadSkills(ctx)
	if err != nil {
		return Reply{}, err
	}
	if len(r.Added)+len(r.Removed) == 0 {
		return Reply{Text: fmt.Sprintf("Nothing changed: %s.", count(r.Total, "skill"))}, nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s now.\n\n```\n", count(r.Total, "skill"))
	for _, s := range r.Added {
		fmt.Fprintf(&b, "+ %s  %s\n", s.Name, oneLine(s.About, 80))
	}
	for _, s := range r.Removed {
		fmt.Fprintf(&b, "- %s\n", s.Name)
	}
	b.WriteString("```\nThe agent is told with your next message.")
	return Reply{Text: b.String()}, nil
}
