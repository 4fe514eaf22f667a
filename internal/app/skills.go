package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/internal/skill"
	"github.com/hermes-go/hermes/internal/toolset"
	"github.com/hermes-go/hermes/secret"
	"github.com/hermes-go/hermes/skills"
)

// library opens the skills of the home; no file of theirs is touched by it.
func (a *App) library() *skill.Library {
	in := struct {
		External    []string            `yaml:"external_dirs"`
		Disabled    []string            `yaml:"disabled"`
		Platforms   map[string][]string `yaml:"platform_disabled"`
		Templates   bool                `yaml:"template_vars"`
		InlineShell bool                `yaml:"inline_shell"`
		ShellLimit  int                 `yaml:"inline_shell_timeout"`
	}{Templates: true}
	if err := config.Decode(a.Config, "skills", &in); err != nil {
		a.Notice(err.Error())
	}
	return skill.Open(skill.Options{
		Home: a.Home, UserHome: a.UserHome, External: in.External, Project: a.trustedProject, Disabled: in.Disabled, Platforms: in.Platforms,
		Lookup: a.Secrets.Getenv,
		Setting: func(key string) (string, bool) {
			v, ok := a.Config.Get("skills.config." + key)
			if !ok || v == nil {
				return "", false
			}
			return fmt.Sprint(v), true
		},
		NoTemplates: !in.Templates, InlineShell: in.InlineShell, ShellLimit: time.Duration(in.ShellLimit) * time.Second,
		Env:     func() []string { return a.childEnv("") },
		Build:   build(),
		Seen:    a.seenSkill,
		Prepare: a.seedSkills,
		Trouble: func(err error) { a.Log.Warn(err.Error()) },
	})
}

// build identifies this program; "" when nobody knows where it lies.
func build() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %d %d", path, info.Size(), info.ModTime().UnixNano())
}

// seenSkill is where commands find a skill: where it lies, or where the place
// they run in shows those of the home.
func (a *App) seenSkill(s *skill.Skill) (dir string, ok bool) {
	kind, known := backend.Lookup(a.Config.String("terminal.backend"))
	switch {
	case !known || kind.SkillsAt == "" && !kind.Remote:
		return s.Dir, true
	case kind.SkillsAt == "" || s.Root.Source != skill.Home:
		return "", false
	}
	return path.Join(kind.SkillsAt, s.Rel), true
}

// bundledSkills are those that ship with the program, or those of a directory
// that somebody put in their place.
func (a *App) bundledSkills() fs.FS {
	if dir := a.Secrets.Get("HERMES_BUNDLED_SKILLS"); dir != "" {
		return os.DirFS(dir)
	}
	return skills.Bundled
}

// seedSkills brings the bundled skills into the home. A home that cannot be
// written to has what it has.
func (a *App) seedSkills(l *skill.Library) {
	build := build()
	if a.Secrets.Get("HERMES_BUNDLED_SKILLS") != "" {
		build = "" // it says nothing of those
	}
	out, err := l.Seed(a.bundledSkills(), build)
	if err != nil {
		a.Log.Warn("bundled skills not brought", "err", err)
	}
	for _, c := range out.Conflicts {
		a.Notice(fmt.Sprintf("the program changed %s of the skill %s where you changed it too; yours was kept. Compare: hermes skills diff %s", c.File, c.Skill, c.Skill))
	}
	for _, name := range out.Differs {
		a.Notice(fmt.Sprintf("the skill %s of this home is not the bundled one and was kept; for that one: hermes skills reset %s --restore", name, name))
	}
}

// ResetSkill gives a bundled skill back the form it came in.
func (a *App) ResetSkill(name string, restore bool) (archived string, out skill.Seeded, err error) {
	return a.Skills.Reset(a.bundledSkills(), name, restore)
}

// DiffSkill compares a bundled skill with its form in the home: the changes
// that lead from the bundled one to what is here.
func (a *App) DiffSkill(name string) (string, error) { return a.Skills.Diff(a.bundledSkills(), name) }

// SkillRow is a skill as `skills list` shows it.
type SkillRow struct {
	Name        string      `json:"name"`
	Category    string      `json:"category"`
	Description string      `json:"description"`
	Path        string      `json:"path"`
	Root        string      `json:"root"`
	Source      string      `json:"source"`
	Trust       string      `json:"trust"`
	State       skill.State `json:"state"`
	Reason      string      `json:"reason"`
	Enabled     bool        `json:"enabled"`

	skill *skill.Skill
}

// SkillRows lists every skill of a library, usable or not, as sessions of the
// platform would have it.
func SkillRows(l *skill.Library, platform string) []SkillRow {
	rows := []SkillRow{}
	list, off, bundled := l.List(), l.Off(platform), l.Bundled()
	for _, s := range list.Skills {
		r := SkillRow{
			Name: s.Name, Category: s.Category, Description: s.Listed(), Path: s.Path, Root: s.Root.Dir, Source: s.Root.Source,
			Trust: "local", State: s.State, Reason: s.Reason, Enabled: s.State == skill.OK || s.State == skill.Broken, skill: s,
		}
		if s.Root.Source == skill.Home && bundled[s.Name] {
			r.Source, r.Trust = "bundled", "builtin"
		}
		if r.Enabled && off(s) {
			r.Enabled, r.Reason = false, strings.TrimPrefix(r.Reason+"; switched off in config.yaml", "; ")
		}
		rows = append(rows, r)
	}
	return rows
}

// PromptSkills are the paths of the skills that the prompt of the platform's
// sessions names.
func (a *App) PromptSkills(ctx context.Context, platform string) (map[string]bool, error) {
	eff, err := a.effective(platform, nil)
	if err != nil {
		return nil, err
	}
	o := skill.IndexOptions{Tools: []string{}, Toolsets: eff.Active(), Off: a.Skills.Off(platform)}
	for _, d := range a.Registry.Definitions(ctx, a.loopSession(platform), eff.Names) {
		o.Tools = append(o.Tools, d.Function.Name)
	}
	shown := map[string]bool{}
	for _, s := range a.Skills.List().Shown(o) {
		shown[s.Path] = true
	}
	return shown, nil
}

// WhySkill says whether the prompt of sessions of the platform names a skill,
// and why.
func (a *App) WhySkill(ctx context.Context, platform string, chosen []string, name string) (shown bool, reason string, err error) {
	list := a.Skills.List()
	s, err := list.Find(name)
	if err != nil {
		return false, "", err
	}
	eff, err := a.effective(platform, chosen)
	if err != nil {
		return false, "", err
	}
	var tools []string
	for _, d := range a.Registry.Definitions(ctx, a.loopSession(platform), eff.Names) {
		tools = append(tools, d.Function.Name)
	}
	switch {
	case s.State == skill.Shadowed, s.State == skill.Unsupported:
		return false, s.Reason, nil
	case a.Skills.Off(platform)(s):
		return false, "it is switched off in config.yaml; switch it on with: hermes skills enable " + s.Name, nil
	case !slices.ContainsFunc(tools, func(t string) bool { return strings.HasPrefix(t, "skill") }):
		return false, "such sessions have no skill tools", nil
	}
	if why := s.When.Hidden(tools, eff.Active()); why != "" {
		return false, why + " (skill_view loads it all the same)", nil
	}
	if s.State == skill.Broken {
		return true, "but its front matter is broken: " + s.Reason, nil
	}
	return true, s.Path, nil
}

// ToolNames are the names that conditions of skills may ask for.
func (a *App) ToolNames() (tools, sets []string, err error) {
	table, err := a.Toolsets()
	if err != nil {
		return nil, nil, err
	}
	for _, s := range table.All() {
		sets = append(sets, s.Name)
		tools = append(tools, s.Tools...)
	}
	return append(tools, a.Registry.Names()...), sets, nil
}

// passes are the variables that loaded skills let through to the commands of
// their task, and of no other.
type passes struct {
	secrets *secret.Store
	skipped skipped
	mu      sync.Mutex
	by      map[string][]string
	files   map[string][]string
	changes int
}

// taskVars gives the environment of a task's commands, put together again only
// when a skill let more through: it is asked for before every command.
func (a *App) taskVars(task string) func() []string {
	var mu sync.Mutex
	var vars []string
	at := -1
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		if n := a.passes.count(); n != at {
			vars, at = a.childEnv(task), n
		}
		return vars
	}
}

func (p *passes) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changes
}

// Pass implements skill.Passer.
func (p *passes) Pass(task string, names []string) (refused []string) {
	for _, name := range names {
		// A skill's variable is a secret until somebody says otherwise; one
		// that belongs to a part of the program stays what that part says.
		if !slices.ContainsFunc(p.secrets.Vars(), func(v secret.Var) bool { return v.Name == name }) {
			p.secrets.Declare(secret.Var{Name: name, About: "asked for by a skill", Category: secret.Skill, Secret: true})
		}
	}
	_, refused = p.secrets.ChildEnv(nil, names)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range names {
		if !slices.Contains(refused, name) && !slices.Contains(p.by[task], name) {
			p.by[task] = append(p.by[task], name)
			p.changes++
		}
	}
	return refused
}

// PassFiles implements skill.Passer.
func (p *passes) PassFiles(task string, files []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range files {
		if p.files == nil {
			p.files = map[string][]string{}
		}
		if !slices.Contains(p.files[task], f) {
			p.files[task] = append(p.files[task], f)
		}
	}
}

func (p *passes) filesOf(task string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.files[task])
}

func (p *passes) of(task string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.by[task])
}

func (p *passes) end(task string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.by, task)
	delete(p.files, task)
}

// skillIndex is the prompt's list of skills, for a session with these tools.
func (a *App) skillIndex(platform string, tools []string, eff toolset.Effective, window int) (index string, l *skill.Listing, notices []string) {
	if !slices.ContainsFunc(tools, func(t string) bool { return strings.HasPrefix(t, "skill") }) {
		return "", nil, nil
	}
	l = a.Skills.List()
	for _, t := range l.Trouble {
		notices = append(notices, "skills not read: "+t)
	}
	var broken []string
	for _, s := range l.Skills {
		if s.State == skill.Broken {
			broken = append(broken, s.Name)
		}
	}
	if len(broken) > 0 {
		notices = append(notices, fmt.Sprintf("%d skills are broken (%s); see: hermes skills validate", len(broken), strings.Join(broken, ", ")))
	}
	return l.Index(skill.IndexOptions{
		Tools: tools, Toolsets: eff.Active(), Off: a.Skills.Off(platform), First: a.Skills.First(), Budget: indexBudget(window),
	}), l, notices
}

// indexBudget is what the index may take of a model's window: 2 %, and at least
// what a small one has for it. A token is about four bytes.
func indexBudget(window int) int { return max(skill.DefaultBudget, window*4/50) }

// SearchSkills lists the usable skills that answer a query, best first.
func SearchSkills(l *skill.Library, platform, query string) []SkillRow {
	by := map[*skill.Skill]SkillRow{}
	var all []*skill.Skill
	for _, r := range SkillRows(l, platform) {
		if r.Enabled {
			by[r.skill] = r
			all = append(all, r.skill)
		}
	}
	rows := []SkillRow{}
	for _, s := range skill.Search(all, query) {
		rows = append(rows, by[s])
	}
	return rows
}

// SkillShown is a skill as `skills show` tells of it.
type SkillShown struct {
	SkillRow
	Content  string              `json:"content"`
	Files    map[string][]string `json:"linked_files"`
	Missing  []string            `json:"missing"`
	Note     string              `json:"setup_note"`
	Warnings []string            `json:"warnings"`
}

// ShowSkill loads a skill for a person, switched off or not.
func ShowSkill(ctx context.Context, l *skill.Library, platform, name string) (SkillShown, *skill.Loaded, error) {
	s, err := l.List().Find(name)
	if err != nil {
		return SkillShown{}, nil, err
	}
	loaded, err := l.Load(ctx, s, "")
	if err != nil {
		return SkillShown{}, nil, err
	}
	out := SkillShown{Content: loaded.Content, Note: loaded.Needs.Note(), Warnings: append([]string{}, loaded.Warnings...)}
	for _, r := range SkillRows(l, platform) {
		if r.skill.Path == s.Path {
			out.SkillRow = r
		}
	}
	out.Files, _ = s.Files()
	out.Missing = slices.Concat([]string{}, loaded.Needs.MissingVars, loaded.Needs.MissingFiles, loaded.Needs.MissingCommands)
	return out, loaded, nil
}

// SwitchSkills writes to the configuration which skills are off, generally or
// for one platform. A name must be that of a skill, but one that is off may go
// without one.
func (a *App) SwitchSkills(platform string, names []string, on bool) ([]string, error) {
	key, list := "skills.disabled", a.Skills.OffNames(platform)
	if platform != "" {
		table, err := a.Toolsets()
		if err != nil {
			return nil, err
		}
		if !slices.Contains(table.Platforms(), platform) {
			return nil, usage("no platform is called %s", platform)
		}
		key = "skills.platform_disabled." + platform
	}
	list = slices.Clone(list)
	var done []string
	for _, name := range names {
		if s, err := a.Skills.List().Find(name); err == nil {
			name = s.Name
		} else if !on || !slices.Contains(list, name) {
			return nil, fmt.Errorf("skill %s: %w; see: hermes skills list", name, err)
		}
		list = slices.DeleteFunc(list, func(n string) bool { return n == name })
		if !on {
			list = append(list, name)
		}
		done = append(done, name)
	}
	slices.Sort(list)
	if list == nil {
		list = []string{}
	}
	text, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	if _, err = config.Set(a.Config.Path(), key, string(text), config.KindJSON); err == nil {
		a.Skills.SetOff(platform, list)
	}
	return done, err
}

// fromDotEnv adds what is let through and stands in the home's .env file,
// where a person keeps the keys of skills.
func (a *App) fromDotEnv(env, names, refused []string) []string {
	for _, name := range names {
		value, _, ok := a.Secrets.Lookup(name)
		if !ok || slices.Contains(refused, name) || slices.Contains(env, name+"="+value) {
			continue
		}
		env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
		env = append(env, name+"="+value)
	}
	return env
}
