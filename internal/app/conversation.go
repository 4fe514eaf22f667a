package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/compact"
	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/internal/delegate"
	"github.com/hermes-go/hermes/internal/flock"
	"github.com/hermes-go/hermes/internal/memory"
	"github.com/hermes-go/hermes/internal/prompt"
	"github.com/hermes-go/hermes/internal/replay"
	"github.com/hermes-go/hermes/internal/skill"
	"github.com/hermes-go/hermes/internal/spend"
	"github.com/hermes-go/hermes/internal/store"
	"github.com/hermes-go/hermes/internal/toolset"
	"github.com/hermes-go/hermes/secret"
	"github.com/hermes-go/hermes/tool"
)

// Ask says which conversation a front wants.
type Ask struct {
	Platform    string // decides the toolsets; "cli" when empty
	Source      string // stored with the session; Platform when empty
	Resume      string // id, beginning of an id, or title
	Continue    bool   // the newest session of Source
	Model       string
	Provider    string
	Script      string   // offline model only
	Toolsets    []string // nil: those configured for the platform
	Skills      []string // loaded for the whole session
	MaxCalls    int
	Yolo        bool
	Interactive bool   // somebody answers Asked events
	Discover    bool   // with nothing configured, look for a model server on this machine
	IgnoreRules bool   // no project files, no memory, no SOUL.md
	Title       bool   // name a new session after its first words
	Job         string // what is spent counts for this name too
	Record      string // a file for a cassette of the conversation

	endpoint *endpoint // nil: as Provider and the configuration say
}

// endpoint is an address with a key of its own.
type endpoint struct{ url, key string }

// Conversation is a session ready for turns.
type Conversation struct {
	*agent.Session
	Provider string
	Resumed  bool
	Notices  []string

	app     *App
	ask     Ask
	sysText []prompt.Section
	title   string // for when it is stored
	local   bool   // the model runs on this machine
	stored  bool
	closed  bool
	mark    store.Mark // of the store's state that the history is of
	held    []held     // while this program works on it

	rec    *replay.Recorder // nil: nothing is recorded
	parent *Conversation    // of a child
	depth  int              // how many parents there are

	compactor *compact.Compactor

	called    map[string]called // skills that wait for their message to be sent
	preloaded []*skill.Loaded   // for which the person was not asked yet
	skills    map[string]string // those that the model was told of, with a line about each
	reloaded  string            // what it is to be told of them
	account   *spend.Account    // nil: no turn yet

	firstTitle string // made of the first words; "" once there is another, or was one before
}

// Converse opens a new conversation, or goes on with a stored one. A new one
// is stored with its first message.
func (a *App) Converse(ctx context.Context, in Ask) (*Conversation, error) {
	if in.Platform == "" {
		in.Platform = "cli"
	}
	if in.Source == "" {
		in.Source = in.Platform
	}
	model, err := a.resolveModel(in)
	if err != nil {
		return nil, err
	}
	a.openAhead()
	s := &agent.Session{
		Client: model.client, Model: model.name, Options: model.options, Window: model.window,
		Approvals: a.gate(in.Yolo || a.yolo()), Interactive: in.Interactive, AskTimeout: a.duration("approvals.timeout", 60*time.Second),
		MaxCalls: in.MaxCalls, Tree: agent.NewBudget(a.number("agent.max_tree_turns", agent.DefaultTreeCalls)),
	}
	if s.MaxCalls <= 0 {
		s.MaxCalls = a.number("agent.max_turns", agent.DefaultMaxCalls)
	}
	c := &Conversation{Session: s, Provider: model.provider, local: model.local, app: a, ask: in, Notices: model.notices}
	id := ""
	if in.Resume != "" || in.Continue {
		if id, err = a.find(ctx, in); err != nil {
			return nil, err
		}
		c.Resumed, c.stored = true, true
	} else {
		id = store.NewID(time.Now())
	}
	s.Session = a.Session(id, "", in.Platform)
	tool.ProvideAs(s.Services, a.nearby(in))
	tool.ProvideAs(s.Services, a.nudge())
	c.Notices = append(c.Notices, a.leftJobs()...)
	c.Notices = append(c.Notices, a.FinishRollbacks(ctx)...)
	if err := c.offerTools(ctx); err != nil {
		return nil, err
	}
	if c.Resumed {
		err = c.load(ctx)
	} else {
		err = c.buildPrompt(ctx)
	}
	if err == nil {
		a.autoPrune(ctx)
		c.rec, err = c.recorder(in.Record)
	}
	return c, err
}

// leftJobs names the background commands of earlier runs that still run.
func (a *App) leftJobs() []string {
	left, err := a.pool.Jobs().Left()
	if err != nil {
		return []string{err.Error()}
	}
	var notices []string
	for _, r := range left {
		notices = append(notices, fmt.Sprintf("a background command of an earlier run is still running (%s): %s", r.Session, r.Command))
	}
	return notices
}

// find resolves what to go on with.
func (a *App) find(ctx context.Context, in Ask) (string, error) {
	db, err := a.DB()
	if err != nil {
		return "", err
	}
	if in.Resume != "" {
		id, err := db.Resume(ctx, in.Resume)
		if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrAmbiguous) {
			err = fmt.Errorf("%w; see: hermes sessions list", err)
		}
		return id, err
	}
	id, err := db.Latest(ctx, in.Source)
	if errors.Is(err, store.ErrNotFound) {
		return "", errors.New("there is no session to continue yet; start one with: hermes")
	}
	if err != nil {
		return "", err
	}
	return db.Resume(ctx, id)
}

// load takes up a stored session: its history, and its system prompt to the
// byte, so that a provider's cache still holds.
func (c *Conversation) load(ctx context.Context) error {
	db, err := c.app.DB()
	if err != nil {
		return err
	}
	switch err := c.hold(c.ID, flock.Try); {
	case errors.Is(err, errElsewhere): // its draft is alive
		c.Notices = append(c.Notices, err.Error()+"; what it says is taken up with your next message")
	case err != nil:
		return err
	default:
		defer c.release(ctx)
		draft, err := c.app.adoptDraft(ctx, db, c.ID)
		if err != nil {
			return err
		}
		if draft != nil {
			c.Notices = append(c.Notices, "the last answer was cut off when the program ended; what it had said is kept")
		}
	}
	rec, err := db.Load(ctx, c.ID)
	if err != nil {
		return err
	}
	if err := c.app.goOn(db.Reopen(ctx, c.ID)); err != nil {
		return err
	}
	c.History = rec.Messages
	c.System = rec.SystemPrompt
	if c.System == "" {
		return c.buildPrompt(ctx)
	}
	if len(c.ask.Skills) > 0 { // the prompt stays as it is; the next message brings them
		c.reloaded, err = c.preload(ctx)
	}
	return err
}

// offerTools decides which tools the session has.
func (c *Conversation) offerTools(ctx context.Context) error {
	eff, err := c.app.effective(c.ask.Platform, c.ask.Toolsets)
	if err != nil {
		return err
	}
	c.Notices = append(c.Notices, eff.Notes...)
	if c.ask.Toolsets != nil && len(eff.Toolsets) == 0 {
		return usage("no toolset is called %s; see: hermes tools list", strings.Join(c.ask.Toolsets, ", "))
	}
	c.Enabled = append([]string{}, eff.Names...)
	return nil
}

// effective is what a session of the platform has. It is decided once for each
// kind of session: the configuration does not change, and the registry says
// when it did.
func (a *App) effective(platform string, chosen []string) (toolset.Effective, error) {
	sel := toolset.Selection{Platform: platform, Toolsets: chosen, HomeAssistant: a.Secrets.Has("HASS_TOKEN")}
	kind := fmt.Sprintf("%#v %d", sel, a.Registry.Generation())
	a.offeredMu.Lock()
	defer a.offeredMu.Unlock()
	if eff, ok := a.offered[kind]; ok {
		return eff, nil
	}
	eff, err := a.decideTools(sel)
	if err == nil {
		a.offered[kind] = eff
	}
	return eff, err
}

func (a *App) decideTools(sel toolset.Selection) (toolset.Effective, error) {
	table, err := a.Toolsets()
	if err != nil {
		return toolset.Effective{}, err
	}
	if err := errors.Join(
		config.Decode(a.Config, "platform_toolsets", &sel.PlatformToolsets),
		config.Decode(a.Config, "known_plugin_toolsets", &sel.KnownPlugins),
		config.Decode(a.Config, "agent.disabled_toolsets", &sel.Disabled),
	); err != nil {
		return toolset.Effective{}, err
	}
	return table.Effective(sel), nil
}

// Why says whether a tool is offered to sessions of the platform, and why.
func (a *App) Why(ctx context.Context, platform string, chosen []string, name string) (offered bool, reason string, err error) {
	eff, err := a.effective(platform, chosen)
	if err != nil {
		return false, "", err
	}
	if !eff.Has(name) {
		return false, eff.Why(name), nil
	}
	if err := a.Registry.Why(ctx, a.loopSession(platform), name); err != nil {
		return false, err.Error(), nil
	}
	return true, eff.Why(name), nil
}

func (c *Conversation) buildPrompt(ctx context.Context) error {
	in, notices, err := c.app.promptInput(c.ask)
	if err != nil {
		return err
	}
	c.Notices = append(c.Notices, notices...)
	in.Model, in.Provider = c.Model, c.Provider
	for _, d := range c.app.Registry.Definitions(ctx, c.app.loopSession(c.ask.Platform), c.Enabled) {
		in.Tools = append(in.Tools, d.Function.Name)
	}
	eff, err := c.app.effective(c.ask.Platform, c.ask.Toolsets)
	if err != nil {
		return err
	}
	var list *skill.Listing
	in.Skills, list, notices = c.app.skillIndex(c.ask.Platform, in.Tools, eff, c.Window)
	c.Notices = append(c.Notices, notices...)
	if in.Skills != "" {
		c.Notices = append(c.Notices, c.app.curate()...)
		c.skills = c.app.skillsOf(list, c.ask.Platform)
	}
	if in.Preloaded, err = c.preload(ctx); err != nil {
		return err
	}
	c.sysText, c.System = c.app.build(in)
	return nil
}

// builtPrompt is a prompt with what it was made of.
type builtPrompt struct {
	in       prompt.Input
	sections []prompt.Section
	text     string
}

// build makes a prompt, or finds the one that was made last: conversations that
// begin on one day with the same surroundings share it.
func (a *App) build(in prompt.Input) ([]prompt.Section, string) {
	y, m, d := in.Started.Date()
	in.Started = time.Date(y, m, d, 0, 0, 0, 0, in.Started.Location()) // it tells no more of it
	a.mu.Lock()
	last := a.prompt
	a.mu.Unlock()
	if last == nil || !reflect.DeepEqual(last.in, in) {
		last = &builtPrompt{in: in, sections: prompt.Build(in)}
		last.text = prompt.Join(last.sections)
		a.mu.Lock()
		a.prompt = last
		a.mu.Unlock()
	}
	return last.sections, a.Secrets.Redactor().Known(last.text)
}

// Sections are the blocks of the system prompt that was built for this
// conversation; nil when it came from the store.
func (c *Conversation) Sections() []prompt.Section { return c.sysText }

func (a *App) promptInput(in Ask) (prompt.Input, []string, error) {
	p := prompt.Input{
		Platform: in.Platform, WorkDir: a.WorkDir, OS: runtime.GOOS, Started: time.Now(),
		Instruction: strings.TrimSpace(a.Config.String("agent.system_prompt") + "\n\n" + a.entered), Enforce: a.Config.String("agent.tool_use_enforcement"),
	}
	if b, err := os.ReadFile("/proc/version"); err == nil {
		p.WSL = strings.Contains(strings.ToLower(string(b)), "microsoft")
	}
	if in.IgnoreRules {
		return p, nil, nil
	}
	var notices []string
	soul, err := secret.ReadFile(filepath.Join(a.Home, "SOUL.md"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		notices = append(notices, fmt.Sprintf("SOUL.md was not read: %v", err))
	}
	p.Soul = strings.ToValidUTF8(string(soul), "\uFFFD")
	mem := a.memory()
	for _, b := range []struct {
		target memory.Target
		into   *string
	}{{memory.Notes, &p.Memory}, {memory.User, &p.User}} {
		text, skipped, err := mem.Render(b.target)
		if err != nil {
			notices = append(notices, err.Error())
		}
		for _, s := range skipped {
			notices = append(notices, "an entry of the memory was left out of the prompt: "+s)
		}
		*b.into = text
	}
	if p.Project, err = prompt.ProjectFiles(a.WorkDir, a.UserHome); err != nil {
		notices = append(notices, err.Error())
	}
	for _, f := range p.Project {
		notices = append(notices, f.Notices...)
	}
	return p, notices, nil
}

// Turn stores the session if it is new and answers one message.
func (c *Conversation) Turn(ctx context.Context, text string) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		keep := context.WithoutCancel(ctx)
		waits := func() bool {
			return yield(agent.Notice{Text: errElsewhere.Error() + "; this waits until it is done"}, nil)
		}
		switch err := c.take(ctx, waits); {
		case errors.Is(err, errGone):
			return
		case err != nil && ctx.Err() != nil:
			if yield(agent.Notice{Text: "the message was not sent"}, nil) {
				yield(agent.Done{Status: agent.Interrupted, Err: fmt.Errorf("not sent: %w", err)}, nil)
			}
			return
		case err != nil:
			yield(nil, fmt.Errorf("not sent: %w", err))
			return
		}
		defer c.release(keep)
		if masked := c.app.Secrets.Redactor().Known(text); masked != text {
			text = masked
			if !yield(agent.Notice{Text: maskedWords}, nil) {
				return
			}
		}
		c.app.Checkpoints.Begin(c.Key())
		stopped := false
		said, err := c.expand(ctx, text, askThrough(yield, &stopped))
		if stopped {
			return
		}
		if err == nil {
			said, err = c.attach(ctx, said, yield)
		}
		if err == nil {
			err = c.save(text)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		if n, err := tool.Use[*nudge](c.Services); err == nil {
			n.begin()
		}
		text := c.withBackground(said)
		if err := c.open(ctx); err != nil {
			yield(nil, err)
			return
		}
		id := c.ID
		defer func() { c.app.book.flush(keep, id, c.ID) }()
		ctx := spend.With(ctx, c.account)
		events := c.loop().Turn(ctx, c.Session, chat.UserText(text))
		if c.rec != nil {
			events = c.rec.Turn(ctx, c.deps(), c.Session, text)
		}
		for e, err := range events {
			if done, ok := e.(agent.Done); ok {
				c.nameLater(done)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// open begins a turn of the account that pays for this conversation.
func (c *Conversation) open(ctx context.Context) error {
	tool.ProvideAs[delegate.Spawner](c.Services, &children{of: c, depth: c.depth})
	if c.parent != nil {
		return nil // it is a part of its parent's turn
	}
	if c.account == nil {
		root := c.ID
		if c.Resumed { // a new one is the first of its line
			db, err := c.app.DB()
			if err != nil {
				return err
			}
			if top, err := db.Root(ctx, c.ID); err == nil {
				root = top
			} else if c.app.goOn(err) != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
		}
		c.account = c.app.ledger.Account(root, c.ask.Job)
	}
	c.account.Begin(c.ID)
	return nil
}

const maskedWords = "your message held a secret that is known here; it was masked (***) before it was stored or sent. Refer to it by the name of its variable."

func (c *Conversation) save(text string) error {
	if c.stored {
		return nil
	}
	db, err := c.app.DB()
	if err != nil {
		return err
	}
	s := store.Session{ID: c.ID, Source: c.ask.Source, Model: c.Model, SystemPrompt: c.System}
	if c.parent != nil {
		s.Parent = c.parent.ID
	}
	if s.Title = c.title; s.Title == "" && c.ask.Title {
		s.Title = firstWords(text)
		c.firstTitle = s.Title
	}
	if err := db.Expect(s); err != nil { // stored with the message
		return err
	}
	c.stored = true
	return nil
}

// End closes the session for the given reason; the first one counts.
func (c *Conversation) End(ctx context.Context, reason string) error {
	if !c.stored || c.closed {
		return nil
	}
	c.closed = true
	c.app.book.flush(ctx, c.ID)
	db, err := c.app.DB()
	if err != nil {
		return err
	}
	if err := c.app.tasks.End(c.Key()); err != nil {
		return err
	}
	c.app.passes.end(c.Key())
	if err := c.app.pool.End(ctx, c.Key()); err != nil {
		return err
	}
	err = c.app.goOn(db.End(ctx, c.ID, reason))
	if errors.Is(err, store.ErrNotFound) {
		return nil // deleted meanwhile, or waiting in the spool
	}
	return err
}

func (a *App) number(key string, otherwise int) int {
	n := otherwise
	if err := config.Decode(a.Config, key, &n); err != nil {
		a.Notice(err.Error())
	}
	if n <= 0 {
		a.Notice(fmt.Sprintf("%s is %s; using %d", key, strconv.Itoa(n), otherwise))
		return otherwise
	}
	return n
}
