package skill

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Plugins bring skills of their own. They are called plugin:skill, stand in no
// list and in no prompt, and are loaded only by that name: what a plugin brings
// never takes the place of anything else.
type plugins struct {
	mu sync.RWMutex
	by map[string]map[string]*Skill
}

var pluginName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]+$`) })

// Register adds a skill of a plugin; path is its SKILL.md.
func (l *Library) Register(plugin, name, path, description string) error {
	for _, n := range []string{plugin, name} {
		if !pluginName().MatchString(n) {
			return fmt.Errorf("%q: a plugin and its skills are named with letters, digits, hyphens and underscores", n)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("skill %s of plugin %s: %w", name, plugin, err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("skill %s of plugin %s: %s is no file", name, plugin, path)
	}
	dir := filepath.Dir(path)
	l.plugins.mu.Lock()
	defer l.plugins.mu.Unlock()
	if l.plugins.by == nil {
		l.plugins.by = map[string]map[string]*Skill{}
	}
	if l.plugins.by[plugin] == nil {
		l.plugins.by[plugin] = map[string]*Skill{}
	}
	l.plugins.by[plugin][name] = &Skill{
		Name: plugin + ":" + name, Dir: dir, Path: path, Rel: filepath.Base(dir), Description: cut(oneLine(description), MaxDescription),
		Root: Root{dir, Plugin}, State: OK,
	}
	return nil
}

// Unregister takes the skills of a plugin away.
func (l *Library) Unregister(plugin string) {
	l.plugins.mu.Lock()
	defer l.plugins.mu.Unlock()
	delete(l.plugins.by, plugin)
}

// PluginError says that a plugin has no such skill, and which it has.
type PluginError struct {
	Plugin, Name string
	Available    []string // with the plugin's name
}

func (e *PluginError) Error() string {
	return fmt.Sprintf("plugin %s has no skill %s", e.Plugin, e.Name)
}

// OfPlugin finds a skill by its name with that of its plugin, and the others of
// the plugin. It is nil when the name means no plugin.
func (l *Library) OfPlugin(name string) (s *Skill, others []string, err error) {
	plugin, rest, ok := strings.Cut(name, ":")
	if !ok {
		return nil, nil, nil
	}
	if !pluginName().MatchString(plugin) {
		return nil, nil, &NameError{name, "before the colon stands the name of a plugin: letters, digits, hyphens and underscores"}
	}
	l.plugins.mu.Lock()
	defer l.plugins.mu.Unlock()
	skills := l.plugins.by[plugin]
	if len(skills) == 0 {
		return nil, nil, nil
	}
	for n := range skills {
		others = append(others, plugin+":"+n)
	}
	slices.Sort(others)
	s = skills[rest]
	if s == nil {
		return nil, nil, &PluginError{plugin, rest, others}
	}
	if _, err := os.Stat(s.Path); err != nil {
		delete(skills, rest) // the plugin has changed under us
		return nil, nil, fmt.Errorf("skill %s is gone with its file: %w", name, errors.Unwrap(err))
	}
	return s, slices.DeleteFunc(others, func(n string) bool { return n == name }), nil
}

// Banner is what stands before the text of a plugin's skill.
func Banner(name string, others []string) string {
	plugin, _, _ := strings.Cut(name, ":")
	text := fmt.Sprintf("[Skill of the plugin %s", plugin)
	if len(others) > 0 {
		text += "; others of it: " + strings.Join(others, ", ")
	}
	return text + "]\n\n"
}
