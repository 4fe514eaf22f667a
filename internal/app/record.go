package app

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/replay"
	"github.com/hermes-go/hermes/tool"
)

// recorder begins the cassette of a conversation: at path, or in the directory
// that HERMES_RECORD_DIR names. nil: nothing is recorded.
func (c *Conversation) recorder(path string) (*replay.Recorder, error) {
	dir := c.app.Secrets.Get("HERMES_RECORD_DIR")
	if path == "" && dir == "" {
		return nil, nil
	}
	var f *os.File
	var err error
	if path != "" {
		f, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	} else {
		f, err = os.CreateTemp(dir, c.ID+"-*.jsonl")
	}
	if err != nil {
		return nil, fmt.Errorf("record the conversation: %w", err)
	}
	c.app.closers = append(c.app.closers, f)
	return replay.NewRecorder(f, c.app.maskLine, c.cassetteHead("live")), nil
}

// maskLine takes secrets out of a line of a cassette.
func (a *App) maskLine(b []byte) []byte { return maskJSON(a.Secrets.Redactor(), b) }

func (c *Conversation) cassetteHead(made string) replay.Head {
	d := c.deps()
	return replay.Head{
		Program: c.app.Version, Session: c.ID, Made: made, Guard: d.Guard, CompactAt: d.CompactAt, Compacts: d.Compactor != nil,
		TreeCalls: c.app.number("agent.max_tree_turns", agent.DefaultTreeCalls), AtOnce: map[string]int{"delegate_task": c.app.mostAtOnce("delegate_task")},
	}
}

// RecordStored makes a cassette of a stored conversation.
func (a *App) RecordStored(ctx context.Context, id, path string) (err error) {
	db, err := a.DB()
	if err != nil {
		return err
	}
	rec, err := db.Load(ctx, id)
	if err != nil {
		return err
	}
	if len(rec.Messages) == 0 {
		return fmt.Errorf("session %s holds no message", id)
	}
	s := replay.Stored{Messages: rec.Messages, Model: rec.Model}
	// What a compaction carried over was stored at the moment the session began.
	if rec.Parent != "" {
		n := 0
		for n < len(rec.Rows) && rec.Rows[n].At.Equal(rec.Started) {
			n++
		}
		s.Carried, s.Messages = rec.Messages[:n], rec.Messages[n:]
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("record session: %w", err)
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	head := replay.Head{Program: a.Version, Session: id, Guard: a.guardrails()}
	effects := func(c *tool.Call) ([]tool.Effect, bool, bool) { return replay.EffectsOf(a.Registry, c) }
	return replay.FromStored(ctx, f, a.maskLine, head, s, effects)
}
