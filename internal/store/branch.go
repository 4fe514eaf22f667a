package store

import (
	"context"
	"fmt"

	"github.com/hermes-go/hermes/chat"
)

// Branch copies a session as it stands into a new one below it and ends the
// old one with the reason `branched`. An empty title takes the next number of
// the old one's line.
func (d *DB) Branch(ctx context.Context, id, newID, title string) error {
	err := d.write(ctx, func(ctx context.Context, c *conn) error {
		s, err := d.child(ctx, c, id, Session{ID: newID, Title: title}, EndBranched)
		if err != nil {
			return err
		}
		rows, err := rawRows(ctx, c, d.shape, id)
		if err != nil {
			return err
		}
		for i := range rows {
			if err := insertRow(ctx, c, s.ID, rows[i].at, &rows[i].row); err != nil {
				return err
			}
		}
		return recount(ctx, c, s.ID)
	})
	if err != nil {
		return fmt.Errorf("branch session %s: %w", id, err)
	}
	return nil
}

// Split carries a session on in a new one after its history was compressed:
// the old one ends with the reason `compression`, the new one stands below it,
// takes the next number of its title and begins with the messages given. Fields
// of next that are empty are taken from the old session, but not its system
// prompt, which is built anew. All of it happens or nothing.
func (d *DB) Split(ctx context.Context, id string, next Session, m ...chat.Message) error {
	rows := make([]row, len(m))
	for i := range m {
		r, err := toRow(m[i])
		if err != nil {
			return fmt.Errorf("split session %s: message %d: %w", id, i, err)
		}
		rows[i] = r
	}
	var made Session
	err := d.write(ctx, func(ctx context.Context, c *conn) error {
		s, err := d.child(ctx, c, id, next, EndCompression)
		if err != nil {
			return err
		}
		made = s
		for i := range rows {
			if err := insertRow(ctx, c, s.ID, epoch(s.Started), &rows[i]); err != nil {
				return err
			}
		}
		return recount(ctx, c, s.ID)
	})
	if err != nil {
		return fmt.Errorf("split session %s: %w", id, err)
	}
	d.remember(made)
	return nil
}

// child ends the session id for a reason and makes s below it.
func (d *DB) child(ctx context.Context, c *conn, id string, s Session, reason string) (Session, error) {
	old, err := oneSession(ctx, c, id)
	if err != nil {
		return s, err
	}
	now := d.now()
	// Readers follow a parent to children that began at or after its end.
	err = c.exec(ctx, "UPDATE sessions SET ended_at=?, end_reason=? WHERE id=?", epoch(now), reason, id)
	if err != nil {
		return s, err
	}
	s.Parent, s.Started = id, now
	if s.Source == "" {
		s.Source = old.Source
	}
	if s.UserID == "" {
		s.UserID = old.UserID
	}
	if s.Model == "" {
		s.Model, s.ModelConfig = old.Model, old.ModelConfig
	}
	if s.Billing == (Billing{}) {
		s.Billing = old.Billing
	}
	if reason == EndBranched && s.SystemPrompt == "" {
		s.SystemPrompt = old.SystemPrompt
	}
	if s.Title, err = cleanTitle(s.Title); err != nil {
		return s, err
	}
	if s.Title == "" && old.Title != "" {
		if s.Title, err = nextTitle(ctx, c, old.Title); err != nil {
			return s, err
		}
	}
	if err := insertSession(ctx, c, s); err != nil {
		return s, err
	}
	return s, nil
}

// rawRow is a row with its time, as it is stored.
type rawRow struct {
	row
	id int64
	at float64
}

// rawRows reads the visible rows of a session without decoding them.
func rawRows(ctx context.Context, q querier, sh shape, id string) ([]rawRow, error) {
	rows, err := q.QueryContext(ctx, "SELECT "+messageFields+",m.token_count FROM messages m LEFT JOIN "+sh.extras()+" x ON x.message_id=m.id WHERE m.session_id=?"+
		sh.visible("m")+" ORDER BY m.id", id)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var out []rawRow
	for rows.Next() {
		var r rawRow
		var x any
		t := &r.text
		err := rows.Scan(&r.id, &r.at, &r.role, &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7], &t[8], &t[9], &x, &r.tokens)
		if err != nil {
			return nil, err
		}
		if s, ok := x.(string); ok {
			r.extra = s
		}
		out = append(out, r)
	}
	return out, rows.Err()
}
