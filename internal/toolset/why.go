package toolset

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hermes-go/hermes/tool"
)

// Why says why a session has a tool or a toolset, or has it not: which
// toolsets hold the tool, which setting leaves it out, and what to do about
// it. It knows nothing of the tool's own check; the registry does.
func (e Effective) Why(name string) string {
	if e.c == nil {
		return name + " is left out: nothing was decided yet"
	}
	chain := e.Chain(name)
	verdict := " is left out: "
	switch {
	case everything(name):
		verdict = ": "
	case e.Has(name) || e.hasSet(name):
		verdict = " is on: "
	}
	return name + verdict + strings.Join(chain, "; ")
}

// Chain is the reasons of Why, one by one.
func (e Effective) Chain(name string) []string {
	c := e.c
	if c == nil {
		return nil
	}
	_, exists := c.tools[name]
	holders := c.holders(name)
	switch {
	case len(holders) > 0:
		return c.ofTool(name, holders, exists, e.Has(name))
	case c.known(name):
		return c.ofSet(name)
	}
	names := append(c.names(), slices.Collect(maps.Keys(c.home))...)
	slices.Sort(names)
	names = slices.Compact(names) // a toolset may be named after its tool
	if near := tool.Nearest(name, names, 3); len(near) > 0 {
		return []string{"no tool or toolset has that name; nearest: " + strings.Join(near, ", ")}
	}
	return []string{"no tool or toolset has that name"}
}

const notBuilt = "not built yet: this binary has no tool for it; until then an MCP server, a plugin or a Python tool can do the work"

func (c *choice) ofTool(name string, holders []string, exists, has bool) []string {
	word := "toolset "
	if len(holders) > 1 {
		word = "toolsets "
	}
	chain := []string{"it is in the " + word + and(holders)}
	if !exists {
		chain = append(chain, notBuilt)
	}
	if has {
		return append(chain, c.onBy(name, holders))
	}
	on := c.onBy(name, holders)
	switch {
	case c.taken[name] != "":
		chain = append(chain, c.taken[name])
	case on == "" && c.off[holders[0]] != "":
		chain = append(chain, c.off[holders[0]]) // other sets may bring it too; its own is the one to switch
	}
	if on != "" || c.taken[name] != "" {
		if why := c.sel.Without[name]; why != "" {
			chain = append(chain, why)
		} else if c.sel.Within != nil && !slices.Contains(c.sel.Within, name) && exists {
			chain = append(chain, "the session that started this one does not have it")
		}
	}
	return chain
}

// onBy names a set that is on and brings the tool, "" for none.
func (c *choice) onBy(name string, holders []string) string {
	for _, set := range holders {
		if why := c.on[set]; why != "" {
			return fmt.Sprintf("%s is on: %s", set, why)
		}
	}
	for set, why := range c.on {
		if slices.Contains(c.sets[set].Tools, name) {
			return fmt.Sprintf("%s is on: %s", set, why) // a preset or a legacy name
		}
	}
	return ""
}

// hasSet reports whether a set is on and brings at least one tool.
func (e Effective) hasSet(name string) bool {
	s, ok := e.c.lookup(name)
	return ok && e.c.on[s.Name] != "" && slices.ContainsFunc(e.c.resolve(s.Name), e.Has)
}

func (c *choice) ofSet(name string) []string {
	if everything(name) {
		return []string{"it stands for every toolset"}
	}
	s, _ := c.lookup(name)
	var chain, missing []string
	if c.old[s.Name] {
		chain = append(chain, "it is an older name for the tools "+and(s.Tools))
	}
	all := c.resolve(s.Name)
	for _, t := range all {
		if _, ok := c.tools[t]; !ok {
			missing = append(missing, t)
		}
	}
	on, off := c.on[s.Name], c.off[s.Name]
	switch {
	case len(all) == 0:
		chain = append(chain, "it holds no tool")
	case len(missing) == len(all):
		chain, on = append(chain, notBuilt), ""
	case len(missing) > 0:
		chain = append(chain, "not built yet: "+c.brief(missing))
	}
	for _, why := range []string{on, off} {
		if why != "" {
			chain = append(chain, why)
		}
	}
	return chain
}

// brief names a few tools, or the toolsets of many.
func (c *choice) brief(tools []string) string {
	const few = 5
	if len(tools) <= few {
		return and(tools)
	}
	homes := map[string]bool{}
	for _, t := range tools {
		homes[c.home[t]] = true
	}
	return "what it has of " + and(slices.Sorted(maps.Keys(homes)))
}
