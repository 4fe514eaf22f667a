package toolset

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Selection is what decides the tools of one session.
type Selection struct {
	// Platform is the front or messaging service: cli, telegram, api_server,
	// cron. Empty, with no Toolsets, is everything.
	Platform string
	// Toolsets are the sets given for this session, as by --toolsets; they
	// take the place of what the platform has. Nil: none were given, empty:
	// no tools.
	Toolsets []string

	PlatformToolsets map[string][]string // platform_toolsets
	KnownPlugins     map[string][]string // known_plugin_toolsets
	Disabled         []string            // agent.disabled_toolsets, taken away last
	HomeAssistant    bool                // HASS_TOKEN is set: the toolset counts as chosen

	Within  []string          // the tools of the parent session; nil: no parent
	Without map[string]string // tools that this kind of session never has, and why
}

// Effective is what a session has.
type Effective struct {
	Names    []string // its tools, sorted; each one exists
	Toolsets []string // the sets that are on, sorted
	Notes    []string // names in the selection that are no toolset, and the like

	c      *choice
	names  map[string]bool
	active []string
}

// Effective decides which tools a session has. It is the only place that does.
func (t *Table) Effective(sel Selection) Effective {
	v := t.view()
	c := &choice{
		view: v, sel: sel, on: map[string]string{}, off: map[string]string{},
		taken: map[string]string{},
	}
	if sel.Platform == "batch" || sel.Platform == "rl" { // whichever toolsets they are given
		sel.Without = maps.Clone(sel.Without)
		if sel.Without == nil {
			sel.Without = map[string]string{}
		}
		sel.Without["skill_manage"] = "sessions of " + sel.Platform + " do not change skills"
		c.sel = sel
	}
	switch {
	case sel.Toolsets != nil:
		c.given()
	case sel.Platform == "":
		c.every()
	default:
		c.platform()
	}
	c.subtract()
	return c.result()
}

// Has reports whether the session has a tool.
func (e Effective) Has(name string) bool { return e.names[name] }

// Active are the toolsets of which the session has at least one tool, sorted:
// what a skill's conditions ask for.
func (e Effective) Active() []string { return slices.Clone(e.active) }

// choice follows how a selection is decided.
type choice struct {
	*view
	sel   Selection
	on    map[string]string // set -> why it is on
	off   map[string]string // set -> why it is off
	taken map[string]string // tool -> why it is gone although a set that is on holds it
	notes []string
	named []string // the configured list of the platform
}

func (c *choice) note(format string, args ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}

// key is the platform as the configuration writes it.
func (c *choice) key() string { return strings.ReplaceAll(c.sel.Platform, "-", "_") }

// given takes the list of this session as it is.
func (c *choice) given() {
	for _, name := range c.sel.Toolsets {
		name = strings.TrimSpace(name)
		switch {
		case name == "":
		case !c.known(name):
			c.note("%v; it is ignored", c.unknown(name))
		default:
			c.turnOn(name, "this session was given "+name)
		}
	}
	list := "no toolsets"
	if len(c.sel.Toolsets) > 0 {
		list = "only the toolsets " + and(c.sel.Toolsets)
	}
	c.rest(func(set string) string {
		return fmt.Sprintf("this session was given %s: give %s too (--toolsets)", list, set)
	})
}

func (c *choice) every() {
	for name := range c.sets {
		if !c.old[name] {
			c.on[name] = "no toolsets were chosen, so every one is on"
		}
	}
}

// turnOn switches a set on, and for the explanation those it is made of.
func (c *choice) turnOn(name, why string) {
	if everything(name) {
		for set := range c.sets {
			if !c.old[set] && c.on[set] == "" {
				c.on[set] = why
			}
		}
		return
	}
	s, ok := c.lookup(name)
	if !ok || c.on[s.Name] != "" {
		return
	}
	c.on[s.Name] = why
	for _, include := range s.Includes {
		c.turnOn(include, why+", which includes "+include)
	}
}

// rest says of every set that is not on why it is off.
func (c *choice) rest(why func(set string) string) {
	for set := range c.sets {
		if c.on[set] == "" && c.off[set] == "" {
			c.off[set] = why(set)
		}
	}
}

// subtract takes the disabled sets away. A disabled set loses its tools
// wherever else they stand; a tool that it only borrows stays while the set it
// belongs to is on, unless the disabled set is made of nothing else.
func (c *choice) subtract() {
	disabled := map[string]string{} // set -> the name in the list that stands for it
	for _, name := range c.sel.Disabled {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		if !c.known(name) {
			c.note("agent.disabled_toolsets: %v; it is ignored", c.unknown(name))
			continue
		}
		if c.composite(name) {
			c.note("agent.disabled_toolsets: %s is made of other toolsets; all of them are disabled: %s", name, and(c.leaves(name)))
		}
		for _, leaf := range c.leaves(name) {
			if disabled[leaf] == "" || leaf == name {
				disabled[leaf] = name
			}
		}
	}
	for _, set := range slices.Sorted(maps.Keys(disabled)) {
		why := fmt.Sprintf("agent.disabled_toolsets names %s: take it out there", disabled[set])
		wasOn := c.on[set] != ""
		delete(c.on, set)
		if wasOn || c.off[set] == "" {
			c.off[set] = why
		} else {
			c.off[set] = why + "; " + c.off[set]
		}
	}
	for _, set := range slices.Sorted(maps.Keys(disabled)) {
		tools := c.resolve(set)
		isHome := slices.ContainsFunc(tools, func(t string) bool { return c.home[t] == set })
		for _, t := range tools {
			home := c.home[t]
			if isHome && home != set && disabled[home] == "" && c.on[home] != "" {
				continue
			}
			if c.taken[t] == "" || home == set {
				c.taken[t] = fmt.Sprintf("agent.disabled_toolsets names %s, and so it is gone from every toolset: take %s out there", disabled[set], disabled[set])
			}
		}
	}
}

// leaves are the sets that a disabled name stands for, with itself.
func (c *choice) leaves(name string) []string {
	if everything(name) {
		return slices.Sorted(maps.Keys(c.sets))
	}
	s, ok := c.lookup(name)
	if !ok {
		return nil
	}
	if !c.composite(name) {
		return []string{s.Name}
	}
	// What a bundle stands for is its tools: their homes, when it has the
	// whole of them.
	tools := toSet(c.resolve(s.Name))
	found := map[string]bool{s.Name: true}
	for t := range tools {
		if home := c.home[t]; home != "" && subset(c.own(home), tools) {
			found[home] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// own are the tools that make out a set: what the table lists, or else what is
// registered.
func (v *view) own(set string) []string {
	if listed, ok := v.table[set]; ok {
		return listed
	}
	return v.sets[set].Tools
}

func (c *choice) result() Effective {
	e := Effective{Toolsets: slices.Sorted(maps.Keys(c.on)), c: c, names: map[string]bool{}}
	within := toSet(c.sel.Within)
	for _, set := range e.Toolsets {
		some := false
		for _, name := range c.resolve(set) {
			_, exists := c.tools[name]
			never := c.sel.Without[name] != ""
			if exists && c.taken[name] == "" && !never && (c.sel.Within == nil || within[name]) {
				e.names[name], some = true, true
			}
		}
		if some {
			e.active = append(e.active, set)
		}
	}
	e.Names = slices.Sorted(maps.Keys(e.names))
	e.Notes = c.notes
	return e
}
