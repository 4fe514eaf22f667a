package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/internal/slash"
	"github.com/hermes-go/hermes/internal/store"
	"github.com/hermes-go/hermes/tool"
)

// What a person does to a conversation beside talking. None of it may be
// called while a turn runs.

var _ slash.Conversation = (*Conversation)(nil)

// State implements slash.Conversation.
func (c *Conversation) State() slash.State {
	s := slash.State{ID: c.ID, Model: c.Model, Service: c.Provider, Window: c.Window}
	for _, m := range slices.Backward(c.History) {
		if m.Usage != nil && m.Usage.Prompt() > 0 {
			s.Used = m.Usage.Prompt() + m.Usage.Output
			break
		}
	}
	return s
}

// Messages implements slash.Conversation.
func (c *Conversation) Messages() []chat.Message { return c.History }

// Stored implements slash.Conversation.
func (c *Conversation) Stored(ctx context.Context) (store.Session, error) {
	if !c.stored {
		return store.Session{}, nil
	}
	db, err := c.app.DB()
	if err != nil {
		return store.Session{}, err
	}
	return db.Session(ctx, c.ID)
}

// Title implements slash.Conversation.
func (c *Conversation) Title(ctx context.Context) (string, error) {
	if !c.stored {
		return c.title, nil
	}
	s, err := c.Stored(ctx)
	return s.Title, err
}

// SetTitle names the conversation; one that is not stored yet takes the name
// with its first message.
func (c *Conversation) SetTitle(ctx context.Context, title string) error {
	db, err := c.app.DB()
	if err != nil {
		return err
	}
	if c.stored {
		return db.SetTitle(ctx, c.ID, title)
	}
	if title, err = store.CleanTitle(title); err != nil {
		return err
	}
	c.title = title
	return nil
}

// beside returns a conversation with the same settings and nothing else of c:
// no approvals, no working directory, no history.
func (c *Conversation) beside(id, task string) *Conversation {
	old := c.Session
	s := &agent.Session{
		Client: old.Client, Model: old.Model, Options: old.Options, Window: old.Window,
		Approvals: c.app.gate(c.ask.Yolo || c.app.yolo()), Interactive: old.Interactive, AskTimeout: old.AskTimeout,
		MaxCalls: old.MaxCalls, Tree: agent.NewBudget(c.app.number("agent.max_tree_turns", agent.DefaultTreeCalls)),
	}
	s.Session = c.app.Session(id, task, c.ask.Platform)
	tool.ProvideAs(s.Services, c.app.nearby(c.ask))
	tool.ProvideAs(s.Services, c.app.nudge())
	return &Conversation{Session: s, Provider: c.Provider, local: c.local, app: c.app, ask: c.ask}
}

// become ends c and goes on as another conversation.
func (c *Conversation) become(ctx context.Context, next *Conversation, reason string) error {
	if err := c.End(ctx, reason); err != nil {
		return err
	}
	next.rec = c.rec
	*c = *next
	return nil
}

// New ends the conversation and begins another one.
func (c *Conversation) New(ctx context.Context, title string) error {
	title, err := store.CleanTitle(title)
	if err != nil {
		return err
	}
	next := c.beside(store.NewID(time.Now()), "")
	next.title = title
	if err := errors.Join(next.offerTools(ctx), next.buildPrompt(ctx)); err != nil {
		return err
	}
	return c.become(ctx, next, store.EndNew)
}

// GoOn ends the conversation and takes up a stored one, by id or title.
func (c *Conversation) GoOn(ctx context.Context, ref string) error {
	db, err := c.app.DB()
	if err != nil {
		return err
	}
	id, err := db.Resume(ctx, ref)
	if err != nil || id == c.ID {
		return err
	}
	next := c.beside(id, "")
	next.Resumed, next.stored = true, true
	if err := errors.Join(next.offerTools(ctx), next.load(ctx)); err != nil {
		return err
	}
	return c.become(ctx, next, store.EndResumed)
}

// Recent lists the conversations one may go on with, the newest first.
func (c *Conversation) Recent(ctx context.Context, most int) ([]store.Summary, error) {
	db, err := c.app.DB()
	if err != nil {
		return nil, err
	}
	list, err := db.List(ctx, store.Filter{Limit: most + 1})
	list = slices.DeleteFunc(list, func(s store.Summary) bool { return s.ID == c.ID })
	return list[:min(most, len(list))], err
}

// Branch goes on in a copy. What belongs to the work, such as the working
// directory and the approvals given, goes along.
func (c *Conversation) Branch(ctx context.Context, title string) (from string, err error) {
	db, err := c.app.DB()
	if err != nil {
		return "", err
	}
	if err := c.take(ctx, nil); err != nil {
		return "", err
	}
	defer c.release(context.WithoutCancel(ctx))
	from = c.ID
	next := c.beside(store.NewID(time.Now()), c.Key())
	if err := db.Branch(ctx, from, next.ID, title); err != nil {
		return "", err
	}
	next.stored, next.Approvals = true, c.Approvals
	next.Enabled, next.System, next.History = c.Enabled, c.System, slices.Clone(c.History)
	next.held = c.held
	next.rec = c.rec
	*c = *next
	return from, nil
}

// Undo takes the last turns back, and returns what it took.
func (c *Conversation) Undo(ctx context.Context, turns int) ([]chat.Message, error) {
	return c.revise(ctx, func(db *store.DB) ([]chat.Message, error) { return db.Undo(ctx, c.ID, turns) })
}

// Redo brings back what Undo took.
func (c *Conversation) Redo(ctx context.Context) ([]chat.Message, error) {
	return c.revise(ctx, func(db *store.DB) ([]chat.Message, error) { return db.Redo(ctx, c.ID) })
}

// revise changes the stored history and takes it up again.
func (c *Conversation) revise(ctx context.Context, change func(*store.DB) ([]chat.Message, error)) ([]chat.Message, error) {
	if !c.stored {
		return nil, nil
	}
	db, err := c.app.DB()
	if err != nil {
		return nil, err
	}
	if err := c.take(ctx, nil); err != nil {
		return nil, err
	}
	defer c.release(context.WithoutCancel(ctx))
	moved, err := change(db)
	if err != nil || len(moved) == 0 {
		return nil, err
	}
	rec, err := db.Load(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	c.History = rec.Messages
	return moved, nil
}

// modelAlias is an entry of `model_aliases`.
type modelAlias struct {
	Model    string `yaml:"model"`
	Provider string `yaml:"provider"`
	BaseURL  string `yaml:"base_url"`
}

// SwitchModel goes on with another model; always writes it to the
// configuration as well. The system prompt stays as it is: it belongs to the
// history that was sent.
func (c *Conversation) SwitchModel(ctx context.Context, name, service string, always bool) (slash.Switch, error) {
	sw := slash.Switch{From: c.State()}
	var aliases map[string]modelAlias
	if err := config.Decode(c.app.Config, "model_aliases", &aliases); err != nil {
		return sw, err
	}
	if a, ok := aliases[name]; ok && service == "" {
		if a.BaseURL != "" {
			return sw, fmt.Errorf("the alias %s has a base_url, which a switch cannot take over: give the address a name under providers, and the alias that provider", name)
		}
		name, service = a.Model, a.Provider
	}
	in := c.ask
	in.Model = name
	if service != "" {
		in.Provider = service
	} else if own, model := c.app.splitModel(name); own != "" {
		in.Provider, in.Model = own, model
	}
	if in.Provider != c.ask.Provider {
		in.Script = ""
	}
	m, err := c.app.resolveModel(in)
	if err != nil {
		return sw, err
	}
	if always {
		if sw.Note, err = c.app.keepModel(m.name, in.Provider); err != nil {
			return sw, err
		}
	}
	if c.stored {
		db, err := c.app.DB()
		if err != nil {
			return sw, err
		}
		if err := db.SetModel(ctx, c.ID, m.name, nil); err != nil {
			return sw, err
		}
	}
	c.Client, c.Model, c.Options, c.Window = m.client, m.name, m.options, m.window
	c.Provider, c.local, c.ask = m.provider, m.local, in
	sw.To = c.State()
	sw.Note = strings.TrimSpace(strings.Join(append(m.notices, sw.Note), "\n"))
	return sw, nil
}

// keepModel writes the model to the configuration, and its service, by the
// name it was asked for, if it is not the one that is there. What was set for
// that one is taken out: an address or key of one is never used with another.
func (a *App) keepModel(name, service string) (string, error) {
	edits := []config.Edit{{Key: "model.default", Value: name}}
	if service != "" && !sameService(service, a.Config.String("model.provider")) {
		edits = append(edits, config.Edit{Key: "model.provider", Value: service})
		for _, key := range []string{"base_url", "api_key", "key_env", "api_mode", "context_length", "max_tokens", "headers"} {
			if a.Config.Has("model." + key) {
				edits = append(edits, config.Edit{Key: "model." + key, Remove: true})
			}
		}
	}
	changes, err := a.Config.Apply(edits...)
	if err != nil {
		return "", err
	}
	var said []string
	for _, ch := range changes {
		if ch.Changed {
			said = append(said, "`"+ch.Key+"`")
		}
	}
	if len(said) == 0 {
		return "The configuration says so already.", nil
	}
	return "Changed in " + a.Config.Path() + ": " + strings.Join(said, ", ") + ".", nil
}

// Tools lists every tool as this conversation has it.
func (c *Conversation) Tools(ctx context.Context) ([]slash.Tool, error) {
	eff, err := c.app.effective(c.ask.Platform, c.ask.Toolsets)
	if err != nil {
		return nil, err
	}
	s := c.app.loopSession(c.ask.Platform)
	var out []slash.Tool
	for _, t := range c.app.Registry.All() {
		row := slash.Tool{Name: t.Name, Toolset: t.Toolset}
		if !eff.Has(t.Name) {
			row.Why = eff.Why(t.Name)
		} else if err := c.app.Registry.Why(ctx, s, t.Name); err != nil {
			row.Why = err.Error()
		} else {
			row.Offered = true
		}
		out = append(out, row)
	}
	return out, nil
}

// Settings lists what a person may want to know of the configuration. Secrets
// are not among it.
func (c *Conversation) Settings() [][2]string {
	a := c.app
	rows := [][2]string{
		{"home", a.Home},
		{"file", a.Config.Path()},
		{"working directory", a.WorkDir},
		{"session", c.ID},
		{"model", c.Model + " on " + c.Provider},
	}
	for _, key := range []string{
		"agent.max_turns", "agent.reasoning_effort", "approvals.mode", "terminal.backend", "memory.memory_enabled",
		"display.busy_input_mode", "display.final_response_markdown", "display.show_reasoning", "display.tool_progress",
	} {
		if v, ok := a.Config.Get(key); ok {
			rows = append(rows, [2]string{key, fmt.Sprint(v)})
		}
	}
	return rows
}

// savedSession is the file that Save writes, as the original has it, and more.
type savedSession struct {
	SessionID string         `json:"session_id"`
	Title     string         `json:"title,omitempty"`
	Model     string         `json:"model"`
	Started   string         `json:"session_start"`
	System    string         `json:"system_prompt"`
	Messages  []chat.Message `json:"messages"`
}

// Save writes the conversation to a file below the home.
func (c *Conversation) Save(ctx context.Context) (path string, err error) {
	rec, err := c.Stored(ctx)
	if err != nil {
		return "", err
	}
	b, err := json.MarshalIndent(savedSession{
		SessionID: c.ID, Title: cmp.Or(rec.Title, c.title), Model: c.Model, Started: rec.Started.Format(time.RFC3339), System: c.System, Messages: c.History,
	}, "", "  ")
	if err != nil {
		return "", fmt.Errorf("save conversation: %w", err)
	}
	dir := filepath.Join(c.app.Home, "sessions", "saved")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("save conversation: %w", err)
	}
	name := "hermes_conversation_" + time.Now().Format("20060102_150405")
	for n := 1; ; n++ {
		path = filepath.Join(dir, name+".json")
		if n > 1 {
			path = filepath.Join(dir, fmt.Sprintf("%s_%d.json", name, n))
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("save conversation: %w", err)
		}
		_, err = f.Write(append(c.app.Secrets.Redactor().RedactBytes(b), '\n'))
		if err = errors.Join(err, f.Close()); err != nil {
			return "", fmt.Errorf("save conversation: %w", errors.Join(err, os.Remove(path)))
		}
		return path, nil
	}
}
