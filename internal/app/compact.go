package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/compact"
	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/internal/flock"
	"github.com/hermes-go/hermes/internal/spend"
	"github.com/hermes-go/hermes/internal/store"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/tool"
)

// loop is the agent with what belongs to this conversation alone.
func (c *Conversation) loop() *agent.Agent { return agent.New(c.deps()) }

// deps are the agent's parts for this conversation.
func (c *Conversation) deps() agent.Deps {
	d := c.app.agent.Deps
	if on, known := c.app.Config.Get("compression.enabled"); !known || on != false {
		k := c.shortener()
		d.Compactor, d.CompactAt = k, k.Threshold
	}
	return d
}

// shortener makes the conversation shorter; it remembers how that went.
func (c *Conversation) shortener() *compact.Compactor {
	if c.compactor != nil {
		return c.compactor
	}
	var set struct {
		Threshold float64 `yaml:"threshold"`
		Target    float64 `yaml:"target_ratio"`
		Protect   int     `yaml:"protect_last_n"`
	}
	if err := config.Decode(c.app.Config, "compression", &set); err != nil {
		c.app.Notice(err.Error())
	}
	c.compactor = compact.New(compact.Deps{
		Settings: compact.Settings(set), Ask: c.sumUp, Commit: c.goOnAs, Overhead: c.overhead, Carry: c.carry,
		Redact: c.app.Secrets.Redactor().Redact, Log: c.app.Log,
	})
	return c.compactor
}

// Compress makes the conversation shorter now. A topic is what the summary
// keeps above all.
func (c *Conversation) Compress(ctx context.Context, topic string) (before, after int, err error) {
	if err := c.take(ctx, nil); err != nil {
		return 0, 0, err
	}
	defer c.release(context.WithoutCancel(ctx))
	k := c.shortener()
	k.About(topic)
	d := c.app.agent.Deps
	d.Compactor = k
	if err := c.open(ctx); err != nil {
		return 0, 0, err
	}
	ctx = spend.With(ctx, c.account)
	defer func() { c.app.book.flush(context.WithoutCancel(ctx), c.ID) }()
	done, err := agent.New(d).Compact(ctx, c.Session)
	return done.Before, done.After, err
}

// sumUp asks the model for summaries: the one configured for them, else, or
// when that one fails, the conversation's own.
func (c *Conversation) sumUp(ctx context.Context, system, user string, maxTokens int) (string, error) {
	own := func(agent.Slot) (provider.Client, string, error) { return c.Client, c.Model, nil }
	open := []func(agent.Slot) (provider.Client, string, error){own}
	if c.app.auxConfigured(agent.SlotCompression) {
		open = append([]func(agent.Slot) (provider.Client, string, error){c.app.auxClient}, open...)
	}
	var errs []error
	for _, o := range open {
		text, err := c.askAside(ctx, o, system, user, maxTokens)
		if err == nil && text != "" {
			return text, nil
		}
		if err == nil {
			err = errors.New("the model wrote nothing")
		}
		if ctx.Err() != nil {
			return "", err
		}
		errs = append(errs, err)
	}
	return "", errors.Join(errs...)
}

func (c *Conversation) askAside(ctx context.Context, open func(agent.Slot) (provider.Client, string, error), system, user string, maxTokens int) (string, error) {
	limit := c.app.duration("auxiliary.compression.timeout", 120*time.Second)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %s", limit))
	defer cancel()
	aux := &agent.Aux{Open: open}
	return aux.Ask(ctx, agent.SlotCompression, system, user, maxTokens)
}

// auxConfigured reports whether a slot of side calls has a model of its own.
func (a *App) auxConfigured(slot agent.Slot) bool {
	service := a.Config.String("auxiliary." + string(slot) + ".provider")
	return service != "" && service != "auto" && service != "main" || a.Config.String("auxiliary."+string(slot)+".model") != ""
}

// overhead estimates what a request has besides messages.
func (c *Conversation) overhead(ctx context.Context, s *agent.Session) int {
	const charsPerToken = 4
	n := len(s.System)
	for _, d := range c.app.Registry.Definitions(ctx, c.app.loopSession(c.ask.Platform), s.Enabled) {
		n += len(d.Function.Description) + len(d.Function.Parameters)
	}
	return n / charsPerToken
}

// carry asks the tools what of their state must survive.
func (c *Conversation) carry(s *agent.Session, m []chat.Message) []compact.Carried {
	services := tool.NewServices(s.Services)
	tool.ProvideAs[agent.Loop](services, messages(m))
	call := *s.Session
	call.Services = services
	if n, err := tool.Use[*nearby](s.Services); err == nil {
		n.forget()
	}
	var out []compact.Carried
	for _, t := range c.app.Registry.All() {
		if t.Carry != nil && (s.Enabled == nil || slices.Contains(s.Enabled, t.Name)) {
			out = append(out, compact.Carried{Tool: t.Name, Text: t.Carry(&call)})
		}
	}
	return out
}

// messages are a history as tools see it.
type messages []chat.Message

// LastResult implements agent.Loop.
func (m messages) LastResult(name string) (string, bool) { return agent.LastResult(m, name) }

// goOnAs carries the conversation on in a new session below the old one, which
// keeps all that was said. The prompt is built anew: nothing of a provider's
// cache is left to lose. When the database is in trouble only the memory of
// this process gets the shorter history.
func (c *Conversation) goOnAs(ctx context.Context, s *agent.Session, m []chat.Message) error {
	db, err := c.app.DB()
	if err != nil {
		return err
	}
	system, sections := c.System, c.sysText
	if err := c.buildPrompt(ctx); err != nil {
		c.app.Log.Warn("prompt not built anew", "session", s.ID, "err", err)
		c.System, c.sysText = system, sections
	}
	next := store.Session{ID: store.NewID(time.Now()), Model: c.Model, SystemPrompt: c.System}
	if err := c.hold(next.ID, flock.Try); err != nil { // before anybody can know of it
		c.app.Log.Warn("no lock for the conversation", "session", next.ID, "err", err)
	}
	err = db.Split(context.WithoutCancel(ctx), s.ID, next, m...)
	if err != nil {
		c.System, c.sysText = system, sections
		if errors.Is(err, store.ErrNotFound) { // deleted meanwhile, or waiting in the spool
			return nil
		}
		return c.app.goOn(err)
	}
	c.app.book.flush(context.WithoutCancel(ctx), s.ID)
	c.goOnIn(next.ID)
	return nil
}

// goOnIn makes another session the conversation's; terminals and lists go on.
func (c *Conversation) goOnIn(id string) {
	ts := *c.Session.Session
	ts.ID, ts.TaskID = id, ts.Key()
	c.Session.Session = &ts
	if c.account != nil && c.parent == nil {
		c.account.Move(id)
	}
}
