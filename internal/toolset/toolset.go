// Package toolset knows which tools belong together and decides which of them
// a session has: the table of toolsets, the presets of the platforms, custom
// sets, what a person switched on and off, and the draws of data generation.
// For every tool that is left out it can say why. Whether a tool works on this
// machine is not its matter; that is for the tool's own check.
package toolset

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hermes-go/hermes/tool"
)

// Set is a named group of tools.
type Set struct {
	Name     string
	About    string
	Tools    []string // not every one need exist
	Includes []string // other sets
}

// Options is what a Table takes from the configuration.
type Options struct {
	Custom    map[string][]string // custom_toolsets: name -> toolsets or tools
	Servers   map[string]bool     // mcp_servers: name -> enabled
	Platforms []string            // platforms beyond the table: hermes-NAME is the core and the platform's own toolset
}

// Table is the toolsets of one configuration. It follows the registry: a tool
// that comes or goes at run time is seen at the next question.
type Table struct {
	registry *tool.Registry
	options  Options

	mu         sync.Mutex
	generation uint64
	current    *view
}

// New makes the table over a registry.
func New(r *tool.Registry, o Options) *Table { return &Table{registry: r, options: o} }

// Lookup finds a toolset by its name or an alias: a server's name stands for
// mcp-SERVER where no toolset is called so.
func (t *Table) Lookup(name string) (Set, bool) {
	s, ok := t.view().lookup(name)
	return s, ok
}

// All returns every toolset but the legacy ones, sorted by name.
func (t *Table) All() []Set {
	v := t.view()
	var all []Set
	for _, name := range slices.Sorted(maps.Keys(v.sets)) {
		if !v.old[name] {
			all = append(all, v.sets[name])
		}
	}
	return all
}

// Resolve returns the names of all tools of a set, sorted, whether they exist
// or not. "all" and "*" are every set. An unknown name is an error that names
// the nearest.
func (t *Table) Resolve(name string) ([]string, error) {
	v := t.view()
	if !v.known(name) {
		return nil, v.unknown(name)
	}
	return v.resolve(name), nil
}

// Home returns the toolset that a tool belongs to first, "" for an unknown
// tool.
func (t *Table) Home(toolName string) string { return t.view().home[toolName] }

// view is the table at one state of the registry. It does not change.
type view struct {
	sets       map[string]Set
	tools      map[string]tool.Tool
	home       map[string]string   // tool -> set
	old        map[string]bool     // legacy names
	table      map[string][]string // tools of a set of the table as the table lists them
	switches   []string            // configurable: the checklist, then the built-in sets that only the registry knows
	plugins    []string            // sets of plugins, sorted
	servers    []string            // sets mcp-SERVER, sorted
	disabled   []string            // servers that are configured and switched off, sorted
	problems   []string
	serverName map[string]bool
}

const serverPrefix = "mcp-"

func (t *Table) view() *view {
	generation := t.registry.Generation()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current == nil || t.generation != generation {
		t.current, t.generation = build(t.registry.All(), t.options), generation
	}
	return t.current
}

func build(tools []tool.Tool, o Options) *view {
	v := &view{
		sets: map[string]Set{}, tools: map[string]tool.Tool{}, home: map[string]string{}, old: map[string]bool{},
		table: map[string][]string{}, serverName: map[string]bool{},
	}
	v.addTable()
	v.addPresets(o.Platforms)
	v.addTools(tools)
	v.addServers(o.Servers)
	v.addCustom(o.Custom)
	slices.Sort(v.plugins)
	slices.Sort(v.servers)
	return v
}

func (v *view) addTable() {
	for _, s := range legacy {
		s.About = "Older name, kept for old configurations"
		v.sets[s.Name], v.old[s.Name] = s, true
	}
	for _, s := range sets {
		s.Tools = slices.Clone(s.Tools)
		v.sets[s.Name] = s
		v.table[s.Name] = s.Tools
		for _, name := range s.Tools {
			if v.home[name] == "" {
				v.home[name] = s.Name
			}
		}
	}
	v.switches = slices.Clone(configurable[:])
}

func (v *view) addPresets(more []string) {
	gateway := Set{Name: presetPrefix + "gateway", About: "All messaging platforms together"}
	add := func(p preset) {
		s := Set{Name: presetPrefix + p.platform, About: "What the platform " + p.platform + " offers", Tools: append(slices.Clone(core[:]), p.plus...)}
		s.Tools = slices.DeleteFunc(s.Tools, func(n string) bool { return slices.Contains(p.minus, n) })
		v.sets[s.Name] = s
		if p.chat {
			gateway.Includes = append(gateway.Includes, s.Name)
		}
	}
	for _, p := range presets {
		add(p)
	}
	for _, name := range more {
		name = dashed(name)
		if _, have := v.sets[presetPrefix+name]; !have {
			add(preset{platform: name, chat: true})
		}
	}
	v.sets[gateway.Name] = gateway
}

// addTools takes the registered tools in. A toolset that only a tool names is
// one; a plugin platform's preset holds the platform's own tools.
func (v *view) addTools(tools []tool.Tool) {
	for _, t := range tools {
		v.tools[t.Name] = t
		if v.home[t.Name] == "" {
			v.home[t.Name] = t.Toolset
		}
		s, have := v.sets[t.Toolset]
		switch {
		case !have:
			s = Set{Name: t.Toolset, About: "Toolset " + t.Toolset}
			switch {
			case strings.HasPrefix(t.Toolset, serverPrefix):
				s.About = "Tools of the MCP server " + strings.TrimPrefix(t.Toolset, serverPrefix)
				v.addServer(strings.TrimPrefix(t.Toolset, serverPrefix))
			case v.home[t.Name] != t.Toolset: // a second name for what the table has elsewhere, as browser-cdp
			case t.Source == "":
				v.switches = append(v.switches, t.Toolset)
			default:
				v.plugins = append(v.plugins, t.Toolset)
			}
		case slices.Contains(s.Tools, t.Name):
			continue
		}
		s.Tools = append(slices.Clip(s.Tools), t.Name)
		v.sets[s.Name] = s
		if own, ok := v.sets[presetPrefix+dashed(t.Toolset)]; ok && own.Name != s.Name {
			v.addOwn(own, t)
		}
	}
}

// addOwn adds a platform's own tool to its preset, unless the table already
// says what that preset holds.
func (v *view) addOwn(s Set, t tool.Tool) {
	for _, p := range presets {
		if presetPrefix+p.platform == s.Name {
			return
		}
	}
	s.Tools = append(slices.Clip(s.Tools), t.Name)
	v.sets[s.Name] = s
}

func (v *view) addServer(name string) {
	if !v.serverName[name] {
		v.serverName[name] = true
		v.servers = append(v.servers, serverPrefix+name)
	}
}

// addServers makes a set of every configured server, connected or not.
func (v *view) addServers(servers map[string]bool) {
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		full := serverPrefix + name
		if _, have := v.sets[full]; !have {
			v.sets[full] = Set{Name: full, About: "Tools of the MCP server " + name}
		}
		v.addServer(name)
		if !servers[name] {
			v.disabled = append(v.disabled, full)
		}
	}
	for _, full := range v.servers {
		name := strings.TrimPrefix(full, serverPrefix)
		if _, clash := v.sets[name]; clash {
			v.problem("mcp_servers.%s: a toolset has that name too; %q means the toolset, %q the server", name, name, full)
		}
	}
}

func (v *view) addCustom(custom map[string][]string) {
	names := slices.Sorted(maps.Keys(custom))
	var added []string
	for _, name := range names {
		if _, taken := v.sets[name]; taken || everything(name) || v.serverName[name] {
			v.problem("custom_toolsets.%s: a toolset has that name already; choose another one", name)
			continue
		}
		v.sets[name] = Set{Name: name, About: "Custom toolset"}
		added = append(added, name)
	}
	// The members are read when all names are known: sets may hold each other.
	for _, name := range added {
		s := v.sets[name]
		for _, member := range custom[name] {
			member = strings.TrimSpace(member)
			switch {
			case v.known(member):
				s.Includes = append(s.Includes, member)
			case v.home[member] != "":
				s.Tools = append(s.Tools, member)
			default:
				v.problem("custom_toolsets.%s: %v", name, v.unknown(member))
			}
		}
		v.sets[name] = s
	}
}

func (v *view) problem(format string, args ...any) {
	v.problems = append(v.problems, fmt.Sprintf(format, args...))
}

func dashed(platform string) string { return strings.ReplaceAll(platform, "_", "-") }

// Problems are mistakes in the configuration that no session can tell of:
// names that clash, members that do not exist.
func (t *Table) Problems() []string { return slices.Clone(t.view().problems) }
