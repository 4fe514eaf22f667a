package toolset

import (
	"fmt"
	"slices"
	"strings"
)

// platform decides by what the platform has: its preset, or what a person
// chose for it.
func (c *choice) platform() {
	key := c.key()
	preset := presetPrefix + dashed(key)
	named, chosen := c.sel.PlatformToolsets[key]
	if !chosen {
		named, chosen = c.sel.PlatformToolsets[dashed(key)]
	}
	if _, ok := c.sets[preset]; !ok {
		c.note("no platform is called %s; what the command line offers is taken", c.sel.Platform)
		preset = presetPrefix + "cli"
	}
	if !chosen {
		named = []string{preset}
	}
	for _, name := range named {
		if name = strings.TrimSpace(name); name != "" {
			c.named = append(c.named, name)
		}
	}
	setting := "platform_toolsets." + key
	c.report(setting)
	c.switched(setting, chosen)
	c.recovered(preset)
	c.pluginSets(setting)
	c.passed(setting)
	c.serverSets(setting)
	c.rest(func(set string) string { return c.offReason(set, setting, preset, chosen) })
}

// report notes the names that mean nothing.
func (c *choice) report(setting string) {
	for _, name := range c.named {
		if name != noServers && !c.known(name) {
			c.note("%s: %v; it is ignored", setting, c.unknown(name))
		}
	}
}

// switched decides the sets that a person switches. Their names in the list
// are the choice; a list without any is a preset or a bundle, and holds those
// whose tools it has.
func (c *choice) switched(setting string, chosen bool) {
	key := c.key()
	isNamed := false
	for _, set := range c.switches {
		if slices.Contains(c.named, set) {
			isNamed = true
			if p := onlyFor(set); p != "" && p != key {
				c.off[set] = fmt.Sprintf("%s is for the platform %s only", set, p)
				continue
			}
			c.turnOn(set, setting+" names "+set)
		}
	}
	if isNamed {
		return
	}
	have := map[string]bool{}
	for _, name := range c.named {
		for _, t := range c.resolve(name) {
			have[t] = true
		}
	}
	why := func(own []string) string {
		for _, name := range c.named {
			if chosen && subset(own, toSet(c.resolve(name))) {
				return setting + " names " + name + ", which holds it"
			}
		}
		return and(c.named) + " holds it"
	}
	for _, set := range c.switches {
		switch own := c.own(set); {
		case len(own) == 0 || !subset(own, have):
		case c.staysOff(set):
			if p := onlyFor(set); p != "" && p != key {
				c.off[set] = fmt.Sprintf("%s is for the platform %s only", set, p)
			} else {
				c.off[set] = c.offUntilChosen(set)
			}
		default:
			c.turnOn(set, why(own))
		}
	}
}

func (c *choice) offUntilChosen(set string) string {
	return fmt.Sprintf("%s is off until it is chosen: hermes tools enable %s --platform %s", set, set, c.key())
}

// staysOff reports whether a set is off until chosen. A platform's own set is
// on there, unless only that platform may have it.
func (c *choice) staysOff(set string) bool {
	switch {
	case !slices.Contains(defaultOff[:], set):
		return false
	case set == "homeassistant" && c.sel.HomeAssistant:
		return false
	}
	return set != c.key() || onlyFor(set) != ""
}

func onlyFor(set string) string {
	for _, r := range restricted {
		if r.set == set {
			return r.platform
		}
	}
	return ""
}

// recovered turns on the sets that nobody switches and that belong to the
// platform all the same, such as kanban.
func (c *choice) recovered(preset string) {
	universe := toSet(c.resolve(preset))
	covered := map[string]bool{}
	for _, set := range c.switches {
		for _, t := range c.own(set) {
			covered[t] = true
		}
	}
	for _, s := range sets {
		own := c.own(s.Name)
		if slices.Contains(c.switches, s.Name) || len(s.Includes) > 0 || len(own) == 0 || c.on[s.Name] != "" {
			continue
		}
		if subset(own, universe) && !subset(own, covered) && !slices.Contains(defaultOff[:], s.Name) {
			c.turnOn(s.Name, fmt.Sprintf("it belongs to the platform %s", c.key()))
		}
	}
}

// pluginSets are on when named, and when they are new.
func (c *choice) pluginSets(setting string) {
	seen := c.sel.KnownPlugins[c.key()]
	for _, set := range c.plugins {
		switch {
		case slices.Contains(c.named, set):
			c.turnOn(set, setting+" names "+set)
		case !slices.Contains(seen, set):
			c.turnOn(set, "it is a plugin's and new here")
		default:
			c.off[set] = fmt.Sprintf("known_plugin_toolsets.%s knows %s and %s does not name it: hermes tools enable %s --platform %s",
				c.key(), set, setting, set, c.key())
		}
	}
}

// passed takes the other names as they are: bundles, custom sets, sets outside
// the checklist. A preset was taken apart already; as a whole it would bring
// back what is off until chosen.
func (c *choice) passed(setting string) {
	for _, name := range c.named {
		s, ok := c.lookup(name)
		switch {
		case everything(name):
			c.turnOn(name, setting+" names "+name)
		case !ok || c.isPreset(name):
		case slices.Contains(c.switches, s.Name), slices.Contains(c.servers, s.Name), slices.Contains(c.plugins, s.Name):
		default:
			c.turnOn(name, setting+" names "+name)
		}
	}
}

func (c *choice) isPreset(name string) bool {
	s, ok := c.sets[name]
	return ok && strings.HasPrefix(s.Name, presetPrefix)
}

// noServers in a platform's list keeps every MCP server out.
const noServers = "no_mcp"

// serverSets: servers that are named are the only ones; with none named all
// are on.
func (c *choice) serverSets(setting string) {
	var allowed []string
	for _, full := range c.servers {
		for _, name := range c.named {
			if s, ok := c.lookup(name); ok && s.Name == full && !slices.Contains(c.disabled, full) {
				allowed = append(allowed, full)
				break
			}
		}
	}
	for _, full := range c.servers {
		server := strings.TrimPrefix(full, serverPrefix)
		switch {
		case slices.Contains(c.disabled, full):
			c.off[full] = fmt.Sprintf("mcp_servers.%s.enabled is false", server)
		case slices.Contains(allowed, full):
			c.turnOn(full, setting+" names the server "+server)
		case len(allowed) > 0:
			c.off[full] = fmt.Sprintf("%s names servers, and %s is not among them: add it there", setting, server)
		case slices.Contains(c.named, noServers):
			c.off[full] = fmt.Sprintf("%s says %s: take it out, or name the server %s there", setting, noServers, server)
		default:
			c.turnOn(full, "every MCP server is on where none is named")
		}
	}
}

// offReason is for the sets that no earlier rule spoke of.
func (c *choice) offReason(set, setting, preset string, chosen bool) string {
	if p := onlyFor(set); p != "" && p != c.key() {
		return fmt.Sprintf("%s is for the platform %s only", set, p)
	}
	if c.isPreset(set) {
		return "a preset is taken apart: each toolset that it holds is decided by itself"
	}
	if !slices.Contains(c.switches, set) {
		return fmt.Sprintf("%s does not name %s", setting, set)
	}
	if chosen {
		return fmt.Sprintf("%s names %s and not %s: hermes tools enable %s --platform %s", setting, and(c.named), set, set, c.key())
	}
	if slices.Contains(defaultOff[:], set) {
		return c.offUntilChosen(set)
	}
	return fmt.Sprintf("the preset %s does not hold %s: hermes tools enable %s --platform %s", preset, set, set, c.key())
}
