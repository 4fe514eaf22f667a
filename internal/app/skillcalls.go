package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hermes-go/hermes/ask"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/skill"
	"github.com/hermes-go/hermes/internal/slash"
	"github.com/hermes-go/hermes/secret"
	"github.com/hermes-go/hermes/tool"
)

// Skills that a person calls for: by a command in the conversation, or for all
// of it when it begins.

// secretTime is how long a person has to look for a key.
const secretTime = 120 * time.Second

// SkillCommands lists the skills as commands for the sessions of a platform.
// What the table calls its own stays its own.
func (a *App) SkillCommands(platform string, table *slash.Table) func() []slash.Skill {
	return func() []slash.Skill {
		var out []slash.Skill
		for _, c := range a.Skills.List().Commands(a.Skills.Off(platform), table.Reserved) {
			out = append(out, slash.Skill{Name: c.Skill.Name, Command: c.Name, About: c.Skill.Short()})
		}
		return out
	}
}

// usableSkill finds a skill that sessions of the platform may load.
func (a *App) usableSkill(platform, name string) (*skill.Skill, error) {
	s, err := a.Skills.List().Find(name)
	switch {
	case errors.Is(err, skill.ErrNotFound):
		return nil, fmt.Errorf("there is no skill %s; see: hermes skills list", name)
	case err != nil:
		return nil, err
	case a.Skills.Off(platform)(s):
		return nil, fmt.Errorf("skill %s is switched off; switch it on with: hermes skills enable %s", s.Name, s.Name)
	case s.State == skill.Unsupported:
		return nil, fmt.Errorf("skill %s cannot be used here: %s", s.Name, s.Reason)
	}
	return s, nil
}

// called is a skill that waits for its message to be sent.
type called struct {
	skill       *skill.Skill
	instruction string
}

// Skill implements slash.Conversation. The skill is loaded when its message is
// sent, so that what it says is what the store has.
func (c *Conversation) Skill(_ context.Context, name, instruction string) (string, error) {
	s, err := c.app.usableSkill(c.ask.Platform, name)
	if err != nil {
		return "", err
	}
	message := strings.TrimSpace("/skill " + s.Name + " " + instruction)
	if c.called == nil {
		c.called = map[string]called{}
	}
	c.called[message] = called{s, instruction}
	return message, nil
}

// expand turns the message of a skill into its text. asking may put events
// before those of the turn.
func (c *Conversation) expand(ctx context.Context, text string, asking skillAsker) (string, error) {
	for _, l := range c.preloaded {
		if err := c.setUp(ctx, l, asking); err != nil {
			return "", err
		}
	}
	c.preloaded = nil
	call, ok := c.called[text]
	if ok {
		delete(c.called, text)
		l, err := c.app.Skills.Load(ctx, call.skill, c.ID)
		if err != nil {
			return "", err
		}
		if err := c.setUp(ctx, l, asking); err != nil {
			return "", err
		}
		text = l.Message(call.instruction)
	}
	if c.reloaded != "" {
		text, c.reloaded = c.reloaded+"\n\n"+text, ""
	}
	return text, nil
}

// setUp does for a skill that a person loads what skill_view does for one that
// a model loads: what is missing is asked for, what is there reaches the
// commands of the task.
func (c *Conversation) setUp(ctx context.Context, l *skill.Loaded, asking skillAsker) error {
	if len(l.Needs.MissingVars) > 0 && c.Interactive && c.ask.Platform == "cli" {
		if err := c.app.Skills.Collect(ctx, l, c.Key(), c.app.passes, asking); err != nil && ctx.Err() != nil {
			return err
		}
	}
	c.app.Skills.Used(l.Skill)
	c.app.passes.Pass(c.Key(), l.Needs.Present)
	c.app.passes.PassFiles(c.Key(), l.Needs.PresentFiles())
	if seen, err := tool.Use[*skill.Seen](c.Services); err == nil {
		seen.Note(c.Key(), l.Path, l.Sum())
	}
	return nil
}

// skillAsker asks for one variable; "" skips it.
type skillAsker = func(context.Context, skill.Variable) (string, error)

// askThrough asks by an event before the turn begins.
func askThrough(yield func(agent.Event, error) bool, stopped *bool) skillAsker {
	return func(ctx context.Context, v skill.Variable) (string, error) {
		answer := make(chan ask.Answer, 1)
		ev := agent.Asked{Request: skill.Request(v), Reply: func(x ask.Answer) {
			select {
			case answer <- x:
			default: // answered already
			}
		}}
		if *stopped = !yield(ev, nil); *stopped {
			return "", context.Canceled
		}
		late := time.NewTimer(secretTime)
		defer late.Stop()
		select {
		case x := <-answer:
			return x.Text, nil
		case <-late.C:
			return "", ask.ErrTimeout
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// preload loads the skills that the session begins with; their texts become a
// part of the system prompt.
func (c *Conversation) preload(ctx context.Context) (string, error) {
	var unknown, texts []string
	seen := map[string]bool{}
	c.preloaded = nil
	for _, name := range c.ask.Skills {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		s, err := c.app.usableSkill(c.ask.Platform, name)
		if err != nil {
			unknown = append(unknown, err.Error())
			continue
		}
		if seen[s.Path] {
			continue
		}
		seen[s.Path] = true
		l, err := c.app.Skills.Load(ctx, s, c.ID)
		if err != nil {
			unknown = append(unknown, err.Error())
			continue
		}
		c.preloaded = append(c.preloaded, l)
		texts = append(texts, l.Preloaded())
		c.Notices = append(c.Notices, "skill loaded: "+s.Name)
	}
	if len(unknown) > 0 {
		return "", usage("--skills: %s", strings.Join(unknown, "; "))
	}
	return strings.Join(texts, "\n\n"), nil
}

// ReloadSkills implements slash.Conversation. The prompt stays as it is, so that
// a provider's cache holds; the model is told with the next message.
func (c *Conversation) ReloadSkills(context.Context) (slash.Reloaded, error) {
	now := c.app.skillsOf(c.app.Skills.List(), c.ask.Platform)
	var r slash.Reloaded
	r.Total = len(now)
	for name, about := range now {
		if _, ok := c.skills[name]; !ok {
			r.Added = append(r.Added, slash.Skill{Name: name, About: about})
		}
	}
	for name := range c.skills {
		if _, ok := now[name]; !ok {
			r.Removed = append(r.Removed, slash.Skill{Name: name})
		}
	}
	byName := func(a, b slash.Skill) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(r.Added, byName)
	slices.SortFunc(r.Removed, byName)
	c.skills = now
	if len(r.Added)+len(r.Removed) > 0 {
		c.reloaded = strings.TrimPrefix(c.reloaded+"\n\n"+reloadNote(r), "\n\n")
	}
	return r, nil
}

func reloadNote(r slash.Reloaded) string {
	var b strings.Builder
	b.WriteString("[USER INITIATED SKILLS RELOAD: the list of skills in the system prompt is older than this.")
	for _, part := range []struct {
		title string
		list  []slash.Skill
	}{{"Added Skills:", r.Added}, {"Removed Skills:", r.Removed}} {
		if len(part.list) == 0 {
			continue
		}
		b.WriteString("\n" + part.title)
		for _, s := range part.list {
			b.WriteString("\n    - " + s.Name)
			if s.About != "" {
				b.WriteString(": " + s.About)
			}
		}
	}
	return b.String() + "\nskills_list names all of them.]"
}

// skillsOf are the skills of a listing that sessions of the platform may load,
// with a line about each. They are made once for all sessions, and not changed.
func (a *App) skillsOf(l *skill.Listing, platform string) map[string]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.loadable.list != l || a.loadable.platform != platform {
		by := map[string]string{}
		for _, s := range l.Shown(skill.IndexOptions{Off: a.Skills.Off(platform)}) {
			by[s.Name] = s.Short()
		}
		a.loadable = loadable{l, platform, by}
	}
	return a.loadable.by
}

type loadable struct {
	list     *skill.Listing
	platform string
	by       map[string]string
}

// skipped are the variables that people did not want to give, by task.
type skipped struct {
	mu sync.Mutex
	by map[[2]string]bool
}

// Keep implements skill.Setup.
func (p *passes) Keep(name, value string) error {
	if !slices.ContainsFunc(p.secrets.Vars(), func(v secret.Var) bool { return v.Name == name }) {
		p.secrets.Declare(secret.Var{Name: name, About: "asked for by a skill", Category: secret.Skill, Secret: true})
	}
	_, err := p.secrets.Set(name, value)
	return err
}

// Skip implements skill.Setup.
func (p *passes) Skip(task, name string) {
	p.skipped.mu.Lock()
	defer p.skipped.mu.Unlock()
	if p.skipped.by == nil {
		p.skipped.by = map[[2]string]bool{}
	}
	p.skipped.by[[2]string{task, name}] = true
}

// Skipped implements skill.Setup.
func (p *passes) Skipped(task, name string) bool {
	p.skipped.mu.Lock()
	defer p.skipped.mu.Unlock()
	return p.skipped.by[[2]string{task, name}]
}
