package toolset

import (
	"fmt"
	"slices"
	"strings"
)

// platforms are those that a person sets up one by one, as the configuration
// writes them.
var platforms = [...]string{
	"cli", "telegram", "discord", "slack", "whatsapp", "signal", "bluebubbles", "email", "homeassistant", "mattermost",
	"matrix", "dingtalk", "feishu", "wecom", "wecom_callback", "weixin", "qqbot", "yuanbao", "webhook", "api_server", "cron",
}

// Platforms returns the keys that platform_toolsets may have.
func (t *Table) Platforms() []string {
	keys := slices.Clone(platforms[:])
	for _, p := range t.options.Platforms {
		if p = strings.ReplaceAll(p, "-", "_"); !slices.Contains(keys, p) {
			keys = append(keys, p)
		}
	}
	return keys
}

// Switches returns the toolsets that a person switches on and off for a
// platform, in the order of a checklist: those of the table, those that only
// the registry knows, those of plugins.
func (t *Table) Switches(platform string) []Set {
	v := t.view()
	var list []Set
	for _, name := range v.switchable() {
		if p := onlyFor(name); p == "" || p == strings.ReplaceAll(platform, "-", "_") {
			list = append(list, v.sets[name])
		}
	}
	return list
}

func (v *view) switchable() []string { return append(slices.Clip(v.switches), v.plugins...) }

// Switch returns what platform_toolsets and known_plugin_toolsets hold for the
// selection's platform after toolsets were switched on and off. Names in the
// list that are no switches, such as servers and custom sets, are kept.
func (t *Table) Switch(sel Selection, on, off []string) (named, knownPlugins []string, err error) {
	v := t.view()
	c := &choice{view: v, sel: sel}
	key := c.key()
	if !slices.Contains(t.Platforms(), key) {
		return nil, nil, fmt.Errorf("no platform is called %q; known are %s", sel.Platform, and(t.Platforms()))
	}
	for _, name := range slices.Concat(on, off) {
		if err := v.mayswitch(name, key); err != nil {
			return nil, nil, err
		}
	}
	sel.Disabled, sel.Toolsets = nil, nil
	now := t.Effective(sel)
	for _, name := range v.switchable() {
		is := now.c.on[name] != "" && !slices.Contains(off, name)
		if is || slices.Contains(on, name) {
			named = append(named, name)
		}
	}
	for _, name := range now.c.named {
		if !slices.Contains(v.switchable(), name) && !now.c.isPreset(name) && name != noServers {
			named = append(named, name)
		}
	}
	slices.Sort(named)
	return slices.Compact(named), slices.Clone(v.plugins), nil
}

func (v *view) mayswitch(name, platform string) error {
	switch {
	case !v.known(name):
		return v.unknown(name)
	case !slices.Contains(v.switchable(), name):
		return fmt.Errorf("the toolset %s has no switch of its own; name it in platform_toolsets.%s", name, platform)
	}
	if p := onlyFor(name); p != "" && p != platform {
		return fmt.Errorf("the toolset %s is for the platform %s only", name, p)
	}
	return nil
}
