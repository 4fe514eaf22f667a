package app

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/spend"
	"github.com/hermes-go/hermes/internal/store"
	"github.com/hermes-go/hermes/provider"
)

//go:embed text/title.md
var titleRules string

const (
	titlePart = 500 // characters of the question, and of the answer, to name them by
	mostTitle = 80
)

// firstWords names a session after what it was asked.
func firstWords(text string) string {
	const words, most = 8, 60
	f := strings.Fields(text)
	title := strings.Join(f[:min(words, len(f))], " ")
	if utf8.RuneCountInString(title) > most {
		title = string([]rune(title)[:most-1]) + "…"
	}
	return title
}

// namer is who finds titles: the model configured for it, else that of the
// conversation. One on this machine is not asked: it would keep the person
// waiting for the next answer, and first words do.
func (c *Conversation) namer() func(agent.Slot) (provider.Client, string, error) {
	switch {
	case c.app.auxConfigured(agent.SlotTitle):
		return c.app.auxClient
	case c.local:
		return nil
	}
	client, model := c.Client, c.Model
	return func(agent.Slot) (provider.Client, string, error) { return client, model, nil }
}

// nameLater has a model find a better title than the first words, once, after
// the first answer of a conversation with a person. A title that the person
// gave meanwhile stays.
func (c *Conversation) nameLater(done agent.Done) {
	if !c.Interactive || c.firstTitle == "" || done.Status != agent.OK || strings.TrimSpace(done.Text) == "" {
		return
	}
	was := c.firstTitle
	c.firstTitle = ""
	open := c.namer()
	if open == nil {
		return
	}
	asked := ""
	for _, m := range c.History {
		if m.Role == chat.User {
			asked = m.Content.String()
			break
		}
	}
	id, account, a := c.ID, c.account, c.app
	material := fmt.Sprintf("The person: %s\n\nThe agent: %s", oneLine(asked, titlePart), oneLine(done.Text, titlePart))
	a.naming.Go(func() {
		ctx := spend.With(a.alive, account)
		if err := a.rename(ctx, id, was, open, material); err != nil && ctx.Err() == nil {
			a.Log.Info("no title found", "session", id, "err", err)
		}
		a.book.flush(context.WithoutCancel(ctx), id)
	})
}

func (a *App) rename(ctx context.Context, id, was string, open func(agent.Slot) (provider.Client, string, error), material string) error {
	limit := a.duration("auxiliary.title_generation.timeout", 30*time.Second)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %s", limit))
	defer cancel()
	const mostTokens = 200
	said, err := (&agent.Aux{Open: open}).Ask(ctx, agent.SlotTitle, strings.TrimSpace(titleRules), material, mostTokens)
	if err != nil {
		return err
	}
	title := tidyTitle(said)
	if title == "" {
		return fmt.Errorf("%q is no title", oneLine(said, 100))
	}
	db, err := a.DB()
	if err != nil {
		return err
	}
	s, err := db.Session(ctx, id)
	if err != nil || s.Title != was && !strings.HasPrefix(s.Title, was+" #") { // the second of that name
		return err
	}
	if _, err := db.Resolve(ctx, title); err == nil {
		if title, err = db.NextTitle(ctx, title); err != nil {
			return err
		}
	}
	return db.SetTitle(ctx, id, title)
}

// tidyTitle takes a title out of what a model said.
func tidyTitle(said string) string {
	line := ""
	for l := range strings.Lines(said) {
		if l = strings.TrimSpace(l); l != "" {
			line = l
			break
		}
	}
	line = strings.TrimSpace(strings.TrimLeft(line, "#*- "))
	if head, rest, ok := strings.Cut(line, ":"); ok && strings.EqualFold(strings.Trim(head, "* "), "title") {
		line = strings.TrimSpace(rest)
	}
	line = strings.TrimSuffix(strings.Trim(line, "\"'`*“”„«» "), ".")
	title, err := store.CleanTitle(oneLine(line, mostTitle))
	if err != nil {
		return ""
	}
	return title
}

func oneLine(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) > most {
		return string([]rune(text)[:most-1]) + "…"
	}
	return text
}
