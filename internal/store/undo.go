package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/hermes-go/hermes/chat"
)

// Undo takes the last turns of a session out of sight: everything from the
// turns-last message of the user on. It returns what it took, oldest first.
// The rows are kept aside, so that Redo can bring them back.
func (d *DB) Undo(ctx context.Context, id string, turns int) ([]chat.Message, error) {
	return d.takeBack(ctx, id, func(ctx context.Context, c *conn) (int64, error) {
		var from sql.NullInt64
		err := c.row(ctx, "SELECT id FROM messages m WHERE session_id=? AND role='user'"+d.shape.visible("m")+" ORDER BY id DESC LIMIT 1 OFFSET ?",
			id, max(turns, 1)-1).Scan(&from)
		if errors.Is(err, sql.ErrNoRows) {
			// Fewer turns than asked for: all of them.
			err = c.row(ctx, "SELECT MIN(id) FROM messages WHERE session_id=? AND role='user'", id).Scan(&from)
		}
		return from.Int64, err
	})
}

// Truncate takes all messages after the first keep ones out of sight, like Undo.
func (d *DB) Truncate(ctx context.Context, id string, keep int) ([]chat.Message, error) {
	return d.takeBack(ctx, id, func(ctx context.Context, c *conn) (int64, error) {
		var from int64
		err := c.row(ctx, "SELECT id FROM messages m WHERE session_id=?"+d.shape.visible("m")+" ORDER BY id LIMIT 1 OFFSET ?", id, max(keep, 0)).Scan(&from)
		if errors.Is(err, sql.ErrNoRows) {
			return 0, nil
		}
		return from, err
	})
}

func undoneColumns(prefix string) string {
	return prefix + strings.Join(names(messageColumns), ","+prefix)
}

func (d *DB) takeBack(ctx context.Context, id string, from func(context.Context, *conn) (int64, error)) ([]chat.Message, error) {
	var out []chat.Message
	err := d.write(ctx, func(ctx context.Context, c *conn) error {
		out = nil
		first, err := from(ctx, c)
		if err != nil || first == 0 {
			return err
		}
		rec := Record{Session: Session{ID: id}}
		if err := rec.readMessages(ctx, c, d.shape); err != nil {
			return err
		}
		for i, r := range rec.Rows {
			if r.ID >= first {
				out = rec.Messages[i:]
				break
			}
		}
		err = c.exec(ctx, "INSERT OR REPLACE INTO undone_messages("+undoneColumns("")+",extra,undone_at) SELECT "+undoneColumns("m.")+
			",x.data,? FROM messages m LEFT JOIN message_extra x ON x.message_id=m.id WHERE m.session_id=? AND m.id>=?", epoch(d.now()), id, first)
		if err != nil {
			return err
		}
		if err := c.exec(ctx, "DELETE FROM messages WHERE session_id=? AND id>=?", id, first); err != nil {
			return err
		}
		return recount(ctx, c, id)
	})
	if err != nil {
		return nil, fmt.Errorf("undo in session %s: %w", id, err)
	}
	return out, nil
}

// Redo brings back what the last Undo took, as long as nothing was said since.
func (d *DB) Redo(ctx context.Context, id string) ([]chat.Message, error) {
	var out []chat.Message
	err := d.write(ctx, func(ctx context.Context, c *conn) error {
		out = nil
		var at sql.NullFloat64
		err := c.row(ctx, `SELECT MAX(undone_at) FROM undone_messages WHERE session_id=?1
			AND id>(SELECT COALESCE(MAX(id),0) FROM messages WHERE session_id=?1)`, id).Scan(&at)
		if err != nil || !at.Valid {
			return err
		}
		var first int64
		if err := c.row(ctx, "SELECT MIN(id) FROM undone_messages WHERE session_id=? AND undone_at=?", id, at.Float64).Scan(&first); err != nil {
			return err
		}
		cols := undoneColumns("")
		err = c.exec(ctx, "INSERT INTO messages("+cols+") SELECT "+cols+" FROM undone_messages WHERE session_id=? AND undone_at=? ORDER BY id", id, at.Float64)
		if err != nil {
			return err
		}
		err = c.exec(ctx, "INSERT INTO message_extra(message_id,data) SELECT id,extra FROM undone_messages WHERE session_id=? AND undone_at=? AND extra IS NOT NULL", id, at.Float64)
		if err != nil {
			return err
		}
		if err := c.exec(ctx, "DELETE FROM undone_messages WHERE session_id=? AND undone_at=?", id, at.Float64); err != nil {
			return err
		}
		rec := Record{Session: Session{ID: id}}
		if err := rec.readMessages(ctx, c, d.shape); err != nil {
			return err
		}
		for i, r := range rec.Rows {
			if r.ID >= first {
				out = rec.Messages[i:]
				break
			}
		}
		return recount(ctx, c, id)
	})
	if err != nil {
		return nil, fmt.Errorf("redo in session %s: %w", id, err)
	}
	return out, nil
}

// recount sets a session's counts from its rows.
func recount(ctx context.Context, c *conn, id string) error {
	return c.exec(ctx, `UPDATE sessions SET message_count=(SELECT count(*) FROM messages WHERE session_id=?1),
		tool_call_count=(SELECT COALESCE(SUM(CASE WHEN json_valid(tool_calls) THEN json_array_length(tool_calls) ELSE 0 END),0)
			FROM messages WHERE session_id=?1 AND tool_calls IS NOT NULL) WHERE id=?1`, id)
}
