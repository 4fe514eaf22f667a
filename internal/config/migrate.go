package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hermes-go/hermes/secret"
)

// Env is what a migration needs of the home's .env; *secret.Store is one.
type Env interface {
	Getenv(name string) (string, bool)
	Set(name, value string) (note string, err error)
	Names() []string
}

var _ Env = (*secret.Store)(nil)

// A Migration tells what bringing a file up to date did, or would do.
type Migration struct {
	From, To int
	Changes  []Change // to config.yaml
	Env      []string // names changed in .env
	Warnings []string
	Backup   string // the file as it was, empty when nothing changed
}

// Pending reports what Migrate would do, without doing it.
func Pending(path string, env Env) (Migration, error) {
	m, _, _, err := plan(path, env)
	return m, err
}

// Migrate brings the file at path to the layout of today: values that moved are
// moved, nothing is added that the person did not set, comments stay. The old
// file is kept under a name with the time. A missing file needs nothing.
func Migrate(path string, env Env, now time.Time) (Migration, error) {
	m, edits, blank, err := plan(path, env)
	if err != nil || len(edits) == 0 && len(blank) == 0 {
		return m, err
	}
	if len(edits) > 0 {
		if m.Backup, err = Backup(path, now); err != nil {
			return m, err
		}
		if m.Changes, err = Apply(path, edits...); err != nil {
			return m, fmt.Errorf("migrate from version %d: %w", m.From, err)
		}
	}
	for _, name := range blank {
		if _, err := env.Set(name, ""); err != nil {
			return m, fmt.Errorf("migrate from version %d: %w", m.From, err)
		}
	}
	if m.From < 23 {
		dir := filepath.Join(filepath.Dir(path), "logs", "curator")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			m.Warnings = append(m.Warnings, fmt.Sprintf("make %s: %v", dir, reason(err)))
		}
	}
	return m, nil
}

// plan works out the edits. It reads the raw file: what is merged from the
// defaults says nothing about what a person wrote.
func plan(path string, env Env) (m Migration, edits []Edit, blank []string, err error) {
	m.To = Version
	src, err := secret.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		m.From = Version
		return m, nil, nil, nil
	}
	if err != nil {
		return m, nil, nil, fmt.Errorf("migrate %s: %w", path, reason(err))
	}
	root, _, err := parse(src)
	if err != nil {
		return m, nil, nil, fmt.Errorf("migrate %s: the file cannot be read, so it was left alone: %w", path, err)
	}
	stamp := root.m["_config_version"]
	m.From, _ = stamp.whole()
	if m.From > Version {
		return m, nil, nil, fmt.Errorf("migrate %s: the file has layout %d, this program knows %d; use a newer program", path, m.From, Version)
	}
	p := planner{root: root, home: filepath.Dir(path), env: env}
	p.rootKeys()
	for _, s := range steps {
		if m.From < s.below || s.always {
			s.run(&p)
		}
	}
	if m.From < 13 && env != nil {
		names := []string{"LLM_MODEL", "OPENAI_MODEL"}
		if m.From < 9 {
			names = append(names, "ANTHROPIC_TOKEN")
		}
		for _, n := range names {
			v, _ := env.Getenv(n)
			if v == "" || !slices.Contains(env.Names(), n) {
				continue
			}
			// A file without a version may be written by hand last week.
			if stamp == nil {
				p.warn("%s in .env is no longer read for the model's settings; remove it if it is old", n)
				continue
			}
			blank = append(blank, n)
		}
	}
	m.Env = blank
	m.Warnings = p.warnings
	if m.From < Version {
		p.set("_config_version", fmt.Sprint(Version), KindInt)
	}
	// What is to be is known without writing: the edits on a copy of the text.
	if len(p.edits) > 0 {
		if _, err := edited(src, p.edits, &m.Changes); err != nil {
			return m, nil, nil, fmt.Errorf("migrate %s: %w", path, err)
		}
	}
	return m, p.edits, blank, nil
}

type planner struct {
	root     *tree
	home     string
	env      Env
	edits    []Edit
	warnings []string
}

func (p *planner) warn(format string, args ...any) {
	p.warnings = append(p.warnings, fmt.Sprintf(format, args...))
}

func (p *planner) get(path string) *tree {
	keys, err := SplitPath(path)
	if err != nil {
		return nil
	}
	return p.root.find(keys)
}

func (p *planner) set(key, value string, kind Kind) {
	p.edits = append(p.edits, Edit{Key: key, Value: value, Kind: kind, Force: true})
}

func (p *planner) put(key string, t *tree) {
	kind := KindText
	value := t.text
	switch t.kind {
	case boolKind, intKind, floatKind, listKind, mapKind:
		kind, value = KindJSON, inline(t, true, anyStyle)
	}
	p.set(key, value, kind)
}

func (p *planner) remove(key string) { p.edits = append(p.edits, Edit{Key: key, Remove: true}) }

// move carries a value to its new place, if nothing stands there, and takes it
// out of the old one.
func (p *planner) move(from, to string) {
	v := p.get(from)
	if v == nil {
		return
	}
	if !empty(v) && empty(p.get(to)) {
		p.put(to, v)
	}
	p.remove(from)
}

// rootKeys moves keys that were never meant for the top level.
func (p *planner) rootKeys() {
	p.move("max_turns", "agent.max_turns")
	for _, k := range []string{"provider", "base_url"} {
		v := p.root.m[k]
		if v == nil || v.kind != textKind {
			continue
		}
		if !empty(v) && empty(p.root.find([]string{"model", k})) {
			p.edits = append(p.edits, Edit{Key: "model." + k, Value: v.text, Kind: KindText, Force: true})
		}
		p.remove(k)
	}
}

var steps = [...]struct {
	below  int
	run    func(*planner)
	always bool // a key that has no effect any more may be written into a newer file as well
}{
	{4, func(p *planner) {
		if v := p.variable("HERMES_TOOL_PROGRESS_MODE", "HERMES_TOOL_PROGRESS"); v != "" && p.get("display.tool_progress") == nil {
			if b, ok := parseBool(v); ok {
				v = map[bool]string{true: "all", false: "off"}[b]
			}
			if k, ok := Describe("display.tool_progress"); ok && slices.Contains(k.Choices, v) {
				p.set("display.tool_progress", v, KindText)
			}
		}
	}, false},
	{5, func(p *planner) {
		if v := p.variable("HERMES_TIMEZONE"); v != "" && empty(p.get("timezone")) {
			p.set("timezone", v, KindText)
		}
	}, false},
	{12, (*planner).customProviders, false},
	{14, func(p *planner) {
		v := p.get("stt.model")
		if v == nil || v.kind != textKind {
			return
		}
		provider := scalarText(p.get("stt.provider"))
		if provider == "" {
			provider = "local"
		}
		p.move("stt.model", JoinPath([]string{"stt", provider, "model"}))
	}, false},
	{16, func(p *planner) {
		old := p.get("display.tool_progress_overrides")
		if empty(old) || old.kind != mapKind {
			return
		}
		for _, name := range old.keys {
			to := JoinPath([]string{"display", "platforms", name, "tool_progress"})
			if empty(p.get(to)) && scalarText(old.m[name]) != "" {
				p.set(to, old.m[name].text, KindText)
			}
		}
		p.remove("display.tool_progress_overrides")
	}, true},
	{17, func(p *planner) {
		for _, k := range []string{"model", "provider", "base_url"} {
			p.move("compression.summary_"+k, "auxiliary.compression."+k)
		}
	}, true},
	{21, (*planner).plugins, false},
}

func (p *planner) variable(names ...string) string {
	if p.env == nil {
		return ""
	}
	for _, n := range names {
		if v, _ := p.env.Getenv(n); strings.TrimSpace(v) != "" {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// customProviders turns the old list into entries of the providers map.
func (p *planner) customProviders() {
	old := p.get("custom_providers")
	if old == nil || old.kind != listKind {
		return
	}
	if to := p.get("providers"); to != nil && to.kind != mapKind && to.kind != nullKind {
		p.warn("providers is no map, so custom_providers stays as it is")
		return
	}
	seen := map[string]bool{}
	for i, e := range old.list {
		if e.kind != mapKind {
			p.warn("custom_providers[%d] is no map, so the list stays as it is", i)
			return
		}
		slug := providerSlug(scalarText(e.m["name"]), scalarText(e.m["base_url"]))
		if slug == "" || seen[slug] {
			p.warn("custom_providers[%d] has no name of its own, so the list stays as it is", i)
			return
		}
		seen[slug] = true
	}
	for _, e := range old.list {
		slug := providerSlug(scalarText(e.m["name"]), scalarText(e.m["base_url"]))
		if p.root.find([]string{"providers", slug}) != nil {
			continue
		}
		to := newMap()
		for _, k := range e.keys {
			name := k
			switch k {
			case "base_url", "url":
				name = "api"
			case "model":
				name = "default_model"
			case "api_mode":
				name = "transport"
			}
			if to.m[name] == nil {
				to.put(name, e.m[k])
			}
		}
		p.set(JoinPath([]string{"providers", slug}), inline(to, true, anyStyle), KindJSON)
	}
	p.remove("custom_providers")
}

// plugins became a choice; those that were there before keep working.
func (p *planner) plugins() {
	if p.get("plugins.enabled") != nil {
		return
	}
	var off []string
	if d := p.get("plugins.disabled"); d != nil {
		for _, e := range d.list {
			off = append(off, e.text)
		}
	}
	found, _ := filepath.Glob(filepath.Join(p.home, "plugins", "*", "plugin.y*ml"))
	names := &tree{kind: listKind}
	for _, f := range found {
		if n := filepath.Base(filepath.Dir(f)); !slices.Contains(off, n) {
			names.list = append(names.list, textTree(n))
		}
	}
	if len(names.list) > 0 {
		p.put("plugins.enabled", names)
	}
}
