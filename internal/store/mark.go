package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Mark tells two states of a session apart without reading its messages.
type Mark struct {
	last    int64 // row of the newest message
	count   int
	carried bool // it goes on elsewhere
}

// Carried says that compression has ended the session: its Tip goes on.
func (m Mark) Carried() bool { return m.carried }

// Messages is how many the session counts.
func (m Mark) Messages() int { return m.count }

// Mark returns what the session is marked by now. The error wraps ErrNotFound
// if there is no such session.
func (d *DB) Mark(ctx context.Context, id string) (Mark, error) {
	var m Mark
	var last sql.NullInt64
	var reason sql.NullString
	err := d.glance(ctx, func(q querier, _ shape) error {
		return q.QueryRowContext(ctx, `SELECT s.message_count, s.end_reason,
			(SELECT m.id FROM messages m WHERE m.session_id=s.id ORDER BY m.timestamp DESC, m.id DESC LIMIT 1)
			FROM sessions s WHERE s.id=?`, id).Scan(&m.count, &reason, &last)
	})
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return Mark{}, fmt.Errorf("look at session %s: %w", id, err)
	}
	m.last, m.carried = last.Int64, reason.String == EndCompression
	return m, nil
}
