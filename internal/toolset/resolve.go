package toolset

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hermes-go/hermes/tool"
)

func everything(name string) bool { return name == "all" || name == "*" }

// lookup follows the alias of a server.
func (v *view) lookup(name string) (Set, bool) {
	if s, ok := v.sets[name]; ok {
		return s, true
	}
	s, ok := v.sets[serverPrefix+name]
	return s, ok
}

func (v *view) known(name string) bool {
	_, ok := v.lookup(name)
	return ok || everything(name)
}

// unknown is the error for a name that is no toolset.
func (v *view) unknown(name string) error {
	if home := v.home[name]; home != "" {
		return fmt.Errorf("%q is a tool and no toolset; its toolset is %s", name, home)
	}
	if near := tool.Nearest(name, v.names(), 1); len(near) > 0 {
		return fmt.Errorf("no toolset is called %q (did you mean %s?)", name, near[0])
	}
	if near := tool.Nearest(name, slices.Sorted(maps.Keys(v.home)), 1); len(near) > 0 {
		return fmt.Errorf("no toolset is called %q (did you mean %s, a tool of the toolset %s?)", name, near[0], v.home[near[0]])
	}
	return fmt.Errorf("no toolset is called %q", name)
}

// names are those that a person may write, sorted.
func (v *view) names() []string {
	var names []string
	for name := range v.sets {
		if !v.old[name] {
			names = append(names, name)
		}
	}
	for name := range v.serverName {
		if _, taken := v.sets[name]; !taken {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// resolve returns all tools of a set, sorted; none for an unknown name. Sets
// that include each other are harmless: each is visited once.
func (v *view) resolve(name string) []string {
	found := map[string]bool{}
	if everything(name) {
		visited := map[string]bool{}
		for set := range v.sets {
			v.collect(set, visited, found)
		}
	} else {
		v.collect(name, map[string]bool{}, found)
	}
	return slices.Sorted(maps.Keys(found))
}

func (v *view) collect(name string, visited, found map[string]bool) {
	s, ok := v.lookup(name)
	switch {
	case everything(name) && !visited["*"]: // a custom set may include all
		visited["*"] = true
		for set := range v.sets {
			v.collect(set, visited, found)
		}
		return
	case !ok || visited[s.Name]:
		return
	}
	visited[s.Name] = true
	for _, t := range s.Tools {
		found[t] = true
	}
	for _, include := range s.Includes {
		v.collect(include, visited, found)
	}
}

// composite sets are made of others: presets, debugging, custom ones.
func (v *view) composite(name string) bool {
	s, _ := v.lookup(name)
	return everything(name) || len(s.Includes) > 0 || strings.HasPrefix(s.Name, presetPrefix)
}

// holders are the sets that hold a tool themselves and are no preset, its home
// first.
func (v *view) holders(toolName string) []string {
	var list []string
	for name, s := range v.sets {
		if name != v.home[toolName] && !v.old[name] && !strings.HasPrefix(name, presetPrefix) && slices.Contains(s.Tools, toolName) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	if home := v.home[toolName]; home != "" {
		list = append([]string{home}, list...)
	}
	return list
}

func subset(part []string, of map[string]bool) bool {
	for _, p := range part {
		if !of[p] {
			return false
		}
	}
	return true
}

func toSet(lists ...[]string) map[string]bool {
	m := map[string]bool{}
	for _, list := range lists {
		for _, s := range list {
			m[s] = true
		}
	}
	return m
}

// and joins names for a sentence.
func and(names []string) string {
	switch n := len(names); n {
	case 0:
		return "none"
	case 1:
		return names[0]
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}
