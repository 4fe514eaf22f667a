package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hermes-go/hermes/internal/flock"
	"github.com/hermes-go/hermes/internal/store"
)

// Several programs may have one conversation open. One of them at a time
// answers or changes it; whoever comes next first takes up what the others have
// left, so that nobody talks past anybody and no row is written twice.

// errElsewhere says that another program is at work on the conversation.
var errElsewhere = errors.New("another hermes is at work on this conversation")

// held is a session that is worked on, by its lock.
type held struct {
	id   string
	lock *flock.Lock
}

// hold takes the lock of a session: the file in which an answer is kept while it
// arrives. Where none can be made, nobody else can write either, and the work
// goes on without.
func (c *Conversation) hold(id string, lock func(path string) (*flock.Lock, error)) error {
	path := c.app.draftPath(id)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		var l *flock.Lock
		if l, err = lock(path); err == nil {
			c.held = append(c.held, held{id, l})
			c.app.transcript.draftIn(id, l.File())
			return nil
		}
	}
	if errors.Is(err, flock.ErrHeld) {
		return errElsewhere
	}
	c.app.Log.Warn("no lock for the conversation", "session", id, "err", err)
	return nil
}

// errGone says that nobody wants the wait any more.
var errGone = errors.New("nobody waits")

// take makes the conversation this program's until release, and takes up what
// others have done to it. While one of them is at work it fails, or, with
// waits, tells that and waits until ctx ends.
func (c *Conversation) take(ctx context.Context, waits func() bool) error {
	for {
		err := c.hold(c.ID, flock.Try)
		if errors.Is(err, errElsewhere) {
			if waits == nil {
				return fmt.Errorf("%w; try again when it is done", err)
			}
			if !waits() {
				return errGone
			}
			err = c.hold(c.ID, func(path string) (*flock.Lock, error) { return flock.Acquire(ctx, path) })
			if err != nil && ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
		if err != nil {
			return err
		}
		id := c.ID
		if err := c.catchUp(ctx); err != nil {
			c.release(ctx)
			return err
		}
		if c.ID == id {
			return nil
		}
		c.release(ctx) // it goes on as another one, which has a lock of its own
	}
}

// release gives the conversation back, and notes how it is left.
func (c *Conversation) release(ctx context.Context) {
	c.note(ctx)
	for _, h := range c.held {
		c.app.transcript.draftIn(h.id, nil)
		h.lock.Remove()
	}
	c.held = nil
}

// note remembers the state of the store that the history is of. The zero mark
// is of no state.
func (c *Conversation) note(ctx context.Context) {
	c.mark = store.Mark{}
	if !c.stored {
		return
	}
	db, err := c.app.DB()
	if err != nil || db.Trouble() != nil {
		return
	}
	m, err := db.Mark(ctx, c.ID)
	if err == nil && m.Messages() == len(c.History) { // else somebody who knows no locks has added to it
		c.mark = m
	}
}

// catchUp takes up what other programs have said in the conversation, and
// follows it where they have shortened it. With the database in trouble the
// history in hand is the better one.
func (c *Conversation) catchUp(ctx context.Context) error {
	if !c.stored {
		return nil
	}
	db, err := c.app.DB()
	if err != nil {
		return err
	}
	if db.Trouble() != nil {
		return nil
	}
	now, err := db.Mark(ctx, c.ID)
	if errors.Is(err, store.ErrNotFound) { // deleted meanwhile, or waiting in the spool
		return nil
	}
	if err != nil {
		return c.app.goOn(err)
	}
	if now == c.mark {
		return nil
	}
	id := c.ID
	if now.Carried() {
		if id, err = db.Tip(ctx, id); err != nil {
			return c.app.goOn(err)
		}
	}
	// Who has left a draft has died: it would have the lock.
	if _, err := c.app.adoptDraft(ctx, db, id); err != nil {
		return err
	}
	rec, err := db.Load(ctx, id)
	if err != nil {
		return c.app.goOn(err)
	}
	c.History = rec.Messages
	if id != c.ID {
		c.goOnIn(id)
		if rec.SystemPrompt != "" {
			c.System, c.sysText = rec.SystemPrompt, nil
		}
	}
	return nil
}
